/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of I-Frame Delay (IFD), which ifd.h describes.
 *
 * W is the queue of waiting frames. IFD_ALGORITHM_GOP differs from the
 * algorithm of figures 1.2 and 1.3 in Ouwens' paper as follows:
 * - If an I-frame replaces an I- or P-frame in W, a reference frame of the
 *   previous GOP is missing: the previous GOP is *disturbed*. The leading
 *   B-frames of the new GOP, which may refer to the previous GOP, then cannot
 *   be decoded. IFD_ALGORITHM_GOP therefore drops these B-frames. The algorithm
 *   of the paper sends them.
 * - Leading B-frames of a closed GOP refer to no frame before the GOP, so they
 *   are kept. A stream can also mark that it was edited directly before a GOP
 *   (for example with the flag broken_link of MPEG-2). The leading B-frames of
 *   such a GOP can never be decoded, so they are dropped.
 * - A flag says that the previous GOP was disturbed. The algorithm of the paper
 *   clears this flag at the first P-frame of a GOP. In the sequence I, B, B, I,
 *   B, B, however, no GOP has a P-frame. Once set, the flag would then never be
 *   cleared, and more frames than necessary would be lost. Here each I-frame
 *   therefore gives the flag a new value, TRUE or FALSE.
 * - W holds several frames. If W is full, the frame whose loss changes the
 *   picture least is dropped; see find_victim (). During an outage, most frames
 *   of a GOP may be dropped while a few frames of this GOP wait in W. The next
 *   I-frame then replaces all frames in W; see is_stale ().
 * - A decoder of H.264 derives the upper bits of an I-frame's picture order
 *   count from the last reference picture that the decoder received. If too
 *   many frames between that picture and the I-frame were dropped, the derived
 *   bits are wrong. The decoder might then display the I-frame before older
 *   pictures. If it would do so, the I-frame and its GOP are dropped.
 * - Output to a new receiver may begin with a frame that starts an intra
 *   refresh. After a dropped frame, however, the output does not resume with
 *   such a frame, because the receiver would display damaged pictures until the
 *   end of the refresh. The exception is a stream without I-frames.
 * - In some streams, it is known for each frame which other frames it needs
 *   (IFD_FRAME_SLOTS). These are streams of VP8, VP9 and AV1, and H.264 and
 *   H.265 streams with several layers of reference frames. After a dropped
 *   P-frame, it is then possible to send those frames of its GOP that do not
 *   need this P-frame. ifdslots.c selects the frame to drop in such streams. */

#include "ifd.h"

#include <string.h>

#include "ifdslots.h"
#include "statistics.h"

/* Number of GOPs, from the newest one backwards, for which the Ifd object
 * remembers whether it has already counted them as disturbed. A GOP is
 * disturbed if one of its I- or P-frames was dropped. Each disturbed GOP must
 * be counted only once. The number is greater than the maximum number of
 * waiting frames, so that the GOP of each waiting frame is remembered. */
#define REMEMBERED_GOPS (2 * IFD_MAX_FRAMES)

/* Length of a period, in frames. For each period, the object records which
 * slots of the decoder (for example buffers of reference frames) the frames of
 * the stream use. */
#define SLOT_PERIOD 32
#define ALL_SLOTS G_MAXUINT32

/* In MPEG video, the temporal reference is the display position of a picture,
 * counted modulo 1024 (13818-2 6.3.9). To compare two pictures A and B, the
 * temporal reference of B is subtracted from that of A, modulo 1024. If the
 * difference is less than 512, A is displayed later than B. Otherwise A is
 * displayed earlier. */
#define HALF_OF_REFERENCES 512

G_STATIC_ASSERT (IFD_SLOTS_MAX_FRAMES > IFD_MAX_FRAMES);

/* Texts for the log that explain why a frame was dropped. They are constants
 * because each of them is used in two functions. */
#define RULE_MISORDERED "a decoder would show it before older pictures"
#define RULE_RESTART "a new receiver begins with an I-frame"

typedef struct
{
  IfdFrame frame;
  /* sequence number of the GOP to which the frame belongs; each I-frame starts
   * a GOP */
  guint64 gop;
  /* TRUE if the frame is a leading frame: it follows the I-frame of its GOP,
   * but may refer to frames before this I-frame */
  gboolean leading;
  /* number of I- and P-frames that have arrived, up to and including this frame
   */
  guint64 references;
  /* TRUE if the frame is an I-frame that is sent although a decoder would
   * display it in the wrong order
   */
  gboolean misordered;
  /* Bit mask of slots, which are buffers of the decoder, for example for
   * reference frames. The mask is about the frames that were dropped directly
   * before the frame of this entry. If one of the dropped frames would have
   * updated a slot, the bit of this slot is set. The decoder then lacks this
   * update. */
  guint32 missed;
} IfdEntry;

/* State of the decoder's slots. A slot is a buffer in which the decoder keeps
 * data for later frames, such as a reference frame. This struct is used for
 * streams whose frames say which slots they use and update (flag
 * IFD_FRAME_SLOTS). */
typedef struct
{
  gboolean are_used;            /* TRUE if the last frame had IFD_FRAME_SLOTS */
  /* TRUE if the frame that arrived last was stored in the queue W of waiting
   * frames; FALSE if it was dropped */
  gboolean is_stored;
  /* Bit mask of slots. A slot is, for example, the buffer of a reference frame.
   * The mask describes a decoder that has received all frames sent so far: the
   * bit of a slot is set if this slot has wrong contents. A frame counts as
   * sent when it is removed from the queue W of waiting frames. */
  guint32 wrong;
  /* Bit mask of decoder slots, such as the buffers of reference frames. The
   * mask covers the frames that arrived after the newest waiting frame and were
   * dropped. The bit of a slot is set if one of these frames would have updated
   * the slot. */
  guint32 missed;
  /* Bit masks of the slots that frames have used. A slot is, for example, the
   * buffer of a reference frame. `used` covers the current period, and
   * `used_before` covers the previous one. A period has SLOT_PERIOD frames. */
  guint32 used, used_before;
  /* number of frames so far in the current period of SLOT_PERIOD frames */
  guint n_frames;
} SlotState;

/* Model of a decoder that derives the display order of pictures from the lower
 * bits of their picture order counts (H.264, 8.2.1.1) */
