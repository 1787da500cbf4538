/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the element ifdsink with sync=false and a file as the input. The
 * whole file must arrive as fast as the receiver reads, no matter whether
 * ifdsink reads the file itself or upstream pushes the file. It must be
 * possible to stop the pipeline while the receiver does not read. The test
 * itself is the receiver. */

#include <gst/check/gstcheck.h>
#include <gio/gio.h>
#include <glib/gstdio.h>

#include <string.h>

#include <sys/socket.h>

#include "streambuilder.h"

/* SLICE_SIZE, RECEIVE_BUFFER and PART are in bytes. RECEIVE_BUFFER is the size
 * of the receiver's socket buffer, which is much smaller than the file. If the
 * receiver does not read, the sink is therefore soon blocked. PART is the part
 * of the file that some receivers read before they stop. */
#define GOPS 100
#define SLICE_SIZE 15000
#define RECEIVE_BUFFER 16384
#define PART 100000

/* Parts of launch lines. Each string has the element between filesrc and
 * ifdsink. This element pushes the file to ifdsink. If the string is empty,
 * there is no element between filesrc and ifdsink, and ifdsink pulls the file
 * from filesrc. */
static const gchar *const upstreams[] = { "", "queue !", "mpegvideoparse !" };

typedef struct
{
  gchar *path;
  GByteArray *film;
  GSocket *listener;
  guint16 port;
  GSocket *connection;          /* NULL if there is none */
  GByteArray *received;         /* from the connection */
  GstElement *pipeline;
  GstElement *sink;             /* in the pipeline */
} Fixture;

static gboolean
has_upstream (gint i)
{
  GstElementFactory *parser = gst_element_factory_find ("mpegvideoparse");
  gboolean has = parser != NULL || i < 2;

  gst_clear_object (&parser);
  return has;
}

/* --- the film ------------------------------------------------------------- */

/* Returns a stream of `gops` GOPs. Each GOP has one I-frame and `p_frames`
 * P-frames. The last frame of a GOP is small, and all other frames are large.
 */
static GByteArray *
make_gops (guint gops, guint p_frames)
{
  MpegPicture picture = { 0, };
  MpegStream stream;
  guint i, j;

  mpeg_stream_init (&stream);
  picture.progressive = TRUE;
  for (i = 0; i < gops; i++) {
    mpeg_sequence (&stream, 32, 32, 3, TRUE, TRUE, FALSE);
    mpeg_gop (&stream, i * (1 + p_frames), TRUE);
    for (j = 0; j <= p_frames; j++) {
      picture.slice_size = j < p_frames ? SLICE_SIZE : 0;
      picture.type = j == 0 ? 'I' : 'P';
      picture.tr = j;
      mpeg_picture (&stream, &picture);
    }
  }
  mpeg_align (&stream);
  return stream.bytes;
}

static GByteArray *
make_film (void)
{
  return make_gops (GOPS, 1);
}

static gchar *
write_file (const GByteArray * bytes)
{
  GError *error = NULL;
  gchar *path;
  gint fd = g_file_open_tmp ("ifdsinkfile-XXXXXX", &path, &error);

  g_assert_no_error (error);
  fail_unless (g_close (fd, &error));
  fail_unless (g_file_set_contents (path, (const gchar *) bytes->data,
          bytes->len, &error));
  return path;
}

/* --- the receiver --------------------------------------------------------- */

static void
listen_for_one (Fixture * fixture)
{
  GInetAddress *loopback = g_inet_address_new_loopback (G_SOCKET_FAMILY_IPV4);
  GSocketAddress *any = g_inet_socket_address_new (loopback, 0), *bound;

  fixture->listener = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM,
      G_SOCKET_PROTOCOL_TCP, NULL);
  fail_unless (g_socket_set_option (fixture->listener, SOL_SOCKET, SO_RCVBUF,
          RECEIVE_BUFFER, NULL));
  fail_unless (g_socket_bind (fixture->listener, any, FALSE, NULL));
  fail_unless (g_socket_listen (fixture->listener, NULL));
  bound = g_socket_get_local_address (fixture->listener, NULL);
  fixture->port =
      g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (bound));
  g_object_unref (bound);
  g_object_unref (any);
  g_object_unref (loopback);
}

