/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how the sender of MMTP cuts an MPEG transport stream into pieces. Each
 * piece belongs to one picture or to none. Also tests which pieces the send
 * queue drops, and what the receiver outputs if only some pieces arrive. */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "mmtpsendqueue.h"
#include "mmtptscutter.h"
#include "mmtptsjoiner.h"
#include "tsbuilder.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define DELAY (100 * MS)
#define MAX_PIECES 64

/* H.264, 7.3.1: each picture has an access unit delimiter and the beginning of
 * its first slice. The pictures are an IDR picture, a P-picture and a
 * non-reference picture. */
#define DELIMITER PES "\0\0\0\1\x09\x10\0\0\1"
#define I_PICTURE DELIMITER "\x65\x88\x84"
#define P_PICTURE DELIMITER "\x41\x9a\x24"
#define B_PICTURE DELIMITER "\x01\x9a\x24"

#define put_with_clock(stream, text) ts_put_video (stream, TRUE, CLOCK, \
    CLOCK_SIZE, text, sizeof (text) - 1)

/* --- cutting -------------------------------------------------------------- */

typedef struct
{
  MmtpTsPiece pieces[MAX_PIECES];
  guint n;
} Pieces;

static void
poll_pieces (MmtpTsCutter * cutter, Pieces * pieces)
{
  while (mmtp_ts_cutter_poll (cutter, &pieces->pieces[pieces->n]))
    fail_unless (++pieces->n < MAX_PIECES);
}

/* Cuts the stream into pieces and stores them in `pieces`. MmtpTsCutter, which
 * cuts the stream, gets it in buffers of `size` bytes. */
static void
cut (const TsStream * stream, gsize size, Pieces * pieces)
{
  MmtpTsCutter *cutter = mmtp_ts_cutter_new ();
  gsize at, part;

  pieces->n = 0;
  for (at = 0; at < stream->bytes->len; at += part) {
    part = MIN (size, stream->bytes->len - at);
    mmtp_ts_cutter_input (cutter, stream->bytes->data + at, part, at);
    poll_pieces (cutter, pieces);
  }
  mmtp_ts_cutter_drain (cutter);
  poll_pieces (cutter, pieces);
  mmtp_ts_cutter_free (cutter);
}

static void
pieces_clear (Pieces * pieces)
{
  while (pieces->n > 0)
    g_bytes_unref (pieces->pieces[--pieces->n].data);
}

/* Describes a piece of the stream. The text consists of these parts:
 * - "H" if a picture begins with the piece;
 * - the content: "d" for data, or the picture type "k", "p" or "b";
 * - the number of packets;
 * - "M" if the picture ends with the piece. */
static void
describe (const MmtpTsPiece * piece, GString * text)
{
  static const gchar kinds[] = "u-bpk";

  if (piece->flags & MMTP_FLAG_HEADER)
    g_string_append_c (text, 'H');
  g_string_append_c (text, piece->picture.is_data ? 'd' :
      kinds[piece->picture.kind]);
  g_string_append_printf (text, "%u", (guint) (g_bytes_get_size (piece->data) /
          TS_PACKET_SIZE));
  g_string_append (text, piece->flags & MMTP_FLAG_MARKER ? "M " : " ");
}

/* Cuts the stream several times, and passes it to the cutter in buffers of a
 * different size each time. The description of the resulting pieces must always
 * equal `expected`. The description begins with the second picture: the tables
 * and the first picture are left out. */