typedef struct
{
  gboolean is_known;
  /* display position of the last I- or P-frame that the decoder has decoded */
  gint64 last;
  gint64 max;                   /* maximum of all positions */
  /* Number that identifies the last I- or P-frame that the decoder has
   * received. It is the number of all I- and P-frames up to and including this
   * frame. Dropped frames are counted, too. The number is a copy of the field
   * IfdEntry.references of this frame. */
  guint64 references;
} DecoderOrder;

struct _Ifd
{
  IfdConfig config;
  /* The algorithm in use. It changes only at the start of the stream or at an
   * I-frame. */
  IfdAlgorithm algorithm;
  /* The queue W of frames that wait to be sent. Its elements are IfdEntry, the
   * oldest first.
   */
  GQueue w;
  /* TRUE while a frame is being sent, from ifd_poll_output to ifd_sent. The
   * field `s` contains this frame. */
  gboolean sending;
  IfdFrame s;
  guint64 sending_since;        /* in ns */
  GQueue events;                /* elements are IfdEvent */

  guint64 next_number;          /* number of the next frame */
  /* TRUE if the stream has started, because a frame has arrived or a receiver
   * has connected
   */
  gboolean begun;
  /* sequence number of the newest GOP; 0 if none has started */
  guint64 gop;
  /* One flag for each of the newest GOPs. It is TRUE if the GOP was counted as
   * disturbed, because one of its I- or P-frames was dropped. The index is the
   * number of the GOP modulo REMEMBERED_GOPS. */
  gboolean gop_counted[REMEMBERED_GOPS];
  /* TRUE while a decoder cannot start: all frames are dropped until the next
   * I-frame or intra refresh */
  gboolean awaits_i;
  /* number of consecutive new frames that a decoder could not decode, because
   * it lacks frames to which they refer */
  guint vain;
  /* TRUE if no I-frame has arrived for so long that the stream apparently has
   * none. Output then resumes with an intra refresh. If the stream has no intra
   * refresh either, frames are sent although the decoder lacks frames to which
   * they refer. */
  gboolean has_no_i;
  /* TRUE if an intra refresh has started since the newest I-frame */
  gboolean refreshes;

  /* Flags of figures 1.2 and 1.3 in Ouwens' paper. In IFD_ALGORITHM_GOP,
   * gop_disturbed means that an I- or P-frame of the newest GOP was dropped, so
   * the rest of this GOP cannot be decoded. prev_gop_disturbed means that the
   * leading frames of the newest GOP cannot be decoded. Leading frames follow
   * the I-frame in the stream, but are displayed before it. */
  gboolean gop_disturbed, prev_gop_disturbed;
  gboolean gop_closed;          /* TRUE if the newest GOP is closed */
  /* TRUE if a P-frame that is not a leading frame has arrived since the newest
   * I-frame */
  gboolean behind_p;

  guint64 references;           /* number of I- and P-frames that arrived */
  /* State of a decoder that has received all frames sent so far. The decoder
   * derives the display order of later frames from this state. A frame counts
   * as sent when it is removed from the queue W of waiting frames. */
  DecoderOrder order;
  /* TRUE while I-frames are dropped because a decoder would display them in the
   * wrong order */
  gboolean awaits_order;
  /* Sequence number of the first I-frame that was dropped because a decoder
   * would display it in the wrong order. Only valid if `awaits_order` is TRUE.
   */
  guint64 awaits_order_since;
  /* IfdFrame.order (the position in display order) of the I-frame with the
   * sequence number `awaits_order_since` */
  guint awaits_order_from;

  SlotState slots;

  IfdStats stats;
  StatisticsHistogram *lateness;

  IfdTrace trace;               /* may be NULL */
  gpointer trace_owner;
};

const gchar *
ifd_drop_reason_get_name (IfdDropReason reason)
{
  static const gchar *const names[IFD_DROP_LAST] = {
    "no-room", "overwritten", "disturbed", "leading", "incomplete",
    "no-i-frame",
    "misordered"
  };

  return names[reason];
}

gchar
ifd_frame_type_char (IfdFrameType type)
{
  return "IPB"[type];
}

IfdFrameFlags
ifd_find_place (guint temporal_reference, guint i_reference)
{
  const guint distance = (temporal_reference - i_reference) & 1023;

  if (distance == 0)
    return 0;
  return distance < HALF_OF_REFERENCES ? IFD_FRAME_TRAILING : IFD_FRAME_LEADING;
}

/* The life cycle */

static void
begin_stream (Ifd * ifd)
{
  ifd->begun = FALSE;
  ifd->algorithm = ifd->config.algorithm;
  ifd->awaits_i = ifd->algorithm == IFD_ALGORITHM_GOP;
  ifd->gop_disturbed = ifd->prev_gop_disturbed = FALSE;
  ifd->gop_closed = ifd->behind_p = FALSE;
  ifd->has_no_i = ifd->refreshes = FALSE;
  ifd->order.is_known = ifd->awaits_order = FALSE;
  ifd->vain = 0;
  memset (&ifd->slots, 0, sizeof (ifd->slots));
  ifd->slots.wrong = ifd->slots.used = ifd->slots.used_before = ALL_SLOTS;
}

void
ifd_set_trace (Ifd * ifd, IfdTrace trace, gpointer owner)
{
  ifd->trace = trace;
  ifd->trace_owner = owner;
}

void
ifd_set_config (Ifd * ifd, const IfdConfig * config)
{
  ifd->config = *config;
  ifd->config.max_frames = CLAMP (config->max_frames, 1, IFD_MAX_FRAMES);
  if (!ifd->begun)
    begin_stream (ifd);
}

Ifd *
ifd_new (const IfdConfig * config)
{
  Ifd *ifd = g_new0 (Ifd, 1);

  g_queue_init (&ifd->w);
  g_queue_init (&ifd->events);
  ifd->lateness = statistics_histogram_new ();
  ifd_set_config (ifd, config);
  return ifd;
}

static void
free_entry (gpointer entry)
{
  g_slice_free (IfdEntry, entry);
}

static void
free_event (gpointer event)
{
  g_slice_free (IfdEvent, event);
}

void
ifd_free (Ifd * ifd)
{
  g_queue_clear_full (&ifd->w, free_entry);
  g_queue_clear_full (&ifd->events, free_event);
  statistics_histogram_free (ifd->lateness);
  g_free (ifd);
}

/* --- used by several functions below --- */

static void
G_GNUC_PRINTF (3, 4)
trace (Ifd * ifd, gboolean is_packet, const gchar * format, ...)
{
#ifndef WITHOUT_TRACE
  va_list args;

  if (!ifd->trace)
    return;
  va_start (args, format);
  ifd->trace (ifd->trace_owner, is_packet, format, args);
  va_end (args);
#endif
}

