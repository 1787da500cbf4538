/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a film of 60 s through the algorithms of IFD (I-Frame Delay) in virtual
 * time. These algorithms decide which frames a sender drops. The main case is a
 * film whose bitrate exceeds the rate of the channel.
 *
 * Each frame is pushed at its due time, and passes through a model of a socket
 * that accepts one frame after the other. The result is compared with the
 * maximum number of decodable frames. Only a sender that knows the future could
 * reach this maximum. The film is made by the program pipelines/clips.
 */

#include <gst/check/gstcheck.h>

#include "ifd.h"
#include "mpegvideoframer.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define FRAME_PERIOD (40 * MS)
/* The rate in bit/s at which TCP carries payload through a token bucket of 5
 * Mbit/s. The token bucket counts whole Ethernet frames of 1514 bytes, of which
 * 1448 bytes are payload. The rate is a little less than 1448/1514 of 5 Mbit/s,
 * because other packets use the link, too. */
#define CHANNEL_RATE 4770000
/* The number of bytes that a full socket holds: the unsent bytes and the bytes
 * in flight. ifdsink permits 16384 unsent bytes (TCP_NOTSENT_LOWAT). For the
 * bytes in flight, the test uses their minimum. This is an initial window of
 * ten segments (RFC 6928). */
#define SOCKET_SIZE (16384 + 10 * 1448)
/* A frame is useless if it arrives later than this time after its due time. */
#define MAX_LATENESS (500 * MS)

typedef struct
{
  IfdFrame frame;
  gboolean sent;
} Picture;

/* Shares in percent */
typedef struct
{
  guint lost[IFD_FRAME_LAST], all[IFD_FRAME_LAST];
  gdouble b_lost, p_lost, decodable;
  guint64 p99, max;             /* lateness, ns */
  guint64 end;                  /* ns */
} Result;

/* --- the film ------------------------------------------------------------- */

static void
add_pictures (GArray * film, MpegVideoFramer * framer)
{
  MpegVideoFrame frame;

  while (mpeg_video_framer_poll_output (framer, &frame)) {
    Picture picture = { {0,}, };

    switch (frame.pictures[0].header.type) {
      case MPEG_VIDEO_PICTURE_I:
        picture.frame.type = IFD_FRAME_I;
        break;
      case MPEG_VIDEO_PICTURE_P:
        picture.frame.type = IFD_FRAME_P;
        break;
      default:
        picture.frame.type = IFD_FRAME_B;
    }
    if (frame.has_gop && frame.gop.closed)
      picture.frame.flags = IFD_FRAME_CLOSED;
    picture.frame.size = frame.size;
    picture.frame.due = film->len * FRAME_PERIOD;
    picture.frame.user = GUINT_TO_POINTER (film->len);
    g_array_append_val (film, picture);
    g_free (frame.data);
    mpeg_video_frame_clear (&frame);
  }
}

/* Reads the clip that has a bitrate of `megabits` Mbit/s. Returns its frames as
 * a film of 25 frames per second. The due time of a frame is its decoding time.
 */
static GArray *
read_film (guint megabits)
{
  gchar *path = g_strdup_printf ("%s/build/clips/bunny-%uM.m2v",
      g_getenv ("WIRELESS_SOURCE_DIR"), megabits);
  GArray *film = g_array_new (FALSE, FALSE, sizeof (Picture));
  MpegVideoFramerConfig config = { 0, };
  MpegVideoFramer *framer = mpeg_video_framer_new (&config);
  GError *error = NULL;
  gchar *data;
  gsize size;

  fail_unless (g_file_get_contents (path, &data, &size, &error),
      "there is no %s: pipelines/clips makes it", path);
  mpeg_video_framer_input (framer, (guint8 *) data, size,
      MPEG_VIDEO_TIME_NONE, MPEG_VIDEO_TIME_NONE);
  mpeg_video_framer_drain (framer);
  add_pictures (film, framer);
  mpeg_video_framer_free (framer);
  g_free (data);
  g_free (path);
  fail_unless_equals_int (film->len, 1500);
  return film;
}

