/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of H264Headers, a parser of H.264 headers. The headers are composed bit
 * by bit from the tables of the standard. The expected picture order counts
 * were computed by hand from its formulas.
 *
 * The tests describe the bits of a header by a text: "8:77" is the number 77 in
 * 8 bits, "e3" is the number 3 coded as ue(v), and "s-1" is the number -1 coded
 * as se(v).
 */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "h264headers.h"
#include "nalbits.h"

/* --- writing -------------------------------------------------------------- */

static void
put (GString * bits, guint width, guint64 value)
{
  for (; width > 0; width--)
    g_string_append_c (bits, value >> (width - 1) & 1 ? '1' : '0');
}

static void
put_ue (GString * bits, guint64 value)
{
  guint width = g_bit_storage (value + 1);

  put (bits, width - 1, 0);
  put (bits, width, value + 1);
}

static void
put_word (GString * bits, const gchar * word)
{
  gint64 value = g_ascii_strtoll (word + 1, NULL, 10);

  if (*word == 'e')
    put_ue (bits, value);
  else if (*word == 's')
    put_ue (bits, value > 0 ? 2 * value - 1 : -2 * value);
  else
    put (bits, g_ascii_strtoull (word, NULL, 10),
        g_ascii_strtoull (strchr (word, ':') + 1, NULL, 10));
}

static GString *
make_bits (const gchar * text)
{
  gchar **words = g_strsplit (text, " ", -1);
  GString *bits = g_string_new (NULL);
  guint i;

  for (i = 0; words[i]; i++) {
    if (*words[i])
      put_word (bits, words[i]);
  }
  g_strfreev (words);
  return bits;
}

/* Appends `byte` to the NAL unit. If necessary, first appends an emulation
 * prevention byte (section 7.4.1.1 of H.264). `zeros` counts the zero bytes at
 * the end of the NAL unit.
 */
static void
append_escaped (GByteArray * unit, guint8 byte, guint * zeros)
{
  if (*zeros >= 2 && byte < 4) {
    g_byte_array_append (unit, (const guint8 *) "\3", 1);
    *zeros = 0;
  }
  *zeros = byte == 0 ? *zeros + 1 : 0;
  g_byte_array_append (unit, &byte, 1);
}

/* Returns a NAL unit that consists of the byte `header`, the bits that `text`
 * describes, and the trailing bits that fill the last byte
 * (rbsp_trailing_bits()). */
static GByteArray *
make_unit (guint8 header, const gchar * text)
{
  GByteArray *unit = g_byte_array_new ();
  GString *bits = make_bits (text);
  guint zeros = 0, i, j;

  g_byte_array_append (unit, &header, 1);
  put (bits, 1, 1);
  while (bits->len % 8)
    put (bits, 1, 0);
  for (i = 0; i < bits->len; i += 8) {
    guint8 byte = 0;

    for (j = 0; j < 8; j++)
      byte = byte << 1 | (bits->str[i + j] == '1');
    append_escaped (unit, byte, &zeros);
  }
  g_string_free (bits, TRUE);
  return unit;
}

/* --- parsing; the buffer of a NAL unit has exactly its size --------------- */

static void
add_sps (H264Headers * headers, const gchar * text)
{
  GByteArray *unit = make_unit (0x67, text);

  h264_headers_add_sps (headers, unit->data, unit->len);
  g_byte_array_unref (unit);
}

static void
add_pps (H264Headers * headers, const gchar * text)
{
  GByteArray *unit = make_unit (0x68, text);

  h264_headers_add_pps (headers, unit->data, unit->len);
  g_byte_array_unref (unit);
}

#define IDR 0x65
#define REFERENCE 0x41
#define NON_REFERENCE 0x01

static gboolean
read_slice (const H264Headers * headers, guint8 header, const gchar * text,
    H264Slice * slice)
{
  GByteArray *unit = make_unit (header, text);
  guint8 *copy = g_memdup2 (unit->data, unit->len);
  gboolean is_read = h264_headers_read_slice (headers, copy, unit->len, slice);

  g_free (copy);
  g_byte_array_unref (unit);
  return is_read;
}

/* PicOrderCnt of a picture */
static gint32
count (H264Headers * headers, guint8 header, const gchar * text)
{
  H264Slice slice;

  fail_unless (read_slice (headers, header, text, &slice), "%s", text);
  return h264_headers_begin_picture (headers, &slice);
}

