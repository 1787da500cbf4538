/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The socket of udplitesrc. The socket is either opened by the element or given
 * to the element by the application. This code opens and closes the socket,
 * sets its options from the properties of the element, joins the multicast
 * group, and counts the packets that the kernel has dropped.
 *
 * All functions are called without OBJECT_LOCK. Except for
 * gst_udplite_src_socket_get_dropped (), they are called only during a state
 * change, while no streaming thread runs. */

#pragma once

#include "gstnetworksrc.h"
#include "udplitesocket.h"

#define GST_UDPLITE_SRC_DEFAULT_ADDRESS "0.0.0.0"

/* Options with which the socket is opened: values of properties. The struct
 * owns its strings. */
typedef struct
{
  gchar *address, *multicast_iface, *multicast_source;
  gint port;
  gint buffer_size;             /* bytes; 0 = the system's default */
  gint backend;                 /* UdpliteBackend */
  gint min_coverage;            /* bytes; -1 = accept all packets */
  gboolean auto_multicast, reuse, loop;
} GstUdpliteSrcOptions;

typedef struct
{
  /* The element in whose name this code logs and posts messages. Not owned.
   * Constant after the initialization. */
  GstNetworkSrc *src;

  /* --- protected by OBJECT_LOCK of the element --- */
  /* The table of properties of the element sets `options`, `given` and
   * `close_given`, and frees what they own. The element sets `reopen` when a
   * property changes that requires a new socket. */
  GstUdpliteSrcOptions options;
  /* the socket that the application has given with the property `socket`; NULL
   * if the element opens a socket of its own */
  GSocket *given;
  gboolean close_given;         /* value of the property close-socket */
  gboolean reopen;
  UdpliteBackend backend;       /* backend in use; AUTO = none yet */
  /* Number of packets that the kernel has dropped since the socket was opened.
   * It is updated each time the kernel's counter is read. */
  guint64 dropped;
  /* Value of the kernel's counter of dropped packets at the time when the
   * socket was opened. Only packets that are dropped later are counted in
   * `dropped`. */
  guint64 dropped_before;

  /* --- changed only while no streaming thread runs --- */
  /* The UDP-Lite socket from which packets are received; owned; NULL = not
   * open. While a streaming thread runs, only this thread uses the socket. */
  UdpliteSocket *udplite;
  /* the socket of the application if `udplite` uses that socket; otherwise
   * NULL; owned */
  GSocket *foreign;
  GInetSocketAddress *group;    /* joined multicast group; NULL = none; owned */
  /* the values of multicast-iface and multicast-source with which the group was
   * joined; owned */
  gchar *group_interfaces, *group_sources;
} GstUdpliteSrcSocket;

/* Initializes the struct, whose fields are zero or were set by the table of
 * properties. */
void gst_udplite_src_socket_init (GstUdpliteSrcSocket * self,
    GstNetworkSrc * src);

/* Returns whether the socket is open and no property has changed that requires
 * a new socket. */
gboolean gst_udplite_src_socket_is_current (GstUdpliteSrcSocket * self);
/* Opens the socket, or prepares the socket of the application. On failure,
 * posts an error and returns FALSE. */
gboolean gst_udplite_src_socket_open (GstUdpliteSrcSocket * self);
/* Called after the socket was opened and is ready for the streaming thread.
 * Makes it visible to the application: sets the properties used-socket and
 * port, and begins to count dropped packets. */
void gst_udplite_src_socket_publish (GstUdpliteSrcSocket * self);
/* Closes the socket; does nothing if it is not open. `again` is TRUE if the
 * socket is opened again immediately. */
void gst_udplite_src_socket_close (GstUdpliteSrcSocket * self, gboolean again);

/* Returns the number of packets that the kernel has dropped since the socket
 * was opened. After the socket was closed, returns the number that was valid
 * then. Any thread may call this function. */
guint64 gst_udplite_src_socket_get_dropped (GstUdpliteSrcSocket * self);
