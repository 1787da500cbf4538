/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks how much work the worst packet of each type and protocol can cause.
 * Each protocol implementation counts the entries that it visits for a packet:
 * slots, 64-bit words of a bitmap, deadlines, sent messages and packets, and
 * skipped numbers. A table limits each count by a constant. No test here
 * measures time.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "dccpnetwork.h"
#include "mmtpnetwork.h"
#include "ccid3options.h"
#include "mmtppacketbuilder.h"
#include "mmtppath.h"
#include "mmtpreorder.h"
#include "mpegvideotimeline.h"
#include "rtpreorder.h"

/* --- the bounds ----------------------------------------------------------- */

/* Maximum number of steps that the loops of an MMTP receiver make when one
 * packet (an MMTP DATA message) arrives. In each step, a loop visits one entry
 * of a data structure. The receiver marks the packet in a bitmap. It visits the
 * summary of this bitmap, a few words of the bitmap, and the history of recent
 * packets. */
#define MAX_DATA_STEPS 2048
/* Maximum number of packets that the sender of MMTP looks up for one REPORT. A
 * REPORT consists of records that list lost packets. The maximum is sufficient
 * for one record of the maximum size: MMTP_MAX_RANGES ranges of 255 packet
 * numbers each. If a REPORT lists more packets, the others are ignored. */
#define MAX_LOOKUPS (MMTP_MAX_RANGES * 255)
/* MMTP REPORT: maximum number of packets that the sender visits for one REPORT.
 * A REPORT says which packets the receiver no longer needs, and the sender
 * marks these packets as done. If there are more packets than this number, the
 * sender marks the others when the next REPORTs arrive. */
#define MAX_SETTLED 4096
/* Maximum number of log entries of one path that the sender of MMTP reads for
 * one REPORT. The sender keeps a log of the messages that it has sent on the
 * path. The log has at most this number of entries, and the sender reads each
 * entry at most once. */
#define MAX_SENT_STEPS 32768
/* DCCP: maximum number of 64-bit words that one pass over a history visits. The
 * history is a bitmap of packets that is used as a ring. If a pass begins in
 * the middle of a word, it visits this word both at the beginning and at the
 * end of the pass. */
#define HISTORY_STEPS (DCCP_HISTORY_SIZE / 64 + 1)
/* DCCP: maximum number of 64-bit words that an endpoint visits in its histories
 * for one packet. A history is a bitmap with one bit for each recent packet,
 * and an endpoint has several. Each packet causes at most two passes: one pass
 * advances a history and clears words, and the other pass counts the bits of
 * another history. */
#define MAX_JUMP_STEPS (2 * HISTORY_STEPS)
/* DCCP: maximum number of 64-bit words of a history that the sender visits for
 * one received packet with the option Data Dropped. This option tells the
 * sender which packets the receiver has dropped. The sender notes these packets
 * in the history, a bitmap with one bit for each recent packet.
 *
 * Each block of the option describes a run of consecutive packets, and the runs
 * do not overlap. The maximum is the sum of:
 * - one word for each block: the word in which the run of the block begins
 * - all words of the history, because the runs can continue in further words
 * - all words of the history again, because the packet may also advance the
 *   history, which clears words */
#define MAX_DROPPED_STEPS (DCCP_MAX_OPTIONS + 2 * HISTORY_STEPS)
/* DCCP: maximum number of 64-bit words of a history that the sink visits for
 * one received packet with the option Data Dropped. The history is a bitmap
 * with one bit for each recent packet. It shows which packets belong to key
 * frames.
 *
 * The option Data Dropped tells the sink which packets the receiver has
 * dropped. The option consists of at most DCCP_MAX_OPTIONS blocks. Each block
 * describes one range of packets and has a Drop Code, the reason why these
 * packets were dropped. For each block, the sink visits the words of the
 * history that cover the range.
 *
 * Ranges with the same Drop Code do not overlap. For all of them
 * together, the sink visits each word of the history at most once, with one
 * exception: if a range begins in the word in which the previous range ends,
 * this word is visited twice. Ranges with different Drop Codes may overlap. The
 * maximum number of words is the sum of:
 * - the number of words of the history, multiplied by the number of Drop Codes
 * - one more word for each range, because of the exception */
