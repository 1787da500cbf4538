/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of IfdClassifier. It parses access units of H.264 and H.265, and finds
 * the frame types and flags from which IFD (I-Frame Delay) decides which frames
 * to drop. The access units are written by hand from the tables of the
 * standards. The result must be the same whether the NAL units are preceded by
 * start codes or by their lengths.
 */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "ifdclassifier.h"

#define NO_PTS G_MAXUINT64

/* In these tests, an access unit is written as a text. Its NAL units are in
 * hexadecimal, and ';' separates them. */

static GByteArray *
parse_hex (const gchar * text)
{
  GByteArray *bytes = g_byte_array_new ();

  for (; *text; text++) {
    guint8 byte;

    if (*text == ' ')
      continue;
    byte = g_ascii_xdigit_value (text[0]) << 4 | g_ascii_xdigit_value (text[1]);
    g_byte_array_append (bytes, &byte, 1);
    text++;
  }
  return bytes;
}

/* Converts `text`, which has NAL units in hexadecimal, to the bytes of an
 * access unit. If `length_size` is not 0, each NAL unit is preceded by its
 * length in `length_size` bytes. If `length_size` is 0, each NAL unit is
 * preceded by a start code. The first start code has four bytes, the second
 * three bytes, the third four bytes, and so on. */
static GByteArray *
make_access_unit (const gchar * text, guint length_size)
{
  GByteArray *bytes = g_byte_array_new ();
  gchar **units = g_strsplit (text, ";", -1);
  guint i, j;

  for (i = 0; units[i]; i++) {
    GByteArray *unit = parse_hex (units[i]);

    if (length_size == 0)
      g_byte_array_append (bytes, (guint8 *) "\0\0\0\1" + i % 2, 4 - i % 2);
    for (j = 0; j < length_size; j++) {
      guint shift = 8 * (length_size - 1 - j);
      guint8 byte = shift < 32 ? unit->len >> shift : 0;

      g_byte_array_append (bytes, &byte, 1);
    }
    g_byte_array_append (bytes, unit->data, unit->len);
    g_byte_array_unref (unit);
  }
  g_strfreev (units);
  return bytes;
}

/* Describes a frame as a text, which consists of the frame type (I, P or B) and
 * of one letter for each flag that is set:
 * - c: a closed I-frame, so no later frame refers to a frame before it.
 * - x: an I-frame whose leading frames cannot be decoded (broken link).
 * - r: a frame that begins an intra refresh.
 * - l: a leading frame, which may refer to frames before the last I-frame.
 * - t: a trailing frame, which does not refer to frames before that I-frame. */
static const gchar *
describe (const IfdFrame * frame)
{
  static gchar text[8];
  gchar *end = text;

  *end++ = ifd_frame_type_char (frame->type);
  if (frame->flags & IFD_FRAME_CLOSED)
    *end++ = 'c';
  if (frame->flags & IFD_FRAME_BROKEN)
    *end++ = 'x';
  if (frame->flags & IFD_FRAME_REFRESH)
    *end++ = 'r';
  if (frame->flags & IFD_FRAME_LEADING)
    *end++ = 'l';
  if (frame->flags & IFD_FRAME_TRAILING)
    *end++ = 't';
  *end = '\0';
  return text;
}

/* Passes a copy of `data` to the classifier and returns the text with which
 * describe () describes the resulting frame. The copy is in a memory block of
 * exactly `size` bytes, so that AddressSanitizer detects each read beyond the
 * end. Also checks that `frame.order` is in its range and that `frame.size` has
 * not changed. */
static const gchar *
classify_bytes (IfdClassifier * classifier, const guint8 * data, gsize size,
    guint64 pts)
{
  guint8 *copy = g_malloc (size + (size == 0));
  IfdFrame frame;

  if (size > 0)
    memcpy (copy, data, size);
  memset (&frame, 0x55, sizeof (frame));
  ifd_classifier_input (classifier, copy, size, pts, &frame);
  fail_unless_equals_int (frame.size, 0x55555555);
  fail_unless (frame.order < MAX (frame.order_range, 1));
  g_free (copy);
  return describe (&frame);
}

static const gchar *
classify_as (IfdClassifier * classifier, guint length_size, const gchar * text,
    guint64 pts)
{
  GByteArray *bytes = make_access_unit (text, length_size);
  const gchar *found = classify_bytes (classifier, bytes->data, bytes->len,
      pts);

  g_byte_array_unref (bytes);
  return found;
}

static const gchar *
classify (IfdClassifier * classifier, const gchar * text, guint64 pts)
{
  return classify_as (classifier, 0, text, pts);
}

static gboolean
set_codec_data (IfdClassifier * classifier, const gchar * text)
{
  GByteArray *bytes = parse_hex (text);
  guint8 *copy = g_memdup2 (bytes->data, bytes->len);
  gboolean set;

  set = ifd_classifier_set_codec_data (classifier, copy, bytes->len);
  g_free (copy);
  g_byte_array_unref (bytes);
  return set;
}

/* Passes codec data to the classifier. These codec data contain no parameter
 * sets, but declare that a length field of `length_size` bytes precedes each
 * NAL unit. If `length_size` is 0, this function passes no codec data. The NAL
 * units then have start codes instead of length fields. */
static void
set_length_size (IfdClassifier * classifier, IfdCodec codec, guint length_size)
{
  gchar *text;

  if (length_size == 0)
    return;
  if (codec == IFD_CODEC_H264)
    text = g_strdup_printf ("01 64 00 28 %02x e0 00", 0xfc | (length_size - 1));
  else
    text = g_strdup_printf ("01 01 60000000 900000000000 5d f000 fc fd f8 f8 "
        "0000 %02x 00", 0x0c | (length_size - 1));
  fail_unless (set_codec_data (classifier, text));
  g_free (text);
}

static guint64
count_malformed (const IfdClassifier * classifier)
{
  guint64 count = 0;
  guint i;

  for (i = 0; i < IFD_MALFORMED_LAST; i++)
    count += ifd_classifier_get_malformed (classifier, i);
  return count;
}

/* Passes the access unit `before` (NULL means none) and then the access unit
 * `text` to a new classifier. Checks that describe () returns `expected` for
 * the second one. Does this four times: with start codes, and with lengths of
 * 1, 2 and 4 bytes before the NAL units. */
static void
expect_of (IfdCodec codec, const gchar * before, const gchar * text,
    const gchar * expected)
{
  const guint length_sizes[] = { 0, 1, 2, 4 };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (length_sizes); i++) {
    IfdClassifier *classifier = ifd_classifier_new (codec);

    set_length_size (classifier, codec, length_sizes[i]);
    if (before)
      classify_as (classifier, length_sizes[i], before, NO_PTS);
    fail_unless_equals_string (classify_as (classifier, length_sizes[i], text,
            NO_PTS), expected);
    fail_unless_equals_uint64 (count_malformed (classifier), 0);
    ifd_classifier_free (classifier);
  }
}

static void
expect_h264 (const gchar * text, const gchar * expected)
{
  expect_of (IFD_CODEC_H264, NULL, text, expected);
}

