/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Restores the order of RTP packets. A packet that is in order is passed on at
 * once. If a packet is missing, at most `window` later packets wait for it. The
 * contents of packets are not accessed.
 *
 * Some packets are strays. A stray comes from a source other than the current
 * one, or its sequence number is far from the expected one. Strays are kept
 * until the next packet of the current source arrives, and are then dropped. At
 * most 1024 strays are kept. If more arrive, the oldest ones are dropped.
 *
 * Two kept strays with the same SSRC and consecutive sequence numbers start a
 * new sequence in two cases:
 * - They have the SSRC of the current source (RFC 3550 A.1).
 * - They have another SSRC, and the current source has been silent for one
 *   second. The source of the strays then becomes the current source.
 *
 * When a new sequence starts, the kept strays that belong to it are passed on.
 *
 * The SSRCs of former sources are remembered. A packet of a former source is
 * not a stray: this source immediately becomes the current source again.
 */

#pragma once

#include <glib.h>

typedef enum
{
  /* The packet is the next one in order, and no other packet waits. The caller
   * still owns the packet, and must process it before it calls the reorder
   * buffer again. */
  RTP_REORDER_NEXT,
  /* The reorder buffer has taken ownership of the packet.
   * rtp_reorder_poll_output () returns the packet when it is next in order. */
  RTP_REORDER_TAKEN,
  /* A packet with this sequence number was received before. The caller frees
   * the packet. */
  RTP_REORDER_DUPLICATE,
  /* The packet arrived so late that it had already been counted as lost. The
   * caller frees the packet. */
  RTP_REORDER_LATE
} RtpReorderResult;

typedef struct _RtpReorder RtpReorder;

/* Creates a reorder buffer. `free_packet` is called for each packet that the
 * reorder buffer drops, and for each packet that it still contains when it is
 * reset or freed. */
RtpReorder *rtp_reorder_new (GDestroyNotify free_packet);
void rtp_reorder_free (RtpReorder * reorder);
void rtp_reorder_reset (RtpReorder * reorder);
/* Sets the window: 0 to RTP_REORDER_MAX_WINDOW packets. */
#define RTP_REORDER_MAX_WINDOW 64
void rtp_reorder_set_window (RtpReorder * reorder, guint window);

#define RTP_REORDER_NO_TIME G_MAXUINT64

/* Processes a packet. `now` is its arrival time in ns, or RTP_REORDER_NO_TIME
 * if the time is unknown. Another source replaces the current source if it
 * sends two consecutive packets after the current source was silent for one
 * second. If the arrival time is unknown, two consecutive packets of the other
 * source are sufficient.
 *
 * If `final_gap` is TRUE, the packets that are missing before this packet will
 * not arrive any more, so the reorder buffer does not wait for them. */
RtpReorderResult rtp_reorder_input (RtpReorder * reorder, guint32 ssrc,
    guint16 seqnum, guint64 now, gboolean final_gap, gpointer packet);
/* Returns the next packet in order (transfer full), or NULL if the packet that
 * is next in order has not arrived. */
gpointer rtp_reorder_poll_output (RtpReorder * reorder);
/* Call this function when no more packets will arrive. All waiting packets can
 * then be polled, because missing packets count as lost. */
void rtp_reorder_drain (RtpReorder * reorder);
/* Returns the total number of packets that count as lost, because the reorder
 * buffer no longer waits for them. */
guint64 rtp_reorder_get_lost (const RtpReorder * reorder);
/* Returns the total number of dropped strays. A stray is a packet of another
 * source, or a packet whose sequence number is far from the expected one. */
guint64 rtp_reorder_get_strays (const RtpReorder * reorder);
