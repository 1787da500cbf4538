/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Places frames in time and finds those that never came; see the header.
 *
 * Every frame has a display number: the display number of its GOP's first
 * picture plus its temporal reference (13818-2 6.3.9). In a stream with
 * B-frames a decoder puts out one frame for each that it takes in, the B-frame
 * itself or else the anchor (I or P) before it; so
 *
 *   coding number of a B-frame  = its display number + 1
 *   coding number of an anchor  = display number of the anchor before it + 1
 *   PTS = display number + 1,   DTS = coding number      (in frame periods)
 *
 * which is the decoder model of 13818-1 2.4.2. Repeated fields add to both.
 */

#include "mpegvideotimeline.h"

#include <string.h>

/* Display numbers of which the type is remembered */
#define WINDOW 4096
/* A gap longer than this is a new beginning, not a loss: a network may forge
 * or damage the clock that tells of it. */
#define MAX_GAP_SECONDS 10
/* Losses that wait for the pattern; more are of unknown type */
#define MAX_UNTYPED 4096
/* GOP periods to look back and ahead for the type at a place */
#define PATTERN_REACH 8
/* Where nothing was learned: I or P at every third place, the most common
 * pattern, and no GOP longer than this before the first frame received */
#define DEFAULT_ANCHOR_DISTANCE 3
#define MAX_HEAD 64
/* Agreement before a clock is trusted. A step of one frame earns one: arrival
 * times in place of presentation times make such steps too. Any other step,
 * such as that from an anchor back to its B-frame, earns two. */
#define CLOCK_TRUSTED 4
/* Equal I-frame distances before a period is predicted from */
#define PERIOD_TRUSTED 2
/* Frames in a row of the type that the pattern has at their places, before it
 * is trusted with what is missing */
#define PATTERN_TRUSTED 32
/* Times that the longest distance of anchors was seen before a longer one is
 * taken for a loss. An encoder with a fixed pattern shows its longest at once;
 * one that adapts may begin without any B-frames. */
#define DISTANCE_TRUSTED 4
#define DISTANCE_ONE_TRUSTED 32
#define DEFAULT_FPS_N 25
/* Upstream's times from here on (146 years) are none. */
#define MAX_TIME (G_MAXUINT64 / 4)

typedef struct
{
  gint64 number;
  MpegVideoPictureType type;
} Place;

struct _MpegVideoTimeline
{
  gboolean started;

  /* Number to time: number base_number is shown at base_time. */
  guint fps_n, fps_d;
  gint64 base_number;
  guint64 base_time;            /* ns */
  gint64 extra;                 /* repeated fields shown since base_time */
  gint64 pending_extra;         /* of the last anchor, which is not shown yet */
  guint repeat_history;         /* one bit a frame, the latest lowest */
  gboolean last_anchor_top_first;

  /* The current GOP */
  gint64 gop_start;             /* display number of temporal reference 0 */
  gint last_anchor_reference;   /* temporal references received; -1: none */
  gint last_b_reference;
  gboolean gop_has_i;           /* its I-frame came */
  gboolean seen_gop_header;

  /* What was received */
  Place places[WINDOW];         /* at number % WINDOW */
  gint64 last_anchor;           /* display number; -1: none */
  gint64 lost_anchor;           /* the latest that must have been, or -1 */
  gint64 max_received;
  gint64 horizon;               /* below, every place is settled */
  GQueue losses;                /* of MpegVideoLoss */
  GArray *untyped;              /* of gint64: lost, type not known yet */

  /* The pattern */
  gint64 last_i;                /* display number; -1: none */
  gint lead;                    /* temporal reference of an I-frame; -1 */
  gint64 period;                /* between I-frames; 0: not known */
  guint period_seen;            /* times in a row */
  gint64 anchor_distance;       /* the longest; 0: not known */
  guint distance_seen;          /* times */
  guint pattern_hits;           /* frames in a row that it foresaw */

  /* Clocks that may tell the display number */
  gboolean have_time_code;
  gint64 time_code, time_code_start;
  gint time_code_trust;         /* -1: it lies */
  gboolean have_clock;
  guint64 clock;                /* ns */
  gint64 clock_number;
  guint clock_trust;

