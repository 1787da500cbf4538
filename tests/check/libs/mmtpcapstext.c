/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks which texts of caps the receiver accepts from the network. Caps are
 * GStreamer's description of a media format. Only caps in the form that
 * GStreamer itself writes, and with fields of plain types, are accepted. */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "mmtpcapstext.h"
#include "mmtppacket.h"

static gboolean
is_plain (const gchar * text)
{
  return mmtp_caps_text_is_plain (text, strlen (text));
}

static GstCaps *
make_caps (void)
{
  GstCaps *caps = gst_caps_from_string ("video/x-h264, stream-format=avc, "
      "alignment=(string)\"a \\\"b\\\", {c}; (GstCaps)x\", width=640, "
      "framerate=30000/1001, codec_data=(buffer)0164001fffe1, "
      "channel-mask=(bitmask)0x3, parsed=true, x-ratio=(double)-1.5e-7, "
      "formats={ (string)I420, (string)NV12 }, "
      "numbers=<(int)1, (int)-2, (int)3>, "
      "streamheader=<(buffer)0102, (buffer)03>");

  gst_caps_set_simple (caps, "small", G_TYPE_INT64, G_MININT64, "unsigned",
      G_TYPE_UINT, G_MAXUINT, "large", G_TYPE_UINT64, G_MAXUINT64, "umlaut",
      G_TYPE_STRING, "\303\244\n\"", NULL);
  return caps;
}

GST_START_TEST (caps_written_by_gstreamer_are_plain)
{
  GstCaps *caps = make_caps ();
  gchar *text = gst_caps_to_string (caps);

  fail_unless (is_plain (text), "%s", text);
  g_free (text);
  gst_caps_unref (caps);
  fail_unless (is_plain ("video/mpeg"));
  fail_unless (is_plain ("application/x-rtp, media=(string)video, "
          "clock-rate=(int)90000, encoding-name=(string)H264"));
  fail_unless (is_plain ("video/x-raw, format=(string){ I420, NV12 }, "
          "nested=(int)< < 1, 2 >, < 3 > >, none=(int){  }"));
}

GST_END_TEST;

GST_START_TEST (other_types_are_refused)
{
  static const gchar *const texts[] = {
    "", "ANY", "EMPTY", "NONE", "video", "video/mpeg;",
    "video/mpeg; audio/mpeg",
    "video/x-raw(memory:DMABuf), width=(int)1",
    "video/mpeg, a=(GstCaps)\"video/mpeg\"",
    "video/mpeg, a=(structure)\"b\"", "video/mpeg, a=(taglist)\"b\"",
    "video/mpeg, a=(GstVideoMultiviewFlagsSet)0:ffffffff",
    "video/mpeg, a=(GType)int", "video/mpeg, a=(int)[ 1, 2 ]",
    "video/mpeg, a=1", "video/mpeg, a", "video/mpeg, a=", "video/mpeg,",
    "video/mpeg, a=(int)", "video/mpeg, a=(int)x", "video/mpeg, a=(int)1 2",
    "video/mpeg, a=(int){ 1, ", "video/mpeg, a=(int){ 1, (GstCaps)x }",
    "video/mpeg, a=(int)< 1 }", "video/mpeg, a=(string)\"b",
    "video/mpeg, a=(string)\"b\\", "video/mpeg, a=(string)b c",
    "video/mpeg, a=(buffer)", "video/mpeg, a=(buffer), b=(int)1",
    "video/mpeg, a=(buffer)012", "video/mpeg, a=(buffer)0g",
    "video/mpeg, a=(fraction)1", "video/mpeg, a=(boolean)maybe",
    "video/mpeg, a=(double)e", "video/mpeg, a=(bitmask)3",
    "video/mpeg, a=(int)<<<<<<1>>>>>>", "video/mpeg, a=(string)b\nc",
    "video/mpeg, a=(string)\"\377\"", "1video/mpeg"
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (texts); i++)
    fail_if (is_plain (texts[i]), "%s", texts[i]);
  fail_if (mmtp_caps_text_is_plain ("video/mpeg\0", 11));
}

GST_END_TEST;

GST_START_TEST (size_and_depth_are_bounded)
{
  GString *text = g_string_new ("video/mpeg, a=(string)\"");

  while (text->len < MMTP_MAX_CAPS - 1)
    g_string_append_c (text, 'x');
  g_string_append_c (text, '"');
  fail_unless (is_plain (text->str));
  g_string_insert (text, text->len - 1, "x");
  fail_if (is_plain (text->str));

  g_string_assign (text, "video/mpeg, a=(int)");
  while (text->len < MMTP_MAX_CAPS)
    g_string_append_c (text, '<');
  fail_if (is_plain (text->str));
  g_string_assign (text, "video/mpeg");
  while (text->len < MMTP_MAX_CAPS - 10)
    g_string_append (text, ",a=(int)1");
  fail_if (is_plain (text->str));
  g_string_free (text, TRUE);
}

GST_END_TEST;

/* Caps are written as text, and the text is cut after each possible number of
 * bytes. A cut text must be accepted only if GStreamer can parse it.
 *
 * The cut text has no terminating zero and fills its memory completely. A
 * memory checker therefore detects any access beyond the end of the text. */
GST_START_TEST (cut_texts_are_refused_or_plain)
{
  GstCaps *caps = make_caps (), *parsed;
  gchar *text = gst_caps_to_string (caps);
  gsize size;
  guint n_plain = 0;

  for (size = 0; size <= strlen (text); size++) {
    gchar *cut = g_memdup2 (text, MAX (size, 1));
    gchar *whole = g_strndup (text, size);
    gboolean plain = mmtp_caps_text_is_plain (cut, size);

    fail_unless_equals_int (plain, is_plain (whole));
    parsed = plain ? gst_caps_from_string (whole) : NULL;
    fail_unless (!plain || parsed, "%s is plain, and no caps", whole);
    n_plain += plain;
    gst_clear_caps (&parsed);
    g_free (whole);
    g_free (cut);
  }
  fail_unless (n_plain > 0 && n_plain < strlen (text), "%u cuts are plain",
      n_plain);
  g_free (text);
  gst_caps_unref (caps);
}

GST_END_TEST;

static Suite *
mmtpcapstext_suite (void)
{
  Suite *s = suite_create ("mmtpcapstext");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, caps_written_by_gstreamer_are_plain);
  tcase_add_test (tc, other_types_are_refused);
  tcase_add_test (tc, size_and_depth_are_bounded);
  tcase_add_test (tc, cut_texts_are_refused_or_plain);
  return s;
}

GST_CHECK_MAIN (mmtpcapstext);
