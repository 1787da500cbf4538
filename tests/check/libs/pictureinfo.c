/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks which kind of picture a buffer of video contains, and which other
 * frames refer to it. The input bytes were made by hand from ISO/IEC 13818-2,
 * ITU-T H.264 and H.265, RFC 2250, RFC 6184, RFC 7798, RFC 7741, RFC 9628 and
 * the RTP payload format for AV1.
 */

#include <gst/check/gstcheck.h>

#include "pictureinfo.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define NO_PTS G_MAXUINT64

static PictureInfo
read_at (PictureReader * reader, guint64 pts, gboolean is_key,
    const guint8 * data, gsize size)
{
  /* The reader gets its input in a block of memory of exactly `size` bytes, so
   * that a memory checker notices any access beyond the input. */
  guint8 *copy = g_memdup2 (data, size);
  PictureInfo info;

  picture_reader_input (reader, copy, size, pts, is_key, &info);
  g_free (copy);
  return info;
}

static void
expect_at (PictureReader * reader, guint64 pts, const guint8 * data, gsize size,
    PictureKind kind, gboolean is_leading)
{
  PictureInfo info = read_at (reader, pts, FALSE, data, size);

  fail_unless_equals_int (info.kind, kind);
  fail_unless_equals_int (info.is_leading, is_leading);
}

#define BYTES(...) (const guint8[]) { __VA_ARGS__ }, \
    sizeof ((const guint8[]) { __VA_ARGS__ })

/* --- MPEG video ----------------------------------------------------------- */

#define GOP(closed) 0, 0, 1, 0xb8, 0, 8, 0, (closed) << 6
/* Bytes of a picture header, followed by a slice. The header has
 * temporal_reference (10 bits), picture_coding_type (3 bits) and vbv_delay. */
#define PICTURE(reference, type) 0, 0, 1, 0, (reference) >> 2, \
    ((reference) & 3) << 6 | (type) << 3, 0, 0, 0, 0, 0, 1, 1, 0x20

/* Checks a GOP in transport order. Its first two B-frames are shown before its
 * I-frame. If the GOP is open, these two B-frames refer to the previous GOP. If
 * the GOP is closed, they do not refer to it. */
static void
check_mpeg_gop (gboolean is_closed)
{
  PictureReader *reader = picture_reader_new (PICTURE_FORMAT_MPEG);

  expect_at (reader, NO_PTS, BYTES (GOP (is_closed), PICTURE (2, 1)),
      PICTURE_KIND_KEY, FALSE);
  expect_at (reader, NO_PTS, BYTES (PICTURE (0, 3)), PICTURE_KIND_DROPPABLE,
      !is_closed);
  expect_at (reader, NO_PTS, BYTES (PICTURE (1, 3)), PICTURE_KIND_DROPPABLE,
      !is_closed);
  expect_at (reader, NO_PTS, BYTES (PICTURE (5, 2)), PICTURE_KIND_REFERENCE,
      FALSE);
  expect_at (reader, NO_PTS, BYTES (PICTURE (3, 3)), PICTURE_KIND_DROPPABLE,
      FALSE);
  picture_reader_free (reader);
}

GST_START_TEST (b_frames_of_an_open_gop_lead)
{
  check_mpeg_gop (FALSE);
  check_mpeg_gop (TRUE);
}

GST_END_TEST;

/* A leading picture is shown before the key frame that precedes it in the
 * stream. A PictureReader detects leading pictures by the temporal reference,
 * the number of a picture in display order. The detection must work even if
 * this number wraps from 1023 to 0. */
GST_START_TEST (temporal_reference_wraps)
{
  PictureReader *reader = picture_reader_new (PICTURE_FORMAT_MPEG);

  expect_at (reader, NO_PTS, BYTES (PICTURE (1, 1)), PICTURE_KIND_KEY, FALSE);
  expect_at (reader, NO_PTS, BYTES (PICTURE (1023, 3)), PICTURE_KIND_DROPPABLE,
      TRUE);
  expect_at (reader, NO_PTS, BYTES (PICTURE (2, 3)), PICTURE_KIND_DROPPABLE,
      FALSE);
  picture_reader_reset (reader);
  expect_at (reader, NO_PTS, BYTES (PICTURE (0, 3)), PICTURE_KIND_DROPPABLE,
      FALSE);
  picture_reader_free (reader);
}

