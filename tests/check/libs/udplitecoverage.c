/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the automatic coverage of packets against the RFCs of the formats. The
 * test makes packets field by field and counts the bytes of their headers.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "udplitecoverage.h"

#define ALL UDPLITE_COVERAGE_ALL
/* Size in bytes of the payload that follows the headers. The checksum need not
 * cover this payload. */
#define REST 50

/* A packet to which fields are appended; its size is counted in bits. */
typedef struct
{
  guint8 bytes[2048];
  gsize n_bits;
} Packet;

static void
put (Packet * packet, guint n_bits, guint32 value)
{
  for (; n_bits > 0; n_bits--, packet->n_bits++)
    if (value >> (n_bits - 1) & 1)
      packet->bytes[packet->n_bits / 8] |= 0x80 >> packet->n_bits % 8;
}

static void
put_bytes (Packet * packet, const guint8 * bytes, gsize size)
{
  gsize i;

  for (i = 0; i < size; i++)
    put (packet, 8, bytes[i]);
}

static void
put_same (Packet * packet, guint8 byte, gsize n)
{
  for (; n > 0; n--)
    put (packet, 8, byte);
}

/* Returns the size of the packet in bytes. If the last byte is incomplete, it
 * counts as a whole byte. */
static gsize
get_size (const Packet * packet)
{
  return (packet->n_bits + 7) / 8;
}

/* RFC 3550 section 5.1 */
static void
begin (Packet * packet, guint first, guint type)
{
  memset (packet, 0, sizeof (*packet));
  put (packet, 8, first);
  put (packet, 8, type);
  put (packet, 16, 0x1234);
  put (packet, 32, 90000);
  put (packet, 32, 0xcafe0001);
}

static guint
get_coverage (UdpliteFormat format, const Packet * packet, guint mark)
{
  return udplite_coverage_of_payload (format, packet->bytes,
      get_size (packet), mark);
}

/* Checks how many bytes the checksum covers in three cases:
 * - `packet` consists only of headers. The checksum must cover all of them.
 * - A payload follows. The checksum must cover no byte of the payload.
 * - The packet ends within the headers, at each possible position. The checksum
 *   must cover the whole packet. */
static void
check_needed (UdpliteFormat format, Packet packet)
{
  gsize needed = get_size (&packet), size;

  packet.n_bits = needed * 8;
  fail_unless_equals_int (get_coverage (format, &packet, ALL), needed);
  put_same (&packet, 0x5a, REST);
  fail_unless_equals_int (get_coverage (format, &packet, ALL), needed);
  for (size = 0; size < needed; size++)
    fail_unless (udplite_coverage_of_payload (format, packet.bytes, size,
            ALL) >= size, "%u of %u bytes", (guint) size, (guint) needed);
}

static void
check_all (UdpliteFormat format, Packet packet)
{
  put_same (&packet, 0x5a, REST);
  fail_unless_equals_int_hex (get_coverage (format, &packet, ALL), ALL);
}

GST_START_TEST (caps_say_the_format)
{
  static const struct
  {
    const gchar *name;
    gint payload;
    UdpliteFormat format;
  } table[] = {
    {"MPV", 96, UDPLITE_FORMAT_RTP_MPV}, {"mpv", -1, UDPLITE_FORMAT_RTP_MPV},
    {NULL, 32, UDPLITE_FORMAT_RTP_MPV}, {NULL, 34, UDPLITE_FORMAT_RTP_H263},
    {"H263", 34, UDPLITE_FORMAT_RTP_H263},
    {"H263-1998", 96, UDPLITE_FORMAT_RTP_H263_1998},
    {"H263-2000", 96, UDPLITE_FORMAT_RTP_H263_1998},
    /* If the encoding name and the payload type of RTP say different things,
     * the encoding name must have precedence. */
    {"H263-1998", 34, UDPLITE_FORMAT_RTP_H263_1998},
    {"H264", 32, UDPLITE_FORMAT_RTP}, {"MP2T", 33, UDPLITE_FORMAT_RTP},
    {"MPV1", 96, UDPLITE_FORMAT_RTP}, {"", 32, UDPLITE_FORMAT_RTP},
    {NULL, 33, UDPLITE_FORMAT_RTP}, {NULL, -1, UDPLITE_FORMAT_RTP}
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (table); i++)
    fail_unless_equals_int (udplite_format_from_rtp (table[i].name,
            table[i].payload), table[i].format);
}