#define MAX_KEY_STEPS (DCCP_DROP_NONE * HISTORY_STEPS + DCCP_MAX_OPTIONS)
/* DCCP: maximum number of 64-bit words of a history that the sink visits for
 * one packet with the option Loss Intervals. The history is a bitmap with one
 * bit for each recent packet. It shows which packets belong to key frames.
 *
 * The option Loss Intervals lists intervals with lost packets. The sink
 * searches each interval for packets of key frames. The intervals do not
 * overlap, so together they cover each word of the history at most once.
 * However, an interval may begin in the word in which the previous interval
 * ends. This word is then visited twice, so one more word is counted per
 * interval. */
#define MAX_LOSS_STEPS (HISTORY_STEPS + TFRC_MAX_INTERVALS)
/* RTP: maximum number of sequence numbers that can be missing directly before a
 * packet. If more are missing, the receiver assumes that the sender may have
 * restarted (MAX_DROPOUT of RFC 3550). */
#define MAX_RTP_STEPS 3000
/* mpegstat: maximum number of frames that can be lost in one gap. A gap lasts
 * at most ten seconds, and the stream has 240 frames per second. */
#define MAX_LOST_FRAMES 2400

/* --- MMTP ----------------------------------------------------------------- */

#define FRAME_SIZE 4000
/* Maximum size of the reorder buffer of the receiver, in bytes. */
#define MAX_BYTES (1024 * 1024 * 1024)
#define N_FORGED 300            /* messages of each type */

typedef struct
{
  MmtpNetwork network;
  guint32 draw;
} Mmtp;

static guint32
draw (gpointer data)
{
  Mmtp *self = data;

  self->draw = self->draw * 1664525 + 1013904223;
  return self->draw >> 8;
}

static Mmtp *
mmtp_new (void)
{
  Mmtp *self = g_new0 (Mmtp, 1);
  const MmtpNetworkConfig config = { NULL, FRAME_SIZE, };
  guint i;

  self->draw = 17;
  mmtp_network_init (&self->network, &config);
  for (i = 0; i < MMTP_NETWORK_PATHS; i++)
    mmtp_network_add_path (&self->network, i);
  mmtp_network_run (&self->network, 2 * GST_SECOND);
  fail_unless (self->network.has_session);
  self->network.trusted = FALSE;
  return self;
}

static void
mmtp_free (Mmtp * self)
{
  mmtp_network_clear (&self->network);
  g_free (self);
}

/* Sends a message with a correct trailer. Only an endpoint that has the secrets
 * of the session can compute such a trailer. */
static void
say (Mmtp * self, MmtpRole from, const MmtpMessage * message, guint64 number)
{
  const guint path = message->channel % MMTP_NETWORK_PATHS;
  guint8 bytes[2000];
  const gsize size = mmtp_packet_write (message, bytes, sizeof (bytes));

  fail_unless (size > 0);
  if (message->type < MMTP_INIT || message->type > MMTP_REFUSE)
    mmtp_direction_seal (&self->network.directions[from == MMTP_RECEIVER],
        number, bytes, size);
  mmtp_overhear (&self->network.overheard, bytes, size, from);
  if (from == MMTP_SENDER)
    mmtp_network_to_receiver (&self->network, &self->network.addresses[path],
        bytes, size);
  else
    mmtp_network_to_sender (&self->network, path, bytes, size);
}

/* Sends the message with the next channel number. An endpoint numbers its
 * messages on each path (channel). */
static void
say_next (Mmtp * self, MmtpRole from, MmtpMessage * message)
{
  const guint64 number = self->network.overheard.numbers[from == MMTP_RECEIVER]
      [message->channel] + 1;

  message->number = number & 0xffff;
  if (message->type == MMTP_REPORT)
    message->report.channel_number = number;
  message->sent = self->network.now / MMTP_TICK_TIME & MMTP_TICKS_MASK;
  say (self, from, message, number);
}

static guint64
get_receiver_steps (Mmtp * self)
{
  MmtpReceiverStats stats;

  mmtp_receiver_get_stats (self->network.receiver, &stats);
  return stats.reorder_steps;
}