GST_END_TEST;

#define RTP(payload) 0x80, payload, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1
/* The video-specific header of RFC 2250 (section 3.4). Only the temporal
 * reference and the picture type are set in it. */
#define MPV(reference, type) (reference) >> 8, (reference) & 0xff, type, 0

GST_START_TEST (each_packet_of_mpeg_says_what_it_is)
{
  PictureReader *reader = picture_reader_new (PICTURE_FORMAT_RTP_MPEG);

  expect_at (reader, NO_PTS, BYTES (RTP (32), MPV (2, 1), GOP (1),
          PICTURE (2, 1)), PICTURE_KIND_KEY, FALSE);
  /* The second packet of an I-frame has no picture header. For this packet, the
   * reader must nevertheless return the same result as for the first packet of
   * the frame. */
  expect_at (reader, NO_PTS, BYTES (RTP (32), MPV (2, 1), 1, 2, 3, 4),
      PICTURE_KIND_KEY, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP (32), MPV (0, 3), 1, 2, 3, 4),
      PICTURE_KIND_DROPPABLE, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP (32), MPV (2, 1), GOP (0),
          PICTURE (2, 1)), PICTURE_KIND_KEY, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP (32), MPV (0, 3), 1, 2, 3, 4),
      PICTURE_KIND_DROPPABLE, TRUE);
  expect_at (reader, NO_PTS, BYTES (RTP (32), MPV (3, 2), 1, 2, 3, 4),
      PICTURE_KIND_REFERENCE, FALSE);
  picture_reader_free (reader);
}

GST_END_TEST;

/* The GStreamer element rtpmpvpay writes only zeros into the header of RFC
 * 2250. For such a packet, the reader must report the kind of the picture as
 * unknown. */
GST_START_TEST (packet_of_mpeg_that_does_not_say_is_unknown)
{
  PictureReader *reader = picture_reader_new (PICTURE_FORMAT_RTP_MPEG);

  expect_at (reader, NO_PTS, BYTES (RTP (32), 0, 0, 0, 0, GOP (1),
          PICTURE (2, 1)), PICTURE_KIND_UNKNOWN, FALSE);
  picture_reader_free (reader);
}

GST_END_TEST;

/* --- H.264 ---------------------------------------------------------------- */

/* The NAL unit header of H.264. After a zero bit, it contains nal_ref_idc (2
 * bits) and nal_unit_type (5 bits). */
#define NAL(idc, type) (idc) << 5 | (type)

