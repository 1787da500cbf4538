/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Puts packets that overtook each other back in order: a core. In order they
 * pass at once; behind a gap at most `window` packets wait for the missing
 * one. Packets are opaque.
 *
 * Single packets of another source, or with a number far off, are strays and are
 * dropped. Two in a row, with none of the current source between them, begin
 * anew: with the SSRC of the current source at once (RFC 3550 A.1), with another
 * one only when the current source has been silent for a second. Until then the
 * new source's packets are kept, at most 1024, so that nothing of it is missing.
 * A source that was replaced takes its place back with its next packet.
 */

#pragma once

#include <glib.h>

typedef enum
{
  RTP_REORDER_NEXT,             /* the next in order, and nothing waits: the
                                 * caller's to use at once */
  RTP_REORDER_TAKEN,            /* see rtp_reorder_poll_output () */
  RTP_REORDER_DUPLICATE,        /* was here before: the caller's to free */
  RTP_REORDER_LATE              /* its place was given up: likewise */
} RtpReorderResult;

typedef struct _RtpReorder RtpReorder;

/* free_packet: for packets that wait when the object is reset or freed */
RtpReorder *rtp_reorder_new (GDestroyNotify free_packet);
void rtp_reorder_free (RtpReorder * reorder);
void rtp_reorder_reset (RtpReorder * reorder);
/* 0 to RTP_REORDER_MAX_WINDOW packets */
#define RTP_REORDER_MAX_WINDOW 64
void rtp_reorder_set_window (RtpReorder * reorder, guint window);

#define RTP_REORDER_NO_TIME G_MAXUINT64

/* now: arrival in ns, or RTP_REORDER_NO_TIME: any other source that sends two
 * packets in a row begins anew. final_gap: what is missing before this packet
 * will not come. */
RtpReorderResult rtp_reorder_input (RtpReorder * reorder, guint32 ssrc,
    guint16 seqnum, guint64 now, gboolean final_gap, gpointer packet);
/* The next packet in order, or NULL */
gpointer rtp_reorder_poll_output (RtpReorder * reorder);
/* No more will come: all that waits may go. */
void rtp_reorder_drain (RtpReorder * reorder);
/* Packets that were given up, in all */
guint64 rtp_reorder_get_lost (const RtpReorder * reorder);
/* Packets that nothing went on from: dropped, in all */
guint64 rtp_reorder_get_strays (const RtpReorder * reorder);