/* An SPS of Main profile with the ID 0. frame_num has 4 bits. `order` consists
 * of pic_order_cnt_type and the fields that depend on it. The SPS allows four
 * reference frames, and a picture has a single macroblock. `frames_only` is the
 * flag frame_mbs_only_flag, written as number of bits and value. With the value
 * 1 ("1:1"), the SPS allows only frames. With the value 0 ("1:0"), it allows
 * frames and fields. */
#define SPS(order, frames_only) \
    "8:77 16:30 e0 e0 " order " e4 1:0 e0 e0 " frames_only
/* pic_order_cnt_type 0, and 4 bits for pic_order_cnt_lsb */
#define ORDER_0 "e0 e0"
#define ORDER_2 "e2"
/* A PPS with the ID 0. It refers to the SPS 0 and specifies CAVLC, one
 * reference picture, and no weighted prediction. `bottom_order` and `redundant`
 * are flags, written as number of bits and value: "1:1" is one bit with the
 * value 1. If `bottom_order` is "1:1", slice headers may contain the picture
 * order count of the bottom field. If `redundant` is "1:1", slice headers
 * contain redundant_pic_cnt. */
#define PPS(bottom_order, redundant) \
    "e0 e0 1:0 " bottom_order " e0 e0 e0 1:0 2:0 s0 s0 s0 2:2 " redundant

static H264Headers *
make_headers (const gchar * sps, const gchar * pps)
{
  H264Headers *headers = h264_headers_new ();

  add_sps (headers, sps);
  add_pps (headers, pps);
  return headers;
}

/* --- bits ----------------------------------------------------------------- */

/* Tables 9-1, 9-2 and 9-3 of H.264 */
GST_START_TEST (exp_golomb_codes_are_those_of_the_tables)
{
  /* As bits: 1 010 011 00100 00101 00110 00111, 1 010 011 00100 00101 */
  const guint8 bytes[] = { 0xa6, 0x42, 0x98, 0xf4, 0xc8, 0x50 };
  NalBits bits;
  gint i;

  nal_bits_init (&bits, bytes, bytes + sizeof (bytes));
  for (i = 0; i < 7; i++)
    fail_unless_equals_int (nal_bits_take_ue (&bits), i);
  for (i = 0; i < 5; i++)
    fail_unless_equals_int (nal_bits_take_se (&bits),
        i % 2 ? (i + 1) / 2 : -i / 2);
  fail_if (bits.beyond);
  nal_bits_take (&bits, 32);
  fail_unless (bits.beyond);
}

GST_END_TEST;

GST_START_TEST (emulation_prevention_is_no_payload)
{
  const guint8 bytes[] = { 0, 0, 3, 1, 3, 0, 0, 3 };
  NalBits bits;

  nal_bits_init (&bits, bytes, bytes + sizeof (bytes));
  fail_unless_equals_int (nal_bits_take (&bits, 24), 1);
  fail_unless_equals_int (nal_bits_take (&bits, 24), 0x030000);
  fail_if (bits.beyond);
  nal_bits_take (&bits, 1);
  fail_unless (bits.beyond);
}

GST_END_TEST;

GST_START_TEST (numbers_that_do_not_fit_are_refused)
{
  const guint8 largest[] = { 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe };
  const guint8 larger[] = { 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff };
  NalBits bits;

  /* 31 zeros */
  nal_bits_init (&bits, largest, largest + sizeof (largest));
  fail_unless_equals_uint64 (nal_bits_take_ue (&bits), 0xfffffffe);
  fail_if (bits.beyond);
  nal_bits_init (&bits, largest, largest + sizeof (largest));
  fail_unless_equals_int (nal_bits_take_se (&bits), -G_MAXINT32);
  nal_bits_init (&bits, larger, larger + sizeof (larger));
  nal_bits_take_ue (&bits);
  fail_unless (bits.beyond);
  nal_bits_init (&bits, largest, largest + sizeof (largest));
  fail_unless_equals_int (nal_bits_take_index (&bits, 31), 0);
  fail_unless (bits.beyond);
}

GST_END_TEST;

/* --- slice headers -------------------------------------------------------- */

/* The slice headers of this test begin with these fields: first_mb_in_slice,
 * slice_type, pic_parameter_set_id, frame_num, field_pic_flag,
 * bottom_field_flag (only if field_pic_flag is 1), idr_pic_id (only in an IDR
 * picture) and pic_order_cnt_lsb. The parser must report which picture the
 * slice belongs to. */
