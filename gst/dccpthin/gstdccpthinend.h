/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One end of DCCP as an element has it: the core of the connection, and the
 * driver that runs it over a socket. It opens and closes, several times if need
 * be, keeps its counters meanwhile, and tells what becomes of the connection.
 *
 * Everything is under `lock`, which the element shares. One thread at a time runs
 * the loop; another one may send meanwhile, and wakes the loop where it has
 * to.
 */

#pragma once

#include "driver.h"
#include "gstdccpthincommon.h"

/* What the element makes of what comes; the first three with lock */
typedef struct
{
  /* That a connection begins, and what is told while it lasts */
  void (*take_event) (gpointer element, const DccpEvent * event);
  /* `time`: ns at which it came. NULL: nobody wants data */
  void (*take_data) (gpointer element, const DccpData * data, guint64 time);
  /* Whether packets by this path are wanted. NULL: all */
    gboolean (*allows) (gpointer element, const DatagramPath * path);
  /* Unlocks, and tells others what the two have noted, and the messages. NULL:
   * there is nothing but these */
  void (*unlock_and_tell) (gpointer element);
  /* When the element has something to tell, ns; G_MAXUINT64: never. With lock;
   * may be NULL */
    guint64 (*get_wakeup) (gpointer element);
  gsize max_input_size;         /* bytes of a packet that may come */
  GstDebugCategory **category;  /* for what the driver logs */
} GstDccpThinEndFuncs;

typedef struct
{
  GMutex lock;                  /* never held while anything waits, resolves or
                                 * tells others; OBJECT_LOCK is not taken inside */
  const GstDccpThinEndFuncs *funcs;
  gpointer element;

  /* --- protected by lock --- */
  GstDccpThinSettings settings;
  gboolean is_connected;
  DatagramPath peer;            /* with whom, where it is */
  gboolean is_closing;          /* by us: the end of the stream */
  GError *broken;               /* why the connection is of no use; NULL: it is */
  GQueue messages;              /* of GstMessage, to be posted */

  DccpEndpoint *endpoint;       /* NULL: closed */
  Driver driver;                /* its only path is number 0. */
  guint16 port;                 /* of DCCP, our own; 0: not known yet */
  guint mtu;                    /* of the property */
  DccpStats past;               /* of endpoints before */
  GError *refusal;              /* why packets come back; NULL: they don't */
  gint64 refused_at;            /* monotonic us, since when nothing else came */
} GstDccpThinEnd;

/* The settings are those of the element's tables of properties, which set them. */
void gst_dccp_thin_end_init (GstDccpThinEnd * end,
    const GstDccpThinEndFuncs * funcs, gpointer element);
void gst_dccp_thin_end_clear (GstDccpThinEnd * end);

/* ns of the clock of the core, which is g_get_monotonic_time ()'s */
guint64 gst_dccp_thin_now (void);

/* Addresses of the other end to connect to, of GSocketAddress, in order of
 * preference. Looks the name up, and waits; without lock. NULL: error */
GList *gst_dccp_thin_resolve (const GstDccpThinSettings * settings,
    GCancellable * cancellable, GError ** error);
/* Connects to `remote`, or listens (NULL); doesn't wait for anybody. is_last:
 * there is no other address to try. `timeout`: ns without an answer; 0: for ever.
 * `cancellable`: of looking up our own name. Without lock. */
gboolean gst_dccp_thin_end_open (GstDccpThinEnd * end,
    const GstDccpThinSettings * settings, GSocketAddress * remote,
    gboolean is_last, guint64 timeout, GCancellable * cancellable,
    GError ** error);
/* Listens, where that is the mode. FALSE: an error was posted, with this code.
 * Without lock */
gboolean gst_dccp_thin_end_listen (GstDccpThinEnd * end, guint64 timeout,
    GCancellable * cancellable, GstResourceError code);
/* For driver_run: the connection is of no use any more. `end`: GstDccpThinEnd */
gboolean gst_dccp_thin_end_is_broken (gpointer end);
/* The counters of this one are kept. Takes the lock */
void gst_dccp_thin_end_close (GstDccpThinEnd * end);

/* Of the settings; free them. Without lock */
void gst_dccp_thin_end_copy_settings (GstDccpThinEnd * end,
    GstDccpThinSettings * settings);
/* Where any was wanted, it is the one that was found. Without lock */
gint gst_dccp_thin_end_get_port (GstDccpThinEnd * end);

/* The rest with lock. */

/* Of all endpoints so far */
void gst_dccp_thin_end_get_stats (GstDccpThinEnd * end, DccpStats * stats);
void gst_dccp_thin_end_reset_stats (GstDccpThinEnd * end);

/* Takes the structure */
void gst_dccp_thin_end_queue_message (GstDccpThinEnd * end,
    GstStructure * structure);
/* There is no connection any more: tells it, if there was one. */
void gst_dccp_thin_end_take_off (GstDccpThinEnd * end);
void gst_dccp_thin_end_unlock_and_post (GstDccpThinEnd * end);

/* Rows of both elements' tables of properties. The element has a
 * member `end`. */
#define PROPERTY_DCCP_THIN_ADDRESS(name, nick) \
    PROPERTY_STRING (name, nick, \
        "Local IP address or host name to listen on or to connect from (0.0.0.0 " \
        "or :: = any)", \
        PROPERTY_READY | PROPERTY_URI | PROPERTY_NOT_NULL, \
        end.settings.address, "0.0.0.0")
#define PROPERTY_DCCP_THIN_PORT(get_port) \
    PROPERTY_INT ("port", "Port", \
        "DCCP port, and with encapsulation=udp UDP port, to connect to or " \
        "to listen on (0 = listen on any, which can be read here from " \
        "PAUSED on)", \
        PROPERTY_READY | PROPERTY_URI, end.settings.port, 0, G_MAXUINT16, \
        GST_DCCP_THIN_DEFAULT_PORT, .get = get_port)
/* `take_old_mode`: replaces the old value by the new one */
#define PROPERTY_DCCP_THIN_MODE(initial, take_old_mode) \
    PROPERTY_ENUM ("mode", "Mode", \
        "Whether this element connects to its peer, or waits for it", \
        PROPERTY_READY | PROPERTY_URI, end.settings.mode, \
        gst_dccp_thin_mode_get_type, initial, .changed = take_old_mode)
