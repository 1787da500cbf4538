/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The DCCP endpoint of dccpthinsink or dccpthinsrc. It consists of the protocol
 * core of the connection, and of the driver that runs the core over a socket.
 * The endpoint can be opened and closed several times. Its counters survive a
 * close, and the element is notified when a connection begins and when it ends.
 *
 * All fields are protected by `lock`, which the element uses for its own fields
 * too. One thread at a time runs the driver's loop. Other threads may send
 * packets during this time. They wake the thread of the loop if necessary.
 */

#pragma once

#include "driver.h"
#include "gstdccpthincommon.h"

/* Functions by which the endpoint calls the element. They are all called with
 * the endpoint's lock held. */
typedef struct
{
  /* Called for each event of the connection, for example its beginning. Not
   * called when data arrive, when the connection ends, or when a second client
   * is refused. */
  void (*take_event) (gpointer element, const DccpEvent * event);
  /* Called when data arrived. `time` is the arrival time in ns (monotonic
   * clock). If this function is NULL, received data are discarded. */
  void (*take_data) (gpointer element, const DccpData * data, guint64 time);
  /* Returns whether the endpoint accepts a packet. `path` contains the packet's
   * local and remote addresses and ports. If this function is NULL, packets
   * from all addresses are accepted. */
    gboolean (*allows) (gpointer element, const DatagramPath * path);
  /* Releases the lock. Then posts the queued messages, and emits the
   * notifications of properties that became due in take_event or take_data. If
   * this function is NULL, the endpoint itself releases the lock and posts the
   * messages. */
  void (*unlock_and_post) (gpointer element);
  /* Releases the lock. If another thread of the element waits for received
   * data, this function also wakes that thread. If this function is NULL, the
   * endpoint releases the lock and wakes no thread. */
  void (*unlock) (gpointer element);
  /* Returns the next time in ns at which the element has to post messages or
   * notify properties, or G_MAXUINT64 if there is none. If this function is
   * NULL, there is never such a time. */
    guint64 (*next_wakeup) (gpointer element);
  gsize max_input_size;         /* maximum size of a received packet in bytes */
  /* log category for the messages that the driver logs */
  GstDebugCategory **category;
} GstDccpThinEndFuncs;

typedef struct
{
  /* The lock that protects the fields of the endpoint. A thread releases it
   * before it waits, resolves a host name, posts a message or notifies of the
   * change of a property. While a thread holds this lock, it must not take
   * OBJECT_LOCK or the lock of GstNetworkSink. */
  GMutex lock;
  const GstDccpThinEndFuncs *funcs;
  gpointer element;

  /* --- protected by lock --- */
  GstDccpThinSettings settings;
  gboolean is_connected;
  /* address of the peer; only valid while is_connected is TRUE */
  DatagramPath peer;
  /* TRUE if the stream has ended, and this endpoint has begun to close the
   * connection */
  gboolean is_closing;
  /* reason why the connection is no longer usable; NULL while it is usable */
  GError *broken;
  /* queue of the messages (GstMessage) to post when the lock is released */
  GQueue messages;

  DccpEndpoint *endpoint;       /* NULL while closed */
  Driver driver;                /* Has a single path, number 0. */
  guint16 port;                 /* local DCCP port; 0 = not known yet */
  guint mtu;                    /* value of the property `mtu`, in bytes */
  /* sum of the statistics of all earlier endpoints, which are closed now */
  DccpStats past;
  /* latest ICMP error; NULL if no ICMP error has arrived since the last packet
   * from the peer */
  GError *refusal;
  /* Time in us (monotonic clock) of the first ICMP error that arrived after the
   * last packet from the peer; 0 if no ICMP error has arrived since then. */
  gint64 refused_at;
} GstDccpThinEnd;

/* Initialises `end`, and sets all fields of `end->settings` to 0. The element
 * must then call gst_wireless_properties_init (), which sets these fields to
 * the defaults of the properties. */
void gst_dccp_thin_end_init (GstDccpThinEnd * end,
    const GstDccpThinEndFuncs * funcs, gpointer element);
void gst_dccp_thin_end_clear (GstDccpThinEnd * end);

/* Returns the current time in ns of the clock that the protocol core uses. It
 * is the clock of g_get_monotonic_time (). */
guint64 gst_dccp_thin_now (void);

/* Resolves the host in `settings`. This call may block. Returns the peer's
 * addresses as a list of GSocketAddress in order of preference (transfer full),
 * or NULL with `error` set. Called without the lock. */
GList *gst_dccp_thin_resolve (const GstDccpThinSettings * settings,
    GCancellable * cancellable, GError ** error);