/* The sender predicts for each message in flight the time at which the path
 * will have transmitted it. When a report arrives, the sender repeats the
 * predictions. Returns the number of these repeated predictions. */
static guint64
get_prediction_steps (Mmtp * self)
{
  MmtpSenderPathStats path;
  MmtpSenderStats stats;
  guint64 steps = 0;
  guint i;

  mmtp_sender_get_stats (self->network.sender, &stats);
  for (i = 0; i < stats.n_paths; i++) {
    mmtp_sender_get_path_stats (self->network.sender, i, &path);
    steps += path.prediction_steps;
  }
  return steps;
}

/* Returns how many entries the sender has visited to mark messages and packets
 * as received or lost. */
static guint64
get_report_steps (Mmtp * self)
{
  MmtpSenderPathStats path;
  MmtpSenderStats stats;
  guint64 steps;
  guint i;

  mmtp_sender_get_stats (self->network.sender, &stats);
  steps = stats.loss_lookups + stats.report_steps;
  for (i = 0; i < stats.n_paths; i++) {
    mmtp_sender_get_path_stats (self->network.sender, i, &path);
    steps += path.report_steps;
  }
  return steps;
}

static guint64
get_sender_steps (Mmtp * self)
{
  return get_report_steps (self) + get_prediction_steps (self);
}

/* Sends many forged messages of the type `type` during a valid stream. Some
 * values in the messages are close to the values of the session, and others are
 * arbitrary. Returns the maximum number of entries that the endpoint visits for
 * one message. */
static guint64
measure_forged (MmtpType type, MmtpRole from)
{
  guint64 (*get_steps) (Mmtp *) =
      from == MMTP_SENDER ? get_receiver_steps : get_sender_steps;
  Mmtp *self = mmtp_new ();
  guint64 worst = 0, before, after, number;
  MmtpMessage message;
  guint i;

  for (i = 0; i < N_FORGED; i++) {
    if (i % 10 == 0)
      mmtp_network_run (&self->network, 10 * GST_MSECOND);
    number = mmtp_build_message (&message, type, from, i % MMTP_NETWORK_PATHS,
        &self->network.overheard, draw, self);
    before = get_steps (self);
    say (self, from, &message, number);
    after = get_steps (self);
    /* get_steps () returns the number of steps since the session of the
     * endpoint began. The difference between `after` and `before` is the work
     * that the message has caused. If the message has begun a new session, the
     * number starts from 0 again, so `after` can be lower than `before`. The
     * work then counts as 0. */
    worst = MAX (worst, after > before ? after - before : 0);
  }
  mmtp_free (self);
  return worst;
}

/* Each DATA message skips 2^20 - 1 numbers. */
static guint64
measure_data (void)
{
  MmtpReorder *reorder = mmtp_reorder_new (MAX_BYTES);
  MmtpData data = {.flags = MMTP_FLAG_FIRST | MMTP_FLAG_LAST,
    .payload = (const guint8 *) "x",.payload_size = 1
  };
  guint64 worst = 0, before;
  guint i;

  for (i = 0; i < 100; i++) {
    before = mmtp_reorder_get_stats (reorder)->steps;
    mmtp_reorder_add (reorder, 0, &data, i, GST_SECOND);
    worst = MAX (worst, mmtp_reorder_get_stats (reorder)->steps - before);
    data.stream_number = (data.stream_number + (1 << 20) - 1) & 0xffffff;
  }
  mmtp_reorder_free (reorder);
  return worst;
}

/* D0 is the latency of a session. The receiver stores packets that wait for
 * missing packets, and buffers that wait for their caps. A message changes D0
 * by a small amount, which makes no packet late. The receiver must therefore
 * not visit any of the waiting packets and buffers. Returns how many of them it
 * visits. */
static guint64
measure_change_of_delay (void)
{
  MmtpReorder *reorder = mmtp_reorder_new (MAX_BYTES);
  MmtpData data = {.flags = MMTP_FLAG_FIRST | MMTP_FLAG_LAST,
    .payload = (const guint8 *) "x",.payload_size = 1
  };
  guint64 steps;
  guint i;

  for (i = 0; i < 20000; i++) {
    /* The numbers of the first 10000 packets are consecutive. After them, every
     * second number is missing, so each later packet has to wait for a missing
     * packet. */
    data.stream_number = i < 10000 ? i : 2 * i;
    mmtp_reorder_add (reorder, 0, &data, i, GST_SECOND + i);
  }
  steps = mmtp_reorder_get_stats (reorder)->steps;
  mmtp_reorder_shift_deadlines (reorder, 0, -1000);
  steps = mmtp_reorder_get_stats (reorder)->steps - steps;
  mmtp_reorder_free (reorder);
  return steps;
}

