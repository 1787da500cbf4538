/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of LinkFrameQueue, a queue for the packets of video streams. It
 * collects the packets of a frame and sends only complete frames, one after the
 * other. If a packet of a frame is missing, the queue drops this frame and no
 * other one. If the queue is full, it drops frames as I-Frame Delay does (IFD,
 * Ouwens 2006): B-frames first and I-frames last.
 */

#include <gst/check/gstcheck.h>

#include "linkframequeue.h"
#include "mpegvideoframer.h"

#define MS LINK_MS
#define PACKET 1000

/* The queue under test and the state of its sender. A test gives each packet a
 * letter, so that it can write a group of packets as a word. */
typedef struct
{
  LinkFrameQueue *queue;
  guint64 now;
  guint16 sequence;
  guint32 timestamp;
  guint flow;
  guint64 stream;
} Fixture;

static Fixture
fixture_new (IfdAlgorithm algorithm, guint max_frames)
{
  const IfdConfig config = { algorithm, max_frames };
  Fixture fixture = { link_frame_queue_new (&config), 0, 65530, 1000, 0, 4711 };

  return fixture;
}

static void
fixture_clear (Fixture * fixture)
{
  link_frame_queue_free (fixture->queue, NULL);
}

static VideoPacket
describe (Fixture * fixture, gchar type, gboolean begins, gboolean ends)
{
  VideoPacket video = { 0, };

  video.stream = fixture->stream;
  video.timestamp = fixture->timestamp;
  video.sequence = fixture->sequence++;
  video.type = type == 'I' ? MPEG_VIDEO_PICTURE_I :
      type == 'P' ? MPEG_VIDEO_PICTURE_P :
      type == 'B' ? MPEG_VIDEO_PICTURE_B : MPEG_VIDEO_PICTURE_UNKNOWN;
  video.begins = begins;
  video.ends = ends;
  return video;
}

/* Passes a packet to the queue, and returns FALSE if the queue refuses it. Also
 * checks that link_frame_queue_wants (), called before, has predicted this
 * result. */
static gboolean
push (Fixture * fixture, const VideoPacket * video, gchar letter)
{
  LinkItem *item = link_item_new (fixture->flow, 0, PACKET,
      GINT_TO_POINTER (letter));
  gboolean wanted =
      link_frame_queue_wants (fixture->queue, fixture->now, fixture->flow,
      video), taken;

  item->p.arrival = fixture->now;
  taken = link_frame_queue_push (fixture->queue, fixture->now, item, video);
  fail_unless_equals_int (taken, wanted);
  if (!taken)
    link_item_free (item, NULL);
  return taken;
}

/* Passes a frame to the queue. The frame has one packet for each letter in
 * `letters`, and the queue must accept all of them. */
static void
push_frame (Fixture * fixture, gchar type, const gchar * letters)
{
  const gchar *letter;

  fixture->timestamp += 3600;
  for (letter = letters; *letter; letter++) {
    VideoPacket video = describe (fixture, type, letter == letters, !letter[1]);

    fail_unless (push (fixture, &video, *letter));
  }
}

static void
expect_letters (GString * found, const gchar * letters)
{
  fail_unless_equals_string (found->str, letters);
  g_string_free (found, TRUE);
}

static void
add_letter (GString * found, LinkItem * item)
{
  g_string_append_c (found, GPOINTER_TO_INT (item->p.user));
  link_item_free (item, NULL);
}

/* Takes from the queue all packets that can be sent now. Checks that their
 * letters, in this order, are `letters`. */
static void
expect_sent (Fixture * fixture, const gchar * letters)
{
  GString *found = g_string_new (NULL);
  LinkItem *item;

  while ((item = link_frame_queue_peek (fixture->queue))) {
    fail_unless (link_frame_queue_take (fixture->queue, fixture->now) == item);
    add_letter (found, item);
  }
  fail_unless (link_frame_queue_take (fixture->queue, fixture->now) == NULL);
  expect_letters (found, letters);
}

static void
expect_taken (Fixture * fixture, gchar letter)
{
  LinkItem *item = link_frame_queue_take (fixture->queue, fixture->now);

  fail_unless (item != NULL);
  fail_unless_equals_int (GPOINTER_TO_INT (item->p.user), letter);
  link_item_free (item, NULL);
}

