/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Simulates that the element ifdqueue sends a video file over a link that is
 * too slow for it. ifdqueue then has to drop frames. The program prints which
 * access units are sent, and a test decodes them. The simulation runs in
 * virtual time.
 *
 *   ifdchoose CODEC FILE FRAMES-PER-SECOND SECONDS-PER-FRAME OUTAGE
 *
 * CODEC is h264, hevc, vp8, vp9, av1 (a unit is a temporal unit) or av1-frame
 * (a unit is one frame). SECONDS-PER-FRAME is the time that the link needs to
 * send a frame. OUTAGE is the duration of an outage, in seconds. During the
 * outage, the link accepts no frames. The constant OUTAGE_AT in this file is
 * the earliest time at which the outage may begin. The link first accepts one
 * more frame at this time or later. The outage begins after this frame.
 *
 * The program reads one line for each access unit of the file: "OFFSET SIZE
 * PTS", with PTS in ns or -1 for none. In interlaced video, each of the two
 * fields of a frame may be an access unit.
 *
 * The program writes the indices of the units that are sent. The last line has
 * two numbers: the number of all frames, and the number of frames that were
 * dropped because they were leading frames (they refer to a frame of the
 * previous GOP). The program chooses the frames with the code of ifdqueue, but
 * without the threads and the clock of ifdqueue.
 */

#include <stdio.h>
#include <stdlib.h>

#include "gstifdqueueinput.h"

#define OUTAGE_AT GST_SECOND

typedef struct
{
  IfdLine *line;
  GstIfdQueueInput *input;
  guint64 frame_time, send_time;        /* ns */
  /* Duration in ns of the simulated outage of the link. When the outage begins,
   * this field is set to 0, because there is only one outage. */
  guint64 outage;
  guint64 n_frames;
  gboolean sending;
  /* Time in ns at which the link can begin to send the next frame. Before this
   * time, the link is still sending the previous frame, or an outage blocks
   * the link. */
  guint64 free_at;
} Sender;

static void
show (GstBuffer * buffer)
{
  if (buffer)
    printf ("%" G_GUINT64_FORMAT "\n", GST_BUFFER_OFFSET (buffer));
}

/* Simulates the link until the time `now`. When the link begins to send a
 * frame, it takes this frame from the queue. */
static void
run_until (Sender * sender, guint64 now)
{
  IfdLineItem item;

  while (!sender->sending || sender->free_at <= now) {
    guint64 at = sender->sending ? sender->free_at : now;

    if (sender->sending)
      ifd_line_sent (sender->line, at);
    sender->sending = ifd_line_pop (sender->line, at, &item);
    if (!sender->sending)
      return;
    sender->free_at = at + sender->send_time;
    if (at >= OUTAGE_AT) {
      sender->free_at += sender->outage;
      sender->outage = 0;
    }
    show (GST_BUFFER_CAST (item.object));
    show (item.second);
    gst_ifd_queue_item_clear (&item);
  }
}

static void
take_frames (Sender * sender)
{
  IfdLineItem item;
  IfdLineDrop drop;
  GstCaps *caps;

  while (gst_ifd_queue_input_pull (sender->input, &item, &caps)) {
    item.frame.due = sender->n_frames++ * sender->frame_time;
    run_until (sender, item.frame.due);
    ifd_line_push_frame (sender->line, item.frame.due, &item);
    while (ifd_line_poll_drop (sender->line, &drop))
      gst_ifd_queue_item_clear (&drop.item);
    run_until (sender, item.frame.due);
  }
}

static gboolean
send_units (Sender * sender, const gchar * data, gsize size)
{
  gsize offset, length;
  gint64 pts;
  guint64 n;

  for (n = 0; scanf ("%" G_GSIZE_FORMAT " %" G_GSIZE_FORMAT " %"
          G_GINT64_FORMAT, &offset, &length, &pts) == 3; n++) {
    GstBuffer *buffer;

    if (offset > size || length > size - offset)
      return FALSE;
    buffer = gst_buffer_new_memdup (data + offset, length);
    GST_BUFFER_OFFSET (buffer) = n;
    GST_BUFFER_PTS (buffer) = pts < 0 ? GST_CLOCK_TIME_NONE : (guint64) pts;
    if (!gst_ifd_queue_input_push (sender->input, buffer))
      return FALSE;
    take_frames (sender);
  }
  gst_ifd_queue_input_drain (sender->input);
  take_frames (sender);
  run_until (sender, G_MAXUINT64);
  return TRUE;
}

static gboolean
set_caps (Sender * sender, const gchar * codec)
{
  static const struct
  {
    const gchar *codec, *caps;
  } known[] = {
    {"h264", "video/x-h264, stream-format = byte-stream, alignment = au"},
    {"hevc", "video/x-h265, stream-format = byte-stream, alignment = au"},
    {"vp8", "video/x-vp8"},
    {"vp9", "video/x-vp9"},
    {"av1", "video/x-av1, stream-format = obu-stream, alignment = tu"},
    {"av1-frame", "video/x-av1, stream-format = obu-stream, alignment = frame"},
  };
  gboolean set = FALSE;
  GstCaps *caps;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (known); i++) {
    if (!g_str_equal (codec, known[i].codec))
      continue;
    caps = gst_caps_from_string (known[i].caps);
    set = gst_ifd_queue_input_set_caps (sender->input, caps);
    gst_caps_unref (caps);
  }
  return set;
}

int
main (int argc, char **argv)
{
  const IfdConfig config = { IFD_ALGORITHM_GOP, IFD_DEFAULT_MAX_FRAMES };
  Sender sender = { NULL, };
  GstElement *owner;
  gboolean sent;
  IfdStats stats;
  gchar *data;
  gsize size;

  gst_init (NULL, NULL);
  if (argc != 6 || !g_file_get_contents (argv[2], &data, &size, NULL))
    return 2;
  owner = gst_bin_new (NULL);
  sender.line = ifd_line_new (&config);
  sender.input = gst_ifd_queue_input_new (owner, G_MAXUINT);
  sender.frame_time = GST_SECOND / atoi (argv[3]);
  sender.send_time = g_ascii_strtod (argv[4], NULL) * GST_SECOND;
  sender.outage = g_ascii_strtod (argv[5], NULL) * GST_SECOND;
  sent = set_caps (&sender, argv[1]) && send_units (&sender, data, size);
  ifd_line_get_stats (sender.line, &stats);
  printf ("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "\n", sender.n_frames,
      stats.dropped[IFD_FRAME_P][IFD_DROP_LEADING]
      + stats.dropped[IFD_FRAME_B][IFD_DROP_LEADING]);
  gst_ifd_queue_input_free (sender.input);
  ifd_line_free (sender.line);
  gst_object_unref (owner);
  g_free (data);
  return sent ? 0 : 1;
}