/* Sends a REPORT whose records contain the maximum number of ranges, each of
 * the maximum length. Returns the number of packets that the sender looks up
 * for this REPORT. */
static guint64
measure_report (void)
{
  Mmtp *self = mmtp_new ();
  MmtpMessage message = { MMTP_REPORT };
  MmtpSenderStats before, after;
  guint i, k;

  message.report.number = 1000000;
  message.report.n_records = 14;        /* Number of records that fit. */
  for (i = 0; i < message.report.n_records; i++) {
    MmtpRecord *record = &message.report.records[i];

    record->n_ranges = MMTP_MAX_RANGES;
    for (k = 0; k < MMTP_MAX_RANGES; k++) {
      record->ranges[k].first = k * 255;
      record->ranges[k].count = 255;
    }
  }
  mmtp_sender_get_stats (self->network.sender, &before);
  say_next (self, MMTP_RECEIVER, &message);
  mmtp_sender_get_stats (self->network.sender, &after);
  mmtp_free (self);
  return after.loss_lookups - before.loss_lookups;
}

/* A REPORT that arrives after 100,000 messages without a REPORT. */
static guint64
measure_late_report (void)
{
  const MmtpPathConfig config = { "path", 1400, 28, 0, 0 };
  MmtpPath *path = mmtp_path_new (0, "path");
  guint64 steps, i;

  mmtp_path_open (path, GST_SECOND, &config);
  for (i = 0; i < 100000; i++)
    mmtp_path_sent (path, GST_SECOND + i, 1400, i, TRUE);
  mmtp_path_settle (path, 2 * GST_SECOND, i - 1);
  steps = path->stats.report_steps;
  mmtp_path_free (path);
  return steps;
}

/* Fills the queue of the sender with small packets. One REPORT then
 * acknowledges all of them. Returns the number of packets that the sender
 * visits for this REPORT. */
static guint64
measure_acknowledgement (void)
{
  Mmtp *self = mmtp_new ();
  MmtpMessage message = { MMTP_REPORT };
  MmtpBuffer buffer = { g_bytes_new_static ("x", 1), };
  MmtpSenderStats before, after;
  guint i;

  mmtp_sender_get_stats (self->network.sender, &before);
  for (i = 0; i < 20000; i++) {
    buffer.due = self->network.now + 10 * GST_SECOND;
    mmtp_sender_put (self->network.sender, self->network.now, &buffer);
  }
  g_bytes_unref (buffer.data);
  mmtp_sender_get_stats (self->network.sender, &after);
  fail_unless (after.packets - before.packets > 2 * MAX_SETTLED);
  message.report.number = 1000000;
  message.report.next = after.packets;
  say_next (self, MMTP_RECEIVER, &message);
  mmtp_sender_get_stats (self->network.sender, &after);
  mmtp_free (self);
  return after.report_steps - before.report_steps;
}

/* --- DCCP ----------------------------------------------------------------- */

static void
open_network (DccpNetwork * network, guint64 window)
{
  dccp_network_init (network);
  network->configs[CLIENT].sequence_window = window;
  network->configs[SERVER].sequence_window = window;
  dccp_network_begin (network);
  dccp_network_open (network);
}

static guint64
get_steps (const DccpConnection * connection)
{
  return connection->received.packets.steps +
      connection->drop_reports.sent_data.steps +
      connection->drop_reports.reported.steps;
}

/* Marks all packets in the sender's history of sent packets as data packets. */
static void
fill_sent_data (DccpConnection * connection)
{
  gint64 i;

  dccp_history_clear (&connection->drop_reports.sent_data);
  dccp_history_set (&connection->drop_reports.sent_data,
      connection->numbers.gss);
  for (i = 1; i < DCCP_HISTORY_SIZE; i++)
    dccp_history_set (&connection->drop_reports.sent_data,
        dccp_sequence_add (connection->numbers.gss, -i));
}

