/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts for the user about a path: the name of its state, and the reason why it
 * carries no packets of the stream at present. */

#include "mmtppathinfo.h"

#define SECOND 1e9

static const gchar *const state_names[] = {
  "opening", "active", "control", "silent", "gone"
};

const gchar *
mmtp_path_state_get_name (MmtpPathState state)
{
  return state_names[state];
}

gchar *
mmtp_path_stats_explain (const MmtpSenderPathStats * stats)
{
  switch (stats->use) {
    case MMTP_USE_JOINING:
      return g_strdup ("joining");
    case MMTP_USE_SPARE:
      return g_strdup ("not needed");
    case MMTP_USE_PROBED:
      return g_strdup ("probing");
    case MMTP_USE_TOO_SLOW:
      return g_strdup ("too slow for the deadline");
    case MMTP_USE_SILENT:
      return g_strdup_printf ("silent for %.1f s", stats->silence / SECOND);
    case MMTP_USE_BLOCKED:
      return g_strdup ("its socket has no room");
    case MMTP_USE_GONE:
      return g_strdup ("gone");
    default:
      return g_strdup ("");
  }
}
