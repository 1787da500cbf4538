/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Restores the order of RTP packets. A packet in order is passed on at once. If
 * a packet is missing, at most `window` packets wait for it. The contents of
 * packets are not accessed.
 *
 * A packet is a stray if it comes from a source other than the current one, or
 * if its sequence number is far from the expected one. Strays are kept until
 * the next packet of the current source arrives, and are then dropped. The
 * maximum is 1024 kept strays. If more arrive, the oldest ones are dropped.
 *
 * Two kept strays with the same SSRC and consecutive numbers start a new
 * sequence in two cases:
 * - They have the SSRC of the current source (RFC 3550 A.1).
 * - They have another SSRC, and the current source has been silent for a
 *   second. The other source then replaces the current source.
 * When the new sequence starts, its kept strays are passed on.
 *
 * A packet of a source that was replaced earlier is not a stray. This source
 * immediately becomes the current source again.
 */

#pragma once

#include <glib.h>

typedef enum
{
  /* The packet is the next in order and no packet waits. The caller still owns
   * the packet and must use it immediately. */
  RTP_REORDER_NEXT,
  /* The reorder buffer has taken ownership of the packet.
   * rtp_reorder_poll_output () returns the packet when it is next in order. */
  RTP_REORDER_TAKEN,
  /* The packet was received before; the caller frees it. */
  RTP_REORDER_DUPLICATE,
  /* The packet had already been counted as lost when it arrived; the caller
   * frees it. */
  RTP_REORDER_LATE
} RtpReorderResult;

typedef struct _RtpReorder RtpReorder;

/* Creates a reorder buffer. When it is reset or freed, it calls `free_packet`
 * for each packet that it still contains. */
RtpReorder *rtp_reorder_new (GDestroyNotify free_packet);
void rtp_reorder_free (RtpReorder * reorder);
void rtp_reorder_reset (RtpReorder * reorder);
/* Sets the window: 0 to RTP_REORDER_MAX_WINDOW packets. */
#define RTP_REORDER_MAX_WINDOW 64
void rtp_reorder_set_window (RtpReorder * reorder, guint window);

#define RTP_REORDER_NO_TIME G_MAXUINT64

/* Processes a packet. `now` is its arrival time in ns, or RTP_REORDER_NO_TIME
 * if the time is unknown. A different source replaces the current source if it
 * sends two consecutive packets after the current source was silent for some
 * time. If the arrival time is unknown, the two packets are sufficient.
 *
 * If `final_gap` is TRUE, the packets that are missing before this packet will
 * not arrive any more. */
RtpReorderResult rtp_reorder_input (RtpReorder * reorder, guint32 ssrc,
    guint16 seqnum, guint64 now, gboolean final_gap, gpointer packet);
/* Returns the next packet in order (transfer full), or NULL. */
gpointer rtp_reorder_poll_output (RtpReorder * reorder);
/* Called when no more packets will arrive; all waiting packets can then be
 * polled. */
void rtp_reorder_drain (RtpReorder * reorder);
/* Returns the total number of missing packets for which the reorder buffer no
 * longer waits. */
guint64 rtp_reorder_get_lost (const RtpReorder * reorder);
/* Returns the total number of dropped strays. A stray is a packet of another
 * source, or a packet whose sequence number is far from the expected one. */
guint64 rtp_reorder_get_strays (const RtpReorder * reorder);