static Picture *
get_picture (const GArray * film, guint i)
{
  return &g_array_index (film, Picture, i);
}

/* --- the channel ---------------------------------------------------------- */

typedef struct
{
  Ifd *ifd;
  GArray *film;
  guint socket_size;            /* bytes; 0 for a channel without a socket */
  gboolean sending;
  /* Time in ns at which the socket has accepted the last byte of the current
   * frame. */
  guint64 taken_at;
  /* Time in ns at which the last byte that was written to the socket arrives at
   * the receiver. */
  guint64 free_at;
  /* Due time in ns of the frame that is being sent. */
  guint64 due;
  /* The lateness of each frame that arrived, as guint64 in ns. */
  GArray *lateness;
  /* Maximum time in ns that a frame has needed so far to get into the socket.
   * The time of a frame begins when the frame is due, and ends when the socket
   * has accepted the whole frame. */
  guint64 max;
} Channel;

static guint64
time_of (guint size)
{
  return size * 8 * G_GUINT64_CONSTANT (1000000000) / CHANNEL_RATE;
}

static void
send_next (Channel * channel, guint64 now)
{
  guint64 in_socket = time_of (channel->socket_size), lateness;
  IfdFrame frame;

  channel->sending = ifd_poll_output (channel->ifd, now, &frame);
  if (!channel->sending)
    return;
  get_picture (channel->film, GPOINTER_TO_UINT (frame.user))->sent = TRUE;
  channel->free_at = MAX (channel->free_at, now) + time_of (frame.size);
  channel->taken_at = MAX (now,
      channel->free_at - MIN (in_socket, channel->free_at));
  channel->due = frame.due;
  lateness = channel->free_at - frame.due;
  g_array_append_val (channel->lateness, lateness);
}

static void
advance (Channel * channel, guint64 now)
{
  while (channel->sending && channel->taken_at <= now) {
    channel->max = MAX (channel->max, channel->taken_at - channel->due);
    ifd_sent (channel->ifd, channel->taken_at);
    send_next (channel, channel->taken_at);
  }
}

static void
stream (Channel * channel)
{
  IfdEvent event;
  guint i;

  for (i = 0; i < channel->film->len; i++) {
    IfdFrame *frame = &get_picture (channel->film, i)->frame;

    advance (channel, frame->due);
    ifd_input (channel->ifd, frame->due, frame);
    while (ifd_poll_event (channel->ifd, &event));
    if (!channel->sending)
      send_next (channel, frame->due);
  }
  while (channel->sending)
    advance (channel, channel->taken_at);
}

/* --- the result ----------------------------------------------------------- */

/* Returns the number of decodable frames. A frame is decodable if it arrived
 * and all frames to which it refers are decodable. B-frames directly after an
 * I-frame (leading B-frames) also refer to the last reference frame of the
 * previous GOP. In a closed GOP, they do not refer to this frame. */
static guint
count_decodable (const GArray * film)
{
  gboolean past = FALSE, future = FALSE, behind_i = FALSE;
  guint i, count = 0;

  for (i = 0; i < film->len; i++) {
    const Picture *picture = get_picture (film, i);
    gboolean closed = (picture->frame.flags & IFD_FRAME_CLOSED) != 0;

    switch (picture->frame.type) {
      case IFD_FRAME_I:
        past = closed || future;
        future = picture->sent;
        behind_i = TRUE;
        count += picture->sent;
        break;
      case IFD_FRAME_P:
        past = future;
        future = behind_i && picture->sent && past;
        count += future;
        break;
      default:
        count += picture->sent && past && future;
    }
  }
  return count;
}

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  guint64 first = *(const guint64 *) a, second = *(const guint64 *) b;

  return first < second ? -1 : first > second;
}

