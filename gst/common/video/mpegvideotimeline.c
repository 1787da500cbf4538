/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mpegvideotimeline.h: it computes the position and the
 * timestamps of each frame, and finds lost frames.
 *
 * The coding number of a frame is its number in transport order. The display
 * number of a frame is its number in display order. Let n be the display number
 * of the first displayed picture of a GOP. A frame of this GOP with the
 * temporal reference t then has the display number n + t (ISO/IEC 13818-2,
 * 6.3.9).
 *
 * In a stream with B-frames, the numbers are converted to timestamps as
 * follows. All times are in frame periods.
 *
 * - The decoder decodes one frame per period. The DTS of a frame is therefore
 *   its coding number.
 * - The decoder displays one frame per period, and begins one period after it
 *   has decoded the first frame. The PTS of a frame is therefore its display
 *   number + 1.
 * - A B-frame is displayed as soon as it is decoded, so its DTS and its PTS are
 *   equal. Its coding number is therefore its display number + 1.
 * - Let X and Y be two consecutive anchors (I- or P-frames). When Y is decoded,
 *   X is displayed. The DTS of Y is therefore the PTS of X. The coding number
 *   of Y is therefore the display number of X + 1.
 *
 * This is the decoder model of ISO/IEC 13818-1, 2.4.2.
 *
 * If a frame repeats fields, it is displayed for a longer time. Its own
 * timestamps do not change. The duration of the repeated fields is added to the
 * PTS of each frame that is displayed later, and to the DTS of each frame that
 * is decoded after the display of the repeating frame has begun. */

#include "mpegvideotimeline.h"

#include <string.h>

/* Number of frames whose types (I, P or B) are stored. These are the frames
 * with the highest display numbers. */
#define WINDOW 4096
/* Maximum duration in seconds of a gap whose frames count as lost. A longer gap
 * counts as the start of a new stream. The duration of a gap is computed from
 * timestamps, such as the RTP timestamps. The limit is necessary because the
 * network may damage timestamps, and an attacker may forge them. */
#define MAX_GAP_SECONDS 10
/* The type (I, P or B) of a lost frame is often known only after later frames
 * have arrived. Until then, the frame waits in a list. This is the maximum
 * number of frames in the list. While the list is full, the types of further
 * lost frames are reported as unknown. */
#define MAX_UNTYPED 4096
/* The pattern of frame types (I, P and B) repeats with the GOP period, which is
 * the distance between I-frames. The type of a missing frame is therefore
 * predicted from a received frame that is n GOP periods earlier or later.
 * PATTERN_REACH is the maximum of n. */
#define PATTERN_REACH 8
/* Values that are used until the GOP pattern of the stream is known.
 *
 * DEFAULT_ANCHOR_DISTANCE: every third frame is assumed to be an I- or P-frame,
 * which is the most common pattern.
 *
 * MAX_HEAD: the receiver may have joined in the middle of a GOP. The earlier
 * frames of this GOP count as lost only if there are fewer than MAX_HEAD of
 * them. */
#define DEFAULT_ANCHOR_DISTANCE 3
#define MAX_HEAD 64
/* The timeline has a clock: the RTP timestamps or upstream's PTS. The clock is
 * trusted when it has at least CLOCK_TRUSTED points. It gets points for each
 * step, which is the difference between the timestamps of two consecutive
 * frames. A step counts only if it agrees with the temporal references of the
 * two frames. Otherwise, the clock loses all points.
 *
 * A step of one frame period is worth one point only. Such a step is a weak
 * proof: a clock that shows arrival times instead of presentation times
 * advances by one frame period as well. Any other step is worth two points, for
 * example the step from an I- or P-frame back to a B-frame. */
#define CLOCK_TRUSTED 4
/* Number of times that the same distance between two I-frames must be measured
 * before this distance is used for predictions */
#define PERIOD_TRUSTED 2
/* The type of a lost frame is derived from the received frames around it or
 * from the GOP pattern. The pattern takes precedence after it has predicted the
 * types of this number of consecutive received frames correctly. */
#define PATTERN_TRUSTED 32
/* The distance between two consecutive anchors (I- or P-frames) is counted in
 * frames. A distance that is larger than all earlier distances may be a sign
 * that frames between the two anchors were lost. It counts as a proof of a loss
 * only if the previous maximum is reliable. The maximum is reliable if it was
 * measured at least DISTANCE_TRUSTED times.
 *
 * An encoder with a fixed pattern reaches its maximum distance immediately. An
 * adaptive encoder, however, may start without B-frames and use B-frames later.
 * Without B-frames, the maximum is 1. A maximum of 1 must therefore be measured
 * more often, DISTANCE_ONE_TRUSTED times. */
#define DISTANCE_TRUSTED 4
#define DISTANCE_ONE_TRUSTED 32
#define DEFAULT_FPS_N 25
/* Timestamps from upstream are in ns. Timestamps of at least this value (146
 * years) are ignored. The difference of two smaller timestamps always fits into
 * a gint64. */
#define MAX_TIME (G_MAXUINT64 / 4)

typedef struct
{
  gint64 number;
  MpegVideoPictureType type;
} Place;

struct _MpegVideoTimeline
{
  gboolean started;

  /* These fields convert numbers of frame periods to times. A frame period
   * lasts fps_d / fps_n seconds. The period base_number begins at the time
   * base_time. The DTS of the frame with the coding number n is the beginning
   * of the period n. */
  guint fps_n, fps_d;
  gint64 base_number;
  /* time in ns at which the frame period base_number begins */
  guint64 base_time;
  /* Number of repeated fields that were displayed since base_time. Each of them
   * delays the later frames by half a frame period. */
  gint64 extra;
  /* Number of repeated fields of the last anchor (I- or P-frame). A decoder
   * displays this anchor when the next anchor arrives. At this time, the number
   * is added to the field `extra`. */
  gint64 pending_extra;
  /* Bit mask with one bit for each of the last received frames. The lowest bit
   * belongs to the newest frame. The bit of a frame is set if the frame repeats
   * a field. */
  guint repeat_history;
  gboolean last_anchor_top_first;

  /* The current GOP */
  /* Display number of the first displayed picture of the current GOP. This
   * picture has the temporal reference 0. */
  gint64 gop_start;
  /* Temporal references of two frames of the current GOP: the last received
   * anchor (I- or P-frame) and the last received B-frame. Each value is -1 if
   * no such frame was received. */
  gint last_anchor_reference;
  gint last_b_reference;
  /* TRUE if the I-frame of the current GOP was received */
  gboolean gop_has_i;
  gboolean seen_gop_header;

