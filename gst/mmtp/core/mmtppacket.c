/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses and writes MMTP messages. One function per message type does both,
 * field by field, so that each layout of docs/wire-mmtp.md occurs only once in
 * the code.
 */

#include "mmtppacket.h"

#include <string.h>

#include "wire.h"

/* Mask of the defined flags in a DATA message. The bit 0x02 is not used any
 * more: it was the flag PAIR in version 1 of the protocol. */
#define DATA_FLAGS 0xfd
/* Byte 0 of a message contains the version in its high 3 bits, and the type in
 * its low 5 bits (docs/wire-mmtp.md, section 2). */
#define VERSION_SHIFT 5
#define TYPE_MASK 0x1f
/* Minimum size in bytes of a prelude (optional header of a buffer): one byte
 * for the length and one byte for the mask (docs/wire-mmtp.md, section 3,
 * DATA). */
#define MIN_PRELUDE 2
/* defined bits in the mask of a prelude (docs/wire-mmtp.md, section 3) */
#define PRELUDE_MASK 0x3f
/* Maximum initial delay (D0, the latency of the session) in us, from
 * docs/wire-mmtp.md, section 4, OPEN. */
#define MAX_INITIAL_DELAY 60000000
/* Minimum and maximum of the keep-alive period in ms, from docs/wire-mmtp.md,
 * section 4, OPEN. */
#define MIN_KEEPALIVE 10
#define MAX_KEEPALIVE 10000

/* Position in a message that is being parsed or written. If the rest of the
 * message is too short for a field, `overrun` is set. While parsing, the field
 * is then read as 0. While writing, it is not written. */
typedef struct
{
  const guint8 *in;             /* input; NULL while writing */
  guint8 *out;                  /* output; NULL while parsing */
  gsize left;                   /* bytes left until the end */
  gboolean overrun;
  gboolean malformed;
} Coder;

typedef struct
{
  /* Endpoints that send messages of this type: MMTP_SENDER, MMTP_RECEIVER, or
   * both. */
  guint from;
  /* minimum size in bytes of a message of this type, with its trailer */
  gsize size;
  /* TRUE if messages of this type may have more than `size` bytes. FALSE if
   * they always have exactly `size` bytes. */
  gboolean is_open;
  void (*code) (Coder * self, MmtpMessage * message);
} Layout;

const gchar *
mmtp_refusal_get_name (MmtpRefusal refusal)
{
  static const gchar *const names[MMTP_LAST_REFUSAL] = {
    "valid", "short", "version", "type", "trailer", "replay", "channel",
    "malformed", "session", "address"
  };

  g_return_val_if_fail (refusal < MMTP_LAST_REFUSAL, NULL);
  return names[refusal];
}

/* --- big-endian fields ---------------------------------------------------- */

static gboolean
has_left (Coder * self, gsize size)
{
  if (self->left < size)
    self->overrun = TRUE;
  return !self->overrun;
}

static void
skip (Coder * self, gsize size)
{
  if (self->in)
    self->in += size;
  else
    self->out += size;
  self->left -= size;
}

static guint64
read_number (Coder * self, guint size)
{
  guint64 value;

  if (!has_left (self, size))
    return 0;
  value = wire_read (self->in, size);
  skip (self, size);
  return value;
}

static void
write_number (Coder * self, guint size, guint64 value)
{
  if (!has_left (self, size))
    return;
  wire_write (self->out, size, value);
  skip (self, size);
}

#define DEFINE_CODE(name, type, size) \
static void \
code_##name (Coder * self, type * value) \
{ \
  if (self->in) \
    *value = (type) read_number (self, size); \
  else \
    write_number (self, size, (guint64) *value); \
}

/* *INDENT-OFF* */
DEFINE_CODE (u8, guint8, 1)
DEFINE_CODE (u16, guint16, 2)
DEFINE_CODE (u24, guint32, 3)
DEFINE_CODE (u32, guint32, 4)
DEFINE_CODE (i32, gint32, 4)
DEFINE_CODE (u64, guint64, 8)
/* *INDENT-ON* */

static void
code_bytes (Coder * self, guint8 * bytes, gsize size)
{
  if (!has_left (self, size))
    return;
  if (self->in)
    memcpy (bytes, self->in, size);
  else
    memcpy (self->out, bytes, size);
  skip (self, size);
}