static void
expect_malformed (IfdClassifier * classifier, IfdMalformed reason,
    const gchar * hex, const gchar * expected)
{
  guint64 before = ifd_classifier_get_malformed (classifier, reason);
  guint64 all = count_malformed (classifier);
  GByteArray *bytes = parse_hex (hex);

  fail_unless_equals_string (classify_bytes (classifier, bytes->data,
          bytes->len, NO_PTS), expected);
  fail_unless_equals_uint64 (ifd_classifier_get_malformed (classifier, reason),
      before + 1);
  fail_unless_equals_uint64 (count_malformed (classifier), all + 1);
  g_byte_array_unref (bytes);
}

/* The first byte of a NAL unit of H.264 is nal_ref_idc << 5 | nal_unit_type. In
 * the following tests, all bytes are hexadecimal. This byte is 0x65 for a slice
 * of an IDR picture, 0x41 for a slice of a reference picture, and 0x01 for a
 * slice of a non-reference picture.
 */

GST_START_TEST (h264_idr_begins_a_closed_gop)
{
  expect_h264 ("65 88 84", "Ic");
  /* An access unit delimiter, an SPS, a PPS and an SEI message with user data
   * precede the slices of the IDR picture. They must not change the result. */
  expect_h264 ("09 10; 67 64 00 28 ac; 68 ee 3c 80; 06 05 02 aa bb 80;"
      "65 88 84; 65 00 42", "Ic");
  /* Some encoders write an SEI message with a recovery point before an IDR
   * picture. The message must not change the result. */
  expect_h264 ("06 06 01 c4 80; 25 88", "Ic");
}

GST_END_TEST;

GST_START_TEST (h264_frame_without_references_to_it_is_b)
{
  expect_h264 ("01 9e 08", "B");
  expect_h264 ("09 50; 01 9e 08; 01 03 33", "B");
  /* data partitions A, B and C */
  expect_h264 ("02 9e; 03 11; 04 22", "B");
  /* The slice is between a prefix NAL unit and a slice of another view
   * (multiview coding). In all three NAL units nal_ref_idc is 0, so no other
   * frame refers to this frame. It must be a B-frame. */
  expect_h264 ("0e 40; 01 9e; 14 40 11", "B");
}

GST_END_TEST;

GST_START_TEST (h264_frame_with_references_to_it_is_p)
{
  expect_h264 ("41 9a 02", "P");
  expect_h264 ("21 9a 02", "P");
  expect_h264 ("61 9a 02", "P");
  expect_h264 ("42 9a; 43 11; 44 22", "P");
  /* This access unit has an I slice (slice_type 7), but no recovery point,
   * which would mark a place where decoding can begin. Later frames may
   * therefore refer to frames before this access unit. No GOP begins here, so
   * the classifier must report a P-frame. */
  expect_h264 ("41 88 82", "P");
}

GST_END_TEST;

GST_START_TEST (h264_second_field_with_references_makes_p)
{
  expect_h264 ("01 9e 08; 41 9a 02", "P");
  expect_h264 ("01 9e 08; 09 50; 41 9a 02", "P");
  expect_h264 ("41 9a 02; 01 9e 08", "P");
  /* Each of these two access units has two slices. The first slice is not used
   * for reference. The second slice belongs to another view or layer, and is
   * used for reference. Other frames may therefore refer to the access unit, so
   * its frame must be a P-frame. */
  expect_h264 ("01 9e 08; 54 40 11", "P");
  expect_h264 ("01 9e 08; 55 40 11", "P");
  /* The second NAL unit is a parameter set. Its nal_ref_idc is not 0, but must
   * not make the frame a reference frame. */
  expect_h264 ("01 9e 08; 68 ee", "B");
}

GST_END_TEST;

GST_START_TEST (h264_access_unit_without_slice_is_p)
{
  expect_h264 ("09 10", "P");
  expect_h264 ("67 64 00 28; 68 ee", "P");
  expect_h264 ("06 06 01 c4 80", "P");
}

GST_END_TEST;

/* In H.264 (annex D.1.8), an SEI message with a recovery point has four fields:
 * recovery_frame_cnt, coded as ue(v), exact_match_flag, broken_link_flag, and
 * changing_slice_group_idc, which has two bits. */
GST_START_TEST (h264_recovery_point_is_i)
{
  /* 1 1 0 00, and the alignment bits 100 */
  expect_h264 ("06 06 01 c4 80; 41 88 82", "I");
  expect_h264 ("67 64; 68 ee; 06 06 01 c4 80; 61 88", "I");
  /* The frame has a recovery point, but no other frame refers to it. A GOP
   * cannot begin with such a frame, so it must be a B-frame. */
  expect_h264 ("06 06 01 c4 80; 01 9e", "B");
}

GST_END_TEST;

/* A decoder may start at a frame that has a recovery point. If this frame alone
 * does not give the decoder a complete picture, the classifier must report it
 * as a P-frame. The frame then begins an intra refresh, in which several frames
 * renew the picture part by part. The frame does not give a complete picture in
 * these two cases:
 * - Its recovery_frame_cnt is more than 0.
 * - It refers to other frames. */
GST_START_TEST (h264_recovery_point_of_a_refresh_is_p)
{
  /* Two access units begin an intra refresh that takes 29 frames. In the first
   * one, the SEI message has the bits 000011110 1 0 00 100. They are
   * recovery_frame_cnt (29), exact_match_flag, broken_link_flag,
   * changing_slice_group_idc and padding to a whole byte. The second access
   * unit differs only in broken_link_flag, which is 1. */
  expect_h264 ("06 06 02 0f 44 80; 41 9a 02", "Pr");
  expect_h264 ("06 06 02 0f 64 80; 41 9a 02", "Pr");
  /* The access unit has an I slice and an SEI message with the bits
   * 010 1 0 00 1. The first three of these bits say that recovery_frame_cnt is
   * 1. A decoder that starts here therefore has a complete picture only one
   * frame later. For this reason, the classifier must report a P-frame in spite
   * of the I slice. */
  expect_h264 ("06 06 01 51 80; 41 88", "Pr");
  /* In the next three access units, the recovery point has a recovery_frame_cnt
   * of 0:
   * - The first one has a P slice, so it must be a P-frame.
   * - The second one has an I slice (slice_type 2) and a P slice (slice_type
   *   0), so it must be a P-frame.
   * - The third one has two I slices, so it must be an I-frame. */
  expect_h264 ("06 06 01 c4 80; 61 9a", "Pr");
  expect_h264 ("06 06 01 c4 80; 41 b0; 41 c0", "Pr");
  expect_h264 ("06 06 01 c4 80; 41 b0; 41 b0", "I");
  /* a non-reference frame */
  expect_h264 ("06 06 02 0f 44 80; 01 9e", "B");
}

GST_END_TEST;

GST_START_TEST (h264_broken_link_is_read)
{
  expect_h264 ("06 06 01 e4 80; 41 88", "Ix");
  /* A refresh over 32767 frames: 15 zeros, 1, 15 zeros, 0 1 00 10000 */
  expect_h264 ("06 06 05 00 01 00 00 90 80; 41 88", "Pr");
  /* A refresh over 65535 frames: 0000 00 80 00, 0 0 1 00 100 */
  expect_h264 ("06 06 05 00 00 80 00 24 80; 41 88", "Pr");
}

GST_END_TEST;

