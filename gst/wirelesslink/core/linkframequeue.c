/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of linkframequeue.h. Assembles the packets of a video stream
 * into frames, and passes the frames to the core of I-Frame Delay (IFD). If the
 * link cannot carry all frames, the IFD core decides which frames are dropped.
 *
 * A frame is complete if these three conditions are met:
 * - Its first packet begins a frame, or follows the last packet of the previous
 *   frame.
 * - No sequence number is missing.
 * - Its last packet has the RTP marker bit, or is followed by the first packet
 *   of the next frame.
 *
 * As soon as a frame is known to be incomplete, all its packets are dropped,
 * including those that arrive later. The IFD core is told that the frame is
 * missing. A reordered packet counts as missing. */

#include "linkframequeue.h"

#include "mpegvideoframer.h"

/* A packet is late if its sequence number is lower than that of the previous
 * packet, and the difference is less than MAX_MISORDER. If the difference is
 * MAX_MISORDER or more, the packet is not late: the sender has started again
 * with a new sequence number (RFC 3550 A.1). */
#define MAX_MISORDER 100
/* temporal_reference is modulo 1024 (ISO/IEC 13818-2 6.3.9) */
#define REFERENCES 1024

typedef struct
{
  /* packets of the video frame, as LinkItem, ordered by their sequence numbers
   */
  GQueue items;
  IfdFrame info;
  /* Number of the frame in the order in which the frames of all streams were
   * completed. The link sends the waiting frame with the lowest number first.
   */
  guint64 number;
} LinkFrame;

typedef enum
{
  STATE_BETWEEN,                /* the last frame has ended */
  /* A frame has begun, and no packet of it has been missing so far. The packets
   * that have arrived are in the buffer C, which is the field `c` of the
   * stream. */
  STATE_ASSEMBLING,
  STATE_SKIPPING,               /* the frame is lost */
  /* The picture type of the frame is unknown. LinkFrameQueue does not accept
   * the packets of such a frame, so they are queued like packets that are not
   * video. */
  STATE_PASSING
} State;

typedef struct
{
  guint flow;
  guint64 stream;
  /* time in ns at which the last packet of the stream arrived */
  guint64 heard;
  State state;
  /* RTP timestamp of the frame whose packets are arriving now. After the end of
   * a frame, this field keeps the timestamp of that frame until the next frame
   * begins. */
  guint32 timestamp;
  guint16 last;                 /* sequence number */
  LinkFrame *c;                 /* used in STATE_ASSEMBLING only */
  /* temporal reference (number in display order) of the stream's last I-frame
   */
  guint intra_reference;
  Ifd *ifd;
} Stream;

struct _LinkFrameQueue
{
  IfdConfig config;
  Stream *streams[LINK_FRAME_QUEUE_MAX_STREAMS];
  guint n_streams;
  /* the buffer S: the frame that is being sent, or NULL */
  LinkFrame *s;
  Stream *sending;              /* stream of `s` */
  GQueue lost;                  /* dropped LinkItem */
  /* Number of packets in all buffers of the queue. These are the buffer S with
   * the frame that is being sent, the buffers C with the frames that are being
   * assembled, and the buffers W with the complete frames that wait. */
  guint packets;
  guint64 bytes;
  guint64 next_number;          /* number of the next frame */
  IfdStats retired;             /* statistics of removed streams */
};

/* Frames */

static LinkFrame *
frame_new (void)
{
  LinkFrame *frame = g_slice_new0 (LinkFrame);

  g_queue_init (&frame->items);
  return frame;
}

static void
frame_free (LinkFrame * frame, GDestroyNotify user_free)
{
  LinkItem *item;

  while ((item = g_queue_pop_head (&frame->items)))
    link_item_free (item, user_free);
  g_slice_free (LinkFrame, frame);
}

/* Returns the frame type for a picture type. A D-picture refers to no other
 * picture, and a stream with D-pictures has no other types. D-pictures
 * therefore count as I-frames. */
