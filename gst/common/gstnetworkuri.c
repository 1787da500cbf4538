/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* URIs of network elements; see the header. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstnetworkuri.h"

#include <string.h>

gchar *
gst_network_uri_new (const gchar * scheme, const gchar * host, gint port)
{
  const gchar *format = strchr (host, ':') ? "%s://[%s]:%d" : "%s://%s:%d";
  /* the % before the interface of a link-local address, RFC 6874 */
  gchar *escaped = g_uri_escape_string (host, ":", FALSE);
  gchar *uri = g_strdup_printf (format, scheme, escaped, port);

  g_free (escaped);
  return uri;
}

/* Keys that make caps, and the types of their fields */
static const struct
{
  const gchar *name;
  GType type;
} rtp_keys[] = {
  {"media", G_TYPE_STRING},
  {"encoding-name", G_TYPE_STRING},
  {"payload", G_TYPE_INT},
  {"clock-rate", G_TYPE_INT},
};

/* FALSE: none of the keys of RTP. TRUE: it is in the caps, or in the log. */
static gboolean
take_rtp_key (GstElement * element, GstStructure * rtp, const gchar * key,
    const gchar * text)
{
  GValue value = G_VALUE_INIT;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (rtp_keys); i++)
    if (g_str_equal (key, rtp_keys[i].name))
      break;
  if (i == G_N_ELEMENTS (rtp_keys))
    return FALSE;

  g_value_init (&value, rtp_keys[i].type);
  if (rtp_keys[i].type == G_TYPE_STRING)
    g_value_set_string (&value, text);
  else if (!gst_value_deserialize (&value, text)
      || g_value_get_int (&value) < 0) {
    GST_WARNING_OBJECT (element, "URI: %s \"%s\" is no such number", key, text);
    g_value_unset (&value);
    return TRUE;
  }
  gst_structure_take_value (rtp, key, &value);
  return TRUE;
}

/* A URI comes from anywhere: it names no object's name, socket or other URI. */
static GParamSpec *
find_property (GstElement * element, const gchar * key)
{
  GParamSpec *property =
      g_object_class_find_property (G_OBJECT_GET_CLASS (element), key);

  if (!property || !(property->flags & G_PARAM_WRITABLE)
      || g_type_is_a (property->value_type, G_TYPE_OBJECT)
      || property->owner_type == GST_TYPE_OBJECT
      || g_str_equal (property->name, "uri"))
    return NULL;
  return property;
}

static void
take_property (GstElement * element, const gchar * key, const gchar * text)
{
  GParamSpec *property = find_property (element, key);
  GValue value = G_VALUE_INIT;

  if (!property) {
    GST_WARNING_OBJECT (element, "URI: \"%s\" is no key", key);
    return;
  }
  g_value_init (&value, property->value_type);
  /* A string is what it is: deserializing would take quotes off. */
  if (property->value_type == G_TYPE_STRING)
    g_value_set_string (&value, text);
  else if (!gst_value_deserialize_with_pspec (&value, text, property)) {
    GST_WARNING_OBJECT (element, "URI: \"%s\" is no value of %s", text, key);
    goto done;
  }
  if (g_param_value_validate (property, &value))
    GST_WARNING_OBJECT (element, "URI: %s=%s is out of range", key, text);
  g_object_set_property (G_OBJECT (element), key, &value);

done:
  g_value_unset (&value);
}

static void
take_query (GstElement * element, GstUri * uri)
{
  GstStructure *rtp = gst_structure_new_empty ("application/x-rtp");
  gboolean has_caps = find_property (element, "caps") != NULL;
  GList *keys = gst_uri_get_query_keys (uri), *walk;

  for (walk = keys; walk; walk = walk->next) {
    const gchar *key = walk->data;
    const gchar *text = gst_uri_get_query_value (uri, key);

    if (!text)
      text = "";
    if (!has_caps || !take_rtp_key (element, rtp, key, text))
      take_property (element, key, text);
  }
  g_list_free (keys);

  if (gst_structure_n_fields (rtp) > 0) {
    GstCaps *caps = gst_caps_new_full (gst_structure_copy (rtp), NULL);

    g_object_set (element, "caps", caps, NULL);
    gst_caps_unref (caps);
  }
  gst_structure_free (rtp);
}

static gboolean
is_stopped (GstElement * element)
{
  gboolean stopped;

  GST_OBJECT_LOCK (element);
  stopped = GST_STATE (element) <= GST_STATE_READY;
  GST_OBJECT_UNLOCK (element);
  return stopped;
}

gboolean
gst_network_uri_apply (GstElement * element, const gchar * scheme,
    const gchar * text, const gchar * host_property, GError ** error)
{
  GstUri *uri;
  guint port;

  if (!is_stopped (element)) {
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_STATE,
        "The URI of %s can be changed in states NULL and READY only",
        GST_ELEMENT_NAME (element));
    return FALSE;
  }
  uri = gst_uri_from_string (text);
  if (!uri || g_strcmp0 (gst_uri_get_scheme (uri), scheme) != 0) {
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
        "\"%s\" is not of the form %s://host:port", text, scheme);
    g_clear_pointer (&uri, gst_uri_unref);
    return FALSE;
  }
  port = gst_uri_get_port (uri);
  if (port != GST_URI_NO_PORT && port > G_MAXUINT16) {
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
        "\"%s\": %u is no port", text, port);
    gst_uri_unref (uri);
    return FALSE;
  }

  if (gst_uri_get_host (uri) && *gst_uri_get_host (uri))
    g_object_set (element, host_property, gst_uri_get_host (uri), NULL);
  if (port != GST_URI_NO_PORT)
    g_object_set (element, "port", (gint) port, NULL);
  take_query (element, uri);
  gst_uri_unref (uri);
  return TRUE;
}

void
gst_network_uri_set_property (GstURIHandler * handler, const gchar * uri)
{
  GError *error = NULL;

  if (uri && gst_uri_handler_set_uri (handler, uri, &error))
    return;
  GST_WARNING_OBJECT (handler, "URI: %s", error ? error->message : "none");
  g_clear_error (&error);
}
