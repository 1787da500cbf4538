/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* I-Frame Delay (IFD): selects the frames to drop when the channel is slower
 * than the stream, so that the picture quality suffers least and the delay
 * never exceeds a few frames. The core does no I/O and uses no random numbers;
 * the caller supplies the time.
 *
 * The algorithm follows R. Ouwens, "Quality of video streaming over wireless
 * networks" (2006), sections 1.5 and 2. The paper names three buffers. C holds
 * the frame that has just been completed (ifd_input). W holds the waiting
 * frames. S holds the frame that is being sent, from ifd_poll_output until
 * ifd_sent.
 *
 * When a frame is complete and due, the caller passes it to the core. The
 * events then name the dropped frames:
 *
 *   ifd_input (ifd, now, &frame);
 *   while (ifd_poll_event (ifd, &event)) ...
 *
 * When the channel is free, the caller sends the next frame:
 *
 *   if (ifd_poll_output (ifd, now, &frame)) { send it; ifd_sent (ifd, now); }
 */

#pragma once

#include <glib.h>

#define IFD_MAX_FRAMES 64
#define IFD_DEFAULT_MAX_FRAMES 3
/* If this many consecutive frames were dropped because no I-frame arrived, the
 * stream is assumed to have no I-frames. Output then resumes with the next
 * frame that starts an intra refresh, or immediately if the stream has no
 * refresh either. */
#define IFD_MAX_GOP 600
/* Maximum number of frames for which the algorithm waits for an I-frame that a
 * decoder would display in the right order. After this wait, an I-frame is sent
 * even if a decoder would display it in the wrong order. The wait is limited
 * because the stream may never contain an I-frame in the right order. */
#define IFD_MAX_ORDER_WAIT 250

typedef enum
{
  /* Algorithm of Ouwens' figure 1.1, unchanged. */
  IFD_ALGORITHM_PAPER,
  /* The algorithm of Ouwens' figures 1.2 and 1.3 without changes. */
  IFD_ALGORITHM_PAPER_GOP,
  /* The algorithm of Ouwens' figures 1.2 and 1.3 with corrections, and with a
   * queue W that holds several frames. ifd.c explains the differences. */
  IFD_ALGORITHM_GOP
} IfdAlgorithm;

typedef struct
{
  IfdAlgorithm algorithm;
  /* Capacity, in frames, of the queue of waiting frames (W), from 1 to
   * IFD_MAX_FRAMES. IFD_ALGORITHM_PAPER and IFD_ALGORITHM_PAPER_GOP ignore this
   * value and use a capacity of 1, as Ouwens' paper does. */
  guint max_frames;
} IfdConfig;

/* How other frames depend on a frame. The types are those of MPEG video; the
 * frame types of other codecs are mapped to them. */
typedef enum
{
  /* An I-frame starts a GOP and refers to no other frame. */
  IFD_FRAME_I,
  IFD_FRAME_P,                  /* other frames refer to a P-frame */
  IFD_FRAME_B,                  /* no other frame refers to a B-frame */
  IFD_FRAME_LAST
} IfdFrameType;

typedef enum
{
  /* Flag of an I-frame: the frames that follow it do not refer to frames before
   * it (closed GOP, IDR). */
  IFD_FRAME_CLOSED = 1 << 0,
  /* Flag of an I-frame: its leading frames refer to frames that are not in the
   * stream (broken_link, BLA). */
  IFD_FRAME_BROKEN = 1 << 1,
  /* Flag of a P- or B-frame: the frame is a leading frame. In decoding order,
   * it follows an I-frame, but it refers to frames before this I-frame. */
  IFD_FRAME_LEADING = 1 << 2,
  /* Flag of a P- or B-frame: the frame is a trailing frame. It does not refer
   * to frames before the I-frame that precedes it in decoding order.
   *
   * If a P- or B-frame has neither IFD_FRAME_LEADING nor IFD_FRAME_TRAILING,
   * IFD decides: a B-frame between an I-frame and the next P-frame counts as
   * leading, and any other frame counts as trailing. */
  IFD_FRAME_TRAILING = 1 << 3,
  /* A part of the frame is missing. The frame is dropped, and it counts as lost
   * for the frames that refer to it. */
  IFD_FRAME_INCOMPLETE = 1 << 4,
  /* Flag of a P-frame: an intra refresh starts with this frame. During an intra
   * refresh, several frames renew the picture part by part. A decoder that
   * starts with this frame has complete pictures some frames later. */
  IFD_FRAME_REFRESH = 1 << 5,
  /* The fields `uses` and `updates` of the frame are valid. In this case, only
   * these two fields determine which frames depend on each other, and the type
   * only determines how important the frame is. A closed I-frame updates all
   * slots of the decoder (slotuse.h). */
  IFD_FRAME_SLOTS = 1 << 6
} IfdFrameFlags;

