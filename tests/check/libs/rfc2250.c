/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the cores of RFC 2250: the codec of the header, the packer, the
 * unpacker and the reordering. The expected bytes and packets were worked out
 * by hand from the RFC.
 */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "streambuilder.h"
#include "rfc2250packer.h"
#include "rfc2250unpacker.h"
#include "rtpreorder.h"

#define NONE MPEG_VIDEO_TIME_NONE

/* --- header -------------------------------------------------------------- */

GST_START_TEST (header_bits)
{
  const struct
  {
    Rfc2250Header header;
    const gchar *bytes;
  } vectors[] = {
    {{.tr = 0x3ff}, "\x03\xff\x00\x00"},
    {{.an = 1}, "\x00\x00\x80\x00"},
    {{.n = 1}, "\x00\x00\x40\x00"},
    {{.s = 1}, "\x00\x00\x20\x00"},
    {{.b = 1}, "\x00\x00\x10\x00"},
    {{.e = 1}, "\x00\x00\x08\x00"},
    {{.p = 3}, "\x00\x00\x03\x00"},
    {{.fbv = 1}, "\x00\x00\x00\x80"},
    {{.bfc = 7}, "\x00\x00\x00\x70"},
    {{.ffv = 1}, "\x00\x00\x00\x08"},
    {{.ffc = 7}, "\x00\x00\x00\x07"},
    /* Header of the only packet of a B-picture. It contains the temporal
     * reference (TR) 258, the bits B (a slice begins) and E (a slice ends), the
     * picture type 3, backward_f_code (BFC) 2 and forward_f_code (FFC) 5. */
    {{.tr = 258,.b = 1,.e = 1,.p = 3,.bfc = 2,.ffc = 5}, "\x01\x02\x1b\x25"},
  };
  guint8 bytes[RFC2250_MAX_HEADER_SIZE];
  Rfc2250Header parsed;
  gsize size;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (vectors); i++) {
    fail_unless_equals_int (rfc2250_header_write (&vectors[i].header, bytes),
        4);
    fail_unless (memcmp (bytes, vectors[i].bytes, 4) == 0, "vector %u", i);
    fail_unless (rfc2250_header_parse (&parsed, bytes, 4, &size) ==
        RFC2250_HEADER_OK);
    fail_unless_equals_int (size, 4);
    fail_unless (memcmp (&parsed, &vectors[i].header, sizeof (parsed)) == 0);
  }
}

GST_END_TEST;

GST_START_TEST (header_extension_bits)
{
  /* An RFC 2250 header with all extensions. It consists of these parts:
   * - the header itself, in which only the bit T (an MPEG-2 extension follows)
   *   is set;
   * - the MPEG-2 extension: X = 0; E = 1 (other extensions follow); the f_codes
   *   1, 2, 3 and 4; DC = 2; PS = 3; the bits T P C Q V A R H G with the values
   *   1 0 1 0 1 0 1 0 1; D = 1 (a composite display follows);
   * - the composite display;
   * - the other extensions, two words of four bytes each. The first byte is the
   *   number of words, 2. The bytes 00 00 01 b5 40 follow, and then two bytes
   *   of padding. */
  const guint8 bytes[] = { 0x04, 0x00, 0x00, 0x00,
    0x44, 0x8d, 0x2e, 0xab, 0x00, 0x0a, 0xbc, 0xde,
    0x02, 0x00, 0x00, 0x01, 0xb5, 0x40, 0x00, 0x00
  };
  const guint8 extension[] = { 0, 0, 1, 0xb5, 0x40 };
  guint8 written[RFC2250_MAX_HEADER_SIZE];
  Rfc2250Header header;
  gsize size, i;

  fail_unless (rfc2250_header_parse (&header, bytes, sizeof (bytes), &size) ==
      RFC2250_HEADER_OK);
  fail_unless_equals_int (size, sizeof (bytes));
  fail_unless_equals_int (header.extension.f_code[0][0], 1);
  fail_unless_equals_int (header.extension.f_code[0][1], 2);
  fail_unless_equals_int (header.extension.f_code[1][0], 3);
  fail_unless_equals_int (header.extension.f_code[1][1], 4);
  fail_unless_equals_int (header.extension.intra_dc_precision, 2);
  fail_unless_equals_int (header.extension.structure, 3);
  fail_unless (header.extension.top_field_first);
  fail_unless (!header.extension.frame_pred_frame_dct);
  fail_unless (header.extension.concealment_motion_vectors);
  fail_unless (!header.extension.q_scale_type);
  fail_unless (header.extension.intra_vlc_format);
  fail_unless (!header.extension.alternate_scan);
  fail_unless (header.extension.repeat_first_field);
  fail_unless (!header.extension.chroma_420_type);
  fail_unless (header.extension.progressive_frame);
  fail_unless (header.extension.composite_display);
  fail_unless_equals_int (header.extension.composite_display_bits, 0xabcde);
  fail_unless_equals_int (header.extensions_size, 7);
  fail_unless (memcmp (header.extensions, extension, 5) == 0);

  header.extensions = extension;
  header.extensions_size = 5;
  fail_unless_equals_int (rfc2250_header_write (&header, written),
      sizeof (bytes));
  fail_unless (memcmp (written, bytes, sizeof (bytes)) == 0);

  for (i = 0; i < sizeof (bytes); i++)
    fail_unless (rfc2250_header_parse (&header, bytes, i, &size) ==
        RFC2250_HEADER_SHORT);
}

GST_END_TEST;

GST_START_TEST (header_forbidden_values)
{
  const struct
  {
    const gchar *bytes;
    Rfc2250HeaderResult result;
  } vectors[] = {
    {"\x08\0\0\0\0\0\x0c\0", RFC2250_HEADER_BAD_MBZ},
    {"\x80\0\0\0\0\0\x0c\0", RFC2250_HEADER_BAD_MBZ},
    {"\x04\0\0\0\x80\0\x0c\0", RFC2250_HEADER_BAD_MBZ},
    {"\x04\0\0\0\0\0\0\0", RFC2250_HEADER_BAD_EXTENSION},
    {"\x04\0\0\0\x40\0\x0c\0\0", RFC2250_HEADER_BAD_EXTENSION},
    {"\x04\0\0\0\x40\0\x0c\0\1", RFC2250_HEADER_SHORT},
  };
  Rfc2250Header header;
  gsize size;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (vectors); i++)
    fail_unless (rfc2250_header_parse (&header,
            (const guint8 *) vectors[i].bytes, i < 4 ? 8 : 9, &size) ==
        vectors[i].result, "vector %u", i);
}

GST_END_TEST;

/* --- packer -------------------------------------------------------------- */

/* Packs one picture with slices of the given sizes. Returns one word for each
 * packet, such as "BE:300": letters, a colon and the number of bytes. The
 * letters S (sequence header), B (a slice begins) and E (a slice ends) stand
 * for bits of the header of RFC 2250. M stands for the RTP marker bit. */
