/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics of wirelesslink, for each flow and summed over all flows. */

#include "gstwirelesslinkprivate.h"

#include <string.h>

#include "gstifd.h"
#include "gstwirelessstats.h"

#define STATS_NAME "application/x-wirelesslink-stats"

typedef struct
{
  LinkFlowStats link;
  guint64 dropped_output;
  guint64 in_flight;
} FlowStats;

#define STATS_STRUCT FlowStats

static const GstWirelessStatsField before_fates[] = {
  STATS_COUNTER ("offered", link.offered),
  STATS_COUNTER ("offered-bytes", link.offered_bytes),
  STATS_COUNTER ("queued", link.queued),
};

static const GstWirelessStatsField behind_fates[] = {
  STATS_COUNTER ("in-flight", in_flight),
  STATS_COUNTER ("dropped-output", dropped_output),
  STATS_COUNTER ("delivered-bytes", link.delivered_bytes),
  STATS_COUNTER ("damaged-bytes", link.damaged_bytes),
  STATS_COUNTER ("duplicates", link.duplicates),
  STATS_COUNTER ("airtime", link.airtime),
};

#undef STATS_STRUCT
#define STATS_STRUCT LinkStats

static const GstWirelessStatsField link_fields[] = {
  STATS_COUNTER ("collisions", collisions),
  STATS_COUNTER ("rate-changes", rate_changes),
  STATS_COUNTER ("calls", calls),
  STATS_COUNTER ("calls-failed", calls_failed),
  STATS_COUNTER ("calls-broken", calls_broken),
  STATS_COUNTER ("setup-time", setup_time),
  STATS_COUNTER ("resets", resets),
  STATS_COUNTER ("blocks", blocks),
  STATS_COUNTER ("blocks-hit", blocks_hit),
};

static void
put_fates (GstStructure * stats, const guint64 * fates)
{
  guint i;

  for (i = 0; i < LINK_FATE_LAST; i++) {
    gst_wireless_stats_set (stats, i <= LINK_FATE_DAMAGED ? "" : "lost-",
        link_fate_get_name (i), fates[i]);
  }
}

static void
put_transmissions (GstStructure * stats, const guint64 * transmissions)
{
  GValue array = G_VALUE_INIT, value = G_VALUE_INIT;
  guint i;

  gst_value_array_init (&array, LINK_MAX_ATTEMPTS);
  g_value_init (&value, G_TYPE_UINT64);
  for (i = 0; i < LINK_MAX_ATTEMPTS; i++) {
    g_value_set_uint64 (&value, transmissions[i]);
    gst_value_array_append_value (&array, &value);
  }
  gst_structure_take_value (stats, "transmissions", &array);
  g_value_unset (&value);
}

static void
put_flow_stats (GstStructure * stats, const FlowStats * flow)
{
  gst_wireless_stats_fill (stats, before_fates, G_N_ELEMENTS (before_fates),
      flow);
  put_fates (stats, flow->link.fates);
  gst_wireless_stats_fill (stats, behind_fates, G_N_ELEMENTS (behind_fates),
      flow);
  put_transmissions (stats, flow->link.transmissions);
}

static void
add_flow_stats (FlowStats * total, const FlowStats * flow)
{
  /* All fields of FlowStats are 64-bit counters, so they are added as an array.
   */
  guint64 *to = (guint64 *) total;
  const guint64 *from = (const guint64 *) flow;
  guint i;

  for (i = 0; i < sizeof (FlowStats) / sizeof (guint64); i++)
    to[i] += from[i];
}

/* The caller holds the lock. */
static void
get_flow_stats (GstWirelessLink * self, guint number, FlowStats * stats)
{
  guint64 finished = 0;
  guint i;

  link_get_flow_stats (self->link, number, &stats->link);
  for (i = 0; i < LINK_FATE_LAST; i++)
    finished += stats->link.fates[i];
  stats->in_flight = stats->link.offered - finished;
  stats->dropped_output = g_array_index (self->dropped_output, guint64, number);
}

