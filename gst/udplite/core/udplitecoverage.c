/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes how many leading bytes of a packet must arrive undamaged (see
 * udplitecoverage.h). These bytes are the headers, which are parsed from the
 * outside to the inside: the RTP header, the payload header, and the headers of
 * the video at the beginning of the payload. */

#include "udplitecoverage.h"

#include "h263picture.h"
#include "mpegvideo.h"
#include "rfc2250header.h"
#include "rtpheader.h"

/* Minimum and maximum of the RTCP packet types. If RTP and RTCP use the same
 * port, a packet with such a type is an RTCP packet (RFC 5761 section 4). */
#define RTCP_MIN_TYPE 192
#define RTCP_MAX_TYPE 223

/* RFC 2190 section 5 */
#define H263_MODE_A_SIZE 4
#define H263_MODE_B_SIZE 8
#define H263_MODE_C_SIZE 12
/* RFC 4629 section 5.1 */
#define H263_1998_HEADER_SIZE 2

/* Special results of the functions below that return the size of the headers of
 * a packet. All other results are sizes in bytes. */
/* ALL_OF_IT: the size of the headers is unknown, so the whole packet must be
 * covered. NO_HEADER: the header is truncated or invalid. The function
 * read_rtp () is an exception: it returns NO_HEADER whenever the whole packet
 * must be covered, and never returns ALL_OF_IT. If read_rtp () returns
 * NO_HEADER, the header of the packet may therefore be valid. */
#define NO_HEADER 0
#define ALL_OF_IT G_MAXSIZE

UdpliteFormat
udplite_format_from_rtp (const gchar * encoding_name, gint payload)
{
  static const struct
  {
    const gchar *name;
    gint payload;
    UdpliteFormat format;
  } known[] = {
    {"MPV", RTP_PAYLOAD_MPV, UDPLITE_FORMAT_RTP_MPV},
    {"H263", RTP_PAYLOAD_H263, UDPLITE_FORMAT_RTP_H263},
    {"H263-1998", G_MAXINT, UDPLITE_FORMAT_RTP_H263_1998},
    {"H263-2000", G_MAXINT, UDPLITE_FORMAT_RTP_H263_1998}
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (known); i++) {
    if (encoding_name ? !g_ascii_strcasecmp (encoding_name, known[i].name) :
        payload == known[i].payload)
      return known[i].format;
  }
  return UDPLITE_FORMAT_RTP;
}

/* RTP */

/* Returns the size of the RTP header of a packet. Returns NO_HEADER if the
 * whole packet must be covered, in three cases:
 * - The header is invalid or truncated.
 * - The packet is padded. Its last byte is the size of the padding.
 * - The packet is an RTCP packet. */
static gsize
read_rtp (const guint8 * rtp, gsize size)
{
  gsize header = rtp_header_get_size (rtp, size);

  if (header == 0 || (rtp[0] & 0x20))
    return NO_HEADER;
  if (rtp[1] >= RTCP_MIN_TYPE && rtp[1] <= RTCP_MAX_TYPE)
    return NO_HEADER;
  return header;
}

/* MPEG-1 and MPEG-2 video, RFC 2250 */

/* Finds the end of the video headers, which are at the beginning of a payload
 * (RFC 2250 section 3.1), possibly after zero bytes. They end where the first
 * slice begins. Returns 0 if there are no headers, and ALL_OF_IT if there is no
 * slice. */
static gsize
read_mpv_stream (const guint8 * payload, gsize size, gsize header)
{
  const guint8 *video = payload + header, *end = payload + size;
  const guint8 *code = video;

  while (end - code > 4 && !code[0] && !code[1] && !code[2])
    code++;
  if (end - code < 4 || !mpeg_video_find_start_code (code, code + 4))
    return 0;
  for (; code; code = mpeg_video_find_start_code (code + 4, end)) {
    if (MPEG_VIDEO_CODE_IS_SLICE (code[3]))
      return code - video;
  }
  return ALL_OF_IT;
}

/* H.263, RFC 2190 */

static gsize
read_h263 (const guint8 * payload, gsize size)
{
  if (size == 0)
    return NO_HEADER;
  if (!(payload[0] & 0x80))     /* F */
    return H263_MODE_A_SIZE;
  return payload[0] & 0x40 ? H263_MODE_C_SIZE : H263_MODE_B_SIZE;       /* P */
}

