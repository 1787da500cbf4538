/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bitratecontrol.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
/* Minimum change of the encoder's bitrate, as a fraction of its present
 * bitrate. If the wanted change is smaller, the encoder keeps its bitrate. Only
 * a change to the minimum or to the maximum bitrate is always made. */
#define MIN_CHANGE 0.01

struct _BitrateControl
{
  BitrateConfig config;
  const BitrateRule *rule;
  gpointer state;               /* state of the rule */
  gdouble wanted;
  /* TRUE if bitrate_control_poll () has told the caller to set the encoder to
   * the bitrate stats.target. FALSE if the caller must still be told, or must
   * be told again because the encoder was replaced or restarted. */
  gboolean is_asked;
  /* TRUE while a change of the bitrate has to wait, because as many changes as
   * allowed were made in the last second. A waiting change is counted in
   * stats.held_back when the wait begins; while is_held is TRUE, it is not
   * counted again. */
  gboolean is_held;

  guint64 changed_at[BITRATE_MAX_CHANGES];      /* ring of times in ns */
  guint n_changes, next_change;
  BitrateStats stats;
};

static gdouble
limit (const BitrateControl * control, gdouble bitrate)
{
  const BitrateLimits *limits = &control->config.limits;

  return CLAMP (bitrate, limits->min_bitrate, MAX (limits->min_bitrate,
          limits->max_bitrate));
}

BitrateControl *
bitrate_control_new (const BitrateConfig * config, const BitrateRule * rule,
    guint64 bitrate)
{
  BitrateControl *control = g_new0 (BitrateControl, 1);

  control->wanted = bitrate;
  bitrate_control_set_config (control, config);
  bitrate_control_set_rule (control, rule);
  return control;
}

void
bitrate_control_free (BitrateControl * control)
{
  if (!control)
    return;
  g_free (control->state);
  g_free (control);
}

void
bitrate_control_set_config (BitrateControl * control,
    const BitrateConfig * config)
{
  control->config = *config;
  control->config.max_changes = CLAMP (config->max_changes, 1,
      BITRATE_MAX_CHANGES);
  control->wanted = limit (control, control->wanted);
}

void
bitrate_control_set_rule (BitrateControl * control, const BitrateRule * rule)
{
  if (control->rule == rule)
    return;
  g_free (control->state);
  control->rule = rule;
  control->state = g_malloc0 (rule->size);
  if (rule->init)
    rule->init (control->state, &control->config.limits);
}

void
bitrate_control_input (BitrateControl * control, const BitrateReport * report)
{
  if (report->estimate > 0 || report->loss >= 0 ||
      (report->round_trip != BITRATE_UNKNOWN && report->round_trip > 0))
    control->stats.reports++;
  control->wanted = limit (control, control->rule->feedback (control->state,
          &control->config.limits, report, control->wanted));
}

/* Returns how many times the bitrate of the encoder was changed in the last
 * second. */
static guint
count_changes (const BitrateControl * control, guint64 now)
{
  guint i, n = 0;

  for (i = 0; i < control->n_changes; i++)
    n += control->changed_at[i] + SECOND > now;
  return n;
}

static void
note_change (BitrateControl * control, guint64 now)
{
  control->changed_at[control->next_change] = now;
  control->next_change = (control->next_change + 1) % BITRATE_MAX_CHANGES;
  control->n_changes = MIN (control->n_changes + 1, BITRATE_MAX_CHANGES);
}

/* Returns whether the encoder has to be set to the bitrate that the rule wants.
 * A change of less than MIN_CHANGE (1 %) is not worth while, unless the wanted
 * bitrate is the minimum or the maximum bitrate. An encoder that was replaced
 * or restarted has to be set in any case. */
static gboolean
is_worth_it (const BitrateControl * control)
{
  gdouble target = control->stats.target, wanted = control->wanted;

  if (!control->is_asked)
    return TRUE;
  if ((guint64) wanted == control->stats.target)
    return FALSE;
  return ABS (wanted - target) >= MIN_CHANGE * target
      || wanted == limit (control, 0) || wanted == limit (control, G_MAXDOUBLE);
}

static gboolean
may_change (BitrateControl * control, guint64 now, gboolean is_rise)
{
  guint maximum = control->config.max_changes;

  if (is_rise)
    maximum = MAX (maximum / 2, 1);
  return count_changes (control, now) < maximum;
}

gboolean
bitrate_control_poll (BitrateControl * control, guint64 now, guint64 * bitrate)
{
  gboolean is_rise = control->wanted >= control->stats.target;

  if (!is_worth_it (control))
    return FALSE;
  if (!may_change (control, now, is_rise)) {
    control->stats.held_back += !control->is_held;
    control->is_held = TRUE;
    return FALSE;
  }
  control->is_held = FALSE;
  note_change (control, now);
  if (control->stats.target > 0 && control->wanted > control->stats.target)
    control->stats.rises++;
  else if (control->wanted < control->stats.target)
    control->stats.falls++;
  control->is_asked = TRUE;
  *bitrate = control->stats.target = control->wanted;
  return TRUE;
}

void
bitrate_control_repeat (BitrateControl * control)
{
  control->is_asked = FALSE;
}

const BitrateRule *
bitrate_control_get_rule (const BitrateControl * control)
{
  return control->rule;
}

void
bitrate_control_get_stats (const BitrateControl * control, BitrateStats * stats)
{
  *stats = control->stats;
}