static void
expect_lost (Fixture * fixture, const gchar * letters)
{
  GString *found = g_string_new (NULL);
  LinkItem *item;

  while ((item = link_frame_queue_poll_lost (fixture->queue)))
    add_letter (found, item);
  expect_letters (found, letters);
}

static IfdStats
get_stats (Fixture * fixture)
{
  IfdStats stats = { {0,}, };

  link_frame_queue_add_stats (fixture->queue, &stats);
  return stats;
}

static void
expect_empty (Fixture * fixture)
{
  guint packets;
  guint64 bytes;

  link_frame_queue_get_size (fixture->queue, &packets, &bytes);
  fail_unless_equals_int (packets, 0);
  fail_unless_equals_uint64 (bytes, 0);
  fail_unless (link_frame_queue_next_timeout (fixture->queue) == LINK_NEVER);
}

/* --- whole frames --------------------------------------------------------- */

GST_START_TEST (a_frame_leaves_when_it_is_whole)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video;

  fixture.timestamp += 3600;
  video = describe (&fixture, 'I', TRUE, FALSE);
  push (&fixture, &video, 'a');
  expect_sent (&fixture, "");
  video = describe (&fixture, 'I', FALSE, TRUE);
  push (&fixture, &video, 'b');
  expect_sent (&fixture, "ab");
  push_frame (&fixture, 'B', "c");
  push_frame (&fixture, 'B', "def");
  push_frame (&fixture, 'P', "ghijklmn");
  expect_sent (&fixture, "cdefghijklmn");
  expect_lost (&fixture, "");
  expect_empty (&fixture);
  fail_unless_equals_uint64 (get_stats (&fixture).sent[IFD_FRAME_B], 2);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* A frame of two fields. Both fields have the same timestamp, and each has a
 * picture header of its own. They must count as one frame, which has the type
 * of the first field. */
GST_START_TEST (field_pictures_are_one_frame_of_the_type_of_the_first)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket first = describe (&fixture, 'I', TRUE, FALSE);
  VideoPacket second = describe (&fixture, 'P', TRUE, TRUE);

  push (&fixture, &first, 'a');
  push (&fixture, &second, 'b');
  expect_sent (&fixture, "ab");
  fail_unless_equals_uint64 (get_stats (&fixture).in[IFD_FRAME_I], 1);
  fail_unless_equals_uint64 (get_stats (&fixture).in[IFD_FRAME_P], 0);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (without_marker_the_next_frame_ends_it)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video = describe (&fixture, 'I', TRUE, FALSE);

  push (&fixture, &video, 'a');
  fixture.timestamp++;
  video = describe (&fixture, 'P', TRUE, FALSE);
  push (&fixture, &video, 'b');
  expect_sent (&fixture, "a");
  /* Without a marker bit, a frame ends where the next frame begins. Here a
   * packet is missing between the two frames. It may have belonged to the first
   * frame, so the queue must drop this frame as incomplete. The second frame
   * refers to the first one and must be dropped, too. */
  fixture.timestamp++;
  fixture.sequence++;
  video = describe (&fixture, 'P', TRUE, TRUE);
  push (&fixture, &video, 'c');
  expect_sent (&fixture, "");
  expect_lost (&fixture, "bc");
  fail_unless_equals_uint64 (get_stats (&fixture).dropped[IFD_FRAME_P]
      [IFD_DROP_INCOMPLETE], 1);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- incomplete frames ---------------------------------------------------- */