GST_END_TEST;

GST_START_TEST (bytes_of_an_unknown_format_are_covered_as_marked)
{
  static const guint8 bytes[20] = { 0, };
  const UdpliteFormat format = UDPLITE_FORMAT_UNKNOWN;
  guint mark;

  for (mark = 0; mark <= sizeof (bytes); mark++)
    fail_unless_equals_int (udplite_coverage_of_payload (format, bytes,
            sizeof (bytes), mark), mark);
  fail_unless_equals_int_hex (udplite_coverage_of_payload (format, bytes,
          sizeof (bytes), sizeof (bytes) + 1), ALL);
  fail_unless_equals_int_hex (udplite_coverage_of_payload (format, bytes,
          sizeof (bytes), ALL), ALL);
  fail_unless_equals_int (udplite_coverage_of_payload (format, NULL, 0, 0), 0);
}

GST_END_TEST;

/* The list of contributing sources and an extension make the RTP header longer.
 * The checksum must cover the whole header and, after it, `mark` bytes of the
 * payload. */
GST_START_TEST (a_mark_counts_behind_the_header_of_rtp)
{
  guint n_sources, n_words, mark;
  Packet packet;
  gsize header;

  for (n_sources = 0; n_sources < 16; n_sources++) {
    for (n_words = 0; n_words < 4; n_words++) {
      begin (&packet, (n_words ? 0x90 : 0x80) | n_sources, 96);
      put_same (&packet, 0xee, n_sources * 4);
      if (n_words)
        put (&packet, 32, 0xbede0000 + n_words - 1);
      put_same (&packet, 0xee, n_words ? (n_words - 1) * 4 : 0);
      header = get_size (&packet);
      put_same (&packet, 0x5a, REST);
      for (mark = 0; mark <= REST; mark++)
        fail_unless_equals_int (get_coverage (UDPLITE_FORMAT_RTP, &packet,
                mark), header + mark);
      fail_unless_equals_int_hex (get_coverage (UDPLITE_FORMAT_RTP, &packet,
              REST + 1), ALL);
      fail_unless_equals_int_hex (get_coverage (UDPLITE_FORMAT_RTP, &packet,
              ALL), ALL);
    }
  }
}

GST_END_TEST;

/* ... whatever is marked */
GST_START_TEST (packet_other_than_plain_rtp_is_covered_whole)
{
  static const struct
  {
    const gchar *what;
    guint first, type;
  } table[] = {
    {"version 0", 0x00, 96}, {"version 1", 0x40, 96}, {"version 3", 0xc0, 96},
    {"padded", 0xa0, 96}, {"sender report", 0x80, 200}, {"FIR", 0x80, 192},
    {"the last of RTCP", 0x80, 223}
  };
  UdpliteFormat format;
  Packet packet;
  gsize size;
  guint i;

  for (format = UDPLITE_FORMAT_RTP; format <= UDPLITE_FORMAT_RTP_H263_1998;
      format++) {
    for (i = 0; i < G_N_ELEMENTS (table); i++) {
      begin (&packet, table[i].first, table[i].type);
      put_same (&packet, 0, REST);
      fail_unless (get_coverage (format, &packet, 20) == ALL, "%s",
          table[i].what);
      fail_unless (get_coverage (format, &packet, ALL) == ALL, "%s",
          table[i].what);
    }
    /* The RTP header has one contributing source and an extension of one word.
     * The packet is cut within this header, at each possible position. The
     * checksum must then cover the whole packet.
     */
    begin (&packet, 0x91, 96);
    put (&packet, 32, 1);
    put (&packet, 32, 0xbede0001);
    put_same (&packet, 0, 4);
    for (size = 0; size < get_size (&packet); size++)
      fail_unless_equals_int_hex (udplite_coverage_of_payload (format,
              packet.bytes, size, 0), ALL);
  }
}