static void
expect_pieces (const TsStream * stream, const gchar * expected)
{
  static const gsize sizes[] = { 1, 7, TS_PACKET_SIZE, 1316, 100000 };
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (sizes); i++) {
    GByteArray *all = g_byte_array_new ();
    GString *text = g_string_new (NULL);
    gboolean is_in_pictures = FALSE;
    Pieces pieces;

    cut (stream, sizes[i], &pieces);
    for (j = 0; j < pieces.n; j++) {
      gsize size;
      gconstpointer data = g_bytes_get_data (pieces.pieces[j].data, &size);

      if (size > 0)
        g_byte_array_append (all, data, size);
      is_in_pictures |= (pieces.pieces[j].flags & MMTP_FLAG_HEADER) != 0;
      if (is_in_pictures)
        describe (&pieces.pieces[j], text);
    }
    fail_unless_equals_string (text->str, expected);
    fail_unless_equals_int (all->len, stream->bytes->len);
    fail_unless (memcmp (all->data, stream->bytes->data, all->len) == 0);
    g_string_free (text, TRUE);
    g_byte_array_unref (all);
    pieces_clear (&pieces);
  }
}

GST_START_TEST (sound_and_clock_are_not_pieces_of_the_picture)
{
  TsStream stream;

  ts_stream_start (&stream, H264);
  put_with_clock (&stream, I_PICTURE);
  ts_put_more (&stream);
  ts_put_more (&stream);
  ts_put_sound (&stream);
  ts_put_more (&stream);
  ts_put_picture (&stream, P_PICTURE);
  ts_put_more (&stream);
  ts_put_sound (&stream);
  ts_put_sound (&stream);
  ts_put_picture (&stream, B_PICTURE);
  ts_put_packet (stream.bytes, TS_NO_PID, FALSE, 0, 0, NULL, 0, "\xff", 1);
  expect_pieces (&stream, "Hd1 k2 d1 k1M Hp2M d2 Hb2M ");
  g_byte_array_unref (stream.bytes);
}

GST_END_TEST;

/* H.264 parameter sets, and slices of field pictures (section 7.3.3). The
 * slices were written by hand and are also used in ifdclassifier.c. The name of
 * a slice describes it. For example, P_N0_B5 is a P-slice with the frame_num 0
 * (N0), of a bottom field with the picture order count 5 (B5). T instead of B
 * means a top field. */
#define START PES "\0\0\0\1"
#define SETS START "\x67\x4d\x00\x1e\x96\x52\x94\xa0\x1e\x2c\x5b\x2c" \
    "\0\0\1\x68\xce\x3c\x80\0\0\1"
#define IDR_N0_T4 "\x45\x88\x80\x50\x42\xa0"
#define P_N0_B5 "\x41\x9a\x01\x82\xe5\x40"
#define B_N1_T0 "\x01\x9e\x03\x00\x79\x50"
#define B_N1_B1 "\x01\x9e\x03\x80\xf9\x50"
#define P_N1_T6 "\x41\x9a\x03\x03\x65\x40"
#define P_N2_B7 "\x41\x9a\x05\x83\xe5\x40"

GST_START_TEST (fields_of_a_frame_are_given_up_together)
{
  TsStream stream;

  ts_stream_start (&stream, H264);
  put_with_clock (&stream, SETS IDR_N0_T4);
  ts_put_more (&stream);
  ts_put_sound (&stream);
  ts_put_picture (&stream, START P_N0_B5);
  ts_put_picture (&stream, START B_N1_T0);
  ts_put_picture (&stream, START B_N1_B1);
  /* In H.264, the two fields of a frame have the same frame_num. The next two
   * pictures in this test are fields, but the first of them has the frame_num 1
   * and the second has the frame_num 2. They belong to different frames, so
   * each of them is a separate picture. */
  ts_put_picture (&stream, START P_N1_T6);
  ts_put_picture (&stream, START P_N2_B7);
  expect_pieces (&stream, "Hd1 k1 d1 k1M Hb1 b1M Hp1M Hp1M ");
  g_byte_array_unref (stream.bytes);
}

GST_END_TEST;

/* The sender cuts a transport stream into pieces, and drops a picture by
 * dropping its pieces. A piece that carries a clock (PCR) must never be
 * dropped. The last piece of a picture marks the end of the picture, and must
 * be a piece that can be dropped. If the last TS packet of a picture carries
 * only a clock, its piece cannot be dropped. An empty piece must therefore
 * follow as the last piece. */