typedef struct
{
  IfdFrameType type;
  IfdFrameFlags flags;
  guint size;                   /* in bytes */
  /* time in ns at which the frame should be sent */
  guint64 due;
  /* Position of the frame in display order, modulo order_range
   * (pic_order_cnt_lsb of H.264). A decoder derives the higher bits from the
   * previous reference picture. order_range is 0 if the codec does not work in
   * this way, or if the position is unknown. */
  guint order, order_range;
  /* Only with IFD_FRAME_SLOTS: bit masks of the decoder's slots, which are
   * defined in slotuse.h. `uses` contains the slots that the frame uses, and
   * `updates` contains the slots that the frame updates. For an I-frame, `uses`
   * is 0. */
  guint32 uses, updates;
  gint layer;                   /* temporal layer, or -1 if unknown */
  /* Layer of the frame if reference frames form several layers, as in a
   * B-pyramid. The base layer is 0. This field is used only if the frame has
   * the flag IFD_FRAME_SLOTS. Frames of higher layers are dropped first. The
   * core uses the higher one of `depth` and `layer`. A caller that sets `layer`
   * may therefore leave `depth` at 0. */
  guint depth;
  gpointer user;                /* for the caller */

  /* Sequence number of the frame in the order of input, which starts at 0;
   * ifd_input sets it */
  guint64 number;
} IfdFrame;

/* Returns IFD_FRAME_LEADING or IFD_FRAME_TRAILING for a B-frame of MPEG video,
 * or 0 if it is unknown which of the two applies. Without such a flag, each
 * B-frame between an I-frame and the next P-frame counts as leading.
 * `temporal_reference` is the temporal reference of the B-frame, and
 * `i_reference` is the temporal reference of the I-frame before it (13818-2,
 * 6.3.9). */
IfdFrameFlags ifd_find_place (guint temporal_reference, guint i_reference);

/* Reason why a frame is dropped */
typedef enum
{
  /* The frame arrived while the queue W was full of frames that were more
   * important. */
  IFD_DROP_NO_ROOM,
  /* The frame waited in the queue (W), and was dropped to make room for another
   * frame. */
  IFD_DROP_OVERWRITTEN,
  /* The frame refers to a dropped frame of its GOP. */
  IFD_DROP_DISTURBED,
  /* The frame is a leading frame and refers to a dropped frame of the previous
   * GOP. */
  IFD_DROP_LEADING,
  IFD_DROP_INCOMPLETE,          /* a part of the frame was missing */
  /* No I-frame was sent since the start of the stream, or since the receiver
   * connected. */
  IFD_DROP_NO_I,
  /* A decoder would display this I-frame in the wrong order, because too many
   * frames between it and the previous reference picture were dropped. */
  IFD_DROP_MISORDERED,
  IFD_DROP_LAST
} IfdDropReason;

/* Returns "no-room", "overwritten" etc., as used in messages and statistics. */
const gchar *ifd_drop_reason_get_name (IfdDropReason reason);
/* Returns 'I', 'P' or 'B' for the frame type. */
gchar ifd_frame_type_char (IfdFrameType type);

typedef enum
{
  IFD_EVENT_STORED,             /* the new frame was stored in the queue W */
  /* The frame was dropped; it belongs to the caller again. */
  IFD_EVENT_DROPPED
} IfdEventType;

typedef struct
{
  IfdEventType type;
  IfdFrame frame;
  IfdDropReason reason;         /* only for IFD_EVENT_DROPPED */
  /* Sequence number of the frame whose arrival caused the drop. This is either
   * the dropped frame itself, or the new frame for which a waiting frame was
   * dropped. */
  guint64 cause;
} IfdEvent;

/* Counters of frames. The counters never decrease. At any time, each frame that
 * is counted in `in` was sent, dropped or flushed, waits in the queue W, or is
 * being sent. */