  /* Received frames */
  Place places[WINDOW];         /* index: display number % WINDOW */
  /* display number of the last received anchor (I- or P-frame); -1 if there is
   * none */
  gint64 last_anchor;
  /* Display number of the newest anchor (I- or P-frame) that is known to be
   * lost; -1 if there is none */
  gint64 lost_anchor;
  gint64 max_received;
  /* All frames that have a lower display number than this were received or
   * count as lost. */
  gint64 horizon;
  GQueue losses;                /* elements are MpegVideoLoss */
  /* Display numbers (gint64) of the lost frames whose type is not known yet */
  GArray *untyped;

  /* The GOP pattern */
  /* display number of the last received I-frame; -1 if there is none */
  gint64 last_i;
  /* temporal reference of I-frames; -1: unknown */
  gint lead;
  gint64 period;                /* distance of I-frames; 0: unknown */
  /* number of times that the measured distance between two I-frames was equal
   * to the value of `period` */
  guint period_seen;
  /* maximum measured distance in frames between two consecutive anchors (I- or
   * P-frames); 0 if no distance was measured */
  gint64 anchor_distance;
  /* number of times that the distance between two consecutive anchors (I- or
   * P-frames) was equal to the maximum in `anchor_distance` */
  guint distance_seen;
  /* number of consecutive received frames whose type (I, P or B) was predicted
   * correctly by the GOP pattern */
  guint pattern_hits;

  /* The display number of a frame can be computed in two ways: from the time
   * code in the GOP header, or from the timestamp of the frame. The fields with
   * `time_code` in their names are used for the first way. The fields with
   * `clock` in their names are used for the second way. The timestamp of the
   * frame is the sender's RTP timestamp or upstream's PTS. */
  gboolean have_time_code;
  gint64 time_code, time_code_start;
  /* Number of time codes in GOP headers that agreed with the received frames. A
   * time code that disagrees sets the number to -1. */
  gint time_code_trust;
  gboolean have_clock;
  guint64 clock;                /* in ns */
  gint64 clock_number;
  guint clock_trust;

  /* Difference in ns between the timestamps from upstream and the timestamps
   * that the timeline computes. If a frame has no timestamps from upstream, the
   * difference is added to its computed timestamps. */
  gboolean have_upstream;
  gint64 upstream_offset;
};

MpegVideoTimeline *
mpeg_video_timeline_new (void)
{
  MpegVideoTimeline *timeline = g_new0 (MpegVideoTimeline, 1);

  timeline->untyped = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_queue_init (&timeline->losses);
  mpeg_video_timeline_reset (timeline);
  return timeline;
}

void
mpeg_video_timeline_free (MpegVideoTimeline * timeline)
{
  g_queue_clear_full (&timeline->losses, g_free);
  g_array_unref (timeline->untyped);
  g_free (timeline);
}

void
mpeg_video_timeline_reset (MpegVideoTimeline * timeline)
{
  GArray *untyped = timeline->untyped;
  guint i;

  g_queue_clear_full (&timeline->losses, g_free);
  memset (timeline, 0, sizeof (*timeline));
  timeline->untyped = untyped;
  g_array_set_size (untyped, 0);
  g_queue_init (&timeline->losses);
  for (i = 0; i < WINDOW; i++)
    timeline->places[i].number = -1;
  timeline->fps_n = DEFAULT_FPS_N;
  timeline->fps_d = 1;
  timeline->last_anchor = timeline->last_i = -1;
  timeline->lost_anchor = -1;
  timeline->last_anchor_reference = timeline->last_b_reference = -1;
  timeline->lead = -1;
}

static gboolean
is_anchor (MpegVideoPictureType type)
{
  return type != MPEG_VIDEO_PICTURE_B && type != MPEG_VIDEO_PICTURE_UNKNOWN;
}

/* Returns the duration of `n` frame periods in ns. The calculation does not
 * overflow for up to 2^53 frames. */
static gint64
periods_to_time (const MpegVideoTimeline * timeline, gint64 n)
{
  gint64 seconds_d = n / timeline->fps_n;
  gint64 rest = n % timeline->fps_n;
  const gint64 second = G_GINT64_CONSTANT (1000000000);

  return seconds_d * second * timeline->fps_d
      + rest * second * timeline->fps_d / timeline->fps_n;
}

/* Returns the time in ns at which the frame period `n` begins, if `extra`
 * repeated fields were displayed before it. The DTS of the frame with the
 * coding number `n` is this time. The result is at least 0. */
static guint64
number_to_time (const MpegVideoTimeline * timeline, gint64 n, gint64 extra)
{
  gint64 time = timeline->base_time
      + periods_to_time (timeline, 2 * (n - timeline->base_number) + extra) / 2;

  return MAX (time, 0);
}

/* Returns the maximum number of consecutive missing frames that count as lost.
 * If more frames are missing, a new stream has started. The result is at least
 * MAX_HEAD, so that it covers several GOPs even at a very low frame rate. */
static gint64
max_gap (const MpegVideoTimeline * timeline)
{
  return MAX (MAX_GAP_SECONDS * timeline->fps_n / timeline->fps_d, MAX_HEAD);
}

static guint64
time_to_90khz (guint64 time)
{
  return (time * 9 + 50000) / 100000;
}

/* Forgets the GOP pattern. This is necessary when a different encoder may have
 * started, because its GOPs may have a different pattern. */
static void
forget_pattern (MpegVideoTimeline * timeline)
{
  timeline->lead = -1;
  timeline->period = 0;
  timeline->period_seen = 0;
  timeline->anchor_distance = 0;
  timeline->distance_seen = 0;
  timeline->pattern_hits = 0;
  timeline->last_i = -1;
}

/* Changes the frame rate. The times of all previous frames stay the same. */
static void
timeline_set_rate (MpegVideoTimeline * timeline,
    const MpegVideoSequence * sequence)
{
  if (sequence->fps_n == 0 || (sequence->fps_n == timeline->fps_n
          && sequence->fps_d == timeline->fps_d))
    return;
  if (timeline->started) {
    gint64 here = timeline->max_received + 1;

    timeline->base_time = number_to_time (timeline, here, timeline->extra);
    timeline->base_number = here;
    timeline->extra = 0;
    forget_pattern (timeline);
  }
  timeline->fps_n = sequence->fps_n;
  timeline->fps_d = sequence->fps_d;
  timeline->have_clock = FALSE;
  timeline->have_time_code = FALSE;
}

