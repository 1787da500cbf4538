/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the algorithms of IFD (I-Frame Delay) with random streams. Each stream
 * consists of random GOPs, and the test knows to which frames each frame
 * refers. The channel to the receiver is fast, slow or interrupted, so that
 * frames wait in the queue W and have to be dropped. In addition, parts of the
 * stream are missing, new receivers join, streams end, and the size of W
 * changes. After each step, the test checks the properties that must hold for
 * every stream.
 */

#include <gst/check/gstcheck.h>

#include "ifd.h"
#include "seededdraw.h"

#define N_RUNS 200
#define N_GOPS 24
/* Frame index that means "no frame", for example for a reference to a frame
 * that is not part of the stream. */
#define MISSING -1
#define MAX_REFERENCES 3

/* must_hold (condition) is a fast replacement for fail_unless. fail_unless
 * writes to a pipe at each call, which would take most of the time of this
 * test. must_hold writes only if the condition is false. */
#define must_hold(condition) G_STMT_START { \
  if (G_UNLIKELY (!(condition))) \
    fail ("%s", #condition); \
} G_STMT_END

/* Source of the random numbers of one run, all of which follow from `seed` */
typedef struct
{
  guint64 seed, count;
} Draws;

static guint
draw_below (Draws * draws, guint n)
{
  return seeded_draw_below (seeded_draw (draws->seed, 0, 0, draws->count++, 0),
      n);
}

static gboolean
draw_hits (Draws * draws, guint percent)
{
  return draw_below (draws, 100) < percent;
}

/* --- random streams and the references of their frames -------------------- */

typedef enum
{
  FATE_NONE,
  FATE_WAITING,
  FATE_SENDING,
  FATE_SENT,
  FATE_DROPPED,
  FATE_FLUSHED
} Fate;

typedef struct
{
  IfdFrame frame;
  guint gop;
  gboolean leading;
  gint references[MAX_REFERENCES];
  guint n_references;

  Fate fate;
  /* Number of the receiver to which the picture was sent, if this receiver can
   * decode it; otherwise 0. The first receiver has the number 1. */
  guint decoded_by;
} Picture;

typedef struct
{
  /* TRUE if other frames refer to some of the B-frames (B-pyramids). IFD treats
   * these B-frames as P-frames. */
  gboolean pyramids;
  gboolean broken_links, incomplete_frames;
  /* TRUE if no frame refers to a frame before the beginning of the stream */
  gboolean whole;
} Film;

typedef struct
{
  Draws draws;
  Film film;
  GArray *pictures;             /* of Picture */
  /* Index of the frame to which the next P-frame will refer: the last I-frame
   * or P-frame. The middle frame of a B-pyramid also has the type P, but does
   * not count. */
  gint anchor;
  guint gop;
} Maker;

static Picture *
add_picture (Maker * maker, IfdFrameType type, IfdFrameFlags flags)
{
  Picture picture = { {type, flags,}, };

  picture.frame.size = 1 + draw_below (&maker->draws, 50);
  picture.gop = maker->gop;
  picture.frame.user = GUINT_TO_POINTER (maker->pictures->len);
  if (maker->film.incomplete_frames && draw_hits (&maker->draws, 2))
    picture.frame.flags |= IFD_FRAME_INCOMPLETE;
  g_array_append_val (maker->pictures, picture);
  return &g_array_index (maker->pictures, Picture, maker->pictures->len - 1);
}

static void
refer (Picture * picture, gint to)
{
  picture->references[picture->n_references++] = to;
}

/* Adds `n` frames that are shown between the frames with the indices `past` and
 * `future`, and refer to both. If `past` is G_MAXINT, they refer only to
 * `future`. */
static void
add_between (Maker * maker, gint past, gint future, guint n,
    IfdFrameFlags flags, gboolean leading)
{
  gint middle = G_MAXINT;
  guint i;

  for (i = 0; i < n; i++) {
    gboolean is_middle = maker->film.pyramids && n >= 3 && i == 0;
    Picture *picture = add_picture (maker,
        is_middle ? IFD_FRAME_P : IFD_FRAME_B, flags);

    picture->leading = leading;
    refer (picture, future);
    if (past != G_MAXINT)
      refer (picture, past);
    if (middle != G_MAXINT)
      refer (picture, middle);
    if (is_middle)
      middle = maker->pictures->len - 1;
  }
}

