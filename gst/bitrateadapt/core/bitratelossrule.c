/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Changes the bitrate according to the losses in RTCP receiver reports, like
 * the loss-based controller of Google Congestion Control
 * (draft-ietf-rmcat-gcc-02, section 6). If more than 10 % of the packets are
 * lost, the bitrate decreases by half of this percentage. If less than 2 % are
 * lost, the bitrate increases by 5 %. Between 2 % and 10 % the bitrate does not
 * change.
 *
 * If too much data is sent, the queue of the path fills first. Packets are lost
 * only after this queue has overflowed. This rule decreases the bitrate only
 * after such losses. Until then, the queueing delay grows to that of a full
 * queue.
 */

#include "bitraterule.h"

#define HIGH_LOSS 0.1
#define LOW_LOSS 0.02
#define DECREASE 0.5
#define INCREASE 1.05
/* Minimum time in ns between two increases of the bitrate. In the draft
 * (draft-ietf-rmcat-gcc-02), the sender may increase the bitrate each time it
 * receives a report ("the estimate is updated each time a report arrives"). A
 * receiver usually sends one report per second. If a receiver sends reports
 * more often, this minimum prevents the bitrate from increasing faster. */
#define INCREASE_INTERVAL (G_GUINT64_CONSTANT (1000000000))

typedef struct
{
  guint64 increase_at;
} LossRule;

static gdouble
feedback (gpointer rule, const BitrateLimits * limits,
    const BitrateReport * report, gdouble bitrate)
{
  LossRule *self = rule;

  if (report->loss < 0)
    return bitrate;
  if (report->loss > HIGH_LOSS)
    return bitrate * (1 - DECREASE * report->loss);
  if (report->loss >= LOW_LOSS || report->now < self->increase_at)
    return bitrate;
  self->increase_at = report->now + INCREASE_INTERVAL;
  return bitrate * INCREASE;
}

const BitrateRule bitrate_loss_rule = {
  "loss", "RTCP receiver reports tell what was lost",
  sizeof (LossRule), NULL, feedback
};
