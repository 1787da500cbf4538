/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the video encoder and changes its bitrate. The header documents the
 * functions.
 */

#include "gstbitrateencoder.h"

#include <string.h>

#include "gstbitratewalk.h"

#define AT_START "it takes its rate only when it starts"

/* The supported encoders. To support another encoder, it is sufficient to add a
 * line here. tests/interop/bitrateencoders.c tests those encoders that are
 * installed. */
static const GstBitrateEncoder encoders[] = {
  {"x264enc", "bitrate", 1000},
  {"x265enc", "bitrate", 1000},
  {"openh264enc", "bitrate", 1},
  {"vp8enc", "target-bitrate", 1},
  {"vp9enc", "target-bitrate", 1},
  {"av1enc", "target-bitrate", 1000},
  {"vah264enc", "bitrate", 1000},
  {"vah265enc", "bitrate", 1000},
  {"nvh264enc", "bitrate", 1000},
  {"nvh265enc", "bitrate", 1000},
  {"qsvh264enc", "bitrate", 1000},
  {"qsvh265enc", "bitrate", 1000},
  {"v4l2h264enc", "extra-controls", 1, "video_bitrate"},
  {"v4l2h265enc", "extra-controls", 1, "video_bitrate"},
  {"svtav1enc", "target-bitrate", 1000, NULL, AT_START},
  {"mpeg2enc", "bitrate", 1000, NULL, AT_START},
  {"avenc_mpeg1video", "bitrate", 1, NULL, AT_START},
  {"avenc_mpeg2video", "bitrate", 1, NULL, AT_START},
  {"avenc_mpeg4", "bitrate", 1, NULL, AT_START},
};

gchar *
gst_bitrate_encoder_list (void)
{
  GString *list = g_string_new (NULL);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (encoders); i++)
    if (!encoders[i].fixed_because)
      g_string_append_printf (list, "%s%s", list->len ? ", " : "",
          encoders[i].factory);
  return g_string_free (list, FALSE);
}

/* --- search --------------------------------------------------------------- */

static const GstBitrateEncoder *
look_up (GstElement * element)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  guint i;

  for (i = 0; factory && i < G_N_ELEMENTS (encoders); i++)
    if (g_str_equal (GST_OBJECT_NAME (factory), encoders[i].factory))
      return &encoders[i];
  return NULL;
}

static gboolean
is_video_encoder (GstElement * element)
{
  const gchar *klass = gst_element_get_metadata (element,
      GST_ELEMENT_METADATA_KLASS);

  return klass && strstr (klass, "Encoder") && strstr (klass, "Video");
}

typedef struct
{
  GstElement *element;
  guint n;
} Search;

static gboolean
visit (GstElement * element, gpointer data)
{
  Search *search = data;

  if (!look_up (element) && !is_video_encoder (element))
    return FALSE;
  if (search->element != element)
    search->n++;
  if (!search->element)
    search->element = gst_object_ref (element);
  return TRUE;
}

static GstElement *
find_by_name (GstElement * element, const gchar * name)
{
  GstObject *top = gst_object_ref (element), *parent;
  GstElement *found = NULL;

  while ((parent = gst_object_get_parent (top))) {
    gst_object_unref (top);
    top = parent;
  }
  if (GST_IS_BIN (top))
    found = gst_bin_get_by_name (GST_BIN_CAST (top), name);
  gst_object_unref (top);
  return found;
}

static GstBitrateSearch
judge (GstElement * element, const GstBitrateEncoder * encoder, gchar ** reason)
{
  if (!encoder) {
    *reason = g_strdup ("it is not known how its rate is changed");
    return GST_BITRATE_FIXED;
  }
  if (!g_object_class_find_property (G_OBJECT_GET_CLASS (element),
          encoder->property)) {
    *reason = g_strdup_printf ("this version has no property \"%s\"",
        encoder->property);
    return GST_BITRATE_FIXED;
  }
  *reason = g_strdup (encoder->fixed_because);
  return *reason ? GST_BITRATE_FIXED : GST_BITRATE_FOUND;
}

GstBitrateSearch
gst_bitrate_encoder_find (GstPad * sinkpad, const gchar * name,
    GstElement ** element, const GstBitrateEncoder ** encoder, gchar ** reason)
{
  Search search = { NULL, 0 };

  *element = NULL;
  *reason = NULL;
  if (name)
    search.element = find_by_name (GST_ELEMENT_CAST (GST_PAD_PARENT (sinkpad)),
        name);
  else
    gst_bitrate_walk (sinkpad, visit, &search);
  if (!search.element)
    return GST_BITRATE_NONE;
  *element = search.element;
  if (search.n > 1)
    return GST_BITRATE_SEVERAL;
  *encoder = look_up (search.element);
  return judge (search.element, *encoder, reason);
}

/* --- rate ----------------------------------------------------------------- */

