/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the reader of video packets against the standards, field by field. The
 * reader must describe video packets correctly and must not take other packets
 * for video.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "videopacket.h"

#define SSRC 0xcafe0001

/* Memory for a packet that is built from its end to its beginning: each call of
 * a function put_* () adds bytes in front of the existing bytes. */
typedef struct
{
  guint8 bytes[4096];
  /* Index in `bytes` of the packet's first byte. */
  gsize first;
} Builder;

static void
clear (Builder * b)
{
  b->first = sizeof (b->bytes);
}

static gsize
get_size (const Builder * b)
{
  return sizeof (b->bytes) - b->first;
}

static guint8 *
get_data (Builder * b)
{
  return b->bytes + b->first;
}

static guint8 *
put (Builder * b, const void *data, gsize size)
{
  g_assert (size <= b->first);
  b->first -= size;
  return memcpy (get_data (b), data, size);
}

static void
set_be16 (guint8 * data, guint value)
{
  data[0] = value >> 8;
  data[1] = value;
}

static const guint8 slice[] = { 0, 0, 1, 1, 0x12, 0x34, 0x56, 0x78 };

/* temporal reference 5, I; 0xffff */
static const guint8 picture_i[] = { 0, 0, 1, 0, 0x01, 0x4f, 0xff, 0xf8 };
static const guint8 gop_closed[] = { 0, 0, 1, 0xb8, 0, 8, 0, 0x40 };
static const guint8 gop_broken[] = { 0, 0, 1, 0xb8, 0, 8, 0, 0x20 };

static const guint8 sequence[] = { 0, 0, 1, 0xb3, 0x16, 0x01, 0x20, 0x13, 0xff,
  0xff, 0xe0, 0xa0
};
static const guint8 extension[] = { 0, 0, 1, 0xb5, 0x14, 0x8a, 0, 1, 0, 0 };

/* RFC 2250 3.4 */
static void
put_video_header (Builder * b, guint type, guint reference)
{
  guint32 word = GUINT32_TO_BE (reference << 16 | type << 8);

  put (b, &word, 4);
}

static guint8 *
put_rtp (Builder * b, guint payload, gboolean marker)
{
  guint8 rtp[12] = { 0x80, payload | marker << 7, 0x12, 0x34, 0, 1, 2, 3,
    SSRC >> 24, SSRC >> 16 & 255, SSRC >> 8 & 255, SSRC & 255
  };

  return put (b, rtp, 12);
}

static guint8 *
put_udp (Builder * b)
{
  guint8 udp[8] = { 0x13, 0x8c, 0x13, 0x8c, };

  set_be16 (udp + 4, get_size (b) + 8);
  return put (b, udp, 8);
}

static guint8 *
put_ipv4 (Builder * b)
{
  guint8 ip[20] = { 0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 77, 0, 1,
    10, 77, 0, 2
  };

  set_be16 (ip + 2, get_size (b) + 20);
  return put (b, ip, 20);
}

static guint8 *
put_ipv6 (Builder * b)
{
  guint8 ip[40] = { 0x60, 0, 0, 0, 0, 0, 17, 64, 0xfd, };

  set_be16 (ip + 4, get_size (b));
  return put (b, ip, 40);
}

/* A packet with slices of a P-frame. */
static void
put_slices (Builder * b)
{
  clear (b);
  put (b, slice, sizeof (slice));
  put_video_header (b, 2, 7);
  put_rtp (b, 32, TRUE);
}

static gboolean
parse_rtp (Builder * b, VideoPacket * packet)
{
  return video_packet_parse_rtp (packet, get_data (b), get_size (b),
      get_size (b), 32);
}

static gboolean
parse_ip (Builder * b, VideoPacket * packet)
{
  return video_packet_parse_ip (packet, get_data (b), get_size (b),
      get_size (b));
}

