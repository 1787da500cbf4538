/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Holds the sender to docs/wire-mmtp.md and to section 4 of Magalhães and
 * Kravets. The receiver is played by hand: it counts, and reports as often as
 * it is asked for. Time is virtual. */

#include <gst/check/gstcheck.h>

#include <math.h>

#include "mmtpkeys.h"
#include "mmtpsender.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define SECOND (1000 * MS)
#define MAX_SIZE 1400
#define OVERHEAD 28
#define MAX_LINES 4
#define TOKEN_R G_GUINT64_CONSTANT (0x1122334455667788)
#define ROOM 2000

/* A message on its way */
typedef struct
{
  guint64 arrival;              /* ns */
  guint channel;
  gsize size;
  guint8 bytes[ROOM];
} Flight;

typedef struct
{
  guint64 delay;                /* ns, each way */
  guint64 capacity;             /* bytes of messages per second */
  guint64 busy;                 /* ns, until which it transmits */
  gint64 transit;               /* ticks, of the newest message */
  gint64 min, high;             /* ticks, since the last record */
  guint32 arrival;              /* ticks, of the newest message */
  gboolean is_measured;         /* something came since the last record */
  gboolean is_cut;
  gboolean is_black_hole;       /* JOIN arrives, and nothing else */
  gboolean joined;
  guint64 next;                 /* our number */
  guint64 highest, received, bytes;
  guint lost;
  gint64 jitter;                /* ns, RFC 3550, section 6.4.1, of loads */
  gint64 load_transit;          /* ticks, of the last of them */
  gboolean has_load;
  guint64 reported;             /* ns, last report on it */
  guint64 period;               /* ns between reports that was asked for */
  guint32 last_sent;            /* ticks */
  guint64 last_arrival;         /* ns */
  GArray *ranges;               /* of guint64, channel numbers to be lost */
} Line;

typedef struct
{
  MmtpSender *sender;
  guint64 now;
  MmtpKey key;
  guint8 nonce_s[MMTP_NONCE_SIZE], nonce_r[MMTP_NONCE_SIZE];
  MmtpDirection from, to;       /* the sender */
  gboolean in_session;
  guint64 mute_until;           /* ns; nothing comes back before */
  gboolean answers;             /* otherwise nothing is said but by the test */
  Line lines[MAX_LINES];
  guint n_lines;
  guint32 report;
  GQueue forth, back;           /* of Flight */
  GArray *arrived;              /* of MmtpMessage, all that came */
  GArray *events;               /* of MmtpSenderEvent */
  GHashTable *numbers;          /* of the stream that came */
  guint counts[MMTP_LAST_TYPE][MAX_LINES];      /* that were sent */
    gboolean (*loses) (const MmtpMessage * message);
} Rig;

static const guint8 entropy[MMTP_ENTROPY_SIZE] = "sixty-four bytes";

/* Bits per second with IP and UDP, as long as all messages are long */
static guint64
get_wire_rate (guint64 capacity)
{
  return capacity * 8 * (MAX_SIZE + OVERHEAD) / MAX_SIZE;
}

static void
add_known_line (Rig * rig, guint64 delay, guint64 capacity, guint64 rate)
{
  gchar *name = g_strdup_printf ("line%u", rig->n_lines);
  MmtpPathConfig config = { name, MAX_SIZE, OVERHEAD, rate, 0 };
  Line *line = &rig->lines[rig->n_lines];

  line->delay = delay;
  line->capacity = capacity;
  line->ranges = g_array_new (FALSE, FALSE, sizeof (guint64));
  fail_unless_equals_int (mmtp_sender_add_path (rig->sender, rig->now,
          &config), rig->n_lines);
  rig->n_lines++;
  g_free (name);
}

static void
add_line (Rig * rig, guint64 delay, guint64 capacity)
{
  add_known_line (rig, delay, capacity, 0);
}

static Rig *
rig_new (const MmtpSenderConfig * config)
{
  Rig *rig = g_new0 (Rig, 1);

  rig->now = 10 * SECOND;       /* ticks have 24 bits */
  rig->answers = TRUE;
  rig->sender = mmtp_sender_new (config, entropy);
  mmtp_key_init (&rig->key, config->key);
  memset (rig->nonce_r, 7, MMTP_NONCE_SIZE);
  g_queue_init (&rig->forth);
  g_queue_init (&rig->back);
  rig->arrived = g_array_new (FALSE, FALSE, sizeof (MmtpMessage));
  rig->events = g_array_new (FALSE, FALSE, sizeof (MmtpSenderEvent));
  rig->numbers = g_hash_table_new (NULL, NULL);
  return rig;
}

static Rig *
rig_new_default (void)
{
  MmtpSenderConfig config;

  mmtp_sender_config_init (&config);
  return rig_new (&config);
}

static void
rig_free (Rig * rig)
{
  guint i;

  mmtp_sender_free (rig->sender);
  for (i = 0; i < rig->n_lines; i++)
    g_array_unref (rig->lines[i].ranges);
  mmtp_key_clear (&rig->key);
  mmtp_direction_clear (&rig->from);
  mmtp_direction_clear (&rig->to);
  g_queue_clear_full (&rig->forth, g_free);
  g_queue_clear_full (&rig->back, g_free);
  g_array_unref (rig->arrived);
  g_array_unref (rig->events);
  g_hash_table_unref (rig->numbers);
  g_free (rig);
}

static gint
compare_arrivals (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const Flight *first = a, *second = b;

  return first->arrival < second->arrival ? -1 :
      first->arrival > second->arrival;
}

/* --- the receiver, by hand ----------------------------------------------- */

static gsize
seal (Rig * rig, MmtpMessage * message, guint channel, guint8 * bytes)
{
  Line *line = &rig->lines[channel];
  gsize size;

  message->channel = channel;
  if (message->type != MMTP_REFUSE)
    message->number = line->next & 0xffff;
  message->sent = rig->now / 10000 & 0xffffff;
  message->trailer = 0;
  size = mmtp_packet_write (message, bytes, ROOM);
  fail_unless (size > 0);
  if (message->type != MMTP_COOKIE && message->type != MMTP_ACCEPT &&
      message->type != MMTP_REFUSE)
    mmtp_direction_seal (&rig->to, line->next, bytes, size);
  if (message->type == MMTP_COOKIE)
    mmtp_key_seal (&rig->key, bytes, size);
  if (message->type != MMTP_COOKIE && message->type != MMTP_REFUSE)
    line->next++;
  return size;
}

static void
say (Rig * rig, guint channel, MmtpMessage * message)
{
  Flight *flight = g_new0 (Flight, 1);

  flight->arrival = MAX (rig->now, rig->mute_until) + rig->lines[channel].delay;
  flight->channel = channel;
  flight->size = seal (rig, message, channel, flight->bytes);
  if (rig->lines[channel].is_cut)
    g_free (flight);
  else
    g_queue_insert_sorted (&rig->back, flight, compare_arrivals, NULL);
}

static void
say_accept (Rig * rig, guint channel, const MmtpOpen * open)
{
  MmtpMessage message = { MMTP_ACCEPT };
  guint8 bytes[ROOM];

  memcpy (rig->nonce_s, open->nonce, MMTP_NONCE_SIZE);
  memcpy (message.accept.nonce, open->nonce, MMTP_NONCE_SIZE);
  memcpy (message.accept.nonce_r, rig->nonce_r, MMTP_NONCE_SIZE);
  message.accept.token = TOKEN_R;
  message.accept.has_key = rig->key.is_set;
  message.channel = channel;
  message.number = rig->lines[channel].next & 0xffff;
  message.sent = rig->now / 10000 & 0xffffff;
  mmtp_packet_write (&message, bytes, ROOM);
  mmtp_key_sign (&rig->key, bytes, 52, message.accept.mac);
  mmtp_direction_init (&rig->from, &rig->key, rig->nonce_s, rig->nonce_r,
      MMTP_SENDER, TOKEN_R);
  mmtp_direction_init (&rig->to, &rig->key, rig->nonce_s, rig->nonce_r,
      MMTP_RECEIVER, open->token);
  rig->in_session = TRUE;
  rig->lines[channel].joined = TRUE;
  say (rig, channel, &message);
}

/* The transit constant is 0: both clocks are one. */
static void
fill_record (Rig * rig, guint channel, MmtpRecord * record)
{
  Line *line = &rig->lines[channel];
  guint i;

  memset (record, 0, sizeof (*record));
  record->channel = channel;
  record->highest = line->highest;
  record->received = line->received;
  record->lost = line->lost;
  record->bytes = line->bytes;
  record->flags = line->is_measured ? 0 : MMTP_RECORD_UNMEASURED;
  record->arrival = line->arrival;
  record->transit = line->transit;
  record->min_transit = line->min;
  record->high_transit = line->high;
  record->jitter = line->jitter / 1000;
  line->is_measured = FALSE;
  record->n_ranges = MIN (line->ranges->len, MMTP_MAX_RANGES);
  for (i = 0; i < record->n_ranges; i++) {
    record->ranges[i].first = g_array_index (line->ranges, guint64, i);
    record->ranges[i].count = 1;
  }
}

static guint32
get_next_missing (Rig * rig)
{
  guint number = 0;

  while (g_hash_table_contains (rig->numbers, GUINT_TO_POINTER (number + 1)))
    number++;
  return number;
}

static void
say_report (Rig * rig, guint channel, guint first, guint n)
{
  MmtpMessage message = { MMTP_REPORT };
  Line *line = &rig->lines[channel];
  guint i;

  message.report.channel_number = line->next;
  message.report.number = ++rig->report;
  message.report.next = get_next_missing (rig);
  message.report.echo_channel = channel;
  message.report.echo = line->last_sent;
  message.report.hold = (rig->now - line->last_arrival) / 10000;
  for (i = first; i < first + n; i++)
    if (rig->lines[i].joined && rig->lines[i].received)
      fill_record (rig, i, &message.report.records[message.report.n_records++]);
  line->reported = rig->now;
  say (rig, channel, &message);
}

