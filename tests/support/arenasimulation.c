/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The main loop of the arena, a benchmark of MMTP. It advances virtual time to
 * the next event, handles the event, and then collects all messages that the
 * senders and receivers want to send. arenasimulation.h describes a run. */

#include "arenasimulation.h"
#include "mmtpentropy.h"

#include <string.h>

#include "linkload.h"
#include "mmtpratecontrol.h"
#include "mmtpreceiver.h"
#include "mmtpsender.h"

#define MS LINK_MS
#define SECOND LINK_SECOND

/* Time in ns by which the clock of an MMTP sender is ahead of the clock of its
 * receiver. The clocks differ, because MMTP must not assume that they agree. */
#define CLOCK_OFFSET (500 * SECOND)
/* Maximum size of a UDP payload on Ethernet, in bytes. */
#define MAX_PAYLOAD 1472
/* A stream usually begins when its session is ready, that is, after the
 * handshake. It never begins before EARLIEST_ORIGIN, so that all transports
 * stream over the same part of a link. There is no such minimum if
 * `begins_at_once` of the scenario is TRUE. At LATEST_ORIGIN, the stream begins
 * even if the session is not ready. Both times are counted from the beginning
 * of the session. */
#define EARLIEST_ORIGIN (1 * SECOND)
#define LATEST_ORIGIN (10 * SECOND)
/* Time for which the simulation continues after the end of the stream, so that
 * late packets can still arrive. A packet that arrives after this time is too
 * late in any case. */
#define TIMEOUT (1500 * MS)
#define SAMPLE_PERIOD (50 * MS)
/* Maximum number of times that endpoints are called while virtual time stands
 * still. If there are more calls, an endpoint is considered to be in an endless
 * loop. */
#define MAX_CALLS_AT_ONCE 100000
/* Number of segments of the TCP transfer. It is larger than any run needs, so
 * that TCP always has data. A segment has 1448 bytes, as on Ethernet with TCP
 * timestamps. */
#define TCP_SEGMENTS 400000
/* Layout of a DATA message, the MMTP message that carries a packet of the
 * stream (docs/wire-mmtp.md):
 * - DATA_HEADER is the number of bytes before the payload, if the message does
 *   not contain the optional header that is called prelude.
 * - DATA_TYPE is the mask that selects the message type from the first byte.
 * - DATA_FLAGS is the offset of the byte that contains the flags. */
#define DATA_HEADER 16
#define DATA_TYPE 0x1f
#define DATA_FLAGS 14
#define DATA_FLAG_FIRST 0x80
#define DATA_FLAG_PRELUDE 0x01

typedef struct _Simulation Simulation;

typedef struct
{
  Simulation *simulation;
  const ArenaSessionConfig *config;
  ArenaSessionRecord *record;
  /* The sender and the receiver of MMTP. If the session uses RTP over UDP, both
   * are NULL. If it uses MMTP, both are NULL until the session has begun. */
  MmtpSender *sender;
  MmtpReceiver *receiver;
  gboolean has_begun;
  guint n_put;                  /* frames */
  guint16 *missing;             /* packets of each frame */
  GHashTable *sent;             /* MMTP packets that were sent. */
  guint flow[ARENA_MAX_PATHS][ARENA_N_DIRECTIONS];
  guint64 next_sample;
} Session;

typedef struct
{
  Simulation *simulation;
  const ArenaTcpConfig *config;
  Tcp tcp;
  gboolean has_begun;
  guint flow[ARENA_N_DIRECTIONS];
  guint64 *measured_bytes;
} TcpFlow;

struct _Simulation
{
  const ArenaSimulationConfig *config;
  ArenaRecord *record;
  guint64 now;
  ArenaLinks links[ARENA_MAX_PATHS];
  Session sessions[ARENA_MAX_SESSIONS];
  TcpFlow tcp[ARENA_MAX_TCP];
  guint8 scratch[MMTP_MAX_MESSAGE];
};

/* A packet that a link carries. If it is an MMTP message, `bytes` contains the
 * message. If it is a TCP segment or a plain UDP datagram, `bytes` is empty,
 * because only its size matters. */
typedef struct
{
  Session *session;             /* NULL: TCP */
  TcpFlow *tcp;
  ArenaDirection direction;
  guint path;
  /* Number by which the simulation recognizes the packet. For TCP, it is the
   * sequence number of the segment. For plain UDP, it is the index of the frame
   * to which the datagram belongs. */
  guint number;
  gsize size;
  guint8 bytes[];
} Message;