/* --- frame types at positions -----------------------------------------------
 */

static MpegVideoPictureType
place_type (const MpegVideoTimeline * timeline, gint64 number)
{
  const Place *place;

  if (number < 0)
    return MPEG_VIDEO_PICTURE_UNKNOWN;
  place = &timeline->places[number % WINDOW];
  return place->number == number ? place->type : MPEG_VIDEO_PICTURE_UNKNOWN;
}

/* Predicts the type of the frame with the display number `number`. The types of
 * the frames repeat with the GOP period. The result is therefore the type of a
 * received frame whose display number differs from `number` by a multiple of
 * the GOP period. */
static MpegVideoPictureType
pattern_type (const MpegVideoTimeline * timeline, gint64 number)
{
  MpegVideoPictureType type;
  gint k;

  if (timeline->period == 0)
    return MPEG_VIDEO_PICTURE_UNKNOWN;
  if ((number - timeline->last_i) % timeline->period == 0)
    return MPEG_VIDEO_PICTURE_I;
  for (k = 1; k <= PATTERN_REACH; k++) {
    type = place_type (timeline, number - k * timeline->period);
    if (type == MPEG_VIDEO_PICTURE_UNKNOWN)
      type = place_type (timeline, number + k * timeline->period);
    if (type != MPEG_VIDEO_PICTURE_UNKNOWN)
      return type;
  }
  return MPEG_VIDEO_PICTURE_UNKNOWN;
}

static gboolean
pattern_is_trusted (const MpegVideoTimeline * timeline)
{
  return timeline->period > 0 && timeline->pattern_hits >= PATTERN_TRUSTED;
}

/* Returns the maximum distance in frames between two consecutive anchors (I- or
 * P-frames). If no distance was measured yet, returns a default. */
static gint64
usual_distance (const MpegVideoTimeline * timeline)
{
  return timeline->anchor_distance ? timeline->anchor_distance :
      DEFAULT_ANCHOR_DISTANCE;
}

/* Searches for the nearest received anchor (I- or P-frame). The search begins
 * at the display number `number`. It goes upwards if `step` is 1, or downwards
 * if `step` is -1. Returns the display number of the anchor, or -1 if there is
 * none among the MAX_HEAD display numbers that are searched. */
static gint64
find_anchor (const MpegVideoTimeline * timeline, gint64 number, gint step)
{
  gint i;

  for (i = 0; i < MAX_HEAD; i++, number += step) {
    if (is_anchor (place_type (timeline, number)))
      return number;
  }
  return -1;
}

/* Derives the type of a missing frame from the received frames around it. The
 * type cannot be derived in two cases:
 * - No later I- or P-frame was received.
 * - So many frames are missing around the frame that whole GOPs may be lost.
 *
 * In these cases, the function returns UNKNOWN. There is one exception: if the
 * frame is one of the first frames of the stream and no earlier I- or P-frame
 * was received, the function assumes an I-frame. */
static MpegVideoPictureType
local_type (const MpegVideoTimeline * timeline, gint64 number)
{
  gint64 distance = usual_distance (timeline);
  gint64 before = find_anchor (timeline, number, -1);
  gint64 after = find_anchor (timeline, number, 1);
  gboolean same_gop = before >= timeline->gop_start;
  gboolean anchor;

  if (after < 0 || (!same_gop && after - before > 2 * distance))
    return before < 0 && number < distance ? MPEG_VIDEO_PICTURE_I :
        MPEG_VIDEO_PICTURE_UNKNOWN;
  if (number == timeline->lost_anchor)
    anchor = TRUE;
  else if (before >= 0 && after - before <= distance)
    anchor = FALSE;
  else if (before >= 0 && (same_gop || number < timeline->gop_start))
    anchor = (number - before) % distance == 0;
  else
    anchor = (after - number) % distance == 0
        || (before < 0 && number == timeline->gop_start
        && after - number < distance);
  if (!anchor)
    return MPEG_VIDEO_PICTURE_B;
  /* The I-frame of this GOP was not received, and the missing frame is the
   * first anchor (I- or P-frame) of the GOP. The first anchor of a GOP is
   * always an I-frame, so this frame is the I-frame. */
  if (number >= timeline->gop_start && !timeline->gop_has_i
      && number - timeline->gop_start < distance)
    return MPEG_VIDEO_PICTURE_I;
  return MPEG_VIDEO_PICTURE_P;
}

/* Returns the most probable type of a lost frame. This function is called at
 * the end of the stream, because no frame can arrive any more that would show
 * the type. */
static MpegVideoPictureType
guess_type (const MpegVideoTimeline * timeline, gint64 number)
{
  MpegVideoPictureType type = pattern_type (timeline, number);

  if (type != MPEG_VIDEO_PICTURE_UNKNOWN || timeline->anchor_distance == 0
      || timeline->last_anchor < 0)
    return type;
  return (timeline->last_anchor - number) % timeline->anchor_distance == 0 ?
      MPEG_VIDEO_PICTURE_P : MPEG_VIDEO_PICTURE_B;
}

static void
add_loss (MpegVideoTimeline * timeline, gint64 number,
    MpegVideoPictureType type)
{
  MpegVideoLoss *loss = g_new0 (MpegVideoLoss, 1);

  loss->type = type;
  loss->display_number = number;
  loss->frames = loss->by_type[type] = 1;
  g_queue_push_tail (&timeline->losses, loss);
}

/* Tries again to determine the types of those lost frames whose type is not
 * known yet. Each frame whose type is now known is reported. If `final` is
 * TRUE, the stream has ended. Then every remaining frame is reported with its
 * most probable type. */
static void
type_losses (MpegVideoTimeline * timeline, gboolean final)
{
  MpegVideoPictureType type;
  guint i, kept = 0;
  gint64 number;

  for (i = 0; i < timeline->untyped->len; i++) {
    number = g_array_index (timeline->untyped, gint64, i);
    type = final ? guess_type (timeline, number) :
        pattern_type (timeline, number);
    if (type != MPEG_VIDEO_PICTURE_UNKNOWN || final)
      add_loss (timeline, number, type);
    else
      g_array_index (timeline->untyped, gint64, kept++) = number;
  }
  g_array_set_size (timeline->untyped, kept);
}