static void
accept_one (Fixture * fixture)
{
  g_clear_object (&fixture->connection);
  fixture->connection = g_socket_accept (fixture->listener, NULL, NULL);
  fail_unless (fixture->connection != NULL);
  g_byte_array_set_size (fixture->received, 0);
}

/* FALSE: the end */
static gboolean
receive_some (Fixture * fixture)
{
  gchar data[65536];
  gssize size =
      g_socket_receive (fixture->connection, data, sizeof (data), NULL,
      NULL);

  if (size > 0)
    g_byte_array_append (fixture->received, (const guint8 *) data, size);
  return size > 0;
}

static void
receive_part (Fixture * fixture)
{
  while (fixture->received->len < PART)
    fail_unless (receive_some (fixture));
}

static void
check_received (Fixture * fixture)
{
  while (receive_some (fixture));
  fail_unless_equals_int (fixture->received->len, fixture->film->len);
  fail_unless (memcmp (fixture->received->data, fixture->film->data,
          fixture->film->len) == 0);
}

/* --- the sender ----------------------------------------------------------- */

static Fixture *
fixture_new (GByteArray * film, const gchar * upstream)
{
  Fixture *fixture = g_new0 (Fixture, 1);
  GError *error = NULL;
  gchar *line;

  fixture->film = film;
  fixture->path = write_file (film);
  fixture->received = g_byte_array_new ();
  listen_for_one (fixture);
  line = g_strdup_printf ("filesrc location=%s ! %s ifdsink name=sink "
      "sync=false host=127.0.0.1 port=%u", fixture->path, upstream,
      fixture->port);
  fixture->pipeline = gst_parse_launch (line, &error);
  g_assert_no_error (error);
  fixture->sink = gst_bin_get_by_name (GST_BIN (fixture->pipeline), "sink");
  gst_object_unref (fixture->sink);
  g_free (line);
  return fixture;
}

static void
fixture_set_state (Fixture * fixture, GstState state)
{
  fail_if (gst_element_set_state (fixture->pipeline, state)
      == GST_STATE_CHANGE_FAILURE);
}

static Fixture *
fixture_play (gint i)
{
  Fixture *fixture = fixture_new (make_film (), upstreams[i]);

  fixture_set_state (fixture, GST_STATE_PLAYING);
  accept_one (fixture);
  return fixture;
}

static void
fixture_free (Fixture * fixture)
{
  fixture_set_state (fixture, GST_STATE_NULL);
  gst_object_unref (fixture->pipeline);
  g_clear_object (&fixture->connection);
  g_object_unref (fixture->listener);
  g_byte_array_unref (fixture->received);
  g_byte_array_unref (fixture->film);
  g_unlink (fixture->path);
  g_free (fixture->path);
  g_free (fixture);
}

static void
wait_for_message (Fixture * fixture, GstMessageType type)
{
  GstBus *bus = gst_element_get_bus (fixture->pipeline);

  gst_message_unref (gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
          type));
  gst_object_unref (bus);
}

static guint64
stat_of (Fixture * fixture, const gchar * name)
{
  GstStructure *stats;
  guint64 value = G_MAXUINT64;

  g_object_get (fixture->sink, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value), "no %s", name);
  gst_structure_free (stats);
  return value;
}

/* --- tests ---------------------------------------------------------------- */

GST_START_TEST (all_of_a_file_arrives)
{
  Fixture *fixture;

  if (!has_upstream (__i__))
    return;
  fixture = fixture_play (__i__);
  check_received (fixture);
  wait_for_message (fixture, GST_MESSAGE_EOS);
  fail_unless_equals_uint64 (stat_of (fixture, "sent"), 2 * GOPS);
  fail_unless_equals_uint64 (stat_of (fixture, "dropped"), 0);

  /* The whole file was sent once. The pipeline is now stopped and started
   * again. The sink must then send the whole file again, from its beginning. */
  fixture_set_state (fixture, GST_STATE_READY);
  fixture_set_state (fixture, GST_STATE_PLAYING);
  accept_one (fixture);
  check_received (fixture);
  wait_for_message (fixture, GST_MESSAGE_EOS);
  fixture_free (fixture);
}