GST_START_TEST (slice_says_which_picture_it_is_of)
{
  H264Headers *headers = make_headers (SPS (ORDER_0, "1:0"),
      PPS ("1:0", "1:0"));
  H264Slice slice;

  fail_unless (read_slice (headers, NON_REFERENCE,
          "e9 e0 e0 4:13 1:1 1:1 4:5 1:0 1:0", &slice));
  fail_unless (!slice.is_reference && !slice.is_idr && !slice.is_intra);
  fail_unless_equals_int (slice.frame_num, 13);
  fail_unless (slice.is_field && slice.is_bottom);
  fail_unless (read_slice (headers, IDR, "e0 e7 e0 4:0 1:1 1:0 e3 4:0 2:0",
          &slice));
  fail_unless (slice.is_reference && slice.is_idr && slice.is_intra);
  fail_unless (slice.is_field && !slice.is_bottom);
  fail_unless (read_slice (headers, REFERENCE, "e0 e4 e0 4:1 1:0 4:0 1:0",
          &slice));
  fail_unless (slice.is_intra && !slice.is_field);
  h264_headers_free (headers);
}

GST_END_TEST;

/* The header of a slice contains the ID of its PPS. The fields after this ID
 * can be parsed only with the PPS and the SPS. If one of them is missing, the
 * slice must be refused. The type of the slice must be known nevertheless,
 * because it comes before the ID. */
GST_START_TEST (slice_without_its_parameter_sets_is_not_read)
{
  H264Headers *headers = h264_headers_new ();
  const gchar *i_slice = "e0 e2 e0 4:0 4:0 1:0";
  const gchar *other = "e0 e2 e1 4:0 4:0 1:0";
  H264Slice slice;

  fail_if (read_slice (headers, REFERENCE, i_slice, &slice));
  fail_unless (slice.is_intra && slice.is_reference);
  add_pps (headers, PPS ("1:0", "1:0"));
  fail_if (read_slice (headers, REFERENCE, i_slice, &slice));
  add_sps (headers, SPS (ORDER_0, "1:1"));
  fail_unless (read_slice (headers, REFERENCE, i_slice, &slice));
  fail_if (read_slice (headers, REFERENCE, other, &slice));
  /* In the first slice the parameter set ID is out of range, and in the second
   * one the slice type. Both slices must be refused. */
  fail_if (read_slice (headers, REFERENCE, "e0 e2 e256 4:0 4:0 1:0", &slice));
  fail_if (read_slice (headers, REFERENCE, "e0 e10 e0 4:0 4:0 1:0", &slice));
  fail_if (slice.is_intra);
  /* An invalid parameter set may have been meant to replace the previous one.
   * The previous one must therefore no longer be used, and slices must be
   * refused. The SPS is invalid because its pic_order_cnt_type is 3. The PPS is
   * invalid because its num_slice_groups_minus1 is 8. */
  add_sps (headers, "8:77 16:30 e1 e0 e3");
  fail_if (read_slice (headers, REFERENCE, i_slice, &slice));
  add_sps (headers, SPS (ORDER_0, "1:1"));
  fail_unless (read_slice (headers, REFERENCE, i_slice, &slice));
  add_pps (headers, "e7 e0 1:0 1:0 e8");
  fail_if (read_slice (headers, REFERENCE, i_slice, &slice));
  h264_headers_free (headers);
}

GST_END_TEST;

/* A slice header with all fields that may precede dec_ref_pic_marking():
 * - colour plane, redundant picture, direct mode, numbers of references;
 * - modifications of both lists of reference pictures (7.3.3.1);
 * - weights (7.3.3.2) of two reference pictures in the first list and of one in
 *   the second list. There are no weights for chroma, because each colour plane
 *   is coded separately.
 *
 * dec_ref_pic_marking() itself contains each operation of section 7.3.3.3. */
#define LONG_SLICE "e0 e1 e0 2:1 4:1 4:2 e0 1:1 1:1 e1 e0 " \
    "1:1 e0 e5 e1 e6 e2 e7 e3 1:1 e0 e1 e3 " \
    "e3 1:1 s-20 s7 1:0 1:1 s1 s-1 " \
    "1:1 e1 e0 e2 e1 e3 e0 e2 e4 e3 e6 e1 e5 e0"