GST_START_TEST (h264_nal_header_tells_what_it_is)
{
  static const struct
  {
    guint8 header;
    PictureKind kind;
  } units[] = {
    {NAL (3, 5), PICTURE_KIND_KEY}, {NAL (2, 1), PICTURE_KIND_REFERENCE},
    {NAL (0, 1), PICTURE_KIND_DROPPABLE}, {NAL (1, 2), PICTURE_KIND_REFERENCE},
    {NAL (0, 4), PICTURE_KIND_DROPPABLE}, {NAL (0, 6), PICTURE_KIND_PART},
    {NAL (0, 9), PICTURE_KIND_PART}, {NAL (0, 12), PICTURE_KIND_PART},
    {NAL (3, 7), PICTURE_KIND_PART}, {NAL (3, 8), PICTURE_KIND_PART},
    {NAL (3, 13), PICTURE_KIND_PART}, {NAL (3, 15), PICTURE_KIND_PART},
    /* The reader does not support the NAL unit types of H.264 streams with
     * layers. It must report such units as unknown. */
    {NAL (3, 14), PICTURE_KIND_UNKNOWN},
    {NAL (0, 20), PICTURE_KIND_UNKNOWN}, {NAL (0, 0), PICTURE_KIND_UNKNOWN},
  };
  PictureReader *nal = picture_reader_new (PICTURE_FORMAT_H264_NAL);
  PictureReader *rtp = picture_reader_new (PICTURE_FORMAT_RTP_H264);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (units); i++) {
    expect_at (nal, NO_PTS, BYTES (0, 0, 0, 1, units[i].header, 0x88),
        units[i].kind, FALSE);
    expect_at (nal, NO_PTS, BYTES (0, 0, 1, units[i].header, 0x88),
        units[i].kind, FALSE);
    expect_at (rtp, NO_PTS, BYTES (RTP (96), units[i].header, 0x88),
        units[i].kind, FALSE);
    /* In a fragment of type FU-A or FU-B (RFC 6184 section 5.8), the NAL unit
     * type of the picture is in the second byte. */
    if ((units[i].header & 0x1f) == 0)
      continue;
    expect_at (rtp, NO_PTS, BYTES (RTP (96), (units[i].header & 0x60) | 28,
            0x80 | (units[i].header & 0x1f), 0x88), units[i].kind, FALSE);
    expect_at (rtp, NO_PTS, BYTES (RTP (96), (units[i].header & 0x60) | 29,
            0x40 | (units[i].header & 0x1f), 0, 0, 0x88), units[i].kind, FALSE);
  }
  picture_reader_free (nal);
  picture_reader_free (rtp);
}

GST_END_TEST;

/* An aggregation packet of H.264 (STAP-A) contains an access unit delimiter,
 * parameter sets and a slice. The most important of these units, the slice,
 * must determine the result. */
GST_START_TEST (most_important_unit_of_an_aggregate_decides)
{
  PictureReader *reader = picture_reader_new (PICTURE_FORMAT_RTP_H264);

  expect_at (reader, NO_PTS, BYTES (RTP (96), 24, 0, 2, NAL (0, 9), 0x10,
          0, 1, NAL (3, 7), 0, 2, NAL (3, 5), 0x88), PICTURE_KIND_KEY, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP (96), 24, 0, 2, NAL (0, 9), 0x10,
          0, 2, NAL (0, 1), 0x88), PICTURE_KIND_DROPPABLE, FALSE);
  /* A STAP-B, which has a decoding order number. */
  expect_at (reader, NO_PTS, BYTES (RTP (96), 25, 0, 7, 0, 2, NAL (2, 1), 0x88),
      PICTURE_KIND_REFERENCE, FALSE);
  /* The kind of the picture must be unknown for two malformed aggregation
   * packets of H.264 (STAP-A). In the first one, the size of a NAL unit exceeds
   * the packet. In the second one, the size of a NAL unit is 0. */
  expect_at (reader, NO_PTS, BYTES (RTP (96), 24, 0, 3, NAL (2, 1), 0x88),
      PICTURE_KIND_UNKNOWN, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP (96), 24, 0, 0, 0, 1, NAL (2, 1)),
      PICTURE_KIND_UNKNOWN, FALSE);
  picture_reader_free (reader);
}

GST_END_TEST;

GST_START_TEST (slice_that_is_shown_before_its_key_frame_leads)
{
  PictureReader *reader = picture_reader_new (PICTURE_FORMAT_RTP_H264);
  PictureInfo info;

  /* The NAL unit of this picture is not an IDR picture. The picture must be a
   * key frame nevertheless, because its buffer is flagged as a key frame.
   */
  info = read_at (reader, 120 * MS, TRUE, BYTES (RTP (96), NAL (2, 1), 0x88));
  fail_unless_equals_int (info.kind, PICTURE_KIND_KEY);
  expect_at (reader, 40 * MS, BYTES (RTP (96), NAL (0, 1), 0x88),
      PICTURE_KIND_DROPPABLE, TRUE);
  expect_at (reader, 80 * MS, BYTES (RTP (96), NAL (1, 1), 0x88),
      PICTURE_KIND_REFERENCE, TRUE);
  expect_at (reader, 160 * MS, BYTES (RTP (96), NAL (0, 1), 0x88),
      PICTURE_KIND_DROPPABLE, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP (96), NAL (0, 1), 0x88),
      PICTURE_KIND_DROPPABLE, FALSE);
  picture_reader_free (reader);
}