static MpegVideoPictureType
lost_type (const MpegVideoTimeline * timeline, gint64 number)
{
  MpegVideoPictureType type = MPEG_VIDEO_PICTURE_UNKNOWN;

  if (pattern_is_trusted (timeline))
    type = pattern_type (timeline, number);
  if (type == MPEG_VIDEO_PICTURE_UNKNOWN)
    type = local_type (timeline, number);
  return type != MPEG_VIDEO_PICTURE_UNKNOWN ? type :
      pattern_type (timeline, number);
}

/* Reports the frames of a short gap as lost, one by one. The gap contains the
 * display numbers from `first` to `end` - 1. If the type of a frame is unknown,
 * the frame is reported later, when its type is known. */
static void
lose_frames (MpegVideoTimeline * timeline, gint64 first, gint64 end)
{
  MpegVideoPictureType type;
  gint64 number;

  for (number = first; number < end; number++) {
    type = lost_type (timeline, number);
    if (type != MPEG_VIDEO_PICTURE_UNKNOWN
        || timeline->untyped->len >= MAX_UNTYPED)
      add_loss (timeline, number, type);
    else
      g_array_append_val (timeline->untyped, number);
  }
}

/* Reports a long gap as one range of lost frames, and counts the frames of each
 * type. If the type of a frame cannot be determined, the type of the frame one
 * GOP period earlier is used. */
static void
lose_range (MpegVideoTimeline * timeline, gint64 first, gint64 end)
{
  MpegVideoLoss *loss = g_new0 (MpegVideoLoss, 1);
  MpegVideoPictureType *types = g_new (MpegVideoPictureType, end - first);
  gint64 i;

  loss->display_number = first;
  loss->frames = end - first;
  for (i = 0; i < loss->frames; i++) {
    types[i] = lost_type (timeline, first + i);
    if (types[i] == MPEG_VIDEO_PICTURE_UNKNOWN && timeline->period > 0
        && i >= timeline->period)
      types[i] = types[i - timeline->period];
    loss->by_type[types[i]]++;
  }
  if (loss->by_type[types[0]] == loss->frames)
    loss->type = types[0];
  g_queue_push_tail (&timeline->losses, loss);
  g_free (types);
}

static gint64
end_of_gap (const MpegVideoTimeline * timeline, gint64 number, gint64 limit)
{
  while (number < limit
      && place_type (timeline, number) == MPEG_VIDEO_PICTURE_UNKNOWN)
    number++;
  return number;
}

/* Called when no frame with a display number below `limit` can arrive any more.
 * Each frame with a display number below `limit` that has not arrived is now
 * reported as lost. */
static void
settle (MpegVideoTimeline * timeline, gint64 limit)
{
  gint64 number, end;

  for (number = timeline->horizon; number < limit; number = end + 1) {
    end = end_of_gap (timeline, number, limit);
    if (end - number > MPEG_VIDEO_MAX_SINGLE_LOSSES)
      lose_range (timeline, number, end);
    else
      lose_frames (timeline, number, end);
  }
  timeline->horizon = MAX (timeline->horizon, limit);
}

/* --- GOP of a frame ---------------------------------------------------------
 */

/* Returns whether the temporal reference shows that a new GOP has started.
 * Within a GOP, the temporal references of the anchors (I- and P-frames)
 * increase in transport order. The temporal references of the B-frames increase
 * as well. If the temporal reference of a frame is not higher than that of the
 * last frame of the same kind, the frame therefore belongs to a new GOP. */
static gboolean
order_says_new_gop (const MpegVideoTimeline * timeline, gboolean anchor,
    gint reference)
{
  return reference <= (anchor ? timeline->last_anchor_reference :
      timeline->last_b_reference);
}

/* Moves the origin by `distance` frames. The origin is the display number of a
 * frame with the temporal reference 0. The stored temporal references are
 * reduced by `distance`, so the display numbers of the frames do not change. */
static void
move_origin (MpegVideoTimeline * timeline, gint distance)
{
  timeline->gop_start += distance;
  timeline->last_anchor_reference -= distance;
  timeline->last_b_reference -= distance;
}

/* Returns the difference between the display number of a frame and the current
 * origin. The origin is the display number that belongs to the temporal
 * reference 0. `reference` is the temporal reference that the frame contains.
 * In a stream with GOP headers, the result is equal to `reference`.
 *
 * In a stream without GOP headers, temporal references do not restart at each
 * GOP, but increase modulo 1024: 1022, 1023, 0, 1. When the temporal reference
 * of an anchor (I- or P-frame) has wrapped around, this function moves the
 * origin by 1024.
 *
 * The next frames in the stream are B-frames that are displayed before this
 * anchor. Some of them may be displayed even before the new origin, so their
 * temporal references still count from the old origin. The new origin is
 * greater by 1024. The function therefore returns `reference` minus 1024. For
 * example, the result for the temporal reference 1023 is -1: the frame is
 * displayed one frame before the new origin. */
static gint
unwrap_reference (MpegVideoTimeline * timeline, gboolean anchor, gint reference)
{
  gint last = anchor ? timeline->last_anchor_reference :
      timeline->last_b_reference;

  if (timeline->seen_gop_header)
    return reference;
  if (!anchor && reference - timeline->last_anchor_reference > 512
      && timeline->last_anchor_reference >= 0
      && timeline->gop_start + reference >= 1024)
    return reference - 1024;
  if (last - reference > 512)
    move_origin (timeline, 1024);
  return reference;
}

/* Returns the display number at which the next GOP starts according to the GOP
 * pattern. In two cases, the pattern cannot be used, and the function returns
 * the first display number after all received frames:
 * - The pattern is not known yet.
 * - The new GOP does not follow the pattern, because the temporal reference of
 *   its I-frame differs from that of earlier I-frames. */
static gint64
predict_gop_start (const MpegVideoTimeline * timeline,
    const MpegVideoPicture * header)
{
  gint64 first = timeline->max_received + 1;
  gint lead = timeline->lead;
  gint64 start;

  if (timeline->period_seen < PERIOD_TRUSTED || lead < 0
      || (header->type == MPEG_VIDEO_PICTURE_I
          && header->temporal_reference != lead))
    return first;
  start = timeline->last_i - lead;
  if (start < first)
    start += (first - start + timeline->period - 1) / timeline->period
        * timeline->period;
  return start;
}

