/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the framer, which divides an MPEG video stream into frames, and the
 * timeline, which assigns times to these frames. The framer must output the
 * same frames no matter how the stream is divided into inputs. No byte may be
 * lost or counted twice. There are two functions to input a frame that a parser
 * has already cut out, and both must give the same result. Times must never
 * overflow.
 *
 * Input: CONTROL_SIZE bytes of choices, then the stream.
 */

#include "fuzz.h"
#include "mpegvideotimeline.h"

#define N_STEPS 8
#define N_TIMES 16
/* Number of input bytes before the stream: flags, max_frame_size, steps and
 * times. */
#define CONTROL_SIZE (1 + 2 + N_STEPS + N_TIMES)

#define FLAG_NEED_SEQUENCE (1 << 0)
#define FLAG_SMALL_FRAMES (1 << 1)
#define FLAG_DISCONT (1 << 2)

#define SMALLEST_MAX_FRAME_SIZE 16
/* Maximum number of bytes of an incomplete start code at the end of one input.
 * The start code continues in the next input. */
#define MAX_STRADDLE 3
/* The maximum number of frames that the timeline counts as lost in one gap. It
 * is the sum of two numbers:
 * - 10 * 240: A gap lasts at most 10 s, because the timeline treats a longer
 *   gap as the start of a new stream. At 240 frames per second, 10 s have 2400
 *   frames.
 * - 3 * 1024: The temporal reference of a frame (its place in display order) is
 *   a number from 0 to 1023. The fuzzer may choose any of these numbers. Up to
 *   three frames can each increase the count by up to 1024 frames, because the
 *   timeline computes lost frames from temporal references. These are the first
 *   frame of the stream, the second frame after a jump of the temporal
 *   reference, and the frame at the end of the gap.
 */
#define MAX_LOSSES_AT_ONCE (10 * 240 + 3 * 1024)
#define MAX_TIMED_FRAMES 64
/* Maximum size in bytes of a stream that is input byte by byte. A larger stream
 * is input in pieces of 11 bytes, because most of the time of a fuzzing run
 * would otherwise be spent on single bytes.
 */
#define MAX_SINGLE_STEPS 768

#define FRAME_PERIOD G_GUINT64_CONSTANT (40000000)

typedef struct
{
  MpegVideoFramerConfig config;
  gboolean discont;
  guint8 steps[N_STEPS];
  guint8 times[N_TIMES];
  const guint8 *data;
  gsize size;
} Job;

static void
frame_free (gpointer data)
{
  MpegVideoFrame *frame = data;

  g_free (frame->data);
  mpeg_video_frame_clear (frame);
  g_free (frame);
}

/* --- properties of every frame ------------------------------------------ */

static void
check_units (const MpegVideoFrame * frame)
{
  const guint8 *code;
  guint i;

  fuzz_check (frame->n_units > 0 && frame->units[0].offset == 0);
  for (i = 0; i < frame->n_units; i++) {
    gsize end = mpeg_video_frame_unit_end (frame, i);

    fuzz_check (end <= frame->size && frame->units[i].offset + 4 <= end);
    code = frame->data + frame->units[i].offset;
    fuzz_check (code[0] == 0 && code[1] == 0 && code[2] == 1);
    fuzz_check (code[3] == frame->units[i].code);
    /* A start code must be at the start of each unit of the frame, and nowhere
     * else in the frame. */
    code = mpeg_video_find_start_code (code + 4, frame->data + frame->size);
    fuzz_check (code == (i + 1 < frame->n_units ? frame->data + end : NULL));
  }
}

static guint
count_slices (const MpegVideoFrame * frame, guint first, guint end)
{
  guint i, n = 0;

  for (i = first; i < end; i++)
    n += MPEG_VIDEO_CODE_IS_SLICE (frame->units[i].code);
  return n;
}