static gchar *
pack_slices (const guint * sizes, Rfc2250AggregateMode mode, gsize max_payload)
{
  MpegVideoFramerConfig framer_config = { 0, FALSE };
  MpegVideoFramer *framer = mpeg_video_framer_new (&framer_config);
  Rfc2250Packer *packer = rfc2250_packer_new ();
  Rfc2250PackerConfig config = { mode };
  GString *packets = g_string_new (NULL);
  MpegPicture p = {.type = 'I' };
  Rfc2250Packet packet;
  MpegVideoFrame frame;
  MpegStream stream;
  gsize offset = 0;
  guint i;

  mpeg_stream_init (&stream);
  mpeg_picture_header (&stream, &p);    /* 8 bytes */
  mpeg_picture_extension (&stream, &p); /* 9 bytes */
  for (i = 0; sizes[i]; i++)
    mpeg_slice (&stream, i + 1, sizes[i], i);
  fail_unless (mpeg_video_framer_input_frame (framer, stream.bytes->data,
          stream.bytes->len, NONE, NONE, &frame));
  rfc2250_packer_set_config (packer, &config);
  rfc2250_packer_input (packer, &frame, frame.data, 0, max_payload);
  while (rfc2250_packer_poll_output (packer, &packet)) {
    g_string_append_printf (packets, "%s%s%s%s%s:%u",
        packets->len ? " " : "", packet.header[2] & 0x20 ? "S" : "",
        packet.header[2] & 0x10 ? "B" : "", packet.header[2] & 0x08 ? "E" : "",
        packet.marker ? "M" : "", (guint) packet.size);
    fail_unless_equals_int (packet.offset, offset);
    fail_unless_equals_int (packet.header_size, 4);
    fail_unless (packet.header_size + packet.size <= max_payload);
    fail_unless_equals_int (packet.coverage, offset == 0 ? 21 : 4);
    offset += packet.size;
  }
  fail_unless_equals_int (offset, stream.bytes->len);
  mpeg_video_frame_clear (&frame);
  mpeg_stream_clear (&stream);
  rfc2250_packer_free (packer);
  mpeg_video_framer_free (framer);
  return g_string_free (packets, FALSE);
}

static void
assert_packets (const guint * sizes, Rfc2250AggregateMode mode,
    const gchar * expected)
{
  gchar *packets = pack_slices (sizes, mode, 304);

  fail_unless_equals_string (packets, expected);
  g_free (packets);
}

/* Each packet has room for 300 bytes of the stream. The first packet begins
 * with the headers of the picture, which have 17 bytes, so 283 bytes remain for
 * slices. */
GST_START_TEST (slices_share_packets_while_they_fit)
{
  const guint sizes[] = { 100, 100, 83, 100, 200, 10, 290, 0 };

  assert_packets (sizes, RFC2250_AGGREGATE_SLICES, "BE:300 BE:300 BEM:300");
  assert_packets (sizes, RFC2250_AGGREGATE_FILL, "BE:300 BE:300 BEM:300");
  assert_packets (sizes, RFC2250_AGGREGATE_NONE,
      "BE:117 BE:100 BE:83 BE:100 BE:200 BE:10 BEM:290");
}

GST_END_TEST;

GST_START_TEST (large_slices_are_split_with_b_and_e)
{
  const guint sizes[] = { 50, 700, 20, 0 };

  /* In the mode RFC2250_AGGREGATE_SLICES, a packet that contains the last part
   * of a split slice must not contain another slice. The next slice therefore
   * begins a new packet. */
  assert_packets (sizes, RFC2250_AGGREGATE_SLICES,
      "BE:67 B:300 :300 E:100 BEM:20");
  /* In the mode RFC2250_AGGREGATE_FILL, the slice of 700 bytes begins in the
   * first packet, which has 233 bytes left. The stream then needs four packets.
   * In the mode RFC2250_AGGREGATE_SLICES, it would need five. */
  assert_packets (sizes, RFC2250_AGGREGATE_FILL, "B:300 :300 E:167 BEM:20");
}

GST_END_TEST;

GST_START_TEST (fill_splits_only_where_it_saves_a_packet)
{
  /* Both streams begin with a slice of 250 bytes, after which the first packet
   * has 33 bytes left. Each further packet has room for 300 bytes.
   *
   * In the stream `no_gain`, the next slice has 590 bytes. It needs two more
   * packets, whether it uses the 33 bytes or not. It must therefore begin in a
   * new packet.
   *
   * In the stream `gain`, the next slice has 630 bytes. If it uses the 33
   * bytes, the other 597 bytes need two more packets. If it does not, its 630
   * bytes need three more packets. It must therefore begin in the first packet.
   */
  const guint no_gain[] = { 250, 590, 0 };
  const guint gain[] = { 250, 630, 0 };

  assert_packets (no_gain, RFC2250_AGGREGATE_FILL, "BE:267 B:300 EM:290");
  assert_packets (gain, RFC2250_AGGREGATE_FILL, "B:300 :300 EM:297");
  assert_packets (gain, RFC2250_AGGREGATE_SLICES, "BE:267 B:300 :300 EM:30");
}

GST_END_TEST;

/* The headers of the picture must be in the same packet as the beginning of the
 * first slice. A packet with only the headers would have none of the bits S
 * (sequence header), B and E (a slice begins or ends) in its RFC 2250 header.
 * The media server mediamtx refuses such packets. */
GST_START_TEST (headers_travel_with_the_first_slice)
{
  const guint sizes[] = { 290, 30, 0 };

  assert_packets (sizes, RFC2250_AGGREGATE_SLICES, "B:300 E:7 BEM:30");
}

GST_END_TEST;

/* --- streams through packer and unpacker ---------------------------------- */

typedef struct
{
  guint8 *data;
  gsize size;
  gboolean marker;
  guint64 rtptime;
} Packet;

static void
packet_clear (gpointer data)
{
  g_free (((Packet *) data)->data);
}

/* Packs a stream into RTP payloads (RFC 2250) and returns them. Each frame has
 * its own timestamp. */
