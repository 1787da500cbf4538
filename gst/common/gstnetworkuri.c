/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstnetworkuri.h: URIs of network elements. */

#include "gstnetworkuri.h"

#include <string.h>

#include <gst/base/gstbasesrc.h>

/* The GType of an element class stores a GstNetworkUri, which describes the
 * URIs of the class. This quark is the key under which the GType stores it. */
static GQuark
info_quark (void)
{
  return g_quark_from_static_string ("gst-network-uri");
}

/* Key under which an element stores why its property `uri` was refused, as a
 * GError */
static GQuark
refusal_quark (void)
{
  return g_quark_from_static_string ("gst-network-uri-refusal");
}

static const GstNetworkUri *
find_info (GType type)
{
  const GstNetworkUri *info = NULL;

  for (; type && !info; type = g_type_parent (type))
    info = g_type_get_qdata (type, info_quark ());
  return info;
}

static const gchar *
get_host_property (GstElement * element, const GstUri * uri)
{
  const GstNetworkUri *info = find_info (G_OBJECT_TYPE (element));

  return info->get_host_property ? info->get_host_property (element, uri) :
      info->host_property;
}

/* --- from properties to a URI --------------------------------------------- */

static gchar *
make_uri (const gchar * scheme, const gchar * host, gint port)
{
  const gchar *format = strchr (host, ':') ? "%s://[%s]:%d" : "%s://%s:%d";
  /* A link-local address may be followed by % and an interface, as in
   * fe80::1%eth0. In a URI, this % has to be escaped (RFC 6874). */
  gchar *escaped = g_uri_escape_string (host, ":", FALSE);
  gchar *uri = g_strdup_printf (format, scheme, escaped, port);

  g_free (escaped);
  return uri;
}

/* Keys of a URI that set fields of RTP caps, and the types of these fields */
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

static GParamSpec *
find_property (GstElement * element, const gchar * key)
{
  return g_object_class_find_property (G_OBJECT_GET_CLASS (element), key);
}

/* Returns the type of the caps field that `key` sets. Returns 0 if `key` does
 * not set RTP caps, or if the element has no property `caps`. */
static GType
get_rtp_type (GstElement * element, const gchar * key)
{
  guint i;

  for (i = 0; find_property (element, "caps") && i < G_N_ELEMENTS (rtp_keys);
      i++)
    if (g_str_equal (key, rtp_keys[i].name))
      return rtp_keys[i].type;
  return 0;
}

/* --- keys ----------------------------------------------------------------- */

static gboolean
is_allowed (GParamSpec * pspec)
{
  const GstWirelessProperty *property =
      pspec ? gst_wireless_properties_find (pspec) : NULL;

  return property && property->flags & PROPERTY_URI;
}

/* Returns the names of all keys that a URI of this element may contain,
 * separated by commas (transfer full). */
static gchar *
list_keys (GstElement * element)
{
  GString *list = g_string_new (NULL);
  GParamSpec **pspecs;
  guint i, n;

  pspecs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  for (i = 0; i < n; i++) {
    if (is_allowed (pspecs[i]) && !(pspecs[i]->flags & G_PARAM_DEPRECATED))
      g_string_append_printf (list, "%s%s", list->len ? ", " : "",
          pspecs[i]->name);
  }
  g_free (pspecs);
  for (i = 0; find_property (element, "caps") && i < G_N_ELEMENTS (rtp_keys);
      i++)
    g_string_append_printf (list, ", %s", rtp_keys[i].name);
  return g_string_free (list, FALSE);
}

/* Returns FALSE with an error if a URI of this element must not contain `key`.
 * The text of the error does not contain the value of the key, because the
 * value may be a secret. */
static gboolean
check_key (GstElement * element, const gchar * key, GError ** error)
{
  GParamSpec *pspec = find_property (element, key);
  GstElementFactory *factory = gst_element_get_factory (element);
  gchar *keys;

  if (is_allowed (pspec) || get_rtp_type (element, key))
    return TRUE;
  keys = list_keys (element);
  g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
      "The URI has the key \"%s\", %s. %s takes these keys from a URI: %s", key,
      pspec ? "a property that only the application may set" :
      "which is not known", factory ? GST_OBJECT_NAME (factory) :
      GST_ELEMENT_NAME (element), keys);
  g_free (keys);
  return FALSE;
}