static H264Headers *
make_long_headers (void)
{
  /* An SPS of the High 4:4:4 profile, in which each colour plane is coded
   * separately. It has a scaling matrix. The first scaling list has a single
   * value, which says that the list ends there. The second list has all its 16
   * values, the third list has all its 64 values, and the other nine lists are
   * absent. */
  GString *sps = g_string_new ("8:244 16:30 e0 e3 1:1 e0 e0 1:0 1:1 1:1 s-8 "
      "1:1");
  H264Headers *headers = h264_headers_new ();
  guint i;

  for (i = 0; i < 16; i++)
    g_string_append (sps, " s1");
  g_string_append (sps, " 4:0 1:1");
  for (i = 0; i < 64; i++)
    g_string_append (sps, i % 2 ? " s127" : " s-126");
  g_string_append (sps, " 5:0 e0 " ORDER_0 " e4 1:0 e0 e0 1:1");
  add_sps (headers, sps->str);
  g_string_free (sps, TRUE);
  /* A PPS that enables explicit weights for P slices and B slices, and also
   * redundant pictures. A slice header then contains a table of weights and the
   * field redundant_pic_cnt. */
  add_pps (headers, "e0 e0 1:0 1:0 e0 e3 e3 1:1 2:1 s0 s0 s0 2:2 1:1");
  return headers;
}

GST_START_TEST (everything_before_the_marking_is_skipped)
{
  H264Headers *headers = make_long_headers ();
  H264Slice slice;

  fail_unless (read_slice (headers, REFERENCE, LONG_SLICE, &slice));
  fail_unless_equals_int (slice.frame_num, 1);
  fail_unless_equals_int (slice.order_lsb, 2);
  fail_unless (slice.forgets);
  /* A P slice uses only one list of reference pictures, so its header has
   * weights only for this list. The header does not give the length of the
   * list; it is in the PPS. */
  fail_unless (read_slice (headers, REFERENCE, "e0 e0 e0 2:0 4:1 4:2 e0 1:0 "
          "1:0 e0 1:0 1:1 s0 s0 1:0 1:0 1:1 e5 e0", &slice));
  fail_unless (slice.forgets);
  h264_headers_free (headers);

  /* weighted_bipred_idc is 2, so the decoder computes the weights of a B slice
   * itself. The slice header has no table of weights, and the parser must not
   * expect one. */
  headers = make_headers (SPS (ORDER_0, "1:1"),
      "e0 e0 1:0 1:0 e0 e0 e0 1:0 2:2 s0 s0 s0 2:2 1:0");
  fail_unless (read_slice (headers, REFERENCE, "e0 e1 e0 4:1 4:2 1:1 1:0 1:0 "
          "1:0 1:1 e5 e0", &slice));
  fail_unless (slice.forgets);
  h264_headers_free (headers);
}

GST_END_TEST;

GST_START_TEST (cut_slices_are_not_read)
{
  H264Headers *headers = make_long_headers ();
  GByteArray *unit = make_unit (REFERENCE, LONG_SLICE);
  H264Slice slice;
  gsize size;

  /* The loop truncates the slice header to each possible size. At least the
   * last two bytes are missing each time. The last byte alone might contain
   * only trailing bits, but the byte before it contains a part of the header.
   * Each truncated header must therefore be refused. */
  for (size = 0; size + 1 < unit->len; size++) {
    guint8 *copy = g_malloc (size + (size == 0));

    memcpy (copy, unit->data, size);
    fail_if (h264_headers_read_slice (headers, copy, size, &slice));
    g_free (copy);
  }
  g_byte_array_unref (unit);
  h264_headers_free (headers);
}

GST_END_TEST;

