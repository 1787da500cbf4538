/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that udplitesrc and udplitesink share: the URI scheme, the
 * enumeration of the backends, and the payload format that caps describe.
 */

#pragma once

#include <gst/gst.h>

#include "udplitecoverage.h"
#include "udplitesocket.h"

#define GST_UDPLITE_SCHEME "udplite"

/* GType of UdpliteBackend, whose values are auto, kernel, raw and udp. */
GType gst_udplite_backend_get_type (void);

/* Returns the payload format of the packets that `caps` describe, for example
 * RTP with MPEG video. Returns UDPLITE_FORMAT_UNKNOWN if `caps` is NULL or
 * describes no known format. */
UdpliteFormat gst_udplite_format_from_caps (const GstCaps * caps);