static void
add_gop (Maker * maker)
{
  Draws *draws = &maker->draws;
  guint n_b = draw_below (draws, 5), n_p = draw_below (draws, 6), i;
  gboolean marked = maker->film.pyramids || draw_hits (draws, 30);
  gboolean closed = draw_hits (draws, 30);
  gboolean broken = !closed && maker->film.broken_links
      && draw_hits (draws, 20);
  gint past = broken ? MISSING : maker->anchor;
  IfdFrameFlags flags = marked ? IFD_FRAME_LEADING : 0;

  maker->gop++;
  add_picture (maker, IFD_FRAME_I,
      closed ? IFD_FRAME_CLOSED : broken ? IFD_FRAME_BROKEN : 0);
  maker->anchor = maker->pictures->len - 1;
  if (closed) {
    past = G_MAXINT;
    /* Some frames directly follow the I-frame of a closed GOP and do not refer
     * to frames before this I-frame. IfdClassifier marks some of these frames
     * as trailing. In H.265, it marks the RADL pictures. In H.264, it marks all
     * pictures that follow an IDR picture. Other frames of this kind have no
     * such mark. The random streams contain frames with and without the mark.
     */
    if (marked && draw_hits (draws, 50))
      flags = IFD_FRAME_TRAILING;
  }
  if (closed || past != MISSING || !maker->film.whole)
    add_between (maker, past, maker->anchor, n_b, flags,
        flags != IFD_FRAME_TRAILING);
  flags = marked ? IFD_FRAME_TRAILING : 0;
  for (i = 0; i < n_p; i++) {
    past = maker->anchor;
    refer (add_picture (maker, IFD_FRAME_P, flags), past);
    maker->anchor = maker->pictures->len - 1;
    add_between (maker, past, maker->anchor, n_b, flags, FALSE);
  }
}

/* --- a run ---------------------------------------------------------------- */

typedef enum
{
  CHANNEL_DEAD,
  CHANNEL_SLOW,
  CHANNEL_FAST,
  CHANNEL_UNLIMITED,
  CHANNEL_LAST
} Channel;

typedef struct
{
  Maker maker;
  Ifd *ifd;
  IfdConfig config;
  GArray *w;                    /* guint indices of pictures */
  /* TRUE if IFD has to drop all waiting frames when it stores the new frame
   */
  gboolean w_is_stale;
  /* index in maker.pictures of the frame that is being sent, or MISSING */
  gint s;
  /* Number of the present receiver. It is 1 for the first receiver, and
   * increases by 1 when another receiver takes its place. */
  guint receiver;
  /* 1 plus the sequence number of the last frame that was taken out of the
   * queue W (the waiting frames) and sent. The next frame that is sent must not
   * have a lower sequence number. */
  guint64 last_sent;
  guint64 n_in, n_sent, n_dropped, n_flushed;
} Run;

static Picture *
get_picture (const Run * run, guint i)
{
  return &g_array_index (run->maker.pictures, Picture, i);
}

static Picture *
get_waiting (const Run * run, guint i)
{
  return get_picture (run, g_array_index (run->w, guint, i));
}

static gboolean
is_reference (const Picture * picture)
{
  return picture->frame.type != IFD_FRAME_B;
}

static gboolean
is_lost (const Run * run, gint reference)
{
  const Picture *picture;

  if (reference == MISSING)
    return TRUE;
  picture = get_picture (run, reference);
  if (picture->fate == FATE_SENT || picture->fate == FATE_SENDING)
    return picture->decoded_by != run->receiver;
  return picture->fate != FATE_WAITING;
}

/* Returns whether the present receiver can never decode `picture`. This is the
 * case if a frame to which `picture` refers was dropped, is not part of the
 * stream, was sent only to an earlier receiver, or is undecodable itself. */
