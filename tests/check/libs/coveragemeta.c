/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of GstCoverageMeta, which says how many bytes at the start of a packet
 * the checksum covers. When a buffer or a part of it is copied, the copy must
 * have the right coverage.
 */

#include <gst/check/gstcheck.h>

#include "gstcoveragemeta.h"

#define NONE -1

static GstBuffer *
buffer_with_coverage (gsize size, gsize covered)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_add_coverage_meta (buffer, covered);
  return buffer;
}

/* Takes the buffer. */
static void
assert_covered (GstBuffer * buffer, gint covered)
{
  GstCoverageMeta *meta = gst_buffer_get_coverage_meta (buffer);

  fail_unless_equals_int (meta ? (gint) meta->covered : NONE, covered);
  gst_buffer_unref (buffer);
}

GST_START_TEST (a_buffer_has_none_by_itself)
{
  assert_covered (gst_buffer_new_allocate (NULL, 10, NULL), NONE);
}

GST_END_TEST;

GST_START_TEST (copies_keep_it)
{
  GstBuffer *buffer = buffer_with_coverage (100, 12);

  assert_covered (gst_buffer_copy (buffer), 12);
  assert_covered (gst_buffer_copy_deep (buffer), 12);
  assert_covered (gst_buffer_make_writable (gst_buffer_ref (buffer)), 12);
  assert_covered (buffer, 12);
}

GST_END_TEST;

static const struct
{
  guint offset, size;           /* of the part */
  gint covered;                 /* of the part, or NONE */
} parts[] = {
  {0, 100, 20},                 /* all of it */
  {0, 50, 20},
  {0, 21, 20},
  {0, 20, NONE},                /* covered whole */
  {0, 1, NONE},
  {5, 10, NONE},
  {12, 88, 8},                  /* without RTP's header */
  {12, 8, NONE},
  {19, 2, 1},
  {20, 80, 0},                  /* nothing is */
  {90, 10, 0},
};

GST_START_TEST (a_part_has_what_is_covered_of_it)
{
  GstBuffer *buffer = buffer_with_coverage (100, 20);

  assert_covered (gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL,
          parts[__i__].offset, parts[__i__].size), parts[__i__].covered);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (a_part_of_a_part_has_it)
{
  GstBuffer *buffer = buffer_with_coverage (100, 20), *part;

  part = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 8, 60);
  gst_buffer_unref (buffer);
  assert_covered (gst_buffer_copy_region (part, GST_BUFFER_COPY_ALL, 4, 56), 8);
  gst_buffer_unref (part);
}

GST_END_TEST;

static Suite *
coverage_meta_suite (void)
{
  Suite *suite = suite_create ("coveragemeta");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, a_buffer_has_none_by_itself);
  tcase_add_test (tc, copies_keep_it);
  tcase_add_loop_test (tc, a_part_has_what_is_covered_of_it, 0,
      G_N_ELEMENTS (parts));
  tcase_add_test (tc, a_part_of_a_part_has_it);
  return suite;
}

GST_CHECK_MAIN (coverage_meta);