static gboolean
check_keys (GstElement * element, const GstUri * uri, GError ** error)
{
  GList *keys = gst_uri_get_query_keys (uri), *walk;

  for (walk = keys; walk && check_key (element, walk->data, error);
      walk = walk->next);
  g_list_free (keys);
  return walk == NULL;
}

/* --- from a URI to properties --------------------------------------------- */

static void
take_rtp_key (GstElement * element, GstStructure * rtp, const gchar * key,
    const gchar * text)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, get_rtp_type (element, key));
  if (G_VALUE_HOLDS_STRING (&value))
    g_value_set_string (&value, text);
  else if (!gst_value_deserialize (&value, text)
      || g_value_get_int (&value) < 0) {
    GST_WARNING_OBJECT (element, "URI: %s \"%s\" is not a valid number", key,
        text);
    g_value_unset (&value);
    return;
  }
  gst_structure_take_value (rtp, key, &value);
}

static void
take_property (GstElement * element, const gchar * key, const gchar * text)
{
  GParamSpec *property = find_property (element, key);
  GValue value = G_VALUE_INIT;

  g_value_init (&value, property->value_type);
  /* The text of a string property is used as it is. Deserializing it would
   * remove quotes. */
  if (property->value_type == G_TYPE_STRING)
    g_value_set_string (&value, text);
  else if (!gst_value_deserialize_with_pspec (&value, text, property)) {
    GST_WARNING_OBJECT (element, "URI: \"%s\" is not a valid value of %s", text,
        key);
    goto done;
  }
  if (g_param_value_validate (property, &value))
    GST_WARNING_OBJECT (element, "URI: %s=%s is out of range", key, text);
  g_object_set_property (G_OBJECT (element), key, &value);

done:
  g_value_unset (&value);
}

static void
take_query (GstElement * element, const GstUri * uri)
{
  GstStructure *rtp = gst_structure_new_empty ("application/x-rtp");
  GList *keys = gst_uri_get_query_keys (uri), *walk;

  for (walk = keys; walk; walk = walk->next) {
    const gchar *key = walk->data;
    const gchar *text = gst_uri_get_query_value (uri, key);

    if (!text)
      text = "";
    if (get_rtp_type (element, key))
      take_rtp_key (element, rtp, key, text);
    else
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

static gboolean
check_uri (GstElement * element, const GstUri * uri, const gchar * text,
    const gchar * scheme, GError ** error)
{
  if (!uri || g_strcmp0 (gst_uri_get_scheme (uri), scheme) != 0) {
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
        "\"%s\" is not of the form %s://host:port with a number as the port, "
        "such as %s://127.0.0.1:5004", text, scheme, scheme);
    return FALSE;
  }
  if (gst_uri_get_port (uri) != GST_URI_NO_PORT
      && gst_uri_get_port (uri) > G_MAXUINT16) {
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
        "\"%s\" has the port %u: a port is from 1 to 65535", text,
        gst_uri_get_port (uri));
    return FALSE;
  }
  return check_keys (element, uri, error);
}

static void
apply_uri (GstElement * element, const GstUri * uri)
{
  const gchar *host = gst_uri_get_host (uri);

  if (host && *host)
    g_object_set (element, get_host_property (element, uri), host, NULL);
  if (gst_uri_get_port (uri) != GST_URI_NO_PORT)
    g_object_set (element, "port", (gint) gst_uri_get_port (uri), NULL);
  take_query (element, uri);
}

/* --- the handler ---------------------------------------------------------- */

static GstURIType
get_uri_type (GType type)
{
  return g_type_is_a (type, GST_TYPE_BASE_SRC) ? GST_URI_SRC : GST_URI_SINK;
}

