/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* URIs of network elements, scheme://host:port?property=value&..., of which all
 * schemes have the same form.
 */

#pragma once

#include <gst/gst.h>

#include "gstwirelessproperties.h"

/* A URI is scheme://host:port?key=value&...: keys of the query are names of those
 * properties whose tables allow it (PROPERTY_URI). media, encoding-name, payload and
 * clock-rate make "caps" of RTP where the element has that property. What the URI
 * does not say stays as it is; a value that does not fit is a warning in the log.
 * Errors: GST_URI_ERROR_BAD_STATE above READY; GST_URI_ERROR_BAD_URI, and nothing is
 * set, where a key is not allowed. */

/* What differs between the elements; it stays in use. They have the property `port`
 * as well. */
typedef struct
{
  const gchar *protocols[2];    /* the scheme, NULL */
  const gchar *host_property;   /* that has the host of the URI */
  /* NULL, or finds that property: for this URI, or for the URI that the properties
   * make now (NULL) */
  const gchar *(*get_host_property) (GstElement * element, const GstUri * uri);
} GstNetworkUri;

/* The interface GstURIHandler of sources and sinks, for G_DEFINE_TYPE_WITH_CODE */
#define GST_IMPLEMENT_NETWORK_URI G_IMPLEMENT_INTERFACE ( \
    GST_TYPE_URI_HANDLER, gst_network_uri_init_handler)
void gst_network_uri_init_handler (gpointer interface, gpointer data);
/* In class_init */
void gst_network_uri_install (GObjectClass * klass, const GstNetworkUri * info);

/* The property "uri". It has no way to refuse a URI. Instead the element does not
 * start, with an error that says why, until it has another URI, or NULL. */
void gst_network_uri_set_property (gpointer element, const GValue * value,
    GParamSpec * pspec);
void gst_network_uri_get_property (gpointer element, GValue * value,
    GParamSpec * pspec);
#define PROPERTY_NETWORK_URI(blurb, initial) \
    PROPERTY_COMPUTED ("uri", "URI", blurb, PROPERTY_READY, G_TYPE_STRING, \
        .initial_text = initial, .set = gst_network_uri_set_property, \
        .get = gst_network_uri_get_property)
/* On the way to PAUSED, which the base classes do, or to READY where the socket is
 * opened then. FALSE: an error was posted. */
gboolean gst_network_uri_check (GstElement * element);
