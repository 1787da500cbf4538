/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the reordering of RTP packets against a model. These conditions must
 * hold:
 * - Each packet is output at most once.
 * - Packets are output in order as long as the source (SSRC) stays the same.
 * - The number of packets that wait for missing packets does not exceed the
 *   window.
 * - The number of strays that are stored does not exceed MAX_STRAYS. A stray is
 *   a packet that comes from another source, or whose sequence number is far
 *   from the expected number.
 *
 * Input: one byte for the size of the window, then commands. The first byte of
 * a command says what to do. Up to two bytes with an argument follow. Most
 * commands input a packet. The argument is then the difference between the
 * sequence number of the packet and the previous sequence number. */

#include "fuzz.h"
#include "rtpreorder.h"

#define MAX_PACKETS 4096
/* The following limits are copied from the documentation, and not taken from
 * the code under test, so that the test finds differences between the two. */
#define FURTHEST_BACK 100
#define FURTHEST_AHEAD 3000
#define MAX_STRAYS 1024
#define SOURCES 4
#define MILLISECOND G_GUINT64_CONSTANT (1000000)
#define SOURCE_TIMEOUT (1000 * MILLISECOND)

typedef struct
{
  /* Number of the run to which the packet belongs. The packets between two
   * jumps of the sequence numbers form a run. All packets of a run are output
   * before the next run begins. A run begins in these cases:
   * - with the first packet;
   * - if the SSRC changes;
   * - if the sequence number is more than FURTHEST_AHEAD ahead of the expected
   *   number, or more than FURTHEST_BACK behind it. */
  guint run;
  guint32 ssrc;
  guint16 seqnum;
  guint freed, output;          /* numbers of times */
} Packet;

typedef struct
{
  RtpReorder *reorder;
  Packet packets[MAX_PACKETS];
  guint n_packets;
  guint n_taken, n_output, n_freed;

  guint64 now, heard;           /* ns */
  /* Sources (SSRCs) that were replaced by another source. Each of them may
   * become the current source again. */
  guint32 replaced[SOURCES];
  guint n_replaced;

  gboolean started;
  guint run;
  guint32 ssrc;
  /* Expected sequence number of the next output: the number of the last output
   * packet plus 1. */
  guint16 next;
  const Packet *last;           /* Last output packet, or NULL. */
  guint64 lost;
} Model;

static Model model;

/* Number of runs of sequence numbers so far. It is not reset when the fuzzer
 * starts the test with the next input, so that the number of a run is never
 * used twice. */
static guint n_runs;
/* For each sequence number, the number of the run in which it was last output.
 * The array is not cleared when a new run begins, because the runs have
 * different numbers. */
static guint put_out[65536];

static void
free_packet (gpointer data)
{
  Packet *packet = data;

  packet->freed++;
  model.n_freed++;
}

static void
begin_run (guint32 ssrc, guint16 seqnum)
{
  model.started = TRUE;
  model.run = ++n_runs;
  model.ssrc = ssrc;
  model.next = seqnum;
}

static void
note_output (Packet * packet)
{
  guint16 skipped;

  fuzz_check (packet >= model.packets
      && packet < model.packets + model.n_packets);
  fuzz_check (packet->freed == 0);
  fuzz_check (++packet->output == 1);
  model.n_output++;
  if (model.last && model.last->run == packet->run)
    fuzz_check ((gint16) (packet->seqnum - model.last->seqnum) > 0);
  else if (model.last)
    fuzz_check (model.last->run < packet->run);
  model.last = packet;
  if (packet->run != model.run)
    return;
  skipped = packet->seqnum - model.next;
  model.lost += skipped;
  model.next = packet->seqnum + 1;
  put_out[packet->seqnum] = model.run;
}

static void
collect (void)
{
  Packet *packet;

  while ((packet = rtp_reorder_poll_output (model.reorder)))
    note_output (packet);
}

static void
check_result (RtpReorderResult result, const Packet * packet, gint16 ahead)
{
  if (ahead >= 0) {
    fuzz_check (result != RTP_REORDER_LATE);
    return;
  }
  fuzz_check (result == (put_out[packet->seqnum] == model.run ?
          RTP_REORDER_DUPLICATE : RTP_REORDER_LATE));
}

/* Returns how many packets the reorder buffer under test still keeps. All other
 * packets were output or freed. */
static guint
count_kept (void)
{
  return model.n_packets - model.n_output - model.n_freed;
}

static void
check_strays_freed (void)
{
  fuzz_check (count_kept () == model.n_taken - model.n_output);
}

/* Checks what happened to `packet`, which is a stray. A stray comes from
 * another source, or its sequence number is far from the expected number.
 * Strays are stored. If `packet` and a stored stray of the same source have
 * consecutive sequence numbers, the stream may continue with these two packets.
 * In this case, the stored stray begins a new run of sequence numbers, and the
 * two packets are output. */