GST_START_TEST (cut_parameter_sets_are_not_taken)
{
  GByteArray *sps = make_unit (0x67, SPS (ORDER_0, "1:1"));
  GByteArray *pps = make_unit (0x68, PPS ("1:0", "1:0"));
  H264Headers *headers = h264_headers_new ();
  H264Slice slice;
  gsize size;

  for (size = 0; size + 1 < sps->len; size++) {
    guint8 *copy = g_memdup2 (sps->data, size);

    add_pps (headers, PPS ("1:0", "1:0"));
    h264_headers_add_sps (headers, copy, size);
    fail_if (read_slice (headers, REFERENCE, "e0 e2 e0 4:0 4:0 1:0", &slice));
    g_free (copy);
  }
  add_sps (headers, SPS (ORDER_0, "1:1"));
  for (size = 0; size + 1 < pps->len; size++) {
    guint8 *copy = g_memdup2 (pps->data, size);

    h264_headers_add_pps (headers, copy, size);
    fail_if (read_slice (headers, REFERENCE, "e0 e2 e0 4:0 4:0 1:0", &slice));
    g_free (copy);
  }
  g_byte_array_unref (sps);
  g_byte_array_unref (pps);
  h264_headers_free (headers);
}

GST_END_TEST;

/* In a PPS of H.264 (7.3.2.2), the fields of slice groups come near the
 * beginning. The flag redundant_pic_cnt_present_flag comes last. The test has a
 * PPS for each kind of slice group. It checks that the parser reads the flag
 * correctly, which it can do only if it has skipped the fields of the slice
 * groups correctly. */
GST_START_TEST (slice_groups_are_skipped)
{
  static const gchar *const groups[] = {
    "e1 e0 e7 e7", "e1 e1", "e2 e2 e0 e1 e2 e3", "e1 e3 1:1 e2", "e1 e4 1:0 e2",
    "e1 e5 1:0 e2", "e2 e6 e3 2:0 2:1 2:2 2:1"
  };
  H264Headers *headers = make_headers (SPS (ORDER_0, "1:1"),
      PPS ("1:0", "1:0"));
  H264Slice slice;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (groups); i++) {
    gchar *pps = g_strdup_printf ("e0 e0 1:0 1:0 %s e0 e0 1:0 2:0 s0 s0 s0 2:2 "
        "1:1", groups[i]);

    add_pps (headers, pps);
    fail_unless (read_slice (headers, REFERENCE,
            "e0 e2 e0 4:0 4:0 e1 1:1 e5 e0", &slice));
    fail_unless (slice.forgets, "%s", groups[i]);
    g_free (pps);
  }
  h264_headers_free (headers);
}

GST_END_TEST;

/* --- picture order count -------------------------------------------------- */

#define I_SLICE(lsb) "e0 e7 e0 4:0 e0 4:" lsb " 2:0"
#define P_SLICE(frame_num, lsb) "e0 e5 e0 4:" frame_num " 4:" lsb " 1:0 1:0 1:0"
/* A P slice of a non-reference picture. The header of this slice has no
 * dec_ref_pic_marking(). `lsb` is pic_order_cnt_lsb. */
#define N_SLICE(frame_num, lsb) "e0 e5 e0 4:" frame_num " 4:" lsb " 1:0 1:0"

/* pic_order_cnt_type 0 (H.264, 8.2.1.1): the slice header contains only the low
 * bits of the picture order count, here 4 bits. From all counts with these low
 * bits, the parser must choose the one that is nearest to the count of the
 * previous reference picture. */
GST_START_TEST (order_type_0_counts_beyond_its_bits)
{
  H264Headers *headers = make_headers (SPS (ORDER_0, "1:1"),
      PPS ("1:0", "1:0"));

  fail_unless_equals_int (count (headers, IDR, I_SLICE ("0")), 0);
  fail_unless_equals_int (count (headers, REFERENCE, P_SLICE ("1", "6")), 6);
  fail_unless_equals_int (count (headers, NON_REFERENCE, N_SLICE ("2", "4")),
      4);
  fail_unless_equals_int (count (headers, REFERENCE, P_SLICE ("2", "12")), 12);
  fail_unless_equals_int (count (headers, REFERENCE, P_SLICE ("3", "2")), 18);
  fail_unless_equals_int (count (headers, NON_REFERENCE, N_SLICE ("4", "14")),
      14);
  /* pic_order_cnt_lsb has 16 different values. If it changes by exactly 8,
   * which is half of them, the picture order count may have increased or
   * decreased by 8. The parser must assume that it has increased. */
  fail_unless_equals_int (count (headers, REFERENCE, P_SLICE ("4", "10")), 26);
  fail_unless_equals_int (count (headers, REFERENCE, P_SLICE ("5", "2")), 34);
  fail_unless_equals_int (count (headers, IDR, I_SLICE ("0")), 0);
  fail_unless_equals_int (count (headers, REFERENCE, P_SLICE ("1", "12")), -4);
  h264_headers_reset (headers);
  fail_unless_equals_int (count (headers, REFERENCE, P_SLICE ("5", "3")), 3);
  h264_headers_free (headers);
}

