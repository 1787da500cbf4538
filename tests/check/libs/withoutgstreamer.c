/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The whole of one layer or core is linked with this main function and with the
 * layers below it. The linker refuses a call of anything else; this program fails
 * if a library of GStreamer was loaded for another reason.
 */

#include <string.h>

#include <glib.h>

int
main (int argc, char **argv)
{
  GError *error = NULL;
  gchar *maps;
  gint status = 0;

  if (!g_file_get_contents ("/proc/self/maps", &maps, NULL, &error))
    g_error ("%s", error->message);
  /* Without GLib among them the list of libraries would be of no use. */
  if (!strstr (maps, "libglib-2.0")) {
    g_printerr ("GLib is not among the libraries of %s.\n", argv[0]);
    status = 1;
  }
  if (strstr (maps, "libgstreamer-1.0.so")
      || strstr (maps, "libgstwireless-1.0.so")) {
    g_printerr ("%s loads a library of GStreamer:\n%s", argv[0], maps);
    status = 1;
  }
  g_free (maps);
  return status;
}
