/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a fuzz target once with each file of its corpus, for systems without
 * libFuzzer. This is a quick test that works with any compiler. It checks the
 * same properties as the fuzzer.
 */

#include "fuzz.h"

#define MAX_INPUT_SIZE (1024 * 1024)

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const gchar * const *) a, *(const gchar * const *) b);
}

static GPtrArray *
list_directory (const gchar * path)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  GError *error = NULL;
  GDir *dir = g_dir_open (path, 0, &error);
  const gchar *name;

  if (!dir) {
    fprintf (stderr, "%s\n", error->message);
    exit (1);
  }
  while ((name = g_dir_read_name (dir)))
    g_ptr_array_add (names, g_build_filename (path, name, NULL));
  g_dir_close (dir);
  g_ptr_array_sort (names, compare_names);
  return names;
}

static void
replay_file (const gchar * path)
{
  GError *error = NULL;
  gchar *data;
  gsize size;

  if (!g_file_get_contents (path, &data, &size, &error)) {
    fprintf (stderr, "%s\n", error->message);
    exit (1);
  }
  /* The name of the input file is printed before the run. If a check fails, the
   * program ends during the run, and the name shows which input was the
   * cause. */
  printf ("%s (%" G_GSIZE_FORMAT " bytes)\n", path, size);
  fflush (stdout);
  g_assert (size <= MAX_INPUT_SIZE);
  LLVMFuzzerTestOneInput ((const uint8_t *) data, size);
  g_free (data);
}

int
main (int argc, char **argv)
{
  gint64 start = g_get_monotonic_time ();
  GPtrArray *names;
  guint ran = 0, i;
  gint arg;

  for (arg = 1; arg < argc; arg++) {
    names = list_directory (argv[arg]);
    for (i = 0; i < names->len; i++, ran++)
      replay_file (g_ptr_array_index (names, i));
    g_ptr_array_unref (names);
  }
  /* This output has the format of Python's unittest, so that programs can count
   * the tests. */
  printf ("Ran %u tests in %.3fs\n\n%s\n", ran,
      (g_get_monotonic_time () - start) / 1e6, ran > 0 ? "OK" : "FAILED");
  return ran > 0 ? 0 : 1;
}