  /* Upstream's times minus ours, for frames that upstream gives none */
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

/* Time of n frame periods, ns, without overflow for 2^53 frames */
static gint64
periods_to_time (const MpegVideoTimeline * timeline, gint64 n)
{
  gint64 seconds_d = n / timeline->fps_n;
  gint64 rest = n % timeline->fps_n;
  const gint64 second = G_GINT64_CONSTANT (1000000000);

  return seconds_d * second * timeline->fps_d
      + rest * second * timeline->fps_d / timeline->fps_n;
}

/* Time at which display number n + extra fields stands; never before 0 */
static guint64
number_to_time (const MpegVideoTimeline * timeline, gint64 n, gint64 extra)
{
  gint64 time = timeline->base_time
      + periods_to_time (timeline, 2 * (n - timeline->base_number) + extra) / 2;

  return MAX (time, 0);
}

/* The longest gap that is believed, in frames; at a very low rate some GOPs */
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

/* Another encoder's GOPs have another pattern. */
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

/* A change of rate: what was counted so far stays where it was. */
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

/* --- what stands where ------------------------------------------------- */

static MpegVideoPictureType
place_type (const MpegVideoTimeline * timeline, gint64 number)
{
  const Place *place;

  if (number < 0)
    return MPEG_VIDEO_PICTURE_UNKNOWN;
  place = &timeline->places[number % WINDOW];
  return place->number == number ? place->type : MPEG_VIDEO_PICTURE_UNKNOWN;
}

/* The type at a place by what stands whole periods away */
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

/* The longest distance of two anchors, as far as it is known */
static gint64
usual_distance (const MpegVideoTimeline * timeline)
{
  return timeline->anchor_distance ? timeline->anchor_distance :
      DEFAULT_ANCHOR_DISTANCE;
}

/* Nearest anchor received, from number on up or down, or -1 */
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

/* The type at a place by what was received about it. UNKNOWN: too much is
 * missing there, perhaps whole GOPs. */
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
  /* The first anchor of a GOP of which no I-frame came */
  if (number >= timeline->gop_start && !timeline->gop_has_i
      && number - timeline->gop_start < distance)
    return MPEG_VIDEO_PICTURE_I;
  return MPEG_VIDEO_PICTURE_P;
}

/* The best that can be said at the end */
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

/* Looks once more at the losses whose type was not known. final: the stream has
 * ended, nothing new will tell. */
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

/* The places from first up to end are empty. Those of a short gap are reported
 * each by itself, once their type is known. */
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

/* A long gap is reported at once, as one range. Where it is too long for the
 * pattern to reach into it, it goes on as it began. */
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

/* No frame below limit can still come. */
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

/* --- which GOP --------------------------------------------------------- */

/* Within a GOP the temporal references of anchors grow in transport order, and
 * so do those of B-frames. */
static gboolean
order_says_new_gop (const MpegVideoTimeline * timeline, gboolean anchor,
    gint reference)
{
  return reference <= (anchor ? timeline->last_anchor_reference :
      timeline->last_b_reference);
}

/* Moves the origin of temporal references, but no frame. */
static void
move_origin (MpegVideoTimeline * timeline, gint distance)
{
  timeline->gop_start += distance;
  timeline->last_anchor_reference -= distance;
  timeline->last_b_reference -= distance;
}

/* Without GOP headers temporal references run on, modulo 1024: moves the
 * origin when they wrap, and returns the reference to that origin, which is
 * below zero for the B-frames that are shown before an anchor that wrapped. */
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

/* Where the next GOP begins by the pattern; the place behind all that was
 * received where there is no pattern, or where the GOP doesn't keep to it: its
 * I-frame came and has another temporal reference than those before. */
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

/* The GOP's place by its time code, or -1 */
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
    /* Right so far, and now another time: two streams were joined here. */
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
  /* A gap: believable if it never lied, and, the first time, if not long */
  slack = MAX (MAX_HEAD, 2 * (first - timeline->gop_start));
  if (timeline->time_code_trust > 0
      || (timeline->time_code_trust == 0 && start - first <= slack))
    return start;
  return -1;
}

/* The display number by a clock that proved right so far, or -1 */
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

