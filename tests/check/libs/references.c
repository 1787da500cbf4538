/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests References, which finds out which pictures are needed to decode each
 * picture, and H265Headers, which reads the headers of H.265. The streams have
 * pyramids of B-frames and temporal layers. The headers are written bit by bit
 * according to the tables of H.265. In the strings that describe the headers,
 * "8:77" means the value 77 in 8 bits, and "e3" means the value 3 as ue(v). */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "h265headers.h"
#include "references.h"

/* --- reference picture sets ----------------------------------------------- */

/* A test describes each picture by its type, its picture order count (POC), its
 * layer, and the POCs of the pictures that it uses. The types are those of
 * H.265:
 * - 'I': an IDR picture
 * - 'C': a CRA picture
 * - 'P': a reference picture
 * - 'B': a non-reference picture
 * - 'L': a leading picture to which no picture refers
 * A "(" before a POC means that the picture with this POC is kept in the buffer
 * of reference pictures, but is not used. */
typedef struct
{
  gchar type;
  gint order, layer;
  const gchar *uses;
} Picture;

static gboolean
input (References * references, const Picture * picture, ReferenceUse * use)
{
  const ReferencePicture kind = { strchr ("IC", picture->type) != NULL,
    picture->type == 'I', picture->type == 'L',
    strchr ("BL", picture->type) == NULL, picture->layer
  };
  gchar **orders = g_strsplit (picture->uses, " ", -1);
  H265Slice slice = { picture->order, 0 };
  guint i;

  for (i = 0; orders[i]; i++) {
    H265Reference *reference = &slice.references[slice.n_references++];
    const gboolean is_kept = *orders[i] == '(';

    reference->order = atoi (orders[i] + is_kept);
    reference->mask = G_MAXUINT32;
    reference->is_used = !is_kept;
  }
  g_strfreev (orders);
  references_begin_h265 (references, &slice);
  return references_end (references, &kind, use);
}

/* Simulates a decoder that does not receive the picture with the index
 * `without`. Returns a text with one character for each picture. The character
 * is '-' if the decoder cannot decode the picture. Otherwise it is a digit: the
 * number of the layer of the picture (the field `depth` of ReferenceUse). The
 * test fails if the references of a picture are not known. */
static gchar *
decode_without (References * references, const Picture * pictures, guint n,
    guint without)
{
  gchar *text = g_malloc0 (n + 1);
  guint32 wrong = 0;
  guint i;

  for (i = 0; i < n; i++) {
    ReferenceUse use;
    gboolean is_lost;

    fail_unless (input (references, &pictures[i], &use));
    is_lost = i == without || (use.uses & wrong);
    wrong = is_lost ? wrong | use.updates : wrong & ~use.updates;
    text[i] = is_lost ? '-' : '0' + use.depth;
  }
  return text;
}

static void
expect_without (const Picture * pictures, guint n, guint without,
    const gchar * expected)
{
  References *references = references_new ();
  gchar *found;

  references_declare_layers (references);
  found = decode_without (references, pictures, n, without);
  fail_unless_equals_string (found, expected);
  g_free (found);
  references_free (references);
}

/* Three temporal layers without delay: 0 2 1 2 0 2 1 2 ... */
static const Picture layers[] = {
  {'I', 0, 0, ""}, {'B', 1, 2, "0"}, {'P', 2, 1, "0"}, {'B', 3, 2, "2 0"},
  {'P', 4, 0, "0"}, {'B', 5, 2, "4"}, {'P', 6, 1, "4"}, {'B', 7, 2, "6 4"},
  {'P', 8, 0, "4"}, {'P', 9, 1, "8 (4"}, {'C', 10, 0, ""}, {'P', 11, 0, "10"},
};

GST_START_TEST (picture_of_a_layer_costs_those_that_refer_to_it)
{
  const guint n = G_N_ELEMENTS (layers);

  expect_without (layers, n, n, "021202120100");
  expect_without (layers, n, 1, "0-1202120100");
  expect_without (layers, n, 2, "02--02120100");
  expect_without (layers, n, 6, "02120" "2--0100");
  expect_without (layers, n, 4, "0212------00");
  /* The references of picture 9 are written as "8 (4". The "(" means that
   * picture 4 stays stored, but picture 9 does not use it. Picture 4 therefore
   * does not count as a reference of picture 9. */
  expect_without (layers, n, 9, "021202120-00");
}

