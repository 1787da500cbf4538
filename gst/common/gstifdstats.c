/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From IfdStats to a GstStructure; see the header. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstifdstats.h"

static void
put_count (GstStructure * structure, const gchar * what, const gchar * of,
    guint64 count)
{
  gchar *name = g_strconcat (what, of, NULL);

  gst_structure_set (structure, name, G_TYPE_UINT64, count, NULL);
  g_free (name);
}

static void
put_by_type (GstStructure * structure, const gchar * name,
    const guint64 * counts)
{
  put_count (structure, name, "", counts[IFD_FRAME_I] + counts[IFD_FRAME_P] +
      counts[IFD_FRAME_B]);
  put_count (structure, name, "-i", counts[IFD_FRAME_I]);
  put_count (structure, name, "-p", counts[IFD_FRAME_P]);
  put_count (structure, name, "-b", counts[IFD_FRAME_B]);
}

static void
put_drops (GstStructure * structure, const IfdStats * stats)
{
  guint64 by_type[IFD_FRAME_LAST] = { 0, }, by_reason[IFD_DROP_LAST] = { 0, };
  guint type, reason;

  for (type = 0; type < IFD_FRAME_LAST; type++) {
    for (reason = 0; reason < IFD_DROP_LAST; reason++) {
      by_type[type] += stats->dropped[type][reason];
      by_reason[reason] += stats->dropped[type][reason];
    }
  }
  put_by_type (structure, "dropped", by_type);
  put_by_type (structure, "bytes-dropped", stats->dropped_bytes);
  for (reason = 0; reason < IFD_DROP_LAST; reason++)
    put_count (structure, "dropped-", ifd_drop_reason_get_name (reason),
        by_reason[reason]);
}

void
gst_structure_set_ifd_stats (GstStructure * structure, const IfdStats * stats)
{
  put_by_type (structure, "frames-in", stats->in);
  put_by_type (structure, "bytes-in", stats->in_bytes);
  put_by_type (structure, "sent", stats->sent);
  put_by_type (structure, "bytes-sent", stats->sent_bytes);
  put_drops (structure, stats);
  put_count (structure, "flushed", "", stats->flushed);
  put_count (structure, "gops", "", stats->gops);
  put_count (structure, "gops-disturbed", "", stats->gops_disturbed);
  put_count (structure, "gops-misordered", "", stats->gops_misordered);
  put_count (structure, "time-blocked", "", stats->time_blocked);
  put_count (structure, "waiting", "", stats->waiting);
  put_count (structure, "bytes-waiting", "", stats->waiting_bytes);
}