/* Parses or writes a byte whose lowest bit is a flag. The protocol does not
 * define the other bits of the byte yet, so they are ignored. */
static void
code_flag (Coder * self, gboolean * flag)
{
  if (self->in)
    *flag = read_number (self, 1) & 0x01;
  else
    write_number (self, 1, *flag ? 0x01 : 0);
}

/* Parses or writes a byte that must be 0 or 1. */
static void
code_boolean (Coder * self, gboolean * value)
{
  if (self->in) {
    *value = read_number (self, 1);
    self->malformed |= *value > 1;
  } else
    write_number (self, 1, *value ? 1 : 0);
}

/* Writes `size` zeros. While parsing, skips `size` bytes of any value. */
static void
code_zeros (Coder * self, gsize size)
{
  if (!has_left (self, size))
    return;
  if (self->out && size > 0)
    memset (self->out, 0, size);
  skip (self, size);
}

/* Parses or writes the rest of the message. While parsing, the rest is not
 * copied, but `bytes` is set to point to it. */
static void
code_rest (Coder * self, const guint8 ** bytes, gsize * size)
{
  if (self->in) {
    *bytes = self->in;
    *size = self->left;
  } else if (has_left (self, *size) && *size > 0)
    memcpy (self->out, *bytes, *size);
  if (!self->overrun)
    skip (self, *size);
}

/* --- messages during a session (docs/wire-mmtp.md, section 3) ------------- */

gsize
mmtp_prelude_get_size (const MmtpPrelude * prelude)
{
  const guint8 mask = prelude->mask & PRELUDE_MASK;

  if (mask == 0)
    return 0;
  return MIN_PRELUDE + (mask & MMTP_PRELUDE_PTS ? 4 : 0)
      + (mask & MMTP_PRELUDE_DURATION ? 4 : 0)
      + (mask & MMTP_PRELUDE_RATE ? 12 : 0)
      + (mask & MMTP_PRELUDE_DTS ? 4 : 0);
}

static void
code_prelude_fields (Coder * self, MmtpPrelude * prelude)
{
  if (prelude->mask & MMTP_PRELUDE_PTS)
    code_i32 (self, &prelude->pts);
  if (prelude->mask & MMTP_PRELUDE_DURATION)
    code_u32 (self, &prelude->duration);
  if (prelude->mask & MMTP_PRELUDE_RATE) {
    code_u32 (self, &prelude->frame_rate);
    code_u64 (self, &prelude->bit_rate);
  }
  if (prelude->mask & MMTP_PRELUDE_DTS)
    code_i32 (self, &prelude->dts);
}

/* Parses a prelude, the optional header of a buffer. The first byte of the
 * prelude is its length. A later version of the protocol may add fields at the
 * end of the prelude. These fields are skipped. */
static void
read_prelude (Coder * self, MmtpPrelude * prelude)
{
  Coder fields = *self;
  guint8 length = read_number (&fields, 1);

  if (length < MIN_PRELUDE || length > MMTP_MAX_PRELUDE || length > self->left) {
    self->malformed = TRUE;
    return;
  }
  fields.left = length - 1;
  prelude->mask = read_number (&fields, 1) & PRELUDE_MASK;
  code_prelude_fields (&fields, prelude);
  self->malformed |= fields.overrun;
  skip (self, length);
}

static void
write_prelude (Coder * self, MmtpPrelude * prelude)
{
  if (prelude->mask == 0)
    return;
  write_number (self, 1, mmtp_prelude_get_size (prelude));
  write_number (self, 1, prelude->mask);
  code_prelude_fields (self, prelude);
}

static void
read_data (Coder * self, MmtpData * data)
{
  data->flags = read_number (self, 1) & DATA_FLAGS;
  data->caps_version = read_number (self, 1);
  memset (&data->prelude, 0, sizeof (data->prelude));
  if (!(data->flags & MMTP_FLAG_PRELUDE))
    return;
  if (data->flags & MMTP_FLAG_FIRST)
    read_prelude (self, &data->prelude);
  else
    self->malformed = TRUE;
}

/* Writes the flags, the version of the caps and the prelude of a DATA message.
 * MMTP_FLAG_PRELUDE is set if the mask of the prelude is not 0. */
