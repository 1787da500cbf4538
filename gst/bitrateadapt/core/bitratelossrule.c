/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Follows the losses that RTCP receiver reports tell of, as the loss-based
 * controller of Google Congestion Control does (draft-ietf-rmcat-gcc-02,
 * section 6): above 10 % the rate falls by half of the share that was lost, below
 * 2 % it rises by 5 %, and between them it stays.
 *
 * This rule notices a full path only when its queue overflows. Therefore the delay
 * is that of the queue.
 */

#include "bitraterule.h"

#define HIGH_LOSS 0.1
#define LOW_LOSS 0.02
#define DECREASE 0.5
#define INCREASE 1.05
/* "the estimate is updated each time a report arrives"; receivers that send many
 * reports must not raise it faster than the usual one each second. */
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
