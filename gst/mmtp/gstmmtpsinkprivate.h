/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Definitions shared by the files of mmtpsink:
 * - gstmmtpsink.c has the element and its properties.
 * - gstmmtpsinkrender.c passes buffers to the core, which implements the
 *   protocol without I/O (mmtpsender.h).
 * - gstmmtpsinkpictures.c reads the picture types of the buffers.
 * - gstmmtpsinkts.c cuts transport streams.
 * - gstmmtpsinknetwork.c runs the session.
 * - gstmmtpsinkpaths.c opens and closes the paths.
 * - gstmmtpsinkevents.c passes events of the core to the application.
 * - gstmmtpsinkstats.c has the statistics.
 * - gstmmtpsinklog.c writes log lines once per second.
 *
 * Two threads use the core, each with `lock` held: the streaming thread and the
 * connection thread, which belongs to the base class. The streaming thread
 * passes buffers to the core and sends the packets that may be sent
 * immediately. The connection thread runs the loop of the driver. The loop
 * sends packets that have to wait, and processes messages from the receiver.
 *
 * At the end of the stream, the streaming thread waits until the receiver has
 * all data. During this wait, the streaming thread runs the loop instead of the
 * connection thread. The loop never runs in both threads at the same time. */

#pragma once

#include <gst/gst.h>

#include "driver.h"
#include "gstmmtpcommon.h"
#include "gstnetworksink.h"
#include "gstwaker.h"
#include "mmtppathlist.h"
#include "mmtpinterfaces.h"
#include "mmtpretry.h"
#include "mmtpsender.h"
#include "mmtpstamps.h"
#include "mmtptscutter.h"
#include "pictureinfo.h"

#define GST_TYPE_MMTP_SINK (gst_mmtp_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstMmtpSink, gst_mmtp_sink, GST, MMTP_SINK,
    GstNetworkSink);
GST_ELEMENT_REGISTER_DECLARE (mmtpsink);

GST_DEBUG_CATEGORY_EXTERN (gst_mmtp_sink_debug);
#define GST_CAT_DEFAULT gst_mmtp_sink_debug

/* Values of the properties of the element. The struct owns the strings. */
typedef struct
{
  gchar *host;
  gint port;
  gchar *channels, *key;
  /* Text of the property bonding-addresses. The properties bonding-addresses
   * and `channels` set the same list of channels, but they have different
   * syntaxes. If the text can be parsed, the field `channels` contains this
   * list in the syntax of the property `channels`. The text is NULL if the
   * property `channels` was set directly. */
  gchar *bonding_addresses;
  guint latency, initial_delay; /* in ms */
  guint keepalive_interval;     /* in ms */
  guint mtu;                    /* in bytes */
  /* bitrate of the stream in bit/s; 0 = the bitrate is measured */
  guint bitrate;
  /* Value of the property framerate (numerator and denominator). 0/1 means that
   * the frame rate is read from the caps. */
  gint framerate[2];
  guint padding_bitrate;        /* in bit/s; 0 = no padding */
  gboolean retransmit;
  gint scheduler;               /* MmtpSchedulerType */
  guint max_bytes;
  /* Value of the property bind-address: the local address of all paths for
   * which the list of channels sets neither a local address nor an interface.
   * NULL means any address. */
  gchar *bind_address;
  /* Value of the property bind-port: the local UDP port of all paths for which
   * the list of channels sets no local port. 0 means any port. */
  gint bind_port;
  gint ttl;                     /* 0 means the system's default */
  gint dscp;                    /* -1 means the system's default */
  /* size of the socket buffer in bytes; 0 means the system's default */
  gint buffer_size;
  gint gso;                     /* GstWirelessGso */
} GstMmtpSinkSettings;

/* A configured path, which may be open or closed. */
typedef struct
{
  MmtpPathSpec *spec;
  /* State of the module that decides when the path is opened, closed and tried
   * again (mmtpretry.h). */
  MmtpRetry retry;
  /* Number of addresses to which the path can send, which are addresses of the
   * receiver's host. It is known after the first attempt to open the path. */
  guint n_addresses;
  /* id of the path in the core and in the driver; valid only while the path is
   * open */
  guint number;
  /* local address of the path when it was last opened; NULL if it was never
   * opened */
  GInetAddress *local;
  /* Error of the socket after which the path cannot be used any more, for
   * example because its route does not exist any more or has a smaller MTU. It
   * is set together with retry.has_gone. NULL if there was no such error. */
  GError *gone;
  /* Reason of the latest failure: why the path could not be opened, or why it
   * had to be closed. NULL if there was no failure. A warning is logged only if
   * the reason changes. */
  gchar *problem;
} GstMmtpSinkPath;