GST_END_TEST;

/* The function under test returns one picture order count for each picture. For
 * a frame, this is the smaller one of the counts of its two fields. For a
 * single field, it is the count of this field. */
GST_START_TEST (order_of_fields)
{
  H264Headers *headers = make_headers (SPS (ORDER_0, "1:0"),
      PPS ("1:1", "1:0"));

  fail_unless_equals_int (count (headers, IDR,
          "e0 e7 e0 4:0 1:0 e0 4:4 s-1 2:0"), 3);
  fail_unless_equals_int (count (headers, REFERENCE,
          "e0 e7 e0 4:1 1:0 4:7 s1 1:0"), 7);
  fail_unless_equals_int (count (headers, REFERENCE,
          "e0 e7 e0 4:2 1:1 1:0 4:10 1:0"), 10);
  fail_unless_equals_int (count (headers, REFERENCE,
          "e0 e7 e0 4:2 1:1 1:1 4:11 1:0"), 11);
  h264_headers_free (headers);
}

GST_END_TEST;

/* pic_order_cnt_type 1 (H.264, 8.2.1.2): the SPS says how the picture order
 * count follows from frame_num. With this SPS, the count of each reference
 * frame is 4 more than that of the previous reference frame. The count of a
 * non-reference frame is 2 less than that of the reference frame before it in
 * decoding order. */
GST_START_TEST (order_type_1_is_expected)
{
  H264Headers *headers = make_headers (SPS ("e1 1:0 s-2 s1 e1 s4", "1:0"),
      PPS ("1:1", "1:0"));

  fail_unless_equals_int (count (headers, IDR,
          "e0 e7 e0 4:0 1:0 e0 s0 s0 2:0"), 0);
  fail_unless_equals_int (count (headers, REFERENCE,
          "e0 e7 e0 4:1 1:0 s0 s0 1:0"), 4);
  fail_unless_equals_int (count (headers, NON_REFERENCE,
          "e0 e7 e0 4:2 1:0 s0 s0"), 2);
  /* Four more pictures follow, and their picture order counts are checked:
   * - A frame with the frame_num 2. Its count would be 8, but its
   *   delta_pic_order_cnt[0] is 1. The count must therefore be 9.
   * - A frame with the frame_num 3. The count of its top field is 12. The count
   *   of its bottom field would be 13, but its delta_pic_order_cnt[1] is -3,
   *   which applies to the bottom field only. The bottom field therefore has
   *   the count 10. The count of the frame must be the lower one, 10.
   * - A top field and a bottom field with the frame_num 4. Their counts must be
   *   16 and 17. */
  fail_unless_equals_int (count (headers, REFERENCE,
          "e0 e7 e0 4:2 1:0 s1 s0 1:0"), 9);
  fail_unless_equals_int (count (headers, REFERENCE,
          "e0 e7 e0 4:3 1:0 s0 s-3 1:0"), 10);
  fail_unless_equals_int (count (headers, REFERENCE,
          "e0 e7 e0 4:4 1:1 1:0 s0 1:0"), 16);
  fail_unless_equals_int (count (headers, REFERENCE,
          "e0 e7 e0 4:4 1:1 1:1 s0 1:0"), 17);
  /* frame_num has 4 bits. It decreases from 4 to 1, so it has wrapped around:
   * this is the frame number 16 + 1 = 17, and its picture order count is 4 *
   * 17. */
  fail_unless_equals_int (count (headers, REFERENCE,
          "e0 e7 e0 4:1 1:0 s0 s0 1:0"), 68);
  h264_headers_free (headers);

  /* An SPS with the pic_order_cnt_type 1 and a cycle of two offsets, 2 and 6.
   * The slice headers contain no delta_pic_order_cnt. The picture order count
   * must therefore increase by 2, then by 6, then by 2 again. */
  headers = make_headers (SPS ("e1 1:1 s0 s0 e2 s2 s6", "1:1"),
      PPS ("1:0", "1:0"));
  fail_unless_equals_int (count (headers, IDR, "e0 e7 e0 4:0 e0 2:0"), 0);
  fail_unless_equals_int (count (headers, REFERENCE, "e0 e7 e0 4:1 1:0"), 2);
  fail_unless_equals_int (count (headers, REFERENCE, "e0 e7 e0 4:2 1:0"), 8);
  fail_unless_equals_int (count (headers, REFERENCE, "e0 e7 e0 4:3 1:0"), 10);
  h264_headers_free (headers);
}

