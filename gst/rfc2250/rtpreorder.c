/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reordering of RTP packets; see the header. */

#include "rtpreorder.h"

/* A packet further back than this is no late one: the sender began anew. The
 * value is GstRTPBaseDepayload's max-reorder; RFC 3550 A.1 has the same for
 * MAX_MISORDER. */
#define MAX_MISORDER 100
/* RFC 3550 A.1, MAX_DROPOUT */
#define MAX_DROPOUT 3000

typedef struct
{
  guint16 seqnum;
  gpointer packet;
} Waiting;

struct _RtpReorder
{
  GDestroyNotify free_packet;
  guint window;

  gboolean started;
  guint32 ssrc;
  guint16 next;                 /* sequence number that comes next */
  guint64 seen[2];              /* bit i: next - 1 - i was received */
  GArray *waiting;              /* of Waiting, in order, all after next */
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

void
rtp_reorder_reset (RtpReorder * reorder)
{
  guint i;

  for (i = 0; i < reorder->waiting->len; i++)
    reorder->free_packet (g_array_index (reorder->waiting, Waiting, i).packet);
  g_array_set_size (reorder->waiting, 0);
  g_queue_clear_full (&reorder->output, reorder->free_packet);
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

/* next moves up by one, over a packet that came or did not. */
static void
reorder_advance (RtpReorder * reorder, gboolean received)
{
  reorder->seen[1] = reorder->seen[1] << 1 | reorder->seen[0] >> 63;
  reorder->seen[0] = reorder->seen[0] << 1 | (received ? 1 : 0);
  reorder->next++;
  if (!received)
    reorder->lost++;
}

/* Hands out what waits, over gaps until no more than limit packets wait, and
 * then as far as there is no gap. */
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

/* Keeps the packet in its place; FALSE: it is there already. */
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

RtpReorderResult
rtp_reorder_input (RtpReorder * reorder, guint32 ssrc, guint16 seqnum,
    gboolean final_gap, gpointer packet)
{
  gint16 ahead = seqnum - reorder->next;

  if (!reorder->started || ssrc != reorder->ssrc || ahead < -MAX_MISORDER
      || ahead > MAX_DROPOUT) {
    reorder_begin (reorder, ssrc, seqnum);
    ahead = 0;
  }
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

gpointer
rtp_reorder_poll_output (RtpReorder * reorder)
{
  return g_queue_pop_head (&reorder->output);
}

void
rtp_reorder_drain (RtpReorder * reorder)
{
  reorder_release (reorder, 0);
}

guint64
rtp_reorder_get_lost (const RtpReorder * reorder)
{
  return reorder->lost;
}