static IfdFrameType
get_frame_type (MpegVideoPictureType type)
{
  switch (type) {
    case MPEG_VIDEO_PICTURE_P:
      return IFD_FRAME_P;
    case MPEG_VIDEO_PICTURE_B:
      return IFD_FRAME_B;
    default:
      return IFD_FRAME_I;
  }
}

/* Statistics */

/* Adds `stats` to `total`. In IfdStats, all fields before `waiting` are 64-bit
 * counters, so they are added as an array. */
static void
add_stats (IfdStats * total, const IfdStats * stats)
{
  guint64 *to = (guint64 *) total;
  const guint64 *from = (const guint64 *) stats;
  guint i;

  for (i = 0; i < G_STRUCT_OFFSET (IfdStats, waiting) / sizeof (guint64); i++)
    to[i] += from[i];
  total->waiting += stats->waiting;
  total->waiting_bytes += stats->waiting_bytes;
}

static void
add_stream_stats (const Stream * stream, IfdStats * total)
{
  IfdStats stats;

  ifd_get_stats (stream->ifd, &stats);
  add_stats (total, &stats);
}

/* Streams */

static Stream *
stream_new (LinkFrameQueue * queue, guint flow, const VideoPacket * first)
{
  Stream *stream = g_slice_new0 (Stream);

  stream->flow = flow;
  stream->stream = first->stream;
  stream->timestamp = first->timestamp - 1;
  stream->last = first->sequence - 1;
  stream->ifd = ifd_new (&queue->config);
  return stream;
}

static void
stream_free (Stream * stream, GDestroyNotify user_free)
{
  IfdFrame frame;

  if (stream->c)
    frame_free (stream->c, user_free);
  while (ifd_flush (stream->ifd, &frame))
    frame_free (frame.user, user_free);
  ifd_free (stream->ifd);
  g_slice_free (Stream, stream);
}

static gboolean
is_idle (const LinkFrameQueue * queue, const Stream * stream, guint64 now)
{
  IfdFrame frame;

  return stream->state != STATE_ASSEMBLING && queue->sending != stream
      && now - stream->heard >= LINK_FRAME_QUEUE_STREAM_IDLE
      && !ifd_peek_output (stream->ifd, &frame);
}

/* Returns the address of a table entry that can store a new stream: an unused
 * entry, or the entry of an idle stream. Returns NULL if there is no such
 * entry. */
static Stream **
find_place (LinkFrameQueue * queue, guint64 now)
{
  guint i;

  if (queue->n_streams < LINK_FRAME_QUEUE_MAX_STREAMS)
    return &queue->streams[queue->n_streams];
  for (i = 0; i < queue->n_streams; i++) {
    if (is_idle (queue, queue->streams[i], now))
      return &queue->streams[i];
  }
  return NULL;
}

static Stream *
find_stream (const LinkFrameQueue * queue, guint flow, guint64 key)
{
  guint i;

  for (i = 0; i < queue->n_streams; i++) {
    if (queue->streams[i]->flow == flow && queue->streams[i]->stream == key)
      return queue->streams[i];
  }
  return NULL;
}

/* A packet that is not RTP may look like RTP by chance. A packet is therefore
 * accepted as the first packet of a video stream only if two conditions hold:
 * its payload starts with a start code of a new frame, and the picture type is
 * known. */
static gboolean
begins_stream (const VideoPacket * video)
{
  return video->begins && video->type != MPEG_VIDEO_PICTURE_UNKNOWN;
}

static Stream *
add_stream (LinkFrameQueue * queue, guint64 now, guint flow,
    const VideoPacket * first)
{
  Stream **place = find_place (queue, now);

  if (!place)
    return NULL;
  if (place == &queue->streams[queue->n_streams]) {
    queue->n_streams++;
  } else {
    add_stream_stats (*place, &queue->retired);
    stream_free (*place, NULL);
  }
  *place = stream_new (queue, flow, first);
  return *place;
}