GST_END_TEST;

/* A pyramid of B-frames with three levels, in which some B-frames are
 * references of other B-frames. An open GOP follows it. */
static const Picture pyramid[] = {
  {'I', 0, 0, ""}, {'P', 8, 0, "0"}, {'P', 4, 0, "0 8"}, {'P', 2, 0, "0 4"},
  {'B', 1, 0, "0 2 (4 (8"}, {'B', 3, 0, "2 4 (8"}, {'P', 6, 0, "4 8"},
  {'B', 5, 0, "4 6 (8"}, {'B', 7, 0, "6 8"}, {'C', 16, 0, "(8"},
  {'P', 12, 0, "8 16"}, {'L', 10, 0, "8 12 (16"}, {'P', 20, 0, "16"},
};

GST_START_TEST (depth_in_a_pyramid_follows_from_the_references)
{
  Picture pictures[G_N_ELEMENTS (pyramid)];
  const guint n = G_N_ELEMENTS (pyramid);

  memcpy (pictures, pyramid, sizeof pictures);
  /* Only the pictures with the indices 0 to 9 are used here. Picture 10 is a
   * leading picture to which another picture refers, and the picture types of
   * this test have no letter for this. */
  expect_without (pictures, 10, n, "0012332330");
  expect_without (pictures, 10, 3, "001---2330");
  expect_without (pictures, 10, 2, "00-------0");
  expect_without (pictures, 10, 6, "001233---0");
}

GST_END_TEST;

GST_START_TEST (leading_pictures_need_the_previous_group)
{
  static const Picture open[] = {
    {'I', 0, 0, ""}, {'P', 4, 0, "0"}, {'C', 8, 0, "(4"},
    {'L', 6, 0, "4 8"}, {'P', 12, 0, "8"}, {'B', 10, 0, "8 12"},
  };

  expect_without (open, 6, 6, "000101");
  expect_without (open, 6, 1, "0-0-01");
  expect_without (open, 6, 2, "00----");
}

GST_END_TEST;

static guint
count_active (const Picture * pictures, guint n, guint n_times)
{
  References *references = references_new ();
  guint n_active = 0, i;

  for (i = 0; i < n * n_times; i++) {
    ReferenceUse use;

    n_active += input (references, &pictures[i % n], &use);
  }
  references_free (references);
  return n_active;
}

/* A slot is a place for a stored reference picture. In a stream with layers,
 * slots say which pictures are needed. In a stream without layers, the types of
 * the pictures already show which pictures can be decoded, so slots must not be
 * used. */
GST_START_TEST (slots_are_used_only_with_layers)
{
  static const Picture chain[] = {
    {'I', 0, 0, ""}, {'P', 1, 0, "0"}, {'P', 2, 0, "1 0"}, {'P', 3, 0, "2 1"},
  };
  static const Picture with_b[] = {
    {'I', 0, 0, ""}, {'P', 3, 0, "0"}, {'B', 1, 0, "0 3"}, {'B', 2, 0, "0 3"},
  };
  /* Below, picture N is the picture with the picture order count N, its number
   * in display order. Picture 2 is decoded after picture 4, but displayed
   * before it, so picture 2 belongs to a layer above the base layer. Picture 8
   * belongs to the base layer, but refers to picture 2. In this stream, the
   * layers do not show which pictures are needed. Slots (stored reference
   * pictures) must therefore not be used. */
  static const Picture tangled[] = {
    {'I', 0, 0, ""}, {'P', 4, 0, "0"}, {'P', 2, 0, "0 4"}, {'P', 8, 0, "4 2"},
  };

  fail_unless_equals_int (count_active (chain, 4, 3), 0);
  fail_unless_equals_int (count_active (with_b, 4, 3), 0);
  fail_unless_equals_int (count_active (tangled, 4, 3), 0);
  /* The stream consists of three groups of 9 pictures. Only when the first
   * group is complete is it known that the stream has layers. The pictures of
   * the first group therefore do not use slots (stored reference pictures) yet.
   * All 18 pictures of the second and the third group must use slots. */
  fail_unless_equals_int (count_active (pyramid, 9, 3), 18);
}

