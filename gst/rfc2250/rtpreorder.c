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

  /* The last packet, if it fits nowhere: from another source, or far off. Only
   * one that goes on from it makes it the begin of something (RFC 3550 A.1). */
  gpointer stray;               /* NULL: none */
  guint32 stray_ssrc;
  guint16 stray_seqnum;
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

void
rtp_reorder_reset (RtpReorder * reorder)
{
  guint i;

  for (i = 0; i < reorder->waiting->len; i++)
    reorder->free_packet (g_array_index (reorder->waiting, Waiting, i).packet);
  g_array_set_size (reorder->waiting, 0);
  g_queue_clear_full (&reorder->output, reorder->free_packet);
  g_clear_pointer (&reorder->stray, reorder->free_packet);
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

static void
reorder_drop_stray (RtpReorder * reorder)
{
  if (!reorder->stray)
    return;
  reorder->free_packet (reorder->stray);
  reorder->stray = NULL;
  reorder->strays++;
}

/* The packet fits nowhere: keeps it, or begins anew with the one kept. */
static void
reorder_take_stray (RtpReorder * reorder, guint32 ssrc, guint16 seqnum,
    gpointer packet)
{
  if (reorder->stray && ssrc == reorder->stray_ssrc
      && seqnum == (guint16) (reorder->stray_seqnum + 1)) {
    reorder_begin (reorder, ssrc, reorder->stray_seqnum);
    reorder_advance (reorder, TRUE);
    g_queue_push_tail (&reorder->output, reorder->stray);
    reorder->stray = NULL;
    reorder_advance (reorder, TRUE);
    g_queue_push_tail (&reorder->output, packet);
    return;
  }
  reorder_drop_stray (reorder);
  reorder->stray = packet;
  reorder->stray_ssrc = ssrc;
  reorder->stray_seqnum = seqnum;
}

RtpReorderResult
rtp_reorder_input (RtpReorder * reorder, guint32 ssrc, guint16 seqnum,
    gboolean final_gap, gpointer packet)
{
  gint16 ahead;

  if (!reorder->started)
    reorder_begin (reorder, ssrc, seqnum);
  ahead = seqnum - reorder->next;
  if (ssrc != reorder->ssrc || ahead < -MAX_MISORDER || ahead > MAX_DROPOUT) {
    reorder_take_stray (reorder, ssrc, seqnum, packet);
    return RTP_REORDER_TAKEN;
  }
  reorder_drop_stray (reorder);
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
  reorder_drop_stray (reorder);
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