GST_END_TEST;

/* The codec data (avcC) say that a length field of two bytes precedes each NAL
 * unit. The reader must use this size. */
GST_START_TEST (lengths_are_those_of_the_codec_data)
{
  static const guint8 avcc[] = { 1, 100, 0, 31, 0xfc | 1, 0xe0, 0 };
  PictureReader *reader = picture_reader_new (PICTURE_FORMAT_H264_NAL);

  fail_if (picture_reader_set_codec_data (reader, avcc, 4));
  fail_unless (picture_reader_set_codec_data (reader, avcc, sizeof avcc));
  expect_at (reader, NO_PTS, BYTES (0, 2, NAL (0, 1), 0x88),
      PICTURE_KIND_DROPPABLE, FALSE);
  picture_reader_free (reader);

  reader = picture_reader_new (PICTURE_FORMAT_H264);
  fail_unless (picture_reader_set_codec_data (reader, avcc, sizeof avcc));
  expect_at (reader, NO_PTS, BYTES (0, 2, NAL (0, 9), 0x10, 0, 3, NAL (0, 1),
          0x88, 0x80), PICTURE_KIND_DROPPABLE, FALSE);
  expect_at (reader, NO_PTS, BYTES (0, 2, NAL (3, 5), 0x88), PICTURE_KIND_KEY,
      FALSE);
  picture_reader_free (reader);

  reader = picture_reader_new (PICTURE_FORMAT_RTP_H264);
  fail_if (picture_reader_set_codec_data (reader, avcc, sizeof avcc));
  picture_reader_free (reader);
}

GST_END_TEST;

GST_START_TEST (access_unit_is_what_its_slices_are)
{
  PictureReader *reader = picture_reader_new (PICTURE_FORMAT_H264);

  expect_at (reader, 0, BYTES (0, 0, 0, 1, NAL (0, 9), 0x10, 0, 0, 1,
          NAL (3, 5), 0x88, 0x84), PICTURE_KIND_KEY, FALSE);
  expect_at (reader, 80 * MS, BYTES (0, 0, 0, 1, NAL (2, 1), 0x9a, 0x80),
      PICTURE_KIND_REFERENCE, FALSE);
  expect_at (reader, 40 * MS, BYTES (0, 0, 0, 1, NAL (0, 1), 0x9e, 0x80),
      PICTURE_KIND_DROPPABLE, FALSE);
  picture_reader_free (reader);
}

GST_END_TEST;

/* --- H.265 ---------------------------------------------------------------- */

/* Writes the two bytes of the NAL unit header of H.265. After a zero bit, they
 * contain nal_unit_type (6 bits), nuh_layer_id (6 bits) and
 * nuh_temporal_id_plus1 (3 bits). */
#define NAL5(type, layer, sub_layer) (type) << 1 | (layer) >> 5, \
    ((layer) & 31) << 3 | ((sub_layer) + 1)