GST_START_TEST (picture_that_ends_with_a_clock_ends_with_an_empty_piece)
{
  TsStream stream;

  ts_stream_start (&stream, H264);
  put_with_clock (&stream, I_PICTURE);
  put_with_clock (&stream, B_PICTURE);
  ts_put_sound (&stream);
  ts_put_picture (&stream, P_PICTURE);
  ts_put_video (&stream, FALSE, CLOCK, CLOCK_SIZE, "\x55", 1);
  ts_put_sound (&stream);
  expect_pieces (&stream, "Hd1 k0M Hd1 b0M d1 Hp1 d1 p0M d1 ");
  g_byte_array_unref (stream.bytes);
}

GST_END_TEST;

/* The cutter (MmtpTsCutter) cuts a stream into pieces. Each of its inputs has a
 * tag, which in this test is the position of the input in the stream. As long
 * as the end of a picture is not known, mmtp_ts_cutter_is_open () returns TRUE
 * and sets its argument `tag` to the tag of an input. This is the input that
 * contained the latest video packet of the picture so far. */
GST_START_TEST (picture_may_end_before_the_next_one)
{
  MmtpTsCutter *cutter = mmtp_ts_cutter_new ();
  Pieces pieces = {.n = 0 };
  guint64 tag;
  TsStream stream;
  gsize at;

  ts_stream_start (&stream, H264);
  ts_put_picture (&stream, P_PICTURE);
  ts_put_more (&stream);
  ts_put_sound (&stream);
  ts_put_sound (&stream);
  fail_if (mmtp_ts_cutter_is_open (cutter, &tag));
  for (at = 0; at < stream.bytes->len - 10; at += TS_PACKET_SIZE)
    mmtp_ts_cutter_input (cutter, stream.bytes->data + at,
        MIN (TS_PACKET_SIZE, stream.bytes->len - 10 - at), at);
  fail_unless (mmtp_ts_cutter_is_open (cutter, &tag));
  fail_unless_equals_uint64 (tag, 3 * TS_PACKET_SIZE);
  mmtp_ts_cutter_end (cutter);
  fail_if (mmtp_ts_cutter_is_open (cutter, &tag));
  poll_pieces (cutter, &pieces);
  fail_unless_equals_int (pieces.n, 4);
  fail_unless (pieces.pieces[2].flags & MMTP_FLAG_MARKER);
  /* The rest of an incomplete TS packet arrives. The beginning of this packet
   * was passed to the cutter earlier. The resulting piece must contain the
   * whole packet. */
  mmtp_ts_cutter_input (cutter, stream.bytes->data + stream.bytes->len - 10, 10,
      at);
  poll_pieces (cutter, &pieces);
  fail_unless_equals_int (pieces.n, 5);
  fail_unless_equals_int (g_bytes_get_size (pieces.pieces[4].data),
      TS_PACKET_SIZE);
  mmtp_ts_cutter_free (cutter);
  pieces_clear (&pieces);
  g_byte_array_unref (stream.bytes);
}

GST_END_TEST;

GST_START_TEST (refused_stream_has_no_pictures)
{
  TsStream stream;

  ts_stream_start (&stream, PRIVATE);
  ts_put_picture (&stream, I_PICTURE);
  ts_put_picture (&stream, P_PICTURE);
  expect_pieces (&stream, "");
  g_byte_array_unref (stream.bytes);
}

GST_END_TEST;

/* --- giving up ------------------------------------------------------------ */

static guint n_discarded[MMTP_N_RANKS];

static void
note_discarded (gpointer user_data, const MmtpUnit * unit,
    MmtpDiscard reason, gboolean is_needed)
{
  n_discarded[unit->rank]++;
  if (unit->picture.is_data)
    fail_if (is_needed);
}

static MmtpSendQueue *
new_queue (void)
{
  MmtpSendQueue *queue = mmtp_send_queue_new (100000, note_discarded, NULL);

  memset (n_discarded, 0, sizeof n_discarded);
  mmtp_send_queue_set_delay (queue, DELAY);
  return queue;
}