static const gchar *const *
get_protocols (GType type)
{
  return (const gchar * const *) find_info (type)->protocols;
}

static gchar *
get_uri (GstURIHandler * handler)
{
  GstElement *element = GST_ELEMENT (handler);
  gchar *host, *uri;
  gint port;

  g_object_get (element, get_host_property (element, NULL), &host, "port",
      &port, NULL);
  uri = make_uri (find_info (G_OBJECT_TYPE (element))->protocols[0],
      host ? host : "0.0.0.0", port);
  g_free (host);
  return uri;
}

static gboolean
set_uri (GstURIHandler * handler, const gchar * text, GError ** error)
{
  GstElement *element = GST_ELEMENT (handler);
  const gchar *scheme = find_info (G_OBJECT_TYPE (element))->protocols[0];
  GstUri *uri;
  gboolean is_valid;

  if (!is_stopped (element)) {
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_STATE,
        "The URI of %s can be changed in the states NULL and READY only: stop "
        "the element first", GST_ELEMENT_NAME (element));
    return FALSE;
  }
  uri = gst_uri_from_string (text);
  is_valid = check_uri (element, uri, text, scheme, error);
  if (is_valid)
    apply_uri (element, uri);
  g_clear_pointer (&uri, gst_uri_unref);
  return is_valid;
}

void
gst_network_uri_init_handler (gpointer interface, gpointer data)
{
  GstURIHandlerInterface *handler = interface;

  handler->get_type = get_uri_type;
  handler->get_protocols = get_protocols;
  handler->get_uri = get_uri;
  handler->set_uri = set_uri;
}

void
gst_network_uri_install (GObjectClass * klass, const GstNetworkUri * info)
{
  g_type_set_qdata (G_OBJECT_CLASS_TYPE (klass), info_quark (),
      (gpointer) info);
}

/* --- the property --------------------------------------------------------- */

/* Returns FALSE with an error if the scheme of a URI is not the one of this
 * element. GStreamer also refuses a wrong scheme, but its error does not name
 * the right scheme. A text without any scheme is no error here, because
 * GStreamer handles such a text. */
static gboolean
check_scheme (gpointer element, const gchar * uri, GError ** error)
{
  const gchar *scheme = find_info (G_OBJECT_TYPE (element))->protocols[0];
  gchar *found = gst_uri_get_protocol (uri);
  const gboolean is_other = found && g_ascii_strcasecmp (found, scheme) != 0;

  if (is_other)
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_UNSUPPORTED_PROTOCOL,
        "The scheme of \"%s\" is not supported: use %s://", uri, scheme);
  g_free (found);
  return !is_other;
}

void
gst_network_uri_set_property (gpointer element, const GValue * value,
    GParamSpec * pspec)
{
  const gchar *uri = g_value_get_string (value);
  GError *error = NULL;

  if (uri && check_scheme (element, uri, &error))
    gst_uri_handler_set_uri (GST_URI_HANDLER (element), uri, &error);
  if (error)
    GST_WARNING_OBJECT (element, "URI: %s", error->message);
  if (g_error_matches (error, GST_URI_ERROR, GST_URI_ERROR_BAD_STATE))
    g_clear_error (&error);
  else
    g_object_set_qdata_full (element, refusal_quark (), error,
        (GDestroyNotify) g_error_free);
}

void
gst_network_uri_get_property (gpointer element, GValue * value,
    GParamSpec * pspec)
{
  g_value_take_string (value,
      gst_uri_handler_get_uri (GST_URI_HANDLER (element)));
}

gboolean
gst_network_uri_check (GstElement * element)
{
  GError *error = g_object_steal_qdata (G_OBJECT (element), refusal_quark ());

  if (!error)
    return TRUE;
  GST_ELEMENT_ERROR (element, RESOURCE, SETTINGS,
      ("Could not use the URI: %s.", error->message), (NULL));
  g_object_set_qdata_full (G_OBJECT (element), refusal_quark (), error,
      (GDestroyNotify) g_error_free);
  return FALSE;
}
