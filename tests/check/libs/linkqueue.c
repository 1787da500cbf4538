/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the queue disciplines of the link, which decide which packets a full
 * queue drops. The link has 1 Mbit/s, so a packet of 125 bytes takes 1 ms.
 */

#include <gst/check/gstcheck.h>

#include "linkpattern.h"
#include "linkload.h"

#define MS LINK_MS
#define PACKET 125

/* The link under test, with one flow of packets. A test gives each packet a
 * letter, so that it can write a group of packets as a word. */
typedef struct
{
  Link *link;
  guint64 now;
  guint16 sequence;
  guint32 timestamp;
} Fixture;

static LinkConfig
make_config (LinkQueueDiscipline discipline, guint packets)
{
  LinkConfig config;

  link_config_init (&config, LINK_PROFILE_CUSTOM, LINK_QUALITY_IDEAL);
  config.pipe.rate[0] = 1000000;
  config.queue.discipline = discipline;
  config.queue.packets = packets;
  return config;
}

static Fixture
fixture_new_with (const LinkConfig * config)
{
  Fixture fixture = { link_load_link_new (config), 0, 1, 0 };

  link_add_flow (fixture.link, 0);
  return fixture;
}

static Fixture
fixture_new (LinkQueueDiscipline discipline, guint packets)
{
  LinkConfig config = make_config (discipline, packets);

  return fixture_new_with (&config);
}

static VideoPacket
describe (Fixture * fixture, MpegVideoPictureType type, gboolean begins,
    gboolean ends)
{
  VideoPacket video = { 0, };

  video.timestamp = fixture->timestamp;
  video.sequence = fixture->sequence++;
  video.type = type;
  video.begins = begins;
  video.ends = ends;
  return video;
}

static void
push_video (Fixture * fixture, const VideoPacket * video, gchar letter)
{
  link_input_video (fixture->link, fixture->now, 0, PACKET, video,
      GINT_TO_POINTER (letter));
}

static void
push_frame (Fixture * fixture, MpegVideoPictureType type, const gchar * letters)
{
  const gchar *letter;

  fixture->timestamp++;
  for (letter = letters; *letter; letter++) {
    VideoPacket video = describe (fixture, type, letter == letters, !letter[1]);

    push_video (fixture, &video, *letter);
  }
}

static void
push_other (Fixture * fixture, gchar letter)
{
  link_input (fixture->link, fixture->now, 0, PACKET, GINT_TO_POINTER (letter));
}

/* Reads the events since the last call, which say what happened to packets.
 * Checks that exactly the packets in `letters` have the fate `fate`, for
 * example delivered or dropped. Each letter stands for one packet. */
static void
expect_fates (Fixture * fixture, LinkFate fate, const gchar * letters)
{
  GString *found = g_string_new (NULL);
  LinkEvent event;

  while (link_poll_event (fixture->link, &event)) {
    if (event.type == LINK_EVENT_FATE && event.packet.fate == fate)
      g_string_append_c (found, GPOINTER_TO_INT (event.packet.user));
  }
  fail_unless_equals_string (found->str, letters);
  g_string_free (found, TRUE);
}

static void
run (Fixture * fixture)
{
  LinkPacket packet;

  while (link_next_wakeup (fixture->link) != LINK_NEVER)
    link_timeout (fixture->link, link_next_wakeup (fixture->link));
  while (link_poll_output (fixture->link, &packet));
}

static void
expect_sums (Fixture * fixture)
{
  LinkFlowStats stats;
  guint64 fates = 0;
  guint i;

  link_get_flow_stats (fixture->link, 0, &stats);
  for (i = 0; i < LINK_FATE_LAST; i++)
    fates += stats.fates[i];
  fail_unless_equals_uint64 (stats.offered, fates);
}

static void
fixture_clear (Fixture * fixture)
{
  expect_sums (fixture);
  link_free (fixture->link, NULL);
}

#define I MPEG_VIDEO_PICTURE_I
#define P MPEG_VIDEO_PICTURE_P
#define B MPEG_VIDEO_PICTURE_B

/* --- drop-tail ------------------------------------------------------------ */