/* Returns the display number of the first frame of the GOP according to the
 * time code in the GOP header. Returns -1 if this number is not plausible. */
static gint64
time_code_gop_start (MpegVideoTimeline * timeline, const MpegVideoGop * gop)
{
  gint64 code = mpeg_video_gop_frame_number (gop, timeline->fps_n,
      timeline->fps_d);
  gint64 first = timeline->max_received + 1;
  gint64 start, slack;
  gboolean splice;

  if (!timeline->have_time_code) {
    timeline->have_time_code = TRUE;
    timeline->time_code = code;
    timeline->time_code_start = -1;
    return -1;
  }
  start = timeline->time_code_start < 0 ? -1 :
      timeline->time_code_start + code - timeline->time_code;
  timeline->time_code = code;
  if (start < 0)
    return -1;
  if (start < first || start - first > max_gap (timeline)) {
    /* The GOP cannot start at the display number that follows from its time
     * code. If earlier time codes agreed with the received frames, two streams
     * with different time codes were probably joined here. */
    splice = timeline->time_code_trust > 0;
    timeline->time_code_trust = -1;
    if (splice)
      forget_pattern (timeline);
    return splice ? first : -1;
  }
  if (start == first) {
    timeline->time_code_trust++;
    return start;
  }
  /* According to the time code, frames are missing before this GOP.
   * time_code_trust says whether this can be believed. If it is positive,
   * earlier time codes agreed with the received frames, and the gap is
   * accepted. If it is negative, they disagreed, and the gap is not accepted.
   * If it is 0, nothing is known, and only a short gap is accepted. */
  slack = MAX (MAX_HEAD, 2 * (first - timeline->gop_start));
  if (timeline->time_code_trust > 0
      || (timeline->time_code_trust == 0 && start - first <= slack))
    return start;
  return -1;
}

/* Returns the display number of the frame with the timestamp `clock`. The time
 * since the previous timestamp is converted to a number of frames. This number
 * is added to the display number of the frame that had the previous timestamp.
 * Returns -1 if the result is not plausible. */
static gint64
clock_display_number (const MpegVideoTimeline * timeline, guint64 clock)
{
  gint64 period = periods_to_time (timeline, 1);
  gint64 elapsed, steps, error;

  if (!timeline->have_clock || clock == MPEG_VIDEO_TIME_NONE)
    return -1;
  elapsed = (gint64) (clock - timeline->clock);
  if (ABS (elapsed / period) > max_gap (timeline))
    return -1;
  steps = (elapsed + (elapsed < 0 ? -period : period) / 2) / period;
  error = elapsed - periods_to_time (timeline, steps);
  if (ABS (error) > period / 4)
    return -1;
  return MAX (timeline->clock_number + steps, -1);
}

static void
learn_clock (MpegVideoTimeline * timeline, guint64 clock, gint64 said,
    gint64 number)
{
  if (clock == MPEG_VIDEO_TIME_NONE) {
    timeline->have_clock = FALSE;
    return;
  }
  if (said != number || !timeline->have_clock)
    timeline->clock_trust = 0;
  else if (timeline->clock_trust < CLOCK_TRUSTED)
    timeline->clock_trust += number - timeline->clock_number == 1 ? 1 : 2;
  timeline->have_clock = TRUE;
  timeline->clock = clock;
  timeline->clock_number = number;
}

/* Returns whether a temporal reference is too large to be correct. A single bit
 * error can make a temporal reference far larger than the length of any GOP of
 * this stream. If such a reference were accepted, MpegVideoTimeline would
 * expect a frame for each lower temporal reference. Most of these frames do not
 * exist, so they would wrongly count as lost. */
static gboolean
reference_is_implausible (const MpegVideoTimeline * timeline, gint reference)
{
  gint64 seen = timeline->max_received - timeline->gop_start;

  return timeline->seen_gop_header && timeline->period > 0
      && reference > seen + 2 * timeline->period + MAX_HEAD;
}

/* Returns whether a jump of the temporal reference is wrong according to the
 * clock (the timestamps of the frames). If frames are lost, both the temporal
 * reference and the clock jump. If only the temporal reference jumps and the
 * clock is trusted, the temporal reference must be damaged or forged. The check
 * is made only in a stream without GOP headers. */
static gboolean
clock_denies_jump (const MpegVideoTimeline * timeline, gint64 said,
    gint64 number)
{
  return !timeline->seen_gop_header && said >= 0
      && timeline->clock_trust >= CLOCK_TRUSTED
      && number - MAX (said, timeline->max_received + 1) > MAX_HEAD;
}

static void
begin_gop (MpegVideoTimeline * timeline, gint64 start)
{
  timeline->gop_start = start;
  timeline->gop_has_i = FALSE;
  timeline->last_anchor_reference = timeline->last_b_reference = -1;
}

/* Returns whether the frame directly continues the GOP. Returns FALSE if its
 * temporal reference, `reference`, suggests that frames of the GOP are missing
 * directly before this frame. */
static gboolean
reference_goes_on (const MpegVideoTimeline * timeline, gboolean anchor,
    gint reference)
{
  if (anchor)
    return reference - timeline->last_anchor_reference <=
        usual_distance (timeline);
  return reference - timeline->last_b_reference <= 2;
}

/* According to the clock, the GOP of the frame starts at the display number
 * `start`. Returns whether this number is plausible. It is plausible in two
 * cases:
 *
 * - The current GOP starts at `start`, and the frame belongs to this GOP.
 * - `start` is after all received frames and matches the GOP pattern.
 *
 * The clock alone does not prove that frames were lost. If a sender pauses or
 * skips a frame, its clock advances by an arbitrary amount although no frame is
 * lost. The GOP pattern must therefore confirm the clock. */
static gboolean
clock_start_is_plausible (const MpegVideoTimeline * timeline,
    const MpegVideoFrame * frame, gint reference, gboolean new_gop,
    gint64 start)
{
  const MpegVideoPicture *header = &frame->pictures[0].header;

  if (start < 0)
    return FALSE;
  if (start == timeline->gop_start)
    return !new_gop;
  if (start <= timeline->max_received)
    return FALSE;
  /* The flag DISCONT of the frame says that frames before it are missing, and
   * the clock shows how many. No confirmation by the GOP pattern is needed. */
  if (frame->flags & MPEG_VIDEO_FRAME_DISCONT)
    return TRUE;
  if (timeline->period_seen >= PERIOD_TRUSTED && timeline->lead >= 0
      && (header->type != MPEG_VIDEO_PICTURE_I || reference == timeline->lead))
    return (start - timeline->last_i + timeline->lead) % timeline->period == 0;
  return new_gop
      || !reference_goes_on (timeline, is_anchor (header->type), reference);
}