static gboolean
is_undecodable (const Run * run, const Picture * picture)
{
  guint i;

  for (i = 0; i < picture->n_references; i++) {
    if (is_lost (run, picture->references[i]))
      return TRUE;
  }
  return FALSE;
}

static gboolean
refers (const Picture * picture, guint to)
{
  guint i;

  for (i = 0; i < picture->n_references; i++) {
    if (picture->references[i] == (gint) to)
      return TRUE;
  }
  return FALSE;
}

static gboolean
w_holds (const Run * run, IfdFrameType type)
{
  guint i;

  for (i = 0; i < run->w->len; i++) {
    if (get_waiting (run, i)->frame.type == type)
      return TRUE;
  }
  return FALSE;
}

/* When the frame `victim` is dropped, no frame that depends on it must be kept.
 * Checks that neither the new frame `c` nor any waiting frame refers to it. */
static void
check_no_dependents (const Run * run, guint victim, const Picture * c)
{
  guint i;

  must_hold (!refers (c, victim));
  for (i = 0; i < run->w->len; i++)
    must_hold (!refers (get_waiting (run, i), victim));
}

/* W is the queue of waiting frames. Returns whether the new I-frame `c` must
 * replace all frames in W. This is the case after an outage: W is full of I-
 * and P-frames, and some frames that came between the first and the last frame
 * in W were dropped. Must be called before `c` is stored. */
static gboolean
is_stale (const Run * run, const Picture * c)
{
  guint first, last;

  if (run->config.algorithm != IFD_ALGORITHM_GOP
      || c->frame.type != IFD_FRAME_I || (c->frame.flags & IFD_FRAME_INCOMPLETE)
      || run->w->len < run->config.max_frames || w_holds (run, IFD_FRAME_B))
    return FALSE;
  first = g_array_index (run->w, guint, 0);
  last = g_array_index (run->w, guint, run->w->len - 1);
  return last - first + 1 > run->w->len;
}

/* Checks that IFD was allowed to drop the waiting frame `number` in favour of
 * the new frame `c`. `run->w` must still contain the frames that waited before
 * `c` arrived. */
static void
check_overwritten (const Run * run, guint number, const Picture * c)
{
  const Picture *victim = get_picture (run, number);
  guint i;

  must_hold (run->w->len >= run->config.max_frames);
  check_no_dependents (run, number, c);
  switch (victim->frame.type) {
    case IFD_FRAME_I:
      must_hold (c->frame.type == IFD_FRAME_I);
      must_hold (!(w_holds (run, IFD_FRAME_P) || w_holds (run, IFD_FRAME_B)));
      must_hold (g_array_index (run->w, guint, 0) == number);
      break;
    case IFD_FRAME_P:
      must_hold (is_reference (c));
      must_hold (!w_holds (run, IFD_FRAME_B));
      break;
    default:
      for (i = 0; i < run->w->len; i++)
        must_hold (!(get_waiting (run, i)->frame.type == IFD_FRAME_B
                && get_waiting (run, i)->frame.size > victim->frame.size));
      must_hold (!(c->frame.type == IFD_FRAME_B
              && c->frame.size > victim->frame.size));
      break;
  }
}

static void
check_no_room (const Run * run, const Picture * c)
{
  guint i;

  must_hold (run->w->len >= run->config.max_frames);
  must_hold (c->frame.type != IFD_FRAME_I);
  for (i = 0; i < run->w->len; i++) {
    const Picture *other = get_waiting (run, i);

    if (c->frame.type == IFD_FRAME_B) {
      must_hold (other->frame.type != IFD_FRAME_B
          || other->frame.size < c->frame.size);
      continue;
    }
    must_hold (other->frame.type != IFD_FRAME_B);
    /* IFD has dropped the new picture `c`, because W, the queue of waiting
     * frames, is full. In some cases, IFD should have dropped a P-frame in W
     * instead of `c`, so that only this P-frame is lost. A leading picture
     * follows an I-frame in the stream, but is displayed before this I-frame.
     * If `c` is not a leading picture, IFD should have dropped a P-frame in W
     * of one of two kinds:
     * - The P-frame is a leading picture.
     * - The P-frame belongs to another GOP than `c`. */
    must_hold (!(other->frame.type == IFD_FRAME_P && !c->leading
            && (other->gop != c->gop || other->leading)));
  }
}