GST_START_TEST (rtp_header_and_video_header_say_what_it_is)
{
  VideoPacket packet;
  Builder b;

  put_slices (&b);
  fail_unless (parse_rtp (&b, &packet));
  fail_unless_equals_int (packet.type, MPEG_VIDEO_PICTURE_P);
  fail_unless_equals_int (packet.temporal_reference, 7);
  fail_unless_equals_int (packet.sequence, 0x1234);
  fail_unless_equals_int (packet.timestamp, 0x00010203);
  fail_unless (packet.ends && !packet.begins);
  fail_if (packet.closed_gop || packet.broken_link);
}

GST_END_TEST;

GST_START_TEST (headers_at_the_head_begin_a_frame)
{
  VideoPacket packet;
  Builder b;

  clear (&b);
  put (&b, slice, sizeof (slice));
  put (&b, picture_i, sizeof (picture_i));
  put (&b, gop_closed, sizeof (gop_closed));
  put (&b, extension, sizeof (extension));
  put (&b, sequence, sizeof (sequence));
  put_video_header (&b, 1, 5);
  put_rtp (&b, 32, FALSE);
  fail_unless (parse_rtp (&b, &packet));
  fail_unless (packet.begins && !packet.ends);
  fail_unless (packet.closed_gop && !packet.broken_link);
  fail_unless_equals_int (packet.type, MPEG_VIDEO_PICTURE_I);

  clear (&b);
  put (&b, gop_broken, sizeof (gop_broken));
  put_video_header (&b, 1, 5);
  put_rtp (&b, 32, FALSE);
  fail_unless (parse_rtp (&b, &packet));
  fail_unless (packet.begins && packet.broken_link && !packet.closed_gop);
}

GST_END_TEST;

/* The packet contains a picture header, a slice, and then a GOP header with the
 * flag closed_gop. The reader must ignore the GOP header, because it reads only
 * the headers before the first slice of a packet. */
GST_START_TEST (headers_behind_slices_are_not_read)
{
  VideoPacket packet;
  Builder b;

  clear (&b);
  put (&b, gop_closed, sizeof (gop_closed));
  put (&b, slice, sizeof (slice));
  put (&b, picture_i, sizeof (picture_i));
  put_video_header (&b, 1, 5);
  put_rtp (&b, 32, FALSE);
  fail_unless (parse_rtp (&b, &packet));
  fail_unless (packet.begins && !packet.closed_gop);
}

GST_END_TEST;

/* The payloader rtpmpvpay sets all fields of the RFC 2250 header to 0. For such
 * a packet, the reader must take the picture type and the temporal reference
 * from the picture header in the payload. If the payload has no picture header,
 * the picture type is unknown. */
GST_START_TEST (an_empty_video_header_leaves_it_to_the_picture_header)
{
  VideoPacket packet;
  Builder b;

  clear (&b);
  put (&b, picture_i, sizeof (picture_i));
  put_video_header (&b, 0, 0);
  put_rtp (&b, 32, FALSE);
  fail_unless (parse_rtp (&b, &packet));
  fail_unless (packet.begins);
  fail_unless_equals_int (packet.type, MPEG_VIDEO_PICTURE_I);
  fail_unless_equals_int (packet.temporal_reference, 5);

  clear (&b);
  put (&b, slice, sizeof (slice));
  put_video_header (&b, 0, 0);
  put_rtp (&b, 32, FALSE);
  fail_unless (parse_rtp (&b, &packet));
  fail_if (packet.begins);
  fail_unless_equals_int (packet.type, MPEG_VIDEO_PICTURE_UNKNOWN);
}

GST_END_TEST;

/* T, with E and D: RFC 2250 3.4.1 */
GST_START_TEST (the_mpeg2_extension_is_skipped)
{
  const guint8 more[8] = { 2, };
  const guint8 composite[4] = { 0, };
  const guint8 extended[4] = { 0x40, 0, 0, 0x01 };
  VideoPacket packet;
  Builder b;

  clear (&b);
  put (&b, picture_i, sizeof (picture_i));
  put (&b, more, sizeof (more));
  put (&b, composite, sizeof (composite));
  put (&b, extended, sizeof (extended));
  put_video_header (&b, 1, 5);
  get_data (&b)[0] |= 0x04;
  put_rtp (&b, 32, FALSE);
  fail_unless (parse_rtp (&b, &packet));
  fail_unless (packet.begins);
  /* If the length field of the MPEG-2 extension exceeds the packet, the packet
   * must be refused. */
  get_data (&b)[12 + 4 + 8] = 200;
  fail_if (parse_rtp (&b, &packet));
}

