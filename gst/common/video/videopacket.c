/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of videopacket.h. The headers are parsed from the outside to
 * the inside: IP, UDP, RTP, the video-specific header (RFC 2250, section 3.4),
 * and the start codes at the beginning of the payload. Each length is checked
 * before the data are read. */

#include "videopacket.h"

#include "bigendian.h"
#include "rfc2250header.h"
#include "rtpheader.h"

/* Header sizes and protocol numbers from RFC 791, RFC 8200, RFC 768 and RFC
 * 3828 */
#define IPV4_MIN_HEADER 20
#define IPV6_HEADER 40
#define UDP_HEADER 8
#define PROTOCOL_UDP 17
#define PROTOCOL_UDP_LITE 136

/* The part of a packet that was not parsed yet. It has `full_size` bytes. Only
 * the first `size` bytes of it are available, at `data`. */
typedef struct
{
  const guint8 *data;
  gsize size;
  gsize full_size;
} Bytes;

static gboolean
skip (Bytes * bytes, gsize n)
{
  if (n > bytes->size)
    return FALSE;
  bytes->data += n;
  bytes->size -= n;
  bytes->full_size -= n;
  return TRUE;
}

/* Reduces the size of the unparsed part of a packet to `full_size` bytes.
 * `full_size` comes from a length field of the packet. Returns FALSE if the
 * part is smaller than `full_size`. */
static gboolean
shorten (Bytes * bytes, gsize full_size)
{
  if (full_size > bytes->full_size)
    return FALSE;
  bytes->full_size = full_size;
  bytes->size = MIN (bytes->size, full_size);
  return TRUE;
}

/* FNV-1a hash */
static guint64
hash (guint64 before, const guint8 * data, gsize size)
{
  gsize i;

  for (i = 0; i < size; i++)
    before = (before ^ data[i]) * G_GUINT64_CONSTANT (0x100000001b3);
  return before;
}

static guint64
hash_begin (void)
{
  return G_GUINT64_CONSTANT (0xcbf29ce484222325);
}

/* The elementary stream */

/* Returns whether a frame begins at the beginning of the packet. In this case,
 * the packet begins with a sequence header, a GOP header or a picture header. A
 * packet from the middle of a frame begins with other data, usually with a
 * slice (RFC 2250, section 3.1). */
static gboolean
is_frame_begin (const Bytes * video)
{
  if (video->size < 4 || video->data[0] != 0 || video->data[1] != 0
      || video->data[2] != 1)
    return FALSE;
  return video->data[3] == MPEG_VIDEO_CODE_SEQUENCE
      || video->data[3] == MPEG_VIDEO_CODE_GOP
      || video->data[3] == MPEG_VIDEO_CODE_PICTURE;
}

static void
read_gop (VideoPacket * packet, const guint8 * code, gsize size)
{
  MpegVideoGop gop;

  if (!mpeg_video_parse_gop (&gop, code, size))
    return;
  packet->closed_gop = gop.closed;
  packet->broken_link = gop.broken_link;
}

static void
read_picture (VideoPacket * packet, const guint8 * code, gsize size)
{
  MpegVideoPicture picture;

  if (packet->type || !mpeg_video_parse_picture (&picture, code, size))
    return;
  packet->type = picture.type;
  packet->temporal_reference = picture.temporal_reference;
}

/* Parses the headers of the elementary stream, up to the first picture header
 * or slice. */
static void
read_headers (VideoPacket * packet, const Bytes * video)
{
  const guint8 *end = video->data + video->size;
  const guint8 *code = video->data;

  packet->begins = is_frame_begin (video);
  if (!packet->begins)
    return;
  for (; code; code = mpeg_video_find_start_code (code + 4, end)) {
    if (code[3] == MPEG_VIDEO_CODE_GOP)
      read_gop (packet, code, end - code);
    if (code[3] == MPEG_VIDEO_CODE_PICTURE)
      read_picture (packet, code, end - code);
    if (code[3] <= MPEG_VIDEO_CODE_SLICE_MAX)
      return;
  }
}

/* RFC 2250 */

static gboolean
read_video (VideoPacket * packet, Bytes bytes)
{
  gsize header = rfc2250_header_measure (bytes.data, bytes.size);
  guint32 word;

  if (header == 0)
    return FALSE;
  word = read_be32 (bytes.data);
  packet->type = word >> 8 & 7;
  packet->temporal_reference = word >> 16 & 0x3ff;
  /* In RFC 2250, the value 0 of the picture type (field P, section 3.4) is not
   * valid. However, some senders set all fields of the video-specific header to
   * 0. The packets of these senders are accepted. */
  if (packet->type == MPEG_VIDEO_PICTURE_UNKNOWN && word != 0)
    return FALSE;
  skip (&bytes, header);
  read_headers (packet, &bytes);
  return TRUE;
}

