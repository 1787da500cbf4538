/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converts GstBuffers to packets for a UDP-Lite socket. The functions are
 * documented in gstudplitepackets.h. */

#include "gstudplitepackets.h"

#include "gstframeinfometa.h"
#include "gstwirelessproperties.h"

/* Number of leading bytes of a packet in which headers are searched for. An RTP
 * header with all its CSRCs fits into them, together with the sequence, GOP and
 * picture headers of MPEG video with quantiser matrices. */
#define HEAD_SIZE 512

typedef struct
{
  GstBuffer *buffer;            /* not owned */
  /* The mapped bytes of the whole buffer. They are used if the buffer consists
   * of more than DATAGRAM_MAX_PARTS memories. */
  GstMapInfo whole;
  GstMapInfo maps[DATAGRAM_MAX_PARTS];
  guint n_maps;                 /* 0 = `whole` is mapped instead */
} Packet;

struct _GstUdplitePackets
{
  Packet packets[DATAGRAM_BATCH];
  UdpliteOutput outputs[DATAGRAM_BATCH];
  guint n;
};

/* *INDENT-OFF* */
GST_WIRELESS_DEFINE_ENUM (gst_udplite_coverage_mode, "GstUdpliteCoverageMode",
    {GST_UDPLITE_COVERAGE_FULL, "The whole of each packet", "full"},
    {GST_UDPLITE_COVERAGE_FIXED, "The number of bytes in checksum-coverage",
        "fixed"},
    {GST_UDPLITE_COVERAGE_HEADERS,
        "The UDP-Lite, RTP and payload headers of each packet, or the whole "
        "packet if its format is not known", "headers"})
/* *INDENT-ON* */

GstUdplitePackets *
gst_udplite_packets_new (void)
{
  return g_new0 (GstUdplitePackets, 1);
}

void
gst_udplite_packets_free (GstUdplitePackets * packets)
{
  g_assert (packets->n == 0);
  g_free (packets);
}

/* --- mapping ------------------------------------------------------------- */

static void
unmap_packet (Packet * packet)
{
  guint i;

  if (packet->n_maps == 0)
    gst_buffer_unmap (packet->buffer, &packet->whole);
  for (i = 0; i < packet->n_maps; i++)
    gst_memory_unmap (packet->maps[i].memory, &packet->maps[i]);
  packet->n_maps = 0;
}

static gboolean
map_memories (Packet * packet, UdpliteOutput * output, guint n)
{
  guint i;

  for (i = 0; i < n; i++) {
    if (!gst_memory_map (gst_buffer_peek_memory (packet->buffer, i),
            &packet->maps[i], GST_MAP_READ)) {
      packet->n_maps = i;
      if (i > 0)
        unmap_packet (packet);
      return FALSE;
    }
    output->vectors[i].data = packet->maps[i].data;
    output->vectors[i].size = packet->maps[i].size;
  }
  packet->n_maps = output->n_vectors = n;
  return TRUE;
}

static gboolean
map_packet (Packet * packet, UdpliteOutput * output, GstBuffer * buffer)
{
  guint n = gst_buffer_n_memory (buffer);

  packet->buffer = buffer;
  packet->n_maps = 0;
  if (n > 0 && n <= DATAGRAM_MAX_PARTS)
    return map_memories (packet, output, n);
  if (!gst_buffer_map (buffer, &packet->whole, GST_MAP_READ))
    return FALSE;
  output->vectors[0].data = packet->whole.data;
  output->vectors[0].size = packet->whole.size;
  output->n_vectors = 1;
  return TRUE;
}

/* --- coverage ------------------------------------------------------------ */

static guint
get_fixed_coverage (guint fixed)
{
  if (fixed == 0)
    return UDPLITE_COVERAGE_ALL;
  return fixed > UDPLITE_HEADER_SIZE ? fixed - UDPLITE_HEADER_SIZE : 0;
}

static guint
get_headers_coverage (UdpliteFormat format, GstBuffer * buffer,
    const UdpliteOutput * output)
{
  const GstFrameInfoMeta *info = gst_buffer_get_frame_info_meta (buffer);
  guint mark = info ? info->coverage : UDPLITE_COVERAGE_ALL;
  const guint8 *bytes = output->vectors[0].data;
  gsize size = output->vectors[0].size;
  guint8 head[HEAD_SIZE];

  if (output->n_vectors > 1) {
    size = gst_buffer_extract (buffer, 0, head, sizeof (head));
    bytes = head;
  }
  return udplite_coverage_of_payload (format, bytes, size, mark);
}

static guint
get_coverage (const GstUdpliteCoverage * coverage, GstBuffer * buffer,
    const UdpliteOutput * output)
{
  switch (coverage->mode) {
    case GST_UDPLITE_COVERAGE_FIXED:
      return get_fixed_coverage (coverage->fixed);
    case GST_UDPLITE_COVERAGE_HEADERS:
      return get_headers_coverage (coverage->format, buffer, output);
    default:
      return UDPLITE_COVERAGE_ALL;
  }
}

/* --- a batch ------------------------------------------------------------- */

guint
gst_udplite_packets_map (GstUdplitePackets * packets, GstBuffer ** buffers,
    guint n, const GstUdpliteCoverage * coverage)
{
  guint i;

  g_assert (packets->n == 0);
  n = MIN (n, DATAGRAM_BATCH);
  for (i = 0; i < n; i++) {
    UdpliteOutput *output = &packets->outputs[i];

    if (!map_packet (&packets->packets[i], output, buffers[i]))
      break;
    output->coverage = get_coverage (coverage, buffers[i], output);
  }
  packets->n = i;
  return i;
}

void
gst_udplite_packets_unmap (GstUdplitePackets * packets)
{
  while (packets->n > 0)
    unmap_packet (&packets->packets[--packets->n]);
}

const UdpliteOutput *
gst_udplite_packets_address (GstUdplitePackets * packets,
    const DatagramPath * path)
{
  guint i;

  for (i = 0; i < packets->n; i++)
    packets->outputs[i].path = *path;
  return packets->outputs;
}