/* Called when a different stream begins. The display numbers continue: the
 * first frame of the new stream follows the last received frame of the old
 * stream. The clocks of the two streams are not related to each other. */
static void
begin_stream (MpegVideoTimeline * timeline, const MpegVideoFrame * frame,
    guint64 clock)
{
  gint64 first = timeline->max_received + 1;
  gint reference = frame->pictures[0].header.temporal_reference;
  /* `first` is the display number that follows the last received frame. The
   * temporal reference is the position of this frame in its GOP. If the
   * temporal reference is large, the stream began long before this frame, and
   * the frames between the beginning of the GOP and this frame must not count
   * as lost. This frame therefore gets the display number `first`, and the GOP
   * begins at a lower number: `first` minus the temporal reference. */
  gint64 start = reference < MAX_HEAD ? first : first - reference;

  forget_pattern (timeline);
  begin_gop (timeline, start);
  timeline->have_time_code = FALSE;
  timeline->time_code_trust = 0;
  timeline->horizon = MAX (timeline->horizon, first);
  timeline->seen_gop_header = frame->has_gop;
  if (frame->has_gop) {
    time_code_gop_start (timeline, &frame->gop);
    timeline->time_code_start = start;
  }
  learn_clock (timeline, clock, -1, start + reference);
}

/* Determines the GOP to which the frame belongs. Returns whether this is a new
 * GOP. */
static gboolean
place_in_gop (MpegVideoTimeline * timeline, const MpegVideoFrame * frame,
    guint64 clock, gint * unwrapped)
{
  const MpegVideoPicture *header = &frame->pictures[0].header;
  gint reference = header->temporal_reference;
  gboolean anchor = is_anchor (header->type);
  gint64 said = clock_display_number (timeline, clock);
  gint64 first = timeline->max_received + 1;
  gint64 origin = timeline->gop_start;
  gint64 by_code = -1, by_clock, start;
  gboolean new_gop;

  if (frame->flags & MPEG_VIDEO_FRAME_RESYNC) {
    begin_stream (timeline, frame, clock);
    return TRUE;
  }
  if (frame->has_gop) {
    timeline->seen_gop_header = TRUE;
    by_code = time_code_gop_start (timeline, &frame->gop);
  }

  reference = unwrap_reference (timeline, anchor, reference);
  if (!frame->has_gop && reference_is_implausible (timeline, reference))
    reference = first - timeline->gop_start;
  by_clock = said < 0 || timeline->clock_trust < CLOCK_TRUSTED ? -1 :
      said - reference;
  new_gop = frame->has_gop || order_says_new_gop (timeline, anchor, reference);
  start = timeline->gop_start;
  if (clock_start_is_plausible (timeline, frame, reference, new_gop, by_clock))
    /* The start of the GOP was estimated from the clock (the timestamps of the
     * frames), and also from the time code in the GOP header. If frames were
     * lost, the two estimates are equal. If the sender has paused, or if two
     * streams were joined, one of the estimates is too late. The earlier
     * estimate is therefore used. */
    start = by_code >= 0 ? MIN (by_clock, by_code) : by_clock;
  else if (by_code >= 0)
    start = by_code;
  else if (new_gop)
    start = predict_gop_start (timeline, header);
  if (clock_denies_jump (timeline, said, start + reference)) {
    move_origin (timeline, origin - timeline->gop_start);
    start = origin;
    reference = said - origin;
    new_gop = FALSE;
  }
  if (start + reference - first > max_gap (timeline)) {
    begin_stream (timeline, frame, clock);
    return TRUE;
  }
  *unwrapped = reference;
  new_gop = new_gop || start != timeline->gop_start;
  if (frame->has_gop)
    timeline->time_code_start = start;
  if (new_gop)
    begin_gop (timeline, start);
  learn_clock (timeline, clock, said, start + reference);
  return new_gop;
}

static void
place_first (MpegVideoTimeline * timeline, const MpegVideoFrame * frame,
    guint64 clock)
{
  const MpegVideoPicture *header = &frame->pictures[0].header;
  gint64 number = header->temporal_reference;

  if (frame->has_gop) {
    timeline->seen_gop_header = TRUE;
    time_code_gop_start (timeline, &frame->gop);
    timeline->time_code_start = 0;
  }
  /* In a stream without GOP headers, temporal references do not restart at each
   * GOP, so the first received frame may have any temporal reference. Even if
   * this temporal reference is large, the earlier frames may never have been
   * sent to this receiver. They therefore do not count as lost. */
  if (number >= MAX_HEAD)
    timeline->horizon = number;
  timeline->started = TRUE;
  timeline->max_received = -1;
  learn_clock (timeline, clock, -1, number);
}

/* --- learning ---------------------------------------------------------- */

static void
learn_i_frame (MpegVideoTimeline * timeline, gint64 number, gint reference,
    gboolean first_gop)
{
  gint64 distance = number - timeline->last_i;

  if (timeline->last_i >= 0 && distance > 0) {
    if (distance == timeline->period) {
      timeline->period_seen++;
    } else if (timeline->period == 0 || distance % timeline->period != 0) {
      timeline->period = distance;
      timeline->period_seen = 1;
    }
  }
  timeline->last_i = number;
  if (!first_gop)
    timeline->lead = reference;
  if (timeline->period > 0)
    type_losses (timeline, FALSE);
}

static void
learn_pattern (MpegVideoTimeline * timeline, gint64 number,
    MpegVideoPictureType type)
{
  MpegVideoPictureType foreseen = pattern_type (timeline, number);

  if (foreseen == type)
    timeline->pattern_hits++;
  else if (foreseen != MPEG_VIDEO_PICTURE_UNKNOWN)
    timeline->pattern_hits = 0;
}

