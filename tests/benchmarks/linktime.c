/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures how much computing time the emulation of a link needs, without
 * GStreamer. The traffic is that of the unit tests, and the link runs in
 * virtual time. The program prints one line for each experiment: its name, its
 * duration in virtual time, and the elapsed real time. Both times are in
 * seconds.
 */

#include <stdio.h>

#include "linkload.h"

#define MINUTE 60.0

typedef struct
{
  const gchar *name;
  LinkProfile profile;
  LinkQuality quality;
  gboolean oven;
  gboolean tcp;
  guint packets;                /* about a minute's */
} Experiment;

static const Experiment experiments[] = {
  {"80211b-udp", LINK_PROFILE_80211B, LINK_QUALITY_GOOD, FALSE, FALSE, 32000},
  {"80211b-oven-udp", LINK_PROFILE_80211B, LINK_QUALITY_GOOD, TRUE, FALSE,
      26000},
  {"80211b-tcp", LINK_PROFILE_80211B, LINK_QUALITY_GOOD, FALSE, TRUE, 24000},
  {"80211b-oven-tcp", LINK_PROFILE_80211B, LINK_QUALITY_GOOD, TRUE, TRUE,
      19000},
  {"80211g-udp", LINK_PROFILE_80211G, LINK_QUALITY_GOOD, FALSE, FALSE, 150000},
  {"gsm-udp", LINK_PROFILE_GSM, LINK_QUALITY_GOOD, FALSE, FALSE, 30},
  {"gprs-udp", LINK_PROFILE_GPRS, LINK_QUALITY_GOOD, FALSE, FALSE, 60},
};

static gdouble
run (const Experiment * experiment)
{
  const TcpConfig tcp = { experiment->packets, 1448, 52, 200, 2 };
  const LinkLoadSizes sizes = { 1500, 1500 };
  LinkConfig config;

  link_config_init (&config, experiment->profile, experiment->quality);
  config.oven.always = experiment->oven;
  config.seed = 1;
  if (experiment->tcp)
    return link_load_tcp (&config, &tcp).seconds;
  return link_load_saturate (&config, experiment->packets, sizes).seconds;
}

int
main (int argc, char **argv)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (experiments); i++) {
    gint64 begin = g_get_monotonic_time ();
    gdouble seconds = run (&experiments[i]);
    gdouble wall = (g_get_monotonic_time () - begin) / 1e6;

    printf ("%s %.1f %.6f\n", experiments[i].name, seconds,
        wall * MINUTE / seconds);
    fflush (stdout);
  }
  return 0;
}
