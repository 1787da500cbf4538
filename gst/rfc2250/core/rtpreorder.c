/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of rtpreorder.h: reordering of RTP packets. */

#include "rtpreorder.h"

#include <string.h>

/* Maximum distance of a late packet below the expected sequence number. If the
 * sequence number of a packet is even lower, the packet does not count as late:
 * the sender has probably restarted. The value equals max-reorder of
 * GstRTPBaseDepayload and MAX_MISORDER of RFC 3550 A.1. */
#define MAX_MISORDER 100
/* RFC 3550 A.1, MAX_DROPOUT */
#define MAX_DROPOUT 3000
/* Time in ns that the current source must be silent before another source can
 * replace it. RFC 3550 does not specify this time. The timeouts that RFC 3550
 * does specify (sections 6.2.1 and 6.3.5) are several seconds long, because
 * they are multiples of the interval between RTCP reports. */
#define SOURCE_TIMEOUT G_GUINT64_CONSTANT (1000000000)
/* Number of packets in each of two rings. The rings keep strays: packets that
 * do not continue the current sequence. If a source sends two strays with
 * consecutive sequence numbers, it may become the current source.
 *
 * An attacker may fill a ring with forged packets. At 10,000 forged packets per
 * second, the ring still keeps each packet for 51 ms. This is more than a frame
 * period. A genuine new source sends its second packet within this time, when
 * its first packet is still in the ring. */
#define MAX_STRAYS 512
/* Maximum number of former sources whose SSRC is remembered. A former source
 * was the current source until another source replaced it. If a packet of a
 * remembered source arrives, this source becomes the current source again at
 * once. */
#define MAX_EARLIER 8

typedef struct
{
  guint16 seqnum;
  gpointer packet;
} Waiting;

typedef struct
{
  guint32 ssrc;
  guint16 seqnum;
  /* The packet of this entry. An entry describes one stray, which is a packet
   * that does not continue the current sequence: it comes from another source
   * than the current one, or its sequence number is far from the expected one.
   *
   * Strays are kept in two rings, `singles` and `runs`. When a stray is moved
   * from `singles` to `runs`, its old entry stays in `singles`, and `packet` of
   * the old entry becomes NULL. */
  gpointer packet;
} Stray;

typedef struct
{
  /* ring buffer; the oldest element is strays[first] */
  Stray strays[MAX_STRAYS];
  guint first, n;
} StrayRing;

struct _RtpReorder
{
  GDestroyNotify free_packet;
  guint window;

  gboolean started;
  guint32 ssrc;
  guint16 next;                 /* the next sequence number */
  /* Bit mask of the latest packets that were received. Bit i stands for the
   * packet with the sequence number next - 1 - i. */
  guint64 seen[2];
  /* Packets that wait for a missing packet. The elements have the type Waiting
   * and are sorted by sequence number. The packet with the number `next` is
   * missing, and all waiting packets have higher numbers. */
  GArray *waiting;

  /* Strays that arrived since the last packet of the current source. A stray
   * comes from another source, or its sequence number is far from the expected
   * one. The ring `runs` contains strays with consecutive sequence numbers,
   * because only these can start a new sequence (RFC 3550 A.1). The ring
   * `singles` contains all other strays. There are two rings so that a flood of
   * single packets does not displace consecutive packets. */
  StrayRing singles, runs;
  /* time in ns at which the last packet of the current source arrived */
  guint64 heard;
  /* SSRCs of former sources. Each of them was the current source until another
   * source replaced it. The source that was replaced last is the last element.
   */
  guint32 earlier[MAX_EARLIER];
  guint n_earlier;
  guint64 strays;
  GQueue output;
  guint64 lost;
};

RtpReorder *
rtp_reorder_new (GDestroyNotify free_packet)
{
  RtpReorder *reorder = g_new0 (RtpReorder, 1);

  reorder->free_packet = free_packet;
  reorder->waiting = g_array_new (FALSE, FALSE, sizeof (Waiting));
  g_queue_init (&reorder->output);
  return reorder;
}