static void
take_session_message (Rig * rig, guint channel, MmtpMessage * message)
{
  MmtpMessage answer = { MMTP_CHALLENGE };
  guint i;

  switch (message->type) {
    case MMTP_JOIN:
      if (rig->lines[channel].joined)
        return;
      answer.challenge.nonce = message->join.nonce;
      answer.challenge.challenge = 4711;
      say (rig, channel, &answer);
      return;
    case MMTP_RESPONSE:
      fail_unless_equals_uint64 (message->challenge.challenge, 4711);
      rig->lines[channel].joined = TRUE;
      return;
    case MMTP_QUERY:
      say_report (rig, channel, channel, 1);
      return;
    case MMTP_KEEPALIVE:
      rig->lines[channel].period = message->keepalive.report_period * MS;
      return;
    case MMTP_DATA:
      g_hash_table_add (rig->numbers,
          GUINT_TO_POINTER (message->data.stream_number + 1));
      return;
    case MMTP_LEAVE:
      answer.type = MMTP_LEAVE;
      answer.leave.channel = message->leave.channel;
      answer.leave.is_ack = TRUE;
      say (rig, channel, &answer);
      return;
    case MMTP_END:
      answer.type = MMTP_END_ACK;
      answer.end = message->end;
      for (i = 0; i < 3; i++)
        say (rig, channel, &answer);
      return;
    default:
      return;
  }
}

static void
take_handshake (Rig * rig, guint channel, MmtpMessage * message)
{
  MmtpMessage answer = { MMTP_COOKIE };

  if (message->type == MMTP_OPEN) {
    say_accept (rig, channel, &message->open);
    return;
  }
  memcpy (answer.init.nonce, message->init.nonce, MMTP_NONCE_SIZE);
  memset (answer.init.cookie, 3, MMTP_COOKIE_SIZE);
  say (rig, channel, &answer);
}

static guint64
unwrap_number (const Line * line, const MmtpMessage * message)
{
  return mmtp_unwrap (message->number, 16, line->highest);
}

static void
note_transit (Line * line, gint64 transit, gboolean is_load)
{
  gint64 change = ABS (transit - line->load_transit) * 10000;

  if (is_load && line->has_load)
    line->jitter += (change - line->jitter) / 16;
  if (is_load) {
    line->load_transit = transit;
    line->has_load = TRUE;
  }
  line->min = line->is_measured ? MIN (line->min, transit) : transit;
  line->high = line->is_measured ? MAX (line->high, transit) : transit;
  line->transit = transit;
  line->is_measured = TRUE;
}

static void
arrive (Rig * rig, const Flight * flight)
{
  Line *line = &rig->lines[flight->channel];
  MmtpMessage message;
  guint64 number;

  memset (&message, 0, sizeof (message));
  fail_unless_equals_int (mmtp_packet_parse_header (&message, flight->bytes,
          flight->size, MMTP_SENDER), MMTP_VALID);
  fail_unless_equals_int (mmtp_packet_parse_body (&message, flight->bytes,
          flight->size), MMTP_VALID);
  g_array_append_val (rig->arrived, message);
  if (message.type == MMTP_INIT || message.type == MMTP_OPEN) {
    if (rig->answers)
      take_handshake (rig, flight->channel, &message);
    return;
  }
  number = unwrap_number (line, &message);
  fail_unless (mmtp_direction_verify (&rig->from, number, flight->bytes,
          flight->size));
  note_transit (line, (gint64) (rig->now / 10000) - message.sent,
      message.type == MMTP_DATA || message.type == MMTP_PROBE ||
      message.type == MMTP_REPAIR);
  line->arrival = rig->now / 10000 & 0xffffff;
  line->highest = number;
  line->received++;
  line->bytes += flight->size;
  line->last_sent = message.sent;
  line->last_arrival = flight->arrival;
  if (rig->answers)
    take_session_message (rig, flight->channel, &message);
}

/* --- time ---------------------------------------------------------------- */

static void
take_output (Rig * rig)
{
  Flight *flight = g_new0 (Flight, 1);
  MmtpMessage message;

  while ((flight->size = mmtp_sender_poll_output (rig->sender, rig->now,
              &flight->channel, flight->bytes, ROOM))) {
    Line *line = &rig->lines[flight->channel];
    guint64 number;

    memset (&message, 0, sizeof (message));
    fail_unless_equals_int (mmtp_packet_parse_header (&message, flight->bytes,
            flight->size, MMTP_SENDER), MMTP_VALID);
    fail_unless_equals_int (mmtp_packet_parse_body (&message, flight->bytes,
            flight->size), MMTP_VALID);
    fail_unless (flight->size <= MAX_SIZE);
    rig->counts[message.type][flight->channel]++;
    line->busy = MAX (line->busy, rig->now) +
        flight->size * SECOND / line->capacity;
    flight->arrival = line->busy + line->delay;
    number = unwrap_number (line, &message);
    if (line->is_cut || (line->is_black_hole && message.type != MMTP_JOIN))
      continue;
    if (rig->loses && rig->loses (&message)) {
      g_array_prepend_val (line->ranges, number);
      line->lost++;
      continue;
    }
    g_queue_insert_sorted (&rig->forth, flight, compare_arrivals, NULL);
    flight = g_new0 (Flight, 1);
  }
  g_free (flight);
}

static void
take_events (Rig * rig)
{
  MmtpSenderEvent event;

  while (mmtp_sender_poll_event (rig->sender, &event))
    g_array_append_val (rig->events, event);
}

static Flight *
pop_arrived (Rig * rig, GQueue * flights)
{
  Flight *flight = g_queue_peek_head (flights);

  if (!flight || flight->arrival > rig->now)
    return NULL;
  return g_queue_pop_head (flights);
}

/* ns, when the next report is due on the channel */
static guint64
get_report_time (Rig * rig, guint channel)
{
  const Line *line = &rig->lines[channel];

  if (!rig->answers || !rig->in_session || !line->joined)
    return MMTP_NEVER;
  return line->reported + (line->period ? line->period : 100 * MS);
}

static void
step (Rig * rig)
{
  Flight *flight;
  guint i;

  while ((flight = pop_arrived (rig, &rig->forth))) {
    if (!rig->lines[flight->channel].is_cut)
      arrive (rig, flight);
    g_free (flight);
  }
  for (i = 0; i < rig->n_lines; i++)
    if (rig->now >= get_report_time (rig, i))
      say_report (rig, i, 0, rig->n_lines);
  while ((flight = pop_arrived (rig, &rig->back))) {
    if (!rig->lines[flight->channel].is_cut)
      mmtp_sender_input (rig->sender, rig->now, flight->channel,
          flight->bytes, flight->size);
    g_free (flight);
  }
  mmtp_sender_timeout (rig->sender, rig->now);
  take_output (rig);
  fail_unless (mmtp_sender_next_wakeup (rig->sender) > rig->now);
  take_events (rig);
}

static guint64
get_next (Rig * rig)
{
  const Flight *forth = g_queue_peek_head (&rig->forth);
  const Flight *back = g_queue_peek_head (&rig->back);
  guint64 next = mmtp_sender_next_wakeup (rig->sender);
  guint i;

  if (forth)
    next = MIN (next, forth->arrival);
  if (back)
    next = MIN (next, back->arrival);
  for (i = 0; i < rig->n_lines; i++)
    next = MIN (next, get_report_time (rig, i));
  return MAX (next, rig->now);
}

static void
run (Rig * rig, guint64 time)
{
  guint64 end = rig->now + time;

  take_output (rig);
  take_events (rig);
  while (get_next (rig) <= end) {
    rig->now = get_next (rig);
    step (rig);
  }
  rig->now = end;
}

static const MmtpSenderEvent *
find_event (Rig * rig, MmtpSenderEventType type)
{
  guint i;

  for (i = 0; i < rig->events->len; i++) {
    const MmtpSenderEvent *event = &g_array_index (rig->events,
        MmtpSenderEvent, i);

    if (event->type == type)
      return event;
  }
  return NULL;
}

static guint
count_events (Rig * rig, MmtpSenderEventType type)
{
  guint i, n = 0;

  for (i = 0; i < rig->events->len; i++)
    n += g_array_index (rig->events, MmtpSenderEvent, i).type == type;
  return n;
}

static MmtpPathState
get_state (Rig * rig, guint channel)
{
  MmtpSenderPathStats stats;

  fail_unless (mmtp_sender_get_path_stats (rig->sender, channel, &stats));
  return stats.state;
}

/* `words`: what a user reads begins with them */
static void
expect_use (Rig * rig, guint channel, MmtpPathUse use, const gchar * words)
{
  MmtpSenderPathStats stats;
  gchar *text;

  fail_unless (mmtp_sender_get_path_stats (rig->sender, channel, &stats));
  fail_unless_equals_int (stats.use, use);
  text = mmtp_path_stats_explain (&stats);
  fail_unless (*words ? g_str_has_prefix (text, words) : !*text, "%s", text);
  g_free (text);
}

/* What was said and came until now is of no interest. */
static void
forget (Rig * rig)
{
  g_array_set_size (rig->events, 0);
  g_array_set_size (rig->arrived, 0);
  memset (rig->counts, 0, sizeof (rig->counts));
}

/* Two lines on which nothing was sent yet: 20 and 50 ms, 100 and 50 kbyte/s */
static Rig *
rig_new_ready (const MmtpSenderConfig * config)
{
  Rig *rig = rig_new (config);

  add_line (rig, 20 * MS, 100000);
  add_line (rig, 50 * MS, 50000);
  run (rig, 3 * SECOND);
  fail_unless (find_event (rig, MMTP_EVENT_READY) != NULL);
  forget (rig);
  return rig;
}

/* The same, with rates that are configured */
static Rig *
rig_new_known (const MmtpSenderConfig * config)
{
  Rig *rig = rig_new (config);

  add_known_line (rig, 20 * MS, 100000, get_wire_rate (100000));
  add_known_line (rig, 50 * MS, 50000, get_wire_rate (50000));
  run (rig, 3 * SECOND);
  fail_unless (find_event (rig, MMTP_EVENT_READY) != NULL);
  forget (rig);
  return rig;
}

static Rig *
rig_new_default_ready (void)
{
  MmtpSenderConfig config;

  mmtp_sender_config_init (&config);
  return rig_new_ready (&config);
}

static gboolean
put (Rig * rig, gsize size, guint8 flags)
{
  MmtpBuffer buffer = { NULL };
  gboolean queued;

  buffer.data = g_bytes_new_take (g_malloc0 (size), size);
  buffer.due = rig->now;
  buffer.flags = flags;
  queued = mmtp_sender_put (rig->sender, rig->now, &buffer);
  g_bytes_unref (buffer.data);
  return queued;
}

static MmtpMessage *
find_arrived (Rig * rig, MmtpType type, guint nth)
{
  guint i;

  for (i = 0; i < rig->arrived->len; i++) {
    MmtpMessage *message = &g_array_index (rig->arrived, MmtpMessage, i);

    if (message->type == type && nth-- == 0)
      return message;
  }
  return NULL;
}

/* --- handshake ----------------------------------------------------------- */