/* --- life cycle ----------------------------------------------------------- */

guint64
arena_simulation_get_length (const ArenaSimulationConfig * config)
{
  guint64 begin = 0;
  guint i;

  for (i = 0; i < config->n_sessions; i++)
    begin = MAX (begin, config->sessions[i].begin);
  return begin + LATEST_ORIGIN + config->duration + TIMEOUT;
}

static void
open_paths (Simulation * simulation)
{
  const ArenaSimulationConfig *config = simulation->config;
  guint i;

  for (i = 0; i < config->n_paths; i++)
    arena_links_open (simulation->links, config->paths, i, config->number,
        config->n, arena_simulation_get_length (config));
}

static void
init_session (Simulation * simulation, guint number)
{
  Session *session = &simulation->sessions[number];
  guint path, direction, i;
  guint n_frames;

  session->simulation = simulation;
  session->config = &simulation->config->sessions[number];
  session->record = &simulation->record->sessions[number];
  n_frames = session->config->frames->len;
  session->record->ready_at = session->record->origin = ARENA_NEVER;
  session->record->arrived = g_new (guint64, n_frames);
  session->record->samples = g_array_new (FALSE, FALSE, sizeof (ArenaSample));
  session->missing = g_new (guint16, n_frames);
  session->record->unsent = g_new0 (guint16, n_frames);
  session->record->sent_bytes = g_new0 (guint64, n_frames);
  session->sent = g_hash_table_new (NULL, NULL);
  for (i = 0; i < n_frames; i++) {
    session->record->arrived[i] = ARENA_NEVER;
    session->missing[i] =
        arena_frame_count_packets (&g_array_index (session->config->frames,
            ArenaFrame, i));
    if (session->config->transport == ARENA_MMTP)
      session->record->unsent[i] = session->missing[i];
  }
  for (path = 0; path < simulation->config->n_paths; path++) {
    session->record->delays[path] =
        g_array_new (FALSE, FALSE, sizeof (guint32));
    for (direction = 0; direction < ARENA_N_DIRECTIONS; direction++)
      session->flow[path][direction] =
          link_add_flow (simulation->links[path].links[direction],
          simulation->links[path].station[direction]);
  }
}

static void
send_tcp (Tcp * tcp, gboolean is_ack, guint32 size, guint number)
{
  TcpFlow *flow = tcp->network;
  Simulation *simulation = flow->simulation;
  Message *message = g_new0 (Message, 1);
  Link *link;

  message->tcp = flow;
  message->direction = is_ack ? ARENA_BACK : ARENA_FORWARD;
  message->number = number;
  link = simulation->links[flow->config->path].links[message->direction];
  link_input (link, simulation->now, flow->flow[message->direction], size,
      message);
}

static void
init_tcp (Simulation * simulation, guint number)
{
  TcpFlow *flow = &simulation->tcp[number];
  TcpConfig config = { TCP_SEGMENTS, 1448, 52, 8000, 2 };
  ArenaLinks *links;
  guint direction;

  flow->simulation = simulation;
  flow->config = &simulation->config->tcp[number];
  flow->measured_bytes = &simulation->record->tcp_measured_bytes[number];
  config.algorithm = flow->config->algorithm;
  tcp_init (&flow->tcp, &config, send_tcp, flow);
  links = &simulation->links[flow->config->path];
  for (direction = 0; direction < ARENA_N_DIRECTIONS; direction++)
    flow->flow[direction] = link_add_flow (links->links[direction],
        links->station[direction]);
}

static Simulation *
simulation_new (const ArenaSimulationConfig * config, ArenaRecord * record)
{
  Simulation *simulation = g_new0 (Simulation, 1);
  guint i;

  simulation->config = config;
  simulation->record = record;
  open_paths (simulation);
  for (i = 0; i < config->n_sessions; i++)
    init_session (simulation, i);
  for (i = 0; i < config->n_tcp; i++)
    init_tcp (simulation, i);
  return simulation;
}