GST_START_TEST (a_hole_takes_its_frame_and_what_refers_to_it)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video;

  push_frame (&fixture, 'I', "ab");
  expect_sent (&fixture, "ab");
  fixture.timestamp += 3600;
  video = describe (&fixture, 'P', TRUE, FALSE);
  push (&fixture, &video, 'c');
  fixture.sequence++;
  video = describe (&fixture, 'P', FALSE, FALSE);
  push (&fixture, &video, 'd');
  /* The packets c and d belong to the same frame. A packet between them is
   * missing. The frame is therefore incomplete, and the queue must drop it. */
  expect_lost (&fixture, "cd");
  video = describe (&fixture, 'P', FALSE, TRUE);
  push (&fixture, &video, 'e');
  expect_lost (&fixture, "e");
  push_frame (&fixture, 'B', "fg");
  expect_lost (&fixture, "fg");
  push_frame (&fixture, 'I', "hi");
  expect_sent (&fixture, "hi");
  expect_empty (&fixture);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (a_frame_without_its_first_packet_is_not_whole)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video;

  push_frame (&fixture, 'I', "a");
  expect_sent (&fixture, "a");
  fixture.sequence++;
  fixture.timestamp += 3600;
  video = describe (&fixture, 'B', FALSE, FALSE);
  push (&fixture, &video, 'b');
  video = describe (&fixture, 'B', FALSE, TRUE);
  push (&fixture, &video, 'c');
  expect_lost (&fixture, "bc");
  fail_unless_equals_uint64 (get_stats (&fixture).dropped[IFD_FRAME_B]
      [IFD_DROP_INCOMPLETE], 1);
  /* The next frame is complete. */
  push_frame (&fixture, 'P', "d");
  expect_sent (&fixture, "d");
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (old_and_doubled_packets_change_nothing)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket a = describe (&fixture, 'I', TRUE, FALSE);
  VideoPacket b = describe (&fixture, 'I', FALSE, FALSE);
  VideoPacket c = describe (&fixture, 'I', FALSE, TRUE);

  push (&fixture, &a, 'a');
  push (&fixture, &a, 'A');
  push (&fixture, &b, 'b');
  push (&fixture, &b, 'B');
  push (&fixture, &c, 'c');
  push (&fixture, &c, 'C');
  push (&fixture, &b, 'D');
  expect_lost (&fixture, "ABCD");
  expect_sent (&fixture, "abc");
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (silence_ends_a_frame_without_end)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video = describe (&fixture, 'I', TRUE, FALSE);

  push (&fixture, &video, 'a');
  fixture.now = 700 * MS;
  video = describe (&fixture, 'I', FALSE, FALSE);
  push (&fixture, &video, 'b');
  fail_unless_equals_uint64 (link_frame_queue_next_timeout (fixture.queue),
      1700 * MS);
  link_frame_queue_timeout (fixture.queue, 1699 * MS);
  expect_lost (&fixture, "");
  link_frame_queue_timeout (fixture.queue, 1700 * MS);
  expect_lost (&fixture, "ab");
  expect_empty (&fixture);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (the_end_of_a_flow_ends_its_frames)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video = describe (&fixture, 'I', TRUE, FALSE);

  push (&fixture, &video, 'a');
  fixture.flow = 1;
  push (&fixture, &video, 'b');
  link_frame_queue_end_flow (fixture.queue, 0, 1);
  expect_lost (&fixture, "b");
  link_frame_queue_end_flow (fixture.queue, 0, 0);
  expect_lost (&fixture, "a");
  /* A late packet of this flow */
  video = describe (&fixture, 'I', FALSE, TRUE);
  push (&fixture, &video, 'c');
  expect_lost (&fixture, "c");
  expect_empty (&fixture);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* A frame that never ends must not fill the memory: when it has reached the
 * maximum size of a frame, the queue must drop it. */
GST_START_TEST (a_frame_has_a_largest_size)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video = describe (&fixture, 'I', TRUE, FALSE);
  guint packets, i;
  guint64 bytes;

  for (i = 0; i < 20000; i++) {
    push (&fixture, &video, 'a');
    video = describe (&fixture, 'I', FALSE, FALSE);
    link_frame_queue_get_size (fixture.queue, &packets, &bytes);
    fail_unless (bytes <= MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE + PACKET);
  }
  expect_empty (&fixture);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- types ---------------------------------------------------------------- */

/* Some senders set all fields of the video-specific header (RFC 2250) to 0.
 * Only the first packet of a frame then contains the frame type, in the picture
 * header. The queue must use this type for all packets of the frame. If the
 * first packet is missing, it must refuse the other packets. */
GST_START_TEST (the_first_packet_says_the_type_for_all)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video = describe (&fixture, 'I', TRUE, FALSE);

  push (&fixture, &video, 'a');
  video = describe (&fixture, '?', FALSE, TRUE);
  fail_unless (push (&fixture, &video, 'b'));
  expect_sent (&fixture, "ab");
  fixture.timestamp++;
  video = describe (&fixture, '?', FALSE, FALSE);
  fail_if (push (&fixture, &video, 'c'));
  video = describe (&fixture, '?', FALSE, TRUE);
  fail_if (push (&fixture, &video, 'd'));
  push_frame (&fixture, 'P', "e");
  expect_sent (&fixture, "e");
  fixture_clear (&fixture);
}