GST_START_TEST (h264_messages_before_the_recovery_point_are_skipped)
{
  expect_h264 ("06 00 01 11 06 01 c4 80; 41 88", "I");
  expect_h264 ("06 00 00 06 01 e4 04 01 b5 80; 41 88", "Ix");
  expect_h264 ("06 00 01 11 80; 06 06 01 c4 80; 41 88", "I");
  /* An SEI message begins with its type and its size. Each of these numbers is
   * encoded in one byte if it is less than 255, and otherwise in several bytes.
   * Here the type has two bytes. */
  expect_h264 ("06 ff 07 01 11 06 01 e4 80; 41 88", "Ix");
  /* The bytes ff 06 encode the type 255 + 6 = 261 of the SEI message. A
   * recovery point has the type 6, so this message is not a recovery point. */
  expect_h264 ("06 ff 06 01 c4 80; 41 88", "P");
}

GST_END_TEST;

GST_START_TEST (h264_long_messages_are_skipped)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H264);
  gchar *user = g_strnfill (2 * 258, 'a');
  gchar *text = g_strdup_printf ("06 05 ff 03 %s 06 01 e4 80; 41 88", user);

  fail_unless_equals_string (classify (classifier, text, NO_PTS), "Ix");
  fail_unless_equals_uint64 (count_malformed (classifier), 0);
  g_free (text);
  g_free (user);
  ifd_classifier_free (classifier);
}

GST_END_TEST;

/* 7.4.1.1: the bytes 00 00 03 01 stand for 00 00 01. */
GST_START_TEST (h264_emulation_prevention_is_no_payload)
{
  expect_h264 ("06 05 04 00 00 03 01 aa 06 01 e4 80; 41 88", "Ix");
  expect_h264 ("06 05 05 00 00 03 00 00 03 01 06 01 e4 80; 41 88", "Ix");
  /* This 03 belongs to the payload. */
  expect_h264 ("06 05 04 00 03 00 03 06 01 e4 80; 41 88", "Ix");
}

GST_END_TEST;

GST_START_TEST (h264_frames_output_before_their_i_lead)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H264);
  const gchar *i = "06 06 01 c4 80; 41 88";

  /* No I-frame has arrived yet. */
  fail_unless_equals_string (classify (classifier, "01 9e", 90), "B");
  fail_unless_equals_string (classify (classifier, i, 100), "I");
  fail_unless_equals_string (classify (classifier, "01 9e", 80), "Bl");
  /* the middle frame of a B-pyramid */
  fail_unless_equals_string (classify (classifier, "21 9e", 60), "Pl");
  fail_unless_equals_string (classify (classifier, "41 9a", 180), "Pt");
  fail_unless_equals_string (classify (classifier, "01 9e", 120), "Bt");
  /* This access unit has the same PTS as the I-frame, so it is the second field
   * of the I-frame. It must count as a trailing P-frame. */
  fail_unless_equals_string (classify (classifier, "41 9a", 100), "Pt");
  fail_unless_equals_string (classify (classifier, "01 9e", NO_PTS), "B");
  fail_unless_equals_string (classify (classifier, i, NO_PTS), "I");
  fail_unless_equals_string (classify (classifier, "01 9e", 80), "B");
  ifd_classifier_free (classifier);
}

GST_END_TEST;

GST_START_TEST (h264_nothing_behind_an_idr_leads)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H264);

  fail_unless_equals_string (classify (classifier, "65 88", 100), "Ic");
  fail_unless_equals_string (classify (classifier, "01 9e", 80), "Bt");
  fail_unless_equals_string (classify (classifier, "01 9e", NO_PTS), "Bt");
  fail_unless_equals_string (classify (classifier, "41 9a", 20), "Pt");
  fail_unless_equals_string (classify (classifier, "65 88", NO_PTS), "Ic");
  fail_unless_equals_string (classify (classifier, "01 9e", 80), "Bt");
  /* Here the I-frame is not an IDR picture, so later frames may refer to frames
   * before it. The B-frame after it has a lower PTS than the I-frame. It must
   * therefore be a leading frame. */
  fail_unless_equals_string (classify (classifier, "06 06 01 c4 80; 41 88",
          200), "I");
  fail_unless_equals_string (classify (classifier, "01 9e", 180), "Bl");
  ifd_classifier_free (classifier);
}

GST_END_TEST;

static void
expect_order (IfdClassifier * classifier, const gchar * text, guint order,
    guint range)
{
  GByteArray *bytes = make_access_unit (text, 0);
  IfdFrame frame = { 0, };

  ifd_classifier_input (classifier, bytes->data, bytes->len, NO_PTS, &frame);
  fail_unless_equals_int (frame.order, order);
  fail_unless_equals_int (frame.order_range, range);
  g_byte_array_unref (bytes);
}

/* An SPS and a PPS (H.264, 7.3.2.1.1 and 7.3.2.2). The SPS allows fields and
 * frames, and declares 8 bits for each of the fields frame_num and
 * pic_order_cnt_lsb. The PPS selects CAVLC and one reference picture. */
#define SETS "67 4d 00 1e 96 52 94 a0 1e 2c 5b 2c; 68 ce 3c 80; "
#define RECOVERY "06 06 01 c4 80; "

/* Slices with their headers (H.264, 7.3.3). The name of a macro says what the
 * header contains:
 * - The first letter, or IDR, is the type of the slice.
 * - N and a number are the frame_num.
 * - O, T or B and a number are the picture order count. O stands for a frame, T
 *   for a top field, and B for a bottom field.
 * - FORGETS means that the header tells the decoder to discard all reference
 *   pictures.
 *
 * For example, P_N4_O18 is a P slice with the frame_num 4, in a frame with the
 * picture order count 18. */
#define I_N3_O20 "41 88 81 85 15"
#define P_N4_O18 "41 9a 08 12 ca 80"
#define B_N4_O16 "01 9e 08 10 f2 a0"
#define P_N5_O26 "41 9a 0a 1a ca 80"
#define B_N6_O24 "01 9e 0c 18 f2 a0"
#define P_N6_O10_FORGETS "41 9a 0c 0a d3 6a"
#define P_N1_O2 "41 9a 02 02 ca 80"
#define IDR_N0_T4 "45 88 80 50 42 a0"
#define P_N0_B5 "41 9a 01 82 e5 40"
#define B_N1_T0 "01 9e 03 00 79 50"
#define B_N1_B1 "01 9e 03 80 f9 50"
#define P_N1_T6 "41 9a 03 03 65 40"
#define P_N1_B7 "41 9a 03 83 e5 40"
#define P_N2_B7 "41 9a 05 83 e5 40"
#define I_N3_T20 "41 88 81 c2 8a 80"
#define I_N3_B21 "41 88 81 e2 aa 80"

GST_START_TEST (h264_order_has_a_range)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H264);

  /* No parameter sets have arrived yet, so the picture order count of this
   * access unit cannot be read. The classifier must report no order for it. */
  expect_order (classifier, RECOVERY I_N3_O20, 0, 0);
  expect_order (classifier, SETS RECOVERY I_N3_O20, 20, 256);
  expect_order (classifier, B_N4_O16, 16, 256);
  expect_order (classifier, "09 10", 0, 0);
  /* This picture tells the decoder to discard all reference pictures, and the
   * picture order counts start again after it. Counts before and after this
   * picture cannot be compared, so the classifier must report no picture order
   * count for it. The display order is known without a count: a decoder
   * displays this picture after all earlier ones. */
  expect_order (classifier, P_N6_O10_FORGETS, 0, 0);
  expect_order (classifier, P_N1_O2, 2, 256);
  ifd_classifier_free (classifier);
}

