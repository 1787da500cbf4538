/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds network namespaces by name, path or process ID, and calls functions
 * inside a namespace. The threads of the program stay in their own namespace.
 */

#pragma once

#include <gst/gst.h>

typedef struct
{
  /* Name, path or process ID by which the namespace was requested; NULL = the
   * namespace of our own process */
  gchar *text;
  /* File descriptor of the namespace, owned by this structure. If the
   * namespace is our own and /proc is missing, the value is -1. */
  gint fd;
  /* Device and inode number of the namespace. Two TunNetns with equal numbers
   * are the same namespace.
   */
  guint64 device, inode;
  /* TRUE if this is the namespace of the thread that called tun_netns_find ();
   * this namespace need not be entered */
  gboolean own;
} TunNetns;

/* Finds a network namespace by a name of `ip netns`, by a path (a text with a
 * slash), or by a process ID (digits only). NULL and "" mean the namespace of
 * our own process. Returns NULL with an error of the domain GST_RESOURCE_ERROR
 * if there is no such namespace. */
TunNetns *tun_netns_find (const gchar * text, GError ** error);
void tun_netns_free (TunNetns * netns);

/* Returns a text for messages, such as "the network namespace \"a\"" or "our
 * own network namespace". The caller frees the text with g_free (). */
gchar *tun_netns_describe (const TunNetns * netns);

typedef gboolean (*TunNetnsFunc) (gpointer user_data, GError ** error);

/* Calls `func` inside the namespace and returns its result. If the namespace is
 * not our own, `func` runs in a temporary thread. Sockets and devices that
 * `func` opens stay in the namespace. Returns FALSE with `error` set if the
 * namespace cannot be entered. */
gboolean tun_netns_call (const TunNetns * netns, TunNetnsFunc func,
    gpointer user_data, GError ** error);
