/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks MpegVideoTimeline, which numbers each frame in display order and in
 * coding order, and reports each lost frame with its picture type. The expected
 * values were written by hand, or the test computes them from its list of the
 * frames of the stream. */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "mpegvideotimeline.h"

#define NONE MPEG_VIDEO_TIME_NONE
#define MS G_GINT64_CONSTANT (1000000)

/* Returns a frame of the picture type `type` and with the temporal reference
 * `tr`, as the framer (which cuts a stream into frames) would return it. */
static MpegVideoFrame
make_frame (gchar type, guint tr)
{
  MpegVideoFrame frame = { 0 };
  MpegVideoPicture *header = &frame.pictures[0].header;

  header->type = type == 'I' ? 1 : type == 'P' ? 2 : 3;
  header->temporal_reference = tr;
  header->structure = MPEG_VIDEO_STRUCTURE_FRAME;
  frame.n_pictures = 1;
  frame.sequence.width = frame.sequence.height = 32;
  frame.sequence.fps_n = 25;
  frame.sequence.fps_d = 1;
  frame.sequence.mpeg2 = TRUE;
  frame.pts = frame.dts = NONE;
  return frame;
}

/* --- planned streams and their runs -------------------------------------- */

typedef struct
{
  gchar type;
  guint tr;
  gboolean has_gop;
  guint gop;
  /* The correct position of the frame in coding order and in display order. */
  gint64 coding, display;
} Planned;

typedef enum
{
  CLOCK_NONE,                   /* There are no timestamps. */
  CLOCK_MEDIA,                  /* RTP timestamps */
  CLOCK_PTS,                    /* presentation times of a demuxer */
  CLOCK_ARRIVAL                 /* The PTS of each frame is its arrival time. */
} Clock;

typedef struct
{
  gboolean time_codes, gop_headers;
  Clock clock;
  /* TRUE if the first frame after a gap has the flag DISCONT, which an RTP
   * depayloader sets if sequence numbers are missing. */
  gboolean disconts;
} Run;

/* Returns a stream of `n_gops` GOPs, each of `n` frames. Every third frame is
 * an anchor (an I- or P-frame), and the others are B-frames. The first GOP is
 * closed. The other GOPs are open if `open` is TRUE. */
static GArray *
make_plan (guint n_gops, guint n, gboolean open)
{
  GArray *plan = g_array_new (FALSE, FALSE, sizeof (Planned));
  gint64 base = 0, coding = 0;
  guint g, anchor, lead, b, size;

  for (g = 0; g < n_gops; g++) {
    lead = g > 0 && open ? 2 : 0;
    size = g == 0 && open ? n - 2 : n;
    for (anchor = lead; anchor < size; anchor += 3) {
      Planned p = { anchor == lead ? 'I' : 'P', anchor, anchor == lead, g };

      p.display = base + anchor;
      p.coding = coding++;
      g_array_append_val (plan, p);
      for (b = anchor >= 2 ? anchor - 2 : anchor; b < anchor; b++) {
        Planned q = { 'B', b, FALSE, g, 0, base + b };

        q.coding = coding++;
        g_array_append_val (plan, q);
      }
    }
    base += anchor - 2;
  }
  return plan;
}

static void
feed (MpegVideoTimeline * timeline, const Planned * p, const Run * run,
    guint received, gboolean gap, MpegVideoPosition * position)
{
  MpegVideoFrame frame = make_frame (p->type, p->tr);
  guint64 media = NONE;
  gint64 start = p->display - p->tr;

  if (p->has_gop && run->gop_headers) {
    frame.has_gop = TRUE;
    if (run->time_codes) {
      frame.gop.seconds = start / 25 % 60;
      frame.gop.minutes = start / 1500;
      frame.gop.pictures = start % 25;
    }
  }
  if (run->disconts && gap)
    frame.flags |= MPEG_VIDEO_FRAME_DISCONT;
  if (run->clock == CLOCK_MEDIA)
    media = 1000 * MS + p->display * 40 * MS;
  else if (run->clock == CLOCK_PTS)
    frame.pts = 500 * MS + p->display * 40 * MS;
  else if (run->clock == CLOCK_ARRIVAL)
    frame.pts = received * 40 * MS;
  mpeg_video_timeline_input (timeline, &frame, media, position);
}

/* Passes the frames of `plan` to MpegVideoTimeline, but leaves out `count`
 * frames, beginning with the frame of index `first`. Checks the number and the
 * types of the lost frames that MpegVideoTimeline reports, and the positions of
 * all frames that were passed. */