static void
check_pictures (const MpegVideoFrame * frame)
{
  guint i, unit = 0, n_slices = 0;

  fuzz_check (frame->n_pictures == 1 || frame->n_pictures == 2);
  for (i = 0; i < frame->n_pictures; i++) {
    const MpegVideoFramePicture *p = &frame->pictures[i];

    fuzz_check (p->header.type > MPEG_VIDEO_PICTURE_UNKNOWN
        && p->header.type < MPEG_VIDEO_PICTURE_LAST);
    fuzz_check (p->header.structure >= MPEG_VIDEO_STRUCTURE_TOP_FIELD
        && p->header.structure <= MPEG_VIDEO_STRUCTURE_FRAME);
    fuzz_check (p->first_unit == unit);
    fuzz_check (p->first_unit <= p->picture_unit);
    fuzz_check (frame->units[p->picture_unit].code == MPEG_VIDEO_CODE_PICTURE);
    fuzz_check (p->picture_unit < p->first_slice);
    fuzz_check (p->first_slice <= p->end_unit && p->end_unit <= frame->n_units);
    fuzz_check (p->first_slice == p->end_unit
        || MPEG_VIDEO_CODE_IS_SLICE (frame->units[p->first_slice].code));
    fuzz_check (count_slices (frame, p->picture_unit, p->first_slice) == 0);
    n_slices += count_slices (frame, p->first_slice, p->end_unit);
    unit = p->end_unit;
  }
  fuzz_check (unit == frame->n_units);
  fuzz_check (n_slices == frame->n_slices);
}

static void
check_frame (const Job * job, const MpegVideoFrame * frame)
{
  guint last = frame->units[frame->n_units - 1].code;

  fuzz_check (frame->size > 0 && frame->size <= job->config.max_frame_size);
  check_units (frame);
  check_pictures (frame);
  fuzz_check (!frame->has_sequence
      || !(frame->flags & MPEG_VIDEO_FRAME_NO_SEQUENCE));
  fuzz_check (frame->has_sequence_end ==
      (last == MPEG_VIDEO_CODE_SEQUENCE_END));
  if (job->config.need_sequence)
    fuzz_check (!(frame->flags & MPEG_VIDEO_FRAME_NO_SEQUENCE)
        || frame->units[0].code == MPEG_VIDEO_CODE_SEQUENCE);
}

static gboolean
same_pictures (const MpegVideoFrame * a, const MpegVideoFrame * b)
{
  guint i;

  for (i = 0; i < a->n_pictures; i++) {
    if (memcmp (&a->pictures[i], &b->pictures[i], sizeof (a->pictures[i])))
      return FALSE;
  }
  return a->n_pictures == b->n_pictures;
}

static gboolean
same_frame (const MpegVideoFrame * a, const MpegVideoFrame * b)
{
  return a->size == b->size && memcmp (a->data, b->data, a->size) == 0
      && a->n_units == b->n_units && memcmp (a->units, b->units,
      a->n_units * sizeof (*a->units)) == 0 && same_pictures (a, b)
      && a->n_slices == b->n_slices && a->flags == b->flags
      && a->has_sequence == b->has_sequence
      && a->has_sequence_end == b->has_sequence_end
      && a->has_gop == b->has_gop
      && memcmp (&a->gop, &b->gop, sizeof (a->gop)) == 0
      && memcmp (&a->sequence, &b->sequence, sizeof (a->sequence)) == 0;
}

static gboolean
same_frames (const GPtrArray * a, const GPtrArray * b)
{
  guint i;

  for (i = 0; i < MIN (a->len, b->len); i++) {
    if (!same_frame (g_ptr_array_index (a, i), g_ptr_array_index (b, i)))
      return FALSE;
  }
  return a->len == b->len;
}

/* --- independence of the division ---------------------------------------- */

/* Function that determines how the stream of `job` is divided into inputs. It
 * returns the maximum size in bytes of input number `i`. */
typedef gsize (*StepFunc) (const Job * job, guint i);

static gsize
step_all (const Job * job, guint i)
{
  return job->size;
}

static gsize
step_fuzzed (const Job * job, guint i)
{
  return job->steps[i % N_STEPS];
}

static gsize
step_single (const Job * job, guint i)
{
  return job->size <= MAX_SINGLE_STEPS ? 1 : 11;
}

static gsize
collect (const Job * job, MpegVideoFramer * framer, GPtrArray * frames)
{
  MpegVideoFrame frame;
  gsize bytes = 0;

  while (mpeg_video_framer_poll_output (framer, &frame)) {
    check_frame (job, &frame);
    bytes += frame.size;
    g_ptr_array_add (frames, g_memdup2 (&frame, sizeof (frame)));
  }
  return bytes;
}