GST_END_TEST;

/* MPEG-1 and MPEG-2: RFC 2250 section 3.4 */

static const guint8 sequence[] = { 0, 0, 1, 0xb3, 0x16, 0x01, 0x20, 0x13, 0xff,
  0xff, 0xe0, 0xa0, 0, 0, 1, 0xb5, 0x14, 0x8a, 0, 1, 0, 0
};
static const guint8 group[] = { 0, 0, 1, 0xb8, 0, 8, 0, 0x40 };
static const guint8 picture[] = { 0, 0, 1, 0, 0x01, 0x4f, 0xff, 0xf8 };
static const guint8 user_data[] = { 0, 0, 1, 0xb2, 'h', 'e', 'l', 'l', 'o' };
static const guint8 slice[] = { 0, 0, 1, 1, 0x12, 0x34, 0x56, 0x78 };
static const guint8 last_slice[] = { 0, 0, 1, 0xaf, 0x12, 0x34, 0x56, 0x78 };

static void
begin_mpv (Packet * packet, gboolean t, guint type)
{
  begin (packet, 0x80, 32);
  put (packet, 5, 0);           /* MBZ */
  put (packet, 1, t);
  put (packet, 10, 5);          /* TR */
  put (packet, 5, 0x07);        /* AN, N, S, B, E */
  put (packet, 3, type);
  put (packet, 8, 0x11);        /* vectors */
}

/* Section 3.4.1 */
static void
put_mpv_extension (Packet * packet, gboolean unused, gboolean e, gboolean d)
{
  put (packet, 1, unused);
  put (packet, 1, e);
  put (packet, 29, 0x1fff7ffe);
  put (packet, 1, d);
}

GST_START_TEST (mpv_slices_need_the_payload_header)
{
  Packet packet;

  begin_mpv (&packet, FALSE, 2);
  check_needed (UDPLITE_FORMAT_RTP_MPV, packet);
  fail_unless_equals_int (get_size (&packet), 12 + 4);
  begin_mpv (&packet, TRUE, 2);
  put_mpv_extension (&packet, FALSE, FALSE, FALSE);
  check_needed (UDPLITE_FORMAT_RTP_MPV, packet);
  fail_unless_equals_int (get_size (&packet), 12 + 8);
  begin_mpv (&packet, TRUE, 2);
  put_mpv_extension (&packet, FALSE, FALSE, TRUE);
  put (&packet, 32, 0x12345678);
  check_needed (UDPLITE_FORMAT_RTP_MPV, packet);
}

GST_END_TEST;

GST_START_TEST (mpv_further_extensions_are_headers)
{
  Packet packet;
  guint words, d;

  for (words = 1; words < 256; words++) {
    for (d = 0; d < 2; d++) {
      begin_mpv (&packet, TRUE, 1);
      put_mpv_extension (&packet, FALSE, TRUE, d);
      put_same (&packet, 0x12, d * 4);
      put (&packet, 8, words);
      put_same (&packet, 0x34, words * 4 - 1);
      check_needed (UDPLITE_FORMAT_RTP_MPV, packet);
    }
  }
}

GST_END_TEST;

static void
check_mpv_head (const Packet * packet)
{
  Packet more = *packet;

  check_all (UDPLITE_FORMAT_RTP_MPV, more);
  put_bytes (&more, slice, sizeof (slice));
  put_bytes (&more, picture, sizeof (picture));
  put_bytes (&more, slice, sizeof (slice));
  fail_unless_equals_int (get_coverage (UDPLITE_FORMAT_RTP_MPV, &more, ALL),
      get_size (packet));
}