GST_START_TEST (handshake_is_repeated_and_tries_the_next_channel)
{
  Rig *rig = rig_new_default ();

  add_line (rig, 10 * MS, 100000);
  add_line (rig, 10 * MS, 100000);
  rig->answers = FALSE;
  run (rig, 249 * MS);
  fail_unless_equals_int (rig->counts[MMTP_INIT][0], 1);
  fail_unless_equals_int (rig->counts[MMTP_INIT][1], 0);
  run (rig, 2 * MS);
  fail_unless_equals_int (rig->counts[MMTP_INIT][0], 2);
  fail_unless_equals_int (rig->counts[MMTP_INIT][1], 1);
  run (rig, 498 * MS);
  fail_unless_equals_int (rig->counts[MMTP_INIT][0], 2);
  run (rig, 2 * MS);
  fail_unless_equals_int (rig->counts[MMTP_INIT][0], 3);
  /* 1 s, then 2 s each */
  run (rig, 9 * SECOND);
  fail_unless_equals_int (rig->counts[MMTP_INIT][0], 8);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (handshake_opens_where_the_cookie_came)
{
  Rig *rig = rig_new_default ();

  add_line (rig, 10 * MS, 100000);
  add_line (rig, 10 * MS, 100000);
  rig->lines[0].is_cut = TRUE;
  run (rig, 310 * MS);
  fail_unless_equals_int (rig->counts[MMTP_OPEN][1], 1);
  fail_unless (rig->in_session);
  fail_unless_equals_int (rig->counts[MMTP_JOIN][0], 1);
  /* the stream begins without the first one */
  fail_unless_equals_int (get_state (rig, 1), MMTP_PATH_ACTIVE);
  fail_unless_equals_int (get_state (rig, 0), MMTP_PATH_OPENING);
  fail_unless (find_event (rig, MMTP_EVENT_READY) != NULL);
  run (rig, 5 * SECOND);
  rig->lines[0].is_cut = FALSE;
  run (rig, 4 * SECOND);
  fail_unless_equals_int (get_state (rig, 0), MMTP_PATH_ACTIVE);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (open_says_what_is_wanted)
{
  MmtpSenderConfig config;
  Rig *rig;
  MmtpMessage *message;

  mmtp_sender_config_init (&config);
  config.initial_delay = 400 * MS;
  config.max_delay = 2 * SECOND;
  config.bit_rate = 123456789;
  config.frame_period = 40000;
  rig = rig_new (&config);
  add_line (rig, 10 * MS, 100000);
  run (rig, 60 * MS);
  message = find_arrived (rig, MMTP_INIT, 0);
  fail_unless_equals_int (message->number, 0);
  message = find_arrived (rig, MMTP_OPEN, 0);
  fail_unless_equals_int (message->open.initial_delay, 400000);
  fail_unless_equals_uint64 (message->open.bit_rate, 123456789);
  fail_unless_equals_int (message->open.frame_period, 40000);
  fail_unless_equals_int (message->open.keepalive_period, 100);
  fail_unless_equals_int (message->open.max_size, MAX_SIZE);
  fail_if (message->open.has_key);
  fail_unless_equals_int (message->open.now / 10 & 0xffffff, message->sent);
  rig_free (rig);
}

GST_END_TEST;

static void
refuse (Rig * rig, const guint8 * nonce, guint8 reason)
{
  MmtpMessage message = { MMTP_REFUSE };

  memcpy (message.refuse.nonce, nonce, MMTP_NONCE_SIZE);
  message.refuse.reason = reason;
  say (rig, 0, &message);
  run (rig, 20 * MS);
}

/* Of the sender's INIT; asked at 0, 250, 750, 1750 ms */
static Rig *
rig_new_asking (guint8 nonce[MMTP_NONCE_SIZE])
{
  Rig *rig = rig_new_default ();

  add_line (rig, 10 * MS, 100000);
  rig->answers = FALSE;
  run (rig, 50 * MS);
  memcpy (nonce, find_arrived (rig, MMTP_INIT, 0)->init.nonce, MMTP_NONCE_SIZE);
  return rig;
}

GST_START_TEST (refused_three_times_it_is_over)
{
  static const guint8 wrong[MMTP_NONCE_SIZE] = { 1 };
  guint8 nonce[MMTP_NONCE_SIZE];
  Rig *rig = rig_new_asking (nonce);
  MmtpSenderStats stats;
  guint i;

  for (i = 0; i < 5; i++)
    refuse (rig, wrong, MMTP_REFUSE_BUSY);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless_equals_uint64 (stats.refused[MMTP_REFUSED_SESSION], 5);
  for (i = 0; i < 3; i++) {
    refuse (rig, nonce, MMTP_REFUSE_COOKIE);
    fail_unless (find_event (rig, MMTP_EVENT_REFUSED) == NULL);
    refuse (rig, nonce, MMTP_REFUSE_KEY);
    run (rig, i == 0 ? 260 * MS : 500 * MS);
  }
  fail_unless_equals_int (find_event (rig, MMTP_EVENT_REFUSED)->reason,
      MMTP_REFUSE_KEY);
  fail_unless_equals_uint64 (mmtp_sender_next_wakeup (rig->sender), MMTP_NEVER);
  rig_free (rig);
}

GST_END_TEST;

/* An INIT has one answer, and what follows it says nothing. */
GST_START_TEST (a_question_is_refused_once)
{
  guint8 nonce[MMTP_NONCE_SIZE];
  Rig *rig = rig_new_asking (nonce);
  MmtpSenderStats stats;
  guint i;

  for (i = 0; i < 5; i++)
    refuse (rig, nonce, MMTP_REFUSE_KEY);
  run (rig, 150 * MS);
  for (i = 0; i < 5; i++)
    refuse (rig, nonce, MMTP_REFUSE_KEY);
  fail_unless (find_event (rig, MMTP_EVENT_REFUSED) == NULL);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless_equals_uint64 (stats.refused[MMTP_REFUSED_REPLAY], 8);
  rig->answers = TRUE;
  run (rig, SECOND);
  fail_unless (find_event (rig, MMTP_EVENT_READY) != NULL);
  rig_free (rig);
}

GST_END_TEST;

/* It may be our own last session, which has to be found dead. */
GST_START_TEST (who_is_busy_is_asked_for_longer)
{
  guint8 nonce[MMTP_NONCE_SIZE];
  Rig *rig = rig_new_asking (nonce);

  refuse (rig, nonce, MMTP_REFUSE_BUSY);
  run (rig, 230 * MS);
  refuse (rig, nonce, MMTP_REFUSE_BUSY);
  run (rig, 480 * MS);
  refuse (rig, nonce, MMTP_REFUSE_BUSY);
  fail_unless (find_event (rig, MMTP_EVENT_REFUSED) == NULL);
  run (rig, 980 * MS);
  refuse (rig, nonce, MMTP_REFUSE_BUSY);
  fail_unless_equals_int (find_event (rig, MMTP_EVENT_REFUSED)->reason,
      MMTP_REFUSE_BUSY);
  rig_free (rig);
}

GST_END_TEST;

/* --- with a key ----------------------------------------------------------- */

static MmtpSenderConfig
make_config_with_key (void)
{
  MmtpSenderConfig config;

  mmtp_sender_config_init (&config);
  config.key = g_bytes_new_static ("secret", 6);
  return config;
}

/* Asks with OPEN, at 100, 350, 850, 1850 ms and so on */
static Rig *
rig_new_opening (const MmtpSenderConfig * config, guint8 * nonce)
{
  Rig *rig = rig_new (config);

  add_line (rig, 50 * MS, 100000);
  run (rig, 90 * MS);
  rig->answers = FALSE;
  memcpy (nonce, find_arrived (rig, MMTP_INIT, 0)->init.nonce, MMTP_NONCE_SIZE);
  run (rig, 20 * MS);
  return rig;
}

/* As the receiver with the key does, to the OPEN of this number */
static void
refuse_sealed (Rig * rig, const guint8 * nonce, guint8 reason, guint number)
{
  MmtpMessage message = { MMTP_REFUSE };
  guint8 bytes[ROOM];
  gsize size;

  message.number = number;
  memcpy (message.refuse.nonce, nonce, MMTP_NONCE_SIZE);
  message.refuse.reason = reason;
  size = mmtp_packet_write (&message, bytes, ROOM);
  mmtp_key_seal (&rig->key, bytes, size);
  mmtp_sender_input (rig->sender, rig->now, 0, bytes, size);
  run (rig, 0);
}

/* Whoever sees an OPEN can say so, as often as it likes. */
GST_START_TEST (an_unverified_refusal_ends_nothing)
{
  MmtpSenderConfig config = make_config_with_key ();
  guint8 nonce[MMTP_NONCE_SIZE];
  Rig *rig = rig_new_opening (&config, nonce);
  guint i, version;

  fail_unless_equals_int (mmtp_sender_get_unverified_refusal (rig->sender,
          &version), 0);
  for (i = 0; i < 100; i++)
    refuse (rig, nonce, 1 + i % 5);
  refuse (rig, nonce, MMTP_REFUSE_BUSY);
  run (rig, 50 * MS);
  fail_unless_equals_int (mmtp_sender_get_unverified_refusal (rig->sender,
          &version), MMTP_REFUSE_BUSY);
  fail_unless_equals_int (version, MMTP_VERSION);
  fail_unless (find_event (rig, MMTP_EVENT_REFUSED) == NULL);
  rig->answers = TRUE;
  run (rig, 3 * SECOND);
  fail_unless (find_event (rig, MMTP_EVENT_READY) != NULL);
  rig_free (rig);
  g_bytes_unref (config.key);
}

GST_END_TEST;

GST_START_TEST (a_sealed_refusal_counts_once_for_its_open)
{
  MmtpSenderConfig config = make_config_with_key ();
  guint8 nonce[MMTP_NONCE_SIZE];
  Rig *rig = rig_new_opening (&config, nonce);
  guint i;

  refuse (rig, nonce, MMTP_REFUSE_KEY);
  for (i = 0; i < 5; i++)
    refuse_sealed (rig, nonce, MMTP_REFUSE_OVER, 0);
  for (i = 1; i < 5; i++)
    refuse_sealed (rig, nonce, MMTP_REFUSE_OVER, i);
  run (rig, 800 * MS);
  for (i = 0; i < 5; i++)
    refuse_sealed (rig, nonce, MMTP_REFUSE_OVER, 0);
  refuse_sealed (rig, nonce, MMTP_REFUSE_OVER, 1);
  fail_unless (find_event (rig, MMTP_EVENT_REFUSED) == NULL);
  refuse_sealed (rig, nonce, MMTP_REFUSE_OVER, 2);
  fail_unless_equals_int (find_event (rig, MMTP_EVENT_REFUSED)->reason,
      MMTP_REFUSE_OVER);
  rig_free (rig);
  g_bytes_unref (config.key);
}

GST_END_TEST;

GST_START_TEST (key_is_needed_on_both_sides)
{
  MmtpSenderConfig config = make_config_with_key ();
  Rig *rig = rig_new (&config);

  add_line (rig, 10 * MS, 100000);
  run (rig, 3 * SECOND);
  fail_unless (find_event (rig, MMTP_EVENT_READY) != NULL);
  rig_free (rig);

  rig = rig_new (&config);
  mmtp_key_clear (&rig->key);
  mmtp_key_init (&rig->key, NULL);
  add_line (rig, 10 * MS, 100000);
  run (rig, 3 * SECOND);
  fail_unless (find_event (rig, MMTP_EVENT_READY) == NULL);
  rig_free (rig);
  g_bytes_unref (config.key);
}

GST_END_TEST;

/* --- startup [4.3] ------------------------------------------------------- */

/* One frame each 20 ms, of so many bytes */
static void
put_frames (Rig * rig, guint n, gsize size)
{
  while (n--) {
    put (rig, size, 0);
    run (rig, 20 * MS);
  }
}

GST_START_TEST (stream_begins_with_the_first_round_trip)
{
  Rig *rig = rig_new_default ();
  const MmtpSenderEvent *event;

  add_line (rig, 20 * MS, 100000);
  add_line (rig, 50 * MS, 50000);
  fail_unless (put (rig, 1000, 0));
  /* INIT and OPEN take two, and OPEN 12 ms for its size */
  run (rig, 99 * MS);
  event = find_event (rig, MMTP_EVENT_READY);
  fail_unless (event != NULL);
  fail_unless (event->is_app_limited);
  fail_unless_equals_uint64 (event->delay, SECOND);
  fail_unless_equals_int (rig->counts[MMTP_DATA][0], 1);
  fail_unless_equals_int (rig->counts[MMTP_PROBE][0], 0);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (rates_and_delays_are_found_under_load)
{
  Rig *rig = rig_new_default_ready ();
  MmtpSenderPathStats channel;
  MmtpSenderStats stats;
  guint i;

  put_frames (rig, 500, 4 * 1376);
  for (i = 0; i < 2; i++) {
    guint64 wire = get_wire_rate (rig->lines[i].capacity);

    fail_unless_equals_int (get_state (rig, i), MMTP_PATH_ACTIVE);
    mmtp_sender_get_path_stats (rig->sender, i, &channel);
    fail_unless (channel.rate >= wire * 85 / 100 &&
        channel.rate <= wire * 115 / 100, "%" G_GUINT64_FORMAT " of %"
        G_GUINT64_FORMAT, channel.rate, wire);
    /* What is in flight takes no more than 400 ms, reports included. */
    fail_unless (channel.in_flight <= wire / 8 * 4 / 10);
  }
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_if (stats.is_app_limited);
  fail_unless (stats.estimated_rate >= 150000 * 8 * 85 / 100);
  fail_unless (stats.estimated_rate <= 150000 * 8 * 115 / 100);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (estimate_of_a_slow_source_is_application_limited)
{
  MmtpSenderConfig config;
  MmtpSenderStats stats;
  Rig *rig;

  mmtp_sender_config_init (&config);
  config.bit_rate = 150000 * 8;
  rig = rig_new_ready (&config);
  put_frames (rig, 250, 1000);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless (stats.is_app_limited);
  /* The application limits the paths. So the sender does not report that they
   * are too slow. */
  fail_unless_equals_int (count_events (rig, MMTP_EVENT_TOO_SLOW), 0);
  fail_unless_equals_uint64 (stats.discarded_buffers, 0);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (too_slow_is_told_each_second)
{
  MmtpSenderConfig config;
  Rig *rig;

  mmtp_sender_config_init (&config);
  config.bit_rate = 4 * 1376 * 50 * 8;
  rig = rig_new_ready (&config);
  put_frames (rig, 100, 4 * 1376);
  g_array_set_size (rig->events, 0);
  put_frames (rig, 250, 4 * 1376);
  fail_unless (count_events (rig, MMTP_EVENT_TOO_SLOW) >= 4);
  fail_unless (count_events (rig, MMTP_EVENT_TOO_SLOW) <= 6);
  rig_free (rig);
}

GST_END_TEST;

/* Where rates are configured it is known before the stream begins. */
GST_START_TEST (too_slow_is_told_beforehand_where_rates_are_known)
{
  MmtpSenderConfig config;
  Rig *rig;

  mmtp_sender_config_init (&config);
  config.bit_rate = 150000 * 8;
  rig = rig_new_known (&config);
  run (rig, 5 * SECOND);
  fail_unless (count_events (rig, MMTP_EVENT_TOO_SLOW) >= 4);
  fail_unless (count_events (rig, MMTP_EVENT_TOO_SLOW) <= 6);
  fail_unless (find_event (rig, MMTP_EVENT_TOO_SLOW)->rate > 150000 * 8 * 9
      / 10);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (too_slow_channel_is_for_control)
{
  MmtpSenderConfig config;
  Rig *rig;

  mmtp_sender_config_init (&config);
  config.max_delay = 60 * MS;
  rig = rig_new (&config);
  add_line (rig, 20 * MS, 100000);
  add_line (rig, 70 * MS, 50000);
  run (rig, 3 * SECOND);
  fail_unless_equals_int (get_state (rig, 0), MMTP_PATH_ACTIVE);
  fail_unless_equals_int (get_state (rig, 1), MMTP_PATH_CONTROL);
  expect_use (rig, 1, MMTP_USE_TOO_SLOW, "too slow for the deadline");
  forget (rig);
  put_frames (rig, 100, 300);
  fail_unless_equals_int (rig->counts[MMTP_DATA][1], 0);
  /* back when it is fast enough by a tenth */
  rig->lines[1].delay = 30 * MS;
  run (rig, 65 * SECOND);
  fail_unless_equals_int (get_state (rig, 1), MMTP_PATH_ACTIVE);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (initial_delay_is_what_the_channels_need)
{
  MmtpSenderConfig config;
  Rig *rig;
  MmtpSenderStats stats;

  mmtp_sender_config_init (&config);
  config.initial_delay = 30 * MS;
  rig = rig_new_ready (&config);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless (stats.initial_delay >= stats.min_delay);
  fail_unless (stats.initial_delay >= 50 * MS);
  fail_unless (stats.initial_delay < 100 * MS);
  mmtp_sender_set_delays (rig->sender, rig->now, SECOND, 300 * MS);
  run (rig, 60 * MS);
  g_array_set_size (rig->arrived, 0);
  run (rig, 200 * MS);
  fail_unless_equals_uint64 (find_event (rig, MMTP_EVENT_DELAY)->delay,
      300 * MS);
  fail_unless_equals_int (find_arrived (rig, MMTP_KEEPALIVE,
          0)->keepalive.initial_delay, 300000);
  rig_free (rig);
}

GST_END_TEST;

/* --- data ---------------------------------------------------------------- */

GST_START_TEST (first_packet_takes_the_slowest_channel)
{
  Rig *rig = rig_new_default_ready ();

  run (rig, 50 * MS);
  fail_unless (put (rig, 100, 0));
  run (rig, 100 * MS);
  fail_unless_equals_int (rig->counts[MMTP_DATA][1], 1);
  fail_unless_equals_int (rig->counts[MMTP_DATA][0], 0);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (buffer_becomes_packets)
{
  Rig *rig = rig_new_default_ready ();
  static const guint8 flags[] = {
    MMTP_FLAG_FIRST | MMTP_FLAG_DELTA, MMTP_FLAG_DELTA,
    MMTP_FLAG_DELTA | MMTP_FLAG_LAST
  };
  guint sizes[3] = { 1376, 1376, 248 };
  guint i, seen = 0;

  fail_unless (put (rig, 3000, MMTP_FLAG_DELTA));
  run (rig, 300 * MS);
  for (i = 0; i < 3; i++) {
    MmtpData *data = &find_arrived (rig, MMTP_DATA, i)->data;

    fail_unless (data->stream_number < 3);
    fail_unless_equals_int (data->flags, flags[data->stream_number]);
    fail_unless_equals_int (data->payload_size, sizes[data->stream_number]);
    fail_unless_equals_int (data->caps_version, 0);
    seen |= 1 << data->stream_number;
  }
  fail_unless_equals_int (seen, 7);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (prelude_goes_with_the_first)
{
  Rig *rig = rig_new_default_ready ();
  MmtpBuffer buffer = { NULL };
  MmtpData *data;

  buffer.data = g_bytes_new_static ("0123456789", 10);
  buffer.due = G_MAXUINT64;
  buffer.prelude.mask = MMTP_PRELUDE_PTS | MMTP_PRELUDE_DURATION;
  buffer.prelude.pts = -5;
  buffer.prelude.duration = 40000;
  fail_unless (mmtp_sender_put (rig->sender, rig->now, &buffer));
  g_bytes_unref (buffer.data);
  run (rig, 200 * MS);
  data = &find_arrived (rig, MMTP_DATA, 0)->data;
  fail_unless_equals_int (data->flags, MMTP_FLAG_FIRST | MMTP_FLAG_LAST |
      MMTP_FLAG_PRELUDE);
  fail_unless_equals_int (data->prelude.pts, -5);
  fail_unless_equals_int (data->prelude.duration, 40000);
  fail_unless_equals_int (data->payload_size, 10);
  rig_free (rig);
}

GST_END_TEST;

/* 150 kbyte/s carry 1400 bytes each 9.3 ms; twice as much is put. */
GST_START_TEST (sends_what_fits_and_all_of_that_in_time)
{
  Rig *rig = rig_new_default_ready ();
  MmtpSenderStats stats;
  guint i;

  for (i = 0; i < 2000; i++) {
    put (rig, 1376, 0);
    run (rig, 5 * MS);
  }
  run (rig, SECOND);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless_equals_uint64 (stats.sent_buffers + stats.discarded_buffers,
      2000);
  fail_unless_equals_uint64 (stats.queued_bytes, 0);
  /* 11 s of 150 kbyte/s */
  fail_unless (stats.sent_buffers >= 150000 * 105 / 14000);
  fail_unless (count_events (rig, MMTP_EVENT_TOO_SLOW) > 5);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (droppable_buffers_go_first_and_keys_last)
{
  Rig *rig = rig_new_default_ready ();
  MmtpSenderStats stats;
  guint i;

  /* 200 kbyte/s, 50 too much: keys 1 of 10, droppable 6 of 10 */
  for (i = 0; i < 1000; i++) {
    put (rig, 2000, i % 10 == 0 ? 0 : i % 10 < 4 ? MMTP_FLAG_DELTA :
        MMTP_FLAG_DELTA | MMTP_FLAG_DROPPABLE);
    run (rig, 10 * MS);
  }
  run (rig, SECOND);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless (stats.discarded_buffers > 170);
  fail_unless_equals_uint64 (stats.discarded_keys, 0);
  fail_unless_equals_uint64 (stats.discarded_droppable,
      stats.discarded_buffers);
  rig_free (rig);
}

GST_END_TEST;

static gboolean
put_picture (Rig * rig, guint64 due, guint8 flags, gboolean is_independent)
{
  MmtpBuffer buffer = { g_bytes_new_take (g_malloc0 (1000), 1000), due, flags };
  gboolean taken;

  buffer.picture.is_independent = is_independent;
  taken = mmtp_sender_put (rig->sender, rig->now, &buffer);
  g_bytes_unref (buffer.data);
  return taken;
}

/* The key frame was due long ago. What needs it is not sent, until the next
 * key frame. */
static void
check_dependents (gboolean is_independent)
{
  Rig *rig = rig_new_default_ready ();
  const guint64 due = rig->now;
  MmtpSenderStats stats;

  run (rig, 1500 * MS);
  put_picture (rig, due, 0, is_independent);
  run (rig, 10 * MS);
  fail_unless_equals_int (put_picture (rig, rig->now, MMTP_FLAG_DELTA,
          is_independent), is_independent);
  run (rig, 40 * MS);
  fail_unless_equals_int (put_picture (rig, rig->now,
          MMTP_FLAG_DELTA | MMTP_FLAG_DROPPABLE, is_independent),
      is_independent);
  run (rig, 40 * MS);
  fail_unless (put_picture (rig, rig->now, 0, is_independent));
  run (rig, 40 * MS);
  fail_unless (put_picture (rig, rig->now, MMTP_FLAG_DELTA, is_independent));
  run (rig, SECOND);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless_equals_uint64 (stats.discarded_buffers, 1);
  fail_unless_equals_uint64 (stats.discarded_keys, 1);
  fail_unless_equals_uint64 (stats.discarded_broken, is_independent ? 0 : 2);
  fail_unless_equals_uint64 (stats.sent_buffers, is_independent ? 4 : 2);
  rig_free (rig);
}

GST_START_TEST (what_needs_a_frame_that_was_given_up_is_not_sent)
{
  check_dependents (FALSE);
}

GST_END_TEST;

GST_START_TEST (what_may_be_of_use_alone_is_sent)
{
  check_dependents (TRUE);
}

GST_END_TEST;

static gboolean
put_kind (Rig * rig, guint64 due, PictureKind kind)
{
  MmtpBuffer buffer = { g_bytes_new_take (g_malloc0 (1000), 1000), due,
    MMTP_FLAG_DELTA
  };
  gboolean taken;

  buffer.picture.kind = kind;
  taken = mmtp_sender_put (rig->sender, rig->now, &buffer);
  g_bytes_unref (buffer.data);
  return taken;
}

/* A frame of three buffers that was due long ago, of which the first and the
 * last do not tell what they belong to */
static void
check_parts (PictureKind kind, gboolean is_needed)
{
  Rig *rig = rig_new_default_ready ();
  const guint64 due = rig->now;
  MmtpSenderStats stats;

  run (rig, 1500 * MS);
  put_kind (rig, rig->now, PICTURE_KIND_KEY);
  put_kind (rig, due, PICTURE_KIND_PART);
  put_kind (rig, due, kind);
  put_kind (rig, due, PICTURE_KIND_PART);
  run (rig, 10 * MS);
  fail_unless_equals_int (put_kind (rig, rig->now, PICTURE_KIND_REFERENCE),
      !is_needed);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless_equals_uint64 (stats.discarded_buffers, 3);
  fail_unless_equals_uint64 (stats.discarded_droppable, is_needed ? 0 : 3);
  fail_unless_equals_uint64 (stats.discarded_keys, 0);
  rig_free (rig);
}

GST_START_TEST (parts_of_a_picture_are_what_it_is)
{
  check_parts (PICTURE_KIND_DROPPABLE, FALSE);
  check_parts (PICTURE_KIND_REFERENCE, TRUE);
}

GST_END_TEST;

static gboolean
put_leading (Rig * rig, guint64 due)
{
  MmtpBuffer buffer = { g_bytes_new_take (g_malloc0 (1000), 1000), due,
    MMTP_FLAG_DELTA | MMTP_FLAG_HEADER
  };
  gboolean taken;

  buffer.picture.kind = PICTURE_KIND_REFERENCE;
  buffer.picture.is_leading = TRUE;
  taken = mmtp_sender_put (rig->sender, rig->now, &buffer);
  g_bytes_unref (buffer.data);
  return taken;
}

/* x265 makes them: open GOPs and references among the leading pictures. One that
 * is given up, or needs what was given up, does not spoil the group behind it. */
GST_START_TEST (leading_reference_spoils_leading_pictures_alone)
{
  Rig *rig = rig_new_default_ready ();
  const guint64 due = rig->now;
  MmtpSenderStats stats;
  guint i;

  run (rig, 1500 * MS);
  /* the key frame of the first group is late */
  put_kind (rig, due, PICTURE_KIND_KEY);
  run (rig, 10 * MS);
  for (i = 0; i < 4; i++) {
    fail_unless (put_kind (rig, rig->now, PICTURE_KIND_KEY));
    run (rig, 250 * MS);
    fail_unless_equals_int (put_leading (rig, rig->now), i > 0);
    run (rig, 250 * MS);
    fail_unless (put_kind (rig, rig->now, PICTURE_KIND_REFERENCE));
    run (rig, 250 * MS);
  }
  /* a late leading picture: the next one needs it, and what trails does not */
  put_kind (rig, rig->now, PICTURE_KIND_KEY);
  run (rig, 10 * MS);
  put_leading (rig, rig->now - 1500 * MS);
  run (rig, 10 * MS);
  fail_if (put_leading (rig, rig->now));
  run (rig, 10 * MS);
  fail_unless (put_kind (rig, rig->now, PICTURE_KIND_REFERENCE));
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless_equals_uint64 (stats.discarded_broken, 2);
  fail_unless_equals_uint64 (stats.discarded_buffers, 2);
  rig_free (rig);
}

GST_END_TEST;

/* The delimiter of a key frame is not refused because of the group before. */
GST_START_TEST (key_frame_with_a_delimiter_ends_a_broken_group)
{
  Rig *rig = rig_new_default_ready ();
  const guint64 due = rig->now;
  MmtpSenderStats stats;

  run (rig, 1500 * MS);
  put_kind (rig, due, PICTURE_KIND_KEY);
  run (rig, 10 * MS);
  /* all three of a frame that is vain */
  put_kind (rig, rig->now, PICTURE_KIND_PART);
  fail_if (put_kind (rig, rig->now, PICTURE_KIND_REFERENCE));
  fail_if (put_kind (rig, rig->now, PICTURE_KIND_REFERENCE));
  run (rig, 40 * MS);
  fail_unless (put_kind (rig, rig->now, PICTURE_KIND_PART));
  fail_unless (put_kind (rig, rig->now, PICTURE_KIND_KEY));
  run (rig, 40 * MS);
  fail_unless (put_kind (rig, rig->now, PICTURE_KIND_REFERENCE));
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless_equals_uint64 (stats.discarded_buffers, 1);
  fail_unless_equals_uint64 (stats.discarded_broken, 3);
  rig_free (rig);
}

GST_END_TEST;

/* also those that are not marked as key, as behind rtph264pay */
GST_START_TEST (all_of_a_key_frame_is_key)
{
  Rig *rig = rig_new_default_ready ();
  const guint64 due = rig->now;
  MmtpSenderStats stats;

  run (rig, 1500 * MS);
  put_kind (rig, due, PICTURE_KIND_KEY);
  put_kind (rig, due, PICTURE_KIND_REFERENCE);
  run (rig, 10 * MS);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless_equals_uint64 (stats.discarded_keys, 2);
  rig_free (rig);
}

GST_END_TEST;

/* Puts frames of a packet while there is room, and waits for it otherwise;
 * returns how many. */
static guint
put_while_room (Rig * rig, guint64 time)
{
  guint64 end = rig->now + time;
  guint n = 0;

  while (rig->now < end) {
    if (mmtp_sender_has_room (rig->sender, rig->now)) {
      fail_unless (put (rig, 1376, 0));
      /* Each is a frame of its own. */
      rig->now++;
      n++;
      continue;
    }
    g_array_set_size (rig->events, 0);
    while (!find_event (rig, MMTP_EVENT_ROOM) && rig->now < end)
      run (rig, MS);
    fail_unless (rig->now >= end || count_events (rig, MMTP_EVENT_ROOM) == 1);
  }
  return n;
}

/* A source that waits for room is not too fast, and fills the paths. */
GST_START_TEST (room_is_what_can_be_in_time)
{
  Rig *rig = rig_new_default_ready ();
  MmtpSenderStats before, after;
  guint arrived, n;

  fail_unless (mmtp_sender_has_room (rig->sender, rig->now));
  /* until it is known what the paths carry */
  put_while_room (rig, 2 * SECOND);
  mmtp_sender_get_stats (rig->sender, &before);
  arrived = g_hash_table_size (rig->numbers);
  n = put_while_room (rig, 20 * SECOND);
  mmtp_sender_get_stats (rig->sender, &after);
  fail_unless (after.queued_bytes < 150000);
  arrived = g_hash_table_size (rig->numbers) - arrived;
  /* of 20 s of 150 kbyte/s */
  fail_unless (arrived >= 20 * 150000 * 9 / 14000, "%u", arrived);
  run (rig, 2 * SECOND);
  mmtp_sender_get_stats (rig->sender, &after);
  fail_unless (after.discarded_buffers - before.discarded_buffers <= n / 100);
  rig_free (rig);
}

GST_END_TEST;

/* Where rates are configured it is known at once. */
GST_START_TEST (room_of_configured_paths_is_known)
{
  MmtpSenderConfig config;
  MmtpSenderStats stats;
  Rig *rig;

  mmtp_sender_config_init (&config);
  rig = rig_new_known (&config);
  put_while_room (rig, 10 * SECOND);
  run (rig, 2 * SECOND);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless_equals_uint64 (stats.discarded_buffers, 0);
  fail_unless (g_hash_table_size (rig->numbers) >= 10 * 150000 * 9 / 14000);
  rig_free (rig);
}

GST_END_TEST;

/* --- losses -------------------------------------------------------------- */

static gboolean
loses_a_tenth (const MmtpMessage * message)
{
  return message->type == MMTP_DATA && message->number % 10 == 5;
}

GST_START_TEST (losses_are_repaired)
{
  Rig *rig = rig_new_default_ready ();
  MmtpSenderStats stats;
  guint i;

  rig->loses = loses_a_tenth;
  for (i = 0; i < 500; i++) {
    fail_unless (put (rig, 1000, 0));
    run (rig, 20 * MS);
  }
  run (rig, SECOND);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless_equals_int (g_hash_table_size (rig->numbers), 500);
  fail_unless (stats.retransmitted >= 40);
  fail_unless (stats.retransmitted <= 70);
  fail_unless_equals_uint64 (stats.unrepaired, 0);
  rig_free (rig);
}

GST_END_TEST;

/* Numbers that the sender looks up for one REPORT */
#define MAX_REPORT_LOOKUPS (16 * 255)
#define RECORDS 14              /* that a message has room for */

GST_START_TEST (the_work_of_a_report_is_bounded)
{
  Rig *rig = rig_new_default_ready ();
  MmtpMessage message = { MMTP_REPORT };
  MmtpSenderStats stats;
  guint64 before;
  guint i, k;

  fail_unless (put (rig, 1000, 0));
  run (rig, SECOND);
  mmtp_sender_get_stats (rig->sender, &stats);
  before = stats.loss_lookups;
  message.report.channel_number = rig->lines[0].next;
  message.report.number = ++rig->report;
  message.report.n_records = RECORDS;
  for (i = 0; i < RECORDS; i++) {
    MmtpRecord *record = &message.report.records[i];

    fill_record (rig, 0, record);
    record->n_ranges = MMTP_MAX_RANGES;
    for (k = 0; k < MMTP_MAX_RANGES; k++) {
      record->ranges[k].first = k * 255;
      record->ranges[k].count = 255;
    }
  }
  say (rig, 0, &message);
  run (rig, SECOND);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless (stats.loss_lookups > before);
  fail_unless (stats.loss_lookups - before <= MAX_REPORT_LOOKUPS);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (losses_are_left_when_told_so)
{
  MmtpSenderConfig config;
  MmtpSenderStats stats;
  Rig *rig;
  guint i;

  mmtp_sender_config_init (&config);
  config.retransmit = FALSE;
  rig = rig_new_ready (&config);
  rig->loses = loses_a_tenth;
  for (i = 0; i < 500; i++) {
    put (rig, 1000, 0);
    run (rig, 20 * MS);
  }
  run (rig, SECOND);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless_equals_uint64 (stats.retransmitted, 0);
  fail_unless_equals_uint64 (stats.unrepaired,
      500 - g_hash_table_size (rig->numbers));
  rig_free (rig);
}

GST_END_TEST;

static gboolean
loses_the_first (const MmtpMessage * message)
{
  static guint16 number;
  static gboolean any;

  if (message->type != MMTP_DATA || (any && message->number != number))
    return FALSE;
  any = TRUE;
  number = message->number;
  return TRUE;
}

/* One line of 20 ms that takes 220 ms now and then: 350 ms are enough for one
 * time there, but not surely for two. Its rate is configured, so that nearly
 * all packets have to be in time. */
static Rig *
rig_new_fluctuating (void)
{
  MmtpSenderConfig config;
  Rig *rig;
  guint i;

  mmtp_sender_config_init (&config);
  config.max_delay = 350 * MS;
  rig = rig_new (&config);
  add_known_line (rig, 20 * MS, 100000, get_wire_rate (100000));
  run (rig, 3 * SECOND);
  for (i = 0; i < 100; i++) {
    rig->lines[0].delay = i % 2 ? 20 * MS : 220 * MS;
    put (rig, 1000, 0);
    run (rig, 250 * MS);
  }
  return rig;
}

GST_START_TEST (a_loss_is_repaired_on_the_chance_where_there_is_time)
{
  Rig *rig = rig_new_fluctuating ();
  MmtpSenderPathStats channel;
  MmtpSenderStats stats;
  guint before;

  run (rig, SECOND);
  before = g_hash_table_size (rig->numbers);
  rig->loses = loses_the_first;
  put (rig, 1000, 0);
  run (rig, 20 * MS);
  put (rig, 1000, 0);
  run (rig, SECOND);
  mmtp_sender_get_path_stats (rig->sender, 0, &channel);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless (channel.high_delay > 200 * MS);
  fail_unless_equals_uint64 (rig->lines[0].lost, 1);
  fail_unless_equals_uint64 (stats.retransmitted, 1);
  fail_unless_equals_uint64 (stats.unrepaired, 0);
  fail_unless_equals_int (g_hash_table_size (rig->numbers), before + 2);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (nothing_is_sent_on_the_chance_in_place_of_what_is_new)
{
  Rig *rig = rig_new_fluctuating ();
  MmtpSenderStats stats;
  guint i;

  for (i = 0; i < 500; i++) {
    put (rig, 1000, 0);
    rig->loses = i > 100 ? loses_a_tenth : NULL;
    run (rig, 5 * MS);
  }
  run (rig, SECOND);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless (stats.discarded_buffers > 100);
  /* one at most that was told so soon that it was surely in time */
  fail_unless (stats.retransmitted <= 1);
  fail_unless (stats.unrepaired > 10);
  rig_free (rig);
}

GST_END_TEST;

/* Nothing else needs the rate, and what is lost would be too late again. */
GST_START_TEST (repairs_go_in_advance_where_a_loss_is_known_too_late)
{
  Rig *rig = rig_new_fluctuating ();
  MmtpSenderStats stats;
  guint i;

  for (i = 0; i < 100; i++) {
    put (rig, 1000, 0);
    run (rig, 20 * MS);
  }
  fail_unless_equals_int (rig->counts[MMTP_REPAIR][0], 0);
  rig->loses = loses_a_tenth;
  for (i = 0; i < 200; i++) {
    put (rig, 1000, 0);
    run (rig, 20 * MS);
  }
  mmtp_sender_get_stats (rig->sender, &stats);
  /* D0 leaves time to wait for two or three packets more */
  fail_unless (stats.repairs >= 40);
  fail_unless (stats.repairs <= 80);
  fail_unless_equals_uint64 (stats.repairs, rig->counts[MMTP_REPAIR][0]);
  rig_free (rig);
}

GST_END_TEST;

/* As above, but a second time is surely early enough. */
GST_START_TEST (no_repairs_go_in_advance_where_there_is_time)
{
  Rig *rig = rig_new_default_ready ();
  guint i;

  rig->loses = loses_a_tenth;
  for (i = 0; i < 200; i++) {
    put (rig, 1000, 0);
    run (rig, 20 * MS);
  }
  fail_unless_equals_int (rig->counts[MMTP_REPAIR][0] +
      rig->counts[MMTP_REPAIR][1], 0);
  rig_free (rig);
}

GST_END_TEST;

/* --- channels that go and come [4.6] ------------------------------------- */

static void
put_for (Rig * rig, guint n)
{
  guint i;

  for (i = 0; i < n; i++) {
    fail_unless (put (rig, 300, 0));
    run (rig, 10 * MS);
  }
}

/* A path that is cut is stalled, by the reports on the other one, and silent
 * after a second. */
GST_START_TEST (cut_channel_loses_nothing)
{
  Rig *rig = rig_new_default_ready ();
  MmtpSenderPathStats stats;
  guint i, before;

  for (i = 0; i < 2; i++) {
    put_for (rig, 100);
    rig->lines[i].is_cut = TRUE;
    put_for (rig, 40);
    before = rig->counts[MMTP_DATA][i];
    put_for (rig, 40);
    fail_unless_equals_int (rig->counts[MMTP_DATA][i], before);
    put_for (rig, 120);
    fail_unless_equals_int (rig->counts[MMTP_DATA][i], before);
    fail_unless_equals_int (get_state (rig, i), MMTP_PATH_SILENT);
    mmtp_sender_get_path_stats (rig->sender, i, &stats);
    fail_unless_equals_uint64 (stats.silences, 1);
    rig->lines[i].is_cut = FALSE;
    put_for (rig, 100);
    fail_unless_equals_int (get_state (rig, i), MMTP_PATH_ACTIVE);
  }
  run (rig, SECOND);
  fail_unless_equals_int (g_hash_table_size (rig->numbers), 800);
  fail_unless (find_event (rig, MMTP_EVENT_BROKEN) == NULL);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (channel_tells_why_it_is_not_used)
{
  Rig *rig = rig_new_default ();

  add_line (rig, 20 * MS, 100000);
  add_line (rig, 50 * MS, 50000);
  expect_use (rig, 0, MMTP_USE_JOINING, "joining");
  expect_use (rig, 1, MMTP_USE_JOINING, "joining");
  run (rig, 3 * SECOND);
  expect_use (rig, 0, MMTP_USE_CARRIES, "");
  put_for (rig, 100);
  /* The one of longest delay does, and is better known from then on. */
  expect_use (rig, 0, MMTP_USE_PROBED, "probing");
  expect_use (rig, 1, MMTP_USE_CARRIES, "");
  mmtp_sender_set_blocked (rig->sender, rig->now, 1, TRUE);
  expect_use (rig, 1, MMTP_USE_BLOCKED, "its socket has no room");
  mmtp_sender_set_blocked (rig->sender, rig->now, 1, FALSE);
  rig->lines[1].is_cut = TRUE;
  put_for (rig, 50);
  /* a stall, and then silence */
  fail_unless_equals_int (get_state (rig, 1), MMTP_PATH_ACTIVE);
  expect_use (rig, 1, MMTP_USE_SILENT, "silent for 0.");
  put_for (rig, 300);
  fail_unless_equals_int (get_state (rig, 1), MMTP_PATH_SILENT);
  expect_use (rig, 1, MMTP_USE_SILENT, "silent for 3.");
  expect_use (rig, 0, MMTP_USE_CARRIES, "");
  mmtp_sender_remove_path (rig->sender, rig->now, 1, MMTP_LEAVE_ASKED);
  run (rig, 2 * SECOND);
  expect_use (rig, 1, MMTP_USE_GONE, "gone");
  rig_free (rig);
}

GST_END_TEST;

/* The rule of the paper keeps the fast channel free for what is urgent. */
GST_START_TEST (channel_that_is_not_needed_says_so)
{
  MmtpSenderConfig config;
  Rig *rig;
  guint i;

  mmtp_sender_config_init (&config);
  rig = rig_new_known (&config);
  expect_use (rig, 0, MMTP_USE_CARRIES, "");
  expect_use (rig, 1, MMTP_USE_CARRIES, "");
  for (i = 0; i < 200; i++) {
    fail_unless (put (rig, 300, 0));
    run (rig, 50 * MS);
  }
  expect_use (rig, 0, MMTP_USE_SPARE, "not needed");
  expect_use (rig, 1, MMTP_USE_CARRIES, "");
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (shares_and_losses_are_those_of_late)
{
  MmtpSenderPathStats first, second;
  Rig *rig = rig_new_default_ready ();

  mmtp_sender_get_path_stats (rig->sender, 0, &first);
  fail_unless (first.share == 0 && first.loss == 0);
  put_for (rig, 300);
  mmtp_sender_get_path_stats (rig->sender, 0, &first);
  mmtp_sender_get_path_stats (rig->sender, 1, &second);
  fail_unless (fabs (first.share + second.share - 1) < 1e-9);
  fail_unless (first.loss == 0 && second.loss == 0);
  rig->lines[0].is_cut = TRUE;
  put_for (rig, 1000);
  mmtp_sender_get_path_stats (rig->sender, 0, &first);
  mmtp_sender_get_path_stats (rig->sender, 1, &second);
  fail_unless (first.share < 0.001 && second.share > 0.999);
  rig_free (rig);
}

GST_END_TEST;

static gboolean
loses_each_fifth (const MmtpMessage * message)
{
  static guint n;

  return message->type == MMTP_DATA && n++ % 5 == 0;
}

GST_START_TEST (loss_is_what_the_receiver_misses)
{
  MmtpSenderPathStats stats;
  Rig *rig = rig_new_default ();

  add_line (rig, 20 * MS, 100000);
  run (rig, 3 * SECOND);
  rig->loses = loses_each_fifth;
  put_for (rig, 3000);
  mmtp_sender_get_path_stats (rig->sender, 0, &stats);
  /* KEEPALIVEs are not lost. */
  fail_unless (stats.loss > 0.15 && stats.loss < 0.21, "%g", stats.loss);
  rig_free (rig);
}

GST_END_TEST;

/* A gap is no silence: what is in flight arrives in the end, and nothing is
 * sent twice. */
GST_START_TEST (gap_of_the_only_channel_is_waited_for)
{
  Rig *rig = rig_new_default ();
  MmtpSenderPathStats stats;

  add_line (rig, 20 * MS, 100000);
  run (rig, 3 * SECOND);
  put_for (rig, 200);
  rig->lines[0].busy = rig->now + 600 * MS;
  put_for (rig, 200);
  fail_unless_equals_int (get_state (rig, 0), MMTP_PATH_ACTIVE);
  run (rig, SECOND);
  mmtp_sender_get_path_stats (rig->sender, 0, &stats);
  fail_unless_equals_uint64 (stats.silences, 0);
  fail_unless_equals_uint64 (stats.requeued, 0);
  fail_unless_equals_uint64 (stats.retransmitted, 0);
  fail_unless_equals_int (g_hash_table_size (rig->numbers), 400);
  rig_free (rig);
}

GST_END_TEST;

/* Reports of a second are late: that is no congestion of the forward path. */
GST_START_TEST (stalled_return_path_stops_nothing)
{
  Rig *rig = rig_new_default ();
  MmtpSenderPathStats before, after;
  guint i;

  add_line (rig, 20 * MS, 100000);
  run (rig, 3 * SECOND);
  put_for (rig, 300);
  mmtp_sender_get_path_stats (rig->sender, 0, &before);
  rig->mute_until = rig->now + 900 * MS;
  for (i = 0; i < 200; i++) {
    fail_unless (put (rig, 100, 0));
    run (rig, 10 * MS);
  }
  run (rig, SECOND);
  mmtp_sender_get_path_stats (rig->sender, 0, &after);
  fail_unless_equals_int (get_state (rig, 0), MMTP_PATH_ACTIVE);
  fail_unless_equals_uint64 (after.silences, 0);
  fail_unless_equals_uint64 (after.requeued, 0);
  fail_unless (after.window >= before.window / 2);
  fail_unless_equals_int (g_hash_table_size (rig->numbers), 500);
  rig_free (rig);
}

GST_END_TEST;

/* What is stuck on a stalled path goes on the other one when it would be too
 * late otherwise, although the first one is not silent yet. */
GST_START_TEST (packets_are_rescued_from_a_stalled_path)
{
  MmtpSenderConfig config;
  MmtpSenderPathStats stats;
  Rig *rig;

  mmtp_sender_config_init (&config);
  config.max_delay = 500 * MS;
  rig = rig_new_ready (&config);
  put_for (rig, 100);
  rig->lines[1].is_cut = TRUE;
  put_for (rig, 60);
  fail_unless_equals_int (get_state (rig, 1), MMTP_PATH_ACTIVE);
  mmtp_sender_get_path_stats (rig->sender, 1, &stats);
  fail_unless (stats.requeued > 0);
  run (rig, 300 * MS);
  fail_unless_equals_int (g_hash_table_size (rig->numbers), 160);
  rig_free (rig);
}

GST_END_TEST;

/* Somebody takes all that is sent on it, and its CHALLENGE came. */
GST_START_TEST (channel_that_is_never_reported_falls_silent)
{
  Rig *rig = rig_new_default ();
  guint before;

  add_line (rig, 20 * MS, 100000);
  add_line (rig, 50 * MS, 50000);
  rig->lines[1].is_black_hole = TRUE;
  run (rig, 500 * MS);
  put_for (rig, 200);
  fail_unless (get_state (rig, 1) != MMTP_PATH_ACTIVE);
  before = rig->counts[MMTP_DATA][1];
  put_for (rig, 500);
  fail_unless_equals_int (rig->counts[MMTP_DATA][1], before);
  fail_unless (get_state (rig, 1) != MMTP_PATH_ACTIVE);
  rig_free (rig);
}

GST_END_TEST;

static gboolean
loses_first_response (const MmtpMessage * message)
{
  static guint n;

  return message->type == MMTP_RESPONSE && n++ == 0;
}

/* The receiver takes nothing on the channel until it has a RESPONSE. The sender
 * repeats the JOIN when no report names the channel after 200 ms. */
GST_START_TEST (lost_response_is_made_up_for_soon)
{
  Rig *rig = rig_new_default ();

  rig->loses = loses_first_response;
  add_line (rig, 20 * MS, 100000);
  add_line (rig, 50 * MS, 50000);
  run (rig, 400 * MS);
  fail_unless_equals_int (rig->counts[MMTP_RESPONSE][1], 1);
  fail_if (rig->lines[1].joined);
  run (rig, 200 * MS);
  fail_unless_equals_int (rig->counts[MMTP_RESPONSE][1], 2);
  fail_unless (rig->lines[1].joined);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (removed_channel_loses_nothing)
{
  Rig *rig = rig_new_default_ready ();
  MmtpSenderPathStats stats;
  MmtpPathConfig config = { "line1", MAX_SIZE, OVERHEAD, 0, 0 };

  put_for (rig, 100);
  mmtp_sender_remove_path (rig->sender, rig->now, 1, MMTP_LEAVE_INTERFACE);
  rig->lines[1].is_cut = TRUE;
  rig->lines[1].joined = FALSE;
  put_for (rig, 100);
  fail_unless_equals_int (rig->counts[MMTP_LEAVE][0], 1);
  fail_unless_equals_int (find_arrived (rig, MMTP_LEAVE, 0)->leave.reason,
      MMTP_LEAVE_INTERFACE);
  fail_unless_equals_int (g_hash_table_size (rig->numbers), 200 -
      (20 + 40) / 10 + (20 + 40) / 10 - 2);
  mmtp_sender_get_path_stats (rig->sender, 1, &stats);
  fail_unless_equals_int (stats.state, MMTP_PATH_GONE);
  fail_unless (stats.requeued > 0);
  rig->lines[1].is_cut = FALSE;
  fail_unless_equals_int (mmtp_sender_add_path (rig->sender, rig->now,
          &config), 1);
  put_for (rig, 300);
  fail_unless_equals_int (get_state (rig, 1), MMTP_PATH_ACTIVE);
  run (rig, SECOND);
  fail_unless_equals_int (g_hash_table_size (rig->numbers), 500);
  rig_free (rig);
}

GST_END_TEST;

/* What the receiver says that it has is not in flight when it joins anew. */
GST_START_TEST (channel_that_the_receiver_leaves_joins_anew)
{
  Rig *rig = rig_new_default_ready ();
  MmtpSenderPathStats stats;
  MmtpMessage message = { MMTP_LEAVE };

  put_for (rig, 100);
  message.leave.channel = 1;
  message.leave.reason = MMTP_LEAVE_SILENT;
  message.leave.highest = rig->lines[1].highest;
  mmtp_sender_get_path_stats (rig->sender, 1, &stats);
  fail_unless (stats.in_flight > 1000);
  rig->lines[1].joined = FALSE;
  say (rig, 0, &message);
  put_for (rig, 100);
  fail_unless (find_arrived (rig, MMTP_LEAVE, 0)->leave.is_ack);
  run (rig, 3 * SECOND);
  fail_unless_equals_int (get_state (rig, 1), MMTP_PATH_ACTIVE);
  mmtp_sender_get_path_stats (rig->sender, 1, &stats);
  fail_unless (stats.in_flight < 500, "%" G_GUINT64_FORMAT, stats.in_flight);
  fail_unless_equals_int (g_hash_table_size (rig->numbers), 200);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (only_channel_is_told_to_be_broken_once)
{
  Rig *rig = rig_new_default ();

  add_line (rig, 20 * MS, 100000);
  run (rig, 3 * SECOND);
  /* Without any report it takes 3 s: it may be the return path only. */
  rig->lines[0].is_cut = TRUE;
  run (rig, 2 * SECOND);
  fail_unless_equals_int (count_events (rig, MMTP_EVENT_BROKEN), 0);
  run (rig, 3 * SECOND);
  fail_unless_equals_int (count_events (rig, MMTP_EVENT_BROKEN), 1);
  rig->lines[0].is_cut = FALSE;
  run (rig, 2 * SECOND);
  fail_unless_equals_int (get_state (rig, 0), MMTP_PATH_ACTIVE);
  rig->lines[0].is_cut = TRUE;
  run (rig, 11 * SECOND);
  fail_unless_equals_int (count_events (rig, MMTP_EVENT_BROKEN), 2);
  fail_unless_equals_int (count_events (rig, MMTP_EVENT_LOST), 1);
  rig_free (rig);
}

GST_END_TEST;

/* --- the rest of the messages -------------------------------------------- */

GST_START_TEST (keepalives_cost_little)
{
  Rig *rig = rig_new_default ();
  guint n;

  add_line (rig, 20 * MS, 100000);
  add_known_line (rig, 20 * MS, 4000, 32000);
  run (rig, 6 * SECOND);
  memset (rig->counts, 0, sizeof (rig->counts));
  run (rig, 10 * SECOND);
  n = rig->counts[MMTP_KEEPALIVE][0];
  fail_unless (n >= 98 && n <= 101);
  /* 83 bytes are 1 % of two seconds' 8000 */

  n = rig->counts[MMTP_KEEPALIVE][1];
  fail_unless (n >= 4 && n <= 5, "%u", n);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (caps_come_in_pieces_until_they_are_there)
{
  Rig *rig = rig_new_default_ready ();
  MmtpMessage message = { MMTP_CAPS_ACK };
  gchar *caps = g_strnfill (3000, 'x');
  gchar *too_long = g_strnfill (MMTP_MAX_CAPS + 1, 'x');
  guint i, length = 0;

  fail_unless (mmtp_sender_set_caps (rig->sender, rig->now, caps));
  run (rig, 150 * MS);
  for (i = 0; i < 3; i++) {
    MmtpCaps *piece = &find_arrived (rig, MMTP_CAPS, i)->caps;

    fail_unless_equals_int (piece->version, 1);
    fail_unless_equals_int (piece->length, 3000);
    fail_unless_equals_int (piece->offset, length);
    length += piece->piece_size;
  }
  fail_unless_equals_int (length, 3000);
  fail_unless (find_arrived (rig, MMTP_CAPS, 3) == NULL);
  run (rig, 850 * MS);
  fail_unless (find_arrived (rig, MMTP_CAPS, 15) == NULL);
  message.caps.version = 1;
  say (rig, 0, &message);
  run (rig, 300 * MS);
  g_array_set_size (rig->arrived, 0);
  fail_unless (put (rig, 10, 0));
  run (rig, SECOND);
  fail_unless (find_arrived (rig, MMTP_CAPS, 0) == NULL);
  fail_unless_equals_int (find_arrived (rig, MMTP_DATA,
          0)->data.caps_version, 1);
  fail_if (mmtp_sender_set_caps (rig->sender, rig->now, too_long));
  g_free (too_long);
  g_free (caps);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (end_goes_on_all_channels_behind_the_last)
{
  Rig *rig = rig_new_default_ready ();
  MmtpSenderStats stats;

  fail_unless (put (rig, 5000, 0));
  mmtp_sender_end (rig->sender, rig->now);
  while (count_events (rig, MMTP_EVENT_ENDED) == 0)
    run (rig, MS);
  /* A REPORT that comes behind it is refused, the two other END-ACKs are not. */
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless (stats.refused[MMTP_REFUSED_SESSION] <= 1);
  run (rig, SECOND);
  fail_unless_equals_int (count_events (rig, MMTP_EVENT_ENDED), 1);
  fail_unless_equals_int (find_arrived (rig, MMTP_END, 0)->end.stream_number,
      4);
  fail_unless (rig->counts[MMTP_END][0] >= 1);
  fail_unless (rig->counts[MMTP_END][1] >= 1);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (flush_forgets_and_goes_on)
{
  Rig *rig = rig_new_default_ready ();
  MmtpSenderStats stats;

  while (put (rig, 1376, 0));
  mmtp_sender_flush (rig->sender, rig->now);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless_equals_uint64 (stats.queued_bytes, 0);
  fail_unless (put (rig, 1376, 0));
  run (rig, SECOND);
  fail_unless_equals_int (g_hash_table_size (rig->numbers), 1);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (queries_are_answered_but_not_too_often)
{
  Rig *rig = rig_new_default_ready ();
  MmtpMessage message = { MMTP_QUERY };
  guint i, n;

  run (rig, 200 * MS);
  message.query.channel = 0;
  n = rig->counts[MMTP_KEEPALIVE][0];
  for (i = 0; i < 30; i++) {
    say (rig, 0, &message);
    run (rig, MS);
  }
  run (rig, 30 * MS);
  n = rig->counts[MMTP_KEEPALIVE][0] - n;
  fail_unless (n >= 3 && n <= 5);
  rig_free (rig);
}

GST_END_TEST;

/* --- who may speak ------------------------------------------------------- */

static void
input (Rig * rig, guint channel, const guint8 * bytes, gsize size)
{
  mmtp_sender_input (rig->sender, rig->now, channel, bytes, size);
}

GST_START_TEST (forged_and_replayed_messages_are_refused)
{
  Rig *rig = rig_new_default_ready ();
  MmtpMessage message = { MMTP_QUERY };
  MmtpSenderPathStats before, after;
  MmtpSenderStats stats;
  guint8 bytes[ROOM];
  gsize size;

  run (rig, 200 * MS);
  mmtp_sender_get_path_stats (rig->sender, 0, &before);
  message.query.channel = 0;
  size = seal (rig, &message, 0, bytes);
  bytes[size - 1] ^= 1;
  input (rig, 0, bytes, size);
  bytes[size - 1] ^= 1;
  input (rig, 1, bytes, size);
  input (rig, 0, bytes, 10);
  bytes[0] ^= 0xe0;
  input (rig, 0, bytes, size);
  mmtp_sender_get_path_stats (rig->sender, 0, &after);
  fail_unless_equals_uint64 (before.rate, after.rate);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless_equals_uint64 (stats.refused[MMTP_REFUSED_TRAILER], 1);
  fail_unless_equals_uint64 (stats.refused[MMTP_REFUSED_CHANNEL], 1);
  fail_unless_equals_uint64 (stats.refused[MMTP_REFUSED_SHORT], 1);
  fail_unless_equals_uint64 (stats.refused[MMTP_REFUSED_VERSION], 1);
  message.type = MMTP_QUERY;
  message.query.channel = 0;
  size = seal (rig, &message, 0, bytes);
  input (rig, 0, bytes, size);
  input (rig, 0, bytes, size);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless_equals_uint64 (stats.refused[MMTP_REFUSED_REPLAY], 1);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (report_of_more_than_was_sent_is_malformed)
{
  Rig *rig = rig_new_default_ready ();
  MmtpSenderStats stats;

  rig->lines[0].received += 1000;
  run (rig, 500 * MS);
  mmtp_sender_get_stats (rig->sender, &stats);
  fail_unless (stats.refused[MMTP_REFUSED_MALFORMED] >= 3);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
mmtpsender_suite (void)
{
  Suite *s = suite_create ("mmtpsender");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 60);
  tcase_add_test (tc, handshake_is_repeated_and_tries_the_next_channel);
  tcase_add_test (tc, handshake_opens_where_the_cookie_came);
  tcase_add_test (tc, open_says_what_is_wanted);
  tcase_add_test (tc, refused_three_times_it_is_over);
  tcase_add_test (tc, a_question_is_refused_once);
  tcase_add_test (tc, who_is_busy_is_asked_for_longer);
  tcase_add_test (tc, an_unverified_refusal_ends_nothing);
  tcase_add_test (tc, a_sealed_refusal_counts_once_for_its_open);
  tcase_add_test (tc, key_is_needed_on_both_sides);
  tcase_add_test (tc, stream_begins_with_the_first_round_trip);
  tcase_add_test (tc, rates_and_delays_are_found_under_load);
  tcase_add_test (tc, estimate_of_a_slow_source_is_application_limited);
  tcase_add_test (tc, too_slow_is_told_each_second);
  tcase_add_test (tc, too_slow_is_told_beforehand_where_rates_are_known);
  tcase_add_test (tc, too_slow_channel_is_for_control);
  tcase_add_test (tc, initial_delay_is_what_the_channels_need);
  tcase_add_test (tc, first_packet_takes_the_slowest_channel);
  tcase_add_test (tc, buffer_becomes_packets);
  tcase_add_test (tc, prelude_goes_with_the_first);
  tcase_add_test (tc, sends_what_fits_and_all_of_that_in_time);
  tcase_add_test (tc, droppable_buffers_go_first_and_keys_last);
  tcase_add_test (tc, what_needs_a_frame_that_was_given_up_is_not_sent);
  tcase_add_test (tc, what_may_be_of_use_alone_is_sent);
  tcase_add_test (tc, parts_of_a_picture_are_what_it_is);
  tcase_add_test (tc, all_of_a_key_frame_is_key);
  tcase_add_test (tc, leading_reference_spoils_leading_pictures_alone);
  tcase_add_test (tc, key_frame_with_a_delimiter_ends_a_broken_group);
  tcase_add_test (tc, room_is_what_can_be_in_time);
  tcase_add_test (tc, room_of_configured_paths_is_known);
  tcase_add_test (tc, losses_are_repaired);
  tcase_add_test (tc, the_work_of_a_report_is_bounded);
  tcase_add_test (tc, losses_are_left_when_told_so);
  tcase_add_test (tc, a_loss_is_repaired_on_the_chance_where_there_is_time);
  tcase_add_test (tc, nothing_is_sent_on_the_chance_in_place_of_what_is_new);
  tcase_add_test (tc, repairs_go_in_advance_where_a_loss_is_known_too_late);
  tcase_add_test (tc, no_repairs_go_in_advance_where_there_is_time);
  tcase_add_test (tc, cut_channel_loses_nothing);
  tcase_add_test (tc, channel_tells_why_it_is_not_used);
  tcase_add_test (tc, channel_that_is_not_needed_says_so);
  tcase_add_test (tc, shares_and_losses_are_those_of_late);
  tcase_add_test (tc, loss_is_what_the_receiver_misses);
  tcase_add_test (tc, gap_of_the_only_channel_is_waited_for);
  tcase_add_test (tc, stalled_return_path_stops_nothing);
  tcase_add_test (tc, packets_are_rescued_from_a_stalled_path);
  tcase_add_test (tc, channel_that_is_never_reported_falls_silent);
  tcase_add_test (tc, removed_channel_loses_nothing);
  tcase_add_test (tc, channel_that_the_receiver_leaves_joins_anew);
  tcase_add_test (tc, lost_response_is_made_up_for_soon);
  tcase_add_test (tc, only_channel_is_told_to_be_broken_once);
  tcase_add_test (tc, keepalives_cost_little);
  tcase_add_test (tc, caps_come_in_pieces_until_they_are_there);
  tcase_add_test (tc, end_goes_on_all_channels_behind_the_last);
  tcase_add_test (tc, flush_forgets_and_goes_on);
  tcase_add_test (tc, queries_are_answered_but_not_too_often);
  tcase_add_test (tc, forged_and_replayed_messages_are_refused);
  tcase_add_test (tc, report_of_more_than_was_sent_is_malformed);
  return s;
}

GST_CHECK_MAIN (mmtpsender);