/* Opens the socket and the protocol core. If `remote` is NULL, the endpoint
 * listens. Otherwise it begins to connect to `remote`. The function does not
 * wait for the peer. If it fails, it returns FALSE with `error` set. It is
 * called without the lock.
 *
 * If `is_last` is FALSE, the caller has another address to try. The attempt to
 * connect then ends after two seconds at most. If nothing is received from the
 * peer for `timeout` ns (0 = no timeout), the connection ends. `cancellable`
 * cancels the lookup of the local host name. */
gboolean gst_dccp_thin_end_open (GstDccpThinEnd * end,
    const GstDccpThinSettings * settings, GSocketAddress * remote,
    gboolean is_last, guint64 timeout, GCancellable * cancellable,
    GError ** error);
/* If mode=listener, opens the endpoint, which then waits for a peer to connect.
 * In the other mode, does nothing. If the endpoint cannot be opened, posts an
 * error with the code `code` and returns FALSE. If nothing is received from a
 * peer for `timeout` ns (0 = no timeout), the connection ends. The caller does
 * not hold the lock of the endpoint. */
gboolean gst_dccp_thin_end_listen (GstDccpThinEnd * end, guint64 timeout,
    GCancellable * cancellable, GstResourceError code);
/* Returns whether the connection is no longer usable. `end` is a
 * GstDccpThinEnd. The function is meant for the argument `is_done` of
 * driver_run (), which runs until this function returns TRUE. */
gboolean gst_dccp_thin_end_is_broken (gpointer end);
/* Frees the protocol core and closes the socket. The counters of the core are
 * added to those of earlier connections. Takes the lock. */
void gst_dccp_thin_end_close (GstDccpThinEnd * end);

/* Copies the settings of the endpoint. The caller frees the copy with
 * gst_dccp_thin_settings_clear (). Takes the lock. */
void gst_dccp_thin_end_copy_settings (GstDccpThinEnd * end,
    GstDccpThinSettings * settings);
/* Returns the property `port`, a DCCP port. If the property is 0 (any), returns
 * the local DCCP port in use instead, or 0 while the endpoint is closed. Takes
 * the lock. */
gint gst_dccp_thin_end_get_port (GstDccpThinEnd * end);

/* Each function that is declared below must be called with the endpoint's lock
 * held (the field `lock` of GstDccpThinEnd). */

/* Fills in the statistics of this endpoint. The counters include those of
 * earlier connections. */
void gst_dccp_thin_end_get_stats (GstDccpThinEnd * end, DccpStats * stats);
void gst_dccp_thin_end_reset_stats (GstDccpThinEnd * end);

/* Queues an element message with the contents `structure`. The message is
 * posted after the lock is released. Takes ownership of `structure`. */
void gst_dccp_thin_end_queue_message (GstDccpThinEnd * end,
    GstStructure * structure);
/* If there is a connection, marks it as ended and queues a message about its
 * end. */
void gst_dccp_thin_end_take_off (GstDccpThinEnd * end);
void gst_dccp_thin_end_unlock_and_post (GstDccpThinEnd * end);

/* These macros define properties that the source element and the sink element
 * have in common. The instance struct of each element must have a
 * GstDccpThinEnd named `end`. */
#define PROPERTY_DCCP_THIN_ADDRESS(name, nick) \
    PROPERTY_STRING (name, nick, \
        "Local IP address or host name to listen on, or to connect from " \
        "(0.0.0.0 or :: = any)", \
        PROPERTY_READY | PROPERTY_URI | PROPERTY_NOT_NULL, \
        end.settings.address, "0.0.0.0")
#define PROPERTY_DCCP_THIN_PORT(get_port) \
    PROPERTY_INT ("port", "Port", \
        "Port to connect to or, with mode=listener, to listen on (0 = listen " \
        "on any free port; from PAUSED on, the property has the number of " \
        "this port)", \
        PROPERTY_READY | PROPERTY_URI, end.settings.port, 0, G_MAXUINT16, \
        GST_DCCP_THIN_DEFAULT_PORT, .get = get_port)
/* Entry for the property `mode` in the table of an element's properties
 * (GstWirelessProperty). `initial` is the default value. The function
 * `take_old_mode` is called after the property was set. If the new value is
 * deprecated, this function replaces it with the value that is to be used
 * instead. */
#define PROPERTY_DCCP_THIN_MODE(initial, take_old_mode) \
    PROPERTY_ENUM ("mode", "Mode", \
        "Whether this element connects to its peer or waits for the peer to " \
        "connect", \
        PROPERTY_READY | PROPERTY_URI, end.settings.mode, \
        gst_dccp_thin_mode_get_type, initial, .changed = take_old_mode)
