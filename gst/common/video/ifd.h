/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* I-Frame Delay: where a stream has to go through a channel that is too slow
 * for it, gives up the frames that cost the picture least, and is never late by
 * more than a few frames. A core: no I/O, times are the caller's, no chance.
 *
 * After R. Ouwens, "Quality of video streaming over wireless networks" (2006),
 * sections 1.5 and 2, with his three buffers: C is the frame that has just
 * become whole (ifd_input), W holds the frames that wait, S the one that is
 * being sent (between ifd_poll_output and ifd_sent).
 *
 *   when a frame is whole, and due:
 *     ifd_input (ifd, now, &frame);
 *     while (ifd_poll_event (ifd, &event)) ...   what becomes of it, of others
 *   when the channel is free:
 *     if (ifd_poll_output (ifd, now, &frame)) { send it; ifd_sent (ifd, now); }
 */

#pragma once

#include <glib.h>

#define IFD_MAX_FRAMES 64
#define IFD_DEFAULT_MAX_FRAMES 3
/* After so many frames that waited in vain for an I-frame the stream is taken
 * for one that has none. It goes on with its next refresh, or at once where it
 * has none of these either. */
#define IFD_MAX_GOP 600
/* Number of frames after which an I-frame is sent although a decoder would
 * show it in the wrong order. A stream may never bring a better one. */
#define IFD_MAX_ORDER_WAIT 250

typedef enum
{
  IFD_ALGORITHM_PAPER,          /* figure 1.1, to the letter */
  IFD_ALGORITHM_PAPER_GOP,      /* figures 1.2 and 1.3, to the letter */
  IFD_ALGORITHM_GOP             /* the same mended, with a W of several frames;
                                 * see ifd.c */
} IfdAlgorithm;

typedef struct
{
  IfdAlgorithm algorithm;
  guint max_frames;             /* size of W, 1 to IFD_MAX_FRAMES; the figures
                                 * always have 1 */
} IfdConfig;

/* What a frame is to the others. Codecs with other names map to these. */
typedef enum
{
  IFD_FRAME_I,                  /* begins a GOP: refers to none */
  IFD_FRAME_P,                  /* others refer to it */
  IFD_FRAME_B,                  /* none refers to it */
  IFD_FRAME_LAST
} IfdFrameType;

typedef enum
{
  /* I: frames behind it don't refer to frames before it (closed GOP, IDR) */
  IFD_FRAME_CLOSED = 1 << 0,
  /* I: its leading frames refer to what is gone (broken_link, BLA) */
  IFD_FRAME_BROKEN = 1 << 1,
  /* P, B: it refers to frames before the I-frame behind which it comes; */
  IFD_FRAME_LEADING = 1 << 2,
  /* it does not. Without either, a B between an I and the next P does. */
  IFD_FRAME_TRAILING = 1 << 3,
  /* a part of it is missing: it is dropped, and missed */
  IFD_FRAME_INCOMPLETE = 1 << 4,
  /* P: a decoder that begins with it has whole pictures some frames later, as
   * they refresh it part by part (intra refresh) */
  IFD_FRAME_REFRESH = 1 << 5
} IfdFrameFlags;

typedef struct
{
  IfdFrameType type;
  IfdFrameFlags flags;
  guint size;                   /* bytes */
  guint64 due;                  /* ns: when it should be sent */
  /* Its place in display order, modulo the range, where a decoder infers the
   * rest from the reference picture before it (pic_order_cnt_lsb of H.264).
   * Range 0: a decoder needs no such inference, or the place is not known. */
  guint order, order_range;
  gpointer user;                /* the caller's */

  guint64 number;               /* set by ifd_input: in the order of input,
                                 * from 0 */
} IfdFrame;

/* Why a frame is not sent */
typedef enum
{
  IFD_DROP_NO_ROOM,             /* it came while W held what is worth more */
  IFD_DROP_OVERWRITTEN,         /* it was in W and made room for another */
  IFD_DROP_DISTURBED,           /* its GOP lost a frame that it refers to */
  IFD_DROP_LEADING,             /* the GOP before did, and it leads its own */
  IFD_DROP_INCOMPLETE,          /* a part of it was missing */
  IFD_DROP_NO_I,                /* no I-frame was sent since the stream, or the
                                 * receiver, began */
  IFD_DROP_MISORDERED,               /* a decoder would show this I-frame in the
                                 * wrong order, since so much before it was
                                 * dropped */
  IFD_DROP_LAST
} IfdDropReason;

