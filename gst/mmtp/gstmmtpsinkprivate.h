/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of mmtpsink share: the element with its properties in
 * gstmmtpsink.c, the way of a buffer into the core in gstmmtpsinkrender.c, the
 * session and its loop over the sockets in gstmmtpsinknetwork.c, which paths
 * there are in gstmmtpsinkpaths.c, what is told in gstmmtpsinkstats.c.
 *
 * Two threads drive the core, each under `lock`. The streaming thread puts
 * buffers and sends at once what may be sent. The loop does all that comes
 * later or from the receiver; it runs in the base class's thread, and while the
 * end of the stream is drained in the streaming thread: never in both.
 */

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
#include "pictureinfo.h"

#define GST_TYPE_MMTP_SINK (gst_mmtp_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstMmtpSink, gst_mmtp_sink, GST, MMTP_SINK,
    GstNetworkSink);
GST_ELEMENT_REGISTER_DECLARE (mmtpsink);

GST_DEBUG_CATEGORY_EXTERN (gst_mmtp_sink_debug);
#define GST_CAT_DEFAULT gst_mmtp_sink_debug

/* Of the properties; strings are its own */
typedef struct
{
  gchar *host;
  gint port;
  gchar *channels, *key;
  gchar *bonding_addresses;     /* that set channels, or cannot be read; NULL:
                                 * channels was set itself */
  guint latency, initial_delay; /* ms */
  guint keepalive_interval;     /* ms */
  guint mtu;                    /* bytes */
  guint bitrate;                /* bits per second, 0: to be measured */
  gint framerate[2];            /* 0/1: of the caps */
  gboolean retransmit;
  gint scheduler;               /* MmtpSchedulerType */
  guint max_bytes;
  gchar *bind_address;          /* of paths without an address of their own; NULL:
                                 * any */
  gint bind_port;               /* of paths without a port of their own; 0: any */
  gint ttl;                     /* 0: the system's default */
  gint dscp;                    /* -1: the system's default */
  gint buffer_size;             /* bytes, 0: the system's default */
} GstMmtpSinkSettings;

/* A path that is wanted, whether it is open or not */
typedef struct
{
  MmtpPathSpec *spec;
  MmtpRetry retry;              /* whether it is open, and what is to be done */
  guint n_addresses;            /* of its receiver, that it can reach; known
                                 * when it was opened first */
  guint number;                 /* in the core and the driver, while it is open */
  GInetAddress *local;          /* that it had when it was opened last; NULL:
                                 * never was */
  GError *gone;                 /* why it has gone, retry.has_gone */
  gchar *problem;               /* why it is not open, as was logged */
} GstMmtpSinkPath;

struct _GstMmtpSink
{
  GstNetworkSink parent;

  GMutex lock;                  /* never held while anything waits, resolves or
                                 * tells others; neither OBJECT_LOCK nor the
                                 * base class's lock is taken inside */

  /* --- protected by lock --- */
  GstMmtpSinkSettings settings;
  gchar *caps;                  /* of the stream; NULL: none yet */
  guint32 frame_period;         /* us, that they say; 0: nothing */
  guint32 frame_rate;           /* the same, in milliframes per second */
  gboolean tell_rate;           /* the next buffer does */
  gboolean is_video;            /* one stream of pictures, and nothing else */
  PictureReader *pictures;      /* what its buffers are; NULL: their flags say
                                 * it */

  MmtpSender *sender;           /* NULL: no session */
  gboolean is_ready, has_ended;
  GError *broken;               /* why the session is of no use; NULL: it is */
  guint64 sessions;

  GPtrArray *paths;             /* of GstMmtpSinkPath: all that are wanted */
  GstMmtpSinkPath *by_number[MMTP_MAX_PATHS];
  gboolean paths_changed;       /* a property was set; names are resolved */
  GHashTable *addresses;        /* host name: GList of GInetAddress */
  gboolean missing_told;        /* that a path cannot be used */
  MmtpInterfaces *interfaces;   /* NULL: nobody tells of them */
  gboolean is_auto;             /* they are those that lead to the receiver */
  Driver driver;                /* sockets, and the loop; it watches the
                                 * interfaces */

  GstWaker room;                /* what `wait` waits for */
  gboolean wants_room;          /* FULL was said, and there is none yet */
  gsize wanted_bytes;           /* for a buffer of so many */

  GQueue messages;              /* of GstMessage, to be posted */
  gboolean rate_changed;        /* to be notified */
  gboolean wants_key_unit;      /* to be asked for upstream */
  gboolean has_warned_of_size;  /* of a buffer */
  gboolean has_warned_of_lateness;      /* of all buffers for a while */
  gboolean has_delta_units;     /* so that others are key frames */
  gint64 key_unit_asked_at;     /* monotonic us; 0: not yet */
  guint estimated_bitrate;      /* bits per second */