GST_START_TEST (h265_nal_header_tells_what_it_is)
{
  static const struct
  {
    guint type, layer;
    PictureKind kind;
    gboolean is_leading;
  } units[] = {
    {19, 0, PICTURE_KIND_KEY}, {20, 0, PICTURE_KIND_KEY},
    {21, 0, PICTURE_KIND_KEY}, {16, 0, PICTURE_KIND_KEY},
    {1, 0, PICTURE_KIND_REFERENCE}, {0, 0, PICTURE_KIND_DROPPABLE},
    {9, 0, PICTURE_KIND_REFERENCE, TRUE}, {8, 0, PICTURE_KIND_DROPPABLE, TRUE},
    /* RADL pictures are a kind of leading picture. They refer only to the key
     * frame and to each other, so they can be decoded without the previous GOP.
     * The field `is_leading` marks only leading pictures that need the previous
     * GOP. It must be FALSE for RADL pictures. */
    {7, 0, PICTURE_KIND_REFERENCE}, {6, 0, PICTURE_KIND_DROPPABLE},
    {35, 0, PICTURE_KIND_PART}, {39, 0, PICTURE_KIND_PART},
    {32, 0, PICTURE_KIND_PART}, {34, 0, PICTURE_KIND_PART},
    {41, 0, PICTURE_KIND_UNKNOWN}, {1, 1, PICTURE_KIND_UNKNOWN},
    {48, 0, PICTURE_KIND_UNKNOWN},
  };
  PictureReader *nal = picture_reader_new (PICTURE_FORMAT_H265_NAL);
  PictureReader *rtp = picture_reader_new (PICTURE_FORMAT_RTP_H265);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (units); i++) {
    const guint type = units[i].type, layer = units[i].layer;

    expect_at (nal, NO_PTS, BYTES (0, 0, 0, 1, NAL5 (type, layer, 0), 0x80),
        units[i].kind, units[i].is_leading);
    expect_at (rtp, NO_PTS, BYTES (RTP (96), NAL5 (type, layer, 0), 0x80, 0x80),
        units[i].kind, units[i].is_leading);
    /* FU (RFC 7798, 4.4.3) and AP (4.4.2) */
    expect_at (rtp, NO_PTS, BYTES (RTP (96), NAL5 (49, layer, 0), 0x80 | type,
            0x80), units[i].kind, units[i].is_leading);
    if (units[i].kind > PICTURE_KIND_PART)
      expect_at (rtp, NO_PTS, BYTES (RTP (96), NAL5 (48, layer, 0),
              0, 3, NAL5 (35, 0, 0), 0x50, 0, 3, NAL5 (type, layer, 0), 0x80),
          units[i].kind, units[i].is_leading);
  }
  picture_reader_free (nal);
  picture_reader_free (rtp);
}

GST_END_TEST;

/* Checks which slots each picture uses and updates. A slot (slotuse.h) is a
 * reference picture that the decoder stores. NAL unit type 3 is a TSA picture
 * (temporal sub-layer access). */
GST_START_TEST (sub_layers_of_h265_say_what_they_need)
{
  static const struct
  {
    guint type, sub_layer;
    guint32 uses, updates;
  } units[] = {
    {19, 0, 0, 0x7f}, {0, 2, 7, 0}, {3, 1, 1, 0x7e}, {0, 2, 7, 0},
    {1, 0, 1, 0x80000001}, {1, 1, 3, 2}, {5, 1, 1, 2}, {2, 2, 3, 0},
    {21, 0, 0, 0x7f}, {9, 0, 0x80000001, 0},
  };
  PictureReader *reader = picture_reader_new (PICTURE_FORMAT_RTP_H265);
  guint i, pass;

  /* The reader knows the number of sub-layers only after it has got a picture
   * of each sub-layer. The pictures are therefore passed to it twice. The slots
   * that a picture uses (`uses`) and updates (`updates`) are checked only the
   * second time. */
  for (pass = 0; pass < 2; pass++) {
    for (i = 0; i < G_N_ELEMENTS (units); i++) {
      PictureInfo info = read_at (reader, NO_PTS, FALSE, BYTES (RTP (96),
              NAL5 (units[i].type, 0, units[i].sub_layer), 0x80, 0x80));

      fail_unless_equals_int (info.layer, units[i].sub_layer);
      if (pass == 0)
        continue;
      fail_unless (info.has_slots);
      fail_unless_equals_uint64 (info.uses, units[i].uses);
      fail_unless_equals_uint64 (info.updates, units[i].updates);
    }
  }
  picture_reader_free (reader);
}

GST_END_TEST;

