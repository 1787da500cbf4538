/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* I-Frame Delay (IFD) is an algorithm that selects the video frames to drop
 * when the channel is slower than the stream. The picture quality suffers as
 * little as possible, and the delay never exceeds a few frames. The code does
 * no I/O, reads no clock and uses no random numbers. The caller passes the time
 * to each function that needs it.
 *
 * The algorithm follows R. Ouwens, "Quality of video streaming over wireless
 * networks" (2006), sections 1.5 and 2. The paper names three buffers, and the
 * comments use its names:
 * - C holds the new frame, which has just been completed (ifd_input ()).
 * - W is the queue of frames that wait to be sent.
 * - S holds the frame that is being sent, from ifd_poll_output () until
 *   ifd_sent ().
 *
 * When a frame is complete and the time to send it has come, the caller passes
 * it to ifd_input (). The events that follow name the frames that were dropped:
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
/* Number of consecutive dropped frames after which the stream is assumed to
 * have no I-frames. Only frames that were dropped because the receiver needs an
 * I-frame are counted. Output then resumes with the next frame that starts an
 * intra refresh. If the stream has no intra refresh either, output resumes
 * immediately. */
#define IFD_MAX_GOP 600
/* A decoder would display an I-frame in the wrong order if too many frames
 * before the I-frame were dropped. The algorithm drops such an I-frame, and
 * waits for an I-frame in the right order. IFD_MAX_ORDER_WAIT is the maximum
 * length of this wait, as a number of frames. After the wait, an I-frame is
 * sent even if its order is wrong, because the stream may never contain an
 * I-frame in the right order. */
#define IFD_MAX_ORDER_WAIT 250