static void
check_losses (GArray * plan, guint first, guint count, const Run * run)
{
  MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
  gint lost[256] = { 0 };
  MpegVideoPosition position;
  MpegVideoLoss loss;
  guint i, found = 0;

  for (i = 0; i < plan->len; i++) {
    const Planned *p = &g_array_index (plan, Planned, i);

    if (i >= first && i < first + count) {
      lost[(guint) p->type]++;
      continue;
    }
    feed (timeline, p, run, i, count > 0 && i == first + count, &position);
    fail_unless (position.display_number == p->display,
        "without %u to %u: frame %u (%c%u) at display %d, not %d", first,
        first + count - 1, i, p->type, p->tr, (gint) position.display_number,
        (gint) p->display);
    fail_unless (position.coding_number == p->coding,
        "without %u to %u: frame %u (%c%u) at coding %d, not %d", first,
        first + count - 1, i, p->type, p->tr, (gint) position.coding_number,
        (gint) p->coding);
  }
  mpeg_video_timeline_drain (timeline);
  while (mpeg_video_timeline_poll_loss (timeline, &loss)) {
    for (i = 0; i < MPEG_VIDEO_PICTURE_LAST; i++)
      lost[(guint) mpeg_video_picture_type_char (i)] -= loss.by_type[i];
    found += loss.frames;
  }
  fail_unless (!lost['I'] && !lost['P'] && !lost['B'] && !lost['?'],
      "without %u to %u: %u losses found, off by I %d P %d B %d ? %d", first,
      first + count - 1, found, lost['I'], lost['P'], lost['B'], lost['?']);
  mpeg_video_timeline_free (timeline);
}

/* --- losses -------------------------------------------------------------- */

static const Run with_time_codes = { TRUE, TRUE, CLOCK_NONE };
static const Run without_time_codes = { FALSE, TRUE, CLOCK_NONE };
static const Run media_clock = { FALSE, TRUE, CLOCK_MEDIA };
static const Run demuxer_times = { FALSE, TRUE, CLOCK_PTS };
static const Run arrival_times = { TRUE, TRUE, CLOCK_ARRIVAL };

GST_START_TEST (nothing_lost_nothing_reported)
{
  const Run *runs[] = { &with_time_codes, &without_time_codes, &media_clock,
    &demuxer_times, &arrival_times
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (runs); i++) {
    GArray *open = make_plan (6, 15, TRUE), *closed = make_plan (6, 13, FALSE);

    check_losses (open, 0, 0, runs[i]);
    check_losses (closed, 0, 0, runs[i]);
    g_array_unref (open);
    g_array_unref (closed);
  }
}

GST_END_TEST;

/* In each pass of the inner loop, another frame of the stream is lost. If the
 * lost frame is an I-frame, its GOP header is lost with it. The last three
 * frames of the stream are never lost, because no later frame would show that
 * they are missing. */
GST_START_TEST (any_single_frame_lost_is_found_with_its_type)
{
  const Run *runs[] = { &with_time_codes, &media_clock, &demuxer_times,
    &arrival_times
  };
  GArray *plan = make_plan (8, 15, TRUE);
  guint i, run;

  for (run = 0; run < G_N_ELEMENTS (runs); run++) {
    for (i = 0; i < plan->len - 3; i++)
      check_losses (plan, i, 1, runs[run]);
  }
  g_array_unref (plan);
}

GST_END_TEST;

/* The frames have no timestamps, but MpegVideoTimeline has learned the pattern
 * of the GOP: the number and types of its frames. In each pass of the loop, a
 * different frame is lost. MpegVideoTimeline must detect the loss by means of
 * the pattern. */
GST_START_TEST (any_single_frame_lost_is_found_by_the_pattern)
{
  GArray *plan = make_plan (9, 15, TRUE);
  guint i;

  for (i = 60; i < plan->len - 18; i++)
    check_losses (plan, i, 1, &without_time_codes);
  g_array_unref (plan);
}

GST_END_TEST;

GST_START_TEST (bursts_over_gop_boundaries_are_counted)
{
  const guint counts[] = { 2, 3, 5, 10, 15, 30, 47, 90 };
  GArray *plan = make_plan (20, 15, TRUE);
  guint i, c;

  for (c = 0; c < G_N_ELEMENTS (counts); c++) {
    for (i = 60; i < 80; i++) {
      check_losses (plan, i, counts[c], &media_clock);
      check_losses (plan, i, counts[c], &demuxer_times);
    }
  }
  g_array_unref (plan);
}

GST_END_TEST;

/* One sender stops in the middle of a GOP, and another sender begins. The
 * numbers of the frames in display order must continue without a gap, and no
 * loss must be reported. */
GST_START_TEST (a_new_stream_goes_on_from_the_old_one)
{
  GArray *plan = make_plan (6, 15, TRUE);
  guint cut;

  for (cut = 40; cut < 60; cut++) {
    MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
    MpegVideoPosition position;
    MpegVideoLoss loss;
    gint64 top = 0;
    guint i;

    for (i = 0; i < cut; i++) {
      feed (timeline, &g_array_index (plan, Planned, i), &media_clock, i, FALSE,
          &position);
      top = MAX (top, position.display_number);
    }
    while (mpeg_video_timeline_poll_loss (timeline, &loss));
    for (i = 0; i < plan->len; i++) {
      const Planned *p = &g_array_index (plan, Planned, i);
      MpegVideoFrame frame = make_frame (p->type, p->tr);

      frame.has_gop = p->has_gop;
      if (i == 0)
        frame.flags |= MPEG_VIDEO_FRAME_DISCONT | MPEG_VIDEO_FRAME_RESYNC;
      mpeg_video_timeline_input (timeline, &frame,
          5 * MS + p->display * 40 * MS, &position);
      fail_unless_equals_int64 (position.display_number, top + 1 + p->display);
    }
    mpeg_video_timeline_drain (timeline);
    fail_unless (!mpeg_video_timeline_poll_loss (timeline, &loss));
    mpeg_video_timeline_free (timeline);
  }
  g_array_unref (plan);
}