static void
check_stray (Packet * packet)
{
  const gboolean is_other = packet->ssrc != model.ssrc;
  Packet *next;

  while (model.n_output < model.n_taken
      && (next = rtp_reorder_poll_output (model.reorder)) != NULL) {
    fuzz_check (next->run == model.run);
    note_output (next);
  }
  next = rtp_reorder_poll_output (model.reorder);
  if (!next) {
    fuzz_check (packet->freed == 0);
    fuzz_check (count_kept () <= MAX_STRAYS + model.n_taken - model.n_output);
    return;
  }
  fuzz_check (!is_other || model.now - model.heard >= SOURCE_TIMEOUT);
  fuzz_check (model.n_output == model.n_taken);
  if (is_other)
    model.replaced[model.n_replaced++] = model.ssrc;
  begin_run (packet->ssrc, next->seqnum);
  for (; next; next = rtp_reorder_poll_output (model.reorder)) {
    fuzz_check (next->ssrc == packet->ssrc);
    next->run = model.run;
    model.n_taken++;
    note_output (next);
  }
  /* The new packet was either output, or freed because its sequence number is a
   * duplicate. */
  fuzz_check (packet->output == 1 || packet->freed == 1);
  model.heard = model.now;
  check_strays_freed ();
}

/* Returns whether the packet comes from an RTP source (SSRC) that was replaced
 * by another source before. If so, the source of the packet becomes the current
 * source again: all waiting packets are output, and the packet begins a new run
 * of sequence numbers. */
static gboolean
take_back (guint32 ssrc, guint16 seqnum)
{
  guint i;

  for (i = 0; i < model.n_replaced && model.replaced[i] != ssrc; i++);
  if (ssrc == model.ssrc || i == model.n_replaced)
    return FALSE;
  model.n_replaced = i;
  while (model.n_output < model.n_taken)
    note_output (rtp_reorder_poll_output (model.reorder));
  begin_run (ssrc, seqnum);
  return TRUE;
}

static void
input_packet (guint32 ssrc, guint16 seqnum, gboolean final_gap, guint window)
{
  Packet *packet = &model.packets[model.n_packets++];
  gint16 ahead = seqnum - model.next;
  RtpReorderResult result;

  memset (packet, 0, sizeof (*packet));
  packet->ssrc = ssrc;
  packet->seqnum = seqnum;
  result = rtp_reorder_input (model.reorder, ssrc, seqnum, model.now,
      final_gap, packet);
  if (!model.started) {
    begin_run (ssrc, seqnum);
    ahead = 0;
  } else if (take_back (ssrc, seqnum)) {
    ahead = 0;
  }
  if (ssrc != model.ssrc || ahead < -FURTHEST_BACK || ahead > FURTHEST_AHEAD) {
    fuzz_check (result == RTP_REORDER_TAKEN);
    check_stray (packet);
    fuzz_check (model.lost == rtp_reorder_get_lost (model.reorder));
    return;
  }
  model.heard = model.now;
  packet->run = model.run;
  check_result (result, packet, ahead);
  if (result == RTP_REORDER_NEXT || result == RTP_REORDER_TAKEN)
    model.n_taken++;
  if (result == RTP_REORDER_NEXT)
    note_output (packet);
  collect ();

  if (result == RTP_REORDER_NEXT || result == RTP_REORDER_TAKEN) {
    if (ahead == 0)
      fuzz_check (packet->output == 1);
    fuzz_check (model.n_taken - model.n_output <= (final_gap ? 0 : window));
  } else {
    fuzz_check (packet->output == 0 && packet->freed == 0);
    /* The caller frees the packet. */
    free_packet (packet);
  }
  check_strays_freed ();
  fuzz_check (model.lost == rtp_reorder_get_lost (model.reorder));
}

static void
reset (void)
{
  rtp_reorder_reset (model.reorder);
  fuzz_check (rtp_reorder_poll_output (model.reorder) == NULL);
  fuzz_check (count_kept () == 0);
  model.started = FALSE;
  model.n_replaced = 0;
  model.n_taken = model.n_output;
}

static void
drain (void)
{
  rtp_reorder_drain (model.reorder);
  collect ();
  fuzz_check (model.n_taken == model.n_output);
  fuzz_check (count_kept () == 0);
  fuzz_check (model.lost == rtp_reorder_get_lost (model.reorder));
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  guint window = fuzz_take_u8 (&input) % (RTP_REORDER_MAX_WINDOW + 8);
  guint16 seqnum = 0xfff0;
  guint what, i;

  model.n_packets = model.n_taken = model.n_output = model.n_freed = 0;
  model.started = FALSE;
  model.n_replaced = 0;
  model.now = model.heard = 0;
  model.last = NULL;
  model.lost = 0;
  model.reorder = rtp_reorder_new (free_packet);
  rtp_reorder_set_window (model.reorder, window);
  window = MIN (window, RTP_REORDER_MAX_WINDOW);

  while (input.size > 0 && model.n_packets < MAX_PACKETS) {
    what = fuzz_take_u8 (&input);
    switch (what >> 4) {
      case 15:
        reset ();
        break;
      case 14:
        drain ();
        break;
      case 13:
        window = fuzz_take_u8 (&input) % (RTP_REORDER_MAX_WINDOW + 1);
        rtp_reorder_set_window (model.reorder, window);
        break;
      case 12:
        seqnum = fuzz_take_u16 (&input);
        break;
      case 11:
        model.now += fuzz_take_u8 (&input) * 10 * MILLISECOND;
        break;
      default:
        seqnum += (gint8) fuzz_take_u8 (&input);
        input_packet (what % SOURCES, seqnum, (what & 0x0c) == 0x0c, window);
        break;
    }
  }
  drain ();
  for (i = 0; i < model.n_packets; i++)
    fuzz_check (model.packets[i].freed + model.packets[i].output <= 1);
  rtp_reorder_free (model.reorder);
  return 0;
}