GST_END_TEST;

GST_START_TEST (h264_order_of_output_needs_no_times)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H264);

  fail_unless_equals_string (classify (classifier, SETS RECOVERY I_N3_O20,
          NO_PTS), "I");
  fail_unless_equals_string (classify (classifier, P_N4_O18, NO_PTS), "Pl");
  /* This access unit contains only a delimiter and no picture. It must not make
   * the classifier forget the picture order counts of the pictures before it.
   * With these counts, the classifier recognizes the next frame as leading. */
  fail_unless_equals_string (classify (classifier, "09 10", NO_PTS), "P");
  fail_unless_equals_string (classify (classifier, B_N4_O16, NO_PTS), "Bl");
  /* A frame is leading if it is shown before the last I-frame. By their picture
   * order counts, the next two frames are shown after the I-frame. Their
   * timestamps say the opposite, but must be ignored. */
  fail_unless_equals_string (classify (classifier, P_N5_O26, 0), "Pt");
  fail_unless_equals_string (classify (classifier, B_N6_O24, 0), "Bt");
  /* This picture tells the decoder to discard all reference pictures. No later
   * picture can refer to an earlier one, and the picture order counts start
   * again. The next picture therefore has a lower count than the last I-frame,
   * although it is shown after this I-frame. The classifier must report the
   * next picture as trailing, that is, as shown after the last I-frame. */
  fail_unless_equals_string (classify (classifier, P_N6_O10_FORGETS, 0), "Pl");
  fail_unless_equals_string (classify (classifier, P_N1_O2, 0), "Pt");
  /* Without parameter sets, the classifier cannot read the picture order
   * counts. It must then decide by the timestamps whether a frame is leading,
   * which means that it is shown before the last I-frame. */
  ifd_classifier_free (classifier);
  classifier = ifd_classifier_new (IFD_CODEC_H264);
  fail_unless_equals_string (classify (classifier, RECOVERY I_N3_O20, 100),
      "I");
  fail_unless_equals_string (classify (classifier, P_N4_O18, NO_PTS), "P");
  fail_unless_equals_string (classify (classifier, P_N4_O18, 120), "Pt");
  fail_unless_equals_string (classify (classifier, P_N5_O26, 80), "Pl");
  fail_unless_equals_uint64 (count_malformed (classifier), 0);
  ifd_classifier_free (classifier);
}

GST_END_TEST;

/* Passes the access unit `text` to the classifier. Checks that describe ()
 * returns `expected`, and that the access unit is the part `field` of a frame:
 * the first field, the second field or the whole frame. */
static void
expect_field (IfdClassifier * classifier, const gchar * text,
    const gchar * expected, IfdField field)
{
  fail_unless_equals_string (classify (classifier, text, NO_PTS), expected);
  fail_unless_equals_int (ifd_classifier_get_field (classifier), field);
}

GST_START_TEST (h264_fields_of_a_frame_are_told)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H264);

  expect_field (classifier, SETS IDR_N0_T4, "Ic", IFD_FIELD_FIRST);
  expect_field (classifier, P_N0_B5, "Pt", IFD_FIELD_SECOND);
  expect_field (classifier, B_N1_T0, "Bt", IFD_FIELD_FIRST);
  expect_field (classifier, B_N1_B1, "Bt", IFD_FIELD_SECOND);
  expect_field (classifier, P_N1_T6, "Pt", IFD_FIELD_FIRST);
  /* A frame of an interlaced stream may consist of two fields: a top field and
   * a bottom field with the same frame_num. In each of the next three access
   * units, the picture must not be paired with the field in the access unit
   * before it:
   * - The first one has another frame_num than the field before it.
   * - The second one is a bottom field, and the field before it is a bottom
   *   field, too.
   * - The third one is not a field, but a whole frame. */
  expect_field (classifier, P_N2_B7, "Pt", IFD_FIELD_FIRST);
  expect_field (classifier, P_N2_B7, "Pt", IFD_FIELD_FIRST);
  expect_field (classifier, P_N4_O18, "Pt", IFD_FIELD_NONE);
  expect_field (classifier, P_N1_T6, "Pt", IFD_FIELD_FIRST);
  expect_field (classifier, P_N1_B7, "Pt", IFD_FIELD_SECOND);
  /* Each of the next three fields must be the first field of a frame:
   * - The first one follows two fields that already form a frame.
   * - The second one follows an access unit without a field.
   * - The third one follows a flush. */
  expect_field (classifier, P_N1_T6, "Pt", IFD_FIELD_FIRST);
  expect_field (classifier, "09 10", "Pt", IFD_FIELD_NONE);
  expect_field (classifier, P_N1_B7, "Pt", IFD_FIELD_FIRST);
  ifd_classifier_reset (classifier);
  expect_field (classifier, P_N1_T6, "P", IFD_FIELD_FIRST);
  /* Both fields of this frame are intra-coded. The classifier must report the
   * first field as an I-frame. It must report the second field as a P-frame,
   * because no GOP begins with the second field. */
  expect_field (classifier, RECOVERY I_N3_T20, "I", IFD_FIELD_FIRST);
  expect_field (classifier, RECOVERY I_N3_B21, "Pt", IFD_FIELD_SECOND);
  fail_unless_equals_uint64 (count_malformed (classifier), 0);
  ifd_classifier_free (classifier);
}

GST_END_TEST;

GST_START_TEST (h264_fields_in_one_access_unit_are_a_frame)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H264);

  expect_field (classifier, SETS IDR_N0_T4 ";" P_N0_B5, "Ic", IFD_FIELD_NONE);
  expect_field (classifier, B_N1_T0 ";" B_N1_T0 ";" B_N1_B1, "Bt",
      IFD_FIELD_NONE);
  expect_field (classifier, P_N1_T6 ";" P_N1_B7, "Pt", IFD_FIELD_NONE);
  /* This access unit has two slices, and both belong to the same field. It must
   * count as one field, and the next access unit as the second field. */
  expect_field (classifier, P_N1_T6 ";" P_N1_T6, "Pt", IFD_FIELD_FIRST);
  expect_field (classifier, P_N1_B7, "Pt", IFD_FIELD_SECOND);
  /* An access unit with both fields of a frame. The first field is intra-coded,
   * and the second is a P-field, which may refer to the first. The frame must
   * be an I-frame. */
  expect_field (classifier, RECOVERY I_N3_T20 ";" P_N1_B7, "I", IFD_FIELD_NONE);
  /* The I-frame has the picture order count of its first field, which is 20.
   * The next frame has the picture order count 18, so it is shown before the
   * I-frame. It must be leading. */
  expect_field (classifier, P_N4_O18, "Pl", IFD_FIELD_NONE);
  ifd_classifier_free (classifier);
}

GST_END_TEST;