static void
push_event (Ifd * ifd, IfdEventType type, const IfdFrame * frame)
{
  IfdEvent *event = g_slice_new0 (IfdEvent);

  event->type = type;
  event->frame = *frame;
  event->cause = ifd->next_number - 1;
  g_queue_push_tail (&ifd->events, event);
}

static gboolean
is_reference (const IfdFrame * frame)
{
  return frame->type != IFD_FRAME_B;
}

static void
count_disturbed (Ifd * ifd, guint64 gop)
{
  gboolean *counted = &ifd->gop_counted[gop % REMEMBERED_GOPS];

  if (gop > 0 && !*counted)
    ifd->stats.gops_disturbed++;
  *counted = TRUE;
}

/* Drops a frame. `rule` is a text for the log that says why this frame was
 * selected.
 */
static void
drop (Ifd * ifd, const IfdEntry * entry, IfdDropReason reason,
    const gchar * rule)
{
  const IfdFrame *frame = &entry->frame;

  trace (ifd, FALSE, "dropped %c-frame %" G_GUINT64_FORMAT " of %u bytes when "
      "frame %" G_GUINT64_FORMAT " came: %s: %s",
      ifd_frame_type_char (frame->type), frame->number, frame->size,
      ifd->next_number - 1, ifd_drop_reason_get_name (reason), rule);
  push_event (ifd, IFD_EVENT_DROPPED, frame);
  ((IfdEvent *) ifd->events.tail->data)->reason = reason;
  ifd->stats.dropped[frame->type][reason]++;
  ifd->stats.dropped_bytes[frame->type] += frame->size;
  if (is_reference (frame))
    count_disturbed (ifd, entry->gop);
}

static gboolean
has_slots (const IfdFrame * frame)
{
  return (frame->flags & IFD_FRAME_SLOTS) != 0;
}

/* Called before a waiting frame is dropped. The frame may update slots, which
 * are buffers of the decoder, for example for reference frames. The decoder
 * will not receive these updates. The function therefore adds the slots to the
 * field `missed` of the next waiting frame, or to ifd->slots.missed if there is
 * none. */
static void
pass_on_missed (Ifd * ifd, const GList * link)
{
  const IfdEntry *entry = link->data;
  guint32 *missed = link->next ? &((IfdEntry *) link->next->data)->missed :
      &ifd->slots.missed;

  *missed |= entry->missed;
  if (has_slots (&entry->frame))
    *missed |= entry->frame.updates;
}

static void
drop_link (Ifd * ifd, GList * link, IfdDropReason reason, const gchar * rule)
{
  IfdEntry *entry = link->data;

  pass_on_missed (ifd, link);
  g_queue_delete_link (&ifd->w, link);
  ifd->stats.waiting_bytes -= entry->frame.size;
  drop (ifd, entry, reason, rule);
  free_entry (entry);
}

static void
store (Ifd * ifd, const IfdEntry * c)
{
  IfdEntry *entry = g_slice_dup (IfdEntry, c);

  entry->missed = ifd->slots.missed;
  ifd->slots.missed = 0;
  ifd->slots.is_stored = TRUE;
  trace (ifd, TRUE, "%c-frame %" G_GUINT64_FORMAT " of %u bytes waits behind "
      "%u frames", ifd_frame_type_char (c->frame.type), c->frame.number,
      c->frame.size, ifd->w.length);
  g_queue_push_tail (&ifd->w, entry);
  ifd->stats.waiting_bytes += c->frame.size;
  push_event (ifd, IFD_EVENT_STORED, &c->frame);
}

/* Replaces the waiting frame by the new frame C. This is the operation
 * "overwrite(W with C)" in the figures of Ouwens' paper. */
static void
overwrite (Ifd * ifd, const IfdEntry * c, const gchar * rule)
{
  drop_link (ifd, ifd->w.tail, IFD_DROP_OVERWRITTEN, rule);
  store (ifd, c);
}

/* Returns whether the queue W of waiting frames has room for a new frame. In
 * the algorithms of Ouwens' paper, W can hold one frame, so only an empty W has
 * room. After a change from IFD_ALGORITHM_GOP to one of them, W may hold more
 * than one frame for a while. */
gboolean
ifd_has_room (const Ifd * ifd)
{
  return ifd->w.length < (ifd->algorithm == IFD_ALGORITHM_GOP ?
      ifd->config.max_frames : 1);
}

static const IfdFrame *
newest (const Ifd * ifd)
{
  return &((const IfdEntry *) ifd->w.tail->data)->frame;
}

/* Ouwens' figure 1.1 */

static void
enqueue_paper (Ifd * ifd, const IfdEntry * c)
{
  if (ifd_has_room (ifd))
    store (ifd, c);
  else if (c->frame.type == IFD_FRAME_I)
    overwrite (ifd, c, "an I-frame takes the place of any frame");
  else if (c->frame.type == IFD_FRAME_B)
    drop (ifd, c, IFD_DROP_NO_ROOM, "a B-frame takes the place of no frame");
  else if (is_reference (newest (ifd)))
    drop (ifd, c, IFD_DROP_NO_ROOM,
        "a P-frame takes the place of B-frames only");
  else
    overwrite (ifd, c, "a P-frame takes the place of a B-frame");
}

/* Returns a text for the log, which explains why a decoder could not decode the
 * frame that was dropped. */
static const gchar *
get_rule_of_undecodable (IfdDropReason reason)
{
  if (reason == IFD_DROP_NO_I)
    return "no I-frame was sent since the stream or the receiver began";
  if (reason == IFD_DROP_DISTURBED)
    return "it refers to a frame of its GOP that is not sent";
  return "it is a leading frame, and refers to frames that are not sent";
}

static void
drop_undecodable (Ifd * ifd, const IfdEntry * c, IfdDropReason reason)
{
  drop (ifd, c, reason, get_rule_of_undecodable (reason));
}

/* Performs the algorithm of figures 1.2 and 1.3 in Ouwens' paper for the new
 * frame `c`. Returns the variable "discard_rest_of_GOP" of these figures, which
 * is TRUE if `c` has to be dropped. In this case, `reason` is set to the reason
 * for the drop. */