/* Called when a new anchor (I- or P-frame) arrives. Measures the distance
 * between the last two anchors that arrived before the new one. The B-frames
 * that are displayed between those two anchors come before the new anchor in
 * the stream. Each of these B-frames has therefore arrived by now or is lost.
 * If a frame between the two anchors was not received or is not a B-frame, the
 * distance is ignored. The maximum of all measured distances is stored. */
static void
learn_anchor_distance (MpegVideoTimeline * timeline)
{
  gint64 anchor = timeline->last_anchor;
  gint64 before;

  if (anchor < 0)
    return;
  for (before = anchor - 1; before >= 0; before--) {
    if (place_type (timeline, before) != MPEG_VIDEO_PICTURE_B)
      break;
  }
  if (!is_anchor (place_type (timeline, before)))
    return;
  if (anchor - before > timeline->anchor_distance) {
    timeline->anchor_distance = anchor - before;
    timeline->distance_seen = 0;
  }
  if (anchor - before == timeline->anchor_distance)
    timeline->distance_seen++;
}

/* Returns whether frames are known to be missing directly before `frame`, which
 * is an anchor (I- or P-frame). */
static gboolean
gap_before (const MpegVideoTimeline * timeline, const MpegVideoFrame * frame,
    gint64 number, gboolean new_gop)
{
  guint proof = timeline->anchor_distance > 1 ? DISTANCE_TRUSTED :
      DISTANCE_ONE_TRUSTED;

  if (frame->flags & MPEG_VIDEO_FRAME_DISCONT)
    return TRUE;
  if (timeline->distance_seen >= proof
      && number - timeline->last_anchor > timeline->anchor_distance)
    return TRUE;
  if (new_gop && timeline->gop_start > timeline->max_received + 1)
    return TRUE;
  /* In a stream with GOP headers, a GOP starts with an I-frame. If a P-frame of
   * a GOP arrives, but the I-frame of this GOP has not arrived before it, the
   * I-frame is missing. */
  return timeline->seen_gop_header && !timeline->gop_has_i
      && frame->pictures[0].header.type != MPEG_VIDEO_PICTURE_I;
}

/* Returns the display number of the anchor (I- or P-frame) that comes directly
 * before the given anchor in the stream. This preceding anchor may be lost. If
 * no anchor was received before the given anchor, the result depends on the
 * type of the given anchor. For an I-frame, the result is the number directly
 * before the GOP. For a P-frame, the preceding anchor is assumed to be at the
 * usual distance.
 *
 * The distance from the last received anchor to the given anchor may be larger
 * than usual. There are two possible reasons: the preceding anchor was lost, or
 * the encoder has placed more B-frames than usual between these two anchors. In
 * the second case, the last received anchor is the preceding anchor. The
 * distance alone therefore does not prove a loss. A lost anchor is assumed only
 * if there is other evidence: `gap` is TRUE, or the GOP pattern is trusted, or
 * a B-frame refers to the lost anchor. */
static gint64
anchor_before (const MpegVideoTimeline * timeline,
    const MpegVideoPicture * header, gint64 number, gboolean gap)
{
  gint64 distance = usual_distance (timeline);
  gint64 last = timeline->last_anchor;
  gint64 earlier;

  if (last < 0 && header->type == MPEG_VIDEO_PICTURE_I)
    return timeline->gop_start - 1;
  if (last < 0)
    return MAX (number - distance, 0);
  /* A B-frame was received that is displayed after the last received anchor (I-
   * or P-frame). Each B-frame refers to an anchor that is displayed later than
   * the B-frame. The encoder sends this later anchor before the B-frame. Here,
   * the B-frame has arrived, but its later anchor has not. The later anchor was
   * therefore lost. */
  if (timeline->max_received > last)
    last = MIN (timeline->max_received + 1, number - 1);
  if (!gap && !pattern_is_trusted (timeline))
    return last;
  for (earlier = number - 1; earlier > last; earlier--) {
    if (is_anchor (pattern_type (timeline, earlier)))
      return earlier;
    if (number - earlier >= WINDOW)
      break;
  }
  return gap ? MAX (number - distance, last) : last;
}

/* --- times ------------------------------------------------------------- */

/* Returns the number of fields that are displayed in addition to the two fields
 * of the frame (13818-2 6.3.10, repeat_first_field). */
static gint
extra_fields (const MpegVideoFrame * frame)
{
  const MpegVideoPicture *header = &frame->pictures[0].header;

  if (!header->has_extension || !header->repeat_first_field
      || frame->n_pictures > 1)
    return 0;
  if (!frame->sequence.progressive)
    return header->progressive_frame ? 1 : 0;
  return header->top_field_first ? 4 : 2;
}

/* Some B-frames follow an anchor (I- or P-frame) in the stream, but are
 * displayed before the anchor. Repeated fields in these B-frames delay the
 * anchor. When the anchor arrives, the B-frames have not arrived yet, so this
 * function predicts the number of their repeated fields.
 *
 * The parity of the anchor's first field (top or bottom) shows whether this
 * number is odd or even. Among the odd or the even numbers, the function
 * chooses one according to the recent frequency of repeated fields. If the
 * result is wrong by two fields, only the PTS of the anchor is wrong. */
static gint64
predict_extra (const MpegVideoTimeline * timeline,
    const MpegVideoFrame * frame, gint64 n_between)
{
  const MpegVideoPicture *header = &frame->pictures[0].header;
  guint recent = 0, bits = timeline->repeat_history & 0xff;
  gint64 twice, odd;

  if (n_between <= 0 || bits == 0 || !header->has_extension
      || frame->sequence.progressive)
    return 0;
  for (; bits; bits &= bits - 1)
    recent++;
  odd = (header->top_field_first != timeline->last_anchor_top_first)
      ^ (timeline->pending_extra & 1);
  /* `recent` says how many of the last eight frames repeated a field. Therefore
   * n_between * recent / 8 repeated fields are expected in the next `n_between`
   * frames. If `odd` is 1, the result is the odd number nearest to this value.
   * If `odd` is 0, it is the even number nearest to it. */
  twice = (n_between * recent - 8 * odd + 8) / 16;
  return CLAMP (2 * twice + odd, 0, n_between);
}