static void
judge (const Channel * channel, Result * result)
{
  GArray *lateness = channel->lateness;
  guint i;

  memset (result, 0, sizeof (*result));
  for (i = 0; i < channel->film->len; i++) {
    const Picture *picture = get_picture (channel->film, i);

    result->all[picture->frame.type]++;
    result->lost[picture->frame.type] += !picture->sent;
  }
  result->b_lost = 100. * result->lost[IFD_FRAME_B] / result->all[IFD_FRAME_B];
  result->p_lost = 100. * result->lost[IFD_FRAME_P] / result->all[IFD_FRAME_P];
  result->decodable = 100. * count_decodable (channel->film)
      / channel->film->len;
  g_array_sort (lateness, compare_times);
  result->p99 = g_array_index (lateness, guint64, lateness->len * 99 / 100);
  result->max = g_array_index (lateness, guint64, lateness->len - 1);
  result->end = channel->free_at;
}

static void
run (GArray * film, guint socket_size, IfdAlgorithm algorithm,
    guint max_frames, Result * result)
{
  IfdConfig config = { algorithm, max_frames };
  Channel channel = { ifd_new (&config), film, socket_size, };
  IfdStats stats;
  guint i;

  for (i = 0; i < film->len; i++)
    get_picture (film, i)->sent = FALSE;
  channel.lateness = g_array_new (FALSE, FALSE, sizeof (guint64));
  stream (&channel);
  judge (&channel, result);
  /* The IFD algorithm computes statistics itself. They must agree with the
   * values that this test has computed. */
  ifd_get_stats (channel.ifd, &stats);
  fail_unless_equals_int64 (stats.lateness_max, channel.max);
  fail_unless (stats.lateness_median <= stats.lateness_p99);
  fail_unless (stats.lateness_p99 <= stats.lateness_max);
  for (i = 0; i < IFD_FRAME_LAST; i++)
    fail_unless_equals_uint64 (stats.sent[i], result->all[i] - result->lost[i]);
  g_array_unref (channel.lateness);
  ifd_free (channel.ifd);
}

/* --- best result that any sender could reach ------------------------------ */

/* State of the decoder after a frame: it says which reference frames the
 * decoder has, and therefore which of the following frames it can decode. */
typedef enum
{
  CHAIN_WHOLE,
  /* A reference frame is missing, so no frame can be decoded before the next
   * I-frame. */
  CHAIN_BROKEN,
  /* The decoder has an I-frame, but not the reference frame before this
   * I-frame. It can therefore decode all following frames except the leading
   * B-frames, which also refer to the frame before the I-frame. */
  CHAIN_NEW,
  CHAIN_LAST
} Chain;

/* Results of a sender that knows all future frames. Such a sender selects the
 * frames that it sends. A result is the time in ns at which the channel has
 * transmitted the last selected frame and is free again. There may be several
 * selections that contain `n` decodable frames and leave the decoder in the
 * state `chain`. `free_at[chain][n]` is the best result of these selections,
 * which is the earliest time. If there is no such selection,
 * `free_at[chain][n]` is G_MAXUINT64. */
typedef struct
{
  guint64 *free_at[CHAIN_LAST];
} Best;

static void
improve (Best * best, Chain chain, guint count, guint64 free_at)
{
  if (free_at < best->free_at[chain][count])
    best->free_at[chain][count] = free_at;
}

/* Records in `next` the results of the two things that a sender can do with
 * `picture`. It can skip `picture`, and this result is always recorded. It can
 * also send `picture`. This result is recorded only if `picture` would arrive
 * in time and could be decoded, because otherwise sending it would only cost
 * time. */
