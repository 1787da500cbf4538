/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* I-Frame Delay (IFD): selects the frames to drop when the channel is slower
 * than the stream, so that the picture quality suffers least and the delay
 * never exceeds a few frames. The core does no I/O and uses no random numbers;
 * the caller supplies the time.
 *
 * The algorithm follows R. Ouwens, "Quality of video streaming over wireless
 * networks" (2006), sections 1.5 and 2. Its three buffers are: C, the frame
 * that has just been completed (ifd_input); W, the waiting frames; and S, the
 * frame that is being sent (between ifd_poll_output and ifd_sent).
 *
 *   when a frame is complete and due:
 *     ifd_input (ifd, now, &frame);
 *     while (ifd_poll_event (ifd, &event)) ...   shows which frames were
 *     dropped
 *   when the channel is free:
 *     if (ifd_poll_output (ifd, now, &frame)) { send it; ifd_sent (ifd, now); }
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
/* Number of frames after which an I-frame is sent even if a decoder would
 * display it in the wrong order, because the stream may never have a better
 * one. */
#define IFD_MAX_ORDER_WAIT 250

typedef enum
{
  /* Algorithm of Ouwens' figure 1.1, unchanged. */
  IFD_ALGORITHM_PAPER,
  /* Algorithm of Ouwens' figures 1.2 and 1.3, unchanged. */
  IFD_ALGORITHM_PAPER_GOP,
  /* Like PAPER_GOP, but with corrections, and the queue W holds several frames.
   * ifd.c explains the differences. */
  IFD_ALGORITHM_GOP
} IfdAlgorithm;

typedef struct
{
  IfdAlgorithm algorithm;
  /* Capacity of the queue W in frames, 1 to IFD_MAX_FRAMES; the algorithms of
   * the paper always use 1 */
  guint max_frames;
} IfdConfig;

/* How other frames depend on a frame. The frame types of other codecs than MPEG
 * video are mapped to these types. */
typedef enum
{
  /* an I-frame starts a GOP and refers to no other frame */
  IFD_FRAME_I,
  IFD_FRAME_P,                  /* other frames refer to a P-frame */
  IFD_FRAME_B,                  /* no other frame refers to a B-frame */
  IFD_FRAME_LAST
} IfdFrameType;

typedef enum
{
  /* Flag of an I-frame: the frames that follow the I-frame do not refer to
   * frames before the I-frame (closed GOP, IDR). */
  IFD_FRAME_CLOSED = 1 << 0,
  /* Flag of an I-frame: its leading frames refer to frames that are not in the
   * stream (broken_link, BLA). */
  IFD_FRAME_BROKEN = 1 << 1,
  /* Flag of a P- or B-frame (leading frame): the frame refers to frames before
   * the I-frame that precedes the frame in decoding order. */
  IFD_FRAME_LEADING = 1 << 2,
  /* Flag of a P- or B-frame (trailing frame): the frame does not refer to
   * frames before the I-frame that precedes it in decoding order. If a B-frame
   * between an I-frame and the next P-frame has neither this flag nor
   * IFD_FRAME_LEADING, it counts as leading. Any other frame without these
   * flags counts as trailing. */
  IFD_FRAME_TRAILING = 1 << 3,
  /* A part of the frame is missing, so the frame is dropped and counts as lost
   * for the frames that refer to it. */
  IFD_FRAME_INCOMPLETE = 1 << 4,
  /* Flag of a P-frame: an intra refresh starts here, in which several frames
   * refresh the picture part by part. A decoder that starts here has complete
   * pictures some frames later. */
  IFD_FRAME_REFRESH = 1 << 5,
  /* `uses` and `updates` of the frame are valid. They alone say which frames
   * depend on each other; the type of the frame only says how important it is.
   * A closed I-frame updates all slots. */
  IFD_FRAME_SLOTS = 1 << 6
} IfdFrameFlags;

typedef struct
{
  IfdFrameType type;
  IfdFrameFlags flags;
  guint size;                   /* in bytes */
  /* time at which the frame should be sent, in ns */
  guint64 due;
  /* Position of the frame in display order, modulo order_range, if a decoder
   * derives the higher bits from the previous reference picture
   * (pic_order_cnt_lsb of H.264). order_range is 0 if a decoder does not do
   * this, or if the position is unknown. */
  guint order, order_range;
  /* With IFD_FRAME_SLOTS: the slots of the decoder that the frame uses, and
   * those that it updates (slotuse.h). An I-frame uses none. */
  guint32 uses, updates;
  gint layer;                   /* temporal layer, or -1 if unknown */
  /* With IFD_FRAME_SLOTS: the layer in a pyramid of references, of which the
   * base is 0; a temporal layer need not be repeated. A higher layer is dropped
   * first. */
  guint depth;
  gpointer user;                /* data of the caller */

  /* Sequence number in the order of input, from 0; set by ifd_input */
  guint64 number;
} IfdFrame;

/* Returns IFD_FRAME_LEADING or IFD_FRAME_TRAILING for a B-frame of MPEG video,
 * or 0 if it is unknown. Without such a flag, each B-frame between an I-frame
 * and the next P-frame counts as leading. `temporal_reference` is that of the
 * frame, and `i_reference` that of the I-frame before it (13818-2, 6.3.9). */
IfdFrameFlags ifd_find_place (guint temporal_reference, guint i_reference);

