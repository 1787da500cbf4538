/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the sender of MMTP against docs/wire-mmtp.md and section 4 of the MMTP
 * paper (Magalhães and Kravets). The test plays the receiver: it counts
 * messages, and it sends reports as often as the sender asks for them. Time is
 * virtual. */

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

/* A message in flight. */
typedef struct
{
  guint64 arrival;              /* ns */
  guint path;
  gsize size;
  guint8 bytes[ROOM];
} Flight;

typedef struct
{
  guint64 delay;                /* One-way delay in ns. */
  /* Rate in bytes per second at which the path carries messages. Only the bytes
   * of the messages count, without the headers of UDP and IP. */
  guint64 capacity;
  /* Time in ns at which the path finishes the transmission of all messages that
   * were sent so far. */
  guint64 busy;
  /* One-way delay of the last message that arrived on this path, in ticks. A
   * tick lasts MMTP_TICK (10) us. */
  gint64 transit;
  /* Minimum and maximum one-way delay of the messages that have arrived since
   * the last REPORT about this path, in ticks of MMTP_TICK (10) us. */
  gint64 min, high;
  /* Arrival time of the newest message on this path, in ticks. A tick lasts
   * MMTP_TICK (10) us. */
  guint32 arrival;
  /* TRUE if a message has arrived on this path since the last REPORT about it.
   */
  gboolean is_measured;
  gboolean is_cut;
  gboolean is_black_hole;       /* Only JOINs arrive. */
  gboolean joined;
  guint64 next;                 /* our number */
  guint64 highest, received, bytes;
  guint64 sent_bytes;           /* of IP packets with DATA messages */
  guint lost;
  /* Jitter of the one-way delay in ns (RFC 3550 section 6.4.1). Only large
   * messages (DATA, PROBE and REPAIR) are measured. */
  gint64 jitter;
  /* One-way delay of the last large message (DATA, PROBE or REPAIR), in ticks.
   * A tick lasts MMTP_TICK (10) us. */
  gint64 load_transit;
  gboolean has_load;
  /* Time in ns at which the last REPORT was sent on this path. */
  guint64 reported;
  /* Report interval in ns that the sender has requested: the time between two
   * REPORTs. If it is 0, the sender has not requested an interval yet. REPORTs
   * are then sent every 100 ms. */
  guint64 period;
  guint32 last_sent;            /* ticks */
  guint64 last_arrival;         /* ns */
  /* Array of guint64: numbers of the messages that were lost on this path. */
  GArray *ranges;
} Line;

typedef struct
{
  MmtpSender *sender;
  guint64 now;
  MmtpKey key;
  guint8 nonce_s[MMTP_NONCE_SIZE], nonce_r[MMTP_NONCE_SIZE];
  MmtpDirection from, to;       /* the sender */
  gboolean in_session;
  /* Time in ns before which no message of the receiver is sent. Messages that
   * become due earlier are held back until this time. */
  guint64 silent_until;
  /* TRUE if the simulated receiver answers by itself. If FALSE, only the test
   * sends answers. */
  gboolean answers;
  Line lines[MAX_LINES];
  guint n_lines;
  guint32 report;
  GQueue forth, back;           /* of Flight */
  /* Array of MmtpMessage: messages that arrived at the simulated receiver. */
  GArray *arrived;
  GArray *events;               /* Array of MmtpSenderEvent. */
  /* Set of the stream numbers of the DATA messages that arrived. A stream
   * number is the position of a packet in the stream. */
  GHashTable *numbers;
  /* Number of messages that the sender has sent, by message type and path. */
  guint counts[MMTP_LAST_TYPE][MAX_LINES];
    gboolean (*loses) (const MmtpMessage * message);
} Fixture;

static const guint8 entropy[MMTP_ENTROPY_SIZE] = "sixty-four bytes";

/* Converts a rate of messages of maximum size to bits per second, including the
 * headers of UDP and IP. */
static guint64
get_wire_rate (guint64 capacity)
{
  return capacity * 8 * (MAX_SIZE + OVERHEAD) / MAX_SIZE;
}

static void
add_known_line (Fixture * fixture, guint64 delay, guint64 capacity,
    guint64 rate)
{
  gchar *name = g_strdup_printf ("line%u", fixture->n_lines);
  MmtpPathConfig config = { name, MAX_SIZE, OVERHEAD, rate, 0 };
  Line *line = &fixture->lines[fixture->n_lines];

  line->delay = delay;
  line->capacity = capacity;
  line->ranges = g_array_new (FALSE, FALSE, sizeof (guint64));
  fail_unless_equals_int (mmtp_sender_add_path (fixture->sender, fixture->now,
          &config), fixture->n_lines);
  fixture->n_lines++;
  g_free (name);
}

static void
add_line (Fixture * fixture, guint64 delay, guint64 capacity)
{
  add_known_line (fixture, delay, capacity, 0);
}

static Fixture *
fixture_new (const MmtpSenderConfig * config)
{
  Fixture *fixture = g_new0 (Fixture, 1);

  fixture->now = 10 * SECOND;   /* ticks have 24 bits */
  fixture->answers = TRUE;
  fixture->sender = mmtp_sender_new (config, entropy);
  mmtp_key_init (&fixture->key, config->key);
  memset (fixture->nonce_r, 7, MMTP_NONCE_SIZE);
  g_queue_init (&fixture->forth);
  g_queue_init (&fixture->back);
  fixture->arrived = g_array_new (FALSE, FALSE, sizeof (MmtpMessage));
  fixture->events = g_array_new (FALSE, FALSE, sizeof (MmtpSenderEvent));
  fixture->numbers = g_hash_table_new (NULL, NULL);
  return fixture;
}

static Fixture *
fixture_new_default (void)
{
  MmtpSenderConfig config;

  mmtp_sender_config_init (&config);
  return fixture_new (&config);
}

static void
fixture_free (Fixture * fixture)
{
  guint i;

  mmtp_sender_free (fixture->sender);
  for (i = 0; i < fixture->n_lines; i++)
    g_array_unref (fixture->lines[i].ranges);
  mmtp_key_clear (&fixture->key);
  mmtp_direction_clear (&fixture->from);
  mmtp_direction_clear (&fixture->to);
  g_queue_clear_full (&fixture->forth, g_free);
  g_queue_clear_full (&fixture->back, g_free);
  g_array_unref (fixture->arrived);
  g_array_unref (fixture->events);
  g_hash_table_unref (fixture->numbers);
  g_free (fixture);
}

static gint
compare_arrivals (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const Flight *first = a, *second = b;

  return first->arrival < second->arrival ? -1 :
      first->arrival > second->arrival;
}

/* --- the simulated receiver ----------------------------------------------- */

static gsize
seal (Fixture * fixture, MmtpMessage * message, guint path, guint8 * bytes)
{
  Line *line = &fixture->lines[path];
  gsize size;

  message->channel = path;
  if (message->type != MMTP_REFUSE)
    message->number = line->next & 0xffff;
  message->sent = fixture->now / 10000 & 0xffffff;
  message->trailer = 0;
  size = mmtp_packet_write (message, bytes, ROOM);
  fail_unless (size > 0);
  if (message->type != MMTP_COOKIE && message->type != MMTP_ACCEPT &&
      message->type != MMTP_REFUSE)
    mmtp_direction_seal (&fixture->to, line->next, bytes, size);
  if (message->type == MMTP_COOKIE)
    mmtp_key_seal (&fixture->key, bytes, size);
  if (message->type != MMTP_COOKIE && message->type != MMTP_REFUSE)
    line->next++;
  return size;
}

static void
say (Fixture * fixture, guint path, MmtpMessage * message)
{
  Flight *flight = g_new0 (Flight, 1);

  flight->arrival =
      MAX (fixture->now, fixture->silent_until) + fixture->lines[path].delay;
  flight->path = path;
  flight->size = seal (fixture, message, path, flight->bytes);
  if (fixture->lines[path].is_cut)
    g_free (flight);
  else
    g_queue_insert_sorted (&fixture->back, flight, compare_arrivals, NULL);
}

static void
say_accept (Fixture * fixture, guint path, const MmtpOpen * open)
{
  MmtpMessage message = { MMTP_ACCEPT };
  guint8 bytes[ROOM];

  memcpy (fixture->nonce_s, open->nonce, MMTP_NONCE_SIZE);
  memcpy (message.accept.nonce, open->nonce, MMTP_NONCE_SIZE);
  memcpy (message.accept.nonce_r, fixture->nonce_r, MMTP_NONCE_SIZE);
  message.accept.token = TOKEN_R;
  message.accept.has_key = fixture->key.is_set;
  message.channel = path;
  message.number = fixture->lines[path].next & 0xffff;
  message.sent = fixture->now / 10000 & 0xffffff;
  mmtp_packet_write (&message, bytes, ROOM);
  mmtp_key_sign (&fixture->key, bytes, 52, message.accept.mac);
  mmtp_direction_init (&fixture->from, &fixture->key, fixture->nonce_s,
      fixture->nonce_r, MMTP_SENDER, TOKEN_R);
  mmtp_direction_init (&fixture->to, &fixture->key, fixture->nonce_s,
      fixture->nonce_r, MMTP_RECEIVER, open->token);
  fixture->in_session = TRUE;
  fixture->lines[path].joined = TRUE;
  say (fixture, path, &message);
}

/* Fills in a record, which is the part of a REPORT that describes one path. In
 * this test both endpoints use the same clock, so each transit time in the
 * record is simply a one-way delay. */