static gboolean
put_piece (MmtpSendQueue * queue, const MmtpTsPiece * piece, guint64 due,
    guint64 capacity)
{
  const MmtpPutLimits limits = { 1000, 0, capacity, 0 };
  MmtpBuffer buffer = { piece->data, due, piece->flags };

  buffer.picture = piece->picture;
  return mmtp_send_queue_put (queue, 0, &buffer, &limits);
}

/* Puts all pieces of the stream into the queue. The due time of each picture is
 * 40 ms after that of the previous picture. Other data that follow a picture
 * have the same due time as this picture. */
static void
put_all (MmtpSendQueue * queue, const Pieces * pieces)
{
  guint64 due = 0;
  guint i;

  for (i = 0; i < pieces->n; i++) {
    if (pieces->pieces[i].flags & MMTP_FLAG_HEADER)
      due += 40 * MS;
    put_piece (queue, &pieces->pieces[i], due, G_MAXUINT64);
  }
}

static MmtpUnit *
get_unit (MmtpSendQueue * queue, guint number)
{
  return mmtp_send_queue_get_packet (queue, number)->unit;
}

/* Makes a stream that is cut into these pieces:
 * - 0: tables;
 * - 1: clock of the IDR picture;
 * - 2: IDR picture;
 * - 3: sound;
 * - 4: clock of the first P-picture;
 * - 5: first part of the first P-picture;
 * - 6: sound;
 * - 7: second part of the first P-picture;
 * - 8: B-picture;
 * - 9: sound;
 * - 10: second P-picture. */
static void
make_group (TsStream * stream)
{
  ts_stream_start (stream, H264);
  put_with_clock (stream, I_PICTURE);
  ts_put_more (stream);
  ts_put_sound (stream);
  put_with_clock (stream, P_PICTURE);
  ts_put_more (stream);
  ts_put_sound (stream);
  ts_put_more (stream);
  ts_put_picture (stream, B_PICTURE);
  ts_put_sound (stream);
  ts_put_picture (stream, P_PICTURE);
}

static MmtpSendQueue *
put_group (Pieces * pieces)
{
  MmtpSendQueue *queue = new_queue ();
  TsStream stream;

  make_group (&stream);
  cut (&stream, 100000, pieces);
  g_byte_array_unref (stream.bytes);
  put_all (queue, pieces);
  fail_unless_equals_uint64 (mmtp_send_queue_get_next_number (queue), 11);
  return queue;
}

static void
send (MmtpSendQueue * queue, guint number)
{
  mmtp_send_queue_note_sent (queue, mmtp_send_queue_get_packet (queue, number),
      0, number);
}

GST_START_TEST (pieces_have_the_rank_of_their_picture)
{
  static const MmtpRank expected[] = { MMTP_RANK_DATA,
    MMTP_RANK_DATA, MMTP_RANK_KEY, MMTP_RANK_DATA,
    MMTP_RANK_DATA, MMTP_RANK_DELTA, MMTP_RANK_DATA, MMTP_RANK_DELTA,
    MMTP_RANK_DROPPABLE, MMTP_RANK_DATA, MMTP_RANK_DELTA
  };
  Pieces pieces;
  MmtpSendQueue *queue = put_group (&pieces);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (expected); i++)
    fail_unless_equals_int (get_unit (queue, i)->rank, expected[i]);
  fail_unless_equals_uint64 (get_unit (queue, 4)->frame, get_unit (queue,
          7)->frame);
  fail_if (get_unit (queue, 7)->frame == get_unit (queue, 8)->frame);
  mmtp_send_queue_free (queue);
  pieces_clear (&pieces);
}

GST_END_TEST;

/* If the sender drops a picture, it also drops the pictures that refer to this
 * picture. It keeps the sound and the clock that are sent between the parts of
 * the pictures. */
