/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Holds the choice of frames among packets to what its header says: whole frames
 * only, one at a time, in order; what is missing takes its frame with it and
 * nothing else.
 */

#include <gst/check/gstcheck.h>

#include "linkframequeue.h"
#include "mpegvideoframer.h"

#define MS LINK_MS
#define PACKET 1000

/* A queue and its packets: each has a letter of its own, so that what happens to
 * many reads as a word. */
typedef struct
{
  LinkFrameQueue *queue;
  guint64 now;
  guint16 sequence;
  guint32 timestamp;
  guint flow;
  guint64 stream;
} Rig;

static Rig
rig_new (IfdAlgorithm algorithm, guint max_frames)
{
  const IfdConfig config = { algorithm, max_frames };
  Rig rig = { link_frame_queue_new (&config), 0, 65530, 1000, 0, 4711 };

  return rig;
}

static void
rig_clear (Rig * rig)
{
  link_frame_queue_free (rig->queue, NULL);
}

static VideoPacket
describe (Rig * rig, gchar type, gboolean begins, gboolean ends)
{
  VideoPacket video = { 0, };

  video.stream = rig->stream;
  video.timestamp = rig->timestamp;
  video.sequence = rig->sequence++;
  video.type = type == 'I' ? MPEG_VIDEO_PICTURE_I :
      type == 'P' ? MPEG_VIDEO_PICTURE_P :
      type == 'B' ? MPEG_VIDEO_PICTURE_B : MPEG_VIDEO_PICTURE_UNKNOWN;
  video.begins = begins;
  video.ends = ends;
  return video;
}

/* FALSE: the queue did not want it. It said the same before. */
static gboolean
push (Rig * rig, const VideoPacket * video, gchar letter)
{
  LinkItem *item = link_item_new (rig->flow, 0, PACKET,
      GINT_TO_POINTER (letter));
  gboolean wanted = link_frame_queue_wants (rig->queue, rig->now, rig->flow,
      video), taken;

  item->p.arrival = rig->now;
  taken = link_frame_queue_push (rig->queue, rig->now, item, video);
  fail_unless_equals_int (taken, wanted);
  if (!taken)
    link_item_free (item, NULL);
  return taken;
}