GST_END_TEST;

/* A new stream must begin with the first packet of a frame whose type is known.
 * The queue must refuse all packets before it, because they may belong to
 * another protocol that resembles RTP. */
GST_START_TEST (a_stream_begins_with_a_frame)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video = describe (&fixture, 'P', FALSE, TRUE);

  fail_if (push (&fixture, &video, 'a'));
  video = describe (&fixture, '?', TRUE, TRUE);
  fail_if (push (&fixture, &video, 'b'));
  push_frame (&fixture, 'I', "c");
  expect_sent (&fixture, "c");
  fixture_clear (&fixture);
}

GST_END_TEST;

static void
push_b (Fixture * fixture, guint reference, gchar letter)
{
  VideoPacket video;

  fixture->timestamp += 3600;
  video = describe (fixture, 'B', TRUE, TRUE);
  video.temporal_reference = reference;
  fail_unless (push (fixture, &video, letter));
}

/* The last frame of the previous GOP is incomplete. B-frames that are shown
 * before the next I-frame (leading frames) may refer to it, so they must be
 * dropped. B-frames that are shown after the I-frame must be sent. The queue
 * can distinguish the two kinds only by their temporal references, which give
 * the display order. */
GST_START_TEST (temporal_references_tell_what_leads_a_gop)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video;

  push_frame (&fixture, 'I', "a");
  fixture.sequence++;
  fixture.timestamp++;
  video = describe (&fixture, 'P', FALSE, TRUE);
  push (&fixture, &video, 'b');
  fixture.timestamp++;
  video = describe (&fixture, 'I', TRUE, TRUE);
  video.temporal_reference = 1;
  push (&fixture, &video, 'c');
  push_b (&fixture, 0, 'd');
  push_b (&fixture, 2, 'e');
  expect_lost (&fixture, "bd");
  expect_sent (&fixture, "ace");
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (a_closed_gop_is_told_by_any_packet_of_its_frame)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video = describe (&fixture, 'I', TRUE, FALSE);

  push (&fixture, &video, 'a');
  video = describe (&fixture, 'I', FALSE, TRUE);
  video.closed_gop = TRUE;
  push (&fixture, &video, 'b');
  push_frame (&fixture, 'B', "c");
  expect_sent (&fixture, "abc");
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- dropped frames ------------------------------------------------------- */

GST_START_TEST (overwritten_frame_is_dropped_whole)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_PAPER, 1);

  push_frame (&fixture, 'I', "ab");
  expect_taken (&fixture, 'a');
  push_frame (&fixture, 'B', "cd");
  push_frame (&fixture, 'B', "ef");
  expect_lost (&fixture, "ef");
  push_frame (&fixture, 'P', "gh");
  expect_lost (&fixture, "cd");
  push_frame (&fixture, 'I', "ij");
  expect_lost (&fixture, "gh");
  /* The frame "ab" was already being sent, so its second packet must be sent.
   */
  expect_sent (&fixture, "bij");
  fail_unless_equals_uint64 (get_stats (&fixture).dropped[IFD_FRAME_B]
      [IFD_DROP_OVERWRITTEN], 1);
  expect_empty (&fixture);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- several streams ------------------------------------------------------ */

static void
select_stream (Fixture * fixture, guint64 stream, guint64 now)
{
  fixture->stream = stream;
  fixture->now = now;
}

