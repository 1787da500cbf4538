/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* URIs of network elements: scheme://host:port?property=value&... All schemes
 * of this project have the same form.
 */

#pragma once

#include <gst/gst.h>

#include "gstwirelessproperties.h"

/* In a URI scheme://host:port?key=value&..., each key of the query is the name
 * of a property with the flag PROPERTY_URI. The keys media, encoding-name,
 * payload and clock-rate set RTP caps if the element has the property `caps`.
 * Properties that the URI does not mention keep their values. A value that is
 * invalid is logged as a warning.
 *
 * Setting a URI fails with GST_URI_ERROR_BAD_STATE if the element's state is
 * above READY, and with GST_URI_ERROR_BAD_URI if a key is not allowed; no
 * property is set then. */

/* Describes the URIs of an element class. The class keeps a pointer to this
 * struct, so the struct must never be freed. The element needs a property
 * `port` for the port of the URI. */
typedef struct
{
  const gchar *protocols[2];    /* the scheme, followed by NULL */
  /* name of the property for the host of the URI */
  const gchar *host_property;
  /* Returns the name of the property that contains the host of `uri`. If `uri`
   * is NULL, returns the name of the property that contains the host of the
   * element's current URI. If this function pointer is NULL, host_property is
   * used. */
  const gchar *(*get_host_property) (GstElement * element, const GstUri * uri);
} GstNetworkUri;

/* Implements the interface GstURIHandler of a source or sink; for use in
 * G_DEFINE_TYPE_WITH_CODE */
#define GST_IMPLEMENT_NETWORK_URI G_IMPLEMENT_INTERFACE ( \
    GST_TYPE_URI_HANDLER, gst_network_uri_init_handler)
void gst_network_uri_init_handler (gpointer interface, gpointer data);
/* Sets the description of the URIs of the class. Call this function in
 * class_init. */
void gst_network_uri_install (GObjectClass * klass, const GstNetworkUri * info);

/* Setter and getter of the property `uri`. A property setter cannot report an
 * invalid URI. Instead, the element posts an error and does not start until the
 * property is set to a valid URI or to NULL. */
void gst_network_uri_set_property (gpointer element, const GValue * value,
    GParamSpec * pspec);
void gst_network_uri_get_property (gpointer element, GValue * value,
    GParamSpec * pspec);
#define PROPERTY_NETWORK_URI(blurb, initial) \
    PROPERTY_COMPUTED ("uri", "URI", blurb, PROPERTY_READY, G_TYPE_STRING, \
        .initial_text = initial, .set = gst_network_uri_set_property, \
        .get = gst_network_uri_get_property)
/* Checks the property `uri`. If its value is invalid, posts an error and
 * returns FALSE. The base classes call this function in the state change from
 * READY to PAUSED. If an element opens its socket in the state change from NULL
 * to READY, the element calls this function before it opens the socket. */
gboolean gst_network_uri_check (GstElement * element);