static void
send_or_skip (const Picture * picture, Chain chain, guint count,
    guint64 free_at, guint64 max_lateness, Best * next)
{
  const IfdFrame *frame = &picture->frame;
  guint64 sent = MAX (free_at, frame->due) + time_of (frame->size);
  Chain behind = CHAIN_WHOLE;

  improve (next, frame->type == IFD_FRAME_B ? chain : CHAIN_BROKEN, count,
      free_at);
  if (sent > frame->due + max_lateness)
    return;
  if (frame->type == IFD_FRAME_I && chain == CHAIN_BROKEN
      && !(frame->flags & IFD_FRAME_CLOSED))
    behind = CHAIN_NEW;
  else if (frame->type == IFD_FRAME_P && chain == CHAIN_BROKEN)
    return;
  else if (frame->type == IFD_FRAME_B && chain != CHAIN_WHOLE)
    return;
  improve (next, behind, count + 1, sent);
}

static void
best_init (Best * best, guint n)
{
  guint chain, i;

  for (chain = 0; chain < CHAIN_LAST; chain++) {
    best->free_at[chain] = g_new (guint64, n + 2);
    for (i = 0; i < n + 2; i++)
      best->free_at[chain][i] = G_MAXUINT64;
  }
}

static void
best_clear (Best * best)
{
  guint chain;

  for (chain = 0; chain < CHAIN_LAST; chain++)
    g_free (best->free_at[chain]);
}

/* Returns the maximum percentage of frames that can be decoded if no frame is
 * later than `max_lateness`. The result is exact, although the function does
 * not try all selections of frames.
 *
 * Two selections may have the same number of frames and leave the decoder in
 * the same state. The possible states are the values of the enum Chain. The
 * state determines which later frames the decoder can decode. After two
 * selections with the same state, the decoder can therefore decode the same
 * later frames. Of these two selections, the function continues only the one
 * whose transmission ends earlier. The other one cannot lead to a better
 * result. */
static gdouble
best_with_hindsight (const GArray * film, guint64 max_lateness)
{
  guint i, chain, count, max = 0;
  Best best;

  best_init (&best, film->len);
  best.free_at[CHAIN_BROKEN][0] = 0;
  for (i = 0; i < film->len; i++) {
    Best next;

    best_init (&next, film->len);
    for (chain = 0; chain < CHAIN_LAST; chain++) {
      for (count = 0; count <= i; count++) {
        if (best.free_at[chain][count] != G_MAXUINT64)
          send_or_skip (get_picture (film, i), chain, count,
              best.free_at[chain][count], max_lateness, &next);
      }
    }
    best_clear (&best);
    best = next;
  }
  for (chain = 0; chain < CHAIN_LAST; chain++) {
    for (count = 0; count <= film->len; count++) {
      if (best.free_at[chain][count] != G_MAXUINT64)
        max = MAX (max, count);
    }
  }
  best_clear (&best);
  return 100. * max / film->len;
}

/* --- the tests ------------------------------------------------------------ */

static void
show (const gchar * name, const Result * result)
{
  g_print ("# %s: lost I %u, P %.1f %%, B %.1f %%; decodable %.1f %%; late "
      "p99 %" G_GUINT64_FORMAT ", at most %" G_GUINT64_FORMAT " ms; end %.2f "
      "s\n", name, result->lost[IFD_FRAME_I], result->p_lost, result->b_lost,
      result->decodable, result->p99 / MS, result->max / MS, result->end / 1e9);
}

static void
expect_live (const Result * result)
{
  fail_unless_equals_int (result->lost[IFD_FRAME_I], 0);
  fail_unless (result->p_lost <= 1);
  fail_unless (result->p99 < 350 * MS);
  fail_unless (result->max < 500 * MS);
  fail_unless (result->end > 59500 * MS && result->end < 60500 * MS);
}