/* A block of memory into which several buffers are copied, one after the other.
 * `bytes` is the whole block. `free` points to the part of the block that is
 * still unused, which has `n_free` bytes. */
typedef struct
{
  GBytes *bytes;                /* NULL if there is no block */
  guint8 *free;
  gsize n_free;                 /* in bytes */
} GstMmtpSinkBlock;

struct _GstMmtpSink
{
  GstNetworkSink parent;

  /* No thread holds this lock while it waits, resolves names, or posts
   * messages. A thread that holds this lock must not take OBJECT_LOCK or the
   * lock of the base class.
   */
  GMutex lock;

  /* --- protected by `lock` */
  GstMmtpSinkSettings settings;
  /* caps of the stream, in the form of a text that is sent to the receiver;
   * NULL if there are no caps yet */
  gchar *caps;
  /* frame period in us, from the property framerate or from the caps; 0 if no
   * frame rate is known */
  guint32 frame_period;
  /* Frame rate of the stream in frames per 1000 s, from the property framerate
   * or from the caps; 0 if unknown. */
  guint32 frame_rate;
  /* TRUE if the frame rate and the bitrate have to be announced to the receiver
   * with the next buffer, because they have changed or because a session has
   * begun */
  gboolean tell_rate;
  /* TRUE if the stream is elementary video: it contains a single video stream,
   * but no sound and no other data */
  gboolean is_video;
  /* Object that reads the picture types from the buffers. If it is NULL, the
   * buffer flags are used instead. */
  PictureReader *pictures;
  /* Cutter that divides a transport stream into buffers, so that whole pictures
   * can be dropped. NULL if the input is not a transport stream that can be
   * divided. */
  MmtpTsCutter *ts;
  /* TRUE if the core has dropped the previous buffer of the transport stream
   * instead of putting it into its queue; the next buffer then gets the flag
   * DISCONT */
  gboolean ts_has_gap;
  /* TRUE if the sink has posted a warning because it cannot divide the
   * transport stream into pictures. The warning contains the reason. */
  gboolean told_ts_refusal;
  GstMmtpSinkBlock block;       /* for the next buffers */

  MmtpSender *sender;           /* NULL if there is no session */
  gboolean is_ready, has_ended;
  /* Reason why the session cannot continue; NULL if the session can continue.
   */
  GError *broken;
  guint64 sessions;

  /* all configured paths, open or closed; an array of pointers to
   * GstMmtpSinkPath */
  GPtrArray *paths;
  GstMmtpSinkPath *by_number[MMTP_MAX_PATHS];
  /* TRUE if the list of channels has changed and the paths have not been
   * updated yet. The host names in the new list have already been resolved. */
  gboolean paths_changed;
  /* table of resolved addresses: host name -> GList of GInetAddress */
  GHashTable *addresses;
  /* TRUE if a warning was posted that a path cannot be used */
  gboolean has_warned_of_missing;
  MmtpInterfaces *interfaces;   /* NULL if interfaces cannot be watched */
  /* TRUE if the property `channels` is `auto`: the paths are the interfaces
   * that lead to the receiver. */
  gboolean is_auto;
  /* Driver that owns the sockets and the loop in which they are processed. It
   * also watches the network interfaces. */
  Driver driver;

  GstWaker room;                /* wakes gst_mmtp_sink_wait() */
  /* TRUE after gst_mmtp_sink_send_packets() has returned GST_NETWORK_SINK_FULL:
   * a buffer waits until the send queue of the core has room for it */
  gboolean wants_room;
  /* size in bytes of the buffer that waits for room in the send queue of the
   * core; valid only if wants_room is TRUE */
  gsize wanted_bytes;