GST_START_TEST (drop_tail_knows_no_frames)
{
  Fixture fixture = fixture_new (LINK_QUEUE_DROP_TAIL, 3);

  push_frame (&fixture, I, "abcdef");
  expect_fates (&fixture, LINK_FATE_QUEUE, "ef");
  run (&fixture);
  expect_fates (&fixture, LINK_FATE_DELIVERED, "abcd");
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- drop-frame ----------------------------------------------------------- */

/* Packet a is already in transmission. */
GST_START_TEST (drop_frame_loses_the_whole_frame)
{
  Fixture fixture = fixture_new (LINK_QUEUE_DROP_FRAME, 3);
  LinkEvent event;
  GString *found = g_string_new (NULL);

  push_frame (&fixture, I, "abcdefg");
  while (link_poll_event (fixture.link, &event))
    g_string_append_printf (found, "%c:%s ",
        GPOINTER_TO_INT (event.packet.user),
        link_fate_get_name (event.packet.fate));
  fail_unless_equals_string (found->str,
      "b:frame c:frame d:frame e:queue f:frame g:frame ");
  g_string_free (found, TRUE);
  run (&fixture);
  expect_fates (&fixture, LINK_FATE_DELIVERED, "a");
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (drop_frame_spares_other_frames_and_packets)
{
  Fixture fixture = fixture_new (LINK_QUEUE_DROP_FRAME, 6);

  push_other (&fixture, 'x');
  push_frame (&fixture, P, "abc");
  push_other (&fixture, 'y');
  push_frame (&fixture, B, "def");
  expect_fates (&fixture, LINK_FATE_QUEUE, "f");
  push_frame (&fixture, B, "g");
  push_other (&fixture, 'z');
  run (&fixture);
  expect_fates (&fixture, LINK_FATE_DELIVERED, "xabcygz");
  fixture_clear (&fixture);
}

GST_END_TEST;

/* If a packet of a frame is dropped, the discipline drop-frame also drops the
 * other packets of this frame. The last packet of the first frame never
 * arrives. The queue must recognize the next frame nevertheless and send it. */
GST_START_TEST (drop_frame_ends_with_the_frame)
{
  Fixture fixture = fixture_new (LINK_QUEUE_DROP_FRAME, 2);
  VideoPacket video;
  guint i;

  for (i = 0; i < 5; i++) {
    video = describe (&fixture, P, i == 0, FALSE);
    push_video (&fixture, &video, 'a' + i);
  }
  push_frame (&fixture, B, "fg");
  run (&fixture);
  expect_fates (&fixture, LINK_FATE_DELIVERED, "afg");
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- ifd ------------------------------------------------------------------ */

/* The queue uses the algorithm IFD_ALGORITHM_PAPER, which has room for only one
 * frame that waits to be sent. The first packet of the I-frame is already in
 * transmission. The I-frame therefore does not count as waiting, and it cannot
 * be dropped. The first B-frame waits, so there is no room for the second
 * B-frame, which must be dropped. When the P-frame arrives, the first B-frame
 * must be dropped, and the P-frame must take its place. */
GST_START_TEST (ifd_gives_up_b_frames_for_others)
{
  LinkConfig config = make_config (LINK_QUEUE_IFD, 2);
  IfdStats stats;
  Fixture fixture;

  config.queue.ifd.algorithm = IFD_ALGORITHM_PAPER;
  fixture = fixture_new_with (&config);
  push_frame (&fixture, I, "abcd");
  push_frame (&fixture, B, "efgh");
  push_frame (&fixture, B, "ijkl");
  expect_fates (&fixture, LINK_FATE_FRAME, "ijkl");
  push_frame (&fixture, P, "mnop");
  expect_fates (&fixture, LINK_FATE_FRAME, "efgh");
  run (&fixture);
  expect_fates (&fixture, LINK_FATE_DELIVERED, "abcdmnop");
  fail_unless (link_get_ifd_stats (fixture.link, &stats));
  fail_unless_equals_uint64 (stats.sent[IFD_FRAME_I], 1);
  fail_unless_equals_uint64 (stats.sent[IFD_FRAME_P], 1);
  fail_unless_equals_uint64 (stats.dropped[IFD_FRAME_B][IFD_DROP_NO_ROOM], 1);
  fixture_clear (&fixture);
  fixture = fixture_new (LINK_QUEUE_DROP_FRAME, 2);
  fail_if (link_get_ifd_stats (fixture.link, &stats));
  fixture_clear (&fixture);
}

GST_END_TEST;

/* With IFD, video packets and other packets have separate queues. All of them
 * must leave in the order in which they arrived. The limit of three packets
 * must apply only to the other packets. */
GST_START_TEST (ifd_lets_others_pass_in_their_order)
{
  Fixture fixture = fixture_new (LINK_QUEUE_IFD, 3);

  push_other (&fixture, 'u');
  fixture.now = 1;
  push_frame (&fixture, I, "abc");
  fixture.now = 2;
  push_other (&fixture, 'v');
  push_other (&fixture, 'w');
  fixture.now = 3;
  push_frame (&fixture, P, "de");
  fixture.now = 4;
  push_other (&fixture, 'x');
  push_other (&fixture, 'y');
  expect_fates (&fixture, LINK_FATE_QUEUE, "y");
  run (&fixture);
  expect_fates (&fixture, LINK_FATE_DELIVERED, "uabcvwdex");
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Only the first packet of a frame has arrived, so the frame cannot be sent
 * yet. Meanwhile, packets that are not video must be sent without a delay. */
GST_START_TEST (ifd_sends_others_while_a_frame_is_assembled)
{
  Fixture fixture = fixture_new (LINK_QUEUE_IFD, 3);
  VideoPacket video = describe (&fixture, I, TRUE, FALSE);

  push_video (&fixture, &video, 'a');
  fixture.now = 1;
  push_other (&fixture, 'x');
  link_timeout (fixture.link, 2 * MS);
  expect_fates (&fixture, LINK_FATE_DELIVERED, "x");
  fail_unless_equals_uint64 (link_next_wakeup (fixture.link), LINK_SECOND);
  fixture.now = 3 * MS;
  video = describe (&fixture, I, FALSE, TRUE);
  push_video (&fixture, &video, 'b');
  link_timeout (fixture.link, 5 * MS);
  expect_fates (&fixture, LINK_FATE_DELIVERED, "ab");
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (ifd_gives_up_a_frame_without_end)
{
  Fixture fixture = fixture_new (LINK_QUEUE_IFD, 3);
  VideoPacket video = describe (&fixture, I, TRUE, FALSE);
  LinkEvent event;

  push_video (&fixture, &video, 'a');
  link_end_flow (fixture.link, 5 * MS, 0);
  expect_fates (&fixture, LINK_FATE_FRAME, "a");
  fixture.now = 10 * MS;
  fixture.timestamp++;
  video = describe (&fixture, I, TRUE, FALSE);
  push_video (&fixture, &video, 'b');
  link_timeout (fixture.link, 2 * LINK_SECOND);
  fail_unless (link_poll_event (fixture.link, &event));
  fail_unless_equals_int (event.packet.fate, LINK_FATE_FRAME);
  fail_unless_equals_uint64 (event.time, LINK_SECOND + 10 * MS);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* An IFD queue is a queue that drops whole video frames if it is full. When the
 * first packet of a new video frame arrives, a full IFD queue can drop another
 * frame to make room for this packet. link_has_room_for_video () must therefore
 * return TRUE for the first packet of a frame. For any other packet, the
 * function must return FALSE.
 */
GST_START_TEST (ifd_has_room_for_any_frame)
{
  Fixture fixture = fixture_new (LINK_QUEUE_IFD, 1);
  VideoPacket video = describe (&fixture, I, TRUE, TRUE);

  push_other (&fixture, 'x');
  push_other (&fixture, 'y');
  fail_if (link_has_room (fixture.link, 0, PACKET));
  fail_unless (link_has_room_for_video (fixture.link, 0, PACKET, &video));
  video.begins = FALSE;
  fail_if (link_has_room_for_video (fixture.link, 0, PACKET, &video));
  run (&fixture);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (the_queue_counts_all_that_waits)
{
  Fixture fixture = fixture_new (LINK_QUEUE_IFD, 0);
  VideoPacket video;
  guint packets;
  guint64 bytes;

  push_frame (&fixture, I, "abc");
  push_frame (&fixture, P, "de");
  video = describe (&fixture, P, TRUE, FALSE);
  push_video (&fixture, &video, 'f');
  push_other (&fixture, 'x');
  link_get_queue (fixture.link, 0, &packets, &bytes);
  fail_unless_equals_int (packets, 6);
  fail_unless_equals_uint64 (bytes, 6 * PACKET);
  link_end_flow (fixture.link, 0, 0);
  run (&fixture);
  link_get_queue (fixture.link, 0, &packets, &bytes);
  fail_unless_equals_int (packets, 0);
  fail_unless_equals_uint64 (bytes, 0);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- patterns ------------------------------------------------------------- */

static void
push_film (Fixture * fixture)
{
  guint i;

  for (i = 0; i < 60; i++) {
    fixture->now = i * 4 * MS;
    push_frame (fixture, i % 12 == 0 ? I : i % 3 == 0 ? P : B,
        &"abcdefg"[i % 5]);
    push_other (fixture, 'x');
  }
}

/* Runs a link with the configuration `config`. Returns a text with the time,
 * the index and the fate (delivered, lost or dropped) of each packet. Stores a
 * recording of the run in `record`, with which it can be replayed.
 */
static gchar *
log_film (const LinkConfig * config, gchar ** record)
{
  GString *log = g_string_new (NULL);
  gchar *head = link_pattern_format_head (config->seed);
  GString *recorded = g_string_new (head);
  Fixture fixture = fixture_new_with (config);
  LinkEvent event;

  push_film (&fixture);
  run (&fixture);
  while (link_poll_event (fixture.link, &event)) {
    gchar *line = event.type == LINK_EVENT_FATE ?
        link_pattern_format_packet (&event.packet) : NULL;

    if (event.type == LINK_EVENT_FATE)
      g_string_append_printf (log, "%" G_GUINT64_FORMAT " %"
          G_GUINT64_FORMAT " %s\n", event.time, event.packet.index,
          link_fate_get_name (event.packet.fate));
    if (line)
      g_string_append (recorded, line);
    g_free (line);
  }
  fixture_clear (&fixture);
  g_free (head);
  *record = g_string_free (recorded, FALSE);
  return g_string_free (log, FALSE);
}

/* A recording identifies a packet by its number in the order of arrival. A run
 * can therefore be replayed even if the queue changes the order in which
 * packets leave. The replay must have the same results as the original run. */
GST_START_TEST (a_record_replays_with_any_queue)
{
  guint discipline;

  for (discipline = 0; discipline <= LINK_QUEUE_IFD; discipline++) {
    LinkConfig config = make_config (discipline, 10);
    gchar *original, *replay, *record, *again;

    config.seed = 4;
    config.pipe.loss_good = 0.2;
    config.pipe.jitter = 5 * MS;
    original = log_film (&config, &record);
    config.pipe.loss_good = 0.9;
    config.pattern = record;
    replay = log_film (&config, &again);
    fail_unless_equals_string (original, replay);
    fail_unless_equals_string (record, again);
    fail_unless (strstr (original, " air") != NULL);
    fail_unless (discipline == LINK_QUEUE_DROP_TAIL
        || strstr (original, " frame") != NULL);
    g_free (original);
    g_free (replay);
    g_free (record);
    g_free (again);
  }
}

GST_END_TEST;

static Suite *
linkqueue_suite (void)
{
  Suite *s = suite_create ("linkqueue");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, drop_tail_knows_no_frames);
  tcase_add_test (tc, drop_frame_loses_the_whole_frame);
  tcase_add_test (tc, drop_frame_spares_other_frames_and_packets);
  tcase_add_test (tc, drop_frame_ends_with_the_frame);
  tcase_add_test (tc, ifd_gives_up_b_frames_for_others);
  tcase_add_test (tc, ifd_lets_others_pass_in_their_order);
  tcase_add_test (tc, ifd_sends_others_while_a_frame_is_assembled);
  tcase_add_test (tc, ifd_gives_up_a_frame_without_end);
  tcase_add_test (tc, ifd_has_room_for_any_frame);
  tcase_add_test (tc, the_queue_counts_all_that_waits);
  tcase_add_test (tc, a_record_replays_with_any_queue);
  return s;
}

GST_CHECK_MAIN (linkqueue);