typedef struct
{
  guint64 in[IFD_FRAME_LAST], in_bytes[IFD_FRAME_LAST];
  guint64 sent[IFD_FRAME_LAST], sent_bytes[IFD_FRAME_LAST];
  guint64 dropped[IFD_FRAME_LAST][IFD_DROP_LAST];
  guint64 dropped_bytes[IFD_FRAME_LAST];
  /* Frames that were waiting or being sent when the stream ended */
  guint64 flushed;
  guint64 gops;                 /* number of I-frames that arrived */
  /* number of GOPs of which an I- or P-frame was dropped */
  guint64 gops_disturbed;
  /* I-frames that were stored in the queue W although a decoder would display
   * them in the wrong order */
  guint64 gops_misordered;
  /* total time in ns during which a frame was being sent */
  guint64 time_blocked;
  /* number of frames that are waiting in the queue W */
  guint waiting;
  guint64 waiting_bytes;
  /* Lateness of the sent frames in ns: median, 99th percentile and maximum. The
   * lateness is the time from when a frame was due until it was sent. 0 if no
   * frame was sent. */
  gint64 lateness_median, lateness_p99, lateness_max;
} IfdStats;

typedef struct _Ifd Ifd;

/* Trace callback that logs one line. The caller of ifd_new () provides it.
 * `is_packet` is TRUE for a line that is logged once per frame.
 */
typedef void (*IfdTrace) (gpointer owner, gboolean is_packet,
    const gchar * format, va_list args) G_GNUC_PRINTF (3, 0);

Ifd *ifd_new (const IfdConfig * config);
/* Frees the object. Frames in the queue W belong to the caller, who therefore
 * calls ifd_flush first to get them back. */
void ifd_free (Ifd * ifd);
/* Sets a function that receives log lines. One line is written for each
 * arriving frame, and one line for each dropped frame. The line of a dropped
 * frame contains the rule that selected this frame. If the function is NULL,
 * nothing is logged. */
void ifd_set_trace (Ifd * ifd, IfdTrace trace, gpointer owner);
/* Changes the configuration. The new capacity of the queue W applies from the
 * next frame on; frames that wait already are not dropped. A new algorithm
 * applies from the next I-frame on, because it has no record of the frames that
 * the previous algorithm has dropped. */
void ifd_set_config (Ifd * ifd, const IfdConfig * config);

/* Returns FALSE if the queue W is full. In this case, ifd_input drops a waiting
 * frame or the new frame. */
gboolean ifd_has_room (const Ifd * ifd);
/* Passes a complete frame to the algorithm when the frame is due. The frame is
 * returned to the caller later: by ifd_poll_output, by an event of type
 * IFD_EVENT_DROPPED, or by ifd_flush. */
void ifd_input (Ifd * ifd, guint64 now, const IfdFrame * frame);
/* Removes the oldest frame from the queue W for sending and stores it in
 * `frame`. Returns FALSE if the queue is empty, or if ifd_sent was not yet
 * called for the previous frame. */
gboolean ifd_poll_output (Ifd * ifd, guint64 now, IfdFrame * frame);
/* Stores the oldest frame of the queue W in `frame`, but does not remove it
 * from the queue. Returns FALSE if the queue W is empty. */
gboolean ifd_peek_output (const Ifd * ifd, IfdFrame * frame);
/* Call this function when the frame from ifd_poll_output was sent, or when it
 * will not be sent after all. The frame counts as sent in both cases. */
void ifd_sent (Ifd * ifd, guint64 now);
gboolean ifd_poll_event (Ifd * ifd, IfdEvent * event);

/* Call this function when a new receiver is connected, because a new receiver
 * has received no earlier frame. Output resumes with the next I-frame or with
 * the next intra refresh, whichever arrives first. If it resumes with an
 * I-frame, the leading frames of this I-frame are dropped. However,
 * IFD_ALGORITHM_PAPER does not distinguish leading frames, so it sends them. */
void ifd_restart (Ifd * ifd);
/* Call this function repeatedly at the end of a stream. Removes the oldest
 * frame of the queue W and stores it in `frame`. Returns FALSE if the queue is
 * empty. In this case, the core also forgets the frame that is being sent, and
 * resets all of its state except for the counters. */
gboolean ifd_flush (Ifd * ifd, IfdFrame * frame);

void ifd_get_stats (const Ifd * ifd, IfdStats * stats);