static gboolean
mark_paper_gop (Ifd * ifd, const IfdFrame * c, IfdDropReason * reason)
{
  *reason = ifd->gop_disturbed ? IFD_DROP_DISTURBED : IFD_DROP_LEADING;
  switch (c->type) {
    case IFD_FRAME_I:
      if (ifd->gop_disturbed)
        ifd->prev_gop_disturbed = TRUE;
      ifd->gop_disturbed = FALSE;
      return FALSE;
    case IFD_FRAME_P:
      ifd->prev_gop_disturbed = FALSE;
      return ifd->gop_disturbed;
    default:
      return ifd->gop_disturbed || ifd->prev_gop_disturbed;
  }
}

static void
enqueue_paper_gop (Ifd * ifd, const IfdEntry * c)
{
  IfdDropReason reason;

  if (mark_paper_gop (ifd, &c->frame, &reason)) {
    drop_undecodable (ifd, c, reason);
    return;
  }
  /* In figure 1.3 of Ouwens' paper, the step "perform IFD normally" stands for
   * the algorithm of figure 1.1. There is one addition: if this step drops a
   * P-frame, gop_disturbed is set, because the rest of the GOP cannot be
   * decoded. */
  if (!ifd_has_room (ifd) && c->frame.type == IFD_FRAME_P
      && is_reference (newest (ifd)))
    ifd->gop_disturbed = TRUE;
  enqueue_paper (ifd, c);
}

/* IFD_ALGORITHM_GOP */

/* Called at an I-frame, which starts a new GOP. Sets prev_gop_disturbed to TRUE
 * if the leading frames of the new GOP cannot be decoded. There are two such
 * cases:
 * - The previous GOP was disturbed, and the new GOP is not closed.
 * - There is a broken link between the two GOPs. */
static void
begin_gop (Ifd * ifd, const IfdFrame * c)
{
  ifd->prev_gop_disturbed = ifd->gop_disturbed || ifd->awaits_i;
  ifd->gop_closed = (c->flags & IFD_FRAME_CLOSED) != 0;
  if (ifd->gop_closed)
    ifd->prev_gop_disturbed = FALSE;
  if (c->flags & IFD_FRAME_BROKEN)
    ifd->prev_gop_disturbed = TRUE;
  ifd->gop_disturbed = ifd->awaits_i = FALSE;
  ifd->has_no_i = ifd->refreshes = FALSE;
}

static gboolean
is_refresh (const IfdEntry * c)
{
  return c->frame.type == IFD_FRAME_P && !c->leading
      && (c->frame.flags & IFD_FRAME_REFRESH);
}

/* Called at a frame that starts an intra refresh, which renews the picture part
 * by part. When the refresh is complete, a decoder can decode all following
 * frames, as after an I-frame.
 *
 * There is one exception, the leading frames of the last I-frame. Leading
 * frames follow their I-frame in the stream, but they are displayed earlier
 * than this I-frame, and they may refer to frames that are older than this
 * I-frame. The refresh does not restore these older frames.
 *
 * A refresh can therefore take the place of an I-frame. The function uses the
 * refresh in this way in two cases:
 * - Frames are dropped until the next I-frame, for example for a new receiver.
 * - The stream has no I-frames. */
static void
begin_refresh (Ifd * ifd)
{
  ifd->refreshes = TRUE;
  if (!ifd->awaits_i && !ifd->has_no_i)
    return;
  ifd->awaits_i = ifd->gop_disturbed = FALSE;
  ifd->prev_gop_disturbed = TRUE;
  ifd->slots.wrong = ifd->slots.missed = 0;
}

static IfdSlotFrame
describe_slots (const IfdFrame * frame, guint32 missed)
{
  IfdSlotFrame slots = { has_slots (frame), frame->uses, frame->updates,
    frame->type == IFD_FRAME_I, frame->type == IFD_FRAME_B,
    MAX (frame->layer, (gint) frame->depth), frame->size, missed
  };

  return slots;
}

static guint
list_slot_frames (const Ifd * ifd, const IfdEntry * c,
    IfdSlotFrame frames[IFD_SLOTS_MAX_FRAMES])
{
  const GList *walk;
  guint n = 0;

  for (walk = ifd->w.head; walk; walk = walk->next) {
    const IfdEntry *entry = walk->data;

    frames[n++] = describe_slots (&entry->frame, entry->missed);
  }
  frames[n++] = describe_slots (&c->frame, ifd->slots.missed);
  return n;
}

/* Returns whether the new frame C cannot be decoded because of a missing
 * reference. This is the case if C uses a slot that will have wrong contents
 * when the decoder receives C. A slot is, for example, the buffer of a
 * reference frame.
 */
static gboolean
uses_wrong_slot (const Ifd * ifd, const IfdEntry * c)
{
  IfdSlotFrame frames[IFD_SLOTS_MAX_FRAMES];
  gboolean lost[IFD_SLOTS_MAX_FRAMES];
  guint n;

  if (!has_slots (&c->frame))
    return FALSE;
  n = list_slot_frames (ifd, c, frames);
  ifd_slots_decode (ifd->slots.wrong, frames, n, n, lost);
  return lost[n - 1];
}

/* Returns the reason for dropping `entry`. The frame cannot be decoded, because
 * it uses a slot with wrong contents. A slot is, for example, the buffer of a
 * reference frame.
 */
static IfdDropReason
get_reason_of_lost (const IfdEntry * entry)
{
  return entry->leading ? IFD_DROP_LEADING : IFD_DROP_DISTURBED;
}

/* Returns TRUE if a decoder could not decode the new frame C, because it would
 * lack frames to which C refers. In this case, `reason` is the reason for
 * dropping C.
 */
static gboolean
is_undecodable (const Ifd * ifd, const IfdEntry * c, IfdDropReason * reason)
{
  if (c->frame.type == IFD_FRAME_I || (ifd->has_no_i && !ifd->refreshes))
    return FALSE;
  *reason = IFD_DROP_NO_I;
  if (ifd->awaits_i)
    return TRUE;
  *reason = get_reason_of_lost (c);
  if (has_slots (&c->frame))
    return uses_wrong_slot (ifd, c);
  *reason = IFD_DROP_DISTURBED;
  if (ifd->gop_disturbed)
    return TRUE;
  *reason = IFD_DROP_LEADING;
  return c->leading && ifd->prev_gop_disturbed;
}

/* Called if an I- or P-frame will not be sent. Some later frames may refer to
 * this frame. The function sets flags, so that these later frames are dropped
 * when they arrive.
 *
 * The function need not drop any of the frames in the queue W of waiting
 * frames. One reason is that find_victim () selects only frames to which no
 * waiting frame refers. The other reason is that drop_misordered (), when it
 * drops an I-frame, also drops the waiting frames that refer to this I-frame.
 */