static void
show_sizes (GArray * film, guint socket_size, gdouble best)
{
  const guint sizes[] = { 1, 2, 3, 4, 6 };
  Result result;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (sizes); i++) {
    gchar *name = g_strdup_printf ("6 Mbit/s, %s, gop, W of %u",
        socket_size ? "socket" : "no socket", sizes[i]);

    run (film, socket_size, IFD_ALGORITHM_GOP, sizes[i], &result);
    show (name, &result);
    g_print ("#   %.0f %% of the best with hindsight; as late: %.1f %%\n",
        100 * result.decodable / best, best_with_hindsight (film, result.max));
    g_free (name);
    fail_unless_equals_int (result.lost[IFD_FRAME_I], 0);
    fail_unless (result.decodable <= best);
  }
}

GST_START_TEST (gop_at_6_mbit)
{
  GArray *film = read_film (6);
  gdouble best = best_with_hindsight (film, MAX_LATENESS);
  Result result;

  g_print ("# 6 Mbit/s, best with hindsight, %u ms late at most: %.1f %%\n",
      (guint) (MAX_LATENESS / MS), best);
  show_sizes (film, SOCKET_SIZE, best);
  show_sizes (film, 0, best);
  run (film, SOCKET_SIZE, IFD_ALGORITHM_GOP, IFD_DEFAULT_MAX_FRAMES, &result);
  expect_live (&result);
  fail_unless (result.b_lost <= 45);
  fail_unless (result.decodable >= 70);
  run (film, 0, IFD_ALGORITHM_GOP, IFD_DEFAULT_MAX_FRAMES, &result);
  expect_live (&result);
  fail_unless (result.b_lost <= 45);
  fail_unless (result.decodable >= 70);
  g_array_unref (film);
}

GST_END_TEST;

static void
expect_paper (GArray * film, IfdAlgorithm algorithm, const gchar * name)
{
  Result result;

  run (film, SOCKET_SIZE, algorithm, 1, &result);
  show (name, &result);
  expect_live (&result);
  fail_unless (result.b_lost <= 50);
  fail_unless (result.decodable >= 66);
}

GST_START_TEST (paper_algorithms_at_6_mbit)
{
  GArray *film = read_film (6);

  expect_paper (film, IFD_ALGORITHM_PAPER, "6 Mbit/s, paper");
  expect_paper (film, IFD_ALGORITHM_PAPER_GOP, "6 Mbit/s, paper-gop");
  g_array_unref (film);
}

GST_END_TEST;

/* The algorithms "paper" and "paper-gop" are those of the paper of Ouwens
 * (2006). In their queue, only one frame can wait. Several frames may arrive
 * while an I-frame is sent, and then some of them are dropped. These algorithms
 * therefore lose some B-frames even if the channel is fast enough. The
 * algorithm "gop" must lose none. */
GST_START_TEST (nothing_is_lost_where_there_is_room)
{
  const gchar *const names[] = { "paper", "paper-gop", "gop" };
  guint megabits, algorithm;

  for (megabits = 3; megabits <= 4; megabits++) {
    GArray *film = read_film (megabits);

    for (algorithm = 0; algorithm < G_N_ELEMENTS (names); algorithm++) {
      gchar *name = g_strdup_printf ("%u Mbit/s, %s", megabits,
          names[algorithm]);
      Result result;

      run (film, SOCKET_SIZE, algorithm, IFD_DEFAULT_MAX_FRAMES, &result);
      show (name, &result);
      expect_live (&result);
      fail_unless_equals_int (result.lost[IFD_FRAME_P], 0);
      if (algorithm == IFD_ALGORITHM_GOP)
        fail_unless_equals_int (result.lost[IFD_FRAME_B], 0);
      g_free (name);
    }
    g_array_unref (film);
  }
}

GST_END_TEST;

static Suite *
ifdclip_suite (void)
{
  Suite *s = suite_create ("ifdclip");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 120);
  tcase_add_test (tc, gop_at_6_mbit);
  tcase_add_test (tc, paper_algorithms_at_6_mbit);
  tcase_add_test (tc, nothing_is_lost_where_there_is_room);
  return s;
}

GST_CHECK_MAIN (ifdclip);