GST_START_TEST (mpv_headers_of_the_stream_are_covered_up_to_a_slice)
{
  static const struct
  {
    const guint8 *bytes;
    gsize size;
  } headers[] = {
    {sequence, sizeof (sequence)}, {group, sizeof (group)},
    {picture, sizeof (picture)}, {user_data, sizeof (user_data)}
  };
  guint first, i;
  Packet packet;

  for (first = 0; first < G_N_ELEMENTS (headers); first++) {
    begin_mpv (&packet, FALSE, 1);
    for (i = first; i < G_N_ELEMENTS (headers); i++) {
      put_bytes (&packet, headers[i].bytes, headers[i].size);
      check_mpv_head (&packet);
    }
  }
  /* Stuffing bytes precede a start code. */
  begin_mpv (&packet, FALSE, 1);
  put_same (&packet, 0, 3);
  put_bytes (&packet, picture, sizeof (picture));
  check_mpv_head (&packet);
}

GST_END_TEST;

GST_START_TEST (mpv_headers_behind_slices_are_not_sought)
{
  Packet packet;

  begin_mpv (&packet, FALSE, 1);
  put_bytes (&packet, last_slice, sizeof (last_slice));
  put_bytes (&packet, sequence, sizeof (sequence));
  fail_unless_equals_int (get_coverage (UDPLITE_FORMAT_RTP_MPV, &packet, ALL),
      16);
  begin_mpv (&packet, FALSE, 1);
  put (&packet, 8, 0x77);
  put_bytes (&packet, sequence, sizeof (sequence));
  fail_unless_equals_int (get_coverage (UDPLITE_FORMAT_RTP_MPV, &packet, ALL),
      16);
}

GST_END_TEST;

GST_START_TEST (mpv_nonsense_is_covered_whole)
{
  Packet packet;
  guint type, bit;

  for (type = 0; type < 8; type++) {
    begin_mpv (&packet, FALSE, type);
    if (type <= 4)
      check_needed (UDPLITE_FORMAT_RTP_MPV, packet);
    else
      check_all (UDPLITE_FORMAT_RTP_MPV, packet);
  }
  for (bit = 3; bit < 8; bit++) {
    begin_mpv (&packet, FALSE, 1);
    packet.bytes[12] |= 1 << bit;
    check_all (UDPLITE_FORMAT_RTP_MPV, packet);
  }
  begin_mpv (&packet, TRUE, 1);
  put_mpv_extension (&packet, TRUE, FALSE, FALSE);
  check_all (UDPLITE_FORMAT_RTP_MPV, packet);
  begin_mpv (&packet, TRUE, 1);
  put_mpv_extension (&packet, FALSE, TRUE, FALSE);
  put (&packet, 8, 0);
  check_all (UDPLITE_FORMAT_RTP_MPV, packet);
}

GST_END_TEST;

/* H.263: ITU-T H.263 section 5.1 */

typedef struct
{
  gboolean pb, cpm;
  guint n_psupp;                /* PEI and PSUPP */
  /* with PLUSPTYPE */
  guint type;                   /* Picture type code of MPPTYPE. */
  guint format;                 /* 6: CPFMT */
  gboolean extended_ratio, custom_clock, umv, umv_limited, slices;
  gboolean scalable;
  gboolean selection, trp;
} Picture;

static void
put_picture_end (Packet * packet, const Picture * p, guint trb)
{
  guint i;

  if (p->pb)
    put (packet, trb + 2, 0xff);
  for (i = 0; i < p->n_psupp; i++)
    put (packet, 9, 0x1a5);
  put (packet, 1, 0);           /* PEI */
}

/* Writes the beginning of a picture header of H.263: the start code (PSC), TR
 * and the first bits of PTYPE. If `zeros` is FALSE, the first 16 zeros of PSC
 * are left out, as in RFC 4629. */
static void
put_picture_start (Packet * packet, gboolean zeros, guint format)
{
  put (packet, zeros ? 16 : 0, 0);
  put (packet, 6, 0x20);
  put (packet, 8, 0xab);
  put (packet, 5, 0x10);
  put (packet, 3, format);
}

static void
put_baseline (Packet * packet, gboolean zeros, const Picture * p)
{
  put_picture_start (packet, zeros, 2);
  put (packet, 4, 0x8);
  put (packet, 1, p->pb);
  put (packet, 5, 10);          /* PQUANT */
  put (packet, 1, p->cpm);
  put (packet, p->cpm ? 2 : 0, 3);
  put_picture_end (packet, p, 3);
}

