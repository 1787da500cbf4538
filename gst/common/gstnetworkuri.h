/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* URIs of network elements: scheme://host:port?property=value&... All schemes
 * of this project have the same form.
 */

#pragma once

#include <gst/gst.h>

#include "gstwirelessproperties.h"

/* In a URI scheme://host:port?key=value&..., each key of the query is the name
 * of a property with the flag PROPERTY_URI. If the element has the property
 * `caps`, the keys media, encoding-name, payload and clock-rate are also
 * allowed and set RTP caps. Properties that the URI does not mention keep their
 * values. An invalid value does not make the URI fail; it is logged as a
 * warning.
 *
 * Setting a URI fails with GST_URI_ERROR_BAD_STATE if the element's state is
 * above READY. It fails with GST_URI_ERROR_BAD_URI if a key is not allowed. In
 * both cases, no property is set. */

/* Describes the URIs of an element class. The class keeps a pointer to this
 * struct, so the struct must never be freed. The element needs a property
 * `port` for the port of the URI. */
typedef struct
{
  const gchar *protocols[2];    /* the scheme, followed by NULL */
  /* name of the property that the host of the URI sets */
  const gchar *host_property;
  /* The host in a URI is the value of a property of the element. If the name of
   * this property depends on the mode of the element, this function pointer is
   * set, and the function returns the name. Otherwise the pointer is NULL, and
   * host_property is the name.
   *
   * The function is called in two cases:
   * - A URI is being set. `uri` is this URI, and its host is stored in the
   *   property.
   * - The current URI of the element is being read. `uri` is NULL, and the host
   *   for this URI is taken from the property. */
  const gchar *(*get_host_property) (GstElement * element, const GstUri * uri);
} GstNetworkUri;

/* Implements the interface GstURIHandler of a source or sink; for use in
 * G_DEFINE_TYPE_WITH_CODE */
#define GST_IMPLEMENT_NETWORK_URI G_IMPLEMENT_INTERFACE ( \
    GST_TYPE_URI_HANDLER, gst_network_uri_init_handler)
void gst_network_uri_init_handler (gpointer interface, gpointer data);
/* Call this function in class_init. It stores `info` for all elements of the
 * class. `info` contains the scheme of their URIs, and the name of the property
 * that is set to the host in a URI. */
void gst_network_uri_install (GObjectClass * klass, const GstNetworkUri * info);

/* Setter and getter of the property `uri`. A property setter cannot return an
 * error if the URI is invalid. Instead, the element posts an error message when
 * it is started, and does not start until the property is set to a valid URI or
 * to NULL. */
void gst_network_uri_set_property (gpointer element, const GValue * value,
    GParamSpec * pspec);
void gst_network_uri_get_property (gpointer element, GValue * value,
    GParamSpec * pspec);
#define PROPERTY_NETWORK_URI(blurb, initial) \
    PROPERTY_COMPUTED ("uri", "URI", blurb, PROPERTY_READY, G_TYPE_STRING, \
        .initial_text = initial, .set = gst_network_uri_set_property, \
        .get = gst_network_uri_get_property)
/* Checks whether the last value of the property `uri` was valid. If it was not,
 * posts an error and returns FALSE. GstNetworkSrc and GstNetworkSink call this
 * function in the state change from READY to PAUSED. An element that opens its
 * socket earlier, from NULL to READY, calls this function itself before it
 * opens the socket. */
gboolean gst_network_uri_check (GstElement * element);
