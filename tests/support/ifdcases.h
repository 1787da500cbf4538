/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the choice of frames as lines of a table: a script, and what becomes
 * of the frames in it. Script:
 *   I P B       a frame that comes in, with its size (B30) and flags: c closed,
 *               x broken link, l leading, t trailing, r refresh, ! incomplete;
 *               last o12: its order is 12 of a range of 16
 *   /           the channel sent what it had, and takes the next frame
 *   restart     a new receiver
 *   flush       the stream ends
 *   paper paper-gop gop1 ... gop9   another algorithm, max_frames
 * What becomes of them, with their numbers in the order of input:
 *   +I0 stored   -B1:no-room dropped   >I0 sent (> none)   ~I0 flushed
 */

#ifndef __IFD_SCRIPT_H__
#define __IFD_SCRIPT_H__

#include <gst/check/gstcheck.h>
#include <string.h>

#include "ifd.h"

typedef struct
{
  const gchar *name;
  const gchar *script;
  const gchar *expected;
} ScriptCase;

static inline void
script_log_frame (GString * log, gchar what, const IfdFrame * frame)
{
  g_string_append_printf (log, "%s%c%c%" G_GUINT64_FORMAT,
      log->len > 0 ? " " : "", what, ifd_frame_type_char (frame->type),
      frame->number);
}

static inline void
script_log_events (Ifd * ifd, GString * log)
{
  IfdEvent event;

  while (ifd_poll_event (ifd, &event)) {
    script_log_frame (log, event.type == IFD_EVENT_STORED ? '+' : '-',
        &event.frame);
    if (event.type == IFD_EVENT_DROPPED)
      g_string_append_printf (log, ":%s",
          ifd_drop_reason_get_name (event.reason));
  }
}

static inline IfdFrame
script_make_frame (const gchar * word)
{
  IfdFrame frame = { 0, };
  gchar *end;

  frame.type = word[0] == 'I' ? IFD_FRAME_I : word[0] == 'P' ? IFD_FRAME_P :
      IFD_FRAME_B;
  frame.size = g_ascii_strtoull (word + 1, &end, 10);
  for (; *end && *end != 'o'; end++) {
    frame.flags |= *end == 'c' ? IFD_FRAME_CLOSED :
        *end == 'x' ? IFD_FRAME_BROKEN : *end == 'l' ? IFD_FRAME_LEADING :
        *end == 't' ? IFD_FRAME_TRAILING :
        *end == 'r' ? IFD_FRAME_REFRESH : IFD_FRAME_INCOMPLETE;
  }
  if (*end == 'o') {
    frame.order = g_ascii_strtoull (end + 1, NULL, 10);
    frame.order_range = 16;
  }
  return frame;
}

static inline void
script_take_next (Ifd * ifd, gboolean * sending, GString * log)
{
  IfdFrame frame;

  if (*sending)
    ifd_sent (ifd, 0);
  *sending = ifd_poll_output (ifd, 0, &frame);
  if (*sending)
    script_log_frame (log, '>', &frame);
  else
    g_string_append (log, log->len > 0 ? " >" : ">");
}

static inline void
script_configure (Ifd * ifd, const gchar * word)
{
  IfdConfig config = { IFD_ALGORITHM_GOP, };

  if (g_str_equal (word, "paper"))
    config.algorithm = IFD_ALGORITHM_PAPER;
  else if (g_str_equal (word, "paper-gop"))
    config.algorithm = IFD_ALGORITHM_PAPER_GOP;
  else
    config.max_frames = word[3] - '0';
  ifd_set_config (ifd, &config);
}

static inline void
script_do_word (Ifd * ifd, const gchar * word, gboolean * sending,
    GString * log)
{
  IfdFrame frame;

  if (g_str_equal (word, "/")) {
    script_take_next (ifd, sending, log);
  } else if (g_str_equal (word, "restart")) {
    ifd_restart (ifd);
  } else if (g_str_equal (word, "flush")) {
    while (ifd_flush (ifd, &frame))
      script_log_frame (log, '~', &frame);
    *sending = FALSE;
  } else if (strchr ("pg", *word)) {
    script_configure (ifd, word);
  } else {
    frame = script_make_frame (word);
    ifd_input (ifd, 0, &frame);
  }
  script_log_events (ifd, log);
}

static inline Ifd *
script_play (const IfdConfig * config, const gchar * script, GString * log)
{
  gchar **words = g_strsplit (script, " ", -1);
  gboolean sending = FALSE;
  Ifd *ifd = ifd_new (config);
  guint i;

  for (i = 0; words[i]; i++) {
    if (*words[i])
      script_do_word (ifd, words[i], &sending, log);
  }
  g_strfreev (words);
  return ifd;
}

static inline void
script_expect (const IfdConfig * config, const ScriptCase * c)
{
  GString *log = g_string_new (NULL);

  ifd_free (script_play (config, c->script, log));
  fail_unless (g_str_equal (log->str, c->expected),
      "%s: after \"%s\"\n  \"%s\" is expected, but\n  \"%s\" is so", c->name,
      c->script, c->expected, log->str);
  g_string_free (log, TRUE);
}

static inline void
script_expect_all (const IfdConfig * config, const ScriptCase * cases, guint n)
{
  guint i;

  for (i = 0; i < n; i++)
    script_expect (config, &cases[i]);
}

#define SCRIPT_EXPECT_ALL(config, cases) \
    script_expect_all (config, cases, G_N_ELEMENTS (cases))

#endif /* __IFD_SCRIPT_H__ */
