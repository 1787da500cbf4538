/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of GstOutputFile, to which elements write their logs. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>

#include "gstoutputfile.h"

static gchar *directory, *location;

static void
setup (void)
{
  directory = g_dir_make_tmp ("outputfile-XXXXXX", NULL);
  fail_unless (directory != NULL);
  location = g_build_filename (directory, "log", NULL);
}

static void
teardown (void)
{
  g_unlink (location);
  g_rmdir (directory);
  g_free (location);
  g_free (directory);
}

static void
check_content (const gchar * expected)
{
  gchar *content;

  fail_unless (g_file_get_contents (location, &content, NULL, NULL));
  assert_equals_string (content, expected);
  g_free (content);
}

static void
write_text (GstOutputFile * file, const gchar * text)
{
  assert_equals_int (gst_output_file_write (file, text, strlen (text)), 0);
}

GST_START_TEST (text_is_in_the_file_at_once)
{
  GstOutputFile file;

  gst_output_file_init (&file);
  fail_if (gst_output_file_is_open (&file));
  assert_equals_int (gst_output_file_open (&file, location), 0);
  fail_unless (gst_output_file_is_open (&file));
  check_content ("");
  write_text (&file, "one\n");
  check_content ("one\n");
  write_text (&file, "");
  write_text (&file, "two\n");
  check_content ("one\ntwo\n");
  gst_output_file_close (&file);
  fail_if (gst_output_file_is_open (&file));
  check_content ("one\ntwo\n");
}

GST_END_TEST;

GST_START_TEST (open_overwrites_the_file)
{
  GstOutputFile file;

  fail_unless (g_file_set_contents (location, "a long old text", -1, NULL));
  gst_output_file_init (&file);
  assert_equals_int (gst_output_file_open (&file, location), 0);
  write_text (&file, "new");
  gst_output_file_close (&file);
  check_content ("new");
}

GST_END_TEST;

/* A program that the application starts must not keep the log open. */
GST_START_TEST (other_programs_do_not_inherit_the_file)
{
  GstOutputFile file;

  gst_output_file_init (&file);
  assert_equals_int (gst_output_file_open (&file, location), 0);
  fail_unless (fcntl (file.fd, F_GETFD) & FD_CLOEXEC);
  gst_output_file_close (&file);
}

GST_END_TEST;

GST_START_TEST (open_returns_the_error)
{
  gchar *nowhere = g_build_filename (directory, "missing", "log", NULL);
  GstOutputFile file;

  gst_output_file_init (&file);
  assert_equals_int (gst_output_file_open (&file, nowhere), ENOENT);
  fail_if (gst_output_file_is_open (&file));
  assert_equals_int (gst_output_file_open (&file, directory), EISDIR);
  fail_if (gst_output_file_is_open (&file));
  gst_output_file_close (&file);
  g_free (nowhere);
}

GST_END_TEST;

/* The descriptor of standard output is a copy of the file of the test while
 * `file` writes to it. */
GST_START_TEST (standard_output_stays_open)
{
  GstOutputFile file;
  gint saved, log;

  fflush (stdout);
  saved = dup (STDOUT_FILENO);
  log = g_open (location, O_WRONLY | O_CREAT, 0666);
  dup2 (log, STDOUT_FILENO);
  gst_output_file_init (&file);
  assert_equals_int (gst_output_file_open (&file, GST_OUTPUT_FILE_STDOUT), 0);
  write_text (&file, "line\n");
  gst_output_file_close (&file);
  fail_unless (fcntl (STDOUT_FILENO, F_GETFD) >= 0);
  dup2 (saved, STDOUT_FILENO);
  close (saved);
  close (log);
  check_content ("line\n");
}

GST_END_TEST;

GST_START_TEST (an_error_closes_the_file)
{
  GstOutputFile file;

  if (access ("/dev/full", W_OK) != 0)
    return;
  gst_output_file_init (&file);
  assert_equals_int (gst_output_file_open (&file, "/dev/full"), 0);
  assert_equals_int (gst_output_file_write (&file, "line\n", 5), ENOSPC);
  fail_if (gst_output_file_is_open (&file));
}

GST_END_TEST;

static gint n_signals;

static void
count_signal (int number)
{
  g_atomic_int_inc (&n_signals);
}

/* Reads the pipe only after the writer has been interrupted several times while
 * the pipe was full. */
static gpointer
read_pipe (gpointer content)
{
  gchar bytes[4096];
  gssize size;
  gint fd = g_open (location, O_RDONLY, 0);

  while (g_atomic_int_get (&n_signals) < 5)
    g_usleep (1000);
  while ((size = read (fd, bytes, sizeof (bytes))) > 0)
    g_string_append_len (content, bytes, size);
  close (fd);
  return NULL;
}

/* A signal interrupts write () before the first byte is written (EINTR) or
 * after a part of the text. */
GST_START_TEST (an_interrupted_write_continues)
{
  const struct itimerval every_ms = { {0, 1000}, {0, 1000} }, never = { 0 };
  struct sigaction action = {.sa_handler = count_signal };
  GString *content = g_string_new (NULL), *text = g_string_new (NULL);
  GstOutputFile file;
  GThread *reader;
  sigset_t alarms;
  guint i;

  for (i = 0; i < 100000; i++)
    g_string_append_printf (text, "line %u\n", i);
  assert_equals_int (mkfifo (location, 0600), 0);

  /* The reader inherits the mask, so all signals go to this thread. */
  n_signals = 0;
  sigemptyset (&alarms);
  sigaddset (&alarms, SIGALRM);
  pthread_sigmask (SIG_BLOCK, &alarms, NULL);
  reader = g_thread_new ("reader", read_pipe, content);
  gst_output_file_init (&file);
  assert_equals_int (gst_output_file_open (&file, location), 0);
  sigaction (SIGALRM, &action, NULL);
  pthread_sigmask (SIG_UNBLOCK, &alarms, NULL);
  setitimer (ITIMER_REAL, &every_ms, NULL);

  write_text (&file, text->str);

  setitimer (ITIMER_REAL, &never, NULL);
  gst_output_file_close (&file);
  g_thread_join (reader);
  fail_unless (g_string_equal (content, text));
  g_string_free (content, TRUE);
  g_string_free (text, TRUE);
}

GST_END_TEST;

static Suite *
output_file_suite (void)
{
  Suite *suite = suite_create ("outputfile");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, setup, teardown);
  tcase_add_test (tc, text_is_in_the_file_at_once);
  tcase_add_test (tc, open_overwrites_the_file);
  tcase_add_test (tc, other_programs_do_not_inherit_the_file);
  tcase_add_test (tc, open_returns_the_error);
  tcase_add_test (tc, standard_output_stays_open);
  tcase_add_test (tc, an_error_closes_the_file);
  tcase_add_test (tc, an_interrupted_write_continues);
  return suite;
}

GST_CHECK_MAIN (output_file);