GST_END_TEST;

/* An RTP receiver loses frames directly after its first frames. It has not
 * received a complete GOP yet, so it does not know the length of a GOP. The
 * temporal references may continue as if no frame were missing. Only the RTP
 * timestamps then show the loss. */
GST_START_TEST (early_bursts_are_counted_by_the_media_clock)
{
  const Run run = { TRUE, TRUE, CLOCK_MEDIA, TRUE };
  GArray *closed = make_plan (12, 10, FALSE), *open = make_plan (12, 15, TRUE);
  MpegVideoTimeline *timeline;
  MpegVideoPosition position;
  MpegVideoLoss loss;
  guint first, count, i, lost;

  for (first = 1; first < 8; first++) {
    for (count = 20; count <= 60; count += 10) {
      for (i = 0; i < 2; i++) {
        GArray *plan = i ? open : closed;
        guint n;

        timeline = mpeg_video_timeline_new ();
        for (n = 0, lost = 0; n < plan->len; n++) {
          const Planned *p = &g_array_index (plan, Planned, n);

          if (n >= first && n < first + count)
            continue;
          feed (timeline, p, &run, n, n == first + count, &position);
          fail_unless_equals_int64 (position.display_number, p->display);
        }
        mpeg_video_timeline_drain (timeline);
        while (mpeg_video_timeline_poll_loss (timeline, &loss))
          lost += loss.frames;
        fail_unless_equals_int (lost, count);
        mpeg_video_timeline_free (timeline);
      }
    }
  }
  g_array_unref (closed);
  g_array_unref (open);
}

GST_END_TEST;

/* In each pass of the loop, one frame of the first GOP is lost. This GOP has
 * 151 frames, so MpegVideoTimeline has not learned a GOP pattern yet.
 * MpegVideoTimeline must therefore derive the type of the lost frame from the
 * received frames before and after it. The anchors (I- and P-frames) of this
 * GOP are three frames apart. A scene cut follows one frame after the last
 * anchor of this GOP. */
GST_START_TEST (losses_in_a_long_gop_are_typed_by_their_neighbours)
{
  GArray *plan = make_plan (1, 151, FALSE);
  GArray *cut = make_plan (1, 16, FALSE);
  const Run run = { FALSE, TRUE, CLOCK_NONE };
  guint i;

  for (i = 0; i < cut->len; i++) {
    Planned p = g_array_index (cut, Planned, i);

    p.gop = 1;
    p.display += 151;
    p.coding += 151;
    g_array_append_val (plan, p);
  }
  for (i = 1; i < 148; i++)
    check_losses (plan, i, 1, &run);
  g_array_unref (plan);
  g_array_unref (cut);
}

GST_END_TEST;

/* An anchor is an I- or P-frame. Some encoders use more B-frames between two
 * anchors for some pictures than for others (b_strategy of x264 and FFmpeg).
 * When the number of B-frames changes, MpegVideoTimeline must not report a
 * loss. MpegVideoTimeline numbers the frames in coding order. These numbers
 * must increase by 1 from frame to frame. */
GST_START_TEST (adaptive_b_frames_are_no_loss)
{
  MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
  GRand *random = g_rand_new_with_seed (5);
  MpegVideoPosition position;
  MpegVideoLoss loss;
  gint64 start, coding = 0;
  guint gop, last, anchor, b;

  for (gop = 0, start = 0; gop < 40; gop++, start += 15) {
    /* This GOP is closed: its frames refer to no other GOP. Each anchor (I- or
     * P-frame) except the first one is followed by the B-frames that are shown
     * before it. No B-frames follow the first anchor, because there is no
     * earlier picture to which they could refer. */
    for (last = anchor = 0; anchor < 15;) {
      MpegVideoFrame frame = make_frame (anchor ? 'P' : 'I', anchor);

      frame.has_gop = anchor == 0;
      mpeg_video_timeline_input (timeline, &frame, NONE, &position);
      fail_unless_equals_int64 (position.display_number, start + anchor);
      fail_unless_equals_int64 (position.coding_number, coding++);
      for (b = last + 1; b < anchor; b++) {
        frame = make_frame ('B', b);
        mpeg_video_timeline_input (timeline, &frame, NONE, &position);
        fail_unless_equals_int64 (position.display_number, start + b);
        fail_unless_equals_int64 (position.coding_number, coding++);
      }
      last = anchor;
      anchor += gop == 0 && anchor < 2 ? 1 : g_rand_int_range (random, 1, 4);
      if (last < 14 && anchor > 14)
        anchor = 14;
    }
  }
  mpeg_video_timeline_drain (timeline);
  fail_unless (!mpeg_video_timeline_poll_loss (timeline, &loss));
  g_rand_free (random);
  mpeg_video_timeline_free (timeline);
}

