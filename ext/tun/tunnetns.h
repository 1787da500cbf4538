/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Network namespaces by the names that people have for them, and a way into
 * them that leaves all threads of the program where they are.
 */

#pragma once

#include <gst/gst.h>

typedef struct
{
  gchar *text;                  /* as asked for; NULL: our own */
  gint fd;                      /* owned; -1: our own, and no /proc */
  guint64 device, inode;        /* what makes it the same as another one */
  gboolean own;                 /* the one that the caller is in */
} TunNetns;

/* A name of `ip netns`, a path (with a slash), a pid (digits only); NULL or ""
 * our own. NULL with an error of GST_RESOURCE_ERROR where there is none. */
TunNetns *tun_netns_find (const gchar * text, GError ** error);
void tun_netns_free (TunNetns * netns);

/* For messages: "namespace \"a\"", "our own namespace"; g_free it. */
gchar *tun_netns_describe (const TunNetns * netns);

typedef gboolean (*TunNetnsFunc) (gpointer user_data, GError ** error);

/* Calls func inside the namespace and waits for it; in a thread of its own if
 * that is not ours. What it opens there stays there. */
gboolean tun_netns_call (const TunNetns * netns, TunNetnsFunc func,
    gpointer user_data, GError ** error);