/* The life cycle */

LinkFrameQueue *
link_frame_queue_new (const IfdConfig * config)
{
  LinkFrameQueue *queue = g_new0 (LinkFrameQueue, 1);

  queue->config = *config;
  g_queue_init (&queue->lost);
  return queue;
}

void
link_frame_queue_free (LinkFrameQueue * queue, GDestroyNotify user_free)
{
  LinkItem *item;
  guint i;

  if (queue->s)
    frame_free (queue->s, user_free);
  for (i = 0; i < queue->n_streams; i++)
    stream_free (queue->streams[i], user_free);
  while ((item = g_queue_pop_head (&queue->lost)))
    link_item_free (item, user_free);
  g_free (queue);
}

/* C: packets become frames */

static void
append (LinkFrameQueue * queue, LinkFrame * frame, LinkItem * item)
{
  g_queue_push_tail (&frame->items, item);
  frame->info.size += item->p.size;
  queue->packets++;
  queue->bytes += item->p.size;
}

static LinkItem *
remove_first (LinkFrameQueue * queue, LinkFrame * frame)
{
  LinkItem *item = g_queue_pop_head (&frame->items);

  if (item) {
    queue->packets--;
    queue->bytes -= item->p.size;
  }
  return item;
}

static void
lose_frame (LinkFrameQueue * queue, LinkFrame * frame)
{
  LinkItem *item;

  while ((item = remove_first (queue, frame)))
    g_queue_push_tail (&queue->lost, item);
  frame_free (frame, NULL);
}

/* `stream->c` is the buffer C of I-Frame Delay (IFD), in which a frame is
 * assembled. This function passes the frame to the IFD core, which may then
 * drop this frame or other frames that are waiting. `flags` are added to the
 * flags of the frame. If the frame is not complete, `flags` contains
 * IFD_FRAME_INCOMPLETE. */
static void
finish_frame (LinkFrameQueue * queue, Stream * stream, guint64 now,
    IfdFrameFlags flags)
{
  LinkFrame *frame = g_steal_pointer (&stream->c);
  IfdEvent event;

  frame->info.flags |= flags;
  frame->number = queue->next_number++;
  frame->info.due = now;
  frame->info.user = frame;
  ifd_input (stream->ifd, now, &frame->info);
  while (ifd_poll_event (stream->ifd, &event)) {
    if (event.type == IFD_EVENT_DROPPED)
      lose_frame (queue, event.frame.user);
  }
}

static void
give_up_frame (LinkFrameQueue * queue, Stream * stream, guint64 now)
{
  if (stream->state == STATE_ASSEMBLING) {
    finish_frame (queue, stream, now, IFD_FRAME_INCOMPLETE);
    stream->state = STATE_SKIPPING;
  }
}

static gboolean
follows (const Stream * stream, const VideoPacket * video)
{
  return video->sequence == (guint16) (stream->last + 1);
}

/* Returns whether the packet is a duplicate, or arrived after a packet with a
 * higher sequence number. */
static gboolean
is_late (const Stream * stream, const VideoPacket * video)
{
  gint distance = (gint16) (video->sequence - stream->last);

  if (video->begins)
    return distance == 0 && video->timestamp == stream->timestamp;
  return distance <= 0 && distance > -MAX_MISORDER;
}

static gboolean
begins_frame (const Stream * stream, const VideoPacket * video)
{
  return stream->state == STATE_BETWEEN
      || video->timestamp != stream->timestamp;
}

/* Returns IFD_FRAME_LEADING or IFD_FRAME_TRAILING for a B-frame, and 0 for any
 * other frame. A B-frame is leading if it is displayed before the I-frame of
 * its GOP; otherwise it is trailing. `reference` is the temporal reference of
 * the frame. */