static void
simulation_free (Simulation * simulation)
{
  guint i;

  for (i = 0; i < simulation->config->n_sessions; i++) {
    g_clear_pointer (&simulation->sessions[i].sender, mmtp_sender_free);
    g_clear_pointer (&simulation->sessions[i].receiver, mmtp_receiver_free);
    g_free (simulation->sessions[i].missing);
    g_hash_table_unref (simulation->sessions[i].sent);
  }
  for (i = 0; i < simulation->config->n_tcp; i++)
    tcp_clear (&simulation->tcp[i].tcp);
  for (i = 0; i < simulation->config->n_paths; i++)
    arena_links_close (&simulation->links[i], g_free);
  g_free (simulation);
}

void
arena_record_clear (ArenaRecord * record)
{
  guint i, path;

  for (i = 0; i < ARENA_MAX_SESSIONS; i++) {
    ArenaSessionRecord *session = &record->sessions[i];

    g_free (session->arrived);
    g_free (session->unsent);
    g_free (session->sent_bytes);
    for (path = 0; path < ARENA_MAX_PATHS; path++)
      g_clear_pointer (&session->delays[path], g_array_unref);
    g_clear_pointer (&session->samples, g_array_unref);
  }
  memset (record, 0, sizeof *record);
}

/* --- start of sessions ---------------------------------------------------- */

static void
add_paths (Session * session)
{
  static const gchar *const names[ARENA_MAX_PATHS] = { "a", "b", "c",
    "d"
  };
  guint i;

  for (i = 0; i < session->simulation->config->n_paths; i++) {
    MmtpPathConfig path = { names[i], MAX_PAYLOAD, ARENA_IP_UDP };

    path.rate = session->simulation->config->paths[i].known_rate;
    mmtp_sender_add_path (session->sender,
        session->simulation->now + CLOCK_OFFSET, &path);
  }
}

/* of all senders */
static const gchar *rate_control;

gboolean
arena_simulation_set_rate_control (const gchar * name)
{
  const MmtpRateControlClass *klass = mmtp_rate_control_find (name);

  if (!klass)
    return FALSE;
  rate_control = klass->name;
  return TRUE;
}

static void
begin_mmtp (Session * session)
{
  guint64 seed = 2 * (session->simulation->config->number * ARENA_MAX_SESSIONS +
      (session - session->simulation->sessions));
  MmtpReceiverConfig receiver;
  MmtpSenderConfig sender;
  guint8 entropy[MMTP_ENTROPY_SIZE];

  mmtp_sender_config_init (&sender);
  sender.max_delay = sender.initial_delay = session->config->latency;
  sender.max_lateness = MMTP_SENDER_LATENESS;
  sender.frame_period = session->config->frame_period / 1000;
  sender.rate_control = rate_control;
  mmtp_entropy_make (seed, entropy);
  session->sender = mmtp_sender_new (&sender, entropy);
  mmtp_receiver_config_init (&receiver);
  receiver.max_lateness = MMTP_RECEIVER_LATENESS;
  mmtp_entropy_make (seed + 1, entropy);
  session->receiver = mmtp_receiver_new (&receiver, entropy);
  session->next_sample = session->simulation->now;
  add_paths (session);
}

static guint64
get_earliest_origin (const Session * session)
{
  return session->config->begin +
      (session->config->begins_at_once ? 0 : EARLIEST_ORIGIN);
}

static void
begin_session (Session * session)
{
  session->has_begun = TRUE;
  if (session->config->transport == ARENA_MMTP)
    begin_mmtp (session);
  else
    session->record->origin = get_earliest_origin (session);
}

/* --- sending -------------------------------------------------------------- */

static void
carry (Session * session, guint path, ArenaDirection direction, guint number,
    const guint8 * bytes, gsize size)
{
  gsize n_bytes = bytes ? size : 0;
  Message *message = g_malloc (sizeof *message + n_bytes);
  guint32 wire_size = size + ARENA_IP_UDP;

  memset (message, 0, sizeof *message);
  message->session = session;
  message->direction = direction;
  message->path = path;
  message->number = number;
  message->size = size;
  if (bytes)
    memcpy (message->bytes, bytes, size);
  if (direction == ARENA_FORWARD)
    session->record->forward_bytes += wire_size;
  else
    session->record->back_bytes += wire_size;
  link_input (session->simulation->links[path].links[direction],
      session->simulation->now, session->flow[path][direction], wire_size,
      message);
}

static const ArenaFrame *
get_frame (const Session * session, guint number)
{
  return &g_array_index (session->config->frames, ArenaFrame, number);
}