/* Fills `bytes` with options of the type `type`. Each option has the value
 * `value` of `size` bytes; the value of the last option may be cut off. Returns
 * the size of all options in bytes. */
static gsize
fill_options (guint8 bytes[DCCP_MAX_OPTIONS], guint8 type,
    const guint8 * value, gsize size)
{
  gsize offset = 0, n;

  while (DCCP_MAX_OPTIONS - offset > 2) {
    n = MIN (size, DCCP_MAX_OPTIONS - offset - 2);
    bytes[offset] = type;
    bytes[offset + 1] = n + 2;
    memcpy (bytes + offset + 2, value, n);
    offset += n + 2;
  }
  return offset;
}

/* Delivers Data Dropped options to the client. Each option describes runs of 16
 * packets. All packets of a run have the same Drop Code. The codes of the runs
 * are 0, 1, 2, 3 and 7 in turn. */
static void
hear_data_dropped (DccpNetwork * network)
{
  const guint8 codes[] = { 0, 1, 2, 3, 7 };
  guint8 options[DCCP_MAX_OPTIONS], blocks[253];
  DccpPacket packet = dccp_network_next (network, CLIENT, DCCP_ACK);
  guint i;

  for (i = 0; i < sizeof (blocks); i++)
    blocks[i] = 0x8f | codes[i % G_N_ELEMENTS (codes)] << 4;
  packet.options = options;
  packet.options_size = fill_options (options, DCCP_OPTION_DATA_DROPPED,
      blocks, sizeof (blocks));
  dccp_network_inject_packet (network, CLIENT, &packet);
}

static guint64
measure_data_dropped (void)
{
  DccpConnection *connection;
  DccpNetwork network;
  guint64 steps;

  open_network (&network, 10000);
  connection = dccp_network_get (&network, CLIENT);
  fill_sent_data (connection);
  steps = get_steps (connection);
  hear_data_dropped (&network);
  steps = get_steps (connection) - steps;
  fail_unless (dccp_network_get_stats (&network,
          CLIENT)->dropped_received > 15000);
  dccp_network_clear (&network);
  return steps;
}

/* Simulates a sink that sends data, and a receiver that has dropped some of
 * these data. The receiver's Data Dropped options are delivered to the sink.
 * They describe ranges of dropped packets. The sink searches each range for a
 * packet of a key frame, and stops at the first such packet. In this test no
 * range contains such a packet, so each range is searched completely. The
 * searches read a history, which is a bitmap with one bit for each recent
 * packet. Returns how many 64-bit words of the history the searches have
 * visited. */
static guint64
measure_dropped_key_packets (void)
{
  DccpHistory *keys = g_new0 (DccpHistory, 1);
  DccpNetwork network;
  guint i, n = 0;
  guint64 steps;

  open_network (&network, 10000);
  fill_sent_data (dccp_network_get (&network, CLIENT));
  dccp_history_set (keys, dccp_network_get (&network, CLIENT)->numbers.gss + 1);
  keys->steps = 0;
  hear_data_dropped (&network);
  for (i = 0; i < network.events[CLIENT]->len; i++) {
    const DccpEvent *event =
        &g_array_index (network.events[CLIENT], DccpEvent, i);

    if (event->type != DCCP_EVENT_DROPPED)
      continue;
    fail_if (dccp_endpoint_were_dropped (network.ends[CLIENT], keys,
            event->sequence, event->lost));
    n++;
  }
  fail_unless (n >= 5);
  steps = keys->steps;
  dccp_network_clear (&network);
  g_free (keys);
  return steps;
}

/* Replaces the sender's congestion control by a new instance. The new instance
 * assumes that the connection began with the packet `first`, and that no packet
 * has been reported as lost. */
static void
renew_sender (DccpConnection * connection, guint64 first)
{
  const DccpCcidConfig config = {.sequence = first,.max_segment = 1000 };
  DccpHalfConnections *halves = &connection->halves;

  halves->sender_ccid->sender.free (halves->sender);
  halves->sender = halves->sender_ccid->sender.create (&config);
}