  /* gstmmtpsinklog.c */
  guint64 log_at;               /* ns, of the next line; 0: none was due yet */
  guint64 logged_session;       /* of `sessions`, that the next line is of */
  guint64 logged_bytes;         /* that the last line knew */

  /* Of sessions that are over */
  MmtpSenderStats past;
  GHashTable *past_paths;       /* name: MmtpSenderPathStats */

  /* --- streaming thread only --- */
  GstMmtpClockMap clock_map;
  guint64 timed_session;        /* of `sessions`, that shift is for; 0: of none,
                                 * as after a flush */
  gint64 shift;                 /* ns, that stored media begins later than the
                                 * pipeline says, since nobody was there */
  guint64 early_until;          /* ns; EARLY was said. 0: it was not */
  MmtpStamps stamps;            /* in running time */
  gboolean is_late;             /* only late buffers have come */
  gint64 late_since;            /* ns of running time, while is_late */
};

#define LOCK(self) g_mutex_lock (&(self)->lock)
#define UNLOCK(self) g_mutex_unlock (&(self)->lock)

/* --- gstmmtpsinkrender.c -------------------------------------------------- */
GstNetworkSinkResult gst_mmtp_sink_send_packets (GstNetworkSink * sink,
    GstBuffer ** buffers, guint n, guint * sent, GError ** error);
void gst_mmtp_sink_wait (GstNetworkSink * sink, gint64 timeout,
    GCancellable * cancellable);
gboolean gst_mmtp_sink_set_caps (GstBaseSink * sink, GstCaps * caps);

/* --- gstmmtpsinkpictures.c ------------------------------------------------ */
/* With lock, all */
void gst_mmtp_sink_take_video_caps (GstMmtpSink * self, const GstCaps * caps);
void gst_mmtp_sink_forget_pictures (GstMmtpSink * self);
/* Of a buffer that is put next, and its bytes */
void gst_mmtp_sink_take_picture (GstMmtpSink * self, GstBuffer * buffer,
    gconstpointer data, gsize size, MmtpPicture * picture);

/* --- gstmmtpsinknetwork.c ------------------------------------------------- */
gboolean gst_mmtp_sink_connect (GstNetworkSink * sink,
    GCancellable * cancellable, GError ** error);
void gst_mmtp_sink_watch (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error);
gboolean gst_mmtp_sink_drain (GstNetworkSink * sink, gint64 deadline,
    GCancellable * cancellable, GError ** error);
void gst_mmtp_sink_disconnect (GstNetworkSink * sink, gboolean reset);
/* For a buffer of so many bytes. With lock */
gboolean gst_mmtp_sink_has_room (GstMmtpSink * self, gsize size);
extern const DriverFuncs gst_mmtp_sink_driver_funcs;

/* --- gstmmtpsinklog.c ----------------------------------------------------- */
/* Writes a line if one is due, and says when the next one is, ns, G_MAXUINT64:
 * never. With lock; the loop's */
void gst_mmtp_sink_log (GstMmtpSink * self);
guint64 gst_mmtp_sink_get_log_time (GstMmtpSink * self);

/* --- gstmmtpsinkpaths.c ------------------------------------------------ */
/* Looks up the names that were not yet; waits. Without lock. FALSE: error, of
 * the receiver's own, or the text can't be understood */
gboolean gst_mmtp_sink_resolve (GstMmtpSink * self, GCancellable * cancellable,
    GError ** error);
/* Opens and closes what the property, the interfaces and the clock say. With
 * lock; the loop's. */
void gst_mmtp_sink_update_paths (GstMmtpSink * self);
/* When to look again; ns, G_MAXUINT64: never. With lock */
guint64 gst_mmtp_sink_get_retry_time (GstMmtpSink * self);
void gst_mmtp_sink_close_paths (GstMmtpSink * self);
/* NULL, or why none of them is open; free it */
gchar *gst_mmtp_sink_get_path_problem (GstMmtpSink * self);

/* --- gstmmtpsinkstats.c --------------------------------------------------- */
/* Of the driver, with lock; an MmtpSenderEvent */
void gst_mmtp_sink_take_event (gpointer element, gpointer event);
/* What the receiver's refusal means; `version`: that the receiver speaks */
GError *gst_mmtp_sink_make_refusal (MmtpRefuseReason reason, guint version);
/* With lock; unlock_and_tell does it */
void gst_mmtp_sink_ask_for_key_unit (GstMmtpSink * self);
/* Unlocks, and tells what was taken. */
void gst_mmtp_sink_unlock_and_tell (gpointer element);
/* The session is over: its counters are kept. With lock */
void gst_mmtp_sink_keep_stats (GstMmtpSink * self);
void gst_mmtp_sink_clear_stats (GstMmtpSink * self);
void gst_mmtp_sink_fill_stats (GstNetworkSink * sink, GstStructure * stats);