GST_END_TEST;

/* It is not known to which pictures the non-reference picture refers. This
 * picture must nevertheless not change which reference pictures are stored. */
GST_START_TEST (unknown_non_reference_picture_keeps_the_stored_pictures)
{
  References *references = references_new ();
  const ReferencePicture kind = { FALSE, FALSE, FALSE, FALSE, 2 };
  ReferenceUse use;
  guint32 stored;

  references_declare_layers (references);
  fail_unless (input (references, &layers[0], &use));
  fail_unless (input (references, &layers[4], &use));
  stored = use.updates;
  references_abandon (references);
  fail_unless (references_end (references, &kind, &use));
  fail_unless_equals_int64 (use.uses, G_MAXUINT32);
  fail_unless_equals_int64 (use.updates, 0);
  fail_unless (input (references, &layers[5], &use));
  fail_unless_equals_int64 (use.uses, stored);
  references_free (references);
}

GST_END_TEST;

GST_START_TEST (picture_with_unknown_references_needs_all)
{
  References *references = references_new ();
  const ReferencePicture kind = { FALSE, FALSE, FALSE, TRUE, 0 };
  ReferenceUse use;

  references_declare_layers (references);
  fail_unless (input (references, &layers[0], &use));
  references_abandon (references);
  fail_unless (references_end (references, &kind, &use));
  fail_unless_equals_int64 (use.uses, G_MAXUINT32);
  fail_unless_equals_int64 (use.updates, G_MAXUINT32);
  /* The first group contains a picture whose reference pictures are unknown.
   * Slots (stored reference pictures) must therefore not be used from the next
   * group on. The following picture begins the next group. The function
   * references_end () returns whether slots are in use, so it must return FALSE
   * for this picture. */
  fail_if (input (references, &layers[0], &use));
  references_free (references);
}

GST_END_TEST;

/* --- headers of H.265 ----------------------------------------------------- */

static void
put_bits (GString * bits, guint width, guint64 value)
{
  for (; width > 0; width--)
    g_string_append_c (bits, value >> (width - 1) & 1 ? '1' : '0');
}

static GByteArray *
make_unit (guint type, guint sub_layer, const gchar * text)
{
  GByteArray *unit = g_byte_array_new ();
  gchar **words = g_strsplit (text, " ", -1);
  GString *bits = g_string_new (NULL);
  guint i, j;

  put_bits (bits, 16, type << 9 | (sub_layer + 1));
  for (i = 0; words[i]; i++) {
    const guint64 value = g_ascii_strtoull (words[i] + 1, NULL, 10) + 1;

    if (*words[i] == 'e')
      put_bits (bits, 2 * g_bit_storage (value) - 1, value);
    else if (*words[i])
      put_bits (bits, g_ascii_strtoull (words[i], NULL, 10),
          g_ascii_strtoull (strchr (words[i], ':') + 1, NULL, 10));
  }
  put_bits (bits, 1, 1);
  while (bits->len % 8)
    put_bits (bits, 1, 0);
  for (i = 0; i < bits->len; i += 8) {
    guint8 byte = 0;

    for (j = 0; j < 8; j++)
      byte = byte << 1 | (bits->str[i + j] == '1');
    /* 7.4.2: emulation_prevention_three_byte */
    if (unit->len >= 2 && byte < 4 && unit->data[unit->len - 1] == 0
        && unit->data[unit->len - 2] == 0)
      g_byte_array_append (unit, (const guint8 *) "\3", 1);
    g_byte_array_append (unit, &byte, 1);
  }
  g_string_free (bits, TRUE);
  g_strfreev (words);
  return unit;
}

/* Sequence parameter set (SPS, section 7.3.2.2.1 of H.265) of a stream with one
 * sub-layer. The pictures have 160x96 pixels in the format 4:2:0. The field
 * slice_pic_order_cnt_lsb has 4 bits. Scaling lists and PCM are enabled.
 *
 * The SPS has three short-term reference picture sets. Each set contains
 * differences between the POC (picture order count) of a reference picture and
 * that of the current picture:
 * - set 0: {-1}
 * - set 1: {-1, -2}, predicted from set 0 with a difference of -1
 * - set 2: {-4, +2}, where the picture at -4 is kept but not used
 * The SPS also has one long-term reference picture. The low bits of its POC are
 * 5. */
