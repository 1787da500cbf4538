/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests which frames IFD (I-Frame Delay) drops in streams of VP8, VP9 or AV1. A
 * frame of such a stream names the slots of the decoder that it uses and
 * updates. A slot is, for example, the buffer of a reference frame.
 */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "ifd.h"

#define SIZE 100

typedef struct
{
  Ifd *ifd;
  GString *dropped;             /* numbers and reasons */
} Sender;

static void
start (Sender * sender, guint max_frames)
{
  const IfdConfig config = { IFD_ALGORITHM_GOP, max_frames };

  sender->ifd = ifd_new (&config);
  sender->dropped = g_string_new (NULL);
}

static void
stop (Sender * sender)
{
  IfdFrame frame;

  while (ifd_flush (sender->ifd, &frame));
  ifd_free (sender->ifd);
  g_string_free (sender->dropped, TRUE);
}

static void
note_drops (Sender * sender)
{
  IfdEvent event;

  while (ifd_poll_event (sender->ifd, &event)) {
    if (event.type != IFD_EVENT_DROPPED)
      continue;
    g_string_append_printf (sender->dropped, "%s%u %s",
        sender->dropped->len > 0 ? ", " : "", (guint) event.frame.number,
        ifd_drop_reason_get_name (event.reason));
  }
}

/* Converts a text to a frame. A slot is a part of the decoder's state, such as
 * the buffer of a reference frame.
 * - "I" is an I-frame, which updates all slots.
 * - "P01>1@2" is a P-frame that uses the slots 0 and 1, updates the slot 1, and
 *   belongs to layer 2. "@" and the layer may be omitted.
 * - "*" at the end makes the frame larger. */
static IfdFrame
parse_frame (const gchar * text)
{
  IfdFrame frame = { IFD_FRAME_I, IFD_FRAME_SLOTS, SIZE };
  guint32 *slots = &frame.uses;

  if (*text == 'I') {
    frame.updates = G_MAXUINT32;
    return frame;
  }
  frame.type = *text == 'P' ? IFD_FRAME_P : IFD_FRAME_B;
  for (text++; *text; text++) {
    if (*text == '>')
      slots = &frame.updates;
    else if (*text == '*')
      frame.size++;
    else if (*text == '@')
      frame.layer = g_ascii_digit_value (*++text);
    else
      *slots |= 1u << g_ascii_digit_value (*text);
  }
  return frame;
}

static void
push (Sender * sender, const gchar * text)
{
  gchar **words = g_strsplit (text, " ", -1);
  guint i;

  for (i = 0; words[i]; i++) {
    IfdFrame frame = parse_frame (words[i]);

    ifd_input (sender->ifd, 0, &frame);
    note_drops (sender);
  }
  g_strfreev (words);
}

static void
take (Sender * sender, guint count)
{
  IfdFrame frame;

  for (; count > 0; count--) {
    fail_unless (ifd_poll_output (sender->ifd, 0, &frame));
    ifd_sent (sender->ifd, 0);
  }
}

static void
expect_drops (Sender * sender, const gchar * expected)
{
  fail_unless_equals_string (sender->dropped->str, expected);
  g_string_truncate (sender->dropped, 0);
}

/* The channel takes no frame. */
static void
expect (guint max_frames, const gchar * text, const gchar * expected)
{
  Sender sender;

  start (&sender, max_frames);
  push (&sender, text);
  expect_drops (&sender, expected);
  stop (&sender);
}

GST_START_TEST (drops_frames_that_update_nothing_first)
{
  expect (3, "I P0>0 B0> P0>0", "2 overwritten");
  expect (3, "I B0> B0>* P0>0", "2 overwritten");
  /* Of two B-frames, the larger one must be dropped. In the first call, it is
   * the new frame. In the second call, it is the waiting frame. */
  expect (3, "I P0>0 B0> B0>*", "3 no-room");
  expect (3, "I P0>0 B0>* B0>", "2 overwritten");
}

GST_END_TEST;

GST_START_TEST (drops_the_highest_layer_first)
{
  /* Each layer updates a slot of its own. If the queue is full, the frame of
   * the highest layer must be dropped. */
  expect (3, "I@0 P0>1@1 P01>2@2 P0>0@0", "2 overwritten");
  expect (3, "I@0 P0>1@1 P0>0@0 P01>2@2", "3 no-room");
  expect (3, "I@0 B0>@1 B0>@2 P0>0@0", "2 overwritten");
}

GST_END_TEST;

/* A frame cannot be decoded if a frame that it needs was dropped. It must then
 * be dropped immediately, even if the queue has room. */