GST_END_TEST;

/* If a GOP header is lost, the frames after it must keep their numbers. In the
 * measurements of Ouwens (2006, section 3.8), lost GOP headers changed the
 * numbers of frames, so the measured latencies were wrong. The function
 * check_losses () checks the number of each frame. */
GST_START_TEST (a_lost_gop_header_shifts_nothing)
{
  GArray *plan = make_plan (8, 15, TRUE);
  guint i;

  for (i = 13; i < plan->len - 3; i++) {
    if (g_array_index (plan, Planned, i).has_gop) {
      check_losses (plan, i, 1, &with_time_codes);
      check_losses (plan, i, 4, &with_time_codes);
      check_losses (plan, i, 1, &media_clock);
    }
  }
  g_array_unref (plan);
}

GST_END_TEST;

/* MpegVideoTimeline must detect time codes that do not advance or that jump,
 * and must ignore them. */
GST_START_TEST (lying_time_codes_lose_nothing)
{
  GArray *plan = make_plan (6, 15, TRUE);
  MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
  MpegVideoPosition position;
  MpegVideoLoss loss;
  guint i;

  for (i = 0; i < plan->len; i++) {
    const Planned *p = &g_array_index (plan, Planned, i);
    MpegVideoFrame frame = make_frame (p->type, p->tr);

    frame.has_gop = p->has_gop;
    frame.gop.hours = p->gop * 7 % 24;
    mpeg_video_timeline_input (timeline, &frame, NONE, &position);
    fail_unless_equals_int64 (position.display_number, p->display);
  }
  mpeg_video_timeline_drain (timeline);
  fail_unless (!mpeg_video_timeline_poll_loss (timeline, &loss));
  mpeg_video_timeline_free (timeline);
  g_array_unref (plan);
}

GST_END_TEST;

/* The timestamps jump in the middle of the stream, because the sender changes
 * its clock, pauses, or skips frames before it encodes them. MpegVideoTimeline
 * must still number the frames without a gap, and must not report a loss. The
 * length of a jump is never a whole number of GOPs, because such a jump would
 * look like a loss of these GOPs. */
GST_START_TEST (a_clock_that_jumps_loses_nothing)
{
  const guint jumps[] = { 1, 2, 13, 25, 250, 77777 };
  GArray *plan = make_plan (8, 15, TRUE);
  guint i, jump, at, codes;

  for (codes = 0; codes < 2; codes++)
    for (jump = 0; jump < G_N_ELEMENTS (jumps); jump++)
      for (at = 60; at < 80; at++) {
        MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
        MpegVideoPosition position;
        MpegVideoLoss loss;

        for (i = 0; i < plan->len; i++) {
          const Planned *p = &g_array_index (plan, Planned, i);
          MpegVideoFrame frame = make_frame (p->type, p->tr);
          gint64 time = p->display + (i < at ? 0 : jumps[jump]);
          gint64 start = p->display - p->tr;

          frame.has_gop = p->has_gop;
          if (codes) {
            frame.gop.seconds = start / 25;
            frame.gop.pictures = start % 25;
          }
          mpeg_video_timeline_input (timeline, &frame,
              1000 * MS + time * 40 * MS, &position);
          fail_unless_equals_int64 (position.display_number, p->display);
        }
        mpeg_video_timeline_drain (timeline);
        fail_unless (!mpeg_video_timeline_poll_loss (timeline, &loss));
        mpeg_video_timeline_free (timeline);
      }
  g_array_unref (plan);
}

GST_END_TEST;

/* ISO/IEC 13818-2 6.3.9: the temporal reference of a frame normally begins anew
 * after each GOP header. Without GOP headers it continues to count, modulo
 * 1024. */
GST_START_TEST (references_wrap_without_gop_headers)
{
  MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
  MpegVideoPosition position;
  MpegVideoLoss loss;
  guint n, b;

  for (n = 0; n < 4000; n += 3) {
    MpegVideoFrame frame = make_frame (n % 15 == 0 ? 'I' : 'P', n % 1024);

    mpeg_video_timeline_input (timeline, &frame, NONE, &position);
    fail_unless_equals_int64 (position.display_number, n);
    for (b = n < 3 ? n : n - 2; b < n; b++) {
      if (b == 2000)
        continue;
      frame = make_frame ('B', b % 1024);
      mpeg_video_timeline_input (timeline, &frame, NONE, &position);
      fail_unless_equals_int64 (position.display_number, b);
    }
  }
  mpeg_video_timeline_drain (timeline);
  fail_unless (mpeg_video_timeline_poll_loss (timeline, &loss));
  fail_unless_equals_int64 (loss.display_number, 2000);
  fail_unless_equals_int (loss.type, MPEG_VIDEO_PICTURE_B);
  fail_unless (!mpeg_video_timeline_poll_loss (timeline, &loss));
  mpeg_video_timeline_free (timeline);
}