static void
miss (Ifd * ifd, const IfdEntry * entry)
{
  if (!is_reference (&entry->frame) || has_slots (&entry->frame))
    return;
  if (entry->gop == ifd->gop && !entry->leading)
    ifd->gop_disturbed = TRUE;
  else if (entry->gop == ifd->gop || (entry->gop + 1 == ifd->gop
          && !ifd->gop_closed))
    ifd->prev_gop_disturbed = TRUE;
}

static const IfdEntry *
get_entry (const GList * link)
{
  return link->data;
}

static GList *
choose_larger (GList * a, GList * b)
{
  if (!a)
    return b;
  return get_entry (b)->frame.size > get_entry (a)->frame.size ? b : a;
}

static GList *
find_largest_b (Ifd * ifd)
{
  GList *walk, *largest = NULL;

  for (walk = ifd->w.head; walk; walk = walk->next) {
    if (get_entry (walk)->frame.type == IFD_FRAME_B)
      largest = choose_larger (largest, walk);
  }
  return largest;
}

/* Returns the newest waiting P-frame that is a leading frame, or NULL. If this
 * P-frame is dropped, only leading frames of the same GOP can be lost, because
 * trailing frames do not refer to leading frames. */
static GList *
find_leading_p (Ifd * ifd)
{
  GList *walk;

  for (walk = ifd->w.tail; walk; walk = walk->prev) {
    if (get_entry (walk)->frame.type == IFD_FRAME_P
        && get_entry (walk)->leading)
      return walk;
  }
  return NULL;
}

static gboolean
ends_gop (const Ifd * ifd, const GList * link)
{
  guint64 gop = get_entry (link)->gop;

  return gop != ifd->gop && (!link->next || get_entry (link->next)->gop != gop);
}

/* Returns the largest waiting P-frame that is the last frame of its GOP in the
 * queue W, or NULL. P-frames of the newest GOP are not considered, because
 * later frames of this GOP will refer to them.
 */
static GList *
find_last_p (Ifd * ifd)
{
  GList *walk, *largest = NULL;

  for (walk = ifd->w.head; walk; walk = walk->next) {
    if (get_entry (walk)->frame.type == IFD_FRAME_P && ends_gop (ifd, walk))
      largest = choose_larger (largest, walk);
  }
  return largest;
}

static gboolean
is_larger (const GList * link, const IfdEntry * c)
{
  return link && get_entry (link)->frame.size >= c->frame.size;
}

/* Selects the frame to drop if a new frame C arrives and the queue W of waiting
 * frames is full. Returns a waiting frame, or NULL if C has to be dropped.
 * `rule` is set to a text that explains the selection.
 *
 * Leading frames follow an I-frame in the stream, but may refer to frames
 * before this I-frame. The function applies the first of these rules that fits:
 * - If C is a B-frame, and W contains no B-frame or only smaller B-frames, C is
 *   dropped.
 * - If W contains B-frames, the largest of them is dropped.
 * - If C is a leading P-frame, C is dropped.
 * - If W contains leading P-frames, the newest of them is dropped.
 * - If W contains P-frames that are the last frames of complete GOPs, the
 *   largest of these P-frames is dropped. This costs one picture and perhaps
 *   the leading B-frames of the next GOP.
 * - If C is a P-frame, C is dropped. The rest of the GOP of C is then dropped,
 *   too.
 * - Otherwise C and all frames in W are I-frames. The oldest I-frame in W is
 *   dropped.
 *
 * If a P-frame in W is selected, no other waiting frame refers to this P-frame.
 */
static GList *
find_victim (Ifd * ifd, const IfdEntry * c, const gchar ** rule)
{
  GList *victim = find_largest_b (ifd);

  *rule = "the largest B-frame goes first";
  if (c->frame.type == IFD_FRAME_B)
    return is_larger (victim, c) ? victim : NULL;
  if (victim)
    return victim;
  *rule = "without B-frames, a leading P-frame goes first";
  if (c->frame.type == IFD_FRAME_P && c->leading)
    return NULL;
  victim = find_leading_p (ifd);
  if (victim)
    return victim;
  *rule = "the largest P-frame that ends a complete GOP goes";
  victim = find_last_p (ifd);
  if (victim)
    return victim;
  *rule = c->frame.type == IFD_FRAME_I ?
      "if all frames are I-frames, the oldest one goes" :
      "a P-frame goes if no waiting frame costs less than the rest of its GOP";
  return c->frame.type == IFD_FRAME_I ? ifd->w.head : NULL;
}

/* Returns whether the waiting frames are stale, so that the new frame C should
 * replace all of them. Waiting frames are stale if they are the few remaining
 * frames of their GOPs, and most other frames were dropped because the channel
 * was too slow. The function returns TRUE if three conditions hold: C is an
 * I-frame, no B-frame is waiting, and the sequence numbers of the waiting
 * frames have gaps.
 *
 * A gap in the sequence numbers shows that frames were dropped. The waiting
 * frames are then of little use: they are late by the duration of the dropped
 * frames, and a receiver would display each of them for only one frame period.
 *
 * Without gaps, as in a stream that consists of I-frames only, the waiting
 * frames are still useful: if n frames wait, they are late by at most n frame
 * periods. */
static gboolean
is_stale (Ifd * ifd, const IfdEntry * c)
{
  return c->frame.type == IFD_FRAME_I && !find_largest_b (ifd)
      && newest (ifd)->number - get_entry (ifd->w.head)->frame.number >=
      ifd->w.length;
}

/* Drops the waiting frames that cannot be decoded because they use a slot with
 * wrong contents. A slot is, for example, the buffer of a reference frame. */
static void
drop_lost (Ifd * ifd)
{
  guint32 wrong = ifd->slots.wrong;
  GList *walk, *next;

  for (walk = ifd->w.head; walk; walk = next) {
    const IfdEntry *entry = walk->data;

    next = walk->next;
    wrong |= entry->missed;
    if (!has_slots (&entry->frame))
      continue;
    if (entry->frame.uses & wrong)
      drop_link (ifd, walk, get_reason_of_lost (entry),
          get_rule_of_undecodable (get_reason_of_lost (entry)));
    else
      wrong &= ~entry->frame.updates;
  }
}

static void
give_up (Ifd * ifd, GList * link, const gchar * rule)
{
  miss (ifd, link->data);
  drop_link (ifd, link, IFD_DROP_OVERWRITTEN, rule);
  drop_lost (ifd);
}