GST_END_TEST;

/* ifdsink must pull the file if filesrc is directly upstream, because pulling
 * needs fewer calls: a pushed file arrives in 16 times as many buffers. */
GST_START_TEST (file_is_read_where_nothing_is_paced)
{
  Fixture *fixture = fixture_play (__i__);
  GstPad *pad = gst_element_get_static_pad (fixture->sink, "sink");

  fail_unless_equals_int (GST_PAD_MODE (pad),
      __i__ == 0 ? GST_PAD_MODE_PULL : GST_PAD_MODE_PUSH);
  /* While ifdsink pulls the file, it does not support seeking. A seek must
   * fail. */
  if (__i__ == 0)
    fail_if (gst_element_seek_simple (fixture->pipeline, GST_FORMAT_BYTES,
            GST_SEEK_FLAG_FLUSH, 0));
  check_received (fixture);
  gst_object_unref (pad);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (paced_file_is_pushed)
{
  Fixture *fixture = fixture_new (make_film (), "");
  GstPad *pad = gst_element_get_static_pad (fixture->sink, "sink");

  g_object_set (fixture->sink, "sync", TRUE, NULL);
  fixture_set_state (fixture, GST_STATE_PAUSED);
  fail_unless_equals_int (GST_PAD_MODE (pad), GST_PAD_MODE_PUSH);
  gst_object_unref (pad);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (stop_while_the_receiver_is_full)
{
  Fixture *fixture;

  if (!has_upstream (__i__))
    return;
  fixture = fixture_play (__i__);
  receive_part (fixture);
  fixture_set_state (fixture, GST_STATE_READY);
  fixture_set_state (fixture, GST_STATE_PLAYING);
  accept_one (fixture);
  check_received (fixture);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (pause_loses_nothing)
{
  Fixture *fixture;

  if (!has_upstream (__i__))
    return;
  fixture = fixture_play (__i__);
  receive_part (fixture);
  fixture_set_state (fixture, GST_STATE_PAUSED);
  fixture_set_state (fixture, GST_STATE_PLAYING);
  check_received (fixture);
  wait_for_message (fixture, GST_MESSAGE_EOS);
  fixture_free (fixture);
}

GST_END_TEST;

/* A new receiver connects after the first one has read a part of the file. It
 * must get the rest of the file, beginning with an I-frame and its headers. */
GST_START_TEST (next_receiver_gets_the_rest)
{
  const guint8 start[] = { 0, 0, 1, 0xb3 };
  Fixture *fixture;

  if (!has_upstream (__i__))
    return;
  fixture = fixture_play (__i__);
  receive_part (fixture);
  accept_one (fixture);
  while (receive_some (fixture));
  fail_unless (fixture->received->len > sizeof (start));
  fail_unless (fixture->received->len < fixture->film->len);
  fail_unless (memcmp (fixture->received->data, start, sizeof (start)) == 0);
  fail_unless (memcmp (fixture->received->data, fixture->film->data
          + fixture->film->len - fixture->received->len, fixture->received->len)
      == 0);
  wait_for_message (fixture, GST_MESSAGE_EOS);
  fixture_free (fixture);
}

GST_END_TEST;

/* A new receiver connects in the middle of a long GOP. The frames that wait in
 * the sink refer to frames that the new receiver does not have, so they are
 * useless. The sink must drop all of them at once, in order to have room for
 * new frames. */
GST_START_TEST (next_receiver_in_a_long_gop)
{
  gint i = __i__ % G_N_ELEMENTS (upstreams);
  Fixture *fixture;

  if (!has_upstream (i))
    return;
  fixture = fixture_new (make_gops (3, 30), upstreams[i]);
  fixture_set_state (fixture, GST_STATE_PLAYING);
  accept_one (fixture);
  receive_part (fixture);
  accept_one (fixture);
  while (receive_some (fixture));
  wait_for_message (fixture, GST_MESSAGE_EOS);
  fixture_free (fixture);
}

GST_END_TEST;

/* The file ends before a receiver has connected. The sink must report with an
 * error that no receiver got the stream. */
GST_START_TEST (short_file_without_a_receiver_is_an_error)
{
  Fixture *fixture = fixture_new (make_gops (1, 1), upstreams[__i__]);

  g_socket_close (fixture->listener, NULL);
  g_object_set (fixture->sink, "drain-timeout", 10, NULL);
  fixture_set_state (fixture, GST_STATE_PLAYING);
  wait_for_message (fixture, GST_MESSAGE_ERROR);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (stream_from_file_is_not_seekable)
{
  Fixture *fixture = fixture_play (0);
  GstQuery *query = gst_query_new_seeking (GST_FORMAT_BYTES);
  gboolean seekable = TRUE;

  fail_unless (gst_element_query (fixture->pipeline, query));
  gst_query_parse_seeking (query, NULL, &seekable, NULL, NULL);
  fail_if (seekable);
  gst_query_unref (query);
  check_received (fixture);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (receiver_that_goes_is_an_error)
{
  Fixture *fixture;

  if (!has_upstream (__i__))
    return;
  fixture = fixture_new (make_film (), upstreams[__i__]);
  g_object_set (fixture->sink, "auto-reconnect", FALSE, NULL);
  fixture_set_state (fixture, GST_STATE_PLAYING);
  accept_one (fixture);
  receive_part (fixture);
  g_socket_close (fixture->connection, NULL);
  wait_for_message (fixture, GST_MESSAGE_ERROR);
  fixture_free (fixture);
}

GST_END_TEST;

/* A file that contains no video must cause an error, and then EOS. An empty
 * file must cause only EOS. */
GST_START_TEST (file_without_video_posts_error_or_eos)
{
  GByteArray *bytes = g_byte_array_new ();
  Fixture *fixture;
  guint i;

  for (i = 0; i < (__i__ < 2 ? 200000 : 0); i++)
    g_byte_array_append (bytes, (const guint8 *) "nonsense", 8);
  fixture = fixture_new (bytes, upstreams[__i__ % 2]);
  fixture_set_state (fixture, GST_STATE_PLAYING);
  wait_for_message (fixture, __i__ < 2 ? GST_MESSAGE_ERROR : GST_MESSAGE_EOS);
  fixture_free (fixture);
}

GST_END_TEST;

GST_START_TEST (file_that_cannot_be_read_is_an_error)
{
  Fixture *fixture = fixture_new (make_film (), "");

  g_unlink (fixture->path);
  fail_unless_equals_int (gst_element_set_state (fixture->pipeline,
          GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  fixture_free (fixture);
}

GST_END_TEST;

static Suite *
ifdsinkfile_suite (void)
{
  Suite *suite = suite_create ("ifdsinkfile");
  TCase *tcase = tcase_create ("file");
  const gint n = G_N_ELEMENTS (upstreams);

  tcase_add_loop_test (tcase, all_of_a_file_arrives, 0, n);
  tcase_add_loop_test (tcase, file_is_read_where_nothing_is_paced, 0, 2);
  tcase_add_test (tcase, paced_file_is_pushed);
  tcase_add_loop_test (tcase, stop_while_the_receiver_is_full, 0, n);
  tcase_add_loop_test (tcase, pause_loses_nothing, 0, n);
  tcase_add_loop_test (tcase, next_receiver_gets_the_rest, 0, n);
  tcase_add_loop_test (tcase, next_receiver_in_a_long_gop, 0, 5 * n);
  tcase_add_loop_test (tcase, short_file_without_a_receiver_is_an_error, 0, 2);
  tcase_add_test (tcase, stream_from_file_is_not_seekable);
  tcase_add_loop_test (tcase, receiver_that_goes_is_an_error, 0, n);
  tcase_add_loop_test (tcase, file_without_video_posts_error_or_eos, 0, 4);
  tcase_add_test (tcase, file_that_cannot_be_read_is_an_error);
  suite_add_tcase (suite, tcase);
  return suite;
}

GST_CHECK_MAIN (ifdsinkfile);