GST_END_TEST;

/* The stream has 24 GOPs. The first GOP has 13 frames, and each other GOP has
 * 15 frames. The first five GOPs arrive, and the next twelve GOPs are lost.
 * MpegVideoTimeline must report all lost frames as one loss. */
GST_START_TEST (a_long_gap_is_one_range)
{
  GArray *plan = make_plan (24, 15, TRUE);
  MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
  MpegVideoPosition position;
  MpegVideoLoss loss;
  guint i;

  for (i = 0; i < plan->len; i++) {
    const Planned *p = &g_array_index (plan, Planned, i);

    if (p->gop < 5 || p->gop > 16)
      feed (timeline, p, &media_clock, i, FALSE, &position);
  }
  mpeg_video_timeline_drain (timeline);
  fail_unless (mpeg_video_timeline_poll_loss (timeline, &loss));
  fail_unless_equals_int64 (loss.display_number, 13 + 4 * 15);
  fail_unless_equals_int (loss.frames, 12 * 15);
  fail_unless_equals_int (loss.type, MPEG_VIDEO_PICTURE_UNKNOWN);
  fail_unless_equals_uint64 (loss.by_type[MPEG_VIDEO_PICTURE_I], 12);
  fail_unless_equals_uint64 (loss.by_type[MPEG_VIDEO_PICTURE_P], 12 * 4);
  fail_unless_equals_uint64 (loss.by_type[MPEG_VIDEO_PICTURE_B], 12 * 10);
  fail_unless (!mpeg_video_timeline_poll_loss (timeline, &loss));
  mpeg_video_timeline_free (timeline);
  g_array_unref (plan);
}

GST_END_TEST;

/* If a gap in the RTP timestamps is at most ten seconds (here 250 frames),
 * MpegVideoTimeline must report the missing frames as lost. A longer gap must
 * count as the beginning of a new stream, without lost frames. */
GST_START_TEST (a_gap_of_more_than_ten_seconds_is_a_new_beginning)
{
  const guint gops[] = { 16, 17 };
  const gint64 lost[] = { 16 * 15, 0 };
  GArray *plan = make_plan (30, 15, TRUE);
  const Run run = { FALSE, TRUE, CLOCK_MEDIA, TRUE };
  guint i, n;

  for (n = 0; n < G_N_ELEMENTS (gops); n++) {
    MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
    MpegVideoPosition position;
    MpegVideoLoss loss;
    gint64 found = 0;
    gboolean gap = FALSE;

    for (i = 0; i < plan->len; i++) {
      const Planned *p = &g_array_index (plan, Planned, i);

      if (p->gop >= 5 && p->gop < 5 + gops[n]) {
        gap = TRUE;
        continue;
      }
      feed (timeline, p, &run, i, gap, &position);
      gap = FALSE;
    }
    mpeg_video_timeline_drain (timeline);
    while (mpeg_video_timeline_poll_loss (timeline, &loss))
      found += loss.frames;
    fail_unless_equals_int64 (found, lost[n]);
    mpeg_video_timeline_free (timeline);
  }
  g_array_unref (plan);
}

GST_END_TEST;

/* An attacker who knows the SSRC of the stream sends forged RTP packets, one
 * per 100 frames of the stream. Each forged packet contains a picture with a
 * timestamp that is 251 to 70,000 frames too high. For each forged picture,
 * MpegVideoTimeline may report at most ten seconds of lost frames, in at most
 * 64 ranges. */
GST_START_TEST (forged_timestamps_lose_seconds_at_most)
{
  const guint n_forged = 8, every = 100;
  const gint64 ahead[] = { 65000, 70000, 30000, 1000, 251, 65535, 4096, 20000 };
  GArray *plan = make_plan (60, 15, TRUE);
  MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
  MpegVideoPosition position;
  MpegVideoLoss loss;
  guint i, forged = 0, reported = 0;
  gint64 highest = 0;

  for (i = 0; i < plan->len; i++) {
    const Planned *p = &g_array_index (plan, Planned, i);

    if (i % every == every - 1 && forged < n_forged) {
      MpegVideoFrame frame = make_frame ('I', 2);

      frame.has_gop = TRUE;
      frame.flags |= MPEG_VIDEO_FRAME_DISCONT;
      mpeg_video_timeline_input (timeline, &frame,
          1000 * MS + (p->display + ahead[forged++]) * 40 * MS, &position);
    }
    feed (timeline, p, &media_clock, i, FALSE, &position);
    highest = MAX (highest, position.display_number);
    while (mpeg_video_timeline_poll_loss (timeline, &loss))
      reported++;
  }
  mpeg_video_timeline_drain (timeline);
  while (mpeg_video_timeline_poll_loss (timeline, &loss))
    reported++;
  fail_unless_equals_int (forged, n_forged);
  fail_unless (highest <= plan->len + n_forged * 10 * 25,
      "%u frames take %" G_GINT64_FORMAT " places", plan->len, highest);
  fail_unless (reported <= n_forged * 64, "%u losses reported", reported);
  mpeg_video_timeline_free (timeline);
  g_array_unref (plan);
}