static guint64
get_next_put (const Session * session)
{
  if (session->record->origin == ARENA_NEVER
      || session->n_put == session->config->frames->len)
    return ARENA_NEVER;
  return session->record->origin + get_frame (session, session->n_put)->due;
}

/* Returns whether the frame is a leading picture: it follows an I-frame in the
 * stream, but also refers to a frame before this I-frame. */
static gboolean
is_leading (const Session * session, const ArenaFrame * frame)
{
  return frame->type == ARENA_TYPE_B && frame->n_references == 2 &&
      get_frame (session, frame->references[1])->type == ARENA_TYPE_I;
}

/* Passes a packet to the MMTP sender. The packet gets the flags that the
 * element mmtpsink sets if its input comes from the element rfc2250pay. The
 * first bytes of the packet contain two numbers, that of its frame and that of
 * the packet in this frame. By these numbers, the simulation recognizes the
 * packet later. */
static void
put_packet (Session * session, guint number, guint packet, gboolean is_last)
{
  static const guint8 flags[] = { 0, MMTP_FLAG_DELTA,
    MMTP_FLAG_DELTA | MMTP_FLAG_DROPPABLE
  };
  const ArenaFrame *frame = get_frame (session, number);
  guint32 size = arena_frame_get_packet_size (frame, packet);
  guint8 *bytes = g_malloc0 (size);
  MmtpBuffer buffer = { NULL };

  memcpy (bytes, &number, sizeof number);
  memcpy (bytes + sizeof number, &packet, sizeof packet);
  buffer.data = g_bytes_new_take (bytes, size);
  buffer.due = session->record->origin + frame->due + CLOCK_OFFSET;
  buffer.flags = flags[frame->type] | (is_last ? MMTP_FLAG_MARKER : 0);
  buffer.picture.is_leading = is_leading (session, frame);
  mmtp_sender_put (session->sender, session->simulation->now + CLOCK_OFFSET,
      &buffer);
  g_bytes_unref (buffer.data);
}

static void
put_frame (Session * session)
{
  guint number = session->n_put++;
  const ArenaFrame *frame = get_frame (session, number);
  guint i, n = arena_frame_count_packets (frame);

  for (i = 0; i < n; i++) {
    if (session->sender)
      put_packet (session, number, i, i + 1 == n);
    else
      carry (session, session->config->udp_path, ARENA_FORWARD, number, NULL,
          arena_frame_get_packet_size (frame, i));
  }
}

/* --- arrivals ------------------------------------------------------------- */

static void
take_packet_of_frame (Session * session, guint number)
{
  g_assert_cmpuint (number, <, session->config->frames->len);
  if (session->missing[number] == 0)
    return;
  if (--session->missing[number] == 0)
    session->record->arrived[number] = session->simulation->now;
}

static void
take_mmtp (Session * session, const Message * message)
{
  Simulation *simulation = session->simulation;
  MmtpAddress address = { 2, {message->path, 1} };

  if (message->direction == ARENA_BACK)
    mmtp_sender_input (session->sender, simulation->now + CLOCK_OFFSET,
        message->path, message->bytes, message->size);
  else
    mmtp_receiver_input (session->receiver, simulation->now, &address,
        message->bytes, message->size);
}

static gboolean
is_measured (const Simulation * simulation)
{
  return simulation->now >= simulation->config->measure_from
      && simulation->now < simulation->config->measure_to;
}

static void
measure_packet (Session * session, guint path, const LinkPacket * packet)
{
  guint32 delay = (packet->departure - packet->arrival - packet->jitter) / 1000;

  g_array_append_val (session->record->delays[path], delay);
  if (is_measured (session->simulation))
    session->record->measured_bytes += packet->size;
}

static void
take_session_packet (const LinkPacket * packet, const Message * message)
{
  Session *session = message->session;

  if (message->direction == ARENA_FORWARD)
    measure_packet (session, message->path, packet);
  if (session->sender)
    take_mmtp (session, message);
  else
    take_packet_of_frame (session, message->number);
}

static void
take_tcp_packet (const LinkPacket * packet, const Message * message)
{
  TcpFlow *flow = message->tcp;

  flow->tcp.now = flow->simulation->now;
  if (message->direction == ARENA_BACK) {
    tcp_receive_ack (&flow->tcp, message->number);
    return;
  }
  if (is_measured (flow->simulation))
    *flow->measured_bytes += packet->size;
  tcp_receive_data (&flow->tcp, message->number);
}