/* Sends the option Loss Intervals, whose intervals cover the whole history. The
 * sink searches these intervals for packets of key frames. Returns the number
 * of 64-bit words of the history that this search visits. */
static guint64
measure_loss_intervals (void)
{
  const guint length = DCCP_HISTORY_SIZE / TFRC_MAX_INTERVALS / 2;
  DccpHistory *keys = g_new0 (DccpHistory, 1);
  TfrcIntervals intervals = {.n = TFRC_MAX_INTERVALS };
  DccpOptionWriter writer;
  DccpPacket packet;
  DccpNetwork network;
  guint64 steps;
  guint i;

  open_network (&network, 10000);
  packet = dccp_network_next (&network, CLIENT, DCCP_ACK);
  dccp_option_writer_init (&writer);
  dccp_option_write_number (&writer, CCID3_OPTION_RECEIVE_RATE, 4096, 4);
  dccp_option_write_elapsed_time (&writer, 0);
  for (i = 0; i < intervals.n; i++) {
    intervals.intervals[i].lossless = intervals.intervals[i].loss = length;
    intervals.intervals[i].data = 2 * length;
  }
  fail_unless (ccid3_option_write_loss_intervals (&writer, &intervals));
  packet.options = writer.bytes;
  packet.options_size = writer.size;
  renew_sender (dccp_network_get (&network, CLIENT),
      dccp_sequence_add (packet.acknowledgement, -2 * DCCP_HISTORY_SIZE));
  dccp_history_set (keys, packet.acknowledgement + 1);
  keys->steps = 0;
  dccp_network_inject_packet (&network, CLIENT, &packet);
  fail_unless_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_LOST), TFRC_MAX_INTERVALS);
  for (i = 0; i < network.events[CLIENT]->len; i++) {
    const DccpEvent *event =
        &g_array_index (network.events[CLIENT], DccpEvent, i);

    if (event->type == DCCP_EVENT_LOST)
      dccp_history_count (keys, event->sequence, event->lost);
  }
  steps = keys->steps;
  dccp_network_clear (&network);
  g_free (keys);
  return steps;
}

/* Sends data packets. From one packet to the next, the sequence number jumps by
 * nearly the size of a history. A history is a bitmap with one bit for each
 * recent packet, stored in 64-bit words. The sequence window is so large that
 * the jumps are valid. Returns the maximum number of words in the histories of
 * the connection that were visited for one packet. */
static guint64
measure_dccp_jump (void)
{
  DccpConnection *connection;
  guint64 worst = 0, before;
  DccpPacket packet;
  DccpNetwork network;
  guint i;

  open_network (&network, 100000);
  connection = dccp_network_get (&network, SERVER);
  for (i = 0; i < 10; i++) {
    packet = dccp_network_next (&network, SERVER, DCCP_DATA);
    packet.sequence = dccp_sequence_add (packet.sequence,
        DCCP_HISTORY_SIZE - 3 - i);
    packet.payload = (const guint8 *) "data";
    packet.payload_size = 4;
    before = get_steps (connection);
    dccp_network_inject_packet (&network, SERVER, &packet);
    worst = MAX (worst, get_steps (connection) - before);
  }
  fail_unless_equals_int (network.received[SERVER]->len, 10);
  dccp_network_clear (&network);
  return worst;
}

/* For each of the 256 option codes, sends a packet of the type `type` with as
 * many options of this code as fit. Even codes go to the server, odd codes to
 * the client. The options contain small and large values.
 *
 * Each endpoint has histories: bitmaps with one bit for each recent packet,
 * stored in 64-bit words. The cost of a packet is the number of these words
 * that the endpoint reads or writes because of the packet. Returns the maximum
 * cost of all sent packets. */
