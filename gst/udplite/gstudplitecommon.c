/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the payload format of packets from caps, and registers the GType of the
 * enumeration of the socket backends (auto, kernel, raw and udp). The functions
 * are documented in gstudplitecommon.h. */

#include "gstudplitecommon.h"

#include "gstwirelessproperties.h"

/* --- the backends -------------------------------------------------------- */

/* *INDENT-OFF* */
GST_WIRELESS_DEFINE_ENUM (gst_udplite_backend, "GstUdpliteBackend",
    {UDPLITE_BACKEND_AUTO, "The first of kernel, raw and udp that works",
        "auto"},
    {UDPLITE_BACKEND_KERNEL, "The kernel's UDP-Lite", "kernel"},
    {UDPLITE_BACKEND_RAW, "A raw socket of IP protocol 136: needs CAP_NET_RAW",
        "raw"},
    {UDPLITE_BACKEND_UDP, "UDP-Lite in UDP packets without a UDP checksum: "
          "both ends must use this backend", "udp"})
/* *INDENT-ON* */

/* --- caps ---------------------------------------------------------------- */

/* Returns whether the packets are authenticated. If an authenticated packet is
 * damaged, its authentication fails (RFC 3711 section 3.3, RFC 6347 section
 * 4.1.2.1), so the checksum must cover the whole packet. A coverage that the
 * payloader has marked on the buffer is then ignored. */
static gboolean
is_sealed (const GstStructure * structure)
{
  return gst_structure_has_name (structure, "application/x-srtp")
      || gst_structure_has_name (structure, "application/x-srtcp")
      || gst_structure_has_name (structure, "application/x-dtls");
}

UdpliteFormat
gst_udplite_format_from_caps (const GstCaps * caps)
{
  const GstStructure *structure;
  gint payload = -1;

  if (!caps || gst_caps_is_any (caps) || gst_caps_is_empty (caps))
    return UDPLITE_FORMAT_UNKNOWN;
  structure = gst_caps_get_structure (caps, 0);
  if (is_sealed (structure))
    return UDPLITE_FORMAT_SEALED;
  if (!gst_structure_has_name (structure, "application/x-rtp"))
    return UDPLITE_FORMAT_UNKNOWN;
  gst_structure_get_int (structure, "payload", &payload);
  return udplite_format_from_rtp (gst_structure_get_string (structure,
          "encoding-name"), payload);
}