GST_START_TEST (data_stay_where_a_picture_is_given_up)
{
  Pieces pieces;
  MmtpPlan plan;
  MmtpSendQueue *queue = put_group (&pieces);
  guint i;

  /* All pieces are sent except those of the two P-pictures and of the
   * B-picture, which stay in the queue. The B-picture and the second P-picture
   * refer to the first P-picture. When the first P-picture is late, the pieces
   * of all three pictures must be dropped. */
  for (i = 0; i < 11; i++)
    if (get_unit (queue, i)->picture.is_data || i == 2)
      send (queue, i);
  /* mmtp_send_queue_fill_plan () lists the pictures that wait to be sent. This
   * list must contain only the three pictures that have not been sent. */
  mmtp_send_queue_fill_plan (queue, &plan, 0);
  fail_unless_equals_int (plan.n, 3);
  fail_unless_equals_uint64 (plan.frames[0].first, 5);
  fail_unless_equals_uint64 (plan.frames[1].first, 8);
  fail_unless_equals_uint64 (plan.frames[2].first, 10);
  /* the first P-picture is late */
  mmtp_send_queue_expire (queue, DELAY + 81 * MS);
  fail_unless_equals_int (n_discarded[MMTP_RANK_DELTA], 3);
  fail_unless_equals_int (n_discarded[MMTP_RANK_DROPPABLE], 1);
  fail_unless_equals_int (n_discarded[MMTP_RANK_KEY], 0);
  fail_unless_equals_int (n_discarded[MMTP_RANK_DATA], 0);
  mmtp_send_queue_free (queue);
  pieces_clear (&pieces);
}

GST_END_TEST;

/* The receiver removes a picture in which data are missing. */
GST_START_TEST (late_data_take_the_picture_around_them)
{
  Pieces pieces;
  MmtpSendQueue *queue = put_group (&pieces);

  /* The pieces 0, 1, 2, 4 and 5 are sent. Piece 5 is the first part of the
   * first P-picture. These two pieces are not sent:
   *
   * - piece 3, the sound of the IDR picture;
   * - piece 6, the sound of the first P-picture. */
  send (queue, 0);
  send (queue, 1);
  send (queue, 2);
  send (queue, 4);
  send (queue, 5);
  mmtp_send_queue_expire (queue, DELAY + 41 * MS);
  /* Piece 3 contains sound. It is late and must be discarded. It lies between
   * two pictures. All packets of the IDR picture are in piece 2, so this
   * picture is complete without piece 3. The P-pictures that refer to the IDR
   * picture must therefore not be discarded. */
  fail_unless_equals_int (n_discarded[MMTP_RANK_DATA], 1);
  fail_unless_equals_int (n_discarded[MMTP_RANK_DELTA], 0);
  mmtp_send_queue_note_lost (queue, mmtp_send_queue_get_packet (queue, 4));
  fail_unless_equals_int (get_unit (queue, 8)->rank, MMTP_RANK_BROKEN);
  fail_unless_equals_int (get_unit (queue, 9)->rank, MMTP_RANK_DATA);
  mmtp_send_queue_expire (queue, DELAY + 81 * MS);
  fail_unless_equals_int (n_discarded[MMTP_RANK_DATA], 2);
  fail_unless (get_unit (queue, 7)->given_up);
  fail_unless (get_unit (queue, 10)->given_up);
  mmtp_send_queue_free (queue);
  pieces_clear (&pieces);
}

GST_END_TEST;

GST_START_TEST (overload_refuses_pictures_and_takes_data)
{
  MmtpSendQueue *queue = new_queue ();
  TsStream stream;
  Pieces pieces;
  guint i;

  make_group (&stream);
  cut (&stream, 100000, &pieces);
  for (i = 0; i < pieces.n; i++)
    fail_unless_equals_int (put_piece (queue, &pieces.pieces[i], 40 * MS, 0),
        pieces.pieces[i].picture.is_data);
  fail_unless_equals_int (n_discarded[MMTP_RANK_DATA], 0);
  mmtp_send_queue_free (queue);
  pieces_clear (&pieces);
  g_byte_array_unref (stream.bytes);
}