GST_END_TEST;

/* Each time that MpegVideoTimeline receives a frame, it may report that frames
 * before it were lost. This is the maximum number of lost frames that it may
 * report at one time. The temporal references and the timestamps of this test
 * are random, so they often jump. The maximum is the sum of two numbers:
 * - 250 frames, which are ten seconds. A longer gap counts as a new stream.
 * - 3 * 1024 frames. A random temporal reference has any value from 0 to 1023.
 *   It can therefore make a gap up to 1024 frames longer. The temporal
 *   references of three frames can have this effect on one gap: the first frame
 *   of the stream, the second frame after a jump of the temporal references or
 *   timestamps, and the frame at the end of the gap. */
#define MAX_LOSSES_AT_ONCE (10 * 25 + 3 * 1024)

/* All frames have random types and temporal references, and some have random
 * GOP headers or timestamps. No position in display order may be negative, and
 * no frame may cause more than MAX_LOSSES_AT_ONCE lost frames. A memory checker
 * detects accesses beyond the end of an array. */
GST_START_TEST (any_temporal_references_are_survived)
{
  MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
  GRand *random = g_rand_new_with_seed (3);
  MpegVideoPosition position;
  MpegVideoLoss loss;
  guint64 losses;
  guint i;

  for (i = 0; i < 20000; i++) {
    MpegVideoFrame frame = make_frame ("IPB"[g_rand_int_range (random, 0, 3)],
        g_rand_int_range (random, 0, 1024));

    frame.has_gop = i % 5000 > 2500 && g_rand_int_range (random, 0, 9) == 0;
    frame.gop.minutes = g_rand_int_range (random, 0, 60);
    mpeg_video_timeline_input (timeline, &frame, i % 3 ? NONE :
        (guint64) g_rand_int (random) << g_rand_int_range (random, 0, 33),
        &position);
    fail_unless (position.display_number >= 0);
    losses = 0;
    while (mpeg_video_timeline_poll_loss (timeline, &loss))
      losses += loss.frames;
    fail_unless (losses <= MAX_LOSSES_AT_ONCE,
        "frame %u shows %" G_GUINT64_FORMAT " losses", i, losses);
    if (i % 1000 == 999)
      mpeg_video_timeline_reset (timeline);
  }
  g_rand_free (random);
  mpeg_video_timeline_free (timeline);
}

GST_END_TEST;

/* --- times --------------------------------------------------------------- */

typedef struct
{
  gchar type;
  guint tr;
  gboolean gop;
  gint dts, pts;                /* ms */
} Times;

static void
check_times (const Times * times, guint n, gboolean low_delay)
{
  MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
  MpegVideoPosition position;
  guint i;

  for (i = 0; i < n; i++) {
    MpegVideoFrame frame = make_frame (times[i].type, times[i].tr);

    frame.has_gop = times[i].gop;
    frame.sequence.low_delay = low_delay;
    mpeg_video_timeline_input (timeline, &frame, NONE, &position);
    fail_unless_equals_int64 (position.dts, times[i].dts * MS);
    fail_unless_equals_int64 (position.pts, times[i].pts * MS);
    fail_unless_equals_int64 (position.pts_90khz, times[i].pts * 90);
    fail_unless_equals_int64 (position.expected, times[i].dts * MS);
  }
  mpeg_video_timeline_free (timeline);
}

/* ISO/IEC 13818-1, decoder model: an anchor (I- or P-frame) is shown when the
 * next anchor is decoded. A B-frame is shown when it is decoded. */
GST_START_TEST (times_of_an_open_gop_stream)
{
  const Times times[] = {
    {'I', 0, TRUE, 0, 40}, {'P', 3, FALSE, 40, 160}, {'B', 1, FALSE, 80, 80},
    {'B', 2, FALSE, 120, 120}, {'I', 2, TRUE, 160, 280},
    {'B', 0, FALSE, 200, 200}, {'B', 1, FALSE, 240, 240},
    {'P', 5, FALSE, 280, 400}, {'B', 3, FALSE, 320, 320},
  };

  check_times (times, G_N_ELEMENTS (times), FALSE);
}

GST_END_TEST;

GST_START_TEST (times_without_b_frames)
{
  const Times times[] = {
    {'I', 0, TRUE, 0, 40}, {'P', 1, FALSE, 40, 80}, {'P', 2, FALSE, 80, 120},
    {'I', 0, TRUE, 120, 160},
  };
  const Times low_delay[] = {
    {'I', 0, TRUE, 0, 0}, {'P', 1, FALSE, 40, 40}, {'P', 2, FALSE, 80, 80},
    {'I', 0, TRUE, 120, 120},
  };

  check_times (times, G_N_ELEMENTS (times), FALSE);
  check_times (low_delay, G_N_ELEMENTS (low_delay), TRUE);
}