/* A packet for each letter */
static void
push_frame (Rig * rig, gchar type, const gchar * letters)
{
  const gchar *letter;

  rig->timestamp += 3600;
  for (letter = letters; *letter; letter++) {
    VideoPacket video = describe (rig, type, letter == letters, !letter[1]);

    fail_unless (push (rig, &video, *letter));
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

/* What can be sent now, all of it */
static void
expect_sent (Rig * rig, const gchar * letters)
{
  GString *found = g_string_new (NULL);
  LinkItem *item;

  while ((item = link_frame_queue_peek (rig->queue))) {
    fail_unless (link_frame_queue_take (rig->queue, rig->now) == item);
    add_letter (found, item);
  }
  fail_unless (link_frame_queue_take (rig->queue, rig->now) == NULL);
  expect_letters (found, letters);
}

static void
expect_taken (Rig * rig, gchar letter)
{
  LinkItem *item = link_frame_queue_take (rig->queue, rig->now);

  fail_unless (item != NULL);
  fail_unless_equals_int (GPOINTER_TO_INT (item->p.user), letter);
  link_item_free (item, NULL);
}

static void
expect_lost (Rig * rig, const gchar * letters)
{
  GString *found = g_string_new (NULL);
  LinkItem *item;

  while ((item = link_frame_queue_poll_lost (rig->queue)))
    add_letter (found, item);
  expect_letters (found, letters);
}

static IfdStats
get_stats (Rig * rig)
{
  IfdStats stats = { {0,}, };

  link_frame_queue_add_stats (rig->queue, &stats);
  return stats;
}

static void
expect_empty (Rig * rig)
{
  guint packets;
  guint64 bytes;

  link_frame_queue_get_size (rig->queue, &packets, &bytes);
  fail_unless_equals_int (packets, 0);
  fail_unless_equals_uint64 (bytes, 0);
  fail_unless (link_frame_queue_next_timeout (rig->queue) == LINK_NEVER);
}

/* --- whole frames ---------------------------------------------------------- */

GST_START_TEST (a_frame_leaves_when_it_is_whole)
{
  Rig rig = rig_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video;

  rig.timestamp += 3600;
  video = describe (&rig, 'I', TRUE, FALSE);
  push (&rig, &video, 'a');
  expect_sent (&rig, "");
  video = describe (&rig, 'I', FALSE, TRUE);
  push (&rig, &video, 'b');
  expect_sent (&rig, "ab");
  push_frame (&rig, 'B', "c");
  push_frame (&rig, 'B', "def");
  push_frame (&rig, 'P', "ghijklmn");
  expect_sent (&rig, "cdefghijklmn");
  expect_lost (&rig, "");
  expect_empty (&rig);
  fail_unless_equals_uint64 (get_stats (&rig).sent[IFD_FRAME_B], 2);
  rig_clear (&rig);
}

GST_END_TEST;

/* Both have one timestamp, each has a picture header. */
GST_START_TEST (field_pictures_are_one_frame_of_the_type_of_the_first)
{
  Rig rig = rig_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket first = describe (&rig, 'I', TRUE, FALSE);
  VideoPacket second = describe (&rig, 'P', TRUE, TRUE);

  push (&rig, &first, 'a');
  push (&rig, &second, 'b');
  expect_sent (&rig, "ab");
  fail_unless_equals_uint64 (get_stats (&rig).in[IFD_FRAME_I], 1);
  fail_unless_equals_uint64 (get_stats (&rig).in[IFD_FRAME_P], 0);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (without_marker_the_next_frame_ends_it)
{
  Rig rig = rig_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video = describe (&rig, 'I', TRUE, FALSE);

  push (&rig, &video, 'a');
  rig.timestamp++;
  video = describe (&rig, 'P', TRUE, FALSE);
  push (&rig, &video, 'b');
  expect_sent (&rig, "a");
  /* but not where something is missing between */
  rig.timestamp++;
  rig.sequence++;
  video = describe (&rig, 'P', TRUE, TRUE);
  push (&rig, &video, 'c');
  expect_sent (&rig, "");
  expect_lost (&rig, "bc");
  fail_unless_equals_uint64 (get_stats (&rig).dropped[IFD_FRAME_P]
      [IFD_DROP_INCOMPLETE], 1);
  rig_clear (&rig);
}

GST_END_TEST;

/* --- frames that are not whole --------------------------------------------- */

GST_START_TEST (a_hole_takes_its_frame_and_what_refers_to_it)
{
  Rig rig = rig_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video;

  push_frame (&rig, 'I', "ab");
  expect_sent (&rig, "ab");
  rig.timestamp += 3600;
  video = describe (&rig, 'P', TRUE, FALSE);
  push (&rig, &video, 'c');
  rig.sequence++;
  video = describe (&rig, 'P', FALSE, FALSE);
  push (&rig, &video, 'd');
  /* it is known now */
  expect_lost (&rig, "cd");
  video = describe (&rig, 'P', FALSE, TRUE);
  push (&rig, &video, 'e');
  expect_lost (&rig, "e");
  push_frame (&rig, 'B', "fg");
  expect_lost (&rig, "fg");
  push_frame (&rig, 'I', "hi");
  expect_sent (&rig, "hi");
  expect_empty (&rig);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (a_frame_without_its_first_packet_is_not_whole)
{
  Rig rig = rig_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video;

  push_frame (&rig, 'I', "a");
  expect_sent (&rig, "a");
  rig.sequence++;
  rig.timestamp += 3600;
  video = describe (&rig, 'B', FALSE, FALSE);
  push (&rig, &video, 'b');
  video = describe (&rig, 'B', FALSE, TRUE);
  push (&rig, &video, 'c');
  expect_lost (&rig, "bc");
  fail_unless_equals_uint64 (get_stats (&rig).dropped[IFD_FRAME_B]
      [IFD_DROP_INCOMPLETE], 1);
  /* the next one is */
  push_frame (&rig, 'P', "d");
  expect_sent (&rig, "d");
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (old_and_doubled_packets_change_nothing)
{
  Rig rig = rig_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket a = describe (&rig, 'I', TRUE, FALSE);
  VideoPacket b = describe (&rig, 'I', FALSE, FALSE);
  VideoPacket c = describe (&rig, 'I', FALSE, TRUE);

  push (&rig, &a, 'a');
  push (&rig, &a, 'A');
  push (&rig, &b, 'b');
  push (&rig, &b, 'B');
  push (&rig, &c, 'c');
  push (&rig, &c, 'C');
  push (&rig, &b, 'D');
  expect_lost (&rig, "ABCD");
  expect_sent (&rig, "abc");
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (silence_ends_a_frame_without_end)
{
  Rig rig = rig_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video = describe (&rig, 'I', TRUE, FALSE);

  push (&rig, &video, 'a');
  rig.now = 700 * MS;
  video = describe (&rig, 'I', FALSE, FALSE);
  push (&rig, &video, 'b');
  fail_unless_equals_uint64 (link_frame_queue_next_timeout (rig.queue),
      1700 * MS);
  link_frame_queue_timeout (rig.queue, 1699 * MS);
  expect_lost (&rig, "");
  link_frame_queue_timeout (rig.queue, 1700 * MS);
  expect_lost (&rig, "ab");
  expect_empty (&rig);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (the_end_of_a_flow_ends_its_frames)
{
  Rig rig = rig_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video = describe (&rig, 'I', TRUE, FALSE);

  push (&rig, &video, 'a');
  rig.flow = 1;
  push (&rig, &video, 'b');
  link_frame_queue_end_flow (rig.queue, 0, 1);
  expect_lost (&rig, "b");
  link_frame_queue_end_flow (rig.queue, 0, 0);
  expect_lost (&rig, "a");
  /* what comes of it after all */
  video = describe (&rig, 'I', FALSE, TRUE);
  push (&rig, &video, 'c');
  expect_lost (&rig, "c");
  expect_empty (&rig);
  rig_clear (&rig);
}

GST_END_TEST;

/* A sender that never ends a frame doesn't fill the memory. */
GST_START_TEST (a_frame_has_a_largest_size)
{
  Rig rig = rig_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video = describe (&rig, 'I', TRUE, FALSE);
  guint packets, i;
  guint64 bytes;

  for (i = 0; i < 20000; i++) {
    push (&rig, &video, 'a');
    video = describe (&rig, 'I', FALSE, FALSE);
    link_frame_queue_get_size (rig.queue, &packets, &bytes);
    fail_unless (bytes <= MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE + PACKET);
  }
  expect_empty (&rig);
  rig_clear (&rig);
}

GST_END_TEST;

/* --- types ----------------------------------------------------------------- */

/* Senders with an empty video header: only the first packet says the type. */
GST_START_TEST (the_first_packet_says_the_type_for_all)
{
  Rig rig = rig_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video = describe (&rig, 'I', TRUE, FALSE);

  push (&rig, &video, 'a');
  video = describe (&rig, '?', FALSE, TRUE);
  fail_unless (push (&rig, &video, 'b'));
  expect_sent (&rig, "ab");
  rig.timestamp++;
  video = describe (&rig, '?', FALSE, FALSE);
  fail_if (push (&rig, &video, 'c'));
  video = describe (&rig, '?', FALSE, TRUE);
  fail_if (push (&rig, &video, 'd'));
  push_frame (&rig, 'P', "e");
  expect_sent (&rig, "e");
  rig_clear (&rig);
}

GST_END_TEST;

/* Until then it may be anything that looks like RTP. */
GST_START_TEST (a_stream_begins_with_a_frame)
{
  Rig rig = rig_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video = describe (&rig, 'P', FALSE, TRUE);

  fail_if (push (&rig, &video, 'a'));
  video = describe (&rig, '?', TRUE, TRUE);
  fail_if (push (&rig, &video, 'b'));
  push_frame (&rig, 'I', "c");
  expect_sent (&rig, "c");
  rig_clear (&rig);
}

GST_END_TEST;

static void
push_b (Rig * rig, guint reference, gchar letter)
{
  VideoPacket video;

  rig->timestamp += 3600;
  video = describe (rig, 'B', TRUE, TRUE);
  video.temporal_reference = reference;
  fail_unless (push (rig, &video, letter));
}

/* The GOP before lost its end: what leads this one can't be decoded, what
 * follows its I-frame can, though no P came between. */
GST_START_TEST (temporal_references_tell_what_leads_a_gop)
{
  Rig rig = rig_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video;

  push_frame (&rig, 'I', "a");
  rig.sequence++;
  rig.timestamp++;
  video = describe (&rig, 'P', FALSE, TRUE);
  push (&rig, &video, 'b');
  rig.timestamp++;
  video = describe (&rig, 'I', TRUE, TRUE);
  video.temporal_reference = 1;
  push (&rig, &video, 'c');
  push_b (&rig, 0, 'd');
  push_b (&rig, 2, 'e');
  expect_lost (&rig, "bd");
  expect_sent (&rig, "ace");
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (a_closed_gop_is_told_by_any_packet_of_its_frame)
{
  Rig rig = rig_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video = describe (&rig, 'I', TRUE, FALSE);

  push (&rig, &video, 'a');
  video = describe (&rig, 'I', FALSE, TRUE);
  video.closed_gop = TRUE;
  push (&rig, &video, 'b');
  push_frame (&rig, 'B', "c");
  expect_sent (&rig, "abc");
  rig_clear (&rig);
}

GST_END_TEST;

/* --- the choice ------------------------------------------------------------ */

GST_START_TEST (what_w_gives_up_is_lost_whole)
{
  Rig rig = rig_new (IFD_ALGORITHM_PAPER, 1);

  push_frame (&rig, 'I', "ab");
  expect_taken (&rig, 'a');
  push_frame (&rig, 'B', "cd");
  push_frame (&rig, 'B', "ef");
  expect_lost (&rig, "ef");
  push_frame (&rig, 'P', "gh");
  expect_lost (&rig, "cd");
  push_frame (&rig, 'I', "ij");
  expect_lost (&rig, "gh");
  /* S is sent to its end */
  expect_sent (&rig, "bij");
  fail_unless_equals_uint64 (get_stats (&rig).dropped[IFD_FRAME_B]
      [IFD_DROP_OVERWRITTEN], 1);
  expect_empty (&rig);
  rig_clear (&rig);
}

GST_END_TEST;

/* --- several streams ------------------------------------------------------- */

static void
select_stream (Rig * rig, guint64 stream, guint64 now)
{
  rig->stream = stream;
  rig->now = now;
}

GST_START_TEST (what_was_whole_first_goes_first_and_to_its_end)
{
  Rig rig = rig_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket first, last;

  select_stream (&rig, 1, 0);
  first = describe (&rig, 'I', TRUE, FALSE);
  last = describe (&rig, 'I', FALSE, TRUE);
  push (&rig, &first, 'a');
  select_stream (&rig, 2, 1);
  push_frame (&rig, 'I', "cd");
  expect_taken (&rig, 'c');
  push (&rig, &last, 'b');
  select_stream (&rig, 3, 2);
  push_frame (&rig, 'I', "ef");
  select_stream (&rig, 1, 3);
  push_frame (&rig, 'P', "gh");
  expect_sent (&rig, "dabefgh");
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (streams_do_not_take_each_others_room)
{
  Rig rig = rig_new (IFD_ALGORITHM_PAPER, 1);

  select_stream (&rig, 1, 0);
  push_frame (&rig, 'I', "a");
  select_stream (&rig, 2, 0);
  push_frame (&rig, 'I', "b");
  rig.flow = 1;
  push_frame (&rig, 'I', "c");
  expect_lost (&rig, "");
  expect_sent (&rig, "abc");
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (number_of_streams_is_limited_and_silent_ones_go)
{
  Rig rig = rig_new (IFD_ALGORITHM_GOP, 3);
  VideoPacket video;
  guint i;

  for (i = 0; i < LINK_FRAME_QUEUE_MAX_STREAMS; i++) {
    select_stream (&rig, i, i);
    push_frame (&rig, 'I', "a");
  }
  rig.stream = 100;
  video = describe (&rig, 'I', TRUE, TRUE);
  fail_if (push (&rig, &video, 'b'));
  /* the first has a frame that waits */
  rig.now = LINK_FRAME_QUEUE_STREAM_IDLE;
  fail_if (push (&rig, &video, 'b'));
  expect_sent (&rig, "aaaaaaaa");
  fail_unless (push (&rig, &video, 'b'));
  expect_sent (&rig, "b");
  /* the counters of who is gone stay */
  fail_unless_equals_uint64 (get_stats (&rig).sent[IFD_FRAME_I], 9);
  rig_clear (&rig);
}

GST_END_TEST;

/* --- the end --------------------------------------------------------------- */

static guint n_freed;

static void
count_free (gpointer user)
{
  n_freed++;
}

GST_START_TEST (what_is_inside_is_freed)
{
  Rig rig = rig_new (IFD_ALGORITHM_PAPER, 1);
  VideoPacket video;

  push_frame (&rig, 'I', "ab");
  expect_taken (&rig, 'a');
  push_frame (&rig, 'P', "cd");
  push_frame (&rig, 'B', "ef");
  rig.timestamp++;
  video = describe (&rig, 'I', TRUE, FALSE);
  push (&rig, &video, 'g');
  link_frame_queue_free (rig.queue, count_free);
  /* of S, W, what was lost, C */
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
  tcase_add_test (tc, what_w_gives_up_is_lost_whole);
  tcase_add_test (tc, what_was_whole_first_goes_first_and_to_its_end);
  tcase_add_test (tc, streams_do_not_take_each_others_room);
  tcase_add_test (tc, number_of_streams_is_limited_and_silent_ones_go);
  tcase_add_test (tc, what_is_inside_is_freed);
  return s;
}

GST_CHECK_MAIN (linkframequeue);