  GQueue messages;              /* GstMessages to be posted */
  /* TRUE if the property estimated-bitrate has changed and the notification
   * still has to be emitted */
  gboolean rate_changed;
  /* TRUE if a request for a key frame has to be sent upstream */
  gboolean wants_key_unit;
  /* TRUE if a warning was posted that a buffer is larger than max-bytes */
  gboolean has_warned_of_size;
  /* TRUE if a warning was posted that all buffers are late */
  gboolean has_warned_of_lateness;
  /* TRUE if at least one buffer of the stream had the flag DELTA_UNIT. In this
   * case, a buffer without this flag belongs to a key frame. */
  gboolean has_delta_units;
  /* time of the last request for a key frame, in us; 0 if there was none */
  gint64 key_unit_asked_at;
  guint estimated_bitrate;      /* in bit/s */

  /* State of gstmmtpsinklog.c. */
  /* time in ns at which the next log line is due; 0 if none was scheduled yet
   */
  guint64 log_at;
  /* Number of the session to which `log_at` and `logged_bytes` belong. The
   * field `sessions` is the number of the latest session. If the two numbers
   * differ, a new session has begun. `log_at` and `logged_bytes` are then set
   * again. */
  guint64 logged_session;
  /* Number of bytes that the sink had passed to the core in this session when
   * the last log line was written. */
  guint64 logged_bytes;

  /* Sums of the counters of all sessions that have ended. */
  MmtpSenderStats past;
  /* statistics of the paths of sessions that have ended; a table from the name
   * of a path to its MmtpSenderPathStats */
  GHashTable *past_paths;

  /* --- The fields below are used by the streaming thread only. */
  GstMmtpClockMap clock_map;
  /* Number of the session for which `shift` was computed. The field `sessions`
   * counts the sessions. `shift` is valid only in this session. 0 means that
   * `shift` is not valid, for example after a flush. */
  guint64 timed_session;
  /* Time in ns that is added to the due time of each buffer in this session. It
   * is above 0 if the first buffer of stored media would otherwise be late, for
   * example because it had to wait for a receiver. It is 0 for live media. */
  gint64 shift;
  /* Time in ns before which the next buffer must not be sent. Until then,
   * gst_mmtp_sink_send_packets() returns GST_NETWORK_SINK_EARLY. The value 0
   * means that the next buffer may be sent now. */
  guint64 early_until;
  MmtpStamps stamps;            /* timestamps in running time */
  gboolean is_late;             /* All recent buffers were late. */
  /* running time in ns at which buffers began to be late; valid only if is_late
   * is TRUE */
  gint64 late_since;
};

#define LOCK(self) g_mutex_lock (&(self)->lock)
#define UNLOCK(self) g_mutex_unlock (&(self)->lock)

/* --- gstmmtpsinkrender.c -------------------------------------------------- */
/* If the input is an MPEG transport stream, passes its remaining data to the
 * core. Called when the stream ends or its caps change. */
void gst_mmtp_sink_drain_input (GstMmtpSink * self);
GstNetworkSinkResult gst_mmtp_sink_send_packets (GstNetworkSink * sink,
    GstBuffer ** buffers, guint n, guint * sent, GError ** error);
void gst_mmtp_sink_wait (GstNetworkSink * sink, gint64 timeout,
    GCancellable * cancellable);
gboolean gst_mmtp_sink_set_caps (GstBaseSink * sink, GstCaps * caps);

/* --- gstmmtpsinkpictures.c ------------------------------------------------ */
/* The functions in this section determine the types of the pictures (such as
 * key frame or non-reference picture). They are called with `lock` held. */
void gst_mmtp_sink_take_video_caps (GstMmtpSink * self, const GstCaps * caps);
void gst_mmtp_sink_forget_pictures (GstMmtpSink * self);
/* Fills in `picture` with the properties of the picture to which `buffer`
 * belongs, such as its kind. `data` points to the `size` bytes of the buffer.
 */
void gst_mmtp_sink_take_picture (GstMmtpSink * self, GstBuffer * buffer,
    gconstpointer data, gsize size, MmtpPicture * picture);

/* --- gstmmtpsinkts.c ------------------------------------------------------ */
/* Returns whether `caps` describe a transport stream with packets of 188 bytes.
 * The sink can divide such a stream into its pictures. */
gboolean gst_mmtp_sink_can_cut (const GstCaps * caps);
/* All functions below, up to the heading of the next section, are called with
 * `lock` held. */