GST_START_TEST (lower_sub_layer_may_be_needed_by_a_higher_one)
{
  PictureReader *reader = picture_reader_new (PICTURE_FORMAT_H265_NAL);

  expect_at (reader, NO_PTS, BYTES (0, 0, 1, NAL5 (0, 0, 0), 0x80),
      PICTURE_KIND_DROPPABLE, FALSE);
  expect_at (reader, NO_PTS, BYTES (0, 0, 1, NAL5 (0, 0, 2), 0x80),
      PICTURE_KIND_DROPPABLE, FALSE);
  expect_at (reader, NO_PTS, BYTES (0, 0, 1, NAL5 (0, 0, 0), 0x80),
      PICTURE_KIND_REFERENCE, FALSE);
  picture_reader_free (reader);
}

GST_END_TEST;

/* --- VP8, VP9 and AV1 ----------------------------------------------------- */

#define RTP_AT(time) 0x80, 96, 0, 1, 0, 0, 0, time, 0, 0, 0, 1

/* Three frames of VP8, coded as in RFC 6386, section 7.3, with the header of
 * section 19.2. They are a key frame of 320x240, a frame that updates the
 * reference frame "last", and a frame that updates no reference frame. */
#define VP8_KEY 0xb0, 0, 0, 0x9d, 1, 0x2a, 0x40, 1, 0xf0, 0, 0, 2, 0, 0x78, 8, 0
#define VP8_P 0xd1, 0, 0, 0x08, 0x01, 0xe0, 0, 0x10, 0
#define VP8_B 0xd1, 0, 0, 0x08, 0x01, 0xe0, 0, 0, 0
/* The same of VP9, 6.2, error resilient */
#define VP9_KEY 0x83, 0x49, 0x83, 0x42, 0x40, 0x13, 0xf0, 0x0e, 0xf0
#define VP9_P 0x87, 1, 0, 9, 0
#define VP9_B 0x87, 0, 0, 9, 0
/* A sequence header of AV1 (5.5.1) and three frame headers (5.9.2). They are in
 * OBUs without the field obu_size, as in RTP packets. */
#define AV1_SEQUENCE 8, 0, 0, 0, 0x24, 0x44, 0xfd, 0xde, 0, 0, 0
#define AV1_KEY 0x30, 0x10, 0
#define AV1_P 0x30, 0x30, 0, 0x40, 0, 0, 0
#define AV1_B 0x30, 0x30, 0, 0, 0, 0, 0

GST_START_TEST (frame_that_refreshes_nothing_is_droppable)
{
  PictureReader *vp8 = picture_reader_new (PICTURE_FORMAT_VP8);
  PictureReader *vp9 = picture_reader_new (PICTURE_FORMAT_VP9);
  PictureReader *av1 = picture_reader_new (PICTURE_FORMAT_AV1);

  expect_at (vp8, NO_PTS, BYTES (VP8_KEY), PICTURE_KIND_KEY, FALSE);
  expect_at (vp8, NO_PTS, BYTES (VP8_P), PICTURE_KIND_REFERENCE, FALSE);
  expect_at (vp8, NO_PTS, BYTES (VP8_B), PICTURE_KIND_DROPPABLE, FALSE);
  expect_at (vp9, NO_PTS, BYTES (VP9_KEY), PICTURE_KIND_KEY, FALSE);
  expect_at (vp9, NO_PTS, BYTES (VP9_P), PICTURE_KIND_REFERENCE, FALSE);
  expect_at (vp9, NO_PTS, BYTES (VP9_B), PICTURE_KIND_DROPPABLE, FALSE);
  /* In this stream, the OBU (unit of AV1) of the sequence header has the field
   * obu_size, and the OBU of the key frame does not have it. The reader must
   * understand both forms. */
  expect_at (av1, NO_PTS, BYTES (0x0a, 10, 0, 0, 0, 0x24, 0x44, 0xfd, 0xde, 0,
          0, 0, AV1_KEY), PICTURE_KIND_KEY, FALSE);
  expect_at (av1, NO_PTS, BYTES (AV1_P), PICTURE_KIND_REFERENCE, FALSE);
  expect_at (av1, NO_PTS, BYTES (AV1_B), PICTURE_KIND_DROPPABLE, FALSE);
  picture_reader_free (vp8);
  picture_reader_free (vp9);
  picture_reader_free (av1);
}