/* With one bit wrong a temporal reference may point far beyond any GOP of this
 * stream, and all places before it would count as lost. */
static gboolean
reference_is_wild (const MpegVideoTimeline * timeline, gint reference)
{
  gint64 seen = timeline->max_received - timeline->gop_start;

  return timeline->seen_gop_header && timeline->period > 0
      && reference > seen + 2 * timeline->period + MAX_HEAD;
}

/* Without GOP headers nothing else bounds a temporal reference. Lost frames are
 * missing in the clock, too, so a trusted clock that goes on proves that a
 * reference which jumps is damaged or forged. */
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

/* Is the frame just what comes next in its GOP? */
static gboolean
reference_goes_on (const MpegVideoTimeline * timeline, gboolean anchor,
    gint reference)
{
  if (anchor)
    return reference - timeline->last_anchor_reference <=
        usual_distance (timeline);
  return reference - timeline->last_b_reference <= 2;
}

/* May the GOP that the clock says begin there? In the place where it is, yes;
 * further on, behind all that was received, and where the pattern has a GOP
 * begin: a sender that pauses, or skips a frame, moves its clock too, by any
 * amount, and has lost nothing. */
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
  /* something is missing, and this clock says how much */
  if (frame->flags & MPEG_VIDEO_FRAME_DISCONT)
    return TRUE;
  if (timeline->period_seen >= PERIOD_TRUSTED && timeline->lead >= 0
      && (header->type != MPEG_VIDEO_PICTURE_I || reference == timeline->lead))
    return (start - timeline->last_i + timeline->lead) % timeline->period == 0;
  return new_gop
      || !reference_goes_on (timeline, is_anchor (header->type), reference);
}

/* Another stream: its GOP begins where the last one stopped, and what its
 * clocks say has nothing to do with what the others said. */
static void
begin_stream (MpegVideoTimeline * timeline, const MpegVideoFrame * frame,
    guint64 clock)
{
  gint64 first = timeline->max_received + 1;
  gint reference = frame->pictures[0].header.temporal_reference;
  /* The stream may have begun long before this frame. */
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

/* Finds the frame's GOP; returns whether it is a new one. */
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
  if (!frame->has_gop && reference_is_wild (timeline, reference))
    reference = first - timeline->gop_start;
  by_clock = said < 0 || timeline->clock_trust < CLOCK_TRUSTED ? -1 :
      said - reference;
  new_gop = frame->has_gop || order_says_new_gop (timeline, anchor, reference);
  start = timeline->gop_start;
  if (clock_start_is_plausible (timeline, frame, reference, new_gop, by_clock))
    /* What is lost is missing in every clock; a pause, or a splice, in one. */
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
  /* A stream without GOP headers may begin anywhere. */
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

/* Nothing lost between two anchors, as the B-frames between them prove: that
 * is a distance of theirs; the longest counts. */
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

/* Is something known to be missing right before this anchor? */
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
  /* A GOP begins with its I-frame. */
  return timeline->seen_gop_header && !timeline->gop_has_i
      && frame->pictures[0].header.type != MPEG_VIDEO_PICTURE_I;
}

/* Display number of the anchor before this one, lost or not; one before the
 * GOP where there is none. That one was lost needs a reason: an encoder is free
 * to put more B-frames between two anchors than it did before. */
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
  /* B-frames came that are shown after it: the anchor behind them was lost */
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

/* Fields shown beyond two (13818-2 6.3.10, repeat_first_field) */
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

/* Repeated fields of the B-frames that come after an anchor but are shown
 * before it. The parity of the field that the anchor begins with tells whether
 * their number is odd; how often fields were repeated lately tells the rest.
 * Should it be wrong by two fields, this one PTS is, and no later one. */
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
  /* nearest number of that parity to n_between * recent / 8 */
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

/* Upstream's times where it gives them, and ours beside them. A parser that
 * knows the DTS alone (mpegvideoparse) sums it up from durations, wrongly where
 * fields are repeated: it sets where our PTS begin, and again when it jumps. */
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

/* --- the verbs --------------------------------------------------------- */

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
  /* RTP timestamps are presentation times by definition: believed until they
   * prove wrong. */
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
  /* All places that can be settled are: what is missing between the last two
   * anchors would have come behind them. */
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