static guint64
measure_dccp_type (DccpType type)
{
  guint8 options[DCCP_MAX_OPTIONS], value[253];
  guint64 worst = 0, before, after;
  DccpPacket packet;
  DccpNetwork network;
  guint i, option;

  for (i = 0; i < sizeof (value); i++)
    value[i] = i < 2 ? 1 : i * 37;
  for (option = 0; option < 256; option++) {
    const DccpEnd to = option % 2 ? CLIENT : SERVER;

    open_network (&network, 100000);
    fill_sent_data (dccp_network_get (&network, to));
    packet = dccp_network_next (&network, to, type);
    packet.sequence = dccp_sequence_add (packet.sequence, 10000);
    packet.options = options;
    packet.options_size = fill_options (options, option, value,
        option == CCID3_OPTION_LOSS_INTERVALS ? 19 : sizeof (value));
    before = get_steps (dccp_network_get (&network, to));
    dccp_network_inject_packet (&network, to, &packet);
    /* If the packet has caused a Reset, the connection no longer exists. The
     * number of steps for this packet is then unknown and counts as 0. */
    after = dccp_network_get (&network, to) ?
        get_steps (dccp_network_get (&network, to)) : before;
    worst = MAX (worst, after - before);
    dccp_network_clear (&network);
  }
  return worst;
}

/* --- RTP ------------------------------------------------------------------ */

/* Fills the reorder buffer with packets that have gaps between them. Then a
 * packet arrives that is as far ahead as possible, so all missing packets
 * before it are counted as lost. Returns the number of these lost packets plus
 * the number of packets that the buffer then outputs. */
static guint64
measure_rtp (void)
{
  RtpReorder *reorder = rtp_reorder_new (NULL);
  guint64 steps;
  guint i;

  rtp_reorder_set_window (reorder, RTP_REORDER_MAX_WINDOW);
  rtp_reorder_input (reorder, 1, 0, 0, FALSE, reorder);
  for (i = 1; i <= RTP_REORDER_MAX_WINDOW; i++)
    rtp_reorder_input (reorder, 1, 46 * i, 0, FALSE, reorder);
  steps = rtp_reorder_get_lost (reorder);
  rtp_reorder_input (reorder, 1, MAX_RTP_STEPS + 1, 0, TRUE, reorder);
  steps = rtp_reorder_get_lost (reorder) - steps;
  while (rtp_reorder_poll_output (reorder))
    steps++;
  rtp_reorder_free (reorder);
  return steps;
}

/* --- mpegstat ------------------------------------------------------------- */

/* Measures a gap in a video stream with the highest frame rate of MPEG-2. One
 * frame has a timestamp that is MAX_LOST_FRAMES frame periods after the
 * timestamp of the previous frame. A longer gap would count as the start of a
 * new stream. Returns how many frames are reported as lost. */
static guint64
measure_mpeg_video (void)
{
  MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
  MpegVideoFrame frame = {.pictures[0].header.type = MPEG_VIDEO_PICTURE_I,
    .n_pictures = 1,.has_gop = TRUE,.pts = MPEG_VIDEO_TIME_NONE,
    .dts = MPEG_VIDEO_TIME_NONE
  };
  MpegVideoPosition position;
  MpegVideoLoss loss;
  guint64 frames = 0;
  guint i;

  frame.pictures[0].header.structure = MPEG_VIDEO_STRUCTURE_FRAME;
  frame.sequence.width = frame.sequence.height = 32;
  frame.sequence.fps_n = 240;
  frame.sequence.fps_d = 1;
  frame.sequence.mpeg2 = TRUE;
  for (i = 0; i < 40; i++) {
    const guint64 number = i < 20 ? i : i + MAX_LOST_FRAMES - 1;

    frame.flags = i == 20 ? MPEG_VIDEO_FRAME_DISCONT : 0;
    mpeg_video_timeline_input (timeline, &frame,
        SECOND + number * SECOND / 240, &position);
  }
  mpeg_video_timeline_drain (timeline);
  while (mpeg_video_timeline_poll_loss (timeline, &loss))
    frames += loss.frames;
  mpeg_video_timeline_free (timeline);
  return frames;
}

/* --- the table ------------------------------------------------------------ */

typedef struct
{
  const gchar *packet;
    guint64 (*measure) (void);
  /* Minimum number of steps that `measure` must return, otherwise the test
   * fails. `measure` should send the packet that causes the most work. If the
   * result is below this minimum, the packet is no longer the one with the most
   * work. */
  guint64 min_steps;
  guint64 max_steps;
} WorstPacket;