static void
run_link (Simulation * simulation, Link * link)
{
  LinkPacket packet;
  LinkEvent event;

  link_timeout (link, simulation->now);
  while (link_poll_output (link, &packet)) {
    Message *message = packet.user;

    /* A real receiver would drop a damaged packet, because its UDP checksum is
     * wrong. Only packets without damage are therefore passed on. */
    if (packet.fate == LINK_FATE_DELIVERED) {
      if (message->session)
        take_session_packet (&packet, message);
      else
        take_tcp_packet (&packet, message);
    }
    g_free (message);
  }
  while (link_poll_event (link, &event)) {
    if (event.type == LINK_EVENT_FATE && event.packet.fate > LINK_FATE_DAMAGED)
      g_free (event.packet.user);
  }
}

static void
run_links (Simulation * simulation)
{
  guint i;

  for (i = 0; i < simulation->config->n_paths; i++) {
    Link **links = simulation->links[i].links;

    run_link (simulation, links[ARENA_FORWARD]);
    if (links[ARENA_BACK] != links[ARENA_FORWARD])
      run_link (simulation, links[ARENA_BACK]);
  }
}

/* --- output of the endpoints ---------------------------------------------- */

/* Reads a message that leaves the MMTP sender. If it carries a packet of the
 * stream, counts its bytes and records that the packet was sent. For this, the
 * simulation reads the message itself, so that its results do not depend on the
 * sender's own statistics. A REPAIR message, which carries redundancy for lost
 * packets, is not counted. */
static void
read_data (Session * session, const guint8 * message, gsize size)
{
  guint frame, packet;

  if (size < DATA_HEADER + 8 || (message[0] & DATA_TYPE) != 0)
    return;
  g_assert ((message[DATA_FLAGS] & (DATA_FLAG_FIRST | DATA_FLAG_PRELUDE)) ==
      DATA_FLAG_FIRST);
  memcpy (&frame, message + DATA_HEADER, sizeof frame);
  memcpy (&packet, message + DATA_HEADER + sizeof frame, sizeof packet);
  g_assert_cmpuint (frame, <, session->config->frames->len);
  session->record->sent_bytes[frame] += size + ARENA_IP_UDP;
  if (g_hash_table_add (session->sent, GUINT_TO_POINTER (frame << 12 | packet)))
    session->record->unsent[frame]--;
}

static void
drain_sender (Session * session)
{
  Simulation *simulation = session->simulation;
  guint64 now = simulation->now + CLOCK_OFFSET;
  MmtpSenderEvent event;
  guint path;
  gsize size;

  while ((size = mmtp_sender_poll_output (session->sender, now, &path,
              simulation->scratch, sizeof simulation->scratch))) {
    read_data (session, simulation->scratch, size);
    carry (session, path, ARENA_FORWARD, 0, simulation->scratch, size);
  }
  while (mmtp_sender_poll_event (session->sender, &event)) {
    if (event.type != MMTP_EVENT_READY
        || session->record->ready_at != ARENA_NEVER)
      continue;
    session->record->ready_at = simulation->now;
    if (session->record->origin == ARENA_NEVER)
      session->record->origin =
          MAX (simulation->now, get_earliest_origin (session));
  }
}

static void
take_buffer (Session * session, DatagramSlice * data)
{
  guint number;

  memcpy (&number, data->bytes, sizeof number);
  take_packet_of_frame (session, number);
  datagram_slice_clear (data);
}

static void
drain_receiver (Session * session)
{
  Simulation *simulation = session->simulation;
  MmtpReceiverEvent event;
  MmtpAddress address;
  gsize size;

  while ((size = mmtp_receiver_poll_output (session->receiver, simulation->now,
              &address, simulation->scratch, sizeof simulation->scratch)))
    carry (session, address.bytes[0], ARENA_BACK, 0, simulation->scratch, size);
  while (mmtp_receiver_poll_event (session->receiver, &event)) {
    if (event.type == MMTP_EVENT_BUFFER)
      take_buffer (session, &event.data);
    if (event.type == MMTP_EVENT_CAPS)
      g_free (event.caps);
  }
}

static void
take_sample (Session * session)
{
  ArenaSample sample = { session->simulation->now };
  MmtpSenderStats stats;

  mmtp_sender_get_stats (session->sender, &stats);
  sample.estimated_rate = stats.estimated_rate;
  g_array_append_val (session->record->samples, sample);
  session->next_sample += SAMPLE_PERIOD;
}