void gst_mmtp_sink_take_ts_caps (GstMmtpSink * self, const GstCaps * caps);
/* Passes a buffer of a transport stream to the cutter `ts`, which divides the
 * stream into pieces. The caller then sends all pieces that are in `ts`. They
 * may include pieces of earlier buffers.
 *
 * Returns TRUE if the cutter has taken the buffer. Returns FALSE if the cutter
 * has refused the stream, so that the buffer was not divided. In this case, the
 * caller first sends the pieces of the earlier buffers, and then the whole
 * buffer. */
gboolean gst_mmtp_sink_cut_ts (GstMmtpSink * self, GstBuffer * buffer);

/* --- gstmmtpsinknetwork.c ------------------------------------------------- */
gboolean gst_mmtp_sink_connect (GstNetworkSink * sink,
    GCancellable * cancellable, GError ** error);
void gst_mmtp_sink_watch (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error);
gboolean gst_mmtp_sink_drain (GstNetworkSink * sink, gint64 deadline,
    GCancellable * cancellable, GError ** error);
void gst_mmtp_sink_disconnect (GstNetworkSink * sink, gboolean reset);
/* Returns whether a buffer of `size` bytes may be put into the queue of the
 * core. `now` is the current time in ns. Call with `lock` held. */
gboolean gst_mmtp_sink_has_room (GstMmtpSink * self, guint64 now, gsize size);
extern const DriverFuncs gst_mmtp_sink_driver_funcs;

/* --- gstmmtpsinklog.c ----------------------------------------------------- */
/* gst_mmtp_sink_log() writes log lines if they are due.
 * gst_mmtp_sink_get_log_time() returns the time in ns at which the next lines
 * are due; G_MAXUINT64 if no lines will be written. Only the driver's loop
 * calls these functions, with `lock` held. */
void gst_mmtp_sink_log (GstMmtpSink * self);
guint64 gst_mmtp_sink_get_log_time (GstMmtpSink * self);

/* --- gstmmtpsinkpaths.c --------------------------------------------------- */
/* Resolves the host names that have not been resolved yet. This may block. Call
 * without `lock`. Returns FALSE and sets `error` if the list of channels is
 * invalid or no channel can be used. */
gboolean gst_mmtp_sink_resolve (GstMmtpSink * self, GCancellable * cancellable,
    GError ** error);
/* Opens and closes paths according to the property `channels`, the interfaces,
 * and the timers. Only the driver's loop calls this function, with `lock` held.
 */
void gst_mmtp_sink_update_paths (GstMmtpSink * self);
/* Returns the time in ns at which gst_mmtp_sink_update_paths() has to be called
 * again; G_MAXUINT64 if no timer of a path is running. Call with `lock` held.
 */
guint64 gst_mmtp_sink_get_retry_time (GstMmtpSink * self);
void gst_mmtp_sink_close_paths (GstMmtpSink * self);
/* Returns NULL if a path is open. Otherwise returns the reason why no path is
 * open, which has to be freed with g_free(). */
gchar *gst_mmtp_sink_get_path_problem (GstMmtpSink * self);

/* --- gstmmtpsinkevents.c -------------------------------------------------- */
/* Processes `event`, an MmtpSenderEvent. The driver calls this function with
 * `lock` held. */
void gst_mmtp_sink_take_event (gpointer element, gpointer event);
/* Returns an error that explains the receiver's refusal. `version` is the
 * protocol version of the receiver. */
GError *gst_mmtp_sink_make_refusal (MmtpRefuseReason reason, guint version);
/* Queues a warning, which gst_mmtp_sink_unlock_and_post() will post. Takes
 * ownership of `error`. Call with `lock` held. */
void gst_mmtp_sink_queue_warning (GstMmtpSink * self, GError * error);
/* Queues a request for a key frame, which gst_mmtp_sink_unlock_and_post() will
 * send. Call with `lock` held. */
void gst_mmtp_sink_ask_for_key_unit (GstMmtpSink * self);
/* Releases `lock`. Then posts the messages, emits the notifications, and sends
 * the requests that were queued while `lock` was held. */
void gst_mmtp_sink_unlock_and_post (gpointer element);

/* --- gstmmtpsinkstats.c --------------------------------------------------- */
/* Call this function with `lock` held when a session ends. It adds the counters
 * of this session to the totals of the earlier sessions. */
void gst_mmtp_sink_keep_stats (GstMmtpSink * self);
void gst_mmtp_sink_clear_stats (GstMmtpSink * self);
void gst_mmtp_sink_fill_stats (GstNetworkSink * sink, GstStructure * stats);