static void
write_data (Coder * self, MmtpData * data)
{
  guint8 flags = data->flags & DATA_FLAGS & ~MMTP_FLAG_PRELUDE;

  if (data->prelude.mask)
    flags |= MMTP_FLAG_PRELUDE;
  write_number (self, 1, flags);
  write_number (self, 1, data->caps_version);
  write_prelude (self, &data->prelude);
}

static void
code_data (Coder * self, MmtpMessage * message)
{
  MmtpData *data = &message->data;

  code_u24 (self, &data->stream_number);
  code_u32 (self, &data->due);
  if (self->in)
    read_data (self, data);
  else
    write_data (self, data);
  code_rest (self, &data->payload, &data->payload_size);
}

static void
code_probe (Coder * self, MmtpMessage * message)
{
  MmtpProbe *probe = &message->probe;

  if (self->in) {
    probe->size = MMTP_HEADER_SIZE + self->left + MMTP_TRAILER_SIZE;
    return;
  }
  code_zeros (self, probe->size - MMTP_HEADER_SIZE - MMTP_TRAILER_SIZE);
}

static void
code_join (Coder * self, MmtpMessage * message)
{
  MmtpJoin *join = &message->join;

  code_u64 (self, &join->number);
  code_u64 (self, &join->nonce);
  code_u16 (self, &join->max_size);
  code_zeros (self, MMTP_JOIN_SIZE - MMTP_TRAILER_SIZE - 25);
}

static void
code_challenge (Coder * self, MmtpMessage * message)
{
  code_u64 (self, &message->challenge.nonce);
  code_u64 (self, &message->challenge.challenge);
}

static void
code_response (Coder * self, MmtpMessage * message)
{
  code_u64 (self, &message->challenge.challenge);
}

static void
code_keepalive (Coder * self, MmtpMessage * message)
{
  MmtpKeepalive *keepalive = &message->keepalive;

  code_u64 (self, &keepalive->number);
  code_u32 (self, &keepalive->initial_delay);
  code_u32 (self, &keepalive->next);
  code_u32 (self, &keepalive->floor);
  code_u32 (self, &keepalive->round_trip);
  code_u8 (self, &keepalive->fastest);
  code_u8 (self, &keepalive->caps_version);
  code_flag (self, &keepalive->stored);
  code_i32 (self, &keepalive->offset);
  code_boolean (self, &keepalive->has_offset);
  code_u24 (self, &keepalive->echo);
  code_u24 (self, &keepalive->hold);
  code_u16 (self, &keepalive->report_period);
}

static void
code_ranges (Coder * self, MmtpRecord * record)
{
  guint i;

  if (record->n_ranges > MMTP_MAX_RANGES) {
    self->malformed = TRUE;
    return;
  }
  for (i = 0; i < record->n_ranges; i++) {
    code_u16 (self, &record->ranges[i].first);
    code_u8 (self, &record->ranges[i].count);
    self->malformed |= record->ranges[i].count == 0;
  }
}

static void
code_record (Coder * self, MmtpRecord * record)
{
  code_u8 (self, &record->channel);
  code_u8 (self, &record->flags);
  code_u32 (self, &record->highest);
  code_u32 (self, &record->received);
  code_u32 (self, &record->lost);
  code_u32 (self, &record->late);
  code_u32 (self, &record->bytes);
  code_u24 (self, &record->arrival);
  code_i32 (self, &record->transit);
  code_i32 (self, &record->min_transit);
  code_i32 (self, &record->high_transit);
  code_u32 (self, &record->jitter);
  code_u8 (self, &record->n_ranges);
  code_ranges (self, record);
}

static void
code_report (Coder * self, MmtpMessage * message)
{
  MmtpReport *report = &message->report;
  guint i;

  code_u64 (self, &report->channel_number);
  code_u32 (self, &report->number);
  code_u32 (self, &report->next);
  code_u8 (self, &report->echo_channel);
  code_u24 (self, &report->echo);
  code_u24 (self, &report->hold);
  code_u8 (self, &report->n_records);
  self->malformed |= report->n_records > MMTP_MAX_RECORDS;
  for (i = 0; i < report->n_records && !self->malformed; i++)
    code_record (self, &report->records[i]);
}

static void
code_query (Coder * self, MmtpMessage * message)
{
  code_u8 (self, &message->query.channel);
}

static void
code_leave (Coder * self, MmtpMessage * message)
{
  code_u8 (self, &message->leave.channel);
  code_flag (self, &message->leave.is_ack);
  code_u8 (self, &message->leave.reason);
  code_u32 (self, &message->leave.highest);
}