GST_END_TEST;

GST_START_TEST (sources_and_extensions_of_rtp_are_skipped)
{
  const guint8 sources[8] = { 1, };
  const guint8 extended[8] = { 0xbe, 0xde, 0, 1, };
  VideoPacket packet;
  Builder b, inner;
  guint8 rtp[12];

  put_slices (&inner);
  memcpy (rtp, get_data (&inner), 12);
  rtp[0] |= 0x12;
  clear (&b);
  put (&b, get_data (&inner) + 12, get_size (&inner) - 12);
  put (&b, extended, sizeof (extended));
  put (&b, sources, sizeof (sources));
  put (&b, rtp, 12);
  fail_unless (parse_rtp (&b, &packet));
  fail_unless_equals_int (packet.type, MPEG_VIDEO_PICTURE_P);
  /* If the RTP extension exceeds the packet, the packet must be refused. */
  get_data (&b)[12 + 8 + 2] = 1;
  fail_if (parse_rtp (&b, &packet));
}

GST_END_TEST;

GST_START_TEST (invalid_rfc2250_packet_is_rejected)
{
  VideoPacket packet;
  Builder b;
  guint8 *rtp;

  put_slices (&b);
  rtp = get_data (&b);
  rtp[0] = 0x40;                /* version 1 */
  fail_if (parse_rtp (&b, &packet));
  rtp[0] = 0x80;
  rtp[1] = 96;                  /* another payload type */
  fail_if (parse_rtp (&b, &packet));
  fail_unless (video_packet_parse_rtp (&packet, rtp, get_size (&b),
          get_size (&b), VIDEO_PACKET_ANY_TYPE));
  rtp[1] = 32;
  rtp[12] = 0x08;               /* MBZ */
  fail_if (parse_rtp (&b, &packet));
  rtp[12] = 0;
  rtp[14] = 5;                  /* 5 is no valid picture type. */
  fail_if (parse_rtp (&b, &packet));
  /* The picture type 0 is valid only if all fields of the video-specific header
   * are 0. This packet has the type 0, but its temporal reference is not 0, so
   * it must be rejected. */
  rtp[14] = 0;
  fail_if (parse_rtp (&b, &packet));
}

GST_END_TEST;

GST_START_TEST (every_truncation_is_refused_or_read_within_bounds)
{
  Builder b;
  gsize size;

  put_slices (&b);
  put_udp (&b);
  put_ipv4 (&b);
  for (size = 0; size < get_size (&b); size++) {
    guint8 *copy = g_memdup2 (get_data (&b), size);
    VideoPacket packet;

    /* First call: the packet is shorter than its length fields say, so it must
     * be refused. Second call: the caller says that the data are only the
     * beginning of a longer packet. Such a packet must be accepted if the data
     * contain all headers. */
    fail_if (video_packet_parse_ip (&packet, copy, size, size));
    fail_unless (video_packet_parse_ip (&packet, copy, size,
            get_size (&b)) == (size >= 20 + 8 + 12 + 4));
    g_free (copy);
  }
}

GST_END_TEST;

GST_START_TEST (udp_over_ipv4_and_ipv6_is_read)
{
  VideoPacket four, six, other;
  Builder b;

  put_slices (&b);
  put_udp (&b);
  put_ipv4 (&b);
  fail_unless (parse_ip (&b, &four));
  fail_unless_equals_int (four.type, MPEG_VIDEO_PICTURE_P);
  fail_unless_equals_int (four.sequence, 0x1234);
  /* A packet with another UDP destination port belongs to another stream, even
   * if all its other fields are equal. */
  get_data (&b)[23] = 1;
  fail_unless (parse_ip (&b, &other));
  fail_if (four.stream == other.stream);

  put_slices (&b);
  put_udp (&b);
  put_ipv6 (&b);
  fail_unless (parse_ip (&b, &six));
  fail_unless_equals_int (six.timestamp, four.timestamp);
  fail_if (six.stream == four.stream);
}

