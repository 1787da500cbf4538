/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Merges consecutive UDP packets of one stream into one large packet, as
 * generic receive offload does, because this takes less CPU time. The receiving
 * kernel routes and delivers the merged packet as a whole. Its sockets receive
 * the same datagrams as they would without merging.
 *
 * Only undamaged packets are merged: their checksums are verified first,
 * because the kernel does not verify the checksum of a merged packet.
 */

#pragma once

#include <glib.h>

/* Maximum number of packets in a merged packet. Linux allows 64 or more
 * (UDP_MAX_SEGMENTS), depending on its version. */
#define TUN_MERGE_MAX_PACKETS 64

/* Maximum size in bytes of the IP and UDP headers together. An IPv6 header is
 * larger than an IPv4 header. */
#define TUN_MERGE_MAX_HEADER (40 + 8)

/* UDP packets that are being merged into one packet. The fields are read-only
 * for the caller. */
typedef struct
{
  guint n;                      /* number of packets */
  gsize header_size;            /* IP and UDP header, in bytes */
  /* payload size in bytes of each packet except the last one, which may be
   * smaller */
  gsize segment_size;
  gsize payload_size;           /* of all packets */
  /* TRUE if no further packet can be added, because the last packet was shorter
   * than the first one. Only the last of the merged packets may be shorter. */
  gboolean complete;
  /* IP and UDP headers of the first packet */
  guint8 header[TUN_MERGE_MAX_HEADER];
} TunMerge;

/* Begins a merged packet with an IP packet. Returns FALSE if the packet cannot
 * be merged: it is no UDP packet, it is a fragment, it has IP options or
 * extension headers, or one of its checksums is missing or wrong. */
gboolean tun_merge_begin (TunMerge * merge, const guint8 * data, gsize size);

/* Adds an IP packet to the merged packet. Returns FALSE and does not change
 * `merge` in these cases:
 * - The packet belongs to another stream.
 * - It cannot be merged for one of the reasons that tun_merge_begin () lists.
 * - It is larger than the first packet, or a shorter packet was already added.
 *   Only the last packet may be shorter than the others.
 * - The merged packet would become too large. */
gboolean tun_merge_add (TunMerge * merge, const guint8 * data, gsize size);

/* Writes the IP and UDP headers of the merged packet to `header`, in total
 * merge->header_size bytes. In the merged packet, the payloads of all packets
 * follow these headers. The UDP checksum covers the pseudo header only, as the
 * kernel expects it (CHECKSUM_PARTIAL). */
void tun_merge_write_header (const TunMerge * merge, guint8 * header);