static guint64
get_number (const GValue * value)
{
  GValue number = G_VALUE_INIT;
  guint64 result = 0;

  g_value_init (&number, G_TYPE_UINT64);
  if (g_value_transform (value, &number))
    result = g_value_get_uint64 (&number);
  g_value_unset (&number);
  return result;
}

static guint64
get_control (const GValue * value, const gchar * control)
{
  const GstStructure *controls = gst_value_get_structure (value);
  const GValue *field =
      controls ? gst_structure_get_value (controls, control) : NULL;

  return field ? get_number (field) : 0;
}

guint64
gst_bitrate_encoder_get (GstElement * element,
    const GstBitrateEncoder * encoder)
{
  GValue value = G_VALUE_INIT;
  guint64 units;

  g_object_get_property (G_OBJECT (element), encoder->property, &value);
  units = encoder->control ? get_control (&value, encoder->control)
      : get_number (&value);
  g_value_unset (&value);
  return units * encoder->bits_per_unit;
}

/* Bitrates of an encoder before and after the changes that
 * gst_bitrate_encoder_set () made. They are stored as data of the encoder
 * element. So they are still available when the bitrateadapt element that made
 * the changes no longer exists. */
typedef struct
{
  guint64 initial;              /* bit/s, before the first change */
  guint64 present;              /* bit/s, after the last change */
} Changes;

static GQuark
changes_quark (void)
{
  return g_quark_from_static_string ("gst-bitrate-encoder-changes");
}

guint64
gst_bitrate_encoder_get_initial (GstElement * element,
    const GstBitrateEncoder * encoder)
{
  const Changes *changes = g_object_get_qdata (G_OBJECT (element),
      changes_quark ());
  guint64 bitrate = gst_bitrate_encoder_get (element, encoder);

  return changes && changes->present == bitrate ? changes->initial : bitrate;
}

static void
note_change (GstElement * element, guint64 initial, guint64 present)
{
  Changes *changes = g_object_get_qdata (G_OBJECT (element), changes_quark ());

  if (!changes) {
    changes = g_new (Changes, 1);
    g_object_set_qdata_full (G_OBJECT (element), changes_quark (), changes,
        g_free);
  }
  changes->initial = initial;
  changes->present = present;
}

/* Sets a control of a V4L2 encoder. A single property of the encoder contains
 * all controls, as the fields of a structure. The new value of the property
 * therefore consists of the new control and all controls that were set before.
 * If it contained the new control only, the driver would still keep the earlier
 * controls, but the property would no longer list them. */
static void
set_control (GstElement * element, const GstBitrateEncoder * encoder,
    guint64 units)
{
  GstStructure *controls = NULL;

  g_object_get (element, encoder->property, &controls, NULL);
  if (!controls)
    controls = gst_structure_new_empty ("controls");
  gst_structure_set (controls, encoder->control, G_TYPE_INT,
      (gint) MIN (units, G_MAXINT), NULL);
  g_object_set (element, encoder->property, controls, NULL);
  gst_structure_free (controls);
}

static guint64
limit_units (GParamSpec * pspec, guint64 units)
{
  if (G_IS_PARAM_SPEC_INT (pspec)) {
    GParamSpecInt *range = G_PARAM_SPEC_INT (pspec);

    return CLAMP (units, (guint64) MAX (range->minimum, 0),
        (guint64) MAX (range->maximum, 0));
  }
  if (G_IS_PARAM_SPEC_UINT (pspec)) {
    GParamSpecUInt *range = G_PARAM_SPEC_UINT (pspec);

    return CLAMP (units, range->minimum, range->maximum);
  }
  return units;
}

static void
set_number (GstElement * element, GParamSpec * pspec, guint64 units)
{
  GValue number = G_VALUE_INIT, value = G_VALUE_INIT;

  g_value_init (&number, G_TYPE_UINT64);
  g_value_set_uint64 (&number, units);
  g_value_init (&value, pspec->value_type);
  if (g_value_transform (&number, &value))
    g_object_set_property (G_OBJECT (element), pspec->name, &value);
  g_value_unset (&value);
  g_value_unset (&number);
}

gboolean
gst_bitrate_encoder_set (GstElement * element,
    const GstBitrateEncoder * encoder, guint64 bitrate)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS
      (element), encoder->property);
  guint64 units = MAX (bitrate / encoder->bits_per_unit, 1);
  guint64 initial, present;

  if (!(pspec->flags & G_PARAM_WRITABLE))
    return FALSE;
  initial = gst_bitrate_encoder_get_initial (element, encoder);
  if (encoder->control) {
    set_control (element, encoder, units);
  } else {
    units = limit_units (pspec, units);
    set_number (element, pspec, units);
  }
  present = gst_bitrate_encoder_get (element, encoder);
  note_change (element, initial, present);
  return present == units * encoder->bits_per_unit;
}