static void
code_caps (Coder * self, MmtpMessage * message)
{
  MmtpCaps *caps = &message->caps;

  code_u8 (self, &caps->version);
  code_u16 (self, &caps->length);
  code_u16 (self, &caps->offset);
  code_rest (self, &caps->piece, &caps->piece_size);
}

static void
code_caps_ack (Coder * self, MmtpMessage * message)
{
  code_u8 (self, &message->caps.version);
}

static void
code_end (Coder * self, MmtpMessage * message)
{
  code_u32 (self, &message->end.stream_number);
}

static void
code_repair (Coder * self, MmtpMessage * message)
{
  MmtpRepair *repair = &message->repair;

  code_u24 (self, &repair->first);
  code_u32 (self, &repair->mask);
  code_u16 (self, &repair->sizes);
  code_rest (self, &repair->content, &repair->content_size);
}

/* --- messages of the handshake (docs/wire-mmtp.md, section 4) ------------- */

static void
code_init (Coder * self, MmtpMessage * message)
{
  code_bytes (self, message->init.nonce, MMTP_NONCE_SIZE);
  code_zeros (self, MMTP_INIT_SIZE - MMTP_TRAILER_SIZE - MMTP_HEADER_SIZE
      - MMTP_NONCE_SIZE);
}

static void
code_cookie (Coder * self, MmtpMessage * message)
{
  code_bytes (self, message->init.nonce, MMTP_NONCE_SIZE);
  code_bytes (self, message->init.cookie, MMTP_COOKIE_SIZE);
}

static void
code_open (Coder * self, MmtpMessage * message)
{
  MmtpOpen *open = &message->open;

  code_bytes (self, open->nonce, MMTP_NONCE_SIZE);
  code_bytes (self, open->cookie, MMTP_COOKIE_SIZE);
  code_u64 (self, &open->token);
  code_u32 (self, &open->initial_delay);
  code_u64 (self, &open->bit_rate);
  code_u32 (self, &open->frame_period);
  code_u16 (self, &open->max_size);
  code_u16 (self, &open->keepalive_period);
  code_u64 (self, &open->now);
  code_flag (self, &open->has_key);
  code_bytes (self, open->mac, MMTP_MAC_SIZE);
  if (self->in)
    open->size = MMTP_OPEN_SIZE + self->left;
  else if (open->size > MMTP_OPEN_SIZE)
    code_zeros (self, open->size - MMTP_OPEN_SIZE);
}

static void
code_accept (Coder * self, MmtpMessage * message)
{
  MmtpAccept *accept = &message->accept;

  code_bytes (self, accept->nonce, MMTP_NONCE_SIZE);
  code_bytes (self, accept->nonce_r, MMTP_NONCE_SIZE);
  code_u64 (self, &accept->token);
  code_u32 (self, &accept->min_delay);
  code_flag (self, &accept->has_key);
  code_bytes (self, accept->mac, MMTP_MAC_SIZE);
}

static void
code_refuse (Coder * self, MmtpMessage * message)
{
  code_bytes (self, message->refuse.nonce, MMTP_NONCE_SIZE);
  code_u8 (self, &message->refuse.reason);
}

/* --- messages ------------------------------------------------------------- */

#define BOTH (MMTP_SENDER | MMTP_RECEIVER)