GST_END_TEST;

/* The test packets have a payload descriptor of VP8 (RFC 7741, 4.2). It has the
 * bits X, N, S and PID, then the bits I, L, T and K with their fields. */
GST_START_TEST (first_packet_of_vp8_tells_the_kind)
{
  PictureReader *reader = picture_reader_new (PICTURE_FORMAT_RTP_VP8);

  expect_at (reader, NO_PTS, BYTES (RTP_AT (1), 0x10, VP8_KEY),
      PICTURE_KIND_KEY, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP_AT (1), 0x00, 1, 2, 3),
      PICTURE_KIND_KEY, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP_AT (2), 0x90, 0x80, 0x81, 0x23, VP8_P),
      PICTURE_KIND_REFERENCE, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP_AT (3), 0x90, 0xf0, 0x12, 5, 0x60,
          VP8_B), PICTURE_KIND_DROPPABLE, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP_AT (3), 0x91, 0xf0, 0x12, 5, 0x60, 1),
      PICTURE_KIND_DROPPABLE, FALSE);
  /* N, and a second packet without it */
  expect_at (reader, NO_PTS, BYTES (RTP_AT (4), 0x30, VP8_P),
      PICTURE_KIND_DROPPABLE, FALSE);
  /* The next two packets end in the middle of the frame header of VP8. The
   * reader must determine the kind of the picture by the bit P (key frame or
   * not) alone, which is at the beginning of this header. */
  expect_at (reader, NO_PTS, BYTES (RTP_AT (5), 0x10, 0xd1, 0),
      PICTURE_KIND_REFERENCE, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP_AT (6), 0x10, 0xb0, 0),
      PICTURE_KIND_KEY, FALSE);
  /* This packet contains the frame header of VP8, but not the rest of the first
   * partition. The kind of the picture must be read from the frame header. */
  expect_at (reader, NO_PTS, BYTES (RTP_AT (7), 0x10, 0xd1, 0xff, 0, 0x08,
          0x01, 0xe0, 0, 0, 0), PICTURE_KIND_DROPPABLE, FALSE);
  /* the first packet is missing */
  expect_at (reader, NO_PTS, BYTES (RTP_AT (8), 0x00, 1, 2),
      PICTURE_KIND_UNKNOWN, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP_AT (9), 0x90, 0xf0, 0x12, 5, 0x60),
      PICTURE_KIND_UNKNOWN, FALSE);
  picture_reader_free (reader);
}

GST_END_TEST;

/* RFC 9628, 4.2: I, P, L, F, B, E, V and Z with their fields */
GST_START_TEST (first_packet_of_vp9_tells_the_kind)
{
  PictureReader *reader = picture_reader_new (PICTURE_FORMAT_RTP_VP9);

  /* The VP9 payload descriptor of this packet has a picture ID of two bytes,
   * and a scalability structure with sizes and groups. The reader must skip
   * these fields and find the key frame after them. */
  expect_at (reader, NO_PTS, BYTES (RTP_AT (1), 0x8a, 0x81, 0x23, 0x18,
          1, 0x40, 0, 0xf0, 2, 0x04, 1, 0x00, VP9_KEY), PICTURE_KIND_KEY,
      FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP_AT (1), 0x84, 0x81, 0x23, 1, 2),
      PICTURE_KIND_KEY, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP_AT (2), 0x4c, VP9_P),
      PICTURE_KIND_REFERENCE, FALSE);
  /* Two packets of VP9. The payload descriptor of the first packet contains the
   * layer indices and TL0PICIDX. The payload descriptor of the second packet is
   * in flexible mode, and contains the layer indices and two P_DIFF fields. */
  expect_at (reader, NO_PTS, BYTES (RTP_AT (3), 0xe8, 0x12, 0x20, 7, VP9_B),
      PICTURE_KIND_DROPPABLE, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP_AT (4), 0xf8, 0x12, 0x20, 3, 4, VP9_B),
      PICTURE_KIND_DROPPABLE, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP_AT (5), 0x40, VP9_B),
      PICTURE_KIND_UNKNOWN, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP_AT (6), 0x0a, 0x18, 1),
      PICTURE_KIND_UNKNOWN, FALSE);
  picture_reader_free (reader);
}