static IfdFrameFlags
get_place_flag (Stream * stream, IfdFrameType type, guint reference)
{
  guint distance = (reference - stream->intra_reference) % REFERENCES;

  if (type == IFD_FRAME_I)
    stream->intra_reference = reference;
  if (type != IFD_FRAME_B)
    return 0;
  return distance < REFERENCES / 2 ? IFD_FRAME_TRAILING : IFD_FRAME_LEADING;
}

/* Begins a new frame of the stream with the packet `video`. If a frame consists
 * of two field pictures, the first one determines the type of the frame. */
static void
begin_frame (LinkFrameQueue * queue, Stream * stream, guint64 now,
    const VideoPacket * video)
{
  gboolean contiguous = follows (stream, video);

  if (stream->state == STATE_ASSEMBLING)
    finish_frame (queue, stream, now, contiguous ? 0 : IFD_FRAME_INCOMPLETE);
  stream->timestamp = video->timestamp;
  if (video->type == MPEG_VIDEO_PICTURE_UNKNOWN) {
    stream->state = STATE_PASSING;
    return;
  }
  stream->state = STATE_ASSEMBLING;
  stream->c = frame_new ();
  stream->c->info.type = get_frame_type (video->type);
  stream->c->info.flags = get_place_flag (stream, stream->c->info.type,
      video->temporal_reference);
  if (!video->begins && !contiguous)
    stream->c->info.flags |= IFD_FRAME_INCOMPLETE;
}

static gboolean
has_hole (const Stream * stream, const VideoPacket * video)
{
  if (stream->c->info.flags & IFD_FRAME_INCOMPLETE)
    return TRUE;
  return !g_queue_is_empty (&stream->c->items) && !follows (stream, video);
}

static gboolean
is_too_large (const LinkFrame * frame)
{
  return frame->info.size > MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE
      || frame->items.length >= LINK_FRAME_QUEUE_MAX_PACKETS;
}

static void
assemble (LinkFrameQueue * queue, Stream * stream, guint64 now,
    LinkItem * item, const VideoPacket * video)
{
  LinkFrame *frame = stream->c;
  gboolean hole = has_hole (stream, video);

  append (queue, frame, item);
  if (video->closed_gop)
    frame->info.flags |= IFD_FRAME_CLOSED;
  if (video->broken_link)
    frame->info.flags |= IFD_FRAME_BROKEN;
  if (hole || is_too_large (frame))
    give_up_frame (queue, stream, now);
  else if (video->ends)
    finish_frame (queue, stream, now, 0);
}

/* Returns whether the picture type of the packet's frame is unknown. */
static gboolean
is_unknown (const Stream * stream, const VideoPacket * video)
{
  if (begins_frame (stream, video))
    return video->type == MPEG_VIDEO_PICTURE_UNKNOWN;
  return stream->state == STATE_PASSING;
}

gboolean
link_frame_queue_wants (LinkFrameQueue * queue, guint64 now, guint flow,
    const VideoPacket * video)
{
  const Stream *stream = find_stream (queue, flow, video->stream);

  if (stream)
    return is_late (stream, video) || !is_unknown (stream, video);
  return begins_stream (video) && find_place (queue, now);
}

/* Processes a packet of a known stream. If the packet belongs to a frame of
 * unknown type, returns FALSE, and the caller still owns `item`. Otherwise,
 * takes ownership of `item` and returns TRUE. */
static gboolean
enter_stream (LinkFrameQueue * queue, Stream * stream, guint64 now,
    LinkItem * item, const VideoPacket * video)
{
  gboolean known = !is_unknown (stream, video);

  if (begins_frame (stream, video))
    begin_frame (queue, stream, now, video);
  if (stream->state == STATE_ASSEMBLING)
    assemble (queue, stream, now, item, video);
  else if (known)
    g_queue_push_tail (&queue->lost, item);
  stream->last = video->sequence;
  if (video->ends)
    stream->state = STATE_BETWEEN;
  return known;
}