/* Drops a waiting frame to make room for the new frame C. make_room () calls
 * this function if each frame names the slots that it uses and updates. A slot
 * is, for example, the buffer of a reference frame. Returns FALSE if C itself
 * has to be dropped. `rule` is set to a text that explains the drop. */
static gboolean
make_room_by_slots (Ifd * ifd, const IfdEntry * c, const gchar ** rule)
{
  IfdSlotFrame frames[IFD_SLOTS_MAX_FRAMES];
  const guint n = list_slot_frames (ifd, c, frames);
  const guint victim = ifd_slots_find_victim (ifd->slots.wrong,
      ifd->slots.used | ifd->slots.used_before, frames, n, rule);

  if (victim == n - 1)
    return FALSE;
  give_up (ifd, g_queue_peek_nth_link (&ifd->w, victim), *rule);
  return TRUE;
}

static gboolean
all_have_slots (const Ifd * ifd, const IfdEntry * c)
{
  const GList *walk;

  for (walk = ifd->w.head; walk; walk = walk->next) {
    if (!has_slots (&get_entry (walk)->frame))
      return FALSE;
  }
  return has_slots (&c->frame);
}

/* Drops waiting frames to make room for the new frame C. Usually, only the
 * frame whose loss changes the picture least is dropped. If this frame is C
 * itself, the function drops no waiting frame and returns FALSE, so that the
 * caller drops C. `rule` is set to a text that explains the choice of the
 * frame.
 *
 * If is_stale () returns TRUE, C replaces all waiting frames. `rule` is then
 * not changed. */
static gboolean
make_room (Ifd * ifd, const IfdEntry * c, const gchar ** rule)
{
  GList *victim;

  if (is_stale (ifd, c)) {
    while (ifd->w.head)
      give_up (ifd, ifd->w.head,
          "an I-frame replaces all that an outage left of earlier GOPs");
    return TRUE;
  }
  if (all_have_slots (ifd, c))
    return make_room_by_slots (ifd, c, rule);
  victim = find_victim (ifd, c, rule);
  if (victim)
    give_up (ifd, victim, *rule);
  return victim != NULL;
}

/* Called for each frame that cannot be decoded. Counts the frame. Returns TRUE
 * if the frame has to be sent nevertheless, because the stream seems to have
 * neither I-frames nor intra refreshes. Without this exception, no further
 * frame of such a stream would be sent. If the stream has intra refreshes but
 * no I-frames, the function returns FALSE, and output resumes with the next
 * intra refresh. */
static gboolean
waits_in_vain (Ifd * ifd)
{
  ifd->vain++;
  ifd->has_no_i |= ifd->vain >= IFD_MAX_GOP;
  if (ifd->vain >= 2 * IFD_MAX_GOP)
    ifd->refreshes = FALSE;
  if (!ifd->has_no_i || ifd->refreshes)
    return FALSE;
  ifd->awaits_i = ifd->gop_disturbed = ifd->prev_gop_disturbed = FALSE;
  ifd->slots.wrong = ifd->slots.missed = 0;
  trace (ifd, FALSE, "no I-frame came for %u frames: the stream goes on "
      "without one", ifd->vain);
  return TRUE;
}

/* Display order */

/* Returns the position of a frame in display order, as a decoder derives it.
 * The frame itself contains only the lower bits of its position. A decoder
 * selects the upper bits so that the position is as near as possible to the
 * position of the last reference picture. */
static gint64
infer_place (const DecoderOrder * order, const IfdFrame * frame)
{
  gint64 range = frame->order_range;
  gint64 distance = ((gint64) frame->order - order->last) % range;

  if (distance < 0)
    distance += range;
  if (distance > range / 2)
    distance -= range;
  return order->last + distance;
}

static void
begin_order (DecoderOrder * order, const IfdFrame * frame)
{
  order->is_known = TRUE;
  order->last = order->max = frame->order;
}

/* Updates the model `order` of a decoder when the decoder receives the frame in
 * `entry`. A decoder derives the position of a frame in display order from the
 * position of the previous reference picture. If the position of a reference
 * picture is unknown, the positions of the following frames are unknown too. */
static void
follow_order (DecoderOrder * order, const IfdEntry * entry)
{
  const IfdFrame *frame = &entry->frame;
  gint64 place;

  if (is_reference (frame)) {
    order->references = entry->references;
    order->is_known &= frame->order_range > 0;
  }
  if (frame->order_range == 0)
    return;
  if (is_reference (frame) && (!order->is_known || entry->misordered
          || (frame->flags & IFD_FRAME_CLOSED))) {
    begin_order (order, frame);
  } else if (order->is_known) {
    place = infer_place (order, frame);
    order->max = MAX (order->max, place);
    if (is_reference (frame))
      order->last = place;
  }
}

/* Returns whether a decoder would display the I-frame `entry` too early, that
 * is, before pictures that precede the I-frame in the stream. This may happen
 * if reference pictures were dropped, because the decoder derives the display
 * order of the I-frame from the last reference picture. If no reference picture
 * was dropped, the decoder derives the order that the encoder intended, and the
 * function returns FALSE. */
static gboolean
is_misordered (const DecoderOrder * order, const IfdEntry * entry)
{
  const IfdFrame *frame = &entry->frame;

  if (frame->type != IFD_FRAME_I || (frame->flags & IFD_FRAME_CLOSED)
      || frame->order_range == 0 || !order->is_known || entry->misordered
      || entry->references == order->references + 1)
    return FALSE;
  return infer_place (order, frame) <= order->max;
}

static void
await_order (Ifd * ifd, const IfdFrame * i_frame)
{
  if (!ifd->awaits_order) {
    ifd->awaits_order_since = i_frame->number;
    ifd->awaits_order_from = i_frame->order;
  }
  ifd->awaits_order = TRUE;
}

static void
drop_misordered_i (Ifd * ifd, GList * link)
{
  await_order (ifd, &get_entry (link)->frame);
  miss (ifd, link->data);
  drop_link (ifd, link, IFD_DROP_MISORDERED, RULE_MISORDERED);
}

/* Drops each waiting I-frame that a decoder would display too early, and the
 * frames that refer to such an I-frame. A decoder may display an I-frame too
 * early if reference pictures before it were dropped. Returns the state that
 * the decoder will have after all frames that are still waiting. */
