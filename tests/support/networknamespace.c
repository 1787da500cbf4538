/* SPDX-License-Identifier: LGPL-2.1-or-later */

#define _GNU_SOURCE
#include "networknamespace.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "skipped.h"

static void
netns_write_file (const gchar * path, const gchar * format, guint number)
{
  FILE *file = fopen (path, "w");

  if (file) {
    fprintf (file, format, number);
    fclose (file);
  }
}

gboolean
netns_unshare (void)
{
  guint uid = geteuid (), gid = getegid ();

  if (unshare (CLONE_NEWNET) == 0)
    return TRUE;
  if (unshare (CLONE_NEWUSER | CLONE_NEWNET) < 0)
    return FALSE;
  netns_write_file ("/proc/self/setgroups", "deny", 0);
  netns_write_file ("/proc/self/uid_map", "0 %u 1", uid);
  netns_write_file ("/proc/self/gid_map", "0 %u 1", gid);
  return TRUE;
}

gboolean
netns_run (const gchar * command)
{
  gchar **environment = g_environ_unsetenv (g_get_environ (), "LD_PRELOAD");
  gchar **words = g_strsplit (command, " ", -1);
  gint status = -1;
  gboolean done;

  done = g_spawn_sync (NULL, words, environment, G_SPAWN_SEARCH_PATH, NULL,
      NULL, NULL, NULL, &status, NULL)
      && g_spawn_check_wait_status (status, NULL);
  g_strfreev (words);
  g_strfreev (environment);
  return done;
}

void
netns_must (const gchar * command)
{
  fail_unless (netns_run (command), "%s", command);
}

gboolean
netns_make (const gchar * check)
{
  if (!netns_unshare () || !netns_run ("ip link set lo up")) {
    say_skipped (check, "could not make a network namespace: %s",
        g_strerror (errno));
    return FALSE;
  }
  if (!netns_run ("ip link add wlan0 type veth peer name wlan0x")
      || !netns_run ("ip link add usb0 mtu 1280 type veth peer name usb0x")) {
    say_skipped (check, "could not make veth devices");
    return FALSE;
  }
  netns_must ("ip link set wlan0x up");
  netns_must ("ip link set usb0x up");
  return TRUE;
}