static const WorstPacket packets[] = {
  {"MMTP DATA that jumps", measure_data, 500, MAX_DATA_STEPS},
  {"MMTP KEEPALIVE that changes D0", measure_change_of_delay, 0, 0},
  {"MMTP REPORT of losses", measure_report, MAX_LOOKUPS, MAX_LOOKUPS},
  {"MMTP REPORT of a long queue", measure_acknowledgement, MAX_SETTLED,
      MAX_SETTLED},
  {"MMTP REPORT after silence", measure_late_report, MAX_SENT_STEPS,
      MAX_SENT_STEPS},
  {"DCCP Data Dropped", measure_data_dropped, 900, MAX_DROPPED_STEPS},
  {"DCCP Data Dropped, key packets", measure_dropped_key_packets, 1000,
      MAX_KEY_STEPS},
  {"DCCP Loss Intervals, key packets", measure_loss_intervals, 100,
      MAX_LOSS_STEPS},
  {"DCCP Data that jumps", measure_dccp_jump, 256, MAX_JUMP_STEPS},
  {"RTP behind a gap", measure_rtp, MAX_RTP_STEPS, MAX_RTP_STEPS + 1},
  {"MPEG frame behind a gap", measure_mpeg_video, 2000, MAX_LOST_FRAMES},
};

GST_START_TEST (the_work_of_the_worst_packet_is_bounded)
{
  const WorstPacket *packet = &packets[__i__];
  const guint64 steps = packet->measure ();

  GST_INFO ("%s: %" G_GUINT64_FORMAT " steps", packet->packet, steps);
  fail_unless (steps >= packet->min_steps && steps <= packet->max_steps,
      "%s: %" G_GUINT64_FORMAT " steps", packet->packet, steps);
}

GST_END_TEST;

GST_START_TEST (the_work_of_each_mmtp_type_is_bounded)
{
  const MmtpType type = __i__;
  guint64 steps = measure_forged (type, MMTP_SENDER);

  fail_unless (steps <= MAX_DATA_STEPS, "%s: %" G_GUINT64_FORMAT " steps",
      mmtp_type_get_name (type), steps);
  steps = measure_forged (type, MMTP_RECEIVER);
  fail_unless (steps <= MAX_LOOKUPS + MAX_SETTLED + MAX_SENT_STEPS,
      "%s: %" G_GUINT64_FORMAT " steps", mmtp_type_get_name (type), steps);
}

GST_END_TEST;

GST_START_TEST (the_work_of_each_dccp_type_is_bounded)
{
  const guint64 steps = measure_dccp_type (__i__);

  fail_unless (steps <= MAX_DROPPED_STEPS + MAX_JUMP_STEPS,
      "type %d: %" G_GUINT64_FORMAT " steps", __i__, steps);
}

GST_END_TEST;

/* The sender marks each message and each packet as received or lost only once.
 * All REPORTs together must therefore cause no more work than the stream
 * itself, however many REPORTs arrive. */
GST_START_TEST (the_work_of_all_reports_is_bounded)
{
  MmtpSenderPathStats path;
  MmtpSenderStats stats;
  Mmtp *self = mmtp_new ();
  guint64 sent, steps;
  guint i;

  mmtp_network_run (&self->network, 60 * GST_SECOND);
  mmtp_sender_get_stats (self->network.sender, &stats);
  sent = stats.packets;
  for (i = 0; i < stats.n_paths; i++) {
    mmtp_sender_get_path_stats (self->network.sender, i, &path);
    sent += path.packets;
  }
  steps = get_report_steps (self);
  fail_unless (steps > sent / 2);
  fail_unless (steps <= sent);
  mmtp_free (self);
}

GST_END_TEST;

static Suite *
worstpackets_suite (void)
{
  Suite *s = suite_create ("worstpackets");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 60);
  tcase_add_loop_test (tc, the_work_of_the_worst_packet_is_bounded, 0,
      G_N_ELEMENTS (packets));
  tcase_add_loop_test (tc, the_work_of_each_mmtp_type_is_bounded, 0,
      MMTP_LAST_TYPE);
  tcase_add_loop_test (tc, the_work_of_each_dccp_type_is_bounded, 0,
      DCCP_LAST_TYPE);
  tcase_add_test (tc, the_work_of_all_reports_is_bounded);
  return s;
}

GST_CHECK_MAIN (worstpackets);