GST_START_TEST (fields_join_to_what_both_are)
{
  static const struct
  {
    IfdFrame first, second;
    IfdFrameType type;
    IfdFrameFlags flags;
  } table[] = {
    {{IFD_FRAME_I, IFD_FRAME_CLOSED}, {IFD_FRAME_P, IFD_FRAME_TRAILING},
        IFD_FRAME_I, IFD_FRAME_CLOSED},
    {{IFD_FRAME_I, 0}, {IFD_FRAME_B, 0}, IFD_FRAME_I, 0},
    {{IFD_FRAME_P, IFD_FRAME_TRAILING}, {IFD_FRAME_B, IFD_FRAME_TRAILING},
        IFD_FRAME_P, IFD_FRAME_TRAILING},
    {{IFD_FRAME_B, IFD_FRAME_LEADING}, {IFD_FRAME_P, IFD_FRAME_LEADING},
        IFD_FRAME_P, IFD_FRAME_LEADING},
    {{IFD_FRAME_B, IFD_FRAME_LEADING}, {IFD_FRAME_B, IFD_FRAME_LEADING},
        IFD_FRAME_B, IFD_FRAME_LEADING},
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (table); i++) {
    IfdFrame frame = table[i].first;

    ifd_classifier_join_fields (&frame, &table[i].second);
    fail_unless_equals_int (frame.type, table[i].type);
    fail_unless_equals_int (frame.flags, table[i].flags);
  }
}

GST_END_TEST;

GST_START_TEST (flush_forgets_the_last_i)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H264);

  set_length_size (classifier, IFD_CODEC_H264, 2);
  classify_as (classifier, 2, "65 88", 100);
  ifd_classifier_reset (classifier);
  fail_unless_equals_string (classify_as (classifier, 2, "01 9e", 80), "B");
  classify_as (classifier, 2, "06 06 01 c4 80; 41 88", 100);
  ifd_classifier_reset (classifier);
  fail_unless_equals_string (classify_as (classifier, 2, "01 9e", 80), "B");
  ifd_classifier_free (classifier);
}

GST_END_TEST;

/* In H.265, the first two bytes of a NAL unit are its header: nal_unit_type <<
 * 9 | nuh_layer_id << 3 | nuh_temporal_id_plus1. */

static gchar *
h265_slice (guint type, guint layer, guint sub_layer)
{
  return g_strdup_printf ("%04x 80 11", type << 9 | layer << 3 |
      (sub_layer + 1));
}

/* Three SPSs of H.265, which declare one, two and three temporal sub-layers.
 * The bytes 42 01 are the NAL unit header. The next byte consists of
 * sps_video_parameter_set_id (4 bits), sps_max_sub_layers_minus1 (3 bits) and
 * sps_temporal_id_nesting_flag (1 bit). */
static const gchar *const sps_of_one = "42 01 01 01 60";
static const gchar *const sps_of_two = "42 01 03 01 60";
static const gchar *const sps_of_three = "42 01 05 01 60";

/* Checks the result for each NAL unit type in table 7-1 of H.265. The stream
 * has a single temporal sub-layer. */
GST_START_TEST (h265_types_are_those_of_the_table)
{
  const gchar *const table[] = {
    "Bt", "Pt",                 /* TRAIL_N, TRAIL_R */
    "Bt", "Pt",                 /* TSA */
    "Bt", "Pt",                 /* STSA */
    "Bt", "Pt",                 /* RADL */
    "Bl", "Pl",                 /* RASL */
    "Bt", "Pt", "Bt", "Pt", "Bt", "Pt", /* RSV_VCL_N10 to RSV_VCL_R15 */
    "Ix", "Ix", "Ix",           /* BLA_W_LP, BLA_W_RADL, BLA_N_LP */
    "Ic", "Ic",                 /* IDR_W_RADL, IDR_N_LP */
    "I",                        /* CRA_NUT */
    "I", "I",                   /* RSV_IRAP_VCL22, 23 */
    "Pt", "Pt", "Pt", "Pt", "Pt", "Pt", "Pt", "Pt"      /* RSV_VCL24 to 31 */
  };
  guint type;

  fail_unless_equals_int (G_N_ELEMENTS (table), 32);
  for (type = 0; type < G_N_ELEMENTS (table); type++) {
    gchar *slice = h265_slice (type, 0, 0);

    expect_of (IFD_CODEC_H265, sps_of_one, slice, table[type]);
    g_free (slice);
  }
}

GST_END_TEST;

static void
expect_sub_layer (const gchar * sps, guint sub_layer, const gchar * expected)
{
  gchar *slice = h265_slice (0, 0, sub_layer);

  expect_of (IFD_CODEC_H265, sps, slice, expected);
  g_free (slice);
}

/* In H.265, a picture may be marked as a "sub-layer non-reference picture". No
 * picture of the same sub-layer refers to a marked picture, but pictures of a
 * higher sub-layer may do so (7.4.2.2). The classifier may report a B-frame
 * only if no other frame refers to this frame. It must therefore report a
 * marked picture as a B-frame in the highest sub-layer, and as a P-frame in all
 * lower sub-layers. */
GST_START_TEST (h265_only_the_highest_sub_layer_has_b)
{
  expect_sub_layer (sps_of_one, 0, "Bt");
  expect_sub_layer (sps_of_two, 0, "Pt");
  expect_sub_layer (sps_of_two, 1, "Bt");
  expect_sub_layer (sps_of_three, 0, "Pt");
  expect_sub_layer (sps_of_three, 1, "Pt");
  expect_sub_layer (sps_of_three, 2, "Bt");
  /* The SPS of H.265 says how many sub-layers the stream has. Without an SPS,
   * it is not known which sub-layer is the highest, so other frames may refer
   * to any frame. The classifier must therefore report each frame as a P-frame
   * and not as a B-frame. */
  expect_sub_layer (NULL, 0, "Pt");
  expect_sub_layer (NULL, 6, "Pt");
}

GST_END_TEST;

GST_START_TEST (h265_sps_in_the_stream_is_taken)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H265);

  fail_unless_equals_string (classify (classifier, "00 01 80", 0), "Pt");
  fail_unless_equals_string (classify (classifier,
          "40 01 0c; 42 01 01 01; 44 01 c1; 26 01 af", 0), "Ic");
  fail_unless_equals_string (classify (classifier, "02 01 d0", 0), "Pt");
  fail_unless_equals_string (classify (classifier, "00 01 80", 0), "Bt");
  /* Two access units have a new SPS, which must replace the previous one. A
   * third access unit has two SPSs, and the one with more sub-layers must be
   * used. */
  classify (classifier, "42 01 03 01; 26 01 af", 0);
  fail_unless_equals_string (classify (classifier, "00 01 80", 0), "Pt");
  classify (classifier, "42 01 01 01; 26 01 af", 0);
  fail_unless_equals_string (classify (classifier, "00 01 80", 0), "Bt");
  classify (classifier, "42 01 03 01; 42 01 01 01; 26 01 af", 0);
  fail_unless_equals_string (classify (classifier, "00 01 80", 0), "Pt");
  fail_unless_equals_string (classify (classifier, "00 02 80", 0), "Bt");
  /* The following SPS belongs to layer 1. It must not replace the SPS of the
   * base layer, which is layer 0. */
  classify (classifier, "42 09 01 01; 26 01 af", 0);
  fail_unless_equals_string (classify (classifier, "00 02 80", 0), "Bt");
  /* A flush does not remove the SPS. */
  ifd_classifier_reset (classifier);
  fail_unless_equals_string (classify (classifier, "00 02 80", 0), "Bt");
  fail_unless_equals_uint64 (count_malformed (classifier), 0);
  ifd_classifier_free (classifier);
}