/* Reason why a frame is dropped */
typedef enum
{
  /* The frame arrived while the queue W was full of frames that matter more. */
  IFD_DROP_NO_ROOM,
  /* The frame waited in the queue W and made room for another frame. */
  IFD_DROP_OVERWRITTEN,
  /* The frame refers to a frame of its GOP that was dropped. */
  IFD_DROP_DISTURBED,
  /* The frame is a leading frame and refers to a frame of the previous GOP that
   * was dropped. */
  IFD_DROP_LEADING,
  IFD_DROP_INCOMPLETE,          /* a part of the frame was missing */
  /* No I-frame was sent since the stream, or the connection to the receiver,
   * began. */
  IFD_DROP_NO_I,
  /* A decoder would display this I-frame in the wrong order, because too many
   * frames between it and the previous reference picture were dropped. */
  IFD_DROP_MISORDERED,
  IFD_DROP_LAST
} IfdDropReason;

/* Returns "no-room", "overwritten" etc., as used in messages and statistics. */
const gchar *ifd_drop_reason_get_name (IfdDropReason reason);
/* Returns 'I', 'P' or 'B'. */
gchar ifd_frame_type_char (IfdFrameType type);

typedef enum
{
  IFD_EVENT_STORED,             /* the new frame was stored in the queue W */
  /* The frame was dropped and belongs to the caller again. */
  IFD_EVENT_DROPPED
} IfdEventType;

typedef struct
{
  IfdEventType type;
  IfdFrame frame;
  IfdDropReason reason;         /* only for IFD_EVENT_DROPPED */
  /* Number of the frame whose arrival caused the drop. It is the dropped frame
   * itself, or the frame that takes its place. */
  guint64 cause;
} IfdEvent;

/* Counters never decrease. `in` is the sum of the frames that were sent,
 * dropped and flushed, that wait in the queue W, and that are being sent. */
typedef struct
{
  guint64 in[IFD_FRAME_LAST], in_bytes[IFD_FRAME_LAST];
  guint64 sent[IFD_FRAME_LAST], sent_bytes[IFD_FRAME_LAST];
  guint64 dropped[IFD_FRAME_LAST][IFD_DROP_LAST];
  guint64 dropped_bytes[IFD_FRAME_LAST];
  /* Frames that were waiting or being sent when the stream ended */
  guint64 flushed;
  guint64 gops;                 /* number of I-frames that arrived */
  guint64 gops_disturbed;       /* GOPs of which an I- or P-frame was dropped */
  /* I-frames that were stored in the queue W although a decoder would display
   * them in the wrong order */
  guint64 gops_misordered;
  /* time during which a frame was being sent, in ns */
  guint64 time_blocked;
  /* number of frames that are waiting in the queue W */
  guint waiting;
  guint64 waiting_bytes;
  /* Time from `due` of a frame until it was sent, in ns; 0 if no frame was
   * sent. */
  gint64 lateness_median, lateness_p99, lateness_max;
} IfdStats;

typedef struct _Ifd Ifd;

/* Logs one line. `is_packet` is TRUE for lines that are written once per frame.
 */
typedef void (*IfdTrace) (gpointer owner, gboolean is_packet,
    const gchar * format, va_list args) G_GNUC_PRINTF (3, 0);

Ifd *ifd_new (const IfdConfig * config);
/* The frames in the queue W belong to the caller, who calls ifd_flush first to
 * get them back. */
void ifd_free (Ifd * ifd);
/* Sets a function that logs one line for each arriving frame, and one for each
 * dropped frame with the rule that selected it. NULL disables this. */
void ifd_set_trace (Ifd * ifd, IfdTrace trace, gpointer owner);
/* Changes the configuration. The new capacity of the queue W applies from the
 * next frame on, without dropping waiting frames. A new algorithm applies from
 * the next I-frame on, because it does not know what the previous algorithm has
 * dropped. */
void ifd_set_config (Ifd * ifd, const IfdConfig * config);

/* Returns FALSE if the next frame can only be stored by dropping a frame, which
 * may be the next frame itself. */
gboolean ifd_has_room (const Ifd * ifd);
/* Passes a complete frame to the algorithm when it is due. The frame is later
 * returned by ifd_poll_output, by an event of type IFD_EVENT_DROPPED, or by
 * ifd_flush. */
void ifd_input (Ifd * ifd, guint64 now, const IfdFrame * frame);
/* Removes the oldest frame from the queue W for sending and stores it in
 * `frame`. Returns FALSE if the queue is empty, or if ifd_sent was not called
 * for the previous frame yet. */
gboolean ifd_poll_output (Ifd * ifd, guint64 now, IfdFrame * frame);
/* Stores the frame that ifd_poll_output would take in `frame`, without removing
 * it. Returns FALSE if the queue W is empty. */
gboolean ifd_peek_output (const Ifd * ifd, IfdFrame * frame);
/* Called when the frame from ifd_poll_output was sent, or when the sender gave
 * it up. The frame counts as sent in both cases. */
void ifd_sent (Ifd * ifd, guint64 now);
gboolean ifd_poll_event (Ifd * ifd, IfdEvent * event);

/* Called when a new receiver is connected, which has no previous frame. Output
 * resumes with the next I-frame without its leading frames, or with an intra
 * refresh if that arrives first. IFD_ALGORITHM_PAPER does not know leading
 * frames and sends them. */
void ifd_restart (Ifd * ifd);
/* Called at the end of a stream. Removes the oldest frame of the queue W and
 * stores it in `frame`. Returns FALSE if the queue is empty; then the frame
 * that is being sent is forgotten too, and the core is reset except for its
 * counters. */
gboolean ifd_flush (Ifd * ifd, IfdFrame * frame);

void ifd_get_stats (const Ifd * ifd, IfdStats * stats);