typedef enum
{
  /* The algorithm of figure 1.1 in Ouwens' paper, without changes. It considers
   * only the types of the frames, so it may send frames that refer to a dropped
   * frame. */
  IFD_ALGORITHM_PAPER,
  /* The algorithm of figures 1.2 and 1.3 in Ouwens' paper, without changes. In
   * addition to the rules of figure 1.1, it drops frames that refer to a
   * dropped frame of the same GOP or of the previous GOP. */
  IFD_ALGORITHM_PAPER_GOP,
  /* The algorithm of figures 1.2 and 1.3 in Ouwens' paper, with corrections.
   * Its queue of waiting frames (W) can hold several frames. The first comment
   * in ifd.c lists the differences. */
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

/* Type of a frame, which says whether other frames refer to it. The types are
 * those of MPEG video. Each frame of another codec is assigned to one of them.
 */
typedef enum
{
  /* An I-frame starts a GOP and refers to no other frame. */
  IFD_FRAME_I,
  IFD_FRAME_P,                  /* Other frames refer to a P-frame. */
  IFD_FRAME_B,                  /* No other frame refers to a B-frame. */
  IFD_FRAME_LAST
} IfdFrameType;

typedef enum
{
  /* Flag of an I-frame: no frame that follows this I-frame refers to a frame
   * before this I-frame (closed GOP, IDR picture). */
  IFD_FRAME_CLOSED = 1 << 0,
  /* Flag of an I-frame: the leading frames of this I-frame can never be
   * decoded, because they refer to frames that the stream does not contain
   * (broken_link, BLA picture). */
  IFD_FRAME_BROKEN = 1 << 1,
  /* Flag of a P- or B-frame: the frame is a leading frame. It follows an
   * I-frame in decoding order, but it may refer to frames before this I-frame.
   */
  IFD_FRAME_LEADING = 1 << 2,
  /* Flag of a P- or B-frame: the frame is a trailing frame. It follows an
   * I-frame in decoding order, and refers to no frame before this I-frame.
   *
   * If neither IFD_FRAME_LEADING nor IFD_FRAME_TRAILING is set, the type of the
   * frame decides: a B-frame between an I-frame and the next P-frame counts as
   * leading, and any other frame counts as trailing. */
  IFD_FRAME_TRAILING = 1 << 3,
  /* Flag of a frame of which a part is missing. Such a frame is dropped. Frames
   * that refer to it then cannot be decoded. */
  IFD_FRAME_INCOMPLETE = 1 << 4,
  /* Flag of a P-frame: an intra refresh starts with this frame. During an intra
   * refresh, several frames renew the picture part by part. A decoder that
   * starts with this frame has complete pictures some frames later. */
  IFD_FRAME_REFRESH = 1 << 5,
  /* Flag of a frame whose fields `uses` and `updates` are valid. They name the
   * slots of the decoder, such as buffers of reference frames, that the frame
   * uses and updates (slotuse.h). Frames with this flag depend on each other
   * only through these slots. The frame type then says only how important the
   * frame is. A closed I-frame updates all slots. */
  IFD_FRAME_SLOTS = 1 << 6
} IfdFrameFlags;

typedef struct
{
  IfdFrameType type;
  IfdFrameFlags flags;
  guint size;                   /* in bytes */
  /* time in ns at which the frame should be sent */
  guint64 due;
  /* `order` is the position of the frame in display order, modulo
   * `order_range`. In H.264, it is pic_order_cnt_lsb: the lower bits of the
   * position. A decoder derives the upper bits from the previous reference
   * picture. `order_range` is 0 if the codec does not work in this way, or if
   * the position is unknown. */
  guint order, order_range;
  /* A slot is a part of the decoder's memory, such as the buffer of a reference
   * frame (slotuse.h). The next two fields are bit masks with one bit for each
   * slot. `uses` contains the slots that the frame uses, and `updates` contains
   * the slots that the frame updates. For an I-frame, `uses` is 0. The two
   * fields are valid only if the flag IFD_FRAME_SLOTS is set. */
  guint32 uses, updates;
  gint layer;                   /* temporal layer, or -1 if unknown */
  /* Layer of the frame, if the reference frames of the stream form several
   * layers, as in a B-pyramid. The base layer is 0, and frames of higher layers
   * are dropped first. The field is used only if the flag IFD_FRAME_SLOTS is
   * set. IFD uses the greater one of the fields `depth` and `layer`. A caller
   * that sets `layer` may therefore leave `depth` at 0. */
  guint depth;
  gpointer user;                /* for the caller */

  /* Sequence number of the frame. The first frame that is passed to ifd_input
   * () has the number 0. ifd_input () sets this field. */
  guint64 number;
} IfdFrame;

/* Compares the display positions of a B-frame of MPEG video and of the I-frame
 * that precedes it in the stream. Returns IFD_FRAME_TRAILING if the B-frame is
 * displayed after the I-frame, IFD_FRAME_LEADING if it is displayed before the
 * I-frame, and 0 if this is unknown. In the last case, the B-frame counts as
 * leading until the next P-frame. `temporal_reference` is the temporal
 * reference of the B-frame, and `i_reference` is that of the I-frame (13818-2,
 * 6.3.9). */
IfdFrameFlags ifd_find_place (guint temporal_reference, guint i_reference);

/* Reason why a frame is dropped */
typedef enum
{
  /* The frame arrived while the queue of waiting frames (W) was full, and the
   * waiting frames were more important. */
  IFD_DROP_NO_ROOM,
  /* The frame was waiting in the queue W, and was dropped to make room for a
   * new frame. */
  IFD_DROP_OVERWRITTEN,
  /* The frame refers to another frame of the same GOP, and that frame was
   * dropped. */
  IFD_DROP_DISTURBED,
  /* The frame is a leading frame. It refers to a frame of the previous GOP that
   * the receiver does not have, for example because that frame was dropped. */
  IFD_DROP_LEADING,
  IFD_DROP_INCOMPLETE,          /* a part of the frame was missing */
  /* A decoder cannot start with this frame. No I-frame was sent since the start
   * of the stream, since the receiver connected, or since the codec changed. */
  IFD_DROP_NO_I,
  /* The frame is an I-frame that a decoder would display in the wrong order.
   * The decoder derives the display order of an I-frame from the last reference
   * picture that it received, and too many frames after that picture were
   * dropped. */
  IFD_DROP_MISORDERED,
  IFD_DROP_LAST
} IfdDropReason;

/* Returns the name of `reason` for log messages and statistics, such as
 * "no-room" or "overwritten". */
const gchar *ifd_drop_reason_get_name (IfdDropReason reason);
/* Returns 'I', 'P' or 'B' for the frame type. */
gchar ifd_frame_type_char (IfdFrameType type);

typedef enum
{
  /* The new frame was stored in the queue of waiting frames (W). */
  IFD_EVENT_STORED,
  /* The frame was dropped; it belongs to the caller again. */
  IFD_EVENT_DROPPED
} IfdEventType;

typedef struct
{
  IfdEventType type;
  IfdFrame frame;
  IfdDropReason reason;         /* only for IFD_EVENT_DROPPED */
  /* Sequence number of the frame whose arrival caused the drop. If the new
   * frame itself was dropped, `cause` is its own number. If a waiting frame was
   * dropped to make room, `cause` is the number of the new frame. */
  guint64 cause;
} IfdEvent;

/* Counters of frames, which never decrease. Each frame that arrives is counted
 * in `in`. At any time, each of these frames is in one of these states: it was
 * sent, dropped or flushed, it waits in the queue of waiting frames (W), or it
 * is being sent. */
typedef struct
{
  guint64 in[IFD_FRAME_LAST], in_bytes[IFD_FRAME_LAST];
  guint64 sent[IFD_FRAME_LAST], sent_bytes[IFD_FRAME_LAST];
  guint64 dropped[IFD_FRAME_LAST][IFD_DROP_LAST];
  guint64 dropped_bytes[IFD_FRAME_LAST];
  /* number of frames that were waiting or being sent when the stream ended */
  guint64 flushed;
  guint64 gops;                 /* number of I-frames that arrived */
  /* number of GOPs in which at least one I- or P-frame was dropped */
  guint64 gops_disturbed;
  /* number of I-frames that were stored in the queue of waiting frames (W)
   * although a decoder would display them in the wrong order */
  guint64 gops_misordered;
  /* Total time in ns that was spent on sending frames. For each frame, it is
   * the time from ifd_poll_output () to ifd_sent (). */
  guint64 time_blocked;
  /* number of frames that are waiting in the queue W */
  guint waiting;
  guint64 waiting_bytes;
  /* Lateness of the sent frames in ns: median, 99th percentile and maximum. The
   * lateness of a frame is the time from the moment at which it should have
   * been sent until ifd_sent () was called for it. All three values are 0 if no
   * frame was sent. */
  gint64 lateness_median, lateness_p99, lateness_max;
} IfdStats;

typedef struct _Ifd Ifd;

/* Function that logs one line. ifd_set_trace () sets it. `is_packet` is TRUE
 * for the line that reports that a frame was stored in the queue. Such a line
 * is written for every stored frame. As there are many such lines, they should
 * have a more detailed log level than other lines. */
typedef void (*IfdTrace) (gpointer owner, gboolean is_packet,
    const gchar * format, va_list args) G_GNUC_PRINTF (3, 0);

Ifd *ifd_new (const IfdConfig * config);
/* Frees the object, but not the frames in the queue W, because they belong to
 * the caller. To get these frames back, call ifd_flush () first. */
void ifd_free (Ifd * ifd);
/* Sets a function that receives log lines. One line is written for each frame
 * that is stored in the queue W, and one line for each frame that is dropped.
 * The line of a dropped frame says why this frame was selected. If the function
 * is NULL, nothing is logged. */
void ifd_set_trace (Ifd * ifd, IfdTrace trace, gpointer owner);
/* Changes the configuration. The new capacity of the queue W applies from the
 * next frame on; frames that wait already are not dropped. After the start of
 * the stream, a new algorithm applies only from the next I-frame on. Until
 * then, frames may refer to frames that the previous algorithm has dropped, and
 * the new algorithm has no record of them. */
void ifd_set_config (Ifd * ifd, const IfdConfig * config);

/* Returns whether the queue of waiting frames (W) has room for a new frame. If
 * it has none, the next call of ifd_input () drops a waiting frame or the new
 * frame. */
gboolean ifd_has_room (const Ifd * ifd);
/* Passes a new frame to the algorithm. Call this function when the frame is
 * complete and the time to send it has come. The frame is returned to the
 * caller later: by ifd_poll_output (), by an event of type IFD_EVENT_DROPPED,
 * or by ifd_flush (). */
void ifd_input (Ifd * ifd, guint64 now, const IfdFrame * frame);
/* Removes the oldest frame from the queue of waiting frames (W) and stores it
 * in `frame`, so that the caller can send it. Returns FALSE if the queue is
 * empty, or if ifd_sent () was not yet called for the previous frame. */
gboolean ifd_poll_output (Ifd * ifd, guint64 now, IfdFrame * frame);
/* Stores the oldest frame of the queue W in `frame`, but does not remove it
 * from the queue. Returns FALSE if the queue W is empty. */
gboolean ifd_peek_output (const Ifd * ifd, IfdFrame * frame);
/* Call this function when the frame that ifd_poll_output () returned has been
 * sent. Also call it if this frame will not be sent after all. The frame counts
 * as sent in both cases. */
void ifd_sent (Ifd * ifd, guint64 now);
gboolean ifd_poll_event (Ifd * ifd, IfdEvent * event);

/* Call this function when a new receiver has connected, because the new
 * receiver lacks all earlier frames. Output resumes with the next I-frame or
 * with the next intra refresh, whichever arrives first. If output resumes with
 * an I-frame, the leading frames of this I-frame are dropped. However,
 * IFD_ALGORITHM_PAPER does not distinguish leading frames, so it sends them. */
void ifd_restart (Ifd * ifd);
/* Call this function at the end of a stream, repeatedly until it returns FALSE.
 * Each call removes the oldest frame from the queue W and stores it in `frame`.
 * If the queue is empty, the function returns FALSE. It then also forgets the
 * frame that is being sent, and resets the state of the stream, but not the
 * counters. */
gboolean ifd_flush (Ifd * ifd, IfdFrame * frame);

void ifd_get_stats (const Ifd * ifd, IfdStats * stats);