static gsize
check_account (const Job * job, MpegVideoFramer * framer, gsize input,
    gsize output)
{
  MpegVideoFramerStats stats;
  gsize known;

  mpeg_video_framer_get_stats (framer, &stats);
  known = output + stats.junk_bytes;
  fuzz_check (known <= input);
  fuzz_check (input - known <= job->config.max_frame_size);
  return input - known;         /* pending */
}

static GPtrArray *
frame_stream (const Job * job, StepFunc step, MpegVideoFramerStats * stats)
{
  GPtrArray *frames = g_ptr_array_new_with_free_func (frame_free);
  MpegVideoFramer *framer = mpeg_video_framer_new (&job->config);
  FuzzInput rest = { job->data, job->size };
  gsize input = 0, output = 0, size;
  guint8 *piece;
  guint i;

  for (i = 0; rest.size > 0; i++) {
    size = MIN (step (job, i), rest.size);
    if (size == 0 && i % N_STEPS == 0)
      /* step () returns the size of the next input. The sizes repeat in a cycle
       * of N_STEPS inputs. If all sizes of the cycle were 0, the loop would
       * never end. To prevent this, the first size of the cycle is replaced if
       * it is 0: the whole rest of the stream then becomes one input. */
      size = rest.size;
    piece = fuzz_take_copy (&rest, size);
    mpeg_video_framer_input (framer, piece, size, MPEG_VIDEO_TIME_NONE,
        MPEG_VIDEO_TIME_NONE);
    g_free (piece);
    input += size;
    output += collect (job, framer, frames);
    check_account (job, framer, input, output);
  }
  mpeg_video_framer_drain (framer);
  output += collect (job, framer, frames);
  check_account (job, framer, input, output);
  mpeg_video_framer_get_stats (framer, stats);
  mpeg_video_framer_discont (framer);
  fuzz_check (check_account (job, framer, input, output) == 0);
  /* The statistics must not depend on how the stream is divided into inputs.
   * The counter junk_bytes does depend on it, because the framer does not count
   * all discarded bytes. The counter is therefore replaced by the real number
   * of discarded bytes, which is the number of input bytes minus the number of
   * output bytes.
   */
  stats->junk_bytes = input - output;
  fuzz_check (stats->frames == frames->len);
  fuzz_check (stats->incomplete <= stats->frames);
  mpeg_video_framer_free (framer);
  return frames;
}

static void
check_same_stats (const MpegVideoFramerStats * a,
    const MpegVideoFramerStats * b)
{
  fuzz_check (memcmp (a, b, sizeof (*a)) == 0);
}

/* Returns whether the size of a frame in the stream is larger than the limit
 * (max_frame_size) minus MAX_STRADDLE bytes.
 *
 * For such a frame, two results depend on how the stream is divided into
 * inputs: whether the framer finds that the frame exceeds the limit, and
 * whether it finds a start code beyond the limit. The results of different
 * divisions are therefore not compared. */
static gboolean
frames_near_limit (const Job * job)
{
  Job stricter = *job;
  MpegVideoFramerStats stats;

  if (job->size < job->config.max_frame_size - MAX_STRADDLE)
    return FALSE;
  stricter.config.max_frame_size -= MAX_STRADDLE;
  g_ptr_array_unref (frame_stream (&stricter, step_all, &stats));
  return stats.too_big > 0;
}

static GPtrArray *
check_cuts (const Job * job)
{
  static const StepFunc cuts[] = { step_fuzzed, step_single };
  MpegVideoFramerStats stats, other;
  GPtrArray *frames = frame_stream (job, step_all, &stats);
  gboolean near_limit = frames_near_limit (job);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cuts); i++) {
    GPtrArray *cut = frame_stream (job, cuts[i], &other);

    if (!near_limit) {
      check_same_stats (&stats, &other);
      fuzz_check (same_frames (frames, cut));
    }
    g_ptr_array_unref (cut);
  }
  return frames;
}

/* --- frames that a parser has already cut out ----------------------------- */