#define SPS "4:0 3:0 1:1 32:0 32:0 32:0 e0 e1 e160 e96 1:0 e0 e0 e0 " \
    "1:1 e4 e2 e0 e0 e3 e0 e3 e0 e0 1:1 1:0 2:3 1:1 8:119 e0 e0 1:0 " \
    "e3 e1 e0 e0 1:1 " "1:1 1:1 e0 1:1 1:1 " "1:0 e1 e1 e3 1:0 e1 1:1 " \
    "1:1 e1 4:5 1:1"
/* Picture parameter set (PPS, section 7.3.2.3.1 of H.265). It says that each
 * slice header has the field pic_output_flag and one extra bit
 * (num_extra_slice_header_bits is 1). */
#define PPS "e0 e0 1:0 1:1 3:1 1:0"

static H265Headers *
make_headers (void)
{
  H265Headers *headers = h265_headers_new ();
  GByteArray *sps = make_unit (33, 0, SPS), *pps = make_unit (34, 0, PPS);

  h265_headers_add_sps (headers, sps->data, sps->len);
  h265_headers_add_pps (headers, pps->data, pps->len);
  g_byte_array_unref (sps);
  g_byte_array_unref (pps);
  return headers;
}

static gboolean
read_slice (H265Headers * headers, guint type, guint sub_layer,
    const gchar * text, H265Slice * slice)
{
  GByteArray *unit = make_unit (type, sub_layer, text);
  guint8 *copy = g_memdup2 (unit->data, unit->len);
  gboolean is_read = h265_headers_read_slice (headers, copy, unit->len, slice);

  g_free (copy);
  g_byte_array_unref (unit);
  return is_read;
}

static void
expect_slice (H265Headers * headers, guint type, guint sub_layer,
    const gchar * text, const gchar * expected)
{
  GString *found = g_string_new (NULL);
  H265Slice slice;
  guint i;

  fail_unless (read_slice (headers, type, sub_layer, text, &slice));
  g_string_printf (found, "%d:", slice.order);
  for (i = 0; i < slice.n_references; i++)
    g_string_append_printf (found, slice.references[i].is_used ? " %d%s" :
        " (%d%s)", slice.references[i].order,
        slice.references[i].mask == G_MAXUINT32 ? "" : "*");
  fail_unless_equals_string (found->str, expected);
  g_string_free (found, TRUE);
}

/* The beginning of a slice header of H.265. The fields of SLICE are
 * first_slice_segment_in_pic_flag, slice_pic_parameter_set_id, an extra bit,
 * the slice type and pic_output_flag. IRAP_SLICE has one more field after the
 * first flag: no_output_of_prior_pics_flag. */
#define SLICE "1:1 e0 1:0 e1 1:1 "
#define IRAP_SLICE "1:1 1:0 e0 1:0 e2 1:1 "