static void
check_drop (const Run * run, const IfdEvent * event, const Picture * c)
{
  guint number = GPOINTER_TO_UINT (event->frame.user);
  const Picture *picture = get_picture (run, number);

  switch (event->reason) {
    case IFD_DROP_NO_ROOM:
      must_hold (picture == c);
      check_no_room (run, c);
      break;
    case IFD_DROP_OVERWRITTEN:
      must_hold (c && picture != c);
      if (!run->w_is_stale)
        check_overwritten (run, number, c);
      break;
    case IFD_DROP_INCOMPLETE:
      must_hold (picture == c);
      must_hold (picture->frame.flags & IFD_FRAME_INCOMPLETE);
      break;
    default:
      /* The frame was dropped, but neither because the queue of waiting frames
       * (W) was full nor because a part of the frame was missing. The frame
       * must therefore be undecodable. Streams with B-pyramids are an
       * exception. IFD does not know whether frames after a pyramid refer to
       * its middle frame. If it has dropped this middle frame, it also drops
       * later frames that are decodable without it. */
      must_hold (picture->frame.type != IFD_FRAME_I);
      if (!run->maker.film.pyramids)
        must_hold (is_undecodable (run, picture));
      break;
  }
}

static void
remove_waiting (Run * run, guint number)
{
  guint i;

  for (i = 0; i < run->w->len; i++) {
    if (g_array_index (run->w, guint, i) == number) {
      g_array_remove_index (run->w, i);
      return;
    }
  }
}

/* Reads the events of IFD, which say which frames were stored or dropped.
 * Checks them and records the fate of each frame. `c` is the new frame, or NULL
 * if there is none. */
static void
take_events (Run * run, const Picture * c)
{
  IfdEvent event;

  while (ifd_poll_event (run->ifd, &event)) {
    guint number = GPOINTER_TO_UINT (event.frame.user);
    Picture *picture = get_picture (run, number);

    if (event.type == IFD_EVENT_STORED) {
      must_hold (picture == c && picture->fate == FATE_NONE);
      picture->fate = FATE_WAITING;
      g_array_append_val (run->w, number);
      continue;
    }
    must_hold (picture->fate == (picture == c ? FATE_NONE : FATE_WAITING));
    check_drop (run, &event, c);
    picture->fate = FATE_DROPPED;
    remove_waiting (run, number);
    run->n_dropped++;
  }
}

static void
do_input (Run * run, guint number)
{
  Picture *c = get_picture (run, number);
  guint before = run->w->len;

  run->w_is_stale = is_stale (run, c);
  ifd_input (run->ifd, 0, &c->frame);
  run->n_in++;
  take_events (run, c);
  must_hold (!run->w_is_stale || run->w->len == 1);
  must_hold (c->fate == FATE_WAITING || c->fate == FATE_DROPPED);
  must_hold (run->w->len <= MAX (before, run->config.max_frames));
}

static void
do_output (Run * run)
{
  IfdFrame frame, peeked;
  gboolean any = ifd_peek_output (run->ifd, &peeked);
  Picture *picture;

  if (run->s != MISSING) {
    ifd_sent (run->ifd, 0);
    get_picture (run, run->s)->fate = FATE_SENT;
    run->n_sent++;
    run->s = MISSING;
  }
  must_hold (any == (run->w->len > 0));
  must_hold (ifd_poll_output (run->ifd, 0, &frame) == any);
  if (!any)
    return;
  must_hold (frame.number == peeked.number);
  run->s = GPOINTER_TO_UINT (frame.user);
  picture = get_picture (run, run->s);
  must_hold (g_array_index (run->w, guint, 0) == (guint) run->s);
  g_array_remove_index (run->w, 0);
  must_hold (picture->fate == FATE_WAITING);
  must_hold (frame.number >= run->last_sent);
  run->last_sent = frame.number + 1;
  if (!is_undecodable (run, picture))
    picture->decoded_by = run->receiver;
  else
    must_hold (run->config.algorithm != IFD_ALGORITHM_GOP);
  picture->fate = FATE_SENDING;
}