/* Removes all packets from the ring and frees them. Returns the number of freed
 * packets. */
static guint
clear_ring (RtpReorder * reorder, StrayRing * ring)
{
  guint n = 0;

  for (; ring->n > 0; ring->n--) {
    Stray *stray = &ring->strays[ring->first];

    if (stray->packet) {
      reorder->free_packet (stray->packet);
      n++;
    }
    ring->first = (ring->first + 1) % MAX_STRAYS;
  }
  return n;
}

void
rtp_reorder_reset (RtpReorder * reorder)
{
  guint i;

  for (i = 0; i < reorder->waiting->len; i++)
    reorder->free_packet (g_array_index (reorder->waiting, Waiting, i).packet);
  g_array_set_size (reorder->waiting, 0);
  g_queue_clear_full (&reorder->output, reorder->free_packet);
  clear_ring (reorder, &reorder->singles);
  clear_ring (reorder, &reorder->runs);
  reorder->n_earlier = 0;
  reorder->started = FALSE;
}

void
rtp_reorder_free (RtpReorder * reorder)
{
  rtp_reorder_reset (reorder);
  g_array_unref (reorder->waiting);
  g_free (reorder);
}

void
rtp_reorder_set_window (RtpReorder * reorder, guint window)
{
  reorder->window = MIN (window, RTP_REORDER_MAX_WINDOW);
}

/* Increments `next`, the expected sequence number, because the packet with this
 * number was received or is now counted as lost. */
static void
reorder_advance (RtpReorder * reorder, gboolean received)
{
  reorder->seen[1] = reorder->seen[1] << 1 | reorder->seen[0] >> 63;
  reorder->seen[0] = reorder->seen[0] << 1 | (received ? 1 : 0);
  reorder->next++;
  if (!received)
    reorder->lost++;
}

/* Outputs the waiting packets up to the next gap. If more than `limit` packets
 * still wait after that, the packets that are missing in the gap are counted as
 * lost, and the packets after the gap are output too. This is repeated until at
 * most `limit` packets wait. */
static void
reorder_release (RtpReorder * reorder, guint limit)
{
  guint released = 0;
  Waiting *first;

  while (released < reorder->waiting->len) {
    first = &g_array_index (reorder->waiting, Waiting, released);
    if (first->seqnum != reorder->next
        && reorder->waiting->len - released <= limit)
      break;
    while (first->seqnum != reorder->next)
      reorder_advance (reorder, FALSE);
    reorder_advance (reorder, TRUE);
    g_queue_push_tail (&reorder->output, first->packet);
    released++;
  }
  if (released > 0)
    g_array_remove_range (reorder->waiting, 0, released);
}

static void
reorder_begin (RtpReorder * reorder, guint32 ssrc, guint16 seqnum)
{
  reorder_release (reorder, 0);
  reorder->started = TRUE;
  reorder->ssrc = ssrc;
  reorder->next = seqnum;
  reorder->seen[0] = reorder->seen[1] = 0;
}

/* Inserts a packet into the list of waiting packets, which is sorted by
 * sequence number. Returns FALSE if a packet with the same sequence number is
 * already waiting. */
static gboolean
reorder_wait (RtpReorder * reorder, guint16 seqnum, gpointer packet)
{
  Waiting waiting = { seqnum, packet };
  guint i = reorder->waiting->len;
  gint16 ahead;

  for (; i > 0; i--) {
    ahead = seqnum - g_array_index (reorder->waiting, Waiting, i - 1).seqnum;
    if (ahead == 0)
      return FALSE;
    if (ahead > 0)
      break;
  }
  g_array_insert_val (reorder->waiting, i, waiting);
  return TRUE;
}

/* Processes a packet of the current source. The sequence number of the packet
 * must be near the expected one. */