/* Returns the size of an H.263 picture header at the beginning of a payload, or
 * 0 if the payload begins with other data.
 *
 * The payload header (RFC 2190) has a field SBIT, which is the number of bits
 * in the first byte that belong to the previous packet. A picture begins at a
 * byte boundary (H.263 section 5.1.1). If SBIT is not 0, the packet therefore
 * does not begin with a picture. */
static gsize
read_h263_stream (const guint8 * payload, gsize size, gsize header)
{
  const guint8 *video = payload + header;
  gsize left = size - header, picture;

  if (left <= H263_START_CODE_ZEROS)
    return left;
  if (video[0] || video[1] || (payload[0] >> 3 & 7))
    return 0;
  video += H263_START_CODE_ZEROS;
  left -= H263_START_CODE_ZEROS;
  if (!h263_is_picture_start (video, left))
    return 0;
  picture = h263_get_picture_header_size (video, left);
  return picture == H263_HEADER_UNKNOWN ? ALL_OF_IT :
      H263_START_CODE_ZEROS + picture;
}

/* H.263+ and H.263++, RFC 4629 */

static gsize
read_h263_1998 (const guint8 * payload, gsize size)
{
  gsize header = H263_1998_HEADER_SIZE;

  if (size < H263_1998_HEADER_SIZE)
    return NO_HEADER;
  if (payload[0] & 0x02)        /* V: VRC follows */
    header++;
  return header + ((payload[0] & 1) << 5 | payload[1] >> 3);    /* PLEN */
}

/* Returns the size of the picture header with which the video data of a packet
 * begin, or 0 if they do not begin with a picture header. Returns ALL_OF_IT if
 * the size is unknown. The video data follow the payload header (RFC 4629),
 * which has `header` bytes. If the bit P of the payload header is set, the
 * video data begin with a start code, whose two zero bytes were left out. If P
 * is not set, there is no picture header. */
static gsize
read_h263_1998_stream (const guint8 * payload, gsize size, gsize header)
{
  const guint8 *video = payload + header;
  gsize left = size - header, picture;

  if (!(payload[0] & 0x04) || !h263_is_picture_start (video, left))
    return 0;
  picture = h263_get_picture_header_size (video, left);
  return picture == H263_HEADER_UNKNOWN ? ALL_OF_IT : picture;
}

typedef struct
{
  gsize (*read_header) (const guint8 * payload, gsize size);
  /* Returns the size in bytes of the video headers after the payload header, or
   * ALL_OF_IT if the whole payload must be covered. */
  gsize (*read_stream) (const guint8 * payload, gsize size, gsize header);
} Readers;

static gsize
get_needed (const Readers * readers, const guint8 * payload, gsize size,
    guint mark)
{
  gsize header = readers->read_header (payload, size), stream;

  if (header == NO_HEADER || header > size)
    return ALL_OF_IT;
  if (mark != UDPLITE_COVERAGE_ALL)
    return MAX (header, mark);
  stream = readers->read_stream (payload, size, header);
  return stream == ALL_OF_IT ? ALL_OF_IT : header + stream;
}

guint
udplite_coverage_of_payload (UdpliteFormat format, const guint8 * bytes,
    gsize size, guint mark)
{
  static const Readers readers[] = {
    [UDPLITE_FORMAT_RTP_MPV] = {rfc2250_header_measure, read_mpv_stream},
    [UDPLITE_FORMAT_RTP_H263] = {read_h263, read_h263_stream},
    [UDPLITE_FORMAT_RTP_H263_1998] = {read_h263_1998, read_h263_1998_stream}
  };
  gsize header = 0, needed = mark;

  if (format == UDPLITE_FORMAT_SEALED)
    return UDPLITE_COVERAGE_ALL;
  if (format != UDPLITE_FORMAT_UNKNOWN) {
    header = read_rtp (bytes, size);
    if (header == NO_HEADER)
      return UDPLITE_COVERAGE_ALL;
  }
  if (format < G_N_ELEMENTS (readers) && readers[format].read_header)
    needed = get_needed (&readers[format], bytes + header, size - header, mark);
  return needed <= size - header ? header + needed : UDPLITE_COVERAGE_ALL;
}