GST_END_TEST;

GST_START_TEST (h265_first_slice_of_the_base_layer_decides)
{
  /* The NAL unit 28 09 af is a slice of the type IDR_N_LP, but belongs to layer
   * 1. Only the base layer (layer 0) decides about the frame. The slice must be
   * ignored both after and before the slice of the base layer. */
  expect_of (IFD_CODEC_H265, sps_of_one, "28 09 af; 02 01 d0", "Pt");
  expect_of (IFD_CODEC_H265, sps_of_one, "02 01 d0; 28 09 af", "Pt");
  /* delimiter, prefix SEI */
  expect_of (IFD_CODEC_H265, sps_of_one, "46 01 50; 4e 01 05 00 80; 2a 01 af",
      "I");
  expect_of (IFD_CODEC_H265, NULL, "40 01 0c; 44 01 c1", "P");
  /* In H.265, the type of the NAL unit says whether a frame is leading. The
   * timestamps, which are unknown here, must not matter. */
  expect_of (IFD_CODEC_H265, "42 01 01 01; 2a 01 af", "12 01 d0", "Pl");
}

GST_END_TEST;

/* In H.265 (annex D.2.8), an SEI message with a recovery point has three
 * fields: recovery_poc_cnt, which is coded as se(v), exact_match_flag and
 * broken_link_flag. A P-frame that has such an SEI message begins an intra
 * refresh, in which several frames renew the picture part by part. */
GST_START_TEST (h265_recovery_point_is_a_refresh)
{
  expect_of (IFD_CODEC_H265, sps_of_one, "4e 01 06 01 d0 80; 02 01 d0", "Prt");
  /* A recovery after eight pictures: 000010000 1 0 10000 */
  expect_of (IFD_CODEC_H265, sps_of_one, "4e 01 06 02 08 50 80; 02 01 d0",
      "Prt");
  /* These three access units have a recovery point, but must not be marked as
   * the beginning of an intra refresh:
   * - The first one has a picture to which no other picture refers.
   * - The second one has a CRA picture, at which every decoder can begin.
   * - The third one has its recovery point in a suffix SEI message, where the
   *   standard does not allow it. */
  expect_of (IFD_CODEC_H265, sps_of_one, "4e 01 06 01 d0 80; 00 01 d0", "Bt");
  expect_of (IFD_CODEC_H265, sps_of_one, "4e 01 06 01 d0 80; 2a 01 af", "I");
  expect_of (IFD_CODEC_H265, sps_of_one, "50 01 06 01 d0 80; 02 01 d0", "Pt");
}

GST_END_TEST;

/* Codec data */

/* Codec data in the format avcC, as x264 writes them, with an SPS of 10 bytes
 * and a PPS of 4 bytes. A test may append the further fields of High profile.
 *
 * In the stream, the size of each NAL unit is written before the NAL unit. The
 * codec data say how many bytes this size field has. The argument `length` is
 * the byte of the codec data that says this. The lowest two bits of `length`
 * contain lengthSizeMinusOne, which is the number of bytes of the size field,
 * minus 1. */
#define AVCC(length) "01 64 00 1e " length " e1 000a 67 64 00 1e ac d9 40 a0 " \
    "3d a1 01 0004 68 ee 3c 80"

GST_START_TEST (avcc_gives_the_size_of_lengths)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H264);

  fail_unless (set_codec_data (classifier, AVCC ("ff")));
  fail_unless_equals_string (classify_as (classifier, 4, "65 88", 0), "Ic");
  fail_unless (set_codec_data (classifier, AVCC ("fd")));
  fail_unless_equals_string (classify_as (classifier, 2, "65 88", 0), "Ic");
  fail_unless (set_codec_data (classifier, AVCC ("fc") " fd f8 f8 00"));
  fail_unless_equals_string (classify_as (classifier, 1, "65 88", 0), "Ic");
  /* NULL removes the codec data. The classifier must then expect start codes
   * again, not lengths. */
  fail_unless (ifd_classifier_set_codec_data (classifier, NULL, 0));
  fail_unless_equals_string (classify (classifier, "65 88", 0), "Ic");
  fail_unless_equals_uint64 (count_malformed (classifier), 0);
  ifd_classifier_free (classifier);
}

GST_END_TEST;

/* Codec data of H.265 in the format hvcC. After 22 bytes of configuration and
 * the number of arrays, they contain three arrays: one VPS, two SPSs and one
 * PPS. `sps1` and `sps2` are the third bytes of the two SPSs, which declare the
 * number of sub-layers. */
#define HVCC(sps1, sps2) "01 01 60000000 900000000000 5d f000 fc fd f8 f8 0000 " \
    "0f 03 a0 0001 0003 40 01 0c a1 0002 0003 42 01 " sps1 " 0003 42 01 " sps2 \
    " a2 0001 0003 44 01 c1"

GST_START_TEST (hvcc_gives_lengths_and_sub_layers)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H265);

  fail_unless (set_codec_data (classifier, HVCC ("01", "01")));
  fail_unless_equals_string (classify_as (classifier, 4, "00 01 80", 0), "Bt");
  fail_unless (set_codec_data (classifier, HVCC ("03", "01")));
  fail_unless_equals_string (classify_as (classifier, 4, "00 01 80", 0), "Pt");
  fail_unless_equals_string (classify_as (classifier, 4, "00 02 80", 0), "Bt");
  fail_unless (set_codec_data (classifier, HVCC ("01", "01")));
  fail_unless (set_codec_data (classifier, HVCC ("01", "03")));
  fail_unless_equals_string (classify_as (classifier, 4, "00 01 80", 0), "Pt");
  ifd_classifier_free (classifier);
}

GST_END_TEST;

/* Truncates the codec data `text` to each possible size, and sets them in the
 * classifier. If fewer than `min` bytes are left, the classifier must refuse
 * the codec data. It must then continue to expect start codes before the NAL
 * units, as it does without codec data. */
static void
expect_whole (IfdCodec codec, const gchar * text, gsize min)
{
  IfdClassifier *classifier = ifd_classifier_new (codec);
  GByteArray *bytes = parse_hex (text);
  gsize size;

  for (size = 0; size <= bytes->len; size++) {
    guint8 *copy = g_malloc (size + (size == 0));

    memcpy (copy, bytes->data, size);
    fail_unless_equals_int (ifd_classifier_set_codec_data (classifier, copy,
            size), size >= min);
    g_free (copy);
    if (size < min)
      fail_unless_equals_string (classify (classifier, "26 01", 0),
          codec == IFD_CODEC_H264 ? "P" : "Ic");
  }
  g_byte_array_unref (bytes);
  ifd_classifier_free (classifier);
}