GST_END_TEST;

/* pic_order_cnt_type 2 (H.264, 8.2.1.3): pictures are displayed in the order in
 * which they are decoded. The picture order count must therefore be greater for
 * each picture than for the one before it. */
GST_START_TEST (order_type_2_is_that_of_decoding)
{
  H264Headers *headers = make_headers (SPS (ORDER_2, "1:1"),
      PPS ("1:0", "1:0"));

  fail_unless_equals_int (count (headers, IDR, "e0 e7 e0 4:0 e0 2:0"), 0);
  fail_unless_equals_int (count (headers, REFERENCE, "e0 e7 e0 4:1 1:0"), 2);
  fail_unless_equals_int (count (headers, NON_REFERENCE, "e0 e7 e0 4:2"), 3);
  fail_unless_equals_int (count (headers, REFERENCE, "e0 e7 e0 4:2 1:0"), 4);
  fail_unless_equals_int (count (headers, REFERENCE, "e0 e7 e0 4:15 1:0"), 30);
  fail_unless_equals_int (count (headers, REFERENCE, "e0 e7 e0 4:0 1:0"), 32);
  h264_headers_free (headers);
}

GST_END_TEST;

/* A picture with the memory_management_control_operation 5 tells the decoder to
 * discard all reference pictures. The picture order counts must start again at
 * 0 with this picture. */
GST_START_TEST (picture_that_forgets_begins_the_counts)
{
  H264Headers *headers = make_headers (SPS (ORDER_0, "1:0"),
      PPS ("1:1", "1:0"));

  fail_unless_equals_int (count (headers, IDR,
          "e0 e7 e0 4:0 1:0 e0 4:6 s0 2:0"), 6);
  /* According to the slice header, the top field of this frame has the picture
   * order count 14, and the bottom field has 12. The frame has the
   * memory_management_control_operation 5. The smaller count (tempPicOrderCnt)
   * is therefore subtracted from both counts, which gives 2 for the top field
   * and 0 for the bottom field. The count of the frame is the smaller one, 0.
   */
  fail_unless_equals_int (count (headers, REFERENCE,
          "e0 e7 e0 4:1 1:0 4:14 s-2 1:1 e5 e0"), 0);
  fail_unless_equals_int (count (headers, REFERENCE,
          "e0 e7 e0 4:1 1:0 4:11 s0 1:0"), -5);
  h264_headers_free (headers);

  headers = make_headers (SPS (ORDER_2, "1:1"), PPS ("1:0", "1:0"));
  fail_unless_equals_int (count (headers, REFERENCE, "e0 e7 e0 4:9 1:0"), 18);
  fail_unless_equals_int (count (headers, REFERENCE,
          "e0 e7 e0 4:10 1:1 e5 e0"), 0);
  fail_unless_equals_int (count (headers, REFERENCE, "e0 e7 e0 4:1 1:0"), 2);
  h264_headers_free (headers);
}

GST_END_TEST;

static Suite *
h264headers_suite (void)
{
  Suite *s = suite_create ("h264headers");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, exp_golomb_codes_are_those_of_the_tables);
  tcase_add_test (tc, emulation_prevention_is_no_payload);
  tcase_add_test (tc, numbers_that_do_not_fit_are_refused);
  tcase_add_test (tc, slice_says_which_picture_it_is_of);
  tcase_add_test (tc, slice_without_its_parameter_sets_is_not_read);
  tcase_add_test (tc, everything_before_the_marking_is_skipped);
  tcase_add_test (tc, cut_slices_are_not_read);
  tcase_add_test (tc, cut_parameter_sets_are_not_taken);
  tcase_add_test (tc, slice_groups_are_skipped);
  tcase_add_test (tc, order_type_0_counts_beyond_its_bits);
  tcase_add_test (tc, order_of_fields);
  tcase_add_test (tc, order_type_1_is_expected);
  tcase_add_test (tc, order_type_2_is_that_of_decoding);
  tcase_add_test (tc, picture_that_forgets_begins_the_counts);
  return s;
}

GST_CHECK_MAIN (h264headers);