GST_END_TEST;

/* 3:2 pulldown shows film of 24 frames per second as interlaced video of
 * 30000/1001 frames per second. A film frame lasts three or two fields in turn,
 * so two film frames last five fields. In display order the frames last 3, 2,
 * 3, 2 ... fields, and their flag top_field_first is 1, 0, 0, 1. */
GST_START_TEST (times_of_three_two_pulldown)
{
  MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
  MpegVideoPosition position;
  guint fields[400] = { 0 };
  guint n, b, i;

  for (i = 1; i < G_N_ELEMENTS (fields); i++)
    fields[i] = fields[i - 1] + (i % 2 ? 3 : 2);

  for (n = 0; n < 300; n += 3) {
    guint order[3] = { n, n - 2, n - 1 };
    guint count = n == 0 ? 1 : 3;

    for (b = 0; b < count; b++) {
      guint display = order[b];
      MpegVideoFrame frame = make_frame (b ? 'B' : n % 15 ? 'P' : 'I', display);
      MpegVideoPicture *header = &frame.pictures[0].header;
      guint64 expected;

      frame.sequence.fps_n = 30000;
      frame.sequence.fps_d = 1001;
      header->has_extension = TRUE;
      header->progressive_frame = TRUE;
      header->repeat_first_field = display % 2 == 0;
      header->top_field_first = fields[display] % 2 == 0;
      header->temporal_reference = display % 1024;
      mpeg_video_timeline_input (timeline, &frame, NONE, &position);
      /* The expected PTS of the frame. The first frame of the stream is shown
       * one frame period (two fields) after it is decoded, and the other frames
       * follow it. */
      expected = (2 + fields[display]) * G_GUINT64_CONSTANT (1001000000) / 60;
      /* The first four frames are one I-frame, one P-frame and two B-frames.
       * Their PTS may be inexact, because MpegVideoTimeline has not received
       * enough frames yet. */
      if (n > 3)
        fail_unless (ABS ((gint64) (position.pts - expected)) <= 1,
            "frame %u: PTS %" G_GUINT64_FORMAT " not %" G_GUINT64_FORMAT,
            display, position.pts, expected);
      fail_unless (position.dts <= position.pts);
      fail_unless_equals_int64 ((position.duration + 500) / 1000,
          ((display % 2 == 0 ? 3 : 2) * 1001000000ll / 60 + 500) / 1000);
    }
  }
  mpeg_video_timeline_free (timeline);
}

GST_END_TEST;

GST_START_TEST (upstream_times_are_kept_and_completed)
{
  MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
  MpegVideoPosition position;
  MpegVideoFrame frame;

  /* both: kept */
  frame = make_frame ('I', 0);
  frame.has_gop = TRUE;
  frame.pts = 10040 * MS;
  frame.dts = 10000 * MS;
  mpeg_video_timeline_input (timeline, &frame, NONE, &position);
  fail_unless_equals_uint64 (position.pts, 10040 * MS);
  fail_unless_equals_uint64 (position.dts, 10000 * MS);
  fail_unless_equals_uint64 (position.expected, 0);
  /* This frame has a DTS but no PTS, like the output of mpegvideoparse. */
  frame = make_frame ('P', 3);
  frame.dts = 10040 * MS;
  mpeg_video_timeline_input (timeline, &frame, NONE, &position);
  fail_unless_equals_uint64 (position.pts, 10160 * MS);
  fail_unless_equals_uint64 (position.dts, 10040 * MS);
  /* PTS only */
  frame = make_frame ('B', 1);
  frame.pts = 10080 * MS;
  mpeg_video_timeline_input (timeline, &frame, NONE, &position);
  fail_unless_equals_uint64 (position.pts, 10080 * MS);
  fail_unless_equals_uint64 (position.dts, 10080 * MS);
  /* This frame has no timestamp. Its PTS must be one frame period later than
   * the PTS of the previous frame. */
  frame = make_frame ('B', 2);
  mpeg_video_timeline_input (timeline, &frame, NONE, &position);
  fail_unless_equals_uint64 (position.pts, 10120 * MS);
  mpeg_video_timeline_free (timeline);
}

GST_END_TEST;

GST_START_TEST (a_change_of_rate_keeps_what_was)
{
  MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
  MpegVideoPosition position;
  MpegVideoFrame frame;
  guint i;

  for (i = 0; i < 10; i++) {
    frame = make_frame (i ? 'P' : 'I', i);
    frame.has_gop = i == 0;
    mpeg_video_timeline_input (timeline, &frame, NONE, &position);
    fail_unless_equals_uint64 (position.pts, (i + 1) * 40 * MS);
  }
  for (i = 0; i < 10; i++) {
    frame = make_frame (i ? 'P' : 'I', i);
    frame.has_gop = i == 0;
    frame.sequence.fps_n = 50;
    mpeg_video_timeline_input (timeline, &frame, NONE, &position);
    fail_unless_equals_uint64 (position.pts, 400 * MS + (i + 1) * 20 * MS);
  }
  mpeg_video_timeline_free (timeline);
}