static const Layout layouts[MMTP_LAST_TYPE] = {
  [MMTP_DATA] = {MMTP_SENDER, 24, TRUE, code_data},
  [MMTP_PROBE] = {MMTP_SENDER, 15, TRUE, code_probe},
  [MMTP_INIT] = {MMTP_SENDER, MMTP_INIT_SIZE, TRUE, code_init},
  [MMTP_COOKIE] = {MMTP_RECEIVER, 63, FALSE, code_cookie},
  [MMTP_OPEN] = {MMTP_SENDER, MMTP_OPEN_SIZE, TRUE, code_open},
  [MMTP_ACCEPT] = {MMTP_RECEIVER, 76, FALSE, code_accept},
  [MMTP_REFUSE] = {MMTP_RECEIVER, 32, FALSE, code_refuse},
  [MMTP_JOIN] = {MMTP_SENDER, MMTP_JOIN_SIZE, TRUE, code_join},
  [MMTP_CHALLENGE] = {MMTP_RECEIVER, 31, FALSE, code_challenge},
  [MMTP_RESPONSE] = {MMTP_SENDER, 23, FALSE, code_response},
  [MMTP_KEEPALIVE] = {MMTP_SENDER, 55, FALSE, code_keepalive},
  [MMTP_REPORT] = {MMTP_RECEIVER, 39, TRUE, code_report},
  [MMTP_QUERY] = {BOTH, 16, FALSE, code_query},
  [MMTP_RESERVED_13] = {0, 0, FALSE, NULL},
  [MMTP_LEAVE] = {BOTH, 22, FALSE, code_leave},
  [MMTP_CAPS] = {MMTP_SENDER, 21, TRUE, code_caps},
  [MMTP_CAPS_ACK] = {MMTP_RECEIVER, 16, FALSE, code_caps_ack},
  [MMTP_END] = {MMTP_SENDER, 19, FALSE, code_end},
  [MMTP_END_ACK] = {MMTP_RECEIVER, 19, FALSE, code_end},
  [MMTP_REPAIR] = {MMTP_SENDER, 30, TRUE, code_repair},
};

static void
code_header (Coder * self, MmtpMessage * message)
{
  code_u8 (self, &message->channel);
  code_u16 (self, &message->number);
  code_u24 (self, &message->sent);
}

MmtpRefusal
mmtp_packet_parse_header (MmtpMessage * message, const guint8 * bytes,
    gsize size, MmtpRole from)
{
  Coder coder = { bytes, NULL, size };

  if (size < MMTP_MIN_MESSAGE)
    return MMTP_REFUSED_SHORT;
  message->version = bytes[0] >> VERSION_SHIFT;
  message->type = bytes[0] & TYPE_MASK;
  skip (&coder, 1);
  code_header (&coder, message);
  skip (&coder, coder.left - MMTP_TRAILER_SIZE);
  code_u64 (&coder, &message->trailer);

  if (message->version != MMTP_VERSION && message->type != MMTP_REFUSE)
    return MMTP_REFUSED_VERSION;
  if (message->type >= MMTP_LAST_TYPE || !(layouts[message->type].from & from))
    return MMTP_REFUSED_TYPE;
  if (size < layouts[message->type].size)
    return MMTP_REFUSED_SHORT;
  return MMTP_VALID;
}

static gboolean
is_max_size (guint max_size)
{
  return max_size >= MMTP_MIN_MESSAGE_SIZE && max_size <= MMTP_MAX_MESSAGE;
}

static gboolean
is_open_valid (const MmtpOpen * open)
{
  return open->initial_delay <= MAX_INITIAL_DELAY
      && open->keepalive_period >= MIN_KEEPALIVE
      && open->keepalive_period <= MAX_KEEPALIVE
      && is_max_size (open->max_size);
}

static gboolean
is_caps_valid (const MmtpCaps * caps)
{
  return caps->version != 0 && caps->length <= MMTP_MAX_CAPS
      && caps->piece_size > 0 && caps->offset < caps->length
      && caps->piece_size <= caps->length - caps->offset;
}

/* Checks that the header and the body of the message have the same channel
 * number. The body contains the full number, and the header contains its low
 * bits. */
static gboolean
is_number (const MmtpMessage * message, guint64 number)
{
  return message->number == (guint16) number;
}

/* Checks the values of the message's fields. Returns FALSE if docs/wire-mmtp.md
 * forbids one of them. */
static gboolean
has_valid_values (const MmtpMessage * message)
{
  switch (message->type) {
    case MMTP_OPEN:
      return is_open_valid (&message->open);
    case MMTP_JOIN:
      return is_max_size (message->join.max_size)
          && is_number (message, message->join.number);
    case MMTP_KEEPALIVE:
      return is_number (message, message->keepalive.number);
    case MMTP_REPORT:
      return message->report.number != 0
          && is_number (message, message->report.channel_number);
    case MMTP_RESERVED_13:
      return FALSE;
    case MMTP_CAPS:
      return is_caps_valid (&message->caps);
    case MMTP_CAPS_ACK:
      return message->caps.version != 0;
    case MMTP_REPAIR:
      return message->repair.mask & 1;
    default:
      return TRUE;
  }
}

/* Parses an INIT or OPEN of another protocol version. Only the nonce is parsed,
 * because the REFUSE that answers the message has to repeat the nonce. In every
 * version, INIT and OPEN begin with the nonce. */
