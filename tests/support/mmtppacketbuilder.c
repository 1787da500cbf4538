/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds forged MMTP messages; mmtppacketbuilder.h describes them. Each value
 * in a message is chosen in one of three ways:
 * - a value close to the one in an observed session
 * - a minimum or a maximum
 * - a random value */

#include "mmtppacketbuilder.h"

#include <string.h>

typedef struct
{
  MmtpDraw draw;
  gpointer source;
  const MmtpOverheard *overheard;
  const guint64 *others;        /* message numbers of the peer */
} Builder;

static const guint8 forged_payload[1500];
static const gchar forged_caps[] = "video/mpeg, mpegversion=(int)2";

const gchar *
mmtp_type_get_name (MmtpType type)
{
  static const gchar *const names[MMTP_LAST_TYPE] = {
    [MMTP_DATA] = "DATA",
    [MMTP_PROBE] = "PROBE",
    [MMTP_INIT] = "INIT",
    [MMTP_COOKIE] = "COOKIE",
    [MMTP_OPEN] = "OPEN",
    [MMTP_ACCEPT] = "ACCEPT",
    [MMTP_REFUSE] = "REFUSE",
    [MMTP_JOIN] = "JOIN",
    [MMTP_CHALLENGE] = "CHALLENGE",
    [MMTP_RESPONSE] = "RESPONSE",
    [MMTP_KEEPALIVE] = "KEEPALIVE",
    [MMTP_REPORT] = "REPORT",
    [MMTP_QUERY] = "QUERY",
    [MMTP_RESERVED_13] = "RESERVED",
    [MMTP_LEAVE] = "LEAVE",
    [MMTP_CAPS] = "CAPS",
    [MMTP_CAPS_ACK] = "CAPS-ACK",
    [MMTP_END] = "END",
    [MMTP_END_ACK] = "END-ACK",
    [MMTP_REPAIR] = "REPAIR",
  };

  g_assert (type < MMTP_LAST_TYPE);
  return names[type];
}

/* --- observing a session -------------------------------------------------- */

static void
overhear_number (MmtpOverheard * self, const MmtpMessage * message,
    MmtpRole from)
{
  guint64 *number = &self->numbers[from == MMTP_RECEIVER][message->channel];

  *number = MAX (*number, mmtp_unwrap (message->number, 16, *number));
}

void
mmtp_overhear (MmtpOverheard * self, const guint8 * bytes, gsize size,
    MmtpRole from)
{
  MmtpMessage message;

  if (mmtp_packet_parse_header (&message, bytes, size, from)
      || mmtp_packet_parse_body (&message, bytes, size))
    return;
  overhear_number (self, &message, from);
  if (from == MMTP_SENDER)
    self->sent = message.sent;
  switch (message.type) {
    case MMTP_DATA:
      self->stream_number = message.data.stream_number;
      self->due = message.data.due;
      break;
    case MMTP_OPEN:
      memcpy (self->nonce_s, message.open.nonce, MMTP_NONCE_SIZE);
      memcpy (self->cookie, message.open.cookie, MMTP_COOKIE_SIZE);
      self->tokens[1] = message.open.token;
      break;
    case MMTP_ACCEPT:
      memcpy (self->nonce_r, message.accept.nonce_r, MMTP_NONCE_SIZE);
      self->tokens[0] = message.accept.token;
      break;
    case MMTP_JOIN:
      self->path_nonce = message.join.nonce;
      break;
    case MMTP_CHALLENGE:
      self->challenge = message.challenge.challenge;
      break;
    default:
      break;
  }
}

/* --- values --------------------------------------------------------------- */

static guint32
draw (const Builder * self, guint32 below)
{
  return self->draw (self->source) % below;
}

static guint32
draw_u32 (const Builder * self)
{
  static const guint32 edges[] = {
    0, 1, 1000, 65536, 1000000, G_MAXINT32, 0x80000000, G_MAXUINT32
  };

  if (draw (self, 2))
    return edges[draw (self, G_N_ELEMENTS (edges))];
  return self->draw (self->source);
}

static guint64
draw_u64 (const Builder * self)
{
  guint64 high = draw_u32 (self);

  return high << 32 | draw_u32 (self);
}

/* Returns a value near `value`. It usually exceeds `value` by 0 to 7. It can
 * also be larger by up to 100000 or smaller by up to 2047, so that it lies
 * outside the replay window. Sometimes it is random and does not depend on
 * `value`. */
static guint64
draw_near (const Builder * self, guint64 value)
{
  switch (draw (self, 8)) {
    case 0:
      return draw_u64 (self);
    case 1:
      return value + draw (self, 100000);
    case 2:
      return value - draw (self, 2048);
    default:
      return value + draw (self, 8);
  }
}