static RtpReorderResult
reorder_place (RtpReorder * reorder, guint16 seqnum, gboolean final_gap,
    gpointer packet)
{
  const gint16 ahead = seqnum - reorder->next;

  if (ahead < 0) {
    guint back = -1 - ahead;

    return reorder->seen[back / 64] >> (back % 64) & 1 ?
        RTP_REORDER_DUPLICATE : RTP_REORDER_LATE;
  }
  if (ahead == 0 && reorder->waiting->len == 0) {
    reorder_advance (reorder, TRUE);
    if (g_queue_is_empty (&reorder->output))
      return RTP_REORDER_NEXT;
    g_queue_push_tail (&reorder->output, packet);
    return RTP_REORDER_TAKEN;
  }
  if (!reorder_wait (reorder, seqnum, packet))
    return RTP_REORDER_DUPLICATE;
  reorder_release (reorder, final_gap ? 0 : reorder->window);
  return RTP_REORDER_TAKEN;
}

/* --- sources -------------------------------------------------------------- */

static void
reorder_drop_strays (RtpReorder * reorder)
{
  reorder->strays += clear_ring (reorder, &reorder->singles)
      + clear_ring (reorder, &reorder->runs);
}

static Stray *
find_stray (StrayRing * ring, guint32 ssrc, guint16 seqnum)
{
  guint i;

  for (i = 0; i < ring->n; i++) {
    Stray *stray = &ring->strays[(ring->first + i) % MAX_STRAYS];

    if (stray->ssrc == ssrc && stray->seqnum == seqnum && stray->packet)
      return stray;
  }
  return NULL;
}

static void
push_stray (RtpReorder * reorder, StrayRing * ring, const Stray * stray)
{
  if (ring->n == MAX_STRAYS) {
    Stray *oldest = &ring->strays[ring->first];

    if (oldest->packet) {
      reorder->free_packet (oldest->packet);
      reorder->strays++;
    }
    ring->first = (ring->first + 1) % MAX_STRAYS;
    ring->n--;
  }
  ring->strays[(ring->first + ring->n++) % MAX_STRAYS] = *stray;
}

/* Stores a stray: a packet from another source than the current one, or with a
 * sequence number far from the expected one. Returns TRUE if an earlier stray
 * of the same source is stored and has the previous sequence number. These two
 * strays then belong to a run of consecutive packets. */
static gboolean
keep_stray (RtpReorder * reorder, const Stray * stray)
{
  const guint16 before = stray->seqnum - 1;
  gboolean in_run = find_stray (&reorder->runs, stray->ssrc, before) != NULL;
  Stray *single;

  if (!in_run) {
    single = find_stray (&reorder->singles, stray->ssrc, before);
    in_run = single != NULL;
    if (single) {
      push_stray (reorder, &reorder->runs, single);
      single->packet = NULL;
    }
  }
  push_stray (reorder, in_run ? &reorder->runs : &reorder->singles, stray);
  return in_run;
}

/* Called when the source `ssrc` has sent two consecutive packets that do not
 * continue the current sequence. Returns whether the receiver may now accept
 * `ssrc` as the current source. The result is TRUE in three cases:
 * - `ssrc` already is the current source, so it has only begun a new sequence.
 * - The current source has been silent for SOURCE_TIMEOUT.
 * - It is unknown how long the current source has been silent, because an
 *   arrival time is unknown or the arrival times decrease. */
static gboolean
may_take_over (const RtpReorder * reorder, guint32 ssrc, guint64 now)
{
  return ssrc == reorder->ssrc || now == RTP_REORDER_NO_TIME
      || reorder->heard == RTP_REORDER_NO_TIME || now < reorder->heard
      || now - reorder->heard >= SOURCE_TIMEOUT;
}

static void
remember_source (RtpReorder * reorder)
{
  if (reorder->n_earlier == MAX_EARLIER)
    memmove (&reorder->earlier[0], &reorder->earlier[1],
        --reorder->n_earlier * sizeof (reorder->earlier[0]));
  reorder->earlier[reorder->n_earlier++] = reorder->ssrc;
}