static void
put_options (Packet * packet, const Picture * p)
{
  put (packet, 3, p->format);
  put (packet, 1, p->custom_clock);
  put (packet, 1, p->umv);
  put (packet, 4, 0);
  put (packet, 1, p->slices);
  put (packet, 1, p->selection);
  put (packet, 3, 0);
  put (packet, 4, 8);
}

static void
put_plus_types (Packet * packet, const Picture * p)
{
  put (packet, 3, 1);           /* UFEP */
  put_options (packet, p);
  put (packet, 3, p->type);
  put (packet, 6, 1);           /* RPR, RRU, RTYPE, reserved, 1 */
  put (packet, 1, p->cpm);
  put (packet, p->cpm ? 2 : 0, 3);
}

static void
put_plus (Packet * packet, gboolean zeros, const Picture * p)
{
  put_picture_start (packet, zeros, 7);
  put_plus_types (packet, p);
  if (p->format == 6) {
    put (packet, 4, p->extended_ratio ? 15 : 1);
    put (packet, 19, 0x2b648);
    put (packet, p->extended_ratio ? 16 : 0, 0x1234);
  }
  if (p->custom_clock)
    put (packet, 8 + 2, 0x3ff);
  if (p->umv)
    put (packet, p->umv_limited ? 1 : 2, 1);
  put (packet, p->slices ? 2 : 0, 3);
  if (p->scalable)
    put (packet, 4 + 4, 0xff);
  if (p->selection) {
    put (packet, 3, 7);
    put (packet, 1, p->trp);
    put (packet, p->trp ? 10 : 0, 0x3ff);
    put (packet, 2, 1);         /* BCI */
  }
  put (packet, 5, 1);           /* PQUANT */
  put_picture_end (packet, p, p->custom_clock ? 5 : 3);
}

/* Returns a picture header with optional fields. The bits of `choice` select
 * these fields. */
static Picture
choose_picture (guint choice)
{
  Picture p = { 0, };

  p.pb = choice & 1;
  p.cpm = choice >> 1 & 1;
  p.n_psupp = choice >> 2 & 3;
  p.format = choice >> 4 & 1 ? 6 : 2;
  p.extended_ratio = choice >> 5 & 1;
  p.custom_clock = choice >> 6 & 1;
  p.umv = choice >> 7 & 1;
  p.umv_limited = choice >> 8 & 1;
  p.slices = choice >> 9 & 1;
  p.selection = choice >> 10 & 1;
  p.trp = choice >> 11 & 1;
  p.scalable = choice >> 12 & 1;
  p.type = p.pb ? 2 : p.scalable ? 3 : 1;
  return p;
}

#define BASELINE_CHOICES (1 << 4)
#define PLUS_CHOICES (1 << 13)

/* RFC 2190 section 5: modes A, B, and C */
static void
begin_h263 (Packet * packet, guint mode)
{
  static const guint8 first[] = { 0x00, 0x80, 0xc0 };

  begin (packet, 0x80, 34);
  put (packet, 8, first[mode]);
  put_same (packet, 0x12, 3 + mode * 4);
}

GST_START_TEST (h263_needs_the_header_of_its_mode)
{
  Packet packet;
  guint mode;

  for (mode = 0; mode < 3; mode++) {
    begin_h263 (&packet, mode);
    check_needed (UDPLITE_FORMAT_RTP_H263, packet);
    fail_unless_equals_int (get_size (&packet), 12 + 4 + mode * 4);
    /* a group of blocks */
    put (&packet, 32, 0x00008800);
    fail_unless_equals_int (get_coverage (UDPLITE_FORMAT_RTP_H263, &packet,
            ALL), 12 + 4 + mode * 4);
    /* The packet ends before the end of its picture header, so all bytes of the
     * packet must be covered. */
    begin_h263 (&packet, mode);
    put_same (&packet, 0, 2);
    fail_unless_equals_int (get_coverage (UDPLITE_FORMAT_RTP_H263, &packet,
            ALL), get_size (&packet));
  }
}