static void
do_restart (Run * run)
{
  run->receiver++;
  ifd_restart (run->ifd);
  take_events (run, NULL);
}

static void
do_flush (Run * run)
{
  IfdFrame frame;

  while (ifd_flush (run->ifd, &frame)) {
    must_hold (get_waiting (run, 0) == get_picture (run,
            GPOINTER_TO_UINT (frame.user)));
    g_array_remove_index (run->w, 0);
    get_picture (run, GPOINTER_TO_UINT (frame.user))->fate = FATE_FLUSHED;
    run->n_flushed++;
  }
  must_hold (run->w->len == 0);
  if (run->s != MISSING) {
    get_picture (run, run->s)->fate = FATE_FLUSHED;
    run->n_flushed++;
  }
  run->s = MISSING;
  run->receiver++;
  run->maker.anchor = MISSING;
  take_events (run, NULL);
}

static void
do_configure (Run * run)
{
  run->config.max_frames = 1 + draw_below (&run->maker.draws, 8);
  if (run->config.algorithm != IFD_ALGORITHM_GOP)
    run->config.max_frames = 1;
  ifd_set_config (run->ifd, &run->config);
}

static void
check_counters (const Run * run)
{
  guint64 in = 0, sent = 0, dropped = 0, in_bytes = 0, ended_bytes = 0;
  IfdStats stats;
  guint type, reason, i;

  ifd_get_stats (run->ifd, &stats);
  for (type = 0; type < IFD_FRAME_LAST; type++) {
    in += stats.in[type];
    sent += stats.sent[type];
    for (reason = 0; reason < IFD_DROP_LAST; reason++)
      dropped += stats.dropped[type][reason];
    in_bytes += stats.in_bytes[type];
    ended_bytes += stats.sent_bytes[type] + stats.dropped_bytes[type];
  }
  must_hold (in == run->n_in);
  must_hold (sent == run->n_sent);
  must_hold (dropped == run->n_dropped);
  must_hold (stats.flushed == run->n_flushed);
  must_hold (stats.waiting == run->w->len);
  must_hold (in == sent + dropped + stats.flushed + stats.waiting
      + (run->s != MISSING ? 1 : 0));
  for (i = 0; i < run->w->len; i++)
    in_bytes -= get_waiting (run, i)->frame.size;
  must_hold (in_bytes >= ended_bytes);
  must_hold (stats.gops_disturbed <= stats.gops);
}

static void
send_some (Run * run, Channel channel)
{
  const guint percent[] = { 0, 60, 97, 100 };

  while (draw_hits (&run->maker.draws, percent[channel])) {
    do_output (run);
    if (channel == CHANNEL_SLOW || (run->s == MISSING && run->w->len == 0))
      return;
  }
}

static void
disturb (Run * run)
{
  Draws *draws = &run->maker.draws;

  if (draw_hits (draws, 5))
    do_restart (run);
  if (draw_hits (draws, 3))
    do_flush (run);
  if (draw_hits (draws, 10))
    do_configure (run);
}

static void
run_init (Run * run, guint64 seed, IfdAlgorithm algorithm, const Film * film)
{
  const Run blank = { {{seed,}, *film,}, };

  *run = blank;
  run->maker.pictures = g_array_new (FALSE, FALSE, sizeof (Picture));
  run->maker.anchor = MISSING;
  run->w = g_array_new (FALSE, FALSE, sizeof (guint));
  run->s = MISSING;
  run->receiver = 1;
  run->config.algorithm = algorithm;
  run->config.max_frames = 1;
  run->ifd = ifd_new (&run->config);
  do_configure (run);
}

