/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The main function of several test programs. Each program checks one core (the
 * protocol or algorithm of one plugin) or one layer (code that several plugins
 * share). It contains this function, all object files of the core or layer, and
 * the layers that the core or layer may use. If an object file calls a function
 * of another part of the project, the linker reports an error. The core or
 * layer must not need GStreamer. The program therefore also fails if a library
 * of GStreamer is loaded, even if no code calls this library.
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
  /* The program uses GLib, so a complete list of its loaded libraries contains
   * GLib. If GLib is missing, the list is incomplete. A library of GStreamer
   * may then be loaded although the list does not contain this library. */
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