GST_END_TEST;

/* Passes a stream of 120 frames to MpegVideoTimeline. The temporal references
 * of eight frames, from frame 100 on, are wrong. If `clocked` is TRUE, all
 * frames have correct timestamps. If `has_gop` is TRUE, these eight frames have
 * GOP headers. The other frames never have GOP headers. Returns the number of
 * frames that MpegVideoTimeline reports as lost. */
static gint64
lose_by_wild_references (gboolean clocked, gboolean has_gop,
    gint64 * max_gap, gint64 * last_display)
{
  MpegVideoTimeline *timeline = mpeg_video_timeline_new ();
  MpegVideoPosition position;
  MpegVideoLoss loss;
  gint64 lost = 0;
  guint i;

  *max_gap = 0;
  for (i = 0; i < 120; i++) {
    gboolean is_forged = i >= 100 && i < 108;
    MpegVideoFrame frame = make_frame (i % 12 ? 'P' : 'I',
        !is_forged ? i : i % 2 ? 100 : 1020);

    frame.has_gop = has_gop && is_forged;
    mpeg_video_timeline_input (timeline, &frame,
        clocked ? 1000 * MS + i * 40 * MS : NONE, &position);
  }
  *last_display = position.display_number;
  mpeg_video_timeline_drain (timeline);
  while (mpeg_video_timeline_poll_loss (timeline, &loss)) {
    lost += loss.frames;
    *max_gap = MAX (*max_gap, loss.frames);
  }
  mpeg_video_timeline_free (timeline);
  return lost;
}

GST_START_TEST (wild_references_without_gop_headers_lose_seconds_at_most)
{
  gint64 max_gap, last;

  /* The frames have timestamps, which show that no frame is missing. Some
   * temporal references are wrong, and suggest a loss. MpegVideoTimeline must
   * trust the timestamps and must not report any lost frame. */
  fail_unless_equals_int64 (lose_by_wild_references (TRUE, FALSE, &max_gap,
          &last), 0);
  fail_unless_equals_int64 (last, 119);
  /* Without timestamps, MpegVideoTimeline cannot exclude that frames were lost.
   * It may therefore report lost frames before each of the eight frames with
   * wrong temporal references. Each time it may report at most 250 lost frames,
   * the number of frames in ten seconds. */
  fail_unless (lose_by_wild_references (FALSE, FALSE, &max_gap, &last) <=
      8 * 250);
  fail_unless (max_gap <= 250, "a gap of %d frames", (gint) max_gap);
  lose_by_wild_references (FALSE, TRUE, &max_gap, &last);
  fail_unless (max_gap <= 250, "a gap of %d frames", (gint) max_gap);
}

GST_END_TEST;

static Suite *
mpegvideotimeline_suite (void)
{
  Suite *s = suite_create ("mpegvideotimeline");
  TCase *losses = tcase_create ("losses");
  TCase *times = tcase_create ("times");

  suite_add_tcase (s, losses);
  tcase_add_test (losses, nothing_lost_nothing_reported);
  tcase_add_test (losses, any_single_frame_lost_is_found_with_its_type);
  tcase_add_test (losses, any_single_frame_lost_is_found_by_the_pattern);
  tcase_add_test (losses, bursts_over_gop_boundaries_are_counted);
  tcase_add_test (losses, a_new_stream_goes_on_from_the_old_one);
  tcase_add_test (losses, early_bursts_are_counted_by_the_media_clock);
  tcase_add_test (losses, losses_in_a_long_gop_are_typed_by_their_neighbours);
  tcase_add_test (losses, adaptive_b_frames_are_no_loss);
  tcase_add_test (losses, a_lost_gop_header_shifts_nothing);
  tcase_add_test (losses, lying_time_codes_lose_nothing);
  tcase_add_test (losses, a_clock_that_jumps_loses_nothing);
  tcase_add_test (losses, a_long_gap_is_one_range);
  tcase_add_test (losses, a_gap_of_more_than_ten_seconds_is_a_new_beginning);
  tcase_add_test (losses, forged_timestamps_lose_seconds_at_most);
  tcase_add_test (losses,
      wild_references_without_gop_headers_lose_seconds_at_most);
  tcase_add_test (losses, any_temporal_references_are_survived);
  tcase_add_test (losses, references_wrap_without_gop_headers);

  suite_add_tcase (s, times);
  tcase_add_test (times, times_of_an_open_gop_stream);
  tcase_add_test (times, times_without_b_frames);
  tcase_add_test (times, times_of_three_two_pulldown);
  tcase_add_test (times, upstream_times_are_kept_and_completed);
  tcase_add_test (times, a_change_of_rate_keeps_what_was);
  return s;
}

GST_CHECK_MAIN (mpegvideotimeline);
