/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* URIs of network elements, scheme://host:port?property=value&..., of which all
 * schemes have the same form.
 */

#ifndef __GST_NETWORK_URI_H__
#define __GST_NETWORK_URI_H__

#include <gst/gst.h>

#include "gstwirelessprelude.h"
#include "gstwirelessproperties.h"

G_BEGIN_DECLS

/* What is not the same of all elements that have URIs; it stays. The element has
 * the property `port`, too. */
typedef struct
{
  const gchar *protocols[2];    /* the scheme, NULL */
  const gchar *host_property;   /* which is the URI's host */
  /* NULL, or which property it is with this URI, or as the properties are now
   * (NULL) */
  const gchar *(*get_host_property) (GstElement * element, const GstUri * uri);
} GstNetworkUri;

/* The interface GstURIHandler, of sources and sinks, for G_DEFINE_TYPE_WITH_CODE;
 * class_init says the rest. A subclass may say it again. */
#define GST_IMPLEMENT_NETWORK_URI G_IMPLEMENT_INTERFACE ( \
    GST_TYPE_URI_HANDLER, gst_network_uri_init_handler)
GST_WIRELESS_API
void gst_network_uri_init_handler (gpointer interface, gpointer data);
GST_WIRELESS_API
void gst_network_uri_install (GObjectClass * klass, const GstNetworkUri * info);

/* scheme://host:port?key=value&...: keys of the query are names of those
 * properties whose tables allow it. media, encoding-name, payload and clock-rate
 * make "caps" of RTP where the element has that property. What is not there stays
 * as it is; a value that does not fit is a warning in the log.
 * GST_URI_ERROR_BAD_STATE above READY. GST_URI_ERROR_BAD_URI, and nothing is set,
 * where a key is not allowed. */

/* The property "uri" has no way to refuse: the element does not start, with an
 * error that says why, until it has another URI, or NULL. */
GST_WIRELESS_API
void gst_network_uri_set_property (gpointer element, const GValue * value,
    GParamSpec * pspec);
GST_WIRELESS_API
void gst_network_uri_get_property (gpointer element, GValue * value,
    GParamSpec * pspec);
#define PROPERTY_NETWORK_URI(blurb, initial) \
    PROPERTY_COMPUTED ("uri", "URI", blurb, PROPERTY_READY, G_TYPE_STRING, \
        .initial_text = initial, .set = gst_network_uri_set_property, \
        .get = gst_network_uri_get_property)
/* On the way to PAUSED. FALSE: an error was posted. */
GST_WIRELESS_API
gboolean gst_network_uri_check (GstElement * element);

G_END_DECLS

#endif /* __GST_NETWORK_URI_H__ */
