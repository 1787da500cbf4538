/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Padding: messages that are sent only to measure the capacity of a path. The
 * receiver does not need them. The congestion control estimates the capacity,
 * but cannot measure it while the stream uses only a part of it. An encoder
 * that follows the estimate then cannot determine how far its bitrate may rise.
 * This module therefore sends padding for a short time, until the path is full.
 * Such a time is called an episode. After an episode, the estimate shows the
 * capacity.
 *
 * Vidaptive (Ma et al., 2023, arXiv:2309.16869, section 3) sends padding all
 * the time, so the queue of the path is always full. To avoid this, this module
 * sends padding only in short episodes. The estimate stays valid between the
 * episodes, because the congestion control lowers it only if there is a queue.
 */

#pragma once

#include "mmtppolicy.h"

/* State of the padding on one path. Times are in ns. */
typedef struct
{
  gboolean is_active;           /* An episode is running. */
  guint64 begin;                /* begin of the current episode */
  /* Earliest time at which the next episode of padding may begin. An episode is
   * a short time in which padding is sent. */
  guint64 next_begin;
  /* earliest time at which the next padding message may be sent */
  guint64 next_send;
  /* Time in ns at which the current round ends. An episode, the short time in
   * which padding is sent, is divided into rounds. The rate of the padding
   * grows from round to round until the path is full. */
  guint64 round_end;
  /* Delivery rate of the path in bit/s at the beginning of the current round of
   * padding. If the rate does not grow in the round, the path is full. */
  guint64 round_rate;
} MmtpPaddingPath;

typedef struct
{
  const MmtpPaths *paths;
  const MmtpSendQueue *queue;
  const MmtpPolicy *policy;
  guint64 max_rate;             /* in bit/s; 0 means no padding */
  /* Token bucket for the padding on all paths. `allowance` is the number of
   * bits of padding that may be sent. `allowance_time` is the time (ns) at
   * which this number was computed. */
  guint64 allowance, allowance_time;
  guint64 messages, bytes;      /* counters of what was sent */
  MmtpPaddingPath all[MMTP_MAX_PATHS];  /* indexed by the path's id */
} MmtpPadding;

void mmtp_padding_init (MmtpPadding * self, const MmtpPaths * paths,
    const MmtpSendQueue * queue, const MmtpPolicy * policy, guint64 max_rate);
/* Sets the maximum bitrate of the padding on all paths together, in bit/s; 0
 * ends padding. The bitrate includes IP and UDP headers. It is a limit for the
 * mean over a second or longer. For a shorter time, the bitrate may be higher.
 */
void mmtp_padding_set_max_rate (MmtpPadding * self, guint64 max_rate);
/* Returns the path on which a padding message of `path->max_size` bytes should
 * be sent now; NULL if there is none. Call this function only if the sender has
 * nothing else to send. */
MmtpPath *mmtp_padding_poll (MmtpPadding * self);
/* Records that a padding message was sent. `size` is its size in bytes without
 * IP and UDP headers. */
void mmtp_padding_note_sent (MmtpPadding * self, const MmtpPath * path,
    gsize size);
/* Returns whether an episode (a short time in which padding is sent) is running
 * on the path. */
gboolean mmtp_padding_is_active (const MmtpPadding * self,
    const MmtpPath * path);
/* Returns the time in ns at which mmtp_padding_poll() has to be called next,
 * because it may then return a path; MMTP_NEVER if there is no such time. */
guint64 mmtp_padding_next_wakeup (const MmtpPadding * self);
