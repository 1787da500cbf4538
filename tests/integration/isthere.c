/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes an element and reads all its properties, as gst-inspect-1.0 does. The
 * tests with sanitizers use this program and not gst-inspect-1.0. The reason
 * is a memory leak that gst-inspect-1.0 has since version 1.24: if the value
 * of a property is an array, gst-inspect-1.0 leaks this array. The sanitizers
 * would report the leak as an error.
 */

#include <gst/gst.h>

static void
read_property (GstElement * element, GParamSpec * spec)
{
  GValue value = G_VALUE_INIT;
  gchar *text;

  g_value_init (&value, spec->value_type);
  g_object_get_property (G_OBJECT (element), spec->name, &value);
  text = g_strdup_value_contents (&value);
  g_print ("%s: %s\n", spec->name, text);
  g_free (text);
  g_value_unset (&value);
}

int
main (int argc, char **argv)
{
  GstElement *element;
  GParamSpec **specs;
  guint i, n = 0;

  gst_init (&argc, &argv);
  element = argc == 2 ? gst_element_factory_make (argv[1], NULL) : NULL;
  if (!element) {
    g_printerr ("There is no element %s.\n", argc == 2 ? argv[1] : "named");
    return 1;
  }
  specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  for (i = 0; i < n; i++) {
    if (specs[i]->flags & G_PARAM_READABLE)
      read_property (element, specs[i]);
  }
  g_free (specs);
  gst_object_unref (element);
  return 0;
}