GST_END_TEST;

GST_START_TEST (h263_picture_headers_are_covered)
{
  Packet packet;
  guint choice;
  Picture p;

  for (choice = 0; choice < BASELINE_CHOICES; choice++) {
    p = choose_picture (choice);
    begin_h263 (&packet, 0);
    put_baseline (&packet, TRUE, &p);
    check_needed (UDPLITE_FORMAT_RTP_H263, packet);
  }
  /* Without optional fields, a picture header of H.263 has 50 bits (section
   * 5.1), which are 7 bytes. */
  p = choose_picture (0);
  begin_h263 (&packet, 0);
  put_baseline (&packet, TRUE, &p);
  fail_unless_equals_int (get_size (&packet), 12 + 4 + 7);
  /* The field SBIT of the payload header is 1: the first bit of the payload
   * belongs to the previous packet. The payload then begins in the middle of a
   * byte, so it cannot begin with a picture start code. Only the RTP header and
   * the payload header must be covered. */
  packet.bytes[12] |= 0x08;
  put_same (&packet, 0x5a, REST);
  fail_unless_equals_int (get_coverage (UDPLITE_FORMAT_RTP_H263, &packet, ALL),
      12 + 4);
}

GST_END_TEST;

/* RFC 4629 section 5.1 */
static void
begin_h263_1998 (Packet * packet, gboolean start, gboolean vrc, guint extra)
{
  begin (packet, 0x80, 96);
  put (packet, 5, 0);
  put (packet, 1, start);
  put (packet, 1, vrc);
  put (packet, 6, extra);
  put (packet, 3, 0);
  put_same (packet, 0x12, vrc);
  put_same (packet, 0x34, extra);
}

GST_START_TEST (h263_1998_needs_its_header_and_the_extra_picture_header)
{
  guint start, vrc, extra;
  Packet packet;
  gsize header;

  for (extra = 0; extra < 64; extra++) {
    for (vrc = 0; vrc < 2; vrc++) {
      for (start = 0; start < 2; start++) {
        begin_h263_1998 (&packet, start, vrc, extra);
        check_needed (UDPLITE_FORMAT_RTP_H263_1998, packet);
        header = get_size (&packet);
        /* The bit P of the payload header says that the payload begins with a
         * start code. If P is set, the test begins the payload with the start
         * code of a group of blocks, a slice or an end of sequence. If P is not
         * set, the test begins the payload with the bits that a picture start
         * code has. Without P, these bits are not a start code. In both cases,
         * the payload must not be taken for a picture header. */
        put (&packet, 6, start ? 0x21 + extra % 31 : 0x20);
        put (&packet, 20, 0x12345);
        fail_unless_equals_int (get_coverage (UDPLITE_FORMAT_RTP_H263_1998,
                &packet, ALL), header);
      }
    }
  }
}

GST_END_TEST;

GST_START_TEST (h263_1998_picture_headers_are_covered)
{
  Packet packet;
  guint choice;
  Picture p;

  for (choice = 0; choice < BASELINE_CHOICES; choice++) {
    p = choose_picture (choice);
    begin_h263_1998 (&packet, TRUE, choice & 1, choice);
    put_baseline (&packet, FALSE, &p);
    check_needed (UDPLITE_FORMAT_RTP_H263_1998, packet);
  }
}

GST_END_TEST;

/* Checks how many bytes of an H.263 packet the checksum covers if the picture
 * header has the field PLUSPTYPE. The checksum must cover the whole header. It
 * may cover more, because some packets do not show whether the header has the
 * field ELNUM. In such a packet, the bits after the header can be mistaken for
 * fields of the header:
 * - If they are mistaken for PEI and PSUPP, up to 5 bytes after the header are
 *   covered.
 * - If they are mistaken for BCI, the whole packet is covered. */