GST_START_TEST (malformed_codec_data_changes_nothing)
{
  IfdClassifier *avc = ifd_classifier_new (IFD_CODEC_H264);
  IfdClassifier *hevc = ifd_classifier_new (IFD_CODEC_H265);

  expect_whole (IFD_CODEC_H264, AVCC ("ff"), 25);
  expect_whole (IFD_CODEC_H265, HVCC ("01", "03"), 52);
  /* The first codec data declare lengths of three bytes before the NAL units.
   * The other two have an unknown version. All must be refused. */
  fail_if (set_codec_data (avc, AVCC ("fe")));
  fail_if (set_codec_data (avc, "00 64 00 1e ff e0 00"));
  fail_if (set_codec_data (hevc, "02 01 60000000 900000000000 5d f000 fc fd f8 "
          "f8 0000 0f 00"));
  /* These codec data declare eight sub-layers, but H.265 allows at most seven.
   * They must be refused. */
  fail_if (set_codec_data (hevc, HVCC ("01", "0f")));
  fail_unless_equals_string (classify (avc, "65 88", 0), "Ic");
  fail_unless_equals_string (classify (hevc, "00 01 80", 0), "Pt");
  ifd_classifier_free (avc);
  ifd_classifier_free (hevc);
}

GST_END_TEST;

/* Malformed access units */

GST_START_TEST (malformed_byte_stream_is_counted)
{
  IfdClassifier *h264 = ifd_classifier_new (IFD_CODEC_H264);
  IfdClassifier *h265 = ifd_classifier_new (IFD_CODEC_H265);

  expect_malformed (h264, IFD_MALFORMED_NO_START_CODE, "", "P");
  expect_malformed (h264, IFD_MALFORMED_NO_START_CODE, "65 88 84 21", "P");
  expect_malformed (h264, IFD_MALFORMED_NO_START_CODE, "000001", "P");
  expect_malformed (h264, IFD_MALFORMED_NO_START_CODE, "00000000", "P");
  /* The input begins with the byte 0x77, which belongs to no NAL unit. No such
   * byte is allowed before the first start code, so the classifier must count
   * an error. It must nevertheless read the NAL unit after the start code. */
  expect_malformed (h264, IFD_MALFORMED_NO_START_CODE, "77 000001 65 88", "Ic");
  expect_malformed (h264, IFD_MALFORMED_HEADER, "000001 e5 88", "Pt");
  expect_malformed (h264, IFD_MALFORMED_HEADER, "000001 e5 88 000001 01 88",
      "Bt");
  /* Invalid NAL unit headers of H.265. In the first one, nuh_temporal_id_plus1
   * is 0. In the second one, the first bit is 1. The third one has only one of
   * the two bytes of a header. */
  expect_malformed (h265, IFD_MALFORMED_HEADER, "000001 26 00 80", "P");
  expect_malformed (h265, IFD_MALFORMED_HEADER, "000001 a6 01 80", "P");
  expect_malformed (h265, IFD_MALFORMED_HEADER, "000001 26", "P");
  expect_malformed (h265, IFD_MALFORMED_SPS, "000001 42 01 000001 26 01 80",
      "Ic");
  expect_malformed (h265, IFD_MALFORMED_SPS, "000001 42 01 0e", "P");
  /* This access unit has two errors: an invalid NAL unit header and an SPS that
   * is too short. Only the first error must be counted. */
  expect_malformed (h265, IFD_MALFORMED_HEADER, "000001 26 00 000001 42 01",
      "P");
  ifd_classifier_free (h264);
  ifd_classifier_free (h265);
}

GST_END_TEST;

GST_START_TEST (zeros_around_start_codes_are_no_fault)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H264);
  GByteArray *bytes = parse_hex ("000000000001 06 06 01 c4 80 0000000000000001"
      "41 88 000000");

  fail_unless_equals_string (classify_bytes (classifier, bytes->data,
          bytes->len, 0), "I");
  fail_unless_equals_uint64 (count_malformed (classifier), 0);
  g_byte_array_unref (bytes);
  ifd_classifier_free (classifier);
}

GST_END_TEST;

GST_START_TEST (malformed_lengths_are_counted)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H264);

  set_length_size (classifier, IFD_CODEC_H264, 4);
  expect_malformed (classifier, IFD_MALFORMED_LENGTH, "000000", "P");
  expect_malformed (classifier, IFD_MALFORMED_LENGTH, "00000000", "P");
  expect_malformed (classifier, IFD_MALFORMED_LENGTH, "00000003 65 88", "P");
  expect_malformed (classifier, IFD_MALFORMED_LENGTH, "ffffffff 65 88", "P");
  expect_malformed (classifier, IFD_MALFORMED_LENGTH, "00000002 09 10 00", "P");
  /* The second NAL unit has a wrong length, but the first one is complete. It
   * contains a slice of a picture to which no other picture refers. The
   * classifier must use this slice and report a B-frame. */
  expect_malformed (classifier, IFD_MALFORMED_LENGTH,
      "00000002 01 9e 00000009 41", "B");
  /* An access unit of 0 bytes must not count as malformed. It has no slice, so
   * the result must be a P-frame. */
  fail_unless_equals_string (classify_bytes (classifier, NULL, 0, 0), "P");
  fail_unless_equals_uint64 (count_malformed (classifier), 6);
  ifd_classifier_free (classifier);
}

GST_END_TEST;

GST_START_TEST (malformed_sei_is_counted)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H264);

  /* Each of the next four access units has a malformed SEI message, which must
   * be counted:
   * - In the first two, the declared size exceeds the rest of the NAL unit.
   *   This size is encoded in one byte in the first, and in several bytes in
   *   the second.
   * - In the third and the fourth, the NAL unit ends before the size. */
  expect_malformed (classifier, IFD_MALFORMED_SEI, "000001 06 06 09 c4 80"
      "000001 41 88", "P");
  expect_malformed (classifier, IFD_MALFORMED_SEI, "000001 06 05 ff ff ff 80"
      "000001 41 88", "P");
  expect_malformed (classifier, IFD_MALFORMED_SEI, "000001 06 ff ff ff"
      "000001 41 88", "P");
  expect_malformed (classifier, IFD_MALFORMED_SEI, "000001 06 05 80"
      "000001 41 88", "P");
  /* The SEI NAL unit has a valid recovery point, and after it a malformed
   * message. The recovery point must be used, so the frame must be an I-frame.
   */
  expect_malformed (classifier, IFD_MALFORMED_SEI, "000001 06 06 01 c4 05 09"
      "000001 41 88", "I");
  ifd_classifier_free (classifier);
}

GST_END_TEST;

GST_START_TEST (nothing_is_read_behind_what_decides)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H264);
  GByteArray *bytes = parse_hex ("00000002 65 88 ffffffff");

  set_length_size (classifier, IFD_CODEC_H264, 4);
  fail_unless_equals_string (classify_bytes (classifier, bytes->data,
          bytes->len, 0), "Ic");
  bytes->data[4] = 0x41;
  fail_unless_equals_string (classify_bytes (classifier, bytes->data,
          bytes->len, 0), "Pt");
  fail_unless_equals_uint64 (count_malformed (classifier), 0);
  g_byte_array_unref (bytes);
  ifd_classifier_free (classifier);
}

GST_END_TEST;

