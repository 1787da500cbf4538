/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ifdcases.h"

static void
ifd_case_log_frame (GString * log, gchar what, const IfdFrame * frame)
{
  g_string_append_printf (log, "%s%c%c%" G_GUINT64_FORMAT,
      log->len > 0 ? " " : "", what, ifd_frame_type_char (frame->type),
      frame->number);
}

static void
ifd_case_log_events (Ifd * ifd, GString * log)
{
  IfdEvent event;

  while (ifd_poll_event (ifd, &event)) {
    ifd_case_log_frame (log, event.type == IFD_EVENT_STORED ? '+' : '-',
        &event.frame);
    if (event.type == IFD_EVENT_DROPPED)
      g_string_append_printf (log, ":%s",
          ifd_drop_reason_get_name (event.reason));
  }
}

IfdFrame
ifd_case_make_frame (const gchar * word)
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

static void
ifd_case_take_next (Ifd * ifd, gboolean * sending, GString * log)
{
  IfdFrame frame;

  if (*sending)
    ifd_sent (ifd, 0);
  *sending = ifd_poll_output (ifd, 0, &frame);
  if (*sending)
    ifd_case_log_frame (log, '>', &frame);
  else
    g_string_append (log, log->len > 0 ? " >" : ">");
}

static void
ifd_case_configure (Ifd * ifd, const gchar * word)
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

void
ifd_case_do_word (Ifd * ifd, const gchar * word, gboolean * sending,
    GString * log)
{
  IfdFrame frame;

  if (g_str_equal (word, "/")) {
    ifd_case_take_next (ifd, sending, log);
  } else if (g_str_equal (word, "restart")) {
    ifd_restart (ifd);
  } else if (g_str_equal (word, "flush")) {
    while (ifd_flush (ifd, &frame))
      ifd_case_log_frame (log, '~', &frame);
    *sending = FALSE;
  } else if (strchr ("pg", *word)) {
    ifd_case_configure (ifd, word);
  } else {
    frame = ifd_case_make_frame (word);
    ifd_input (ifd, 0, &frame);
  }
  ifd_case_log_events (ifd, log);
}

Ifd *
ifd_case_play (const IfdConfig * config, const gchar * input, GString * log)
{
  gchar **words = g_strsplit (input, " ", -1);
  gboolean sending = FALSE;
  Ifd *ifd = ifd_new (config);
  guint i;

  for (i = 0; words[i]; i++) {
    if (*words[i])
      ifd_case_do_word (ifd, words[i], &sending, log);
  }
  g_strfreev (words);
  return ifd;
}

static void
ifd_case_expect (const IfdConfig * config, const IfdCase * c)
{
  GString *log = g_string_new (NULL);

  ifd_free (ifd_case_play (config, c->input, log));
  fail_unless (g_str_equal (log->str, c->expected),
      "%s: after \"%s\"\n  \"%s\" is expected, but\n  \"%s\" is so", c->name,
      c->input, c->expected, log->str);
  g_string_free (log, TRUE);
}

void
ifd_case_expect_all (const IfdConfig * config, const IfdCase * cases, guint n)
{
  guint i;

  for (i = 0; i < n; i++)
    ifd_case_expect (config, &cases[i]);
}