static GArray *
pack_stream (MpegStream * stream, const Rfc2250PackerConfig * config,
    gsize max_payload, Rfc2250PackerStats * stats)
{
  MpegVideoFramerConfig framer_config = { 0, FALSE };
  MpegVideoFramer *framer = mpeg_video_framer_new (&framer_config);
  Rfc2250Packer *packer = rfc2250_packer_new ();
  GArray *packets = g_array_new (FALSE, TRUE, sizeof (Packet));
  MpegVideoFrame frame;
  Rfc2250Packet packet;
  guint n;

  g_array_set_clear_func (packets, packet_clear);
  rfc2250_packer_set_config (packer, config);
  mpeg_video_framer_input (framer, stream->bytes->data, stream->bytes->len,
      NONE, NONE);
  mpeg_video_framer_drain (framer);
  for (n = 0; mpeg_video_framer_poll_output (framer, &frame); n++) {
    rfc2250_packer_input (packer, &frame, frame.data,
        n * G_GUINT64_CONSTANT (500000000), max_payload);
    while (rfc2250_packer_poll_output (packer, &packet)) {
      GByteArray *bytes = g_byte_array_new ();
      Packet out = { NULL, 0, packet.marker, n * 3600 };

      g_byte_array_append (bytes, packet.header, packet.header_size);
      if (packet.inject) {
        GBytes *sequence = rfc2250_packer_get_sequence (packer);

        g_byte_array_append (bytes, g_bytes_get_data (sequence, NULL),
            g_bytes_get_size (sequence));
      }
      g_byte_array_append (bytes, frame.data + packet.offset, packet.size);
      out.size = bytes->len;
      out.data = g_byte_array_free (bytes, FALSE);
      fail_unless (out.size <= max_payload);
      g_array_append_val (packets, out);
    }
    g_free (frame.data);
    mpeg_video_frame_clear (&frame);
  }
  if (stats)
    rfc2250_packer_get_stats (packer, stats);
  rfc2250_packer_free (packer);
  mpeg_video_framer_free (framer);
  return packets;
}

/* Passes the packets to the unpacker, except those for which `drop` is TRUE,
 * and returns its output. If `drop` is NULL, no packet is dropped. */
static GByteArray *
unpack (GArray * packets, Rfc2250OnLoss on_loss, const gboolean * drop,
    Rfc2250UnpackerStats * stats)
{
  Rfc2250Unpacker *unpacker = rfc2250_unpacker_new ();
  GByteArray *bytes = g_byte_array_new ();
  Rfc2250UnpackedFrame frame;
  gboolean gap = FALSE;
  guint i;

  rfc2250_unpacker_set_config (unpacker, on_loss, 100000);
  for (i = 0; i <= packets->len; i++) {
    if (i < packets->len) {
      const Packet *p = &g_array_index (packets, Packet, i);
      Rfc2250Payload payload =
          { p->data, p->size, p->marker, gap, p->rtptime, NONE
      };

      if (drop && drop[i]) {
        gap = TRUE;
        continue;
      }
      gap = FALSE;
      rfc2250_unpacker_input (unpacker, &payload);
    } else {
      rfc2250_unpacker_drain (unpacker);
    }
    while (rfc2250_unpacker_poll_output (unpacker, &frame)) {
      g_byte_array_append (bytes, frame.data, frame.size);
      g_free (frame.data);
    }
  }
  if (stats)
    rfc2250_unpacker_get_stats (unpacker, stats);
  rfc2250_unpacker_free (unpacker);
  return bytes;
}

static void
assert_bytes (GByteArray * got, const guint8 * data, gsize size)
{
  fail_unless_equals_int (got->len, size);
  fail_unless (memcmp (got->data, data, size) == 0);
  g_byte_array_unref (got);
}

#define PLAN "|c I0 P3 B1 B2 | I2 B0 B1 P5 B3 B4"

GST_START_TEST (streams_come_back_bit_for_bit)
{
  gint mode, extension, bits, mpeg1;
  MpegStream stream;

  for (mpeg1 = 0; mpeg1 < 2; mpeg1++) {
    mpeg_stream_init (&stream);
    mpeg_stream_add (&stream, PLAN, mpeg1, NULL);
    mpeg_code (&stream, 0xb7);
    for (mode = 0; mode < 3; mode++)
      for (extension = 0; extension < 2; extension++)
        for (bits = 0; bits < 2; bits++) {
          Rfc2250PackerConfig config = { mode, extension, bits, 0 };
          GArray *packets = pack_stream (&stream, &config, 280, NULL);

          assert_bytes (unpack (packets, RFC2250_ON_LOSS_DROP_FRAME, NULL,
                  NULL), stream.bytes->data, stream.bytes->len);
          assert_bytes (unpack (packets, RFC2250_ON_LOSS_CONCEAL, NULL, NULL),
              stream.bytes->data, stream.bytes->len);
          g_array_unref (packets);
        }
    mpeg_stream_clear (&stream);
  }
}

GST_END_TEST;

/* In the input, a sequence end code and padding with zeros follow the last
 * frame. The unpacker must output them unchanged. In each frame, only the
 * packet with the last slice may have the RTP marker bit. */