GST_START_TEST (h265_slices_list_their_references)
{
  H265Headers *headers = make_headers ();

  expect_slice (headers, 19, 0, IRAP_SLICE, "0:");
  /* The next slices refer to reference picture sets of the sequence parameter
   * set (SPS), and have no long-term reference pictures. */
  expect_slice (headers, 1, 0, SLICE "4:4 1:1 2:0 e0 e0", "4: 3");
  expect_slice (headers, 1, 0, SLICE "4:8 1:1 2:1 e0 e0", "8: 7 6");
  expect_slice (headers, 1, 0, SLICE "4:12 1:1 2:2 e0 e0", "12: (8) 14");
  /* the lsb wraps */
  expect_slice (headers, 1, 0, SLICE "4:2 1:1 2:0 e0 e0", "18: 17");
  /* Neither a picture of a higher layer nor a non-reference picture may change
   * how the POC (picture order count) of the later pictures is computed. */
  expect_slice (headers, 1, 1, SLICE "4:9 1:1 2:0 e0 e0", "25: 24");
  expect_slice (headers, 0, 0, SLICE "4:9 1:1 2:0 e0 e0", "25: 24");
  expect_slice (headers, 1, 0, SLICE "4:1 1:1 2:0 e0 e0", "17: 16");
  /* A reference picture set contains POCs (picture order counts) relative to
   * the current picture. The first slice contains its own set, {-3, -5}. The
   * picture at -5 stays stored, but is not used.
   *
   * The set of the second slice is predicted from set 1 of the sequence
   * parameter set (SPS). The difference +1 is added to the relative POCs of set
   * 1. The entry -2 of set 1 becomes -1. The picture at -1 stays stored, but is
   * not used. */
  expect_slice (headers, 1, 0, SLICE "4:8 1:0 1:0 e2 e0 e2 1:1 e1 1:0 e0 e0",
      "24: 21 (19)");
  expect_slice (headers, 1, 0,
      SLICE "4:12 1:0 1:1 e1 1:0 e0 1:0 1:0 1:0 1:1 1:1 e0 e0", "28: (27) 29");
  h265_headers_free (headers);
}

GST_END_TEST;

GST_START_TEST (h265_long_term_references)
{
  H265Headers *headers = make_headers ();

  expect_slice (headers, 19, 0, IRAP_SLICE, "0:");
  expect_slice (headers, 1, 0, SLICE "4:8 1:1 2:0 e0 e0", "8: 7");
  expect_slice (headers, 1, 0, SLICE "4:0 1:1 2:0 e0 e0", "16: 15");
  /* The slice has two long-term reference pictures. A reference to such a
   * picture contains the low bits of its POC (picture order count), and may
   * contain the difference of the upper bits. The first reference is listed in
   * the sequence parameter set (SPS), and has only the low bits. The second
   * reference has the low bits 3, and says that the upper bits of the POC are
   * one less than those of the current picture. */
  expect_slice (headers, 1, 0, SLICE
      "4:4 1:1 2:0 e1 e1 1:0 4:3 1:1 1:1 e1", "20: 19 5* 3");
  h265_headers_free (headers);
}

GST_END_TEST;

GST_START_TEST (h265_slice_without_its_sets_is_not_read)
{
  H265Headers *headers = h265_headers_new ();
  GByteArray *sps = make_unit (33, 0, SPS), *slice_unit;
  H265Slice slice;
  guint size;

  fail_if (read_slice (headers, 19, 0, IRAP_SLICE, &slice));
  h265_headers_free (headers);
  headers = make_headers ();
  /* A slice that is cut off must be refused, and so must a slice that is not
   * the first slice of its picture. */
  slice_unit = make_unit (1, 0, SLICE "4:4 1:0 1:0 e1 e0 e2 1:1 e0 e0");
  for (size = 0; size < 5; size++)
    fail_if (h265_headers_read_slice (headers, slice_unit->data, size, &slice));
  fail_if (read_slice (headers, 1, 0, "1:0 e0 e5", &slice));
  /* If a sequence parameter set (SPS) is cut off, all stored SPSs must become
   * invalid. Slices can then no longer be read. */
  h265_headers_add_sps (headers, sps->data, 20);
  fail_if (read_slice (headers, 19, 0, IRAP_SLICE, &slice));
  g_byte_array_unref (sps);
  g_byte_array_unref (slice_unit);
  h265_headers_free (headers);
}

GST_END_TEST;

static Suite *
references_suite (void)
{
  Suite *s = suite_create ("references");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, picture_of_a_layer_costs_those_that_refer_to_it);
  tcase_add_test (tc, depth_in_a_pyramid_follows_from_the_references);
  tcase_add_test (tc, leading_pictures_need_the_previous_group);
  tcase_add_test (tc, slots_are_used_only_with_layers);
  tcase_add_test (tc, unknown_non_reference_picture_keeps_the_stored_pictures);
  tcase_add_test (tc, picture_with_unknown_references_needs_all);
  tcase_add_test (tc, h265_slices_list_their_references);
  tcase_add_test (tc, h265_long_term_references);
  tcase_add_test (tc, h265_slice_without_its_sets_is_not_read);
  return s;
}

GST_CHECK_MAIN (references);
