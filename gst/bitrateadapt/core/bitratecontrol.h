/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides which bitrate an encoder is set to, and when. A rule (bitraterule.h)
 * computes a bitrate from reports about the network. The control keeps this
 * bitrate between the configured minimum and maximum, and limits the number of
 * changes per second.
 *
 *   control = bitrate_control_new (&config, &bitrate_estimate_rule, 2000000);
 *   ...
 *   bitrate_control_input (control, &report);
 *   ...
 *   if (bitrate_control_poll (control, now, &bitrate))
 *     set_encoder_bitrate (bitrate);
 *
 * bitrate_control_input is called for each report. The control has no thread
 * and reads no clock. Rates are in bit/s, times in ns.
 */

#pragma once

#include "bitraterule.h"

#define BITRATE_MAX_CHANGES 50

typedef struct
{
  BitrateLimits limits;
  /* Maximum number of changes per second, 1 to BITRATE_MAX_CHANGES. An increase
   * must wait if the number of changes in the last second has reached half of
   * this maximum. The other half is reserved for decreases. */
  guint max_changes;
} BitrateConfig;

typedef struct
{
  guint64 target;               /* latest bitrate set on the encoder */
  /* number of reports to bitrate_control_input () that contained an estimate, a
   * round-trip time or a new share of lost packets */
  guint64 reports;
  /* `falls` is the number of decreases of the encoder's bitrate, and `rises` is
   * the number of its increases. */
  guint64 falls, rises;
  /* number of changes that had to wait, because the maximum number of changes
   * in one second was reached */
  guint64 held_back;
} BitrateStats;

typedef struct _BitrateControl BitrateControl;

/* Creates a control. `bitrate` is the present bitrate of the encoder. If this
 * bitrate is outside the range of `config`, the control starts with the nearest
 * bitrate in the range. */
BitrateControl *bitrate_control_new (const BitrateConfig * config,
    const BitrateRule * rule, guint64 bitrate);
void bitrate_control_free (BitrateControl * control);

/* The configuration and the rule may be changed at any time. A new rule does
 * not know the reports that the previous rule has received. It starts from the
 * last bitrate that the previous rule computed. */
void bitrate_control_set_config (BitrateControl * control,
    const BitrateConfig * config);
void bitrate_control_set_rule (BitrateControl * control,
    const BitrateRule * rule);

void bitrate_control_input (BitrateControl * control,
    const BitrateReport * report);
/* Returns TRUE if the encoder must be set to another bitrate now, and stores
 * this bitrate in `bitrate`. From then on, the control assumes that the caller
 * has set the encoder to it. */
gboolean bitrate_control_poll (BitrateControl * control, guint64 now,
    guint64 * bitrate);
/* Call this function after the encoder was replaced or restarted.
 * bitrate_control_poll () then returns the bitrate once more, so that the
 * encoder is set to it again. */
void bitrate_control_repeat (BitrateControl * control);

const BitrateRule *bitrate_control_get_rule (const BitrateControl * control);
void bitrate_control_get_stats (const BitrateControl * control,
    BitrateStats * stats);
