/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides what an encoder is asked for, and when. A rule (bitraterule.h) turns
 * reports on the network into a rate. This part keeps it between the limits, and
 * changes the encoder only so often.
 *
 *   control = bitrate_control_new (&config, &bitrate_estimate_rule, 2000000);
 *   bitrate_control_input (control, &report);      as often as there is one
 *   if (bitrate_control_poll (control, now, &bitrate))
 *     ask the encoder for `bitrate`
 *
 * It has no thread and reads no clock. Rates are bit/s, times ns.
 */

#pragma once

#include "bitraterule.h"

#define BITRATE_MAX_CHANGES 50

typedef struct
{
  BitrateLimits limits;
  guint max_changes;            /* of the encoder in any second, 1 to
                                 * BITRATE_MAX_CHANGES; rises take no more than
                                 * half of them, so that a fall need not wait */
} BitrateConfig;

typedef struct
{
  guint64 target;               /* that the encoder was asked for last */
  guint64 reports;              /* that had an estimate, a round trip or losses */
  guint64 falls, rises;         /* changes of the encoder */
  guint64 held_back;            /* changes that had to wait for the next second */
} BitrateStats;

typedef struct _BitrateControl BitrateControl;

/* bitrate: what the encoder makes now; kept between the limits */
BitrateControl *bitrate_control_new (const BitrateConfig * config,
    const BitrateRule * rule, guint64 bitrate);
void bitrate_control_free (BitrateControl * control);

/* While it runs. The state of another rule begins anew, at the present rate. */
void bitrate_control_set_config (BitrateControl * control,
    const BitrateConfig * config);
void bitrate_control_set_rule (BitrateControl * control,
    const BitrateRule * rule);

void bitrate_control_input (BitrateControl * control,
    const BitrateReport * report);
/* TRUE: the encoder is to be asked for `bitrate` now, which counts as done */
gboolean bitrate_control_poll (BitrateControl * control, guint64 now,
    guint64 * bitrate);
/* Another encoder, or one that has begun anew, gets the rate with the next poll. */
void bitrate_control_repeat (BitrateControl * control);

const BitrateRule *bitrate_control_get_rule (const BitrateControl * control);
void bitrate_control_get_stats (const BitrateControl * control,
    BitrateStats * stats);