gboolean
link_frame_queue_push (LinkFrameQueue * queue, guint64 now, LinkItem * item,
    const VideoPacket * video)
{
  Stream *stream = find_stream (queue, item->p.flow, video->stream);

  if (!stream && begins_stream (video))
    stream = add_stream (queue, now, item->p.flow, video);
  if (!stream)
    return FALSE;
  stream->heard = now;
  if (!is_late (stream, video))
    return enter_stream (queue, stream, now, item, video);
  g_queue_push_tail (&queue->lost, item);
  return TRUE;
}

LinkItem *
link_frame_queue_poll_lost (LinkFrameQueue * queue)
{
  return g_queue_pop_head (&queue->lost);
}

/* Incomplete frames */

void
link_frame_queue_end_flow (LinkFrameQueue * queue, guint64 now, guint flow)
{
  guint i;

  for (i = 0; i < queue->n_streams; i++) {
    if (queue->streams[i]->flow == flow)
      give_up_frame (queue, queue->streams[i], now);
  }
}

static guint64
get_timeout (const Stream * stream)
{
  return stream->state == STATE_ASSEMBLING ?
      stream->heard + LINK_FRAME_QUEUE_FRAME_IDLE : LINK_NEVER;
}

void
link_frame_queue_timeout (LinkFrameQueue * queue, guint64 now)
{
  guint i;

  for (i = 0; i < queue->n_streams; i++) {
    if (get_timeout (queue->streams[i]) <= now)
      give_up_frame (queue, queue->streams[i], now);
  }
}

guint64
link_frame_queue_next_timeout (LinkFrameQueue * queue)
{
  guint64 next = LINK_NEVER;
  guint i;

  for (i = 0; i < queue->n_streams; i++)
    next = MIN (next, get_timeout (queue->streams[i]));
  return next;
}

/* W and S: frames become packets */

/* Returns the waiting frame that was completed first, and sets `stream` to its
 * stream. Returns NULL if no frame of any stream waits. */
static LinkFrame *
find_next (LinkFrameQueue * queue, Stream ** stream)
{
  LinkFrame *oldest = NULL;
  IfdFrame frame;
  guint i;

  for (i = 0; i < queue->n_streams; i++) {
    if (!ifd_peek_output (queue->streams[i]->ifd, &frame))
      continue;
    if (oldest && oldest->number < ((LinkFrame *) frame.user)->number)
      continue;
    oldest = frame.user;
    *stream = queue->streams[i];
  }
  return oldest;
}

LinkItem *
link_frame_queue_peek (LinkFrameQueue * queue)
{
  LinkFrame *frame = queue->s;
  Stream *stream;

  if (!frame)
    frame = find_next (queue, &stream);
  return frame ? g_queue_peek_head (&frame->items) : NULL;
}

static void
begin_sending (LinkFrameQueue * queue, guint64 now)
{
  IfdFrame frame;

  if (!find_next (queue, &queue->sending))
    return;
  ifd_poll_output (queue->sending->ifd, now, &frame);
  queue->s = frame.user;
}

static void
end_sending (LinkFrameQueue * queue, guint64 now)
{
  ifd_sent (queue->sending->ifd, now);
  queue->sending = NULL;
  frame_free (g_steal_pointer (&queue->s), NULL);
}

LinkItem *
link_frame_queue_take (LinkFrameQueue * queue, guint64 now)
{
  LinkItem *item;

  if (!queue->s)
    begin_sending (queue, now);
  if (!queue->s)
    return NULL;
  item = remove_first (queue, queue->s);
  if (g_queue_is_empty (&queue->s->items))
    end_sending (queue, now);
  return item;
}

/* Sizes and statistics */

void
link_frame_queue_get_size (LinkFrameQueue * queue, guint * packets,
    guint64 * bytes)
{
  *packets = queue->packets;
  *bytes = queue->bytes;
}

void
link_frame_queue_add_stats (LinkFrameQueue * queue, IfdStats * total)
{
  guint i;

  add_stats (total, &queue->retired);
  for (i = 0; i < queue->n_streams; i++)
    add_stream_stats (queue->streams[i], total);
}
