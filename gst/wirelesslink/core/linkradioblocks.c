/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Radio blocks with errors. In the model of Gilbert (1960), errors occur in
 * bursts, and the length of a burst in blocks is geometrically distributed.
 * Alternatively, a recorded trace says which blocks have errors. Singh (2000,
 * section 5.1) collected such traces. The functions are documented in
 * linkradioblocks.h. */

#include "linkradioblocks.h"

#include <string.h>

/* A trace is a text with one character for each block: '0' for a block without
 * errors, and '1' for a block with errors. */

static gboolean
parse_block (GByteArray * trace, const gchar * at, guint line, GError ** error)
{
  const guint8 hit = *at == '1';

  if (g_ascii_isspace (*at))
    return TRUE;
  if (*at == '0' || *at == '1') {
    g_byte_array_append (trace, &hit, 1);
    return TRUE;
  }
  g_set_error (error, LINK_ERROR, LINK_ERROR_SYNTAX, "line %u of the block "
      "trace has the byte 0x%02x: only \"0\", \"1\", blanks and comments that "
      "begin with \"#\" are allowed. Correct the line, or set another file",
      line, (guint8) * at);
  return FALSE;
}

static GByteArray *
parse_trace (const gchar * text, GError ** error)
{
  GByteArray *trace = g_byte_array_new ();
  guint line = 1;

  for (; *text; text++) {
    if (*text == '#')
      text += strcspn (text, "\n");
    if (*text == '\0')
      break;
    if (!parse_block (trace, text, line, error)) {
      g_byte_array_unref (trace);
      return NULL;
    }
    line += *text == '\n';
  }
  if (trace->len == 0) {
    g_set_error (error, LINK_ERROR, LINK_ERROR_EMPTY,
        "the block trace is empty: add at least one \"0\" or \"1\"");
    g_clear_pointer (&trace, g_byte_array_unref);
  }
  return trace;
}

static gboolean
init_traces (LinkRadioBlocks * radio, const LinkBlocksConfig * config,
    GError ** error)
{
  const gchar *texts[2] = { config->trace, config->trace_down };
  guint i;

  if (!texts[1])
    texts[1] = texts[0];
  for (i = 0; i < 2; i++) {
    if (!texts[i])
      continue;
    radio->trace[i] = parse_trace (texts[i], error);
    if (!radio->trace[i])
      return FALSE;
  }
  return TRUE;
}

/* Maximum mean length of a burst or a gap in ns (about 11 days). It exceeds the
 * running time of any link. */
#define MAX_GAP 1e15

/* Computes the mean lengths of the bursts of errors and of the gaps between
 * them. The length of the gaps follows from the error rate and the configured
 * length of the bursts. A gap cannot be shorter than one block. If the computed
 * length is shorter, the gaps get a mean length of one block, and the bursts
 * are made longer than configured, so that the error rate is correct. With
 * bursts of one block, this happens if more than half of all blocks have
 * errors. */
static LinkOnOffConfig
get_sojourns (const LinkBlocksConfig * config)
{
  /* Each of these statements has a single floating-point operation. In a longer
   * expression, some machines would keep intermediate results with a higher
   * precision than others, and the results would then differ. */
  const gdouble hit = config->block_error_rate, good = 1 - hit;
  LinkOnOffConfig sojourns = { 0, 0 };
  gdouble burst = config->mean_burst, gap;

  if (hit <= 0)
    return sojourns;
  if (burst * good < hit && good > 0)
    burst = hit / good;
  gap = burst * good;
  gap /= hit;
  gap *= config->block_time;
  burst *= config->block_time;
  sojourns.mean_bad = MIN (burst, MAX_GAP);
  sojourns.mean_good = MIN (gap, MAX_GAP);
  return sojourns;
}

static void
init_bursts (LinkRadioBlocks * radio, const LinkBlocksConfig * config)
{
  LinkOnOffConfig sojourns = get_sojourns (config);
  guint64 seed = radio->link->config.seed;
  guint i;

  for (i = 0; i < 2; i++) {
    link_on_off_init (&radio->state[i], &sojourns, config->block_time, seed, i,
        LINK_DRAW_BLOCK);
  }
}

gboolean
link_radio_blocks_init (LinkRadioBlocks * radio, Link * link, GError ** error)
{
  const LinkBlocksConfig *config = &link->config.blocks;

  memset (radio, 0, sizeof (*radio));
  radio->link = link;
  radio->block_time = config->block_time;
  radio->change = LINK_NEVER;
  init_bursts (radio, config);
  return init_traces (radio, config, error);
}

void
link_radio_blocks_clear (LinkRadioBlocks * radio)
{
  guint i;

  for (i = 0; i < 2; i++)
    g_clear_pointer (&radio->trace[i], g_byte_array_unref);
}

static gboolean
is_hit (LinkRadioBlocks * radio, guint direction, guint64 block)
{
  const GByteArray *trace = radio->trace[direction];

  if (trace)
    return trace->data[block % trace->len];
  return link_on_off_is_bad (&radio->state[direction],
      block * radio->block_time);
}

gboolean
link_radio_blocks_send (LinkRadioBlocks * radio, guint direction, guint64 block)
{
  gboolean hit = is_hit (radio, direction, block);

  radio->link->stats.blocks++;
  radio->link->stats.blocks_hit += hit;
  return hit;
}

guint64
link_radio_blocks_at (const LinkRadioBlocks * radio, guint64 time)
{
  return (time + radio->block_time - 1) / radio->block_time;
}

/* Quality */

static guint64
find_trace_change (const LinkRadioBlocks * radio, const GByteArray * trace,
    guint64 block)
{
  guint i;

  for (i = 1; i < trace->len; i++) {
    if (trace->data[(block + i) % trace->len] !=
        trace->data[block % trace->len])
      return (block + i) * radio->block_time;
  }
  return LINK_NEVER;
}

static void
find_change (LinkRadioBlocks * radio)
{
  guint64 now = radio->link->now, change = LINK_NEVER;
  guint i;

  for (i = 0; i < 2; i++) {
    if (!radio->used[i])
      continue;
    if (radio->trace[i])
      change = MIN (change, find_trace_change (radio, radio->trace[i],
              now / radio->block_time));
    else
      change = MIN (change, link_on_off_end (&radio->state[i], now));
  }
  radio->change = change;
}

void
link_radio_blocks_use (LinkRadioBlocks * radio, guint direction)
{
  if (radio->used[direction])
    return;
  radio->used[direction] = TRUE;
  find_change (radio);
}

void
link_radio_blocks_tell (LinkRadioBlocks * radio)
{
  if (radio->link->now < radio->change)
    return;
  find_change (radio);
  link_all_qualities_changed (radio->link);
}

gdouble
link_radio_blocks_quality (LinkRadioBlocks * radio, guint direction)
{
  return !is_hit (radio, direction, radio->link->now / radio->block_time);
}