static gboolean
is_near (const RtpReorder * reorder, guint16 seqnum)
{
  const gint16 ahead = seqnum - reorder->next;

  return ahead >= -MAX_MISORDER && ahead <= MAX_DROPOUT;
}

/* `last` is the latest of several strays with consecutive sequence numbers. (A
 * stray is a packet that does not continue the current sequence.) Makes the
 * source of `last` the current source, and outputs these strays. All other
 * strays are dropped. */
static void
take_over (RtpReorder * reorder, const Stray * last)
{
  StrayRing *runs = &reorder->runs;
  gboolean begun = FALSE;
  guint i;

  if (last->ssrc != reorder->ssrc)
    remember_source (reorder);
  for (i = 0; i < runs->n; i++) {
    Stray *stray = &runs->strays[(runs->first + i) % MAX_STRAYS];
    const guint16 back = last->seqnum - stray->seqnum;
    RtpReorderResult result;

    if (stray->ssrc != last->ssrc || back > MAX_DROPOUT)
      continue;
    if (!begun)
      reorder_begin (reorder, stray->ssrc, stray->seqnum);
    begun = TRUE;
    if (!is_near (reorder, stray->seqnum))
      continue;
    result = reorder_place (reorder, stray->seqnum, TRUE, stray->packet);
    if (result == RTP_REORDER_NEXT)
      g_queue_push_tail (&reorder->output, stray->packet);
    if (result == RTP_REORDER_NEXT || result == RTP_REORDER_TAKEN)
      stray->packet = NULL;
  }
  reorder_drop_strays (reorder);
}

/* Checks whether `ssrc` belongs to a former source, which another source has
 * replaced. If so, makes the former source the current one again and returns
 * TRUE. Otherwise returns FALSE.
 *
 * One packet is enough to switch back. This is safe, because an off-path
 * attacker does not know the SSRC of the former source. The source that was
 * current until the switch is not remembered as a former source. */
static gboolean
take_back (RtpReorder * reorder, guint32 ssrc, guint16 seqnum)
{
  guint i;

  for (i = 0; i < reorder->n_earlier; i++) {
    if (reorder->earlier[i] != ssrc)
      continue;
    reorder->n_earlier = i;
    reorder_begin (reorder, ssrc, seqnum);
    return TRUE;
  }
  return FALSE;
}

static gboolean
is_of_source (RtpReorder * reorder, guint32 ssrc, guint16 seqnum)
{
  if (ssrc != reorder->ssrc)
    return take_back (reorder, ssrc, seqnum);
  return is_near (reorder, seqnum);
}

RtpReorderResult
rtp_reorder_input (RtpReorder * reorder, guint32 ssrc, guint16 seqnum,
    guint64 now, gboolean final_gap, gpointer packet)
{
  if (!reorder->started)
    reorder_begin (reorder, ssrc, seqnum);
  if (!is_of_source (reorder, ssrc, seqnum)) {
    const Stray stray = { ssrc, seqnum, packet };

    if (keep_stray (reorder, &stray) && may_take_over (reorder, ssrc, now)) {
      take_over (reorder, &stray);
      reorder->heard = now;
    }
    return RTP_REORDER_TAKEN;
  }
  reorder->heard = now;
  reorder_drop_strays (reorder);
  return reorder_place (reorder, seqnum, final_gap, packet);
}

gpointer
rtp_reorder_poll_output (RtpReorder * reorder)
{
  return g_queue_pop_head (&reorder->output);
}

void
rtp_reorder_drain (RtpReorder * reorder)
{
  reorder_drop_strays (reorder);
  reorder_release (reorder, 0);
}

guint64
rtp_reorder_get_lost (const RtpReorder * reorder)
{
  return reorder->lost;
}

guint64
rtp_reorder_get_strays (const RtpReorder * reorder)
{
  return reorder->strays;
}