GST_START_TEST (drops_frames_that_need_a_dropped_frame)
{
  /* The only P-frame of layer 1 is dropped. The B-frame refers to it, so it
   * must be dropped as well.
   */
  expect (3, "I@0 P0>1@1 B1>@1 P0>0@0 P0>0@0", "2 overwritten, 1 overwritten");
  expect (2, "I P0>0 P0>0 P0>0 B0>", "2 no-room, 3 disturbed, 4 disturbed");
}

GST_END_TEST;

/* If a frame is dropped, the slots that it should have updated have wrong
 * contents. A later frame that uses such a slot cannot be decoded. When a frame
 * updates the slot without using it, the contents are correct again, and frames
 * that use the slot must be sent. */
GST_START_TEST (layer_resumes_where_its_slot_is_filled_anew)
{
  Sender sender;

  start (&sender, 2);
  push (&sender, "I@0 P0>1@1 P0>0@0");
  expect_drops (&sender, "1 overwritten");
  take (&sender, 2);
  push (&sender, "P01>1@1 P0>0@0");
  expect_drops (&sender, "3 disturbed");
  take (&sender, 1);
  push (&sender, "P0>1@1 P01>1@1");
  expect_drops (&sender, "");
  take (&sender, 2);
  stop (&sender);
}

GST_END_TEST;

/* An I-frame arrives while the queue is full of frames of the previous GOP. The
 * last P-frame of the previous GOP must be dropped first, because no other
 * frame refers to it any more. When one more frame arrives, the last but one
 * P-frame must be dropped, for the same reason. */
GST_START_TEST (drops_the_end_of_the_previous_gop)
{
  expect (3, "I P0>0 P0>0 I P0>0", "2 overwritten, 1 overwritten");
  expect (3, "I I I I", "0 overwritten");
}

GST_END_TEST;

/* A frame is dropped that should have updated slot 3 of the decoder. No later
 * frame uses this slot, so no further frame must be dropped. */
GST_START_TEST (unused_slot_is_no_damage)
{
  Sender sender;
  guint i;

  start (&sender, 2);
  push (&sender, "I");
  for (i = 0; i < 70; i++) {
    take (&sender, 1);
    push (&sender, "P0>0");
  }
  push (&sender, "P0>3 P0>0");
  expect_drops (&sender, "71 overwritten");
  stop (&sender);
}

GST_END_TEST;

GST_START_TEST (new_receiver_needs_an_i_frame)
{
  Sender sender;

  start (&sender, 3);
  push (&sender, "P0>0 I P0>0");
  expect_drops (&sender, "0 no-i-frame");
  take (&sender, 2);
  ifd_restart (sender.ifd);
  push (&sender, "P0>0 I P0>0");
  expect_drops (&sender, "3 no-i-frame");
  /* A new receiver joins. The queue holds the I-frame 4 and the frame 5, which
   * refers only to frame 4. The new receiver can decode both, so neither of
   * them must be dropped. */
  ifd_restart (sender.ifd);
  note_drops (&sender);
  expect_drops (&sender, "");
  take (&sender, 2);
  stop (&sender);
}

GST_END_TEST;

/* The codec changes twice: from frames with slots to frames without slots, and
 * back. After a change, all frames must be dropped until an I-frame arrives,
 * because the decoder has no frame of the new codec to which they can refer. */
GST_START_TEST (change_of_the_codec_needs_an_i_frame)
{
  IfdFrame other = { IFD_FRAME_P, 0, SIZE };
  Sender sender;

  start (&sender, 3);
  push (&sender, "I");
  ifd_input (sender.ifd, 0, &other);
  note_drops (&sender);
  expect_drops (&sender, "1 no-i-frame");
  other.type = IFD_FRAME_I;
  ifd_input (sender.ifd, 0, &other);
  push (&sender, "P0>0 I");
  expect_drops (&sender, "3 no-i-frame");
  stop (&sender);
}

GST_END_TEST;

static Suite *
ifdslots_suite (void)
{
  Suite *suite = suite_create ("ifdslots");
  TCase *chain = tcase_create ("general");

  suite_add_tcase (suite, chain);
  tcase_add_test (chain, drops_frames_that_update_nothing_first);
  tcase_add_test (chain, drops_the_highest_layer_first);
  tcase_add_test (chain, drops_frames_that_need_a_dropped_frame);
  tcase_add_test (chain, layer_resumes_where_its_slot_is_filled_anew);
  tcase_add_test (chain, drops_the_end_of_the_previous_gop);
  tcase_add_test (chain, unused_slot_is_no_damage);
  tcase_add_test (chain, new_receiver_needs_an_i_frame);
  tcase_add_test (chain, change_of_the_codec_needs_an_i_frame);
  return suite;
}

GST_CHECK_MAIN (ifdslots);