GST_END_TEST;

/* --- joining -------------------------------------------------------------- */

typedef struct
{
  MmtpTsJoiner *joiner;
  GByteArray *output;
  guint n_users;                /* that were not freed yet */
} Receiver;

static void
free_user (gpointer user)
{
  (*(guint *) user)--;
}

static void
receiver_init (Receiver * receiver)
{
  receiver->joiner = mmtp_ts_joiner_new (free_user);
  receiver->output = g_byte_array_new ();
  receiver->n_users = 0;
}

static void
receiver_clear (Receiver * receiver)
{
  mmtp_ts_joiner_free (receiver->joiner);
  g_byte_array_unref (receiver->output);
  fail_unless_equals_int (receiver->n_users, 0);
}

static void
poll_output (Receiver * receiver)
{
  gpointer user;
  GBytes *data;

  while ((data = mmtp_ts_joiner_poll (receiver->joiner, &user))) {
    fail_unless (user == &receiver->n_users);
    receiver->n_users--;
    if (g_bytes_get_size (data) > 0)
      g_byte_array_append (receiver->output, g_bytes_get_data (data, NULL),
          g_bytes_get_size (data));
    g_bytes_unref (data);
  }
}

/* Passes the pieces of the stream to the receiver, but leaves out some of them,
 * as if they were lost. Piece i is left out if bit i of `missing` is set. */
static void
receive (Receiver * receiver, const Pieces * pieces, guint64 missing)
{
  gboolean is_gap = FALSE;
  guint i;

  for (i = 0; i < pieces->n; i++) {
    if (missing >> i & 1) {
      is_gap = TRUE;
      continue;
    }
    receiver->n_users++;
    mmtp_ts_joiner_input (receiver->joiner, pieces->pieces[i].data,
        pieces->pieces[i].flags, is_gap, &receiver->n_users);
    poll_output (receiver);
    is_gap = FALSE;
  }
  mmtp_ts_joiner_drain (receiver->joiner);
  poll_output (receiver);
}

/* Returns a text with one letter for each packet of the transport stream:
 * - "t": tables;
 * - "s": audio;
 * - "c": video packet without a payload, which contains only a clock (PCR);
 * - "V": video packet in which a PES packet begins;
 * - "v": any other video packet.
 * Checks the continuity counter of the video packets (section 2.4.3.3 of
 * ISO/IEC 13818-1). */
static gchar *
describe_output (const GByteArray * output)
{
  GString *text = g_string_new (NULL);
  gint counter = -1;
  guint at;

  fail_unless_equals_int (output->len % TS_PACKET_SIZE, 0);
  for (at = 0; at < output->len; at += TS_PACKET_SIZE) {
    const guint8 *packet = output->data + at;
    const guint pid = (packet[1] << 8 | packet[2]) & 0x1fff;
    const gboolean has_payload = (packet[3] & 0x10) != 0;

    if (pid != VIDEO_PID) {
      g_string_append_c (text, pid == SOUND_PID ? 's' : 't');
      continue;
    }
    if (counter >= 0)
      fail_unless_equals_int (packet[3] & 15,
          has_payload ? (counter + 1) & 15 : counter);
    counter = packet[3] & 15;
    g_string_append_c (text, !has_payload ? 'c' : packet[1] & 0x40 ? 'V' : 'v');
    if (!has_payload)
      fail_unless (memcmp (packet + 5, CLOCK, CLOCK_SIZE) == 0);
  }
  return g_string_free (text, FALSE);
}

static void
expect_output (const Pieces * pieces, guint64 missing, const gchar * expected)
{
  Receiver receiver;
  gchar *text;

  receiver_init (&receiver);
  receive (&receiver, pieces, missing);
  text = describe_output (receiver.output);
  fail_unless_equals_string (text, expected);
  g_free (text);
  receiver_clear (&receiver);
}