static gboolean
poll_one (MpegVideoFramer * framer, MpegVideoFrame * frame)
{
  MpegVideoFrame more;

  if (!mpeg_video_framer_poll_output (framer, frame))
    return FALSE;
  fuzz_check (!mpeg_video_framer_poll_output (framer, &more));
  return TRUE;
}

/* Inputs the same bytes into two framers and compares the results. Framer
 * `b` copies the bytes. Framer `a` may output a frame that points into the
 * bytes. */
static void
check_piece (const Job * job, MpegVideoFramer * a, MpegVideoFramer * b,
    const guint8 * data, gsize size, guint64 pts)
{
  GPtrArray *of_a = g_ptr_array_new_with_free_func (frame_free);
  GPtrArray *of_b = g_ptr_array_new_with_free_func (frame_free);
  MpegVideoFramerStats stats_a, stats_b;
  MpegVideoFrame frame, same;

  mpeg_video_framer_input (b, data, size, pts, pts);
  mpeg_video_framer_drain (b);
  if (mpeg_video_framer_input_frame (a, data, size, pts, pts, &frame)) {
    fuzz_check (frame.data == data && frame.size == size);
    check_frame (job, &frame);
    fuzz_check (poll_one (b, &same));
    fuzz_check (same_frame (&frame, &same));
    fuzz_check (frame.pts == same.pts && frame.dts == same.dts);
    mpeg_video_frame_clear (&frame);
    mpeg_video_frame_clear (&same);
    g_free (same.data);
  } else {
    mpeg_video_framer_input (a, data, size, pts, pts);
    mpeg_video_framer_drain (a);
    collect (job, a, of_a);
    collect (job, b, of_b);
    fuzz_check (same_frames (of_a, of_b));
  }
  mpeg_video_framer_get_stats (a, &stats_a);
  mpeg_video_framer_get_stats (b, &stats_b);
  check_same_stats (&stats_a, &stats_b);
  g_ptr_array_unref (of_a);
  g_ptr_array_unref (of_b);
}

static void
check_parsed_frames (const Job * job, const GPtrArray * frames)
{
  MpegVideoFramer *a = mpeg_video_framer_new (&job->config);
  MpegVideoFramer *b = mpeg_video_framer_new (&job->config);
  guint i;

  for (i = 0; i < frames->len; i++) {
    const MpegVideoFrame *frame = g_ptr_array_index (frames, i);

    check_piece (job, a, b, frame->data, frame->size, i * FRAME_PERIOD);
  }
  mpeg_video_framer_free (a);
  mpeg_video_framer_free (b);
}

/* Simulates a parser that divides the stream at arbitrary positions and loses
 * bytes. */
static void
check_parsed_pieces (const Job * job)
{
  MpegVideoFramer *a = mpeg_video_framer_new (&job->config);
  MpegVideoFramer *b = mpeg_video_framer_new (&job->config);
  FuzzInput rest = { job->data, job->size };
  guint8 *piece;
  gsize size;
  guint i;

  for (i = 0; rest.size > 0; i++) {
    size = MIN (1 + 8 * (gsize) job->steps[i % N_STEPS], rest.size);
    piece = fuzz_take_copy (&rest, size);
    if (job->discont && i % 3 == 2) {
      mpeg_video_framer_discont (a);
      mpeg_video_framer_discont (b);
    }
    check_piece (job, a, b, piece, size, i * FRAME_PERIOD);
    g_free (piece);
  }
  mpeg_video_framer_free (a);
  mpeg_video_framer_free (b);
}

/* --- the timeline -------------------------------------------------------- */

static guint64
fuzzed_time (guint choice, guint i)
{
  guint64 regular = i * FRAME_PERIOD;
  guint more = choice >> 3;

  switch (choice & 7) {
    case 0:
      return MPEG_VIDEO_TIME_NONE;
    case 1:
      return regular;
    case 2:
      return regular + more * 1000000;
    case 3:
      return regular + (i % 3) * more * FRAME_PERIOD;
    case 4:
      return regular + (G_GUINT64_CONSTANT (1) << 2 * more % 64);
    case 5:
      return MPEG_VIDEO_TIME_NONE - 1 - more;
    case 6:
      return (guint64) G_MAXINT64 + more - 16;
    default:
      return 0;
  }
}