GST_START_TEST (access_units_may_be_cut_anywhere)
{
  const gchar *const texts[] = {
    "09 10; 67 64 00 28; 06 05 02 00 00 03 01 06 01 c4 80; 41 88; 01 9e",
    "46 01 50; 40 01 0c; 42 01 03 01; 44 01 c1; 00 01 80; 26 01 af"
  };
  guint codec, length_size, size;

  for (codec = IFD_CODEC_H264; codec <= IFD_CODEC_H265; codec++) {
    for (length_size = 0; length_size <= 4; length_size++) {
      IfdClassifier *classifier = ifd_classifier_new (codec);
      GByteArray *bytes = make_access_unit (texts[codec], length_size);

      if (length_size != 3)
        set_length_size (classifier, codec, length_size);
      for (size = 0; size <= bytes->len; size++)
        classify_bytes (classifier, bytes->data, size, size);
      g_byte_array_unref (bytes);
      ifd_classifier_free (classifier);
    }
  }
}

GST_END_TEST;

/* Lets the classifier find the slices of an access unit. `text` has the NAL
 * units of the access unit in hexadecimal. Each NAL unit is preceded by its
 * length in `length_size` bytes, or by a start code if `length_size` is 0.
 * Returns a new string with the total size of all slices in bytes and, in
 * hexadecimal, the bytes of the first slice. The caller frees the returned
 * string. */
static gchar *
describe_slices (const IfdClassifier * classifier, const gchar * text,
    guint length_size)
{
  GByteArray *bytes = make_access_unit (text, length_size);
  GString *found = g_string_new (NULL);
  IfdSlices slices;
  gsize i;

  if (!ifd_classifier_find_slices (classifier, bytes->data, bytes->len,
          &slices)) {
    fail_unless (slices.first == NULL);
    fail_unless_equals_int (slices.size, 0);
  }
  g_string_printf (found, "%" G_GSIZE_FORMAT ":", slices.size);
  for (i = 0; i < slices.first_size; i++)
    g_string_append_printf (found, " %02x", slices.first[i]);
  g_byte_array_unref (bytes);
  return g_string_free (found, FALSE);
}

static void
assert_slices (IfdCodec codec, const gchar * codec_data, const gchar * text,
    const gchar * expected)
{
  IfdClassifier *classifier = ifd_classifier_new (codec);
  gchar *found = describe_slices (classifier, text, 0);

  fail_unless_equals_string (found, expected);
  g_free (found);
  fail_unless (set_codec_data (classifier, codec_data));
  found = describe_slices (classifier, text, 4);
  fail_unless_equals_string (found, expected);
  g_free (found);
  ifd_classifier_free (classifier);
}

GST_START_TEST (slices_are_the_same_however_they_are_framed)
{
  const gchar *avcc = "01 64 00 1e ff e0 00";
  const gchar *hvcc = "01 00000000000000000000 00000000000000000000 03 00";

  /* delimiter, SPS, PPS, SEI, two slices, filler data */
  assert_slices (IFD_CODEC_H264, avcc,
      "09 f0; 67 64 00; 68 ee; 06 05 01 ff 80; 65 88 84; 65 11 22 33 44; 0c ff 80",
      "8: 65 88 84");
  assert_slices (IFD_CODEC_H264, avcc, "67 64 00 01; 68 ee 01", "0:");
  /* The access unit has a delimiter, a slice of the base layer, a slice of
   * another layer, a second slice of the base layer, and an SEI message. Only
   * the two slices of the base layer must be found. Together they have 7 bytes.
   */
  assert_slices (IFD_CODEC_H265, hvcc,
      "46 01 50; 26 01 af 06; 26 09 af 06; 26 01 11; 50 01 80",
      "7: 26 01 af 06");
}

GST_END_TEST;

GST_START_TEST (looking_for_slices_counts_no_fault)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H264);
  gchar *found = describe_slices (classifier, "e5 88; 65 01", 0);
  guint i;

  fail_unless_equals_string (found, "2: 65 01");
  for (i = 0; i < IFD_MALFORMED_LAST; i++)
    fail_unless_equals_int (ifd_classifier_get_malformed (classifier, i), 0);
  g_free (found);
  ifd_classifier_free (classifier);
}

GST_END_TEST;

GST_START_TEST (flush_keeps_the_counts)
{
  IfdClassifier *classifier = ifd_classifier_new (IFD_CODEC_H264);

  expect_malformed (classifier, IFD_MALFORMED_HEADER, "000001 e5 88", "P");
  ifd_classifier_reset (classifier);
  fail_unless_equals_uint64 (ifd_classifier_get_malformed (classifier,
          IFD_MALFORMED_HEADER), 1);
  fail_unless_equals_uint64 (count_malformed (classifier), 1);
  ifd_classifier_free (classifier);
}

GST_END_TEST;

static Suite *
ifdclassifier_suite (void)
{
  Suite *s = suite_create ("ifdclassifier");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, h264_idr_begins_a_closed_gop);
  tcase_add_test (tc, h264_frame_without_references_to_it_is_b);
  tcase_add_test (tc, h264_frame_with_references_to_it_is_p);
  tcase_add_test (tc, h264_second_field_with_references_makes_p);
  tcase_add_test (tc, h264_access_unit_without_slice_is_p);
  tcase_add_test (tc, h264_recovery_point_is_i);
  tcase_add_test (tc, h264_recovery_point_of_a_refresh_is_p);
  tcase_add_test (tc, h264_broken_link_is_read);
  tcase_add_test (tc, h264_messages_before_the_recovery_point_are_skipped);
  tcase_add_test (tc, h264_long_messages_are_skipped);
  tcase_add_test (tc, h264_emulation_prevention_is_no_payload);
  tcase_add_test (tc, h264_frames_output_before_their_i_lead);
  tcase_add_test (tc, h264_nothing_behind_an_idr_leads);
  tcase_add_test (tc, h264_order_has_a_range);
  tcase_add_test (tc, h264_order_of_output_needs_no_times);
  tcase_add_test (tc, h264_fields_of_a_frame_are_told);
  tcase_add_test (tc, h264_fields_in_one_access_unit_are_a_frame);
  tcase_add_test (tc, fields_join_to_what_both_are);
  tcase_add_test (tc, flush_forgets_the_last_i);
  tcase_add_test (tc, h265_recovery_point_is_a_refresh);
  tcase_add_test (tc, h265_types_are_those_of_the_table);
  tcase_add_test (tc, h265_only_the_highest_sub_layer_has_b);
  tcase_add_test (tc, h265_sps_in_the_stream_is_taken);
  tcase_add_test (tc, h265_first_slice_of_the_base_layer_decides);
  tcase_add_test (tc, avcc_gives_the_size_of_lengths);
  tcase_add_test (tc, hvcc_gives_lengths_and_sub_layers);
  tcase_add_test (tc, malformed_codec_data_changes_nothing);
  tcase_add_test (tc, malformed_byte_stream_is_counted);
  tcase_add_test (tc, zeros_around_start_codes_are_no_fault);
  tcase_add_test (tc, malformed_lengths_are_counted);
  tcase_add_test (tc, malformed_sei_is_counted);
  tcase_add_test (tc, nothing_is_read_behind_what_decides);
  tcase_add_test (tc, access_units_may_be_cut_anywhere);
  tcase_add_test (tc, slices_are_the_same_however_they_are_framed);
  tcase_add_test (tc, looking_for_slices_counts_no_fault);
  tcase_add_test (tc, flush_keeps_the_counts);
  return s;
}

GST_CHECK_MAIN (ifdclassifier);