static DecoderOrder
drop_misordered (Ifd * ifd)
{
  DecoderOrder order = ifd->order;
  gboolean lost = FALSE, closed = FALSE;
  GList *walk, *next;
  /* Sequence number of the last GOP whose I-frame this function has dropped.
   * Only valid if `lost` is TRUE. */
  guint64 gop = 0;

  for (walk = ifd->w.head; walk; walk = next) {
    const IfdEntry *entry = walk->data;

    next = walk->next;
    if (entry->frame.type == IFD_FRAME_I)
      closed = (entry->frame.flags & IFD_FRAME_CLOSED) != 0;
    if (is_misordered (&order, entry)) {
      lost = TRUE;
      gop = entry->gop;
      drop_misordered_i (ifd, walk);
    } else if (lost && entry->gop == gop) {
      drop_link (ifd, walk, IFD_DROP_DISTURBED,
          get_rule_of_undecodable (IFD_DROP_DISTURBED));
    } else if (lost && entry->gop == gop + 1 && entry->leading && !closed) {
      drop_link (ifd, walk, IFD_DROP_LEADING,
          get_rule_of_undecodable (IFD_DROP_LEADING));
    } else {
      follow_order (&order, entry);
    }
  }
  if (lost)
    drop_lost (ifd);
  return order;
}

/* If reference pictures were dropped, a decoder may display the next I-frame
 * too early. IFD then drops this I-frame, and waits for an I-frame that a
 * decoder would display at the right position. This function returns TRUE if a
 * longer wait is useless.
 *
 * The field `order` of an I-frame contains only the lower bits of its position
 * in display order. If all GOPs have the same length, the values of `order` in
 * successive I-frames repeat in a cycle. When an I-frame has the same value as
 * the first dropped I-frame, all I-frames of one cycle have been dropped. Later
 * I-frames would have the same values again, so a longer wait is useless.
 *
 * The function also returns TRUE after a wait of IFD_MAX_ORDER_WAIT frames. */
static gboolean
awaits_order_in_vain (const Ifd * ifd, const IfdFrame * c)
{
  return ifd->awaits_order && (c->order == ifd->awaits_order_from
      || c->number - ifd->awaits_order_since >= IFD_MAX_ORDER_WAIT);
}

/* Returns whether the new frame C is an I-frame that must be dropped because a
 * decoder would display it in the wrong order. */
static gboolean
waits_for_order (Ifd * ifd, IfdEntry * c, const DecoderOrder * order)
{
  if (c->frame.type != IFD_FRAME_I)
    return FALSE;
  if (!is_misordered (order, c)) {
    ifd->awaits_order = FALSE;
    return FALSE;
  }
  if (!awaits_order_in_vain (ifd, &c->frame)) {
    await_order (ifd, &c->frame);
    return TRUE;
  }
  ifd->awaits_order = FALSE;
  c->misordered = TRUE;
  ifd->stats.gops_misordered++;
  return FALSE;
}

/* Stores the new frame C in the queue W of waiting frames, which has room for
 * C. However, other frames may have been dropped to make this room. If C refers
 * to one of them, C is dropped too. */
static void
store_decodable (Ifd * ifd, IfdEntry * c)
{
  DecoderOrder order = drop_misordered (ifd);
  IfdDropReason reason;

  if (waits_for_order (ifd, c, &order)) {
    miss (ifd, c);
    drop (ifd, c, IFD_DROP_MISORDERED, RULE_MISORDERED);
  } else if (is_undecodable (ifd, c, &reason)) {
    drop_undecodable (ifd, c, reason);
  } else {
    ifd->vain = 0;
    store (ifd, c);
  }
}

static void
enqueue_gop (Ifd * ifd, IfdEntry * c)
{
  IfdDropReason reason;
  const gchar *rule;

  if (c->frame.type == IFD_FRAME_I)
    begin_gop (ifd, &c->frame);
  else if (is_refresh (c))
    begin_refresh (ifd);
  if (is_undecodable (ifd, c, &reason) && !waits_in_vain (ifd)) {
    drop_undecodable (ifd, c, reason);
    return;
  }
  if (ifd_has_room (ifd) || make_room (ifd, c, &rule)) {
    store_decodable (ifd, c);
    return;
  }
  ifd->vain = 0;
  miss (ifd, c);
  drop (ifd, c, IFD_DROP_NO_ROOM, rule);
}

/* The verbs */

static void
enqueue (Ifd * ifd, IfdEntry * c)
{
  gboolean gop = ifd->algorithm == IFD_ALGORITHM_GOP;

  /* The algorithms of Ouwens' paper do not consider incomplete frames, and they
   * never wait for an I-frame. Two kinds of frames are therefore dropped here
   * and are not passed to these algorithms: incomplete frames, and frames with
   * which a decoder cannot start. */
  if (c->frame.flags & IFD_FRAME_INCOMPLETE) {
    if (gop && c->frame.type == IFD_FRAME_I)
      begin_gop (ifd, &c->frame);
    miss (ifd, c);
    drop (ifd, c, IFD_DROP_INCOMPLETE, "a part of it is missing");
  } else if (gop) {
    enqueue_gop (ifd, c);
  } else if (ifd->awaits_i && c->frame.type != IFD_FRAME_I && !is_refresh (c)) {
    drop_undecodable (ifd, c, IFD_DROP_NO_I);
  } else {
    if (ifd->awaits_i)
      ifd->gop_disturbed = c->frame.type == IFD_FRAME_I;
    ifd->awaits_i = FALSE;
    if (ifd->algorithm == IFD_ALGORITHM_PAPER)
      enqueue_paper (ifd, c);
    else
      enqueue_paper_gop (ifd, c);
  }
}

/* Called when the new frame arrives. Determines its position in the stream, and
 * sets the fields `gop`, `references` and `leading` of its entry `c`. */
static void
place (Ifd * ifd, IfdEntry * c)
{
  const IfdFrame *frame = &c->frame;

  if (frame->type == IFD_FRAME_I) {
    ifd->gop++;
    ifd->gop_counted[ifd->gop % REMEMBERED_GOPS] = FALSE;
    ifd->behind_p = FALSE;
    ifd->stats.gops++;
  }
  c->gop = ifd->gop;
  ifd->references += is_reference (frame);
  c->references = ifd->references;
  if (frame->flags & (IFD_FRAME_LEADING | IFD_FRAME_TRAILING))
    c->leading = frame->type != IFD_FRAME_I
        && (frame->flags & IFD_FRAME_LEADING);
  else
    c->leading = frame->type == IFD_FRAME_B && !ifd->behind_p
        && !has_slots (frame);
  if (frame->type == IFD_FRAME_P && !c->leading)
    ifd->behind_p = TRUE;
}