static void
draw_bytes (const Builder * self, guint8 * bytes, const guint8 * known,
    gsize size)
{
  guint bit = draw (self, 64);

  memcpy (bytes, known, size);
  if (bit < 8)
    bytes[draw (self, size)] ^= 1 << bit;
}

/* --- messages ------------------------------------------------------------- */

static void
build_data (const Builder * self, MmtpData * data)
{
  data->stream_number = draw_near (self, self->overheard->stream_number + 1);
  data->due = draw_near (self, self->overheard->due + 1000 * draw (self, 100));
  data->flags = draw (self, 256);
  data->caps_version = draw (self, 4);
  memset (&data->prelude, 0, sizeof (data->prelude));
  if (data->flags & MMTP_FLAG_FIRST && draw (self, 2)) {
    data->prelude.mask = draw (self, 64);
    data->prelude.pts = draw_u32 (self);
    data->prelude.dts = draw_u32 (self);
    data->prelude.duration = draw_u32 (self);
    data->prelude.frame_rate = draw_u32 (self);
    data->prelude.bit_rate = draw_u64 (self);
  }
  data->payload = forged_payload;
  data->payload_size = draw (self, 4) ? draw (self, 200) :
      draw (self, sizeof (forged_payload));
}

static void
build_open (const Builder * self, MmtpOpen * open)
{
  draw_bytes (self, open->nonce, self->overheard->nonce_s, MMTP_NONCE_SIZE);
  draw_bytes (self, open->cookie, self->overheard->cookie, MMTP_COOKIE_SIZE);
  open->token = draw_u64 (self);
  open->initial_delay = draw (self, 60000001);
  open->bit_rate = draw_u64 (self);
  open->frame_period = draw_u32 (self);
  open->max_size = 128 + draw (self, 65507 - 128 + 1);
  open->keepalive_period = 10 + draw (self, 9991);
  open->now = draw_u64 (self);
  open->has_key = draw (self, 2);
  memset (open->mac, 0, MMTP_MAC_SIZE);
}

static void
build_accept (const Builder * self, MmtpAccept * accept)
{
  draw_bytes (self, accept->nonce, self->overheard->nonce_s, MMTP_NONCE_SIZE);
  draw_bytes (self, accept->nonce_r, self->overheard->nonce_r, MMTP_NONCE_SIZE);
  accept->token = draw_u64 (self);
  accept->min_delay = draw_u32 (self);
  accept->has_key = draw (self, 2);
  memset (accept->mac, 0, MMTP_MAC_SIZE);
}

static void
build_keepalive (const Builder * self, MmtpKeepalive * keepalive,
    guint64 number)
{
  const guint32 next = self->overheard->stream_number + 1;

  keepalive->number = number;
  keepalive->initial_delay = draw_u32 (self);
  keepalive->next = draw_near (self, next);
  keepalive->floor = draw_near (self, next);
  keepalive->round_trip = draw_u32 (self);
  keepalive->fastest = draw (self, 4) ? draw (self, 4) : draw (self, 256);
  keepalive->caps_version = draw (self, 4);
  keepalive->stored = draw (self, 2);
  keepalive->has_offset = draw (self, 2);
  keepalive->offset = draw_u32 (self);
  keepalive->echo = draw_near (self, self->overheard->sent);
  keepalive->hold = draw_u32 (self);
  keepalive->report_period = draw (self, 2) ? draw (self, 500) :
      draw (self, 65536);
}

static void
build_record (const Builder * self, MmtpRecord * record)
{
  guint i;

  record->channel = draw (self, 4) ? draw (self, 4) : draw (self, 256);
  record->flags = draw (self, 4);
  record->highest = draw_near (self, self->others[record->channel]);
  record->received = draw_near (self, record->highest);
  record->lost = draw_u32 (self);
  record->late = draw_u32 (self);
  record->bytes = draw_u32 (self);
  record->arrival = draw_u32 (self) & 0xffffff;
  record->transit = draw_u32 (self);
  record->min_transit = draw_u32 (self);
  record->high_transit = draw_u32 (self);
  record->jitter = draw_u32 (self);
  record->n_ranges = draw (self, 4) ? 0 : draw (self, MMTP_MAX_RANGES + 1);
  for (i = 0; i < record->n_ranges; i++) {
    record->ranges[i].first = draw_near (self, record->highest);
    record->ranges[i].count = 1 + draw (self, 255);
  }
}

static void
build_report (const Builder * self, MmtpReport * report, guint64 number)
{
  guint i;

  report->channel_number = number;
  report->number = draw (self, 4) ? 1 + draw (self, 1000) : draw_u32 (self);
  report->number = MAX (report->number, 1);
  report->next = draw_near (self, self->overheard->stream_number);
  report->echo_channel = draw (self, 4);
  report->echo = draw_near (self, self->overheard->sent);
  report->hold = draw_u32 (self);
  report->n_records = draw (self, 4) ? draw (self, 4) :
      draw (self, MMTP_MAX_RECORDS + 1);
  for (i = 0; i < report->n_records; i++)
    build_record (self, &report->records[i]);
}