static void
compute_times (MpegVideoTimeline * timeline, const MpegVideoFrame * frame,
    gint64 earlier, MpegVideoPosition * position)
{
  const MpegVideoPicture *header = &frame->pictures[0].header;
  gint64 display = position->display_number;
  gint64 own = extra_fields (frame);
  gint64 between, predicted;

  if (frame->sequence.low_delay) {
    position->dts = position->pts =
        number_to_time (timeline, display, timeline->extra);
    timeline->extra += own;
  } else if (!is_anchor (header->type)) {
    position->dts = position->pts =
        number_to_time (timeline, display + 1, timeline->extra);
    timeline->extra += own;
  } else {
    between = timeline->last_anchor < 0 ? 0 : display - earlier - 1;
    predicted = predict_extra (timeline, frame, between);
    position->dts = number_to_time (timeline, position->coding_number,
        timeline->extra);
    timeline->extra += timeline->pending_extra;
    position->pts = number_to_time (timeline, display + 1,
        timeline->extra + predicted);
    timeline->pending_extra = own;
    timeline->last_anchor_top_first = header->top_field_first;
  }
  timeline->repeat_history = timeline->repeat_history << 1 | (own > 0);
  position->duration = periods_to_time (timeline, 2 + own) / 2;
  position->gop_pts_90khz = time_to_90khz (number_to_time (timeline,
          timeline->gop_start + (frame->sequence.low_delay ? 0 : 1),
          timeline->extra));
}

/* A frame that has both timestamps from upstream keeps them. A missing
 * timestamp is replaced by the timestamp that MpegVideoTimeline itself has
 * computed, plus an offset. The offset is the last known difference between
 * upstream's timestamps and the computed timestamps. Each PTS from upstream
 * updates the offset.
 *
 * Some parsers, such as mpegvideoparse, set only the DTS. They compute it as a
 * sum of durations, which is wrong if fields are repeated. The PTS of such a
 * frame is therefore not derived from its DTS, but is the computed PTS plus the
 * offset. The DTS of such a frame updates the offset in two cases only: at the
 * start of the stream, and when the DTS jumps. */
static void
merge_upstream_times (MpegVideoTimeline * timeline,
    const MpegVideoFrame * frame, MpegVideoPosition * position)
{
  gboolean have_pts = frame->pts < MAX_TIME;
  gboolean have_dts = frame->dts < MAX_TIME;
  gint64 delay = position->pts - position->dts;
  gint64 drift;

  if (have_pts) {
    timeline->upstream_offset = frame->pts - position->pts;
  } else if (have_dts) {
    drift = frame->dts - position->dts - timeline->upstream_offset;
    if (!timeline->have_upstream || ABS (drift) > periods_to_time (timeline, 1))
      timeline->upstream_offset = frame->dts - position->dts;
  }
  timeline->have_upstream = timeline->have_upstream || have_pts || have_dts;

  position->pts = MAX ((gint64) position->pts + timeline->upstream_offset, 0);
  position->dts = MAX ((gint64) position->pts - delay, 0);
  if (have_pts)
    position->pts = frame->pts;
  if (have_dts)
    position->dts = have_pts ? frame->dts : MIN (frame->dts, position->pts);
}

/* --- public functions -------------------------------------------------------
 */

void
mpeg_video_timeline_input (MpegVideoTimeline * timeline,
    const MpegVideoFrame * frame, guint64 media_time,
    MpegVideoPosition * position)
{
  const MpegVideoPicture *header = &frame->pictures[0].header;
  gint reference = header->temporal_reference;
  gboolean anchor = is_anchor (header->type);
  gboolean first = !timeline->started;
  guint64 clock = media_time != MPEG_VIDEO_TIME_NONE ? media_time : frame->pts;
  gint64 number, earlier = -1;
  Place *place;

  memset (position, 0, sizeof (*position));
  timeline_set_rate (timeline, &frame->sequence);
  if (first) {
    place_first (timeline, frame, clock);
    position->new_gop = TRUE;
  } else {
    position->new_gop = place_in_gop (timeline, frame, clock, &reference);
  }
  /* The frames have RTP timestamps, which are presentation times by definition.
   * They are therefore trusted from the start as a clock. The clock loses this
   * trust when it disagrees with the received frames. */
  if (media_time != MPEG_VIDEO_TIME_NONE
      && (first || frame->flags & MPEG_VIDEO_FRAME_RESYNC))
    timeline->clock_trust = CLOCK_TRUSTED;
  number = MAX (timeline->gop_start + reference, 0);

  if (anchor && !frame->sequence.low_delay) {
    earlier = anchor_before (timeline, header, number,
        !first && gap_before (timeline, frame, number, position->new_gop));
    position->coding_number = earlier + 1;
  } else {
    position->coding_number = number + (frame->sequence.low_delay ? 0 : 1);
  }
  if (first)
    timeline->base_number = position->coding_number;
  position->display_number = number;
  position->gop_display_number = MAX (timeline->gop_start, 0);
  compute_times (timeline, frame, earlier, position);
  position->expected = position->dts;
  position->pts_90khz = time_to_90khz (position->pts);
  merge_upstream_times (timeline, frame, position);

  learn_pattern (timeline, number, header->type);
  place = &timeline->places[number % WINDOW];
  place->number = number;
  place->type = header->type;
  if (anchor) {
    if (earlier >= 0 && !is_anchor (place_type (timeline, earlier)))
      timeline->lost_anchor = earlier;
    learn_anchor_distance (timeline);
    settle (timeline, frame->sequence.low_delay ? number :
        timeline->last_anchor);
    timeline->last_anchor = number;
    timeline->last_anchor_reference = reference;
    if (header->type == MPEG_VIDEO_PICTURE_I) {
      timeline->gop_has_i = TRUE;
      learn_i_frame (timeline, number, reference, timeline->gop_start == 0);
    }
  } else {
    settle (timeline, number);
    timeline->last_b_reference = reference;
  }
  timeline->max_received = MAX (timeline->max_received, number);
}

void
mpeg_video_timeline_drain (MpegVideoTimeline * timeline)
{
  /* Only the losses that are already known are reported here. Frames may also
   * be missing between the last two anchors (I- and P-frames) in display order.
   * In the stream, these frames follow both anchors. The stream may have ended
   * before these frames were sent, so they do not count as lost. */
  type_losses (timeline, TRUE);
}

gboolean
mpeg_video_timeline_poll_loss (MpegVideoTimeline * timeline,
    MpegVideoLoss * loss)
{
  MpegVideoLoss *queued = g_queue_pop_head (&timeline->losses);

  if (!queued)
    return FALSE;
  *loss = *queued;
  g_free (queued);
  return TRUE;
}