GST_END_TEST;

/* In the header of UDP-Lite, the coverage field replaces the length field of
 * UDP (RFC 3828). The parser must not take the coverage of 8 bytes for the
 * length of the packet. */
GST_START_TEST (udp_lite_is_read)
{
  VideoPacket packet;
  Builder b;

  put_slices (&b);
  set_be16 (put_udp (&b) + 4, 8);
  put_ipv4 (&b)[9] = 136;
  fail_unless (parse_ip (&b, &packet));
}

GST_END_TEST;

typedef struct
{
  const gchar *what;
  gsize offset;
  guint8 value;
} Change;

static void
refuse_each (Builder * b, const Change * changes, guint n)
{
  VideoPacket packet;
  guint i;

  fail_unless (parse_ip (b, &packet));
  for (i = 0; i < n; i++) {
    guint8 *byte = get_data (b) + changes[i].offset, before = *byte;

    *byte = changes[i].value;
    fail_if (parse_ip (b, &packet), "%s", changes[i].what);
    *byte = before;
  }
}

GST_START_TEST (fragments_and_lying_lengths_are_none)
{
  const Change v4[] = {
    {"version", 0, 0x55}, {"header of 16 bytes", 0, 0x44},
    {"header of 60 bytes", 0, 0x4f}, {"more fragments", 6, 0x20},
    {"fragment offset", 7, 1}, {"TCP", 9, 6},
    {"length beyond the packet", 2, 4}, {"length below the header", 3, 19},
    {"length without UDP", 3, 27}, {"UDP length beyond", 24, 1},
    {"UDP length below its header", 25, 7}
  };
  const Change v6[] = {
    {"version", 0, 0x70}, {"hop-by-hop header", 6, 0}, {"fragment", 6, 44},
    {"length beyond the packet", 4, 4}, {"length of a jumbogram", 5, 0},
    {"UDP length beyond", 44, 1}
  };
  Builder b;

  put_slices (&b);
  put_udp (&b);
  put_ipv4 (&b);
  refuse_each (&b, v4, G_N_ELEMENTS (v4));
  put_slices (&b);
  put_udp (&b);
  put_ipv6 (&b);
  refuse_each (&b, v6, G_N_ELEMENTS (v6));
}

GST_END_TEST;

GST_START_TEST (a_frame_has_its_picture_header)
{
  VideoPacket packet;
  Builder b;

  clear (&b);
  put (&b, slice, sizeof (slice));
  put (&b, picture_i, sizeof (picture_i));
  fail_unless (video_packet_parse_frame (&packet, get_data (&b),
          get_size (&b)));
  fail_unless (packet.begins && packet.ends);
  fail_unless_equals_int (packet.type, MPEG_VIDEO_PICTURE_I);
  fail_if (video_packet_parse_frame (&packet, slice, sizeof (slice)));
  fail_if (video_packet_parse_frame (&packet, gop_closed, sizeof (gop_closed)));
}

GST_END_TEST;

static Suite *
videopacket_suite (void)
{
  Suite *s = suite_create ("videopacket");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, rtp_header_and_video_header_say_what_it_is);
  tcase_add_test (tc, headers_at_the_head_begin_a_frame);
  tcase_add_test (tc, headers_behind_slices_are_not_read);
  tcase_add_test (tc, an_empty_video_header_leaves_it_to_the_picture_header);
  tcase_add_test (tc, the_mpeg2_extension_is_skipped);
  tcase_add_test (tc, sources_and_extensions_of_rtp_are_skipped);
  tcase_add_test (tc, invalid_rfc2250_packet_is_rejected);
  tcase_add_test (tc, every_truncation_is_refused_or_read_within_bounds);
  tcase_add_test (tc, udp_over_ipv4_and_ipv6_is_read);
  tcase_add_test (tc, udp_lite_is_read);
  tcase_add_test (tc, fragments_and_lying_lengths_are_none);
  tcase_add_test (tc, a_frame_has_its_picture_header);
  return s;
}

GST_CHECK_MAIN (videopacket);