static void
check_plus (UdpliteFormat format, Packet packet, const Picture * p)
{
  guint coverage, needed = get_size (&packet);

  put_same (&packet, 0, REST);
  coverage = get_coverage (format, &packet, ALL);
  if (p->type == 3)
    fail_unless_equals_int (coverage, needed);
  fail_unless (coverage >= needed, "%u of %u needed", coverage, needed);
  fail_unless (coverage <= needed + 5 || (p->selection && coverage == ALL),
      "%u, %u needed", coverage, needed);
}

GST_START_TEST (pictures_with_plusptype_are_covered)
{
  guint choice, mode;
  Packet packet;
  Picture p;

  for (choice = 0; choice < PLUS_CHOICES; choice++) {
    p = choose_picture (choice);
    begin_h263_1998 (&packet, TRUE, FALSE, 0);
    put_plus (&packet, FALSE, &p);
    check_plus (UDPLITE_FORMAT_RTP_H263_1998, packet, &p);
    mode = choice % 3;
    begin_h263 (&packet, mode);
    put_plus (&packet, TRUE, &p);
    check_plus (UDPLITE_FORMAT_RTP_H263, packet, &p);
  }
}

GST_END_TEST;

/* If a packet ends within its picture header, the checksum must cover all bytes
 * of the packet. */
GST_START_TEST (cut_picture_headers_are_covered_whole)
{
  guint choice;
  Packet packet;
  Picture p;
  gsize size;

  for (choice = 0; choice < PLUS_CHOICES; choice += 7) {
    p = choose_picture (choice);
    begin_h263_1998 (&packet, TRUE, FALSE, 0);
    put_plus (&packet, FALSE, &p);
    for (size = 15; size < get_size (&packet); size++)
      fail_unless (udplite_coverage_of_payload (UDPLITE_FORMAT_RTP_H263_1998,
              packet.bytes, size, ALL) >= size, "%u, %u bytes", choice,
          (guint) size);
  }
}

GST_END_TEST;

static void
check_bits_changed (const Packet * packet, gsize place, guint n_bits,
    guint value)
{
  Packet changed = *packet;
  gsize i;

  for (i = place; i < place + n_bits; i++)
    changed.bytes[i / 8] &= ~(0x80 >> i % 8);
  changed.n_bits = place;
  put (&changed, n_bits, value);
  changed.n_bits = packet->n_bits;
  check_all (UDPLITE_FORMAT_RTP_H263_1998, changed);
}

/* Converts the position of a bit. `bit` is the number of bits between the end
 * of the headers and this bit. The result is the number of bits between the
 * beginning of the packet and this bit. The headers are the RTP header and the
 * header of RFC 4629, which have 14 bytes in total. */
#define AT(bit) (14 * 8 + (bit))

GST_START_TEST (picture_headers_that_nobody_can_bound_are_covered_whole)
{
  static const struct
  {
    guint place, n_bits, value;
  } plus[] = {
    {14, 2, 3}, {14, 2, 0},     /* PTYPE does not begin with 10. */
    /* UFEP = 0 says that the optional fields (OPPTYPE) are missing here,
     * because they were sent in an earlier header.
     */
    {22, 3, 0},
    {22, 3, 2}, {22, 3, 7},     /* UFEP: reserved */
    {25, 3, 0}, {25, 3, 7},     /* source format: reserved */
    {39, 4, 0}, {39, 4, 12}, {39, 4, 10}, {39, 4, 9},   /* annexes U, V, ... */
    {43, 3, 6}, {43, 3, 7},     /* picture type: reserved */
    {46, 1, 1},                 /* annex P: RPRP */
    {49, 3, 0}, {49, 3, 5},     /* end of MPPTYPE */
    /* The field BCI (back-channel message indication of annex N) must not be
     * 00. If its first bit is 1, a back-channel message follows. */
    {65, 2, 0}, {65, 2, 2}, {65, 2, 3},
    {67, 5, 0}                  /* PQUANT */
  };
  const struct
  {
    guint place, n_bits, value;
  } baseline[] = {
    {19, 3, 0}, {19, 3, 6},     /* source format */
    {27, 5, 0}                  /* PQUANT */
  };
  Picture p = choose_picture (1 << 10 | 1 << 12);
  Packet packet;
  guint i;

  begin_h263_1998 (&packet, TRUE, FALSE, 0);
  put_plus (&packet, FALSE, &p);
  check_plus (UDPLITE_FORMAT_RTP_H263_1998, packet, &p);
  for (i = 0; i < G_N_ELEMENTS (plus); i++)
    check_bits_changed (&packet, AT (plus[i].place), plus[i].n_bits,
        plus[i].value);
  begin_h263_1998 (&packet, TRUE, FALSE, 0);
  put_baseline (&packet, FALSE, &p);
  for (i = 0; i < G_N_ELEMENTS (baseline); i++)
    check_bits_changed (&packet, AT (baseline[i].place), baseline[i].n_bits,
        baseline[i].value);
}