/* "no-room", "overwritten", ...: the words of messages and statistics */
const gchar *ifd_drop_reason_get_name (IfdDropReason reason);
/* 'I', 'P' or 'B' */
gchar ifd_frame_type_char (IfdFrameType type);

typedef enum
{
  IFD_EVENT_STORED,             /* C went to W */
  IFD_EVENT_DROPPED             /* it is the caller's again */
} IfdEventType;

typedef struct
{
  IfdEventType type;
  IfdFrame frame;
  IfdDropReason reason;         /* of a drop */
  guint64 cause;                /* number of the frame that came in when it was
                                 * dropped: itself, or that which took its
                                 * place */
} IfdEvent;

/* Counters never go back. in = sent + dropped + flushed + what is in W
 * and S. */
typedef struct
{
  guint64 in[IFD_FRAME_LAST], in_bytes[IFD_FRAME_LAST];
  guint64 sent[IFD_FRAME_LAST], sent_bytes[IFD_FRAME_LAST];
  guint64 dropped[IFD_FRAME_LAST][IFD_DROP_LAST];
  guint64 dropped_bytes[IFD_FRAME_LAST];
  guint64 flushed;              /* frames in W and S when the stream ended */
  guint64 gops;                 /* I-frames that came in */
  guint64 gops_disturbed;       /* that lost an I or P */
  guint64 gops_misordered;      /* I-frames that went to W although a decoder
                                 * would show them in the wrong order */
  guint64 time_blocked;         /* ns for which there was a frame in S */
  guint waiting;                /* frames in W now */
  guint64 waiting_bytes;
  gint64 lateness_median, lateness_p99, lateness_max;   /* ns: from due to
                                 * sent; 0 when nothing was sent */
} IfdStats;

typedef struct _Ifd Ifd;

/* Logs one line. is_packet: there is one for each frame. */
typedef void (*IfdTrace) (gpointer owner, gboolean is_packet,
    const gchar * format, va_list args) G_GNUC_PRINTF (3, 0);

Ifd *ifd_new (const IfdConfig * config);
/* Frames in W are the caller's: ifd_flush first. */
void ifd_free (Ifd * ifd);
/* From now on decisions are traced: one line for each frame that comes, and one
 * for each drop, which names the rule that chose the frame. NULL: none */
void ifd_set_trace (Ifd * ifd, IfdTrace trace, gpointer owner);
/* The size of W from the next frame on, and what is in it stays; the algorithm
 * from the next I-frame on, as no algorithm knows what another has given up. */
void ifd_set_config (Ifd * ifd, const IfdConfig * config);

/* FALSE: for one more frame another has to go, C itself perhaps */
gboolean ifd_has_room (const Ifd * ifd);
/* A frame is whole and due. It ends in an output, in a drop or in a flush. */
void ifd_input (Ifd * ifd, guint64 now, const IfdFrame * frame);
/* Takes the oldest frame of W into S. FALSE: W is empty, or S is not. */
gboolean ifd_poll_output (Ifd * ifd, guint64 now, IfdFrame * frame);
/* The frame that a poll would take, which stays; or FALSE */
gboolean ifd_peek_output (const Ifd * ifd, IfdFrame * frame);
/* All of S was sent, or given up by who sends: it counts as sent. */
void ifd_sent (Ifd * ifd, guint64 now);
gboolean ifd_poll_event (Ifd * ifd, IfdEvent * event);

/* The receiver knows nothing of what was sent: on with the next I-frame, and
 * without its leading frames (but with algorithm paper, which knows none); or
 * with a refresh, if one comes first. */
void ifd_restart (Ifd * ifd);
/* Takes back the oldest frame of W, of a stream that ends here. FALSE when there
 * is none: then S is empty too, and the core as new but for its counters. */
gboolean ifd_flush (Ifd * ifd, IfdFrame * frame);

void ifd_get_stats (const Ifd * ifd, IfdStats * stats);