/* Returns whether the test takes `time` for a valid time, which is less than
 * 2^62 ns (more than a century). */
static gboolean
is_time (guint64 time)
{
  return time < G_GUINT64_CONSTANT (1) << 62;
}

static void
check_position (const MpegVideoFrame * frame, const MpegVideoPosition * at)
{
  fuzz_check (at->pts != MPEG_VIDEO_TIME_NONE);
  fuzz_check (at->dts != MPEG_VIDEO_TIME_NONE);
  fuzz_check (at->duration > 0 && at->duration != MPEG_VIDEO_TIME_NONE);
  fuzz_check (at->gop_display_number <= at->display_number + 1024);
  if (is_time (frame->pts))
    fuzz_check (at->pts == frame->pts);
  if (is_time (frame->pts) && is_time (frame->dts))
    fuzz_check (at->dts == frame->dts);
  else if (frame->pts == MPEG_VIDEO_TIME_NONE
      || frame->dts == MPEG_VIDEO_TIME_NONE)
    fuzz_check (at->dts <= at->pts);
}

static guint
count_losses (MpegVideoTimeline * timeline, gint64 * last)
{
  MpegVideoLoss loss;
  guint n = 0;

  while (mpeg_video_timeline_poll_loss (timeline, &loss)) {
    fuzz_check (loss.type < MPEG_VIDEO_PICTURE_LAST);
    fuzz_check (loss.display_number >= 0);
    fuzz_check (loss.frames > 0);
    *last = loss.display_number;
    n += loss.frames;
  }
  return n;
}

static void
check_timeline (const Job * job, const GPtrArray * frames)
{
  MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
  MpegVideoPosition position;
  gint64 last = -1, furthest = 0;
  guint64 losses = 0;
  guint i, n, run;

  for (run = 0; run < 2; run++) {
    for (i = 0; i < MIN (frames->len, MAX_TIMED_FRAMES); i++) {
      MpegVideoFrame *frame = g_ptr_array_index (frames, i);

      frame->pts = fuzzed_time (job->times[3 * i % N_TIMES], i);
      frame->dts = fuzzed_time (job->times[(3 * i + 1) % N_TIMES], i);
      mpeg_video_timeline_input (timeline, frame,
          fuzzed_time (job->times[(3 * i + 2) % N_TIMES], i), &position);
      check_position (frame, &position);
      furthest = MAX (furthest, position.display_number);
      n = count_losses (timeline, &last);
      fuzz_check (n <= MAX_LOSSES_AT_ONCE);
      losses += n;
    }
    mpeg_video_timeline_drain (timeline);
    losses += count_losses (timeline, &last);
    /* No loss is counted twice. */
    fuzz_check (losses <= (guint64) furthest);
    /* After the reset, the loop processes the same frames a second time, to
     * check that the reset leaves the timeline in a valid state. */
    mpeg_video_timeline_reset (timeline);
    losses = 0;
    furthest = 0;
  }
  mpeg_video_timeline_free (timeline);
}

static void
read_job (Job * job, FuzzInput * input)
{
  guint flags = fuzz_take_u8 (input);
  guint limit = fuzz_take_u16 (input);
  guint i;

  memset (job, 0, sizeof (*job));
  job->config.need_sequence = (flags & FLAG_NEED_SEQUENCE) != 0;
  job->config.max_frame_size = flags & FLAG_SMALL_FRAMES ?
      SMALLEST_MAX_FRAME_SIZE + limit % 4096 :
      MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE;
  job->discont = (flags & FLAG_DISCONT) != 0;
  for (i = 0; i < N_STEPS; i++)
    job->steps[i] = fuzz_take_u8 (input);
  for (i = 0; i < N_TIMES; i++)
    job->times[i] = fuzz_take_u8 (input);
  job->data = input->data;
  job->size = input->size;
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  GPtrArray *frames;
  Job job;

  if (size < CONTROL_SIZE)
    return 0;
  read_job (&job, &input);
  frames = check_cuts (&job);
  check_parsed_frames (&job, frames);
  check_parsed_pieces (&job);
  check_timeline (&job, frames);
  g_ptr_array_unref (frames);
  return 0;
}