static MmtpRefusal
parse_foreign_body (MmtpMessage * message, Coder * body)
{
  if (message->type != MMTP_INIT && message->type != MMTP_OPEN)
    return MMTP_REFUSED_VERSION;
  if (body->left + MMTP_HEADER_SIZE + MMTP_TRAILER_SIZE < MMTP_INIT_SIZE)
    return MMTP_REFUSED_SHORT;
  code_bytes (body, message->init.nonce, MMTP_NONCE_SIZE);
  return MMTP_VALID;
}

MmtpRefusal
mmtp_packet_parse_body (MmtpMessage * message, const guint8 * bytes, gsize size)
{
  Coder body = { bytes, NULL, size };
  const Layout *layout;

  g_return_val_if_fail (size >= MMTP_MIN_MESSAGE, MMTP_REFUSED_SHORT);
  skip (&body, MMTP_HEADER_SIZE);
  body.left -= MMTP_TRAILER_SIZE;

  if (message->version != MMTP_VERSION && message->type != MMTP_REFUSE)
    return parse_foreign_body (message, &body);
  g_return_val_if_fail (message->type < MMTP_LAST_TYPE, MMTP_REFUSED_TYPE);

  layout = &layouts[message->type];
  if (size > (layout->is_open ? MMTP_MAX_MESSAGE : layout->size))
    return MMTP_REFUSED_MALFORMED;
  layout->code (&body, message);
  if (body.malformed || body.overrun)
    return MMTP_REFUSED_MALFORMED;
  if (message->type == MMTP_REPORT && body.left > 0)
    return MMTP_REFUSED_MALFORMED;
  return has_valid_values (message) ? MMTP_VALID : MMTP_REFUSED_MALFORMED;
}

/* Returns whether the message may be written: none of its fields may have a
 * value that docs/wire-mmtp.md forbids. */
static gboolean
may_be_written (const MmtpMessage * message)
{
  if (message->type >= MMTP_LAST_TYPE || !has_valid_values (message))
    return FALSE;
  if (message->type == MMTP_PROBE)
    return message->probe.size >= layouts[MMTP_PROBE].size;
  if (message->type == MMTP_DATA && message->data.prelude.mask)
    return (message->data.flags & MMTP_FLAG_FIRST)
        && !(message->data.prelude.mask & ~PRELUDE_MASK);
  return TRUE;
}

/* The same functions write and parse messages. They change the message while
 * they parse, so they do not take a const pointer. While they write, they do
 * not change the message, so it is safe here to cast away the const of
 * `message`. */
gsize
mmtp_packet_write (const MmtpMessage * message, guint8 * bytes, gsize room)
{
  Coder coder = { NULL, bytes, MIN (room, MMTP_MAX_MESSAGE) };
  MmtpMessage *source = (MmtpMessage *) message;

  g_return_val_if_fail (may_be_written (message), 0);

  write_number (&coder, 1, MMTP_VERSION << VERSION_SHIFT | message->type);
  code_header (&coder, source);
  layouts[message->type].code (&coder, source);
  code_u64 (&coder, &source->trailer);
  g_return_val_if_fail (!coder.malformed, 0);
  return coder.overrun ? 0 : coder.out - bytes;
}

/* --- numbers -------------------------------------------------------------- */

/* Restores a full number from its low bits, `low`. Many numbers have these low
 * bits, so the function returns the one that is nearest to `near`. If two of
 * them are equally near, the higher one is returned. */
guint64
mmtp_unwrap (guint64 low, guint bits, guint64 near)
{
  const guint64 half = G_GUINT64_CONSTANT (1) << (bits - 1);
  const guint64 mask = half | (half - 1);
  const guint64 ahead = (low - near) & mask;
  const guint64 behind = (near - low) & mask;

  g_return_val_if_fail (bits >= 1 && bits <= 64, near);

  if (ahead <= half)
    return ahead <= G_MAXUINT64 - near ? near + ahead : near - behind;
  return behind <= near ? near - behind : near + ahead;
}

guint32
mmtp_to_ticks (guint64 time)
{
  return time / MMTP_TICK_TIME & MMTP_TICKS_MASK;
}

guint32
mmtp_to_hold (guint64 since, guint64 now)
{
  return MIN ((now - since) / MMTP_TICK_TIME, MMTP_TICKS_MASK);
}