/* Sends the frames that still wait. Then checks that each frame of the stream
 * was either sent, dropped or flushed, and frees the contents of `run`.
 */
static void
run_clear (Run * run)
{
  guint i;

  while (run->s != MISSING || run->w->len > 0)
    do_output (run);
  check_counters (run);
  for (i = 0; i < run->maker.pictures->len; i++)
    must_hold (get_picture (run, i)->fate >= FATE_SENT);
  g_array_unref (run->maker.pictures);
  g_array_unref (run->w);
  ifd_free (run->ifd);
}

static void
play (guint64 seed, IfdAlgorithm algorithm, const Film * film,
    gboolean disturbed, gboolean unlimited)
{
  Channel channel = CHANNEL_UNLIMITED;
  guint i, next = 0;
  Run run;

  run_init (&run, seed, algorithm, film);
  for (i = 0; i < N_GOPS; i++) {
    add_gop (&run.maker);
    if (!unlimited)
      channel = draw_below (&run.maker.draws, CHANNEL_LAST);
    for (; next < run.maker.pictures->len; next++) {
      do_input (&run, next);
      send_some (&run, channel);
      /* A new stream begins with a GOP. */
      if (disturbed && next + 1 == run.maker.pictures->len)
        disturb (&run);
      else if (disturbed && draw_hits (&run.maker.draws, 1))
        do_restart (&run);
    }
    check_counters (&run);
  }
  if (unlimited)
    must_hold (run.n_dropped == 0);
  run_clear (&run);
}

static void
play_all (IfdAlgorithm algorithm, const Film * film, gboolean disturbed,
    gboolean unlimited)
{
  guint64 seed;

  for (seed = 0; seed < N_RUNS; seed++)
    play (seed, algorithm, film, disturbed, unlimited);
}

static const Film plain = { FALSE, };
static const Film pyramids = { TRUE, };
static const Film damaged = { FALSE, TRUE, TRUE, };
static const Film damaged_pyramids = { TRUE, TRUE, TRUE, };

GST_START_TEST (gop_keeps_its_promises)
{
  play_all (IFD_ALGORITHM_GOP, &plain, FALSE, FALSE);
}

GST_END_TEST;

GST_START_TEST (gop_keeps_its_promises_with_pyramids)
{
  play_all (IFD_ALGORITHM_GOP, &pyramids, FALSE, FALSE);
}

GST_END_TEST;

GST_START_TEST (gop_keeps_its_promises_with_damage_and_new_receivers)
{
  play_all (IFD_ALGORITHM_GOP, &damaged, TRUE, FALSE);
}

GST_END_TEST;

GST_START_TEST (gop_keeps_its_promises_with_all_at_once)
{
  play_all (IFD_ALGORITHM_GOP, &damaged_pyramids, TRUE, FALSE);
}

GST_END_TEST;

GST_START_TEST (unlimited_channel_loses_nothing)
{
  const Film whole = { FALSE, FALSE, FALSE, TRUE };
  const Film whole_pyramids = { TRUE, FALSE, FALSE, TRUE };

  play_all (IFD_ALGORITHM_GOP, &whole, FALSE, TRUE);
  play_all (IFD_ALGORITHM_GOP, &whole_pyramids, FALSE, TRUE);
  play_all (IFD_ALGORITHM_PAPER, &whole, FALSE, TRUE);
  play_all (IFD_ALGORITHM_PAPER_GOP, &whole, FALSE, TRUE);
}

GST_END_TEST;

static Suite *
ifdstreams_suite (void)
{
  Suite *s = suite_create ("ifdstreams");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 120);
  tcase_add_test (tc, gop_keeps_its_promises);
  tcase_add_test (tc, gop_keeps_its_promises_with_pyramids);
  tcase_add_test (tc, gop_keeps_its_promises_with_damage_and_new_receivers);
  tcase_add_test (tc, gop_keeps_its_promises_with_all_at_once);
  tcase_add_test (tc, unlimited_channel_loses_nothing);
  return s;
}

GST_CHECK_MAIN (ifdstreams);
