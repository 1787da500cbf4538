/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sockets of udplitesink, one for each address family. A socket is either
 * opened by the element or given to the element by the application. This code
 * opens and closes the sockets, and sets their options from the properties of
 * the element.
 *
 * The code is not thread safe. The owner of a GstUdpliteSinkSockets protects it
 * with a lock, and calls all functions with this lock held. */

#pragma once

#include <gst/gst.h>

#include "udplitesocket.h"

/* The log category of udplitesink, in which all files of this element log. */
GST_DEBUG_CATEGORY_EXTERN (gst_udplite_sink_debug);

typedef enum
{
  GST_UDPLITE_FAMILY_V4,
  GST_UDPLITE_FAMILY_V6,
  GST_UDPLITE_FAMILY_LAST
} GstUdpliteFamily;

/* Options with which the sockets are opened: values of properties. */
typedef struct
{
  UdpliteBackend backend;
  gchar *bind_address;          /* NULL = any */
  gint bind_port;               /* 0 = any */
  guint buffer_size;            /* bytes; 0 = the system's default */
  gint ttl, ttl_mc;
  gboolean loop;
  gboolean auto_multicast;
  gchar *multicast_iface;       /* NULL = the system chooses */
  gint qos_dscp;                /* -1 = the system's default */
  gint gso;                     /* GstWirelessGso */
} GstUdpliteSinkOptions;

typedef struct
{
  /* The element in whose name this code logs and posts warnings. Not owned.
   * Constant after the initialization. */
  GstElement *element;

  /* --- protected by the lock of the owner --- */
  /* The table of properties of the element sets `options`, `given` and
   * `close_given`, and frees what they own. */
  GstUdpliteSinkOptions options;
  /* The sockets of the application, one per address family; NULL = the element
   * opens a socket of its own */
  GSocket *given[GST_UDPLITE_FAMILY_LAST];
  /* TRUE if gst_udplite_sink_sockets_close_given () closes the sockets of the
   * application */
  gboolean close_given;
  UdpliteSocket *opened[GST_UDPLITE_FAMILY_LAST];       /* NULL = not open */
} GstUdpliteSinkSockets;

/* Initializes the struct, whose fields are zero or were set by the table of
 * properties. */
void gst_udplite_sink_sockets_init (GstUdpliteSinkSockets * self,
    GstElement * element);

/* Returns the address family of the remote address of `path`. */
GstUdpliteFamily gst_udplite_sink_sockets_get_family (const DatagramPath *
    path);

/* Opens the socket of `family` if it is not open yet. Returns FALSE with
 * `error` set if it cannot be opened. */
gboolean gst_udplite_sink_sockets_open (GstUdpliteSinkSockets * self,
    GstUdpliteFamily family, GError ** error);
/* Sets the options of the open sockets again after a property such as ttl or
 * qos-dscp was changed. */
void gst_udplite_sink_sockets_apply_options (GstUdpliteSinkSockets * self);
/* Closes the sockets that the element has opened. The sockets of the
 * application stay open, but are no longer in use. */
void gst_udplite_sink_sockets_close (GstUdpliteSinkSockets * self);
/* Closes the sockets of the application if close_given is TRUE. */
void gst_udplite_sink_sockets_close_given (GstUdpliteSinkSockets * self);

/* Returns the open socket that sends to the remote address of `path`. Returns
 * NULL if the socket is not open. */
UdpliteSocket *gst_udplite_sink_sockets_find (GstUdpliteSinkSockets * self,
    const DatagramPath * path);
/* Returns the GSocket of the open socket of `family` (transfer none). Returns
 * NULL if the socket is not open. */
GSocket *gst_udplite_sink_sockets_get_socket (GstUdpliteSinkSockets * self,
    GstUdpliteFamily family);
/* Returns the name of the backend of the first open socket. Returns "" if no
 * socket is open. */
const gchar *gst_udplite_sink_sockets_get_backend_name (const
    GstUdpliteSinkSockets * self);
/* Returns the index of the network interface that the property multicast-iface
 * names. 0 means that the routes of the system select the interface. If there
 * is no interface with this name, another thread posts a warning. */
guint gst_udplite_sink_sockets_get_multicast_index (GstUdpliteSinkSockets *
    self);