/* Called at an I-frame. If the configured algorithm has changed, the new
 * algorithm is used from this I-frame on. It cannot be used from an earlier
 * frame on: the previous algorithm may have dropped frames to which the P- or
 * B-frames before this I-frame refer. The new algorithm has no record of these
 * dropped frames. */
static void
adopt_algorithm (Ifd * ifd)
{
  if (ifd->algorithm == ifd->config.algorithm)
    return;
  trace (ifd, FALSE, "a different algorithm is used from this I-frame on");
  ifd->algorithm = ifd->config.algorithm;
  ifd->awaits_i = TRUE;
}

/* Records which slots (for example buffers of reference frames) the new frame
 * uses. If the codec changes at this frame, a decoder of the new codec has no
 * reference frames yet. The algorithm IFD_ALGORITHM_GOP therefore waits for an
 * I-frame. */
static void
note_slots (Ifd * ifd, const IfdFrame * frame)
{
  SlotState *slots = &ifd->slots;

  slots->is_stored = FALSE;
  if (slots->are_used != has_slots (frame) && ifd->next_number > 0
      && ifd->algorithm == IFD_ALGORITHM_GOP)
    ifd->awaits_i = TRUE;
  slots->are_used = has_slots (frame);
  if (!slots->are_used)
    return;
  if (slots->n_frames++ == SLOT_PERIOD) {
    slots->used_before = slots->used;
    slots->used = 0;
    slots->n_frames = 0;
  }
  slots->used |= frame->uses;
}

void
ifd_input (Ifd * ifd, guint64 now, const IfdFrame * frame)
{
  IfdEntry c = { *frame, };

  ifd->begun = TRUE;
  note_slots (ifd, frame);
  c.frame.number = ifd->next_number++;
  if (frame->type == IFD_FRAME_I)
    adopt_algorithm (ifd);
  place (ifd, &c);
  ifd->stats.in[frame->type]++;
  ifd->stats.in_bytes[frame->type] += frame->size;
  enqueue (ifd, &c);
  if (has_slots (frame) && !ifd->slots.is_stored)
    ifd->slots.missed |= frame->updates;
}

gboolean
ifd_peek_output (const Ifd * ifd, IfdFrame * frame)
{
  const IfdEntry *entry = g_queue_peek_head ((GQueue *) & ifd->w);

  if (!entry)
    return FALSE;
  *frame = entry->frame;
  return TRUE;
}

static gboolean
take (Ifd * ifd, IfdFrame * frame)
{
  IfdEntry *entry = g_queue_pop_head (&ifd->w);

  if (!entry)
    return FALSE;
  *frame = entry->frame;
  follow_order (&ifd->order, entry);
  ifd->slots.wrong |= entry->missed;
  if (has_slots (frame))
    ifd->slots.wrong &= ~frame->updates;
  ifd->stats.waiting_bytes -= frame->size;
  free_entry (entry);
  return TRUE;
}

gboolean
ifd_poll_output (Ifd * ifd, guint64 now, IfdFrame * frame)
{
  if (ifd->sending || !take (ifd, frame))
    return FALSE;
  ifd->sending = TRUE;
  ifd->s = *frame;
  ifd->sending_since = now;
  return TRUE;
}

void
ifd_sent (Ifd * ifd, guint64 now)
{
  const IfdFrame *s = &ifd->s;

  g_return_if_fail (ifd->sending);
  ifd->sending = FALSE;
  ifd->stats.sent[s->type]++;
  ifd->stats.sent_bytes[s->type] += s->size;
  ifd->stats.time_blocked += now - MIN (ifd->sending_since, now);
  statistics_histogram_add (ifd->lateness, (gint64) (now - s->due));
}

gboolean
ifd_poll_event (Ifd * ifd, IfdEvent * event)
{
  IfdEvent *first = g_queue_pop_head (&ifd->events);

  if (!first)
    return FALSE;
  *event = *first;
  free_event (first);
  return TRUE;
}

/* Called for a new receiver, which starts with `first`, the oldest waiting
 * I-frame. Drops the leading frames of `first`, because they refer to earlier
 * frames that the receiver does not have. */
static void
drop_leading (Ifd * ifd, const IfdEntry * first)
{
  gboolean closed = (first->frame.flags & IFD_FRAME_CLOSED) != 0;
  GList *walk = ifd->w.head->next, *next;

  if (closed || ifd->algorithm == IFD_ALGORITHM_PAPER)
    return;
  for (; walk; walk = next) {
    const IfdEntry *entry = walk->data;

    next = walk->next;
    if (entry->gop == first->gop && entry->leading)
      drop_link (ifd, walk, IFD_DROP_LEADING, RULE_RESTART);
  }
  if (first->gop == ifd->gop)
    ifd->prev_gop_disturbed = TRUE;
}

void
ifd_restart (Ifd * ifd)
{
  const IfdEntry *first;

  ifd->begun = TRUE;
  ifd->order.is_known = ifd->awaits_order = FALSE;
  ifd->slots.wrong = ALL_SLOTS;
  while ((first = g_queue_peek_head (&ifd->w))
      && first->frame.type != IFD_FRAME_I)
    drop_link (ifd, ifd->w.head, IFD_DROP_NO_I, RULE_RESTART);
  if (first)
    drop_leading (ifd, first);
  else
    ifd->awaits_i = TRUE;
  /* drop_leading () may have dropped leading frames. Without these frames, a
   * decoder may be unable to decode other waiting frames, or may display them
   * in the wrong order. Such waiting frames are therefore dropped as well. */
  if (ifd->algorithm == IFD_ALGORITHM_GOP) {
    drop_lost (ifd);
    drop_misordered (ifd);
  }
}

gboolean
ifd_flush (Ifd * ifd, IfdFrame * frame)
{
  if (take (ifd, frame)) {
    ifd->stats.flushed++;
    return TRUE;
  }
  if (ifd->sending)
    ifd->stats.flushed++;
  ifd->sending = FALSE;
  begin_stream (ifd);
  return FALSE;
}

void
ifd_get_stats (const Ifd * ifd, IfdStats * stats)
{
  const StatisticsHistogram *lateness = ifd->lateness;

  *stats = ifd->stats;
  stats->waiting = ifd->w.length;
  stats->lateness_median = statistics_histogram_get_percentile (lateness, 50);
  stats->lateness_p99 = statistics_histogram_get_percentile (lateness, 99);
  stats->lateness_max = statistics_histogram_get_percentile (lateness, 100);
}
