/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What udplitesrc and udplitesink share: the scheme of their URIs, the
 * enumeration of the backends, and what caps say of the bytes in a packet.
 */

#pragma once

#include <gst/gst.h>

#include "udplitecoverage.h"
#include "udplitesocket.h"

#define GST_UDPLITE_SCHEME "udplite"

/* auto, kernel, raw, udp: UdpliteBackend */
GType gst_udplite_backend_get_type (void);

/* From caps of a packet; NULL is unknown too */
UdpliteFormat gst_udplite_format_from_caps (const GstCaps * caps);