GST_START_TEST (whole_stream_is_not_changed)
{
  TsStream stream;
  Receiver receiver;
  Pieces pieces;

  make_group (&stream);
  /* The continuity counter of the TS packets skips three values, as after a
   * loss in the encoder or in an earlier network. The receiver must output the
   * stream unchanged. */
  stream.counter += 3;
  ts_put_picture (&stream, P_PICTURE);
  cut (&stream, 1316, &pieces);
  receiver_init (&receiver);
  receive (&receiver, &pieces, 0);
  fail_unless_equals_int (receiver.output->len, stream.bytes->len);
  fail_unless (memcmp (receiver.output->data, stream.bytes->data,
          stream.bytes->len) == 0);
  receiver_clear (&receiver);
  pieces_clear (&pieces);
  g_byte_array_unref (stream.bytes);
}

GST_END_TEST;

GST_START_TEST (incomplete_picture_leaves_sound_and_clock)
{
  TsStream stream;
  Pieces pieces;

  make_group (&stream);
  cut (&stream, 100000, &pieces);
  expect_output (&pieces, 0, "ttVvsVvsvVsV");
  /* The first P-picture has two parts, before and after the sound. If one part
   * is missing, the receiver must drop the whole picture. It must still output
   * the clock reference (PCR) of this picture. */
  expect_output (&pieces, 1 << 5, "ttVvscsVsV");
  expect_output (&pieces, 1 << 7, "ttVvscsVsV");
  expect_output (&pieces, 1 << 5 | 1 << 7, "ttVvscsVsV");
  /* The clock reference (PCR) with which the first P-picture begins is lost.
   * The receiver cannot know whether more of this picture is missing. It must
   * therefore drop the picture, but must output everything else. */
  expect_output (&pieces, 1 << 4, "ttVvssVsV");
  /* The sound between the two parts of the first P-picture is lost. The
   * receiver cannot know whether the lost data were sound or a part of the
   * picture. It must therefore drop this picture, but must output the clock
   * reference (PCR) of the picture. */
  expect_output (&pieces, 1 << 6, "ttVvscVsV");
  /* The IDR picture is missing. */
  expect_output (&pieces, 1 << 2, "ttcsVvsvVsV");
  /* The B-picture is missing. */
  expect_output (&pieces, 1 << 8, "ttVvsVvsvsV");
  /* The B-picture and the second P-picture are lost. The receiver must output
   * everything else. */
  expect_output (&pieces, 1 << 8 | 1 << 10, "ttVvsVvsvs");
  /* The sound after the IDR picture is lost. The receiver must output
   * everything else. */
  expect_output (&pieces, 1 << 3, "ttVvVvsvVsV");
  pieces_clear (&pieces);
  g_byte_array_unref (stream.bytes);
}

GST_END_TEST;

/* The sender has marked no buffer as the beginning of a picture. The receiver
 * then cannot know which data belong to a picture. It must output all data that
 * have arrived, unchanged. */
GST_START_TEST (stream_that_is_not_cut_is_not_changed)
{
  TsStream stream;
  Receiver receiver;
  Pieces pieces;
  guint i;

  make_group (&stream);
  cut (&stream, 100000, &pieces);
  for (i = 0; i < pieces.n; i++)
    pieces.pieces[i].flags &= MMTP_FLAG_DELTA;
  receiver_init (&receiver);
  receive (&receiver, &pieces, 1 << 5);
  fail_if (mmtp_ts_joiner_is_cut (receiver.joiner));
  fail_unless_equals_int (receiver.output->len, stream.bytes->len -
      TS_PACKET_SIZE);
  receiver_clear (&receiver);
  pieces_clear (&pieces);
  g_byte_array_unref (stream.bytes);
}

GST_END_TEST;