GST_START_TEST (stuffing_behind_the_end_code_comes_back)
{
  Rfc2250PackerConfig config = { RFC2250_AGGREGATE_SLICES };
  const guint8 zeros[1000] = { 0 };
  Rfc2250UnpackerStats stats;
  MpegStream stream;
  GArray *packets;
  guint i, markers = 0;

  mpeg_stream_init (&stream);
  mpeg_stream_add (&stream, PLAN, FALSE, NULL);
  mpeg_code (&stream, 0xb7);
  g_byte_array_append (stream.bytes, zeros, sizeof (zeros));
  packets = pack_stream (&stream, &config, 280, NULL);
  for (i = 0; i < packets->len; i++)
    markers += g_array_index (packets, Packet, i).marker;
  fail_unless_equals_int (markers, 10);
  assert_bytes (unpack (packets, RFC2250_ON_LOSS_DROP_FRAME, NULL, &stats),
      stream.bytes->data, stream.bytes->len);
  fail_unless_equals_uint64 (stats.frames, 10);
  fail_unless_equals_uint64 (stats.frames_dropped, 0);
  g_array_unref (packets);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

GST_START_TEST (second_field_has_its_own_header)
{
  MpegPicture first = {.type = 'I',.tr = 5,.structure = 1,.rows = 1 };
  MpegPicture second = {.type = 'P',.tr = 5,.structure = 2,.rows = 1 };
  Rfc2250PackerConfig config = { RFC2250_AGGREGATE_SLICES };
  const Packet *p;
  GArray *packets;
  MpegStream stream;

  mpeg_stream_init (&stream);
  mpeg_sequence (&stream, 32, 32, 3, TRUE, FALSE, FALSE);
  mpeg_picture (&stream, &first);
  mpeg_picture (&stream, &second);
  packets = pack_stream (&stream, &config, 1000, NULL);
  fail_unless_equals_int (packets->len, 2);
  p = &g_array_index (packets, Packet, 0);
  /* Expected RFC 2250 header of the first field: temporal reference (TR) 5, the
   * bits S, B and E, picture type 1 (I), and 0 in the fields for motion
   * vectors. The RTP marker bit is not set, because the frame continues with
   * the second field. */
  fail_unless (memcmp (p->data, "\x00\x05\x39\x00", 4) == 0);
  fail_unless (!p->marker);
  p = &g_array_index (packets, Packet, 1);
  /* Expected RFC 2250 header of the second field: temporal reference (TR) 5,
   * the bits B and E, picture type 2 (P), and forward_f_code (FFC) 7. The field
   * backward_f_code (BFC) is 0, because this is a P-picture. */
  fail_unless (memcmp (p->data, "\x00\x05\x1a\x07", 4) == 0);
  fail_unless (p->marker);
  assert_bytes (unpack (packets, RFC2250_ON_LOSS_DROP_FRAME, NULL, NULL),
      stream.bytes->data, stream.bytes->len);
  g_array_unref (packets);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

/* RFC 2250 section 3.4: the bit N of the RFC 2250 header says that the picture
 * header is new. It is set when the picture header differs from that of the
 * last picture of the same type. */
GST_START_TEST (n_tells_of_new_picture_headers)
{
  const struct
  {
    MpegPicture picture;
    gboolean n;
  } pictures[] = {
    {{.type = 'I',.tr = 0}, TRUE},
    {{.type = 'P',.tr = 1}, TRUE},
    {{.type = 'P',.tr = 2}, FALSE},
    {{.type = 'I',.tr = 3}, FALSE},
    {{.type = 'P',.tr = 4,.f_code = 5}, TRUE},
    {{.type = 'P',.tr = 5,.f_code = 5}, FALSE},
    {{.type = 'P',.tr = 6,.tff = TRUE,.f_code = 5}, TRUE},
  };
  Rfc2250PackerConfig config = { RFC2250_AGGREGATE_NONE, FALSE, TRUE, 0 };
  GArray *packets;
  MpegStream stream;
  guint i;

  mpeg_stream_init (&stream);
  mpeg_sequence (&stream, 32, 32, 3, TRUE, TRUE, FALSE);
  for (i = 0; i < G_N_ELEMENTS (pictures); i++)
    mpeg_picture (&stream, &pictures[i].picture);
  packets = pack_stream (&stream, &config, 300, NULL);
  fail_unless_equals_int (packets->len, 2 * G_N_ELEMENTS (pictures));
  for (i = 0; i < packets->len; i++)
    fail_unless_equals_int (g_array_index (packets, Packet, i).data[2] & 0xc0,
        pictures[i / 2].n ? 0xc0 : 0x80);
  g_array_unref (packets);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

GST_START_TEST (sequence_header_is_repeated_at_intervals)
{
  /* The stream has a frame every half second and an I-frame every two seconds.
   */
  const struct
  {
    gint interval;
    guint injected;
  } cases[] = { {0, 0}, {-1, 4}, {1, 4}, {3, 2}, {100, 0} };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    Rfc2250PackerConfig config = { RFC2250_AGGREGATE_SLICES, FALSE, FALSE,
      cases[i].interval
    };
    Rfc2250PackerStats stats;
    GArray *packets;
    MpegStream stream;
    guint with_s = 0;

    mpeg_stream_init (&stream);
    mpeg_sequence (&stream, 32, 32, 3, TRUE, TRUE, FALSE);
    mpeg_stream_add (&stream, "I0 P1 P2 P3 I4 P5 P6 P7 I8 P9 P10 P11 I12 P13 "
        "P14 P15 I16", FALSE, NULL);
    packets = pack_stream (&stream, &config, 300, &stats);
    fail_unless_equals_uint64 (stats.injected, cases[i].injected);
    for (k = 0; k < packets->len; k++) {
      const Packet *p = &g_array_index (packets, Packet, k);

      with_s += (p->data[2] & 0x20) != 0;
      /* The bit S must be set if and only if the packet contains a sequence
       * header.
       */
      fail_unless_equals_int ((p->data[2] & 0x20) != 0,
          memcmp (p->data + 4, "\0\0\1\xb3", 4) == 0);
    }
    fail_unless_equals_int (with_s, 1 + cases[i].injected);
    g_array_unref (packets);
    mpeg_stream_clear (&stream);
  }
}

GST_END_TEST;

/* If a picture has an extension that loads quantiser matrices, the packer must
 * not repeat the sequence header. A repeated sequence header would reset the
 * matrices. */
GST_START_TEST (no_repetition_over_downloaded_matrices)
{
  MpegPicture p = {.type = 'I' };
  Rfc2250PackerConfig config = { RFC2250_AGGREGATE_SLICES, FALSE, FALSE, -1 };
  Rfc2250PackerStats stats;
  MpegStream stream;
  GArray *packets;

  mpeg_stream_init (&stream);
  mpeg_sequence (&stream, 32, 32, 3, TRUE, TRUE, FALSE);
  mpeg_picture_header (&stream, &p);
  mpeg_picture_extension (&stream, &p);
  mpeg_code (&stream, 0xb5);
  mpeg_put (&stream, 8, 0x30);
  mpeg_slice (&stream, 1, 20, 1);
  mpeg_slice (&stream, 2, 20, 1);
  mpeg_stream_add (&stream, "I1", FALSE, NULL);
  packets = pack_stream (&stream, &config, 300, &stats);
  fail_unless_equals_uint64 (stats.injected, 0);
  fail_unless_equals_uint64 (stats.not_injected, 1);
  g_array_unref (packets);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

/* --- loss ---------------------------------------------------------------- */

/* Makes a stream of frames of about 1000 bytes, which need three to five
 * packets of 300 bytes each. */
static void
make_lossy_stream (MpegStream * stream, GArray * marks, gboolean mpeg1)
{
  const gchar *types = "IPBBIBBPBB";
  const guint trs[] = { 0, 3, 1, 2, 2, 0, 1, 5, 3, 4 };
  guint i, start;

  mpeg_stream_init (stream);
  for (i = 0; i < 10; i++) {
    MpegPicture p = {.type = types[i],.tr = trs[i],.slice_size = 150,.rows = 6,
      .mpeg1 = mpeg1,.progressive = TRUE
    };

    mpeg_align (stream);
    start = stream->bytes->len;
    g_array_append_val (marks, start);
    if (types[i] == 'I') {
      mpeg_sequence (stream, 32, 96, 3, !mpeg1, TRUE, FALSE);
      mpeg_gop (stream, i, i == 0);
    }
    mpeg_picture (stream, &p);
  }
  mpeg_align (stream);
  g_array_append_val (marks, stream->bytes->len);
}

/* One, two or three adjacent packets are lost, at each position. The unpacker
 * must output exactly the frames of which no packet was lost. */
GST_START_TEST (drop_frame_emits_exactly_what_lost_nothing)
{
  GArray *marks = g_array_new (FALSE, FALSE, sizeof (guint));
  Rfc2250PackerConfig config = { RFC2250_AGGREGATE_SLICES };
  MpegStream stream;
  GArray *packets;
  guint count, first, i;

  make_lossy_stream (&stream, marks, FALSE);
  packets = pack_stream (&stream, &config, 400, NULL);
  fail_unless (packets->len >= 30);
  for (count = 1; count <= 8; count++) {
    for (first = 0; first + count <= packets->len; first++) {
      gboolean *drop = g_new0 (gboolean, packets->len);
      gboolean hit[10] = { FALSE };
      GByteArray *expected = g_byte_array_new ();

      for (i = first; i < first + count; i++) {
        drop[i] = TRUE;
        hit[g_array_index (packets, Packet, i).rtptime / 3600] = TRUE;
      }
      for (i = 0; i < 10; i++) {
        guint start = g_array_index (marks, guint, i);

        if (!hit[i])
          g_byte_array_append (expected, stream.bytes->data + start,
              g_array_index (marks, guint, i + 1) - start);
      }
      assert_bytes (unpack (packets, RFC2250_ON_LOSS_DROP_FRAME, drop, NULL),
          expected->data, expected->len);
      g_byte_array_unref (expected);
      g_free (drop);
    }
  }
  g_array_unref (packets);
  g_array_unref (marks);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

/* Counts the pictures and the slices of the elementary stream `bytes`. */
static void
count_units (GByteArray * bytes, guint * pictures, guint * slices)
{
  const guint8 *code = bytes->data, *end = bytes->data + bytes->len;

  *pictures = *slices = 0;
  while ((code = mpeg_video_find_start_code (code, end))) {
    *pictures += code[3] == 0;
    *slices += MPEG_VIDEO_CODE_IS_SLICE (code[3]);
    code += 4;
  }
}

/* The unpacker must output every slice that arrived. If the picture header of
 * the slice was lost, the unpacker must rebuild the header. For MPEG-1 this is
 * always possible. For MPEG-2 the packets need the MPEG-2 extension of RFC
 * 2250. */
GST_START_TEST (conceal_keeps_slices_and_rebuilds_headers)
{
  gint mpeg1;

  for (mpeg1 = 0; mpeg1 < 2; mpeg1++) {
    GArray *marks = g_array_new (FALSE, FALSE, sizeof (guint));
    Rfc2250PackerConfig config = { RFC2250_AGGREGATE_SLICES, !mpeg1 };
    MpegStream stream;
    GArray *packets;
    guint first, pictures, slices;

    make_lossy_stream (&stream, marks, mpeg1);
    packets = pack_stream (&stream, &config, 400, NULL);
    /* In each pass of the loop, a different packet is lost. The first packet is
     * never lost, because it contains the sequence header that the packets
     * after it need. */
    for (first = 1; first < packets->len; first++) {
      gboolean *drop = g_new0 (gboolean, packets->len);
      const Packet *lost = &g_array_index (packets, Packet, first);
      const guint8 *code = lost->data, *end = lost->data + lost->size;
      gboolean lost_header = FALSE;
      guint lost_slices = 0;
      Rfc2250UnpackerStats stats;
      GByteArray *got;

      drop[first] = TRUE;
      while ((code = mpeg_video_find_start_code (code, end))) {
        lost_slices += MPEG_VIDEO_CODE_IS_SLICE (code[3]);
        lost_header = lost_header || code[3] == 0;
        code += 4;
      }
      got = unpack (packets, RFC2250_ON_LOSS_CONCEAL, drop, &stats);
      count_units (got, &pictures, &slices);
      fail_unless_equals_int (pictures, 10);
      fail_unless_equals_int (slices, 60 - lost_slices);
      fail_unless_equals_uint64 (stats.pictures_rebuilt, lost_header);
      fail_unless_equals_uint64 (stats.frames_damaged, 1);
      g_byte_array_unref (got);
      g_free (drop);
    }
    g_array_unref (packets);
    g_array_unref (marks);
    mpeg_stream_clear (&stream);
  }
}

GST_END_TEST;

/* The picture header of an MPEG-1 stream is lost. The rebuilt header must equal
 * the lost one except for vbv_delay, which RFC 2250 does not transmit. */
GST_START_TEST (rebuilt_header_equals_the_lost_one)
{
  MpegPicture i = {.type = 'I',.mpeg1 = TRUE };
  MpegPicture b = {.type = 'B',.tr = 700,.mpeg1 = TRUE,.f_code = 6,
    .full_pel = TRUE,.rows = 2,.slice_size = 250
  };
  Rfc2250PackerConfig config = { RFC2250_AGGREGATE_SLICES };
  gboolean drop[3] = { FALSE, TRUE, FALSE };
  MpegStream stream, expected;
  GArray *packets;

  mpeg_stream_init (&stream);
  mpeg_sequence (&stream, 32, 32, 3, FALSE, TRUE, FALSE);
  mpeg_picture (&stream, &i);
  mpeg_stream_init (&expected);
  g_byte_array_append (expected.bytes, stream.bytes->data, stream.bytes->len);
  mpeg_picture (&stream, &b);
  packets = pack_stream (&stream, &config, 300, NULL);
  fail_unless_equals_int (packets->len, 3);
  mpeg_picture_header (&expected, &b);
  g_byte_array_append (expected.bytes, stream.bytes->data + stream.bytes->len
      - 250, 250);
  assert_bytes (unpack (packets, RFC2250_ON_LOSS_CONCEAL, drop, NULL),
      expected.bytes->data, expected.bytes->len);
  g_array_unref (packets);
  mpeg_stream_clear (&stream);
  mpeg_stream_clear (&expected);
}

GST_END_TEST;

/* RFC 2250 appendix 1: the packets of this test have no MPEG-2 extension (T =
 * 0). If a picture header is lost, the unpacker must replace it by the last
 * header of the same picture type. It must not do this in two cases:
 * - A packet of the picture has the bit N, which says that the header has
 *   changed.
 * - An earlier picture of the same type was lost completely. The header may
 *   have changed in that picture. */
GST_START_TEST (n_confirms_the_header_before)
{
  MpegPicture p = {.type = 'P',.rows = 2,.slice_size = 250 };
  gint changed;

  for (changed = 0; changed < 2; changed++) {
    Rfc2250PackerConfig config = { RFC2250_AGGREGATE_SLICES, FALSE, TRUE };
    gboolean drop[6] = { FALSE };
    Rfc2250UnpackerStats stats;
    MpegStream stream;
    GArray *packets;

    mpeg_stream_init (&stream);
    mpeg_sequence (&stream, 32, 32, 3, TRUE, TRUE, FALSE);
    p.f_code = 3;
    p.tr = 0;
    mpeg_picture (&stream, &p);
    p.tr = 1;
    p.f_code = changed ? 4 : 3;
    mpeg_picture (&stream, &p);
    /* The header of this picture equals that of the previous picture of the
     * same type. Its packets therefore do not have the bit N (new picture
     * header). */
    p.tr = 2;
    mpeg_picture (&stream, &p);
    packets = pack_stream (&stream, &config, 300, NULL);
    fail_unless_equals_int (packets->len, 6);
    drop[2] = drop[4] = TRUE;
    g_byte_array_unref (unpack (packets, RFC2250_ON_LOSS_CONCEAL, drop,
            &stats));
    fail_unless_equals_uint64 (stats.pictures_rebuilt, changed ? 0 : 2);
    fail_unless_equals_uint64 (stats.frames_dropped, changed ? 2 : 0);
    g_array_unref (packets);
    mpeg_stream_clear (&stream);
  }
}

GST_END_TEST;

/* A lost GOP header must be rebuilt according to RFC 2250, appendix 1: the time
 * code is 0, and broken_link is set. The flag closed_gop must have the same
 * value as in the last GOP header that arrived. */
GST_START_TEST (rebuilt_gop_header_is_as_closed_as_the_last)
{
  gint closed;

  for (closed = 0; closed < 2; closed++) {
    MpegPicture i = {.type = 'I',.mpeg1 = TRUE,.slice_size = 250 };
    Rfc2250PackerConfig config = { RFC2250_AGGREGATE_SLICES };
    gboolean drop[4] = { FALSE, FALSE, TRUE, FALSE };
    Rfc2250UnpackerStats stats;
    MpegStream stream, expected;
    GArray *packets;
    guint n;

    mpeg_stream_init (&stream);
    mpeg_stream_init (&expected);
    for (n = 0; n < 2; n++) {
      g_byte_array_set_size (expected.bytes, 0);
      g_byte_array_append (expected.bytes, stream.bytes->data,
          stream.bytes->len);
      mpeg_sequence (&stream, 32, 32, 3, FALSE, TRUE, FALSE);
      mpeg_gop (&stream, 12345, closed);
      mpeg_picture (&stream, &i);
    }
    packets = pack_stream (&stream, &config, 300, NULL);
    fail_unless_equals_int (packets->len, 4);
    mpeg_gop_full (&expected, FALSE, 0, 0, 0, 0, closed, TRUE);
    mpeg_picture_header (&expected, &i);
    g_byte_array_append (expected.bytes, stream.bytes->data
        + stream.bytes->len - 250, 250);
    assert_bytes (unpack (packets, RFC2250_ON_LOSS_CONCEAL, drop, &stats),
        expected.bytes->data, expected.bytes->len);
    fail_unless_equals_uint64 (stats.gops_rebuilt, 1);
    g_array_unref (packets);
    mpeg_stream_clear (&stream);
    mpeg_stream_clear (&expected);
  }
}

GST_END_TEST;

/* The packet with the header of the second field is lost. The other slices of
 * this field must follow a rebuilt header of the second field, not the header
 * of the first field. */
GST_START_TEST (rebuilt_header_of_a_second_field)
{
  MpegPicture first = {.type = 'I',.tr = 5,.structure = 1,.rows = 2,
    .slice_size = 250
  };
  MpegPicture second = {.type = 'P',.tr = 5,.structure = 2,.rows = 2,
    .slice_size = 250
  };
  Rfc2250PackerConfig config = { RFC2250_AGGREGATE_SLICES, TRUE };
  gboolean drop[4] = { FALSE, FALSE, TRUE, FALSE };
  Rfc2250UnpackerStats stats;
  MpegStream stream, expected;
  GArray *packets;

  mpeg_stream_init (&stream);
  mpeg_sequence (&stream, 32, 64, 3, TRUE, FALSE, FALSE);
  mpeg_picture (&stream, &first);
  mpeg_stream_init (&expected);
  g_byte_array_append (expected.bytes, stream.bytes->data, stream.bytes->len);
  mpeg_picture (&stream, &second);
  packets = pack_stream (&stream, &config, 320, NULL);
  fail_unless_equals_int (packets->len, 4);
  mpeg_picture_header (&expected, &second);
  mpeg_picture_extension (&expected, &second);
  g_byte_array_append (expected.bytes, stream.bytes->data + stream.bytes->len
      - 250, 250);
  assert_bytes (unpack (packets, RFC2250_ON_LOSS_CONCEAL, drop, &stats),
      expected.bytes->data, expected.bytes->len);
  fail_unless_equals_uint64 (stats.pictures_rebuilt, 1);
  g_array_unref (packets);
  mpeg_stream_clear (&stream);
  mpeg_stream_clear (&expected);
}

GST_END_TEST;

/* The RTP library live555 sets the RTP marker bit in the first packet of a
 * stream, although this packet holds only headers. This marker bit must not end
 * a frame. */
GST_START_TEST (a_marker_behind_headers_ends_no_frame)
{
  const gsize headers = 22 + 8 + 8 + 9;
  GArray *packets = g_array_new (FALSE, TRUE, sizeof (Packet));
  Packet head = { NULL, 4 + headers, TRUE, 0 };
  Packet slices = { NULL, 0, TRUE, 0 };
  MpegStream stream;

  mpeg_stream_init (&stream);
  mpeg_stream_add (&stream, "|c I0", FALSE, NULL);
  g_array_set_clear_func (packets, packet_clear);
  /* The two packets contain an I-frame. The first packet contains the headers
   * of the frame and has the bit S (sequence header) in its RFC 2250 header.
   * The second packet contains the slices and has the bits B and E (a slice
   * begins and ends). The whole frame must be output. */
  head.data = g_malloc (head.size);
  memcpy (head.data, "\x00\x00\x21\x00", 4);
  memcpy (head.data + 4, stream.bytes->data, headers);
  g_array_append_val (packets, head);
  slices.size = 4 + stream.bytes->len - headers;
  slices.data = g_malloc (slices.size);
  memcpy (slices.data, "\x00\x00\x19\x00", 4);
  memcpy (slices.data + 4, stream.bytes->data + headers, slices.size - 4);
  g_array_append_val (packets, slices);
  assert_bytes (unpack (packets, RFC2250_ON_LOSS_DROP_FRAME, NULL, NULL),
      stream.bytes->data, stream.bytes->len);
  g_array_unref (packets);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

/* The header of RFC 2250 repeats two flags of the picture header: FBV is a copy
 * of full_pel_backward_vector, and FFV is a copy of full_pel_forward_vector. */
GST_START_TEST (full_pel_vectors_of_one_direction)
{
  MpegPicture b = {.type = 'B',.mpeg1 = TRUE,.f_code = 5,.full_pel = TRUE };
  Rfc2250PackerConfig config = { RFC2250_AGGREGATE_SLICES };
  MpegStream stream;
  GArray *packets;
  gsize header;

  mpeg_stream_init (&stream);
  mpeg_sequence (&stream, 32, 32, 3, FALSE, TRUE, FALSE);
  header = stream.bytes->len;
  mpeg_picture (&stream, &b);
  /* Clears the flag full_pel_backward_vector, which is bit 65 of the picture
   * header (counted from 0). */
  stream.bytes->data[header + 8] &= ~0x40;
  packets = pack_stream (&stream, &config, 300, NULL);
  /* The packet must contain FBV = 0, BFC = 5, FFV = 1 and FFC = 5. */
  fail_unless_equals_int (g_array_index (packets, Packet, 0).data[3], 0x5d);
  g_array_unref (packets);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

GST_START_TEST (markers_may_be_lost)
{
  GArray *marks = g_array_new (FALSE, FALSE, sizeof (guint));
  Rfc2250PackerConfig config = { RFC2250_AGGREGATE_SLICES };
  MpegStream stream;
  GArray *packets;
  guint i;

  make_lossy_stream (&stream, marks, FALSE);
  packets = pack_stream (&stream, &config, 400, NULL);
  for (i = 0; i < packets->len; i++)
    g_array_index (packets, Packet, i).marker = FALSE;
  assert_bytes (unpack (packets, RFC2250_ON_LOSS_DROP_FRAME, NULL, NULL),
      stream.bytes->data, stream.bytes->len);
  g_array_unref (packets);
  g_array_unref (marks);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

/* The GStreamer element rtpmpvpay sends RFC 2250 headers that are all zero, and
 * puts several small pictures into one packet. The unpacker must accept such
 * packets. */
GST_START_TEST (all_zero_headers_are_served)
{
  Rfc2250Unpacker *unpacker = rfc2250_unpacker_new ();
  GByteArray *bytes = g_byte_array_new ();
  Rfc2250UnpackerStats stats;
  Rfc2250UnpackedFrame frame;
  MpegStream stream;
  guint8 packet[104] = { 0 };
  guint offset, frames = 0;

  mpeg_stream_init (&stream);
  mpeg_stream_add (&stream, PLAN, FALSE, NULL);
  for (offset = 0; offset < stream.bytes->len; offset += 100) {
    gsize size = MIN (100, stream.bytes->len - offset);
    Rfc2250Payload payload = { packet, size + 4, FALSE, FALSE, 0, NONE };

    memcpy (packet + 4, stream.bytes->data + offset, size);
    rfc2250_unpacker_input (unpacker, &payload);
  }
  rfc2250_unpacker_drain (unpacker);
  while (rfc2250_unpacker_poll_output (unpacker, &frame)) {
    g_byte_array_append (bytes, frame.data, frame.size);
    g_free (frame.data);
    frames++;
  }
  fail_unless_equals_int (frames, 10);
  assert_bytes (bytes, stream.bytes->data, stream.bytes->len);
  rfc2250_unpacker_get_stats (unpacker, &stats);
  fail_unless_equals_uint64 (stats.legacy_packets, stats.packets);
  rfc2250_unpacker_free (unpacker);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

GST_START_TEST (a_frame_without_end_is_bounded)
{
  Rfc2250Unpacker *unpacker = rfc2250_unpacker_new ();
  guint8 packet[1004] = { 0, 1, 0x12, 0x07, 0, 0, 1, 0, 0, 0x57 };
  Rfc2250Payload payload = { packet, 1004, FALSE, FALSE, 0, NONE };
  Rfc2250UnpackedFrame frame;
  Rfc2250UnpackerStats stats;
  guint i;

  rfc2250_unpacker_set_config (unpacker, RFC2250_ON_LOSS_PASS, 10000);
  for (i = 0; i < 100; i++) {
    packet[4 + 3] = 0x55;
    rfc2250_unpacker_input (unpacker, &payload);
  }
  rfc2250_unpacker_drain (unpacker);
  fail_unless (!rfc2250_unpacker_poll_output (unpacker, &frame));
  rfc2250_unpacker_get_stats (unpacker, &stats);
  fail_unless_equals_uint64 (stats.too_big, 1);
  fail_unless_equals_uint64 (stats.frames_dropped, 1);
  rfc2250_unpacker_free (unpacker);
}

GST_END_TEST;

/* --- reordering ---------------------------------------------------------- */

/* Inputs packets with the sequence numbers `in`, and compares the packets that
 * are output with `expected`. In `expected`, '-' marks a duplicate and '<' a
 * late packet. The packets after '/' are output only at the end of the stream.
 */
static void
check_order (guint window, const gchar * in, const gchar * expected)
{
  RtpReorder *reorder = rtp_reorder_new (g_free);
  gchar **words = g_strsplit (in, " ", -1);
  GString *out = g_string_new (NULL);
  guint i;

  rtp_reorder_set_window (reorder, window);
  for (i = 0; words[i]; i++) {
    gboolean final_gap = words[i][0] == '!';
    guint seqnum = g_ascii_strtoull (words[i] + final_gap, NULL, 10);
    gchar *packet = g_strdup_printf ("%u", seqnum), *released;
    RtpReorderResult result =
        rtp_reorder_input (reorder, 1, seqnum, RTP_REORDER_NO_TIME, final_gap,
        packet);

    if (result == RTP_REORDER_NEXT) {
      g_string_append_printf (out, "%s ", packet);
      g_free (packet);
    } else if (result != RTP_REORDER_TAKEN) {
      g_string_append_printf (out, "%c%s ",
          result == RTP_REORDER_LATE ? '<' : '-', packet);
      g_free (packet);
    }
    while ((released = rtp_reorder_poll_output (reorder))) {
      g_string_append_printf (out, "%s ", released);
      g_free (released);
    }
  }
  g_string_append (out, "/");
  rtp_reorder_drain (reorder);
  while ((words[0] && (in = rtp_reorder_poll_output (reorder)))) {
    g_string_append_printf (out, " %s", in);
    g_free ((gchar *) in);
  }
  fail_unless_equals_string (out->str, expected);
  g_string_free (out, TRUE);
  g_strfreev (words);
  rtp_reorder_free (reorder);
}

GST_START_TEST (packets_are_put_in_order)
{
  check_order (3, "1 2 3", "1 2 3 /");
  check_order (3, "1 3 2 4", "1 2 3 4 /");
  check_order (3, "1 5 4 3 2", "1 2 3 4 5 /");
  check_order (3, "65534 0 65535 1", "65534 65535 0 1 /");
  /* Packet 2 is lost. At most three packets after packet 2 are held back, in
   * case it still arrives. When the fourth packet after packet 2 arrives, all
   * of them must be output. */
  check_order (3, "1 3 4 5 6 7", "1 3 4 5 6 7 /");
  check_order (3, "1 3 4 5", "1 / 3 4 5");
  check_order (3, "1 3 4 5 6 2", "1 3 4 5 6 <2 /");
  check_order (3, "1 2 2 1 4 4 3", "1 2 -2 -1 -4 3 4 /");
  check_order (0, "1 3 2 4", "1 3 <2 4 /");
  check_order (3, "1 !3 4", "1 3 4 /");
  /* The sender restarts with other sequence numbers. The packets from after the
   * restart must be output after those from before it, even if their sequence
   * numbers are lower. */
  check_order (3, "5000 5001 100 101 102", "5000 5001 100 101 102 /");
  check_order (3, "5000 5002 100 101", "5000 5002 100 101 /");
  /* A single packet with a very different sequence number must not count as a
   * restart of the sender. It must be dropped. */
  check_order (3, "5000 100 5001 101 5002", "5000 5001 5002 /");
  check_order (3, "5000 100 9000 200 5001", "5000 5001 /");
}

GST_END_TEST;

/* Inputs packets, and compares the packets that are output, in their order,
 * with `expected`. Each packet of the input is written as three fields, such as
 * "a 1 40". The first field is the source. The second field is the sequence
 * number. The third field is the arrival time in ms, or '-' if there is none.
 */
static void
check_sources (const gchar * in, const gchar * expected)
{
  RtpReorder *reorder = rtp_reorder_new (g_free);
  gchar **words = g_strsplit (in, ", ", -1);
  GString *out = g_string_new (NULL);
  guint i;

  for (i = 0; words[i]; i++) {
    gchar **fields = g_strsplit (words[i], " ", -1);
    gchar *packet = g_strdup (words[i]), *released;
    const guint64 now = fields[2][0] == '-' ? RTP_REORDER_NO_TIME :
        g_ascii_strtoull (fields[2], NULL, 10) * 1000000;

    packet[strlen (packet) - strlen (fields[2]) - 1] = '\0';
    if (rtp_reorder_input (reorder, fields[0][0], g_ascii_strtoull (fields[1],
                NULL, 10), now, FALSE, packet) == RTP_REORDER_NEXT) {
      g_string_append_printf (out, "%s, ", packet);
      g_free (packet);
    }
    while ((released = rtp_reorder_poll_output (reorder))) {
      g_string_append_printf (out, "%s, ", released);
      g_free (released);
    }
    g_strfreev (fields);
  }
  fail_unless_equals_string (out->str, expected);
  g_string_free (out, TRUE);
  g_strfreev (words);
  rtp_reorder_free (reorder);
}

GST_START_TEST (another_source_takes_over_when_the_first_is_silent)
{
  /* As long as the first source sends, packets of any other source must not be
   * output, even if that source sends many packets. */
  check_sources ("a 1 0, b 7 1, b 8 2, b 9 3, a 2 40, b 10 41, b 11 42, a 3 80",
      "a 1, a 2, a 3, ");
  /* If the current source is silent for one second, another source must be
   * accepted. The packets that this other source has sent during that second
   * must be output, too. */
  check_sources ("a 1 0, b 7 300, b 8 340, c 5 500, b 9 999, b 10 1000",
      "a 1, b 7, b 8, b 9, b 10, ");
  /* A source can replace the current source only if it has sent two packets
   * with consecutive sequence numbers. The sources b, c and d never do this, so
   * none of them may replace the source a. */
  check_sources ("a 1 0, b 7 1000, c 8 2000, b 9 3000, d 10 4000", "a 1, ");
  /* The first source sends again after the second source has replaced it. The
   * first source must become the current source again, and packets of the
   * second source must no longer be output. */
  check_sources ("a 1 0, b 7 999, b 8 1000, a 2 1001, b 9 1002, b 10 1003, "
      "a 3 1004", "a 1, b 7, b 8, a 2, a 3, ");
  /* A new source must be accepted immediately in two cases. In the first case,
   * the packets have no arrival times. In the second case, the packet of the
   * new source has an earlier arrival time than the packet before it, because
   * the clock has begun anew. */
  check_sources ("a 1 -, b 7 -, b 8 -", "a 1, b 7, b 8, ");
  check_sources ("a 1 500, b 7 0, b 8 40", "a 1, b 7, b 8, ");
}

GST_END_TEST;

static guint n_freed;

static void
count_freed (gpointer packet)
{
  n_freed++;
}

/* A stream of packets has one current source. Packets of other sources are
 * kept, because another source may become the current source. Two buffers of
 * 512 packets hold the packets of other sources: one for packets with
 * consecutive sequence numbers, and one for all other packets. If a packet is
 * added to a full buffer, the oldest packet of this buffer must be freed. */
GST_START_TEST (kept_packets_of_other_sources_are_bounded)
{
  RtpReorder *reorder = rtp_reorder_new (count_freed);
  guint i;

  n_freed = 0;
  rtp_reorder_input (reorder, 0, 0, 0, FALSE, &n_freed);
  for (i = 1; i <= 20000; i++) {
    rtp_reorder_input (reorder, 1 + i / 3, i, i, FALSE, &n_freed);
    fail_unless (i - n_freed <= 1024, "%u packets are kept", i - n_freed);
  }
  rtp_reorder_input (reorder, 0, 1, i, FALSE, &n_freed);
  fail_unless_equals_int (n_freed, 20000);
  fail_unless_equals_uint64 (rtp_reorder_get_strays (reorder), 20000);
  rtp_reorder_free (reorder);
}

GST_END_TEST;

static Suite *
rfc2250_suite (void)
{
  Suite *s = suite_create ("rfc2250");
  TCase *header = tcase_create ("header");
  TCase *packer = tcase_create ("packer");
  TCase *unpacker = tcase_create ("unpacker");
  TCase *reorder = tcase_create ("reorder");

  suite_add_tcase (s, header);
  tcase_add_test (header, header_bits);
  tcase_add_test (header, header_extension_bits);
  tcase_add_test (header, header_forbidden_values);

  suite_add_tcase (s, packer);
  tcase_add_test (packer, slices_share_packets_while_they_fit);
  tcase_add_test (packer, large_slices_are_split_with_b_and_e);
  tcase_add_test (packer, fill_splits_only_where_it_saves_a_packet);
  tcase_add_test (packer, headers_travel_with_the_first_slice);
  tcase_add_test (packer, stuffing_behind_the_end_code_comes_back);
  tcase_add_test (packer, second_field_has_its_own_header);
  tcase_add_test (packer, n_tells_of_new_picture_headers);
  tcase_add_test (packer, sequence_header_is_repeated_at_intervals);
  tcase_add_test (packer, no_repetition_over_downloaded_matrices);

  suite_add_tcase (s, unpacker);
  tcase_add_test (unpacker, streams_come_back_bit_for_bit);
  tcase_add_test (unpacker, drop_frame_emits_exactly_what_lost_nothing);
  tcase_add_test (unpacker, conceal_keeps_slices_and_rebuilds_headers);
  tcase_add_test (unpacker, rebuilt_header_equals_the_lost_one);
  tcase_add_test (unpacker, n_confirms_the_header_before);
  tcase_add_test (unpacker, rebuilt_gop_header_is_as_closed_as_the_last);
  tcase_add_test (unpacker, rebuilt_header_of_a_second_field);
  tcase_add_test (unpacker, a_marker_behind_headers_ends_no_frame);
  tcase_add_test (unpacker, full_pel_vectors_of_one_direction);
  tcase_add_test (unpacker, markers_may_be_lost);
  tcase_add_test (unpacker, all_zero_headers_are_served);
  tcase_add_test (unpacker, a_frame_without_end_is_bounded);

  suite_add_tcase (s, reorder);
  tcase_add_test (reorder, packets_are_put_in_order);
  tcase_add_test (reorder, another_source_takes_over_when_the_first_is_silent);
  tcase_add_test (reorder, kept_packets_of_other_sources_are_bounded);
  return s;
}

GST_CHECK_MAIN (rfc2250);