/* Parses an RTP header (RFC 3550 section 5.1). */

static gboolean
read_rtp (VideoPacket * packet, Bytes bytes, guint payload_type, guint64 stream)
{
  const guint8 *rtp = bytes.data;
  gsize header = rtp_header_get_size (rtp, bytes.size);
  VideoPacket read = { 0, };

  if (header == 0)
    return FALSE;
  if (payload_type != VIDEO_PACKET_ANY_TYPE && (rtp[1] & 0x7f) != payload_type)
    return FALSE;
  if (!skip (&bytes, header) || !read_video (&read, bytes))
    return FALSE;
  read.ends = rtp[1] >> 7;
  read.sequence = read_be16 (rtp + 2);
  read.timestamp = read_be32 (rtp + 4);
  read.stream = hash (stream, rtp + 8, 4);
  *packet = read;
  return TRUE;
}

gboolean
video_packet_parse_rtp (VideoPacket * packet, const guint8 * data, gsize size,
    gsize full_size, guint payload_type)
{
  Bytes bytes = { data, size, full_size };

  return read_rtp (packet, bytes, payload_type, hash_begin ());
}

/* IP */

/* Parses a UDP header (RFC 768) or a UDP-Lite header (RFC 3828, section 3.1).
 * In UDP-Lite, the length field contains the checksum coverage instead. The
 * length is then taken from the IP header. */
static gboolean
read_udp (VideoPacket * packet, Bytes bytes, guint protocol, guint64 stream)
{
  guint length;

  if (protocol != PROTOCOL_UDP && protocol != PROTOCOL_UDP_LITE)
    return FALSE;
  if (bytes.size < UDP_HEADER)
    return FALSE;
  length = read_be16 (bytes.data + 4);
  if (protocol == PROTOCOL_UDP && (length < UDP_HEADER
          || !shorten (&bytes, length)))
    return FALSE;
  stream = hash (stream, bytes.data, 4);
  if (!skip (&bytes, UDP_HEADER))
    return FALSE;
  return read_rtp (packet, bytes, RTP_PAYLOAD_MPV, stream);
}

/* Parses an IPv4 header (RFC 791 section 3.1). */
static gboolean
read_ipv4 (VideoPacket * packet, Bytes bytes)
{
  const guint8 *ip = bytes.data;
  gsize header;

  if (bytes.size < IPV4_MIN_HEADER)
    return FALSE;
  header = (ip[0] & 0x0f) * 4;
  /* Rejects a fragment of an IP packet. A packet is a fragment if the flag for
   * more fragments is set, or if the fragment offset is not 0. */
  if (header < IPV4_MIN_HEADER || (read_be16 (ip + 6) & 0x3fff))
    return FALSE;
  if (!shorten (&bytes, read_be16 (ip + 2)) || !skip (&bytes, header))
    return FALSE;
  return read_udp (packet, bytes, ip[9], hash (hash_begin (), ip + 12, 8));
}

/* Parses an IPv6 header (RFC 8200 section 3). */
static gboolean
read_ipv6 (VideoPacket * packet, Bytes bytes)
{
  const guint8 *ip = bytes.data;

  if (!skip (&bytes, IPV6_HEADER) || !shorten (&bytes, read_be16 (ip + 4)))
    return FALSE;
  return read_udp (packet, bytes, ip[6], hash (hash_begin (), ip + 8, 32));
}

gboolean
video_packet_parse_ip (VideoPacket * packet, const guint8 * data, gsize size,
    gsize full_size)
{
  Bytes bytes = { data, size, full_size };

  if (size == 0)
    return FALSE;
  switch (data[0] >> 4) {
    case 4:
      return read_ipv4 (packet, bytes);
    case 6:
      return read_ipv6 (packet, bytes);
    default:
      return FALSE;
  }
}

/* Frames */

gboolean
video_packet_parse_frame (VideoPacket * packet, const guint8 * data, gsize size)
{
  Bytes bytes = { data, size, size };
  VideoPacket read = { 0, };

  read_headers (&read, &bytes);
  if (!read.begins || read.type == MPEG_VIDEO_PICTURE_UNKNOWN)
    return FALSE;
  read.ends = TRUE;
  *packet = read;
  return TRUE;
}