GST_END_TEST;

/* The coverage mark says how many bytes of the RTP payload, from its beginning,
 * the payloader has marked as necessary. The checksum must cover all of these
 * bytes. If the mark ends within the header of the payload format, the checksum
 * must cover this whole header. */
GST_START_TEST (a_mark_is_covered_and_so_is_the_payload_header)
{
  static const struct
  {
    UdpliteFormat format;
    gsize header;
  } table[] = {
    {UDPLITE_FORMAT_RTP_MPV, 4}, {UDPLITE_FORMAT_RTP_H263, 8},
    {UDPLITE_FORMAT_RTP_H263_1998, 2 + 7}
  };
  Picture p = choose_picture (0);
  Packet packet;
  guint i, mark;

  for (i = 0; i < G_N_ELEMENTS (table); i++) {
    begin_mpv (&packet, FALSE, 1);
    if (table[i].format == UDPLITE_FORMAT_RTP_H263)
      begin_h263 (&packet, 1);
    if (table[i].format == UDPLITE_FORMAT_RTP_H263_1998)
      begin_h263_1998 (&packet, TRUE, FALSE, 7);
    put_bytes (&packet, sequence, sizeof (sequence));
    put_baseline (&packet, TRUE, &p);
    for (mark = 0; mark <= get_size (&packet) - 12; mark++)
      fail_unless_equals_int (get_coverage (table[i].format, &packet, mark),
          12 + MAX (mark, table[i].header));
    fail_unless_equals_int_hex (get_coverage (table[i].format, &packet, mark),
        ALL);
    fail_unless_equals_int_hex (udplite_coverage_of_payload (table[i].format,
            packet.bytes, 12 + table[i].header - 1, 0), ALL);
  }
}

GST_END_TEST;

static Suite *
udplitecoverage_suite (void)
{
  Suite *s = suite_create ("udplitecoverage");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, caps_say_the_format);
  tcase_add_test (tc, bytes_of_an_unknown_format_are_covered_as_marked);
  tcase_add_test (tc, a_mark_counts_behind_the_header_of_rtp);
  tcase_add_test (tc, packet_other_than_plain_rtp_is_covered_whole);
  tcase_add_test (tc, mpv_slices_need_the_payload_header);
  tcase_add_test (tc, mpv_further_extensions_are_headers);
  tcase_add_test (tc, mpv_headers_of_the_stream_are_covered_up_to_a_slice);
  tcase_add_test (tc, mpv_headers_behind_slices_are_not_sought);
  tcase_add_test (tc, mpv_nonsense_is_covered_whole);
  tcase_add_test (tc, h263_needs_the_header_of_its_mode);
  tcase_add_test (tc, h263_picture_headers_are_covered);
  tcase_add_test (tc, h263_1998_needs_its_header_and_the_extra_picture_header);
  tcase_add_test (tc, h263_1998_picture_headers_are_covered);
  tcase_add_test (tc, pictures_with_plusptype_are_covered);
  tcase_add_test (tc, cut_picture_headers_are_covered_whole);
  tcase_add_test (tc, picture_headers_that_nobody_can_bound_are_covered_whole);
  tcase_add_test (tc, a_mark_is_covered_and_so_is_the_payload_header);
  return s;
}

GST_CHECK_MAIN (udplitecoverage);