/* At first the sender marks the beginning of each picture. Then a gap follows.
 * After the gap, the sender sends 40 packets without a mark, because the video
 * is scrambled. In each of them a PES packet begins.
 *
 * The receiver removes the packets after the gap, because they may belong to an
 * incomplete picture. It must stop removing packets when it has removed more
 * than MAX_PES_PACKETS (32) PES packets. It must therefore remove 33 of the 40
 * packets, and output the last seven. */
GST_START_TEST (stream_that_is_no_longer_cut_comes_back)
{
  TsStream stream;
  Receiver receiver;
  Pieces pieces;
  GBytes *packet;
  guint i;

  make_group (&stream);
  cut (&stream, 100000, &pieces);
  receiver_init (&receiver);
  receive (&receiver, &pieces, 0);
  g_byte_array_set_size (receiver.output, 0);
  ts_put_picture (&stream, P_PICTURE);
  packet = g_bytes_new (stream.bytes->data + stream.bytes->len -
      TS_PACKET_SIZE, TS_PACKET_SIZE);
  for (i = 0; i < 40; i++) {
    receiver.n_users++;
    mmtp_ts_joiner_input (receiver.joiner, packet, 0, i == 0,
        &receiver.n_users);
    poll_output (&receiver);
  }
  fail_unless_equals_int (receiver.output->len, 7 * TS_PACKET_SIZE);
  g_bytes_unref (packet);
  receiver_clear (&receiver);
  pieces_clear (&pieces);
  g_byte_array_unref (stream.bytes);
}

GST_END_TEST;

GST_START_TEST (reset_forgets_the_held_picture)
{
  TsStream stream;
  Receiver receiver;
  Pieces pieces;

  make_group (&stream);
  cut (&stream, 100000, &pieces);
  receiver_init (&receiver);
  pieces.n = 5;                 /* the P-picture has begun */
  receiver.n_users++;
  mmtp_ts_joiner_input (receiver.joiner, pieces.pieces[1].data,
      pieces.pieces[1].flags, FALSE, &receiver.n_users);
  mmtp_ts_joiner_reset (receiver.joiner);
  fail_unless_equals_int (receiver.n_users, 0);
  poll_output (&receiver);
  fail_unless_equals_int (receiver.output->len, 0);
  receiver_clear (&receiver);
  pieces.n = 11;
  pieces_clear (&pieces);
  g_byte_array_unref (stream.bytes);
}

GST_END_TEST;

static Suite *
mmtptransportstream_suite (void)
{
  Suite *suite = suite_create ("mmtptransportstream");
  TCase *cutting = tcase_create ("cutting");
  TCase *queue = tcase_create ("queue");
  TCase *joining = tcase_create ("joining");

  suite_add_tcase (suite, cutting);
  tcase_add_test (cutting, sound_and_clock_are_not_pieces_of_the_picture);
  tcase_add_test (cutting,
      picture_that_ends_with_a_clock_ends_with_an_empty_piece);
  tcase_add_test (cutting, fields_of_a_frame_are_given_up_together);
  tcase_add_test (cutting, picture_may_end_before_the_next_one);
  tcase_add_test (cutting, refused_stream_has_no_pictures);
  suite_add_tcase (suite, queue);
  tcase_add_test (queue, pieces_have_the_rank_of_their_picture);
  tcase_add_test (queue, data_stay_where_a_picture_is_given_up);
  tcase_add_test (queue, late_data_take_the_picture_around_them);
  tcase_add_test (queue, overload_refuses_pictures_and_takes_data);
  suite_add_tcase (suite, joining);
  tcase_add_test (joining, whole_stream_is_not_changed);
  tcase_add_test (joining, incomplete_picture_leaves_sound_and_clock);
  tcase_add_test (joining, stream_that_is_not_cut_is_not_changed);
  tcase_add_test (joining, stream_that_is_no_longer_cut_comes_back);
  tcase_add_test (joining, reset_forgets_the_held_picture);
  return suite;
}

GST_CHECK_MAIN (mmtptransportstream);
