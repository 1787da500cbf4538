/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* URIs of network elements, scheme://host:port?property=value&..., of which all
 * schemes have the same form.
 */

#ifndef __GST_NETWORK_URI_H__
#define __GST_NETWORK_URI_H__

#include <gst/gst.h>

#include "gstwirelessprelude.h"

G_BEGIN_DECLS

/* "scheme://host:port", free it; an IPv6 address gets its brackets */
GST_WIRELESS_API
gchar *gst_network_uri_new (const gchar * scheme, const gchar * host,
    gint port);

/* Sets properties from scheme://host:port?key=value&...: the host's property
 * has the name host_property, the port's is "port", and keys of the query are
 * names of properties. media, encoding-name, payload and clock-rate make
 * "caps" of RTP where the element has that property. What is not there stays as
 * it is; a key or value that doesn't fit is a warning in the log.
 * GST_URI_ERROR_BAD_STATE above READY, GST_URI_ERROR_BAD_URI. */
GST_WIRELESS_API
gboolean gst_network_uri_apply (GstElement * element, const gchar * scheme,
    const gchar * uri, const gchar * host_property, GError ** error);

/* For the property "uri": a URI that can't be taken is a warning in the log. */
GST_WIRELESS_API
void gst_network_uri_set_property (GstURIHandler * handler,
    const gchar * uri);

G_END_DECLS

#endif /* __GST_NETWORK_URI_H__ */