GST_END_TEST;

/* The payload of each packet consists of the aggregation header (fields Z, Y, W
 * and N) and the OBU elements (RTP payload format for AV1, 4.4). */
GST_START_TEST (packets_of_av1_tell_the_kind)
{
  PictureReader *reader = picture_reader_new (PICTURE_FORMAT_RTP_AV1);

  expect_at (reader, NO_PTS, BYTES (RTP_AT (1), 0x28, 11, AV1_SEQUENCE,
          AV1_KEY), PICTURE_KIND_KEY, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP_AT (1), 0x90, 1, 2, 3),
      PICTURE_KIND_KEY, FALSE);
  /* two elements, both with a size */
  expect_at (reader, NO_PTS, BYTES (RTP_AT (2), 0x00, 7, AV1_B, 7, AV1_P),
      PICTURE_KIND_REFERENCE, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP_AT (3), 0x50, AV1_B),
      PICTURE_KIND_DROPPABLE, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP_AT (3), 0x80, 2, 1, 1),
      PICTURE_KIND_DROPPABLE, FALSE);
  expect_at (reader, NO_PTS, BYTES (RTP_AT (4), 0x00, 9, AV1_B),
      PICTURE_KIND_UNKNOWN, FALSE);
  picture_reader_free (reader);
}

GST_END_TEST;

/* --- invalid input -------------------------------------------------------- */

GST_START_TEST (malformed_picture_is_of_unknown_kind)
{
  static const guint8 zeros[32] = { 0 };
  PictureFormat format;
  gsize size;

  for (format = 0; format < PICTURE_FORMAT_LAST; format++) {
    PictureReader *reader = picture_reader_new (format);

    for (size = 0; size <= sizeof zeros; size++) {
      PictureInfo info = read_at (reader, NO_PTS, FALSE, zeros, size);

      /* For malformed input, the kind must be unknown. The only exception is an
       * access unit in the byte-stream format of H.264 or H.265, which may
       * count as a reference frame. */
      fail_unless (info.kind == PICTURE_KIND_UNKNOWN ||
          ((format == PICTURE_FORMAT_H264 || format == PICTURE_FORMAT_H265) &&
              info.kind == PICTURE_KIND_REFERENCE));
      fail_if (info.is_leading);
    }
    picture_reader_free (reader);
  }
}

GST_END_TEST;

static Suite *
pictureinfo_suite (void)
{
  Suite *s = suite_create ("pictureinfo");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, b_frames_of_an_open_gop_lead);
  tcase_add_test (tc, temporal_reference_wraps);
  tcase_add_test (tc, each_packet_of_mpeg_says_what_it_is);
  tcase_add_test (tc, packet_of_mpeg_that_does_not_say_is_unknown);
  tcase_add_test (tc, h264_nal_header_tells_what_it_is);
  tcase_add_test (tc, most_important_unit_of_an_aggregate_decides);
  tcase_add_test (tc, slice_that_is_shown_before_its_key_frame_leads);
  tcase_add_test (tc, lengths_are_those_of_the_codec_data);
  tcase_add_test (tc, access_unit_is_what_its_slices_are);
  tcase_add_test (tc, h265_nal_header_tells_what_it_is);
  tcase_add_test (tc, sub_layers_of_h265_say_what_they_need);
  tcase_add_test (tc, lower_sub_layer_may_be_needed_by_a_higher_one);
  tcase_add_test (tc, frame_that_refreshes_nothing_is_droppable);
  tcase_add_test (tc, first_packet_of_vp8_tells_the_kind);
  tcase_add_test (tc, first_packet_of_vp9_tells_the_kind);
  tcase_add_test (tc, packets_of_av1_tell_the_kind);
  tcase_add_test (tc, malformed_picture_is_of_unknown_kind);
  return s;
}

GST_CHECK_MAIN (pictureinfo);