static void
put_flow (GstStructure * stats, guint number, const FlowStats * flow)
{
  GstStructure *structure = gst_structure_new_empty ("flow");
  gchar *name = g_strdup_printf ("flow-%u", number);

  put_flow_stats (structure, flow);
  gst_structure_set (stats, name, GST_TYPE_STRUCTURE, structure, NULL);
  gst_structure_free (structure);
  g_free (name);
}

/* If the property queue is set to ifd (I-Frame Delay), adds the statistics of
 * this queue discipline to `stats`. The caller holds the lock. */
static void
put_ifd (GstWirelessLink * self, GstStructure * stats)
{
  GstStructure *structure;
  IfdStats ifd;

  if (!self->link || !link_get_ifd_stats (self->link, &ifd))
    return;
  structure = gst_structure_new_empty ("ifd");
  gst_wireless_stats_fill_ifd (structure, &ifd);
  gst_structure_set (stats, "ifd", GST_TYPE_STRUCTURE, structure, NULL);
  gst_structure_free (structure);
}

static void
put_lateness (GstStructure * stats, const StatisticsHistogram * lateness)
{
  static const struct
  {
    const gchar *name;
    gdouble percent;
  } ranks[] = {
    {"lateness-median", 50}, {"lateness-p99", 99}, {"lateness-max", 100}
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (ranks); i++)
    gst_structure_set (stats, ranks[i].name, G_TYPE_INT64, lateness ?
        statistics_histogram_get_percentile (lateness, ranks[i].percent) :
        G_GINT64_CONSTANT (0), NULL);
}

/* The caller holds the lock. */
static GstStructure *
create_stats (GstWirelessLink * self)
{
  GstStructure *stats = gst_structure_new_empty (STATS_NAME);
  GstStructure *flows = gst_structure_new_empty ("flows");
  FlowStats total = { {0,}, }, flow;
  LinkStats link = { 0, };
  guint i;

  if (self->link)
    link_get_stats (self->link, &link);
  for (i = 0; self->link && i < self->n_announced; i++) {
    get_flow_stats (self, i, &flow);
    add_flow_stats (&total, &flow);
    if (i < self->flows->len && g_ptr_array_index (self->flows, i))
      put_flow (flows, i, &flow);
  }
  put_flow_stats (stats, &total);
  gst_wireless_stats_fill (stats, link_fields, G_N_ELEMENTS (link_fields),
      &link);
  put_lateness (stats, self->lateness);
  put_ifd (self, stats);
  for (i = 0; i < gst_structure_n_fields (flows); i++) {
    const gchar *name = gst_structure_nth_field_name (flows, i);

    gst_structure_set_value (stats, name, gst_structure_get_value (flows,
            name));
  }
  gst_structure_free (flows);
  return stats;
}

GstStructure *
gst_wireless_link_create_stats (GstElement * element)
{
  GstWirelessLink *self = GST_WIRELESS_LINK (element);
  GstStructure *stats;

  gst_wireless_link_lock (self);
  if (!self->link && self->last_stats)
    stats = gst_structure_copy (self->last_stats);
  else
    stats = create_stats (self);
  gst_wireless_link_unlock (self);
  return stats;
}

void
gst_wireless_link_post_stats (GstWirelessLink * self)
{
  gst_wireless_post (self, gst_wireless_link_create_stats (GST_ELEMENT (self)));
}

/* --- timer ---------------------------------------------------------------- */

GstStructure *
gst_wireless_link_create_interval_stats (GstElement * element)
{
  GstWirelessLink *self = GST_WIRELESS_LINK (element);
  gboolean runs;

  gst_wireless_link_lock (self);
  runs = self->link != NULL;
  if (runs)
    gst_wireless_link_flush_log (self);
  gst_wireless_link_unlock (self);
  return runs ? gst_wireless_link_create_stats (element) : NULL;
}