GST_START_TEST (first_complete_frame_is_sent_first_and_whole)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket first, last;

  select_stream (&fixture, 1, 0);
  first = describe (&fixture, 'I', TRUE, FALSE);
  last = describe (&fixture, 'I', FALSE, TRUE);
  push (&fixture, &first, 'a');
  select_stream (&fixture, 2, 1);
  push_frame (&fixture, 'I', "cd");
  expect_taken (&fixture, 'c');
  push (&fixture, &last, 'b');
  select_stream (&fixture, 3, 2);
  push_frame (&fixture, 'I', "ef");
  select_stream (&fixture, 1, 3);
  push_frame (&fixture, 'P', "gh");
  expect_sent (&fixture, "dabefgh");
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (streams_do_not_take_each_others_room)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_PAPER, 1);

  select_stream (&fixture, 1, 0);
  push_frame (&fixture, 'I', "a");
  select_stream (&fixture, 2, 0);
  push_frame (&fixture, 'I', "b");
  fixture.flow = 1;
  push_frame (&fixture, 'I', "c");
  expect_lost (&fixture, "");
  expect_sent (&fixture, "abc");
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (number_of_streams_is_limited_and_silent_ones_go)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video;
  guint i;

  for (i = 0; i < LINK_FRAME_QUEUE_MAX_STREAMS; i++) {
    select_stream (&fixture, i, i);
    push_frame (&fixture, 'I', "a");
  }
  fixture.stream = 100;
  video = describe (&fixture, 'I', TRUE, TRUE);
  fail_if (push (&fixture, &video, 'b'));
  /* Each stream has a place in the queue, and all places are occupied. No
   * packet of the first stream has arrived for the time
   * LINK_FRAME_QUEUE_STREAM_IDLE. However, a frame of this stream still waits
   * in the queue, so the stream must keep its place. The queue must refuse a
   * new stream. */
  fixture.now = LINK_FRAME_QUEUE_STREAM_IDLE;
  fail_if (push (&fixture, &video, 'b'));
  expect_sent (&fixture, "aaaaaaaa");
  fail_unless (push (&fixture, &video, 'b'));
  expect_sent (&fixture, "b");
  /* The new stream has taken the place of the first stream. The statistics must
   * still include the frame that the first stream has sent. */
  fail_unless_equals_uint64 (get_stats (&fixture).sent[IFD_FRAME_I], 9);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- clean-up ------------------------------------------------------------- */

static guint n_freed;

static void
count_free (gpointer user)
{
  n_freed++;
}

GST_START_TEST (queued_packets_are_freed)
{
  Fixture fixture = fixture_new (IFD_ALGORITHM_PAPER, 1);
  VideoPacket video;

  push_frame (&fixture, 'I', "ab");
  expect_taken (&fixture, 'a');
  push_frame (&fixture, 'P', "cd");
  push_frame (&fixture, 'B', "ef");
  fixture.timestamp++;
  video = describe (&fixture, 'I', TRUE, FALSE);
  push (&fixture, &video, 'g');
  link_frame_queue_free (fixture.queue, count_free);
  /* All packets in the queue must be freed: 1 of the frame that is being sent,
   * 2 of the waiting frame, 2 of the dropped frame, and 1 of the frame that is
   * still incomplete. */
  fail_unless_equals_int (n_freed, 1 + 2 + 2 + 1);
}

GST_END_TEST;

static Suite *
linkframequeue_suite (void)
{
  Suite *s = suite_create ("linkframequeue");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, a_frame_leaves_when_it_is_whole);
  tcase_add_test (tc, field_pictures_are_one_frame_of_the_type_of_the_first);
  tcase_add_test (tc, without_marker_the_next_frame_ends_it);
  tcase_add_test (tc, a_hole_takes_its_frame_and_what_refers_to_it);
  tcase_add_test (tc, a_frame_without_its_first_packet_is_not_whole);
  tcase_add_test (tc, old_and_doubled_packets_change_nothing);
  tcase_add_test (tc, silence_ends_a_frame_without_end);
  tcase_add_test (tc, the_end_of_a_flow_ends_its_frames);
  tcase_add_test (tc, a_frame_has_a_largest_size);
  tcase_add_test (tc, the_first_packet_says_the_type_for_all);
  tcase_add_test (tc, a_stream_begins_with_a_frame);
  tcase_add_test (tc, temporal_references_tell_what_leads_a_gop);
  tcase_add_test (tc, a_closed_gop_is_told_by_any_packet_of_its_frame);
  tcase_add_test (tc, overwritten_frame_is_dropped_whole);
  tcase_add_test (tc, first_complete_frame_is_sent_first_and_whole);
  tcase_add_test (tc, streams_do_not_take_each_others_room);
  tcase_add_test (tc, number_of_streams_is_limited_and_silent_ones_go);
  tcase_add_test (tc, queued_packets_are_freed);
  return s;
}

GST_CHECK_MAIN (linkframequeue);
