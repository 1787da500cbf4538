/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides when a key frame is requested from the encoder: after a loss, and as
 * soon as the data that waits at the sender is certain to arrive too late. In
 * the second case a key frame that is encoded now can still arrive in time,
 * because the sender drops the late frames before it. The request does not
 * wait until the first frame is dropped, because this wait would delay the key
 * frame.
 *
 *   bitrate_key_frames_init (&key_frames);
 *   bitrate_key_frames_input (&key_frames, &report, latency, bitrate);
 *   if (bitrate_key_frames_poll (&key_frames, now))
 *     request a key frame
 */

#pragma once

#include "bitraterule.h"

typedef enum
{
  /* The sender dropped a frame that waited in its queue. If a key frame was
   * requested and has not reached the sender yet, it will follow the dropped
   * frame in the stream. */
  BITRATE_LOSS_DROPPED,
  /* The sender dropped the requested key frame. */
  BITRATE_LOSS_KEY_FRAME,
  /* The network lost packets. It is not known to which frame they belonged. */
  BITRATE_LOSS_NETWORK,
  BITRATE_LOSS_LAST             /* number of values */
} BitrateLoss;

typedef struct
{
  /* time in ns of the last request for a key frame; 0 = none */
  guint64 asked_at;
  /* Minimum time in ns from the last request for a key frame to the next
   * request, if the requested key frame was lost */
  guint64 retry_interval;
  gboolean is_wanted;
  gboolean is_key_frame_lost;   /* TRUE if the requested key frame was lost */
  /* TRUE if the network may have lost the requested key frame */
  gboolean is_network_loss;
  /* round-trip time in ns from the last report; 0 = unknown */
  guint64 round_trip;
  gdouble estimate;             /* last estimate */
  /* time in ns at which the estimated rate last fell by more than 5 % */
  guint64 fell_at;
  guint64 requested;            /* counter */
} BitrateKeyFrames;

void bitrate_key_frames_init (BitrateKeyFrames * self);
/* Processes a report about the network. `latency` is the time in ns from
 * capture to display, or 0 if it is unknown. `bitrate` is the bitrate of the
 * encoder in bit/s. */
void bitrate_key_frames_input (BitrateKeyFrames * self,
    const BitrateReport * report, guint64 latency, guint64 bitrate);
/* Call this function when a frame to which other frames refer was lost or
 * dropped. */
void bitrate_key_frames_note_loss (BitrateKeyFrames * self, BitrateLoss loss);
/* Returns TRUE if a key frame must be requested now. From then on, the object
 * assumes that the caller has requested the key frame. */
gboolean bitrate_key_frames_poll (BitrateKeyFrames * self, guint64 now);
/* Returns TRUE if a key frame was requested so recently that it may not have
 * reached the sink yet. As long as the result is TRUE, it is useless to request
 * another key frame. */
gboolean bitrate_key_frames_is_coming (const BitrateKeyFrames * self,
    guint64 now);