static void
fill_record (Fixture * fixture, guint path, MmtpRecord * record)
{
  Line *line = &fixture->lines[path];
  guint i;

  memset (record, 0, sizeof (*record));
  record->channel = path;
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
get_next_missing (Fixture * fixture)
{
  guint number = 0;

  while (g_hash_table_contains (fixture->numbers,
          GUINT_TO_POINTER (number + 1)))
    number++;
  return number;
}

static void
say_report (Fixture * fixture, guint path, guint first, guint n)
{
  MmtpMessage message = { MMTP_REPORT };
  Line *line = &fixture->lines[path];
  guint i;

  message.report.channel_number = line->next;
  message.report.number = ++fixture->report;
  message.report.next = get_next_missing (fixture);
  message.report.echo_channel = path;
  message.report.echo = line->last_sent;
  message.report.hold = (fixture->now - line->last_arrival) / 10000;
  for (i = first; i < first + n; i++)
    if (fixture->lines[i].joined && fixture->lines[i].received)
      fill_record (fixture, i,
          &message.report.records[message.report.n_records++]);
  line->reported = fixture->now;
  say (fixture, path, &message);
}

static void
take_session_message (Fixture * fixture, guint path, MmtpMessage * message)
{
  MmtpMessage answer = { MMTP_CHALLENGE };
  guint i;

  switch (message->type) {
    case MMTP_JOIN:
      if (fixture->lines[path].joined)
        return;
      answer.challenge.nonce = message->join.nonce;
      answer.challenge.challenge = 4711;
      say (fixture, path, &answer);
      return;
    case MMTP_RESPONSE:
      fail_unless_equals_uint64 (message->challenge.challenge, 4711);
      fixture->lines[path].joined = TRUE;
      return;
    case MMTP_QUERY:
      say_report (fixture, path, path, 1);
      return;
    case MMTP_KEEPALIVE:
      fixture->lines[path].period = message->keepalive.report_period * MS;
      return;
    case MMTP_DATA:
      g_hash_table_add (fixture->numbers,
          GUINT_TO_POINTER (message->data.stream_number + 1));
      return;
    case MMTP_LEAVE:
      answer.type = MMTP_LEAVE;
      answer.leave.channel = message->leave.channel;
      answer.leave.is_ack = TRUE;
      say (fixture, path, &answer);
      return;
    case MMTP_END:
      answer.type = MMTP_END_ACK;
      answer.end = message->end;
      for (i = 0; i < 3; i++)
        say (fixture, path, &answer);
      return;
    default:
      return;
  }
}

static void
take_handshake (Fixture * fixture, guint path, MmtpMessage * message)
{
  MmtpMessage answer = { MMTP_COOKIE };

  if (message->type == MMTP_OPEN) {
    say_accept (fixture, path, &message->open);
    return;
  }
  memcpy (answer.init.nonce, message->init.nonce, MMTP_NONCE_SIZE);
  memset (answer.init.cookie, 3, MMTP_COOKIE_SIZE);
  say (fixture, path, &answer);
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
arrive (Fixture * fixture, const Flight * flight)
{
  Line *line = &fixture->lines[flight->path];
  MmtpMessage message;
  guint64 number;

  memset (&message, 0, sizeof (message));
  fail_unless_equals_int (mmtp_packet_parse_header (&message, flight->bytes,
          flight->size, MMTP_SENDER), MMTP_VALID);
  fail_unless_equals_int (mmtp_packet_parse_body (&message, flight->bytes,
          flight->size), MMTP_VALID);
  g_array_append_val (fixture->arrived, message);
  if (message.type == MMTP_INIT || message.type == MMTP_OPEN) {
    if (fixture->answers)
      take_handshake (fixture, flight->path, &message);
    return;
  }
  number = unwrap_number (line, &message);
  fail_unless (mmtp_direction_verify (&fixture->from, number, flight->bytes,
          flight->size));
  note_transit (line, (gint64) (fixture->now / 10000) - message.sent,
      message.type == MMTP_DATA || message.type == MMTP_PROBE ||
      message.type == MMTP_REPAIR);
  line->arrival = fixture->now / 10000 & 0xffffff;
  line->highest = number;
  line->received++;
  line->bytes += flight->size;
  line->last_sent = message.sent;
  line->last_arrival = flight->arrival;
  if (fixture->answers)
    take_session_message (fixture, flight->path, &message);
}

/* --- time ----------------------------------------------------------------- */

static void
take_output (Fixture * fixture)
{
  Flight *flight = g_new0 (Flight, 1);
  MmtpMessage message;

  while ((flight->size = mmtp_sender_poll_output (fixture->sender, fixture->now,
              &flight->path, flight->bytes, ROOM))) {
    Line *line = &fixture->lines[flight->path];
    guint64 number;

    memset (&message, 0, sizeof (message));
    fail_unless_equals_int (mmtp_packet_parse_header (&message, flight->bytes,
            flight->size, MMTP_SENDER), MMTP_VALID);
    fail_unless_equals_int (mmtp_packet_parse_body (&message, flight->bytes,
            flight->size), MMTP_VALID);
    fail_unless (flight->size <= MAX_SIZE);
    fixture->counts[message.type][flight->path]++;
    if (message.type == MMTP_DATA)
      line->sent_bytes += flight->size + OVERHEAD;
    line->busy = MAX (line->busy, fixture->now) +
        flight->size * SECOND / line->capacity;
    flight->arrival = line->busy + line->delay;
    number = unwrap_number (line, &message);
    if (line->is_cut || (line->is_black_hole && message.type != MMTP_JOIN))
      continue;
    if (fixture->loses && fixture->loses (&message)) {
      g_array_prepend_val (line->ranges, number);
      line->lost++;
      continue;
    }
    g_queue_insert_sorted (&fixture->forth, flight, compare_arrivals, NULL);
    flight = g_new0 (Flight, 1);
  }
  g_free (flight);
}

static void
take_events (Fixture * fixture)
{
  MmtpSenderEvent event;

  while (mmtp_sender_poll_event (fixture->sender, &event))
    g_array_append_val (fixture->events, event);
}

static Flight *
pop_arrived (Fixture * fixture, GQueue * flights)
{
  Flight *flight = g_queue_peek_head (flights);

  if (!flight || flight->arrival > fixture->now)
    return NULL;
  return g_queue_pop_head (flights);
}

/* Returns the time in ns at which the next report is due on the path. */
static guint64
get_report_time (Fixture * fixture, guint path)
{
  const Line *line = &fixture->lines[path];

  if (!fixture->answers || !fixture->in_session || !line->joined)
    return MMTP_NEVER;
  return line->reported + (line->period ? line->period : 100 * MS);
}

static void
step (Fixture * fixture)
{
  Flight *flight;
  guint i;

  while ((flight = pop_arrived (fixture, &fixture->forth))) {
    if (!fixture->lines[flight->path].is_cut)
      arrive (fixture, flight);
    g_free (flight);
  }
  for (i = 0; i < fixture->n_lines; i++)
    if (fixture->now >= get_report_time (fixture, i))
      say_report (fixture, i, 0, fixture->n_lines);
  while ((flight = pop_arrived (fixture, &fixture->back))) {
    if (!fixture->lines[flight->path].is_cut)
      mmtp_sender_input (fixture->sender, fixture->now, flight->path,
          flight->bytes, flight->size);
    g_free (flight);
  }
  mmtp_sender_timeout (fixture->sender, fixture->now);
  take_output (fixture);
  fail_unless (mmtp_sender_next_wakeup (fixture->sender) > fixture->now);
  take_events (fixture);
}

static guint64
get_next (Fixture * fixture)
{
  const Flight *forth = g_queue_peek_head (&fixture->forth);
  const Flight *back = g_queue_peek_head (&fixture->back);
  guint64 next = mmtp_sender_next_wakeup (fixture->sender);
  guint i;

  if (forth)
    next = MIN (next, forth->arrival);
  if (back)
    next = MIN (next, back->arrival);
  for (i = 0; i < fixture->n_lines; i++)
    next = MIN (next, get_report_time (fixture, i));
  return MAX (next, fixture->now);
}

static void
run (Fixture * fixture, guint64 time)
{
  guint64 end = fixture->now + time;

  take_output (fixture);
  take_events (fixture);
  while (get_next (fixture) <= end) {
    fixture->now = get_next (fixture);
    step (fixture);
  }
  fixture->now = end;
}

static const MmtpSenderEvent *
find_event (Fixture * fixture, MmtpSenderEventType type)
{
  guint i;

  for (i = 0; i < fixture->events->len; i++) {
    const MmtpSenderEvent *event = &g_array_index (fixture->events,
        MmtpSenderEvent, i);

    if (event->type == type)
      return event;
  }
  return NULL;
}

static guint
count_events (Fixture * fixture, MmtpSenderEventType type)
{
  guint i, n = 0;

  for (i = 0; i < fixture->events->len; i++)
    n += g_array_index (fixture->events, MmtpSenderEvent, i).type == type;
  return n;
}

static MmtpPathState
get_state (Fixture * fixture, guint path)
{
  MmtpSenderPathStats stats;

  fail_unless (mmtp_sender_get_path_stats (fixture->sender, path, &stats));
  return stats.state;
}

static MmtpPathUse
get_use (Fixture * fixture, guint path)
{
  MmtpSenderPathStats stats;

  fail_unless (mmtp_sender_get_path_stats (fixture->sender, path, &stats));
  return stats.use;
}

/* Checks the statistics that the user gets about `path`. The field `use`, which
 * says whether the path is used and why not, must have the given value. The
 * text that explains this value must begin with `words`. If `words` is empty,
 * the text must be empty. */
static void
expect_use (Fixture * fixture, guint path, MmtpPathUse use, const gchar * words)
{
  MmtpSenderPathStats stats;
  gchar *text;

  fail_unless (mmtp_sender_get_path_stats (fixture->sender, path, &stats));
  fail_unless_equals_int (stats.use, use);
  text = mmtp_path_stats_explain (&stats);
  fail_unless (*words ? g_str_has_prefix (text, words) : !*text, "%s", text);
  g_free (text);
}

/* Clears the events, the messages and the counters that were recorded so far.
 */
static void
forget (Fixture * fixture)
{
  g_array_set_size (fixture->events, 0);
  g_array_set_size (fixture->arrived, 0);
  memset (fixture->counts, 0, sizeof (fixture->counts));
}

/* Returns a fixture with two paths. The session has begun, but no data has been
 * sent on the paths yet. The one-way delays of the paths are 20 and 50 ms, and
 * their rates are 100 and 50 kbyte/s. */
static Fixture *
fixture_new_ready (const MmtpSenderConfig * config)
{
  Fixture *fixture = fixture_new (config);

  add_line (fixture, 20 * MS, 100000);
  add_line (fixture, 50 * MS, 50000);
  run (fixture, 3 * SECOND);
  fail_unless (find_event (fixture, MMTP_EVENT_READY) != NULL);
  forget (fixture);
  return fixture;
}

/* Returns a fixture with two paths, on which no data has been sent yet. Their
 * one-way delays are 20 and 50 ms. Their rates are 100 and 50 kbyte/s, and are
 * configured, so the sender need not measure them. */
static Fixture *
fixture_new_known (const MmtpSenderConfig * config)
{
  Fixture *fixture = fixture_new (config);

  add_known_line (fixture, 20 * MS, 100000, get_wire_rate (100000));
  add_known_line (fixture, 50 * MS, 50000, get_wire_rate (50000));
  run (fixture, 3 * SECOND);
  fail_unless (find_event (fixture, MMTP_EVENT_READY) != NULL);
  forget (fixture);
  return fixture;
}

static Fixture *
fixture_new_default_ready (void)
{
  MmtpSenderConfig config;

  mmtp_sender_config_init (&config);
  return fixture_new_ready (&config);
}

static gboolean
put (Fixture * fixture, gsize size, guint8 flags)
{
  MmtpBuffer buffer = { NULL };
  gboolean queued;

  buffer.data = g_bytes_new_take (g_malloc0 (size), size);
  buffer.due = fixture->now;
  buffer.flags = flags;
  queued = mmtp_sender_put (fixture->sender, fixture->now, &buffer);
  g_bytes_unref (buffer.data);
  return queued;
}

static MmtpMessage *
find_arrived (Fixture * fixture, MmtpType type, guint nth)
{
  guint i;

  for (i = 0; i < fixture->arrived->len; i++) {
    MmtpMessage *message = &g_array_index (fixture->arrived, MmtpMessage, i);

    if (message->type == type && nth-- == 0)
      return message;
  }
  return NULL;
}

/* --- handshake ------------------------------------------------------------ */

GST_START_TEST (handshake_is_repeated_and_tries_the_next_path)
{
  Fixture *fixture = fixture_new_default ();

  add_line (fixture, 10 * MS, 100000);
  add_line (fixture, 10 * MS, 100000);
  fixture->answers = FALSE;
  run (fixture, 249 * MS);
  fail_unless_equals_int (fixture->counts[MMTP_INIT][0], 1);
  fail_unless_equals_int (fixture->counts[MMTP_INIT][1], 0);
  run (fixture, 2 * MS);
  fail_unless_equals_int (fixture->counts[MMTP_INIT][0], 2);
  fail_unless_equals_int (fixture->counts[MMTP_INIT][1], 1);
  run (fixture, 498 * MS);
  fail_unless_equals_int (fixture->counts[MMTP_INIT][0], 2);
  run (fixture, 2 * MS);
  fail_unless_equals_int (fixture->counts[MMTP_INIT][0], 3);
  /* 1 s, then 2 s each */
  run (fixture, 9 * SECOND);
  fail_unless_equals_int (fixture->counts[MMTP_INIT][0], 8);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (handshake_opens_where_the_cookie_came)
{
  Fixture *fixture = fixture_new_default ();

  add_line (fixture, 10 * MS, 100000);
  add_line (fixture, 10 * MS, 100000);
  fixture->lines[0].is_cut = TRUE;
  run (fixture, 310 * MS);
  fail_unless_equals_int (fixture->counts[MMTP_OPEN][1], 1);
  fail_unless (fixture->in_session);
  fail_unless_equals_int (fixture->counts[MMTP_JOIN][0], 1);
  /* The first path was cut during the handshake. The session must begin on the
   * second path nevertheless. */
  fail_unless_equals_int (get_state (fixture, 1), MMTP_PATH_ACTIVE);
  fail_unless_equals_int (get_state (fixture, 0), MMTP_PATH_OPENING);
  fail_unless (find_event (fixture, MMTP_EVENT_READY) != NULL);
  run (fixture, 5 * SECOND);
  fixture->lines[0].is_cut = FALSE;
  run (fixture, 4 * SECOND);
  fail_unless_equals_int (get_state (fixture, 0), MMTP_PATH_ACTIVE);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (open_says_what_is_wanted)
{
  MmtpSenderConfig config;
  Fixture *fixture;
  MmtpMessage *message;

  mmtp_sender_config_init (&config);
  config.initial_delay = 400 * MS;
  config.max_delay = 2 * SECOND;
  config.bit_rate = 123456789;
  config.frame_period = 40000;
  fixture = fixture_new (&config);
  add_line (fixture, 10 * MS, 100000);
  run (fixture, 60 * MS);
  message = find_arrived (fixture, MMTP_INIT, 0);
  fail_unless_equals_int (message->number, 0);
  message = find_arrived (fixture, MMTP_OPEN, 0);
  fail_unless_equals_int (message->open.initial_delay, 400000);
  fail_unless_equals_uint64 (message->open.bit_rate, 123456789);
  fail_unless_equals_int (message->open.frame_period, 40000);
  fail_unless_equals_int (message->open.keepalive_period, 100);
  fail_unless_equals_int (message->open.max_size, MAX_SIZE);
  fail_if (message->open.has_key);
  fail_unless_equals_int (message->open.now / 10 & 0xffffff, message->sent);
  fixture_free (fixture);
}

GST_END_TEST;

static void
refuse (Fixture * fixture, const guint8 * nonce, guint8 reason)
{
  MmtpMessage message = { MMTP_REFUSE };

  memcpy (message.refuse.nonce, nonce, MMTP_NONCE_SIZE);
  message.refuse.reason = reason;
  say (fixture, 0, &message);
  run (fixture, 20 * MS);
}

/* Starts a sender that asks for a session with an INIT message and gets no
 * answer. It therefore sends the INIT at 0, 250, 750 and 1750 ms. The function
 * stores the nonce of the INIT in `nonce`. */
static Fixture *
fixture_new_asking (guint8 nonce[MMTP_NONCE_SIZE])
{
  Fixture *fixture = fixture_new_default ();

  add_line (fixture, 10 * MS, 100000);
  fixture->answers = FALSE;
  run (fixture, 50 * MS);
  memcpy (nonce, find_arrived (fixture, MMTP_INIT, 0)->init.nonce,
      MMTP_NONCE_SIZE);
  return fixture;
}

GST_START_TEST (refused_three_times_it_is_over)
{
  static const guint8 wrong[MMTP_NONCE_SIZE] = { 1 };
  guint8 nonce[MMTP_NONCE_SIZE];
  Fixture *fixture = fixture_new_asking (nonce);
  MmtpSenderStats stats;
  guint i;

  for (i = 0; i < 5; i++)
    refuse (fixture, wrong, MMTP_REFUSE_BUSY);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless_equals_uint64 (stats.refused[MMTP_REFUSED_SESSION], 5);
  for (i = 0; i < 3; i++) {
    refuse (fixture, nonce, MMTP_REFUSE_COOKIE);
    fail_unless (find_event (fixture, MMTP_EVENT_REFUSED) == NULL);
    refuse (fixture, nonce, MMTP_REFUSE_KEY);
    run (fixture, i == 0 ? 260 * MS : 500 * MS);
  }
  fail_unless_equals_int (find_event (fixture, MMTP_EVENT_REFUSED)->reason,
      MMTP_REFUSE_KEY);
  fail_unless_equals_uint64 (mmtp_sender_next_wakeup (fixture->sender),
      MMTP_NEVER);
  fixture_free (fixture);
}

GST_END_TEST;

/* An INIT is the message with which the sender asks for a session. For each
 * INIT that it sends, the sender must accept one answer and ignore all further
 * answers. */
GST_START_TEST (a_question_is_refused_once)
{
  guint8 nonce[MMTP_NONCE_SIZE];
  Fixture *fixture = fixture_new_asking (nonce);
  MmtpSenderStats stats;
  guint i;

  for (i = 0; i < 5; i++)
    refuse (fixture, nonce, MMTP_REFUSE_KEY);
  run (fixture, 150 * MS);
  for (i = 0; i < 5; i++)
    refuse (fixture, nonce, MMTP_REFUSE_KEY);
  fail_unless (find_event (fixture, MMTP_EVENT_REFUSED) == NULL);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless_equals_uint64 (stats.refused[MMTP_REFUSED_REPLAY], 8);
  fixture->answers = TRUE;
  run (fixture, SECOND);
  fail_unless (find_event (fixture, MMTP_EVENT_READY) != NULL);
  fixture_free (fixture);
}

GST_END_TEST;

/* The receiver may need some time to detect that the sender's previous session
 * has ended. Until then it refuses the new session as busy. The sender must
 * therefore report that the receiver is busy only after it has received such
 * refusals for at least 1.5 s. */
GST_START_TEST (busy_refusal_is_retried_before_it_is_reported)
{
  guint8 nonce[MMTP_NONCE_SIZE];
  Fixture *fixture = fixture_new_asking (nonce);

  refuse (fixture, nonce, MMTP_REFUSE_BUSY);
  run (fixture, 230 * MS);
  refuse (fixture, nonce, MMTP_REFUSE_BUSY);
  run (fixture, 480 * MS);
  refuse (fixture, nonce, MMTP_REFUSE_BUSY);
  fail_unless (find_event (fixture, MMTP_EVENT_REFUSED) == NULL);
  run (fixture, 980 * MS);
  refuse (fixture, nonce, MMTP_REFUSE_BUSY);
  fail_unless_equals_int (find_event (fixture, MMTP_EVENT_REFUSED)->reason,
      MMTP_REFUSE_BUSY);
  fixture_free (fixture);
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

/* Returns a fixture whose sender has got a COOKIE, the answer to its INIT, but
 * gets no answer to its next message, the OPEN. It therefore sends the OPEN at
 * 100, 350, 850, 1850 ms and so on. The function stores the nonce of the INIT
 * in `nonce`. */
static Fixture *
fixture_new_opening (const MmtpSenderConfig * config, guint8 * nonce)
{
  Fixture *fixture = fixture_new (config);

  add_line (fixture, 50 * MS, 100000);
  run (fixture, 90 * MS);
  fixture->answers = FALSE;
  memcpy (nonce, find_arrived (fixture, MMTP_INIT, 0)->init.nonce,
      MMTP_NONCE_SIZE);
  run (fixture, 20 * MS);
  return fixture;
}

/* Refuses the OPEN with a REFUSE whose message number is `number`. The REFUSE
 * has a correct seal (a keyed hash of the message), as if it came from a
 * receiver that has the key. */
static void
refuse_sealed (Fixture * fixture, const guint8 * nonce, guint8 reason,
    guint number)
{
  MmtpMessage message = { MMTP_REFUSE };
  guint8 bytes[ROOM];
  gsize size;

  message.number = number;
  memcpy (message.refuse.nonce, nonce, MMTP_NONCE_SIZE);
  message.refuse.reason = reason;
  size = mmtp_packet_write (&message, bytes, ROOM);
  mmtp_key_seal (&fixture->key, bytes, size);
  mmtp_sender_input (fixture->sender, fixture->now, 0, bytes, size);
  run (fixture, 0);
}

/* OPEN is a message of the handshake. An attacker who sees an OPEN can answer
 * it with many forged REFUSE messages. In spite of these messages, the sender
 * must be able to begin the session. */
GST_START_TEST (an_unverified_refusal_ends_nothing)
{
  MmtpSenderConfig config = make_config_with_key ();
  guint8 nonce[MMTP_NONCE_SIZE];
  Fixture *fixture = fixture_new_opening (&config, nonce);
  guint i, version;

  fail_unless_equals_int (mmtp_sender_get_unverified_refusal (fixture->sender,
          &version), 0);
  for (i = 0; i < 100; i++)
    refuse (fixture, nonce, 1 + i % 5);
  refuse (fixture, nonce, MMTP_REFUSE_BUSY);
  run (fixture, 50 * MS);
  fail_unless_equals_int (mmtp_sender_get_unverified_refusal (fixture->sender,
          &version), MMTP_REFUSE_BUSY);
  fail_unless_equals_int (version, MMTP_VERSION);
  fail_unless (find_event (fixture, MMTP_EVENT_REFUSED) == NULL);
  fixture->answers = TRUE;
  run (fixture, 3 * SECOND);
  fail_unless (find_event (fixture, MMTP_EVENT_READY) != NULL);
  fixture_free (fixture);
  g_bytes_unref (config.key);
}

GST_END_TEST;

GST_START_TEST (a_sealed_refusal_counts_once_for_its_open)
{
  MmtpSenderConfig config = make_config_with_key ();
  guint8 nonce[MMTP_NONCE_SIZE];
  Fixture *fixture = fixture_new_opening (&config, nonce);
  guint i;

  refuse (fixture, nonce, MMTP_REFUSE_KEY);
  for (i = 0; i < 5; i++)
    refuse_sealed (fixture, nonce, MMTP_REFUSE_OVER, 0);
  for (i = 1; i < 5; i++)
    refuse_sealed (fixture, nonce, MMTP_REFUSE_OVER, i);
  run (fixture, 800 * MS);
  for (i = 0; i < 5; i++)
    refuse_sealed (fixture, nonce, MMTP_REFUSE_OVER, 0);
  refuse_sealed (fixture, nonce, MMTP_REFUSE_OVER, 1);
  fail_unless (find_event (fixture, MMTP_EVENT_REFUSED) == NULL);
  refuse_sealed (fixture, nonce, MMTP_REFUSE_OVER, 2);
  fail_unless_equals_int (find_event (fixture, MMTP_EVENT_REFUSED)->reason,
      MMTP_REFUSE_OVER);
  fixture_free (fixture);
  g_bytes_unref (config.key);
}

GST_END_TEST;

GST_START_TEST (key_is_needed_on_both_sides)
{
  MmtpSenderConfig config = make_config_with_key ();
  Fixture *fixture = fixture_new (&config);

  add_line (fixture, 10 * MS, 100000);
  run (fixture, 3 * SECOND);
  fail_unless (find_event (fixture, MMTP_EVENT_READY) != NULL);
  fixture_free (fixture);

  fixture = fixture_new (&config);
  mmtp_key_clear (&fixture->key);
  mmtp_key_init (&fixture->key, NULL);
  add_line (fixture, 10 * MS, 100000);
  run (fixture, 3 * SECOND);
  fail_unless (find_event (fixture, MMTP_EVENT_READY) == NULL);
  fixture_free (fixture);
  g_bytes_unref (config.key);
}

GST_END_TEST;

/* --- startup [4.3] -------------------------------------------------------- */

/* Passes `n` frames of `size` bytes to the sender, one every 20 ms. */
static void
put_frames (Fixture * fixture, guint n, gsize size)
{
  while (n--) {
    put (fixture, size, 0);
    run (fixture, 20 * MS);
  }
}

GST_START_TEST (stream_begins_with_the_first_round_trip)
{
  Fixture *fixture = fixture_new_default ();
  const MmtpSenderEvent *event;

  add_line (fixture, 20 * MS, 100000);
  add_line (fixture, 50 * MS, 50000);
  fail_unless (put (fixture, 1000, 0));
  /* On the first path, the handshake needs two round trips of 40 ms. The OPEN
   * is a large message and takes 12 ms more. The sender must be ready within 99
   * ms. */
  run (fixture, 99 * MS);
  event = find_event (fixture, MMTP_EVENT_READY);
  fail_unless (event != NULL);
  fail_unless (event->is_app_limited);
  fail_unless_equals_uint64 (event->delay, SECOND);
  fail_unless_equals_int (fixture->counts[MMTP_DATA][0], 1);
  fail_unless_equals_int (fixture->counts[MMTP_PROBE][0], 0);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (rates_and_delays_are_found_under_load)
{
  Fixture *fixture = fixture_new_default_ready ();
  MmtpSenderPathStats path;
  MmtpSenderStats stats;
  guint i;

  put_frames (fixture, 500, 4 * 1376);
  for (i = 0; i < 2; i++) {
    guint64 wire_rate = get_wire_rate (fixture->lines[i].capacity);

    fail_unless_equals_int (get_state (fixture, i), MMTP_PATH_ACTIVE);
    mmtp_sender_get_path_stats (fixture->sender, i, &path);
    fail_unless (path.rate >= wire_rate * 85 / 100 &&
        path.rate <= wire_rate * 115 / 100, "%" G_GUINT64_FORMAT " of %"
        G_GUINT64_FORMAT, path.rate, wire_rate);
    /* A packet is in flight until a report covers it. The packets in flight
     * must not exceed the number of bytes that the path carries in 400 ms. */
    fail_unless (path.in_flight <= wire_rate / 8 * 4 / 10);
  }
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_if (stats.is_app_limited);
  fail_unless (stats.estimated_rate >= 150000 * 8 * 85 / 100);
  fail_unless (stats.estimated_rate <= 150000 * 8 * 115 / 100);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (estimate_of_a_slow_source_is_application_limited)
{
  MmtpSenderConfig config;
  MmtpSenderStats stats;
  Fixture *fixture;

  mmtp_sender_config_init (&config);
  config.bit_rate = 150000 * 8;
  fixture = fixture_new_ready (&config);
  put_frames (fixture, 250, 1000);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless (stats.is_app_limited);
  /* The application sends less than the paths can carry, so the sender must not
   * report that the paths are too slow. */
  fail_unless_equals_int (count_events (fixture, MMTP_EVENT_TOO_SLOW), 0);
  fail_unless_equals_uint64 (stats.discarded_buffers, 0);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (too_slow_is_told_each_second)
{
  MmtpSenderConfig config;
  Fixture *fixture;

  mmtp_sender_config_init (&config);
  config.bit_rate = 4 * 1376 * 50 * 8;
  fixture = fixture_new_ready (&config);
  put_frames (fixture, 100, 4 * 1376);
  g_array_set_size (fixture->events, 0);
  put_frames (fixture, 250, 4 * 1376);
  fail_unless (count_events (fixture, MMTP_EVENT_TOO_SLOW) >= 4);
  fail_unless (count_events (fixture, MMTP_EVENT_TOO_SLOW) <= 6);
  fixture_free (fixture);
}

GST_END_TEST;

/* The rates of the paths are configured, and they are too low for the stream.
 * The sender must report this before the stream begins. */
GST_START_TEST (too_slow_is_told_beforehand_where_rates_are_known)
{
  MmtpSenderConfig config;
  Fixture *fixture;

  mmtp_sender_config_init (&config);
  config.bit_rate = 150000 * 8;
  fixture = fixture_new_known (&config);
  run (fixture, 5 * SECOND);
  fail_unless (count_events (fixture, MMTP_EVENT_TOO_SLOW) >= 4);
  fail_unless (count_events (fixture, MMTP_EVENT_TOO_SLOW) <= 6);
  fail_unless (find_event (fixture, MMTP_EVENT_TOO_SLOW)->rate > 150000 * 8 * 9
      / 10);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (too_slow_path_is_for_control)
{
  MmtpSenderConfig config;
  Fixture *fixture;

  mmtp_sender_config_init (&config);
  config.max_delay = 60 * MS;
  fixture = fixture_new (&config);
  add_line (fixture, 20 * MS, 100000);
  add_line (fixture, 70 * MS, 50000);
  run (fixture, 3 * SECOND);
  fail_unless_equals_int (get_state (fixture, 0), MMTP_PATH_ACTIVE);
  fail_unless_equals_int (get_state (fixture, 1), MMTP_PATH_CONTROL);
  expect_use (fixture, 1, MMTP_USE_TOO_SLOW, "too slow for the deadline");
  forget (fixture);
  put_frames (fixture, 100, 300);
  fail_unless_equals_int (fixture->counts[MMTP_DATA][1], 0);
  /* The maximum delay is 60 ms. The second path had a delay of 70 ms and was
   * therefore too slow to deliver a packet before its deadline, so it carried
   * no data. Now the delay of this path decreases. When it is at least 10 %
   * below the maximum delay, the path must carry data again. */
  fixture->lines[1].delay = 30 * MS;
  run (fixture, 65 * SECOND);
  fail_unless_equals_int (get_state (fixture, 1), MMTP_PATH_ACTIVE);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (initial_delay_is_what_the_channels_need)
{
  MmtpSenderConfig config;
  Fixture *fixture;
  MmtpSenderStats stats;

  mmtp_sender_config_init (&config);
  config.initial_delay = 30 * MS;
  fixture = fixture_new_ready (&config);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless (stats.initial_delay >= stats.min_delay);
  fail_unless (stats.initial_delay >= 50 * MS);
  fail_unless (stats.initial_delay < 100 * MS);
  mmtp_sender_set_delays (fixture->sender, fixture->now, SECOND, 300 * MS);
  run (fixture, 60 * MS);
  g_array_set_size (fixture->arrived, 0);
  run (fixture, 200 * MS);
  fail_unless_equals_uint64 (find_event (fixture, MMTP_EVENT_DELAY)->delay,
      300 * MS);
  fail_unless_equals_int (find_arrived (fixture, MMTP_KEEPALIVE,
          0)->keepalive.initial_delay, 300000);
  fixture_free (fixture);
}

GST_END_TEST;

/* --- data ----------------------------------------------------------------- */

GST_START_TEST (first_packet_takes_the_slowest_channel)
{
  Fixture *fixture = fixture_new_default_ready ();

  run (fixture, 50 * MS);
  fail_unless (put (fixture, 100, 0));
  run (fixture, 100 * MS);
  fail_unless_equals_int (fixture->counts[MMTP_DATA][1], 1);
  fail_unless_equals_int (fixture->counts[MMTP_DATA][0], 0);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (buffer_becomes_packets)
{
  Fixture *fixture = fixture_new_default_ready ();
  static const guint8 flags[] = {
    MMTP_FLAG_FIRST | MMTP_FLAG_DELTA, MMTP_FLAG_DELTA,
    MMTP_FLAG_DELTA | MMTP_FLAG_LAST
  };
  guint sizes[3] = { 1376, 1376, 248 };
  guint i, seen = 0;

  fail_unless (put (fixture, 3000, MMTP_FLAG_DELTA));
  run (fixture, 300 * MS);
  for (i = 0; i < 3; i++) {
    MmtpData *data = &find_arrived (fixture, MMTP_DATA, i)->data;

    fail_unless (data->stream_number < 3);
    fail_unless_equals_int (data->flags, flags[data->stream_number]);
    fail_unless_equals_int (data->payload_size, sizes[data->stream_number]);
    fail_unless_equals_int (data->caps_version, 0);
    seen |= 1 << data->stream_number;
  }
  fail_unless_equals_int (seen, 7);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (prelude_goes_with_the_first)
{
  Fixture *fixture = fixture_new_default_ready ();
  MmtpBuffer buffer = { NULL };
  MmtpData *data;

  buffer.data = g_bytes_new_static ("0123456789", 10);
  buffer.due = G_MAXUINT64;
  buffer.prelude.mask = MMTP_PRELUDE_PTS | MMTP_PRELUDE_DURATION;
  buffer.prelude.pts = -5;
  buffer.prelude.duration = 40000;
  fail_unless (mmtp_sender_put (fixture->sender, fixture->now, &buffer));
  g_bytes_unref (buffer.data);
  run (fixture, 200 * MS);
  data = &find_arrived (fixture, MMTP_DATA, 0)->data;
  fail_unless_equals_int (data->flags, MMTP_FLAG_FIRST | MMTP_FLAG_LAST |
      MMTP_FLAG_PRELUDE);
  fail_unless_equals_int (data->prelude.pts, -5);
  fail_unless_equals_int (data->prelude.duration, 40000);
  fail_unless_equals_int (data->payload_size, 10);
  fixture_free (fixture);
}

GST_END_TEST;

/* Both paths together carry 150 kbyte/s, which is a message of 1400 bytes every
 * 9.3 ms. The test passes such a message to the sender every 5 ms. The sender
 * must send what the paths can carry, discard the rest, and report that the
 * paths are too slow. */
GST_START_TEST (sends_what_fits_and_all_of_that_in_time)
{
  Fixture *fixture = fixture_new_default_ready ();
  MmtpSenderStats stats;
  guint i;

  for (i = 0; i < 2000; i++) {
    put (fixture, 1376, 0);
    run (fixture, 5 * MS);
  }
  run (fixture, SECOND);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless_equals_uint64 (stats.sent_buffers + stats.discarded_buffers,
      2000);
  fail_unless_equals_uint64 (stats.queued_bytes, 0);
  /* 11 s of 150 kbyte/s */
  fail_unless (stats.sent_buffers >= 150000 * 105 / 14000);
  fail_unless (count_events (fixture, MMTP_EVENT_TOO_SLOW) > 5);
  fixture_free (fixture);
}

GST_END_TEST;

/* All packets that the sender outputs in one call leave as one burst,
 * especially with generic segmentation offload (GSO). The burst must be small
 * even if the sender is called late, for example because the timer of the
 * caller is coarse. The rate of this path is configured, and the sender paces
 * its packets at 97 % of this rate. */
GST_START_TEST (burst_has_at_most_a_millisecond_and_a_packet)
{
  static const guint64 pauses[] = { MS / 10, MS / 2, MS, 3 * MS, 40 * MS };
  const guint64 capacity = 20000000, rate = get_wire_rate (capacity);
  const guint64 millisecond = rate / 8 * 97 / 100 / 1000;
  Fixture *fixture = fixture_new_default ();
  guint64 burst, largest = 0;
  guint i, k;

  add_known_line (fixture, 5 * MS, capacity, rate);
  run (fixture, 3 * SECOND);
  fail_unless (find_event (fixture, MMTP_EVENT_READY) != NULL);
  for (i = 0; i < 500; i++) {
    for (k = 0; k < 10; k++)
      put (fixture, 13760, 0);
    fixture->now += pauses[i % G_N_ELEMENTS (pauses)];
    burst = fixture->lines[0].sent_bytes;
    step (fixture);
    burst = fixture->lines[0].sent_bytes - burst;
    fail_unless (burst <= millisecond + MAX_SIZE + OVERHEAD,
        "%" G_GUINT64_FORMAT " bytes at once", burst);
    largest = MAX (largest, burst);
  }
  fail_unless (largest > millisecond);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (droppable_buffers_go_first_and_keys_last)
{
  Fixture *fixture = fixture_new_default_ready ();
  MmtpSenderStats stats;
  guint i;

  /* The stream has 200 kbyte/s, which is 50 kbyte/s more than the paths can
   * carry, so the sender must drop frames. Of ten frames, one is a key frame,
   * three are P-frames, and six are droppable. Only droppable frames may be
   * dropped. */
  for (i = 0; i < 1000; i++) {
    put (fixture, 2000, i % 10 == 0 ? 0 : i % 10 < 4 ? MMTP_FLAG_DELTA :
        MMTP_FLAG_DELTA | MMTP_FLAG_DROPPABLE);
    run (fixture, 10 * MS);
  }
  run (fixture, SECOND);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless (stats.discarded_buffers > 170);
  fail_unless_equals_uint64 (stats.discarded_keys, 0);
  fail_unless_equals_uint64 (stats.discarded_droppable,
      stats.discarded_buffers);
  fixture_free (fixture);
}

GST_END_TEST;

static gboolean
put_picture (Fixture * fixture, guint64 due, guint8 flags,
    gboolean is_independent)
{
  MmtpBuffer buffer = { g_bytes_new_take (g_malloc0 (1000), 1000), due, flags };
  gboolean taken;

  buffer.picture.is_independent = is_independent;
  taken = mmtp_sender_put (fixture->sender, fixture->now, &buffer);
  g_bytes_unref (buffer.data);
  return taken;
}

/* Passes a key frame to the sender long after the deadline of this frame, and
 * then other frames. The sender must drop the late key frame. If
 * `is_independent` is TRUE, the other frames refer to no other frame, so the
 * sender must send them. If it is FALSE, the sender must also drop all frames
 * before the next key frame. */
static void
check_dependents (gboolean is_independent)
{
  Fixture *fixture = fixture_new_default_ready ();
  const guint64 due = fixture->now;
  MmtpSenderStats stats;

  run (fixture, 1500 * MS);
  put_picture (fixture, due, 0, is_independent);
  run (fixture, 10 * MS);
  fail_unless_equals_int (put_picture (fixture, fixture->now, MMTP_FLAG_DELTA,
          is_independent), is_independent);
  run (fixture, 40 * MS);
  fail_unless_equals_int (put_picture (fixture, fixture->now,
          MMTP_FLAG_DELTA | MMTP_FLAG_DROPPABLE, is_independent),
      is_independent);
  run (fixture, 40 * MS);
  fail_unless (put_picture (fixture, fixture->now, 0, is_independent));
  run (fixture, 40 * MS);
  fail_unless (put_picture (fixture, fixture->now, MMTP_FLAG_DELTA,
          is_independent));
  run (fixture, SECOND);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless_equals_uint64 (stats.discarded_buffers, 1);
  fail_unless_equals_uint64 (stats.discarded_keys, 1);
  fail_unless_equals_uint64 (stats.discarded_broken, is_independent ? 0 : 2);
  fail_unless_equals_uint64 (stats.sent_buffers, is_independent ? 4 : 2);
  fixture_free (fixture);
}

GST_START_TEST (dependent_of_a_dropped_frame_is_not_sent)
{
  check_dependents (FALSE);
}

GST_END_TEST;

GST_START_TEST (independent_frame_after_a_drop_is_sent)
{
  check_dependents (TRUE);
}

GST_END_TEST;

static gboolean
put_kind (Fixture * fixture, guint64 due, PictureKind kind)
{
  MmtpBuffer buffer = { g_bytes_new_take (g_malloc0 (1000), 1000), due,
    MMTP_FLAG_DELTA
  };
  gboolean taken;

  buffer.picture.kind = kind;
  taken = mmtp_sender_put (fixture->sender, fixture->now, &buffer);
  g_bytes_unref (buffer.data);
  return taken;
}

/* Passes a frame of three buffers to the sender, long after the deadline of the
 * frame. The sender must drop all three buffers. The second buffer contains the
 * picture and has the kind `kind`. The other two buffers have the kind
 * PICTURE_KIND_PART, because they contain only parameter sets or similar data.
 *
 * `is_needed` is TRUE if later pictures refer to the dropped frame. In this
 * case, the sender must refuse the next reference picture. Otherwise it must
 * accept that picture. */
static void
check_parts (PictureKind kind, gboolean is_needed)
{
  Fixture *fixture = fixture_new_default_ready ();
  const guint64 due = fixture->now;
  MmtpSenderStats stats;

  run (fixture, 1500 * MS);
  put_kind (fixture, fixture->now, PICTURE_KIND_KEY);
  put_kind (fixture, due, PICTURE_KIND_PART);
  put_kind (fixture, due, kind);
  put_kind (fixture, due, PICTURE_KIND_PART);
  run (fixture, 10 * MS);
  fail_unless_equals_int (put_kind (fixture, fixture->now,
          PICTURE_KIND_REFERENCE), !is_needed);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless_equals_uint64 (stats.discarded_buffers, 3);
  fail_unless_equals_uint64 (stats.discarded_droppable, is_needed ? 0 : 3);
  fail_unless_equals_uint64 (stats.discarded_keys, 0);
  fixture_free (fixture);
}

GST_START_TEST (parts_of_a_picture_are_what_it_is)
{
  check_parts (PICTURE_KIND_DROPPABLE, FALSE);
  check_parts (PICTURE_KIND_REFERENCE, TRUE);
}

GST_END_TEST;

static gboolean
put_leading (Fixture * fixture, guint64 due)
{
  MmtpBuffer buffer = { g_bytes_new_take (g_malloc0 (1000), 1000), due,
    MMTP_FLAG_DELTA | MMTP_FLAG_HEADER
  };
  gboolean taken;

  buffer.picture.kind = PICTURE_KIND_REFERENCE;
  buffer.picture.is_leading = TRUE;
  taken = mmtp_sender_put (fixture->sender, fixture->now, &buffer);
  g_bytes_unref (buffer.data);
  return taken;
}

/* x265 makes open GOPs in which a leading picture may refer to another leading
 * picture. If the sender drops a leading picture, it also drops the leading
 * pictures that refer to this picture. It does not drop the trailing pictures.
 */
GST_START_TEST (leading_reference_spoils_leading_pictures_alone)
{
  Fixture *fixture = fixture_new_default_ready ();
  const guint64 due = fixture->now;
  MmtpSenderStats stats;
  guint i;

  run (fixture, 1500 * MS);
  /* The key frame of the first GOP is late, so the sender drops it. The leading
   * picture of the second GOP may refer to this key frame, so this leading
   * picture must be dropped, too. The leading pictures of the later GOPs must
   * not be dropped. */
  put_kind (fixture, due, PICTURE_KIND_KEY);
  run (fixture, 10 * MS);
  for (i = 0; i < 4; i++) {
    fail_unless (put_kind (fixture, fixture->now, PICTURE_KIND_KEY));
    run (fixture, 250 * MS);
    fail_unless_equals_int (put_leading (fixture, fixture->now), i > 0);
    run (fixture, 250 * MS);
    fail_unless (put_kind (fixture, fixture->now, PICTURE_KIND_REFERENCE));
    run (fixture, 250 * MS);
  }
  /* A leading picture is late, so the sender drops it. The next leading picture
   * refers to the late picture, so the sender must drop it, too. The trailing
   * picture does not refer to the late picture and must be accepted. */
  put_kind (fixture, fixture->now, PICTURE_KIND_KEY);
  run (fixture, 10 * MS);
  put_leading (fixture, fixture->now - 1500 * MS);
  run (fixture, 10 * MS);
  fail_if (put_leading (fixture, fixture->now));
  run (fixture, 10 * MS);
  fail_unless (put_kind (fixture, fixture->now, PICTURE_KIND_REFERENCE));
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless_equals_uint64 (stats.discarded_broken, 2);
  fail_unless_equals_uint64 (stats.discarded_buffers, 2);
  fixture_free (fixture);
}

GST_END_TEST;

/* A key frame was late and was dropped, so the sender drops the rest of its
 * GOP. The next key frame begins with a buffer that contains only an access
 * unit delimiter. The sender must accept this buffer, although it is not marked
 * as a key frame. */
GST_START_TEST (key_frame_with_a_delimiter_ends_a_broken_group)
{
  Fixture *fixture = fixture_new_default_ready ();
  const guint64 due = fixture->now;
  MmtpSenderStats stats;

  run (fixture, 1500 * MS);
  put_kind (fixture, due, PICTURE_KIND_KEY);
  run (fixture, 10 * MS);
  /* The next three buffers belong to a frame that cannot be decoded. The sender
   * must drop all three. */
  put_kind (fixture, fixture->now, PICTURE_KIND_PART);
  fail_if (put_kind (fixture, fixture->now, PICTURE_KIND_REFERENCE));
  fail_if (put_kind (fixture, fixture->now, PICTURE_KIND_REFERENCE));
  run (fixture, 40 * MS);
  fail_unless (put_kind (fixture, fixture->now, PICTURE_KIND_PART));
  fail_unless (put_kind (fixture, fixture->now, PICTURE_KIND_KEY));
  run (fixture, 40 * MS);
  fail_unless (put_kind (fixture, fixture->now, PICTURE_KIND_REFERENCE));
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless_equals_uint64 (stats.discarded_buffers, 1);
  fail_unless_equals_uint64 (stats.discarded_broken, 3);
  fixture_free (fixture);
}

GST_END_TEST;

/* A key frame may consist of several buffers, and only the first of them is
 * marked as key, as in the output of rtph264pay. If such a key frame is
 * dropped, all its buffers must be counted as buffers of a key frame. */
GST_START_TEST (all_of_a_key_frame_is_key)
{
  Fixture *fixture = fixture_new_default_ready ();
  const guint64 due = fixture->now;
  MmtpSenderStats stats;

  run (fixture, 1500 * MS);
  put_kind (fixture, due, PICTURE_KIND_KEY);
  put_kind (fixture, due, PICTURE_KIND_REFERENCE);
  run (fixture, 10 * MS);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless_equals_uint64 (stats.discarded_keys, 2);
  fixture_free (fixture);
}

GST_END_TEST;

/* Passes frames to the sender for `time` ns. Each frame has one packet. If the
 * queue of the sender is full, the function waits until the sender has room.
 * Returns the number of frames that were passed. */
static guint
put_while_room (Fixture * fixture, guint64 time)
{
  guint64 end = fixture->now + time;
  guint n = 0;

  while (fixture->now < end) {
    if (mmtp_sender_has_room (fixture->sender, fixture->now)) {
      fail_unless (put (fixture, 1376, 0));
      /* The next packet must have another timestamp, so that it counts as a
       * frame of its own. */
      fixture->now++;
      n++;
      continue;
    }
    g_array_set_size (fixture->events, 0);
    while (!find_event (fixture, MMTP_EVENT_ROOM) && fixture->now < end)
      run (fixture, MS);
    fail_unless (fixture->now >= end
        || count_events (fixture, MMTP_EVENT_ROOM) == 1);
  }
  return n;
}

/* Frames are passed to the sender whenever its queue has room. The sender must
 * use at least 90 % of the rates of the paths, and it may drop at most 1 % of
 * the frames. */
GST_START_TEST (room_is_what_can_be_in_time)
{
  Fixture *fixture = fixture_new_default_ready ();
  MmtpSenderStats before, after;
  guint arrived, n;

  fail_unless (mmtp_sender_has_room (fixture->sender, fixture->now));
  /* For 2 s the sender measures the rates of the paths. The checks below begin
   * only after this time. */
  put_while_room (fixture, 2 * SECOND);
  mmtp_sender_get_stats (fixture->sender, &before);
  arrived = g_hash_table_size (fixture->numbers);
  n = put_while_room (fixture, 20 * SECOND);
  mmtp_sender_get_stats (fixture->sender, &after);
  fail_unless (after.queued_bytes < 150000);
  arrived = g_hash_table_size (fixture->numbers) - arrived;
  /* 20 s at 150 kbyte/s. */
  fail_unless (arrived >= 20 * 150000 * 9 / 14000, "%u", arrived);
  run (fixture, 2 * SECOND);
  mmtp_sender_get_stats (fixture->sender, &after);
  fail_unless (after.discarded_buffers - before.discarded_buffers <= n / 100);
  fixture_free (fixture);
}

GST_END_TEST;

/* The rates of the paths are configured, so the sender need not measure them.
 * From the beginning, it must send at 90 % of the configured rates or faster,
 * and it must not discard buffers. */
GST_START_TEST (room_of_configured_paths_is_known)
{
  MmtpSenderConfig config;
  MmtpSenderStats stats;
  Fixture *fixture;

  mmtp_sender_config_init (&config);
  fixture = fixture_new_known (&config);
  put_while_room (fixture, 10 * SECOND);
  run (fixture, 2 * SECOND);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless_equals_uint64 (stats.discarded_buffers, 0);
  fail_unless (g_hash_table_size (fixture->numbers) >= 10 * 150000 * 9 / 14000);
  fixture_free (fixture);
}

GST_END_TEST;

/* --- losses --------------------------------------------------------------- */

static gboolean
loses_a_tenth (const MmtpMessage * message)
{
  return message->type == MMTP_DATA && message->number % 10 == 5;
}

GST_START_TEST (losses_are_repaired)
{
  Fixture *fixture = fixture_new_default_ready ();
  MmtpSenderStats stats;
  guint i;

  fixture->loses = loses_a_tenth;
  for (i = 0; i < 500; i++) {
    fail_unless (put (fixture, 1000, 0));
    run (fixture, 20 * MS);
  }
  run (fixture, SECOND);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless_equals_int (g_hash_table_size (fixture->numbers), 500);
  fail_unless (stats.retransmitted >= 40);
  fail_unless (stats.retransmitted <= 70);
  fail_unless_equals_uint64 (stats.unrepaired, 0);
  fixture_free (fixture);
}

GST_END_TEST;

/* Maximum number of packets that the sender may look up in its log to process
 * one REPORT. */
#define MAX_REPORT_LOOKUPS (16 * 255)
/* Number of records that fit into one REPORT. A record describes one path. */
#define RECORDS 14

GST_START_TEST (the_work_of_a_report_is_bounded)
{
  Fixture *fixture = fixture_new_default_ready ();
  MmtpMessage message = { MMTP_REPORT };
  MmtpSenderStats stats;
  guint64 before;
  guint i, k;

  fail_unless (put (fixture, 1000, 0));
  run (fixture, SECOND);
  mmtp_sender_get_stats (fixture->sender, &stats);
  before = stats.loss_lookups;
  message.report.channel_number = fixture->lines[0].next;
  message.report.number = ++fixture->report;
  message.report.n_records = RECORDS;
  for (i = 0; i < RECORDS; i++) {
    MmtpRecord *record = &message.report.records[i];

    fill_record (fixture, 0, record);
    record->n_ranges = MMTP_MAX_RANGES;
    for (k = 0; k < MMTP_MAX_RANGES; k++) {
      record->ranges[k].first = k * 255;
      record->ranges[k].count = 255;
    }
  }
  say (fixture, 0, &message);
  run (fixture, SECOND);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless (stats.loss_lookups > before);
  fail_unless (stats.loss_lookups - before <= MAX_REPORT_LOOKUPS);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (losses_are_left_when_told_so)
{
  MmtpSenderConfig config;
  MmtpSenderStats stats;
  Fixture *fixture;
  guint i;

  mmtp_sender_config_init (&config);
  config.retransmit = FALSE;
  fixture = fixture_new_ready (&config);
  fixture->loses = loses_a_tenth;
  for (i = 0; i < 500; i++) {
    put (fixture, 1000, 0);
    run (fixture, 20 * MS);
  }
  run (fixture, SECOND);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless_equals_uint64 (stats.retransmitted, 0);
  fail_unless_equals_uint64 (stats.unrepaired,
      500 - g_hash_table_size (fixture->numbers));
  fixture_free (fixture);
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

/* Returns a fixture with one path. The rate of this path is configured, and its
 * one-way delay has alternated between 20 ms and 220 ms. For a path with a
 * configured rate, the sender predicts a delay that hardly any packet exceeds.
 * Here, this delay is about 220 ms.
 *
 * A packet is too late if it arrives after the initial delay (D0), which is 350
 * ms here. The delay of the path is less than D0, so a packet that is sent once
 * and not lost arrives in time. If the packet is lost, its retransmission is
 * sent later, so the retransmission may be too late. */
static Fixture *
fixture_new_fluctuating (void)
{
  MmtpSenderConfig config;
  Fixture *fixture;
  guint i;

  mmtp_sender_config_init (&config);
  config.max_delay = 350 * MS;
  fixture = fixture_new (&config);
  add_known_line (fixture, 20 * MS, 100000, get_wire_rate (100000));
  run (fixture, 3 * SECOND);
  for (i = 0; i < 100; i++) {
    fixture->lines[0].delay = i % 2 ? 20 * MS : 220 * MS;
    put (fixture, 1000, 0);
    run (fixture, 250 * MS);
  }
  return fixture;
}

GST_START_TEST (a_loss_is_repaired_on_the_chance_where_there_is_time)
{
  Fixture *fixture = fixture_new_fluctuating ();
  MmtpSenderPathStats path;
  MmtpSenderStats stats;
  guint before;

  run (fixture, SECOND);
  before = g_hash_table_size (fixture->numbers);
  fixture->loses = loses_the_first;
  put (fixture, 1000, 0);
  run (fixture, 20 * MS);
  put (fixture, 1000, 0);
  run (fixture, SECOND);
  mmtp_sender_get_path_stats (fixture->sender, 0, &path);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless (path.high_delay > 200 * MS);
  fail_unless_equals_uint64 (fixture->lines[0].lost, 1);
  fail_unless_equals_uint64 (stats.retransmitted, 1);
  fail_unless_equals_uint64 (stats.unrepaired, 0);
  fail_unless_equals_int (g_hash_table_size (fixture->numbers), before + 2);
  fixture_free (fixture);
}

GST_END_TEST;

/* Sends a picture of 1000 bytes every `period` ns. The path needs 10 ms to
 * carry one picture, and its delay fluctuates. Of every `group` pictures, the
 * first is a key frame. A tenth of the packets is lost, except at the
 * beginning. Stores the sender's statistics in `stats`. */
static void
overload_fluctuating_path (guint64 period, guint group, MmtpSenderStats * stats)
{
  Fixture *fixture = fixture_new_fluctuating ();
  guint i;

  for (i = 0; i < 500; i++) {
    put (fixture, 1000, i % group == 0 ? 0 : MMTP_FLAG_DELTA);
    fixture->loses = i > 100 ? loses_a_tenth : NULL;
    run (fixture, period);
  }
  run (fixture, SECOND);
  mmtp_sender_get_stats (fixture->sender, stats);
  fixture_free (fixture);
}

GST_START_TEST (nothing_is_sent_on_the_chance_in_place_of_what_is_new)
{
  MmtpSenderStats stats;

  overload_fluctuating_path (5 * MS, 1, &stats);
  fail_unless (stats.discarded_buffers > 100);
  /* If a retransmission may be late, the sender must send a new packet instead.
   * The test nevertheless allows a single retransmission. The reason is that a
   * loss may be reported so early that the retransmission is certain to be in
   * time. */
  fail_unless (stats.retransmitted <= 1);
  fail_unless (stats.unrepaired > 10);
}

GST_END_TEST;

static gboolean
loses_a_fortieth (const MmtpMessage * message)
{
  return message->type == MMTP_DATA && message->number % 40 == 5;
}

/* Sends a stream of 200 kbyte/s over paths that carry 150 kbyte/s together and
 * lose one packet in 40. Every tenth picture is a key frame; the others have
 * the flags `flags`. The test fails if less than half of the lost packets are
 * sent again. Frees `fixture`. */
static void
overload_lossy_paths (Fixture * fixture, guint8 flags)
{
  MmtpSenderStats stats;
  guint64 lost = 0;
  guint i;

  fixture->loses = loses_a_fortieth;
  for (i = 0; i < 1000; i++) {
    put (fixture, 2000, i % 10 == 0 ? 0 : flags);
    run (fixture, 10 * MS);
  }
  run (fixture, SECOND);
  mmtp_sender_get_stats (fixture->sender, &stats);
  for (i = 0; i < G_N_ELEMENTS (fixture->lines); i++)
    lost += fixture->lines[i].lost;
  fail_unless (stats.sent_buffers < 900);
  fail_unless (lost > 30);
  fail_unless (stats.retransmitted * 2 > lost, "%" G_GUINT64_FORMAT " of %"
      G_GUINT64_FORMAT " were sent again", stats.retransmitted, lost);
  fixture_free (fixture);
}

/* A round trip takes 200 ms, and each packet has to arrive within 500 ms. The
 * sender therefore has to send reference pictures so early that their lost
 * packets can be repaired. */
GST_START_TEST (overload_leaves_time_to_repair_references)
{
  MmtpSenderConfig config;
  Fixture *fixture;

  mmtp_sender_config_init (&config);
  config.max_delay = 500 * MS;
  fixture = fixture_new (&config);
  add_known_line (fixture, 100 * MS, 150000, get_wire_rate (150000));
  run (fixture, 3 * SECOND);
  overload_lossy_paths (fixture, MMTP_FLAG_DELTA);
}

GST_END_TEST;

/* A lost packet is sent again even if no other picture refers to its picture
 * and the paths are overloaded. The other packets of the picture have usually
 * been sent already, so the retransmission costs less than another picture. */
GST_START_TEST (overload_repairs_droppable_pictures)
{
  overload_lossy_paths (fixture_new_default_ready (),
      MMTP_FLAG_DELTA | MMTP_FLAG_DROPPABLE);
}

GST_END_TEST;

/* The stream has more bytes than the path can carry, so lost packets wait and
 * may be late if they are sent again. If several pictures need a lost packet,
 * the sender must nevertheless send it again. */
GST_START_TEST (important_packet_is_sent_on_the_chance)
{
  MmtpSenderStats stats;

  overload_fluctuating_path (7 * MS, 12, &stats);
  fail_unless (stats.discarded_buffers > 30);
  fail_unless (stats.retransmitted > 15);
  fail_unless (stats.unrepaired < 5);
}

GST_END_TEST;

/* With a repair packet, the receiver can restore a lost packet without a
 * retransmission. Here retransmissions would be late, and the path can carry
 * more data than the stream needs. The sender must therefore send repair
 * packets before it knows of any loss. */
GST_START_TEST (repairs_go_in_advance_where_a_loss_is_known_too_late)
{
  Fixture *fixture = fixture_new_fluctuating ();
  MmtpSenderStats stats;
  guint i;

  for (i = 0; i < 100; i++) {
    put (fixture, 1000, 0);
    run (fixture, 20 * MS);
  }
  fail_unless_equals_int (fixture->counts[MMTP_REPAIR][0], 0);
  fixture->loses = loses_a_tenth;
  for (i = 0; i < 200; i++) {
    put (fixture, 1000, 0);
    run (fixture, 20 * MS);
  }
  mmtp_sender_get_stats (fixture->sender, &stats);
  /* A repair packet restores a lost packet. It is sent when it covers several
   * packets or when it cannot wait any longer. Here the initial delay (D0),
   * within which each packet must arrive, leaves time for only two or three
   * further packets after the first one. Each repair packet therefore covers
   * three or four packets. */
  fail_unless (stats.repairs >= 40);
  fail_unless (stats.repairs <= 80);
  fail_unless_equals_uint64 (stats.repairs, fixture->counts[MMTP_REPAIR][0]);
  fixture_free (fixture);
}

GST_END_TEST;

/* A tenth of the packets is lost, but there is enough time to send a lost
 * packet again. The sender must therefore send no repair packets, which restore
 * lost packets without a retransmission. */
GST_START_TEST (no_repairs_go_in_advance_where_there_is_time)
{
  Fixture *fixture = fixture_new_default_ready ();
  guint i;

  fixture->loses = loses_a_tenth;
  for (i = 0; i < 200; i++) {
    put (fixture, 1000, 0);
    run (fixture, 20 * MS);
  }
  fail_unless_equals_int (fixture->counts[MMTP_REPAIR][0] +
      fixture->counts[MMTP_REPAIR][1], 0);
  fixture_free (fixture);
}

GST_END_TEST;

/* --- paths that fail and return [4.6] ------------------------------------- */

static void
put_for (Fixture * fixture, guint n)
{
  guint i;

  for (i = 0; i < n; i++) {
    fail_unless (put (fixture, 300, 0));
    run (fixture, 10 * MS);
  }
}

/* Each of the two paths is cut once. The reports on the other path show that
 * the messages on the cut path do not arrive, so the path counts as stalled.
 * After one second without messages, it must count as silent. No buffer may be
 * lost.
 */
GST_START_TEST (cut_path_loses_nothing)
{
  Fixture *fixture = fixture_new_default_ready ();
  MmtpSenderPathStats stats;
  guint i, before;

  for (i = 0; i < 2; i++) {
    put_for (fixture, 100);
    fixture->lines[i].is_cut = TRUE;
    put_for (fixture, 40);
    before = fixture->counts[MMTP_DATA][i];
    put_for (fixture, 40);
    fail_unless_equals_int (fixture->counts[MMTP_DATA][i], before);
    put_for (fixture, 120);
    fail_unless_equals_int (fixture->counts[MMTP_DATA][i], before);
    fail_unless_equals_int (get_state (fixture, i), MMTP_PATH_SILENT);
    mmtp_sender_get_path_stats (fixture->sender, i, &stats);
    fail_unless_equals_uint64 (stats.silences, 1);
    fixture->lines[i].is_cut = FALSE;
    put_for (fixture, 100);
    fail_unless_equals_int (get_state (fixture, i), MMTP_PATH_ACTIVE);
  }
  run (fixture, SECOND);
  fail_unless_equals_int (g_hash_table_size (fixture->numbers), 800);
  fail_unless (find_event (fixture, MMTP_EVENT_BROKEN) == NULL);
  fixture_free (fixture);
}

GST_END_TEST;

static void
run_until_joined (Fixture * fixture, guint path)
{
  guint i;

  for (i = 0; i < 3000 && get_use (fixture, path) == MMTP_USE_JOINING; i++)
    run (fixture, MS);
  fail_unless (get_use (fixture, path) != MMTP_USE_JOINING);
}

/* Returns how many different DATA messages have arrived. Unlike the field
 * `numbers`, the result includes those that the receiver does not answer. */
static guint
count_arrived_data (const Fixture * fixture)
{
  GHashTable *numbers = g_hash_table_new (NULL, NULL);
  guint i, n;

  for (i = 0; i < fixture->arrived->len; i++) {
    MmtpMessage *message = &g_array_index (fixture->arrived, MmtpMessage, i);

    if (message->type == MMTP_DATA)
      g_hash_table_add (numbers,
          GUINT_TO_POINTER (message->data.stream_number + 1));
  }
  n = g_hash_table_size (numbers);
  g_hash_table_unref (numbers);
  return n;
}

/* Path 0 alone can easily carry the waiting packets, and path 1 has just joined,
 * so the packets wait for path 0. Then the reports stop, and path 0 may soon
 * send no more, because its window is full. The sender must not wait any
 * longer, but use path 1. All packets arrive in time. */
GST_START_TEST (new_path_is_used_if_the_reports_stop)
{
  const guint n = 55;
  MmtpSenderConfig config;
  Fixture *fixture;
  guint i;

  mmtp_sender_config_init (&config);
  config.initial_delay = config.max_delay = 300 * MS;
  fixture = fixture_new (&config);
  add_line (fixture, 20 * MS, 500000);
  add_line (fixture, 100 * MS, 500000);
  run_until_joined (fixture, 1);
  fixture->answers = FALSE;
  for (i = 0; i < n; i++)
    fail_unless (put (fixture, 1300, 0));
  run (fixture, 300 * MS);
  fail_unless_equals_int (count_arrived_data (fixture), n);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (path_tells_why_it_is_not_used)
{
  Fixture *fixture = fixture_new_default ();

  add_line (fixture, 20 * MS, 100000);
  add_line (fixture, 50 * MS, 50000);
  expect_use (fixture, 0, MMTP_USE_JOINING, "joining");
  expect_use (fixture, 1, MMTP_USE_JOINING, "joining");
  run_until_joined (fixture, 1);
  /* The sender knows path 0 from the handshake. Path 1 has just joined, and the
   * sender has to measure its rate first. */
  expect_use (fixture, 0, MMTP_USE_CARRIES, "");
  expect_use (fixture, 1, MMTP_USE_PROBED, "probing");
  run (fixture, 3 * SECOND);
  expect_use (fixture, 0, MMTP_USE_CARRIES, "");
  put_for (fixture, 100);
  /* Path 1 carries the stream, so that path 0, which is faster, is free for
   * urgent packets. */
  expect_use (fixture, 0, MMTP_USE_SPARE, "not needed");
  expect_use (fixture, 1, MMTP_USE_CARRIES, "");
  mmtp_sender_set_blocked (fixture->sender, fixture->now, 1, TRUE);
  expect_use (fixture, 1, MMTP_USE_BLOCKED, "its socket has no room");
  mmtp_sender_set_blocked (fixture->sender, fixture->now, 1, FALSE);
  fixture->lines[1].is_cut = TRUE;
  put_for (fixture, 50);
  /* Nothing arrives on path 1 any more. The field `use` of its statistics,
   * which says whether the path is used and why not, must soon be "silent". At
   * this time the state of the path (MmtpPathState) is still "active". After a
   * longer silence, the state must be "silent", too. */
  fail_unless_equals_int (get_state (fixture, 1), MMTP_PATH_ACTIVE);
  expect_use (fixture, 1, MMTP_USE_SILENT, "silent for 0.");
  put_for (fixture, 300);
  fail_unless_equals_int (get_state (fixture, 1), MMTP_PATH_SILENT);
  expect_use (fixture, 1, MMTP_USE_SILENT, "silent for 3.");
  expect_use (fixture, 0, MMTP_USE_CARRIES, "");
  mmtp_sender_remove_path (fixture->sender, fixture->now, 1, MMTP_LEAVE_ASKED);
  run (fixture, 2 * SECOND);
  expect_use (fixture, 1, MMTP_USE_GONE, "gone");
  fixture_free (fixture);
}

GST_END_TEST;

/* The scheduler of the MMTP paper keeps the fast path free for urgent packets.
 * If the fast path carries no packets for this reason, the status that the user
 * sees for this path must be "not needed". */
GST_START_TEST (path_that_is_not_needed_says_so)
{
  MmtpSenderConfig config;
  Fixture *fixture;
  guint i;

  mmtp_sender_config_init (&config);
  fixture = fixture_new_known (&config);
  expect_use (fixture, 0, MMTP_USE_CARRIES, "");
  expect_use (fixture, 1, MMTP_USE_CARRIES, "");
  for (i = 0; i < 200; i++) {
    fail_unless (put (fixture, 300, 0));
    run (fixture, 50 * MS);
  }
  expect_use (fixture, 0, MMTP_USE_SPARE, "not needed");
  expect_use (fixture, 1, MMTP_USE_CARRIES, "");
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (shares_and_losses_are_those_of_late)
{
  MmtpSenderPathStats first, second;
  Fixture *fixture = fixture_new_default_ready ();

  mmtp_sender_get_path_stats (fixture->sender, 0, &first);
  fail_unless (first.share == 0 && first.loss == 0);
  put_for (fixture, 300);
  mmtp_sender_get_path_stats (fixture->sender, 0, &first);
  mmtp_sender_get_path_stats (fixture->sender, 1, &second);
  fail_unless (fabs (first.share + second.share - 1) < 1e-9);
  fail_unless (first.loss == 0 && second.loss == 0);
  fixture->lines[0].is_cut = TRUE;
  put_for (fixture, 1000);
  mmtp_sender_get_path_stats (fixture->sender, 0, &first);
  mmtp_sender_get_path_stats (fixture->sender, 1, &second);
  fail_unless (first.share < 0.001 && second.share > 0.999);
  fixture_free (fixture);
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
  Fixture *fixture = fixture_new_default ();

  add_line (fixture, 20 * MS, 100000);
  run (fixture, 3 * SECOND);
  fixture->loses = loses_each_fifth;
  put_for (fixture, 3000);
  mmtp_sender_get_path_stats (fixture->sender, 0, &stats);
  /* KEEPALIVEs are not lost. */
  fail_unless (stats.loss > 0.15 && stats.loss < 0.21, "%g", stats.loss);
  fixture_free (fixture);
}

GST_END_TEST;

/* Puts a buffer into the sender's queue while no path can carry it. Returns the
 * time in ns after which the sender drops the buffer. */
static guint64
get_waiting_time (guint n_paths, guint64 max_lateness)
{
  MmtpSenderConfig config;
  MmtpSenderStats stats;
  Fixture *fixture;
  guint64 begin;
  guint i;

  mmtp_sender_config_init (&config);
  config.max_lateness = max_lateness;
  fixture = fixture_new (&config);
  for (i = 0; i < n_paths; i++)
    add_line (fixture, 20 * MS, 100000);
  run (fixture, 3 * SECOND);
  for (i = 0; i < n_paths; i++)
    mmtp_sender_set_blocked (fixture->sender, fixture->now, i, TRUE);
  begin = fixture->now;
  put (fixture, 1000, 0);
  do {
    run (fixture, MS);
    mmtp_sender_get_stats (fixture->sender, &stats);
  } while (stats.discarded_buffers == 0);
  begin = fixture->now - begin;
  fixture_free (fixture);
  return begin;
}

/* A packet is late after its deadline. If the sender has a single path, it may
 * keep a late packet until the maximum lateness has passed since the deadline.
 * If it has several paths, it must drop a packet at the deadline. */
GST_START_TEST (lateness_counts_on_a_single_path)
{
  fail_unless_equals_uint64 (get_waiting_time (1, 20 * MS),
      get_waiting_time (1, 0) + 20 * MS);
  fail_unless_equals_uint64 (get_waiting_time (2, 20 * MS),
      get_waiting_time (2, 0));
}

GST_END_TEST;

/* The path delivers nothing for 600 ms. The path must stay active during this
 * gap. The packets in flight arrive after the gap, and none of them may be sent
 * twice. */
GST_START_TEST (gap_of_the_only_path_is_waited_for)
{
  Fixture *fixture = fixture_new_default ();
  MmtpSenderPathStats stats;

  add_line (fixture, 20 * MS, 100000);
  run (fixture, 3 * SECOND);
  put_for (fixture, 200);
  fixture->lines[0].busy = fixture->now + 600 * MS;
  put_for (fixture, 200);
  fail_unless_equals_int (get_state (fixture, 0), MMTP_PATH_ACTIVE);
  run (fixture, SECOND);
  mmtp_sender_get_path_stats (fixture->sender, 0, &stats);
  fail_unless_equals_uint64 (stats.silences, 0);
  fail_unless_equals_uint64 (stats.requeued, 0);
  fail_unless_equals_uint64 (stats.retransmitted, 0);
  fail_unless_equals_int (g_hash_table_size (fixture->numbers), 400);
  fixture_free (fixture);
}

GST_END_TEST;

/* The return path stalls for 900 ms. The reports that the receiver sends during
 * the stall arrive after it. The forward path is not congested. The path must
 * therefore stay active, and its congestion window must stay at least half as
 * large as before the stall. */
GST_START_TEST (stalled_return_path_stops_nothing)
{
  Fixture *fixture = fixture_new_default ();
  MmtpSenderPathStats before, after;
  guint i;

  add_line (fixture, 20 * MS, 100000);
  run (fixture, 3 * SECOND);
  put_for (fixture, 300);
  mmtp_sender_get_path_stats (fixture->sender, 0, &before);
  fixture->silent_until = fixture->now + 900 * MS;
  for (i = 0; i < 200; i++) {
    fail_unless (put (fixture, 100, 0));
    run (fixture, 10 * MS);
  }
  run (fixture, SECOND);
  mmtp_sender_get_path_stats (fixture->sender, 0, &after);
  fail_unless_equals_int (get_state (fixture, 0), MMTP_PATH_ACTIVE);
  fail_unless_equals_uint64 (after.silences, 0);
  fail_unless_equals_uint64 (after.requeued, 0);
  fail_unless (after.window >= before.window / 2);
  fail_unless_equals_int (g_hash_table_size (fixture->numbers), 500);
  fixture_free (fixture);
}

GST_END_TEST;

/* One of two paths stalls. Packets in flight on this path would be late, so
 * they must be sent again on the other path. This must happen even before the
 * state of the stalled path is "silent". */
GST_START_TEST (packets_are_rescued_from_a_stalled_path)
{
  MmtpSenderConfig config;
  MmtpSenderPathStats stats;
  Fixture *fixture;

  mmtp_sender_config_init (&config);
  config.max_delay = 500 * MS;
  fixture = fixture_new_ready (&config);
  put_for (fixture, 100);
  fixture->lines[1].is_cut = TRUE;
  put_for (fixture, 60);
  fail_unless_equals_int (get_state (fixture, 1), MMTP_PATH_ACTIVE);
  mmtp_sender_get_path_stats (fixture->sender, 1, &stats);
  fail_unless (stats.requeued > 0);
  run (fixture, 300 * MS);
  fail_unless_equals_int (g_hash_table_size (fixture->numbers), 160);
  fixture_free (fixture);
}

GST_END_TEST;

/* The second path delivers only JOIN messages. The receiver answers a JOIN with
 * a CHALLENGE, which the sender receives, but no report ever contains the path.
 * The path must not stay active, and the sender must stop sending data on it.
 */
GST_START_TEST (path_that_is_never_reported_falls_silent)
{
  Fixture *fixture = fixture_new_default ();
  guint before;

  add_line (fixture, 20 * MS, 100000);
  add_line (fixture, 50 * MS, 50000);
  fixture->lines[1].is_black_hole = TRUE;
  run (fixture, 500 * MS);
  put_for (fixture, 200);
  fail_unless (get_state (fixture, 1) != MMTP_PATH_ACTIVE);
  before = fixture->counts[MMTP_DATA][1];
  put_for (fixture, 500);
  fail_unless_equals_int (fixture->counts[MMTP_DATA][1], before);
  fail_unless (get_state (fixture, 1) != MMTP_PATH_ACTIVE);
  fixture_free (fixture);
}

GST_END_TEST;

/* Runs until the sender has sent a RESPONSE on the second path, but for at most
 * 5 s. */
static void
run_until_response (Fixture * fixture)
{
  const guint64 end = fixture->now + 5 * SECOND;

  while (fixture->counts[MMTP_RESPONSE][1] == 0 && fixture->now < end)
    run (fixture, 10 * MS);
  fail_if (fixture->counts[MMTP_RESPONSE][1] == 0);
}

static gboolean
loses_first_response (const MmtpMessage * message)
{
  static guint n;

  return message->type == MMTP_RESPONSE && n++ == 0;
}

/* A path joins the session in three steps: the sender sends a JOIN, the
 * receiver answers with a CHALLENGE, and the sender sends a RESPONSE. The
 * RESPONSE of the second path is lost, so the receiver does not accept data on
 * this path yet. The round trip is 100 ms. If no report contains the path
 * within 150 ms after the RESPONSE, the sender must send a second RESPONSE.
 * When a report contains the path, the sender must not send any further
 * RESPONSE. */
GST_START_TEST (lost_response_is_made_up_for_soon)
{
  Fixture *fixture = fixture_new_default ();

  fixture->loses = loses_first_response;
  add_line (fixture, 20 * MS, 100000);
  add_line (fixture, 50 * MS, 50000);
  run_until_response (fixture);
  run (fixture, 140 * MS);
  fail_unless_equals_int (fixture->counts[MMTP_RESPONSE][1], 1);
  fail_if (fixture->lines[1].joined);
  run (fixture, 70 * MS);
  fail_unless_equals_int (fixture->counts[MMTP_RESPONSE][1], 2);
  fail_unless (fixture->lines[1].joined);
  fail_unless_equals_int (fixture->counts[MMTP_JOIN][1], 1);
  run (fixture, SECOND);
  fail_unless_equals_int (fixture->counts[MMTP_RESPONSE][1], 2);
  fixture_free (fixture);
}

GST_END_TEST;

static gboolean
loses_first_join (const MmtpMessage * message)
{
  static guint n;

  return message->type == MMTP_JOIN && n++ == 0;
}

/* The first JOIN of the second path is lost, and the sender repeats it after
 * 200 ms. The CHALLENGE answers the second JOIN. The real round trip of the
 * path is 100 ms. The measured round trip must begin with the second JOIN, so
 * it must not include the 200 ms. */
GST_START_TEST (round_trip_begins_with_the_answered_join)
{
  Fixture *fixture = fixture_new_default ();
  MmtpSenderPathStats stats;

  fixture->loses = loses_first_join;
  add_line (fixture, 20 * MS, 100000);
  add_line (fixture, 50 * MS, 50000);
  run_until_response (fixture);
  fail_unless_equals_int (fixture->counts[MMTP_JOIN][1], 2);
  mmtp_sender_get_path_stats (fixture->sender, 1, &stats);
  fail_unless (stats.round_trip >= 100 * MS && stats.round_trip < 120 * MS,
      "%.3f ms", stats.round_trip / 1e6);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (removed_path_loses_nothing)
{
  Fixture *fixture = fixture_new_default_ready ();
  MmtpSenderPathStats stats;
  MmtpPathConfig config = { "line1", MAX_SIZE, OVERHEAD, 0, 0 };

  put_for (fixture, 100);
  mmtp_sender_remove_path (fixture->sender, fixture->now, 1,
      MMTP_LEAVE_INTERFACE);
  fixture->lines[1].is_cut = TRUE;
  fixture->lines[1].joined = FALSE;
  put_for (fixture, 100);
  fail_unless_equals_int (fixture->counts[MMTP_LEAVE][0], 1);
  fail_unless_equals_int (find_arrived (fixture, MMTP_LEAVE, 0)->leave.reason,
      MMTP_LEAVE_INTERFACE);
  fail_unless_equals_int (g_hash_table_size (fixture->numbers), 200 -
      (20 + 40) / 10 + (20 + 40) / 10 - 2);
  mmtp_sender_get_path_stats (fixture->sender, 1, &stats);
  fail_unless_equals_int (stats.state, MMTP_PATH_GONE);
  fail_unless (stats.requeued > 0);
  fixture->lines[1].is_cut = FALSE;
  fail_unless_equals_int (mmtp_sender_add_path (fixture->sender, fixture->now,
          &config), 1);
  put_for (fixture, 300);
  fail_unless_equals_int (get_state (fixture, 1), MMTP_PATH_ACTIVE);
  run (fixture, SECOND);
  fail_unless_equals_int (g_hash_table_size (fixture->numbers), 500);
  fixture_free (fixture);
}

GST_END_TEST;

/* The receiver removes a path with a LEAVE message. This message contains the
 * number of the last packet that has arrived on the path. When the path joins
 * again, the packets up to this number must not count as in flight. */
GST_START_TEST (path_that_the_receiver_leaves_joins_anew)
{
  Fixture *fixture = fixture_new_default_ready ();
  MmtpSenderPathStats stats;
  MmtpMessage message = { MMTP_LEAVE };

  put_for (fixture, 100);
  message.leave.channel = 1;
  message.leave.reason = MMTP_LEAVE_SILENT;
  message.leave.highest = fixture->lines[1].highest;
  mmtp_sender_get_path_stats (fixture->sender, 1, &stats);
  fail_unless (stats.in_flight > 1000);
  fixture->lines[1].joined = FALSE;
  say (fixture, 0, &message);
  put_for (fixture, 100);
  fail_unless (find_arrived (fixture, MMTP_LEAVE, 0)->leave.is_ack);
  run (fixture, 3 * SECOND);
  fail_unless_equals_int (get_state (fixture, 1), MMTP_PATH_ACTIVE);
  mmtp_sender_get_path_stats (fixture->sender, 1, &stats);
  fail_unless (stats.in_flight < 500, "%" G_GUINT64_FORMAT, stats.in_flight);
  fail_unless_equals_int (g_hash_table_size (fixture->numbers), 200);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (only_path_is_told_to_be_broken_once)
{
  Fixture *fixture = fixture_new_default ();

  add_line (fixture, 20 * MS, 100000);
  run (fixture, 3 * SECOND);
  /* The path is cut, so the sender gets no more reports. It cannot know whether
   * only the return path has failed. Therefore it must wait 3 s before it
   * reports the path as broken. */
  fixture->lines[0].is_cut = TRUE;
  run (fixture, 2 * SECOND);
  fail_unless_equals_int (count_events (fixture, MMTP_EVENT_BROKEN), 0);
  run (fixture, 3 * SECOND);
  fail_unless_equals_int (count_events (fixture, MMTP_EVENT_BROKEN), 1);
  fixture->lines[0].is_cut = FALSE;
  run (fixture, 2 * SECOND);
  fail_unless_equals_int (get_state (fixture, 0), MMTP_PATH_ACTIVE);
  fixture->lines[0].is_cut = TRUE;
  run (fixture, 11 * SECOND);
  fail_unless_equals_int (count_events (fixture, MMTP_EVENT_BROKEN), 2);
  fail_unless_equals_int (count_events (fixture, MMTP_EVENT_LOST), 1);
  fixture_free (fixture);
}

GST_END_TEST;

/* --- other messages ------------------------------------------------------- */

GST_START_TEST (keepalives_cost_little)
{
  Fixture *fixture = fixture_new_default ();
  guint n;

  add_line (fixture, 20 * MS, 100000);
  add_known_line (fixture, 20 * MS, 4000, 32000);
  run (fixture, 6 * SECOND);
  memset (fixture->counts, 0, sizeof (fixture->counts));
  run (fixture, 10 * SECOND);
  n = fixture->counts[MMTP_KEEPALIVE][0];
  fail_unless (n >= 98 && n <= 101);
  /* The KEEPALIVE messages may use 1 % of the rate of a path. The second path
   * carries 8000 bytes in two seconds. A KEEPALIVE has 83 bytes, about 1 % of
   * these 8000 bytes. The sender must therefore send about one KEEPALIVE every
   * two seconds. */

  n = fixture->counts[MMTP_KEEPALIVE][1];
  fail_unless (n >= 4 && n <= 5, "%u", n);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (caps_come_in_pieces_until_they_are_there)
{
  Fixture *fixture = fixture_new_default_ready ();
  MmtpMessage message = { MMTP_CAPS_ACK };
  gchar *caps = g_strnfill (3000, 'x');
  gchar *too_long = g_strnfill (MMTP_MAX_CAPS + 1, 'x');
  guint i, length = 0;

  fail_unless (mmtp_sender_set_caps (fixture->sender, fixture->now, caps));
  run (fixture, 150 * MS);
  for (i = 0; i < 3; i++) {
    MmtpCaps *piece = &find_arrived (fixture, MMTP_CAPS, i)->caps;

    fail_unless_equals_int (piece->version, 1);
    fail_unless_equals_int (piece->length, 3000);
    fail_unless_equals_int (piece->offset, length);
    length += piece->piece_size;
  }
  fail_unless_equals_int (length, 3000);
  fail_unless (find_arrived (fixture, MMTP_CAPS, 3) == NULL);
  run (fixture, 850 * MS);
  fail_unless (find_arrived (fixture, MMTP_CAPS, 15) == NULL);
  message.caps.version = 1;
  say (fixture, 0, &message);
  run (fixture, 300 * MS);
  g_array_set_size (fixture->arrived, 0);
  fail_unless (put (fixture, 10, 0));
  run (fixture, SECOND);
  fail_unless (find_arrived (fixture, MMTP_CAPS, 0) == NULL);
  fail_unless_equals_int (find_arrived (fixture, MMTP_DATA,
          0)->data.caps_version, 1);
  fail_if (mmtp_sender_set_caps (fixture->sender, fixture->now, too_long));
  g_free (too_long);
  g_free (caps);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (end_goes_on_all_paths_behind_the_last)
{
  Fixture *fixture = fixture_new_default_ready ();
  MmtpSenderStats stats;

  fail_unless (put (fixture, 5000, 0));
  mmtp_sender_end (fixture->sender, fixture->now);
  while (count_events (fixture, MMTP_EVENT_ENDED) == 0)
    run (fixture, MS);
  /* The receiver confirms the end of the session with three END-ACKs in a row.
   * The first END-ACK ends the session. The other two arrive after the end, but
   * must not count as refused messages. Only a REPORT that arrives after the
   * first END-ACK may count as refused. */
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless (stats.refused[MMTP_REFUSED_SESSION] <= 1);
  run (fixture, SECOND);
  fail_unless_equals_int (count_events (fixture, MMTP_EVENT_ENDED), 1);
  fail_unless_equals_int (find_arrived (fixture, MMTP_END,
          0)->end.stream_number, 4);
  fail_unless (fixture->counts[MMTP_END][0] >= 1);
  fail_unless (fixture->counts[MMTP_END][1] >= 1);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (flush_forgets_and_goes_on)
{
  Fixture *fixture = fixture_new_default_ready ();
  MmtpSenderStats stats;

  while (put (fixture, 1376, 0));
  mmtp_sender_flush (fixture->sender, fixture->now);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless_equals_uint64 (stats.queued_bytes, 0);
  fail_unless (put (fixture, 1376, 0));
  run (fixture, SECOND);
  fail_unless_equals_int (g_hash_table_size (fixture->numbers), 1);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (queries_are_answered_but_not_too_often)
{
  Fixture *fixture = fixture_new_default_ready ();
  MmtpMessage message = { MMTP_QUERY };
  guint i, n;

  run (fixture, 200 * MS);
  message.query.channel = 0;
  n = fixture->counts[MMTP_KEEPALIVE][0];
  for (i = 0; i < 30; i++) {
    say (fixture, 0, &message);
    run (fixture, MS);
  }
  run (fixture, 30 * MS);
  n = fixture->counts[MMTP_KEEPALIVE][0] - n;
  fail_unless (n >= 3 && n <= 5);
  fixture_free (fixture);
}

GST_END_TEST;

/* --- refused messages ----------------------------------------------------- */

static void
input (Fixture * fixture, guint path, const guint8 * bytes, gsize size)
{
  mmtp_sender_input (fixture->sender, fixture->now, path, bytes, size);
}

GST_START_TEST (forged_and_replayed_messages_are_refused)
{
  Fixture *fixture = fixture_new_default_ready ();
  MmtpMessage message = { MMTP_QUERY };
  MmtpSenderPathStats before, after;
  MmtpSenderStats stats;
  guint8 bytes[ROOM];
  gsize size;

  run (fixture, 200 * MS);
  mmtp_sender_get_path_stats (fixture->sender, 0, &before);
  message.query.channel = 0;
  size = seal (fixture, &message, 0, bytes);
  bytes[size - 1] ^= 1;
  input (fixture, 0, bytes, size);
  bytes[size - 1] ^= 1;
  input (fixture, 1, bytes, size);
  input (fixture, 0, bytes, 10);
  bytes[0] ^= 0xe0;
  input (fixture, 0, bytes, size);
  mmtp_sender_get_path_stats (fixture->sender, 0, &after);
  fail_unless_equals_uint64 (before.rate, after.rate);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless_equals_uint64 (stats.refused[MMTP_REFUSED_TRAILER], 1);
  fail_unless_equals_uint64 (stats.refused[MMTP_REFUSED_CHANNEL], 1);
  fail_unless_equals_uint64 (stats.refused[MMTP_REFUSED_SHORT], 1);
  fail_unless_equals_uint64 (stats.refused[MMTP_REFUSED_VERSION], 1);
  message.type = MMTP_QUERY;
  message.query.channel = 0;
  size = seal (fixture, &message, 0, bytes);
  input (fixture, 0, bytes, size);
  input (fixture, 0, bytes, size);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless_equals_uint64 (stats.refused[MMTP_REFUSED_REPLAY], 1);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (report_of_more_than_was_sent_is_malformed)
{
  Fixture *fixture = fixture_new_default_ready ();
  MmtpSenderStats stats;

  fixture->lines[0].received += 1000;
  run (fixture, 500 * MS);
  mmtp_sender_get_stats (fixture->sender, &stats);
  fail_unless (stats.refused[MMTP_REFUSED_MALFORMED] >= 3);
  fixture_free (fixture);
}

GST_END_TEST;

static Suite *
mmtpsender_suite (void)
{
  Suite *s = suite_create ("mmtpsender");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 60);
  tcase_add_test (tc, handshake_is_repeated_and_tries_the_next_path);
  tcase_add_test (tc, handshake_opens_where_the_cookie_came);
  tcase_add_test (tc, open_says_what_is_wanted);
  tcase_add_test (tc, refused_three_times_it_is_over);
  tcase_add_test (tc, a_question_is_refused_once);
  tcase_add_test (tc, busy_refusal_is_retried_before_it_is_reported);
  tcase_add_test (tc, an_unverified_refusal_ends_nothing);
  tcase_add_test (tc, a_sealed_refusal_counts_once_for_its_open);
  tcase_add_test (tc, key_is_needed_on_both_sides);
  tcase_add_test (tc, stream_begins_with_the_first_round_trip);
  tcase_add_test (tc, rates_and_delays_are_found_under_load);
  tcase_add_test (tc, estimate_of_a_slow_source_is_application_limited);
  tcase_add_test (tc, too_slow_is_told_each_second);
  tcase_add_test (tc, too_slow_is_told_beforehand_where_rates_are_known);
  tcase_add_test (tc, too_slow_path_is_for_control);
  tcase_add_test (tc, initial_delay_is_what_the_channels_need);
  tcase_add_test (tc, first_packet_takes_the_slowest_channel);
  tcase_add_test (tc, buffer_becomes_packets);
  tcase_add_test (tc, prelude_goes_with_the_first);
  tcase_add_test (tc, sends_what_fits_and_all_of_that_in_time);
  tcase_add_test (tc, burst_has_at_most_a_millisecond_and_a_packet);
  tcase_add_test (tc, droppable_buffers_go_first_and_keys_last);
  tcase_add_test (tc, dependent_of_a_dropped_frame_is_not_sent);
  tcase_add_test (tc, independent_frame_after_a_drop_is_sent);
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
  tcase_add_test (tc, important_packet_is_sent_on_the_chance);
  tcase_add_test (tc, overload_leaves_time_to_repair_references);
  tcase_add_test (tc, overload_repairs_droppable_pictures);
  tcase_add_test (tc, repairs_go_in_advance_where_a_loss_is_known_too_late);
  tcase_add_test (tc, no_repairs_go_in_advance_where_there_is_time);
  tcase_add_test (tc, cut_path_loses_nothing);
  tcase_add_test (tc, new_path_is_used_if_the_reports_stop);
  tcase_add_test (tc, path_tells_why_it_is_not_used);
  tcase_add_test (tc, path_that_is_not_needed_says_so);
  tcase_add_test (tc, shares_and_losses_are_those_of_late);
  tcase_add_test (tc, loss_is_what_the_receiver_misses);
  tcase_add_test (tc, lateness_counts_on_a_single_path);
  tcase_add_test (tc, gap_of_the_only_path_is_waited_for);
  tcase_add_test (tc, stalled_return_path_stops_nothing);
  tcase_add_test (tc, packets_are_rescued_from_a_stalled_path);
  tcase_add_test (tc, path_that_is_never_reported_falls_silent);
  tcase_add_test (tc, removed_path_loses_nothing);
  tcase_add_test (tc, path_that_the_receiver_leaves_joins_anew);
  tcase_add_test (tc, lost_response_is_made_up_for_soon);
  tcase_add_test (tc, round_trip_begins_with_the_answered_join);
  tcase_add_test (tc, only_path_is_told_to_be_broken_once);
  tcase_add_test (tc, keepalives_cost_little);
  tcase_add_test (tc, caps_come_in_pieces_until_they_are_there);
  tcase_add_test (tc, end_goes_on_all_paths_behind_the_last);
  tcase_add_test (tc, flush_forgets_and_goes_on);
  tcase_add_test (tc, queries_are_answered_but_not_too_often);
  tcase_add_test (tc, forged_and_replayed_messages_are_refused);
  tcase_add_test (tc, report_of_more_than_was_sent_is_malformed);
  return s;
}

GST_CHECK_MAIN (mmtpsender);