static void
build_caps (const Builder * self, MmtpCaps * caps)
{
  caps->version = 1 + draw (self, draw (self, 4) ? 4 : 255);
  caps->length = draw (self, 2) ? strlen (forged_caps) :
      1 + draw (self, MMTP_MAX_CAPS);
  caps->offset = draw (self, 2) ? 0 : draw (self, caps->length);
  caps->piece = (const guint8 *) forged_caps;
  caps->piece_size = MIN (strlen (forged_caps), caps->length - caps->offset);
}

static void
build_repair (const Builder * self, MmtpRepair * repair)
{
  repair->first = draw_near (self, self->overheard->stream_number - 8);
  repair->first &= 0xffffff;
  repair->mask = draw_u32 (self) | 1;
  repair->sizes = draw (self, 4) ? draw (self, 200) : draw (self, 65536);
  repair->content = forged_payload;
  repair->content_size = 6 + draw (self, draw (self, 4) ? 200 :
      sizeof (forged_payload) - 6);
}

static void
build_body (const Builder * self, MmtpMessage * message, guint64 number)
{
  const MmtpOverheard *overheard = self->overheard;

  switch (message->type) {
    case MMTP_DATA:
      build_data (self, &message->data);
      break;
    case MMTP_PROBE:
      message->probe.size = 15 + draw (self, 1400);
      break;
    case MMTP_INIT:
    case MMTP_COOKIE:
      draw_bytes (self, message->init.nonce, overheard->nonce_s,
          MMTP_NONCE_SIZE);
      draw_bytes (self, message->init.cookie, overheard->cookie,
          MMTP_COOKIE_SIZE);
      break;
    case MMTP_OPEN:
      build_open (self, &message->open);
      break;
    case MMTP_ACCEPT:
      build_accept (self, &message->accept);
      break;
    case MMTP_REFUSE:
      draw_bytes (self, message->refuse.nonce, overheard->nonce_s,
          MMTP_NONCE_SIZE);
      message->refuse.reason = draw (self, 6);
      break;
    case MMTP_JOIN:
      message->join.number = number;
      message->join.nonce = draw (self, 2) ? overheard->path_nonce :
          draw_u64 (self);
      message->join.max_size = 128 + draw (self, 65507 - 128 + 1);
      break;
    case MMTP_CHALLENGE:
    case MMTP_RESPONSE:
      message->challenge.nonce = draw (self, 2) ? overheard->path_nonce :
          draw_u64 (self);
      message->challenge.challenge = draw (self, 2) ? overheard->challenge :
          draw_u64 (self);
      break;
    case MMTP_KEEPALIVE:
      build_keepalive (self, &message->keepalive, number);
      break;
    case MMTP_REPORT:
      build_report (self, &message->report, number);
      break;
    case MMTP_QUERY:
      message->query.channel = draw (self, 2) ? draw (self, 4) :
          MMTP_ALL_CHANNELS;
      break;
    case MMTP_LEAVE:
      message->leave.channel = draw (self, 5);
      message->leave.is_ack = draw (self, 2);
      message->leave.reason = draw (self, 5);
      message->leave.highest = draw_near (self,
          self->others[message->leave.channel]);
      break;
    case MMTP_CAPS:
    case MMTP_CAPS_ACK:
      build_caps (self, &message->caps);
      break;
    case MMTP_REPAIR:
      build_repair (self, &message->repair);
      break;
    default:
      message->end.stream_number = draw_near (self,
          overheard->stream_number + 1);
      break;
  }
}

static gboolean
is_handshake (MmtpType type)
{
  return type >= MMTP_INIT && type <= MMTP_REFUSE;
}

guint64
mmtp_build_message (MmtpMessage * message, MmtpType type, MmtpRole from,
    guint8 path, const MmtpOverheard * overheard, MmtpDraw draw_number,
    gpointer source)
{
  const gboolean by_receiver = from == MMTP_RECEIVER;
  const Builder self = {
    draw_number, source, overheard, overheard->numbers[!by_receiver]
  };
  guint64 number = 0;

  memset (message, 0, sizeof (*message));
  if (!is_handshake (type))
    number = draw_near (&self, overheard->numbers[by_receiver][path] + 1);
  /* mmtp_packet_write () cannot write a message of the reserved type
   * MMTP_RESERVED_13, so a message of the type MMTP_QUERY is built instead. It
   * is valid whoever sends it, because either endpoint may send an MMTP_QUERY.
   */
  message->type = type == MMTP_RESERVED_13 ? MMTP_QUERY : type;
  message->channel = path;
  message->number = number;
  message->sent = draw_near (&self, overheard->sent);
  message->trailer = 0;
  build_body (&self, message, number);
  return number;
}