/* --- the loop ------------------------------------------------------------- */

static guint64
get_latest_origin (const Session * session)
{
  return session->config->begin + LATEST_ORIGIN;
}

static guint64
get_next_of_session (const Session * session)
{
  guint64 next = get_next_put (session);

  if (!session->has_begun)
    return session->config->begin;
  if (!session->sender)
    return next;
  if (session->record->origin == ARENA_NEVER)
    next = MIN (next, get_latest_origin (session));
  next = MIN (next, session->next_sample);
  next = MIN (next, mmtp_sender_next_wakeup (session->sender) - CLOCK_OFFSET);
  return MIN (next, mmtp_receiver_next_wakeup (session->receiver));
}

static guint64
get_next_of_tcp (const TcpFlow * flow)
{
  return flow->has_begun ? tcp_next_wakeup (&flow->tcp) : flow->config->begin;
}

static guint64
get_next_time (const Simulation * simulation)
{
  guint64 next = ARENA_NEVER;
  guint i;

  for (i = 0; i < simulation->config->n_paths; i++) {
    next =
        MIN (next,
        link_next_wakeup (simulation->links[i].links[ARENA_FORWARD]));
    next =
        MIN (next, link_next_wakeup (simulation->links[i].links[ARENA_BACK]));
  }
  for (i = 0; i < simulation->config->n_sessions; i++)
    next = MIN (next, get_next_of_session (&simulation->sessions[i]));
  for (i = 0; i < simulation->config->n_tcp; i++)
    next = MIN (next, get_next_of_tcp (&simulation->tcp[i]));
  return next;
}

static void
run_session (Session * session)
{
  guint64 now = session->simulation->now;

  if (!session->has_begun && session->config->begin <= now)
    begin_session (session);
  if (session->sender) {
    mmtp_sender_timeout (session->sender, now + CLOCK_OFFSET);
    mmtp_receiver_timeout (session->receiver, now);
    /* A live source cannot wait forever until the session is ready. It waits
     * until the time that get_latest_origin () returns. Then the stream begins
     * even if the session is not ready. */
    if (session->record->origin == ARENA_NEVER
        && get_latest_origin (session) <= now)
      session->record->origin = now;
  }
  while (get_next_put (session) <= now)
    put_frame (session);
  if (session->sender) {
    drain_sender (session);
    drain_receiver (session);
    if (session->next_sample <= now)
      take_sample (session);
  }
}

static void
run_tcp (TcpFlow * flow)
{
  guint64 now = flow->simulation->now;

  flow->tcp.now = now;
  if (!flow->has_begun && flow->config->begin <= now) {
    flow->has_begun = TRUE;
    tcp_send_more (&flow->tcp);
  }
  if (flow->has_begun)
    tcp_timeout (&flow->tcp);
}

static void
run_instant (Simulation * simulation)
{
  guint i;

  run_links (simulation);
  for (i = 0; i < simulation->config->n_sessions; i++)
    run_session (&simulation->sessions[i]);
  for (i = 0; i < simulation->config->n_tcp; i++)
    run_tcp (&simulation->tcp[i]);
}

/* Returns the time in ns at which the run ends. A packet that arrived after
 * this time would be late in any case. */
static guint64
get_end (const Simulation * simulation)
{
  guint64 end = 0;
  guint i;

  for (i = 0; i < simulation->config->n_sessions; i++) {
    guint64 origin = simulation->record->sessions[i].origin;

    if (origin == ARENA_NEVER)
      return arena_simulation_get_length (simulation->config);
    end = MAX (end, origin);
  }
  return end + simulation->config->duration + TIMEOUT;
}

void
arena_simulation_run (const ArenaSimulationConfig * config,
    ArenaRecord * record)
{
  Simulation *simulation;
  guint64 next;
  guint calls = 0;

  memset (record, 0, sizeof *record);
  simulation = simulation_new (config, record);
  run_instant (simulation);
  while ((next = get_next_time (simulation)) < get_end (simulation)) {
    calls = next > simulation->now ? 0 : calls + 1;
    if (calls > MAX_CALLS_AT_ONCE) {
      record->stuck = TRUE;
      break;
    }
    simulation->now = MAX (simulation->now, next);
    run_instant (simulation);
  }
  simulation_free (simulation);
}
