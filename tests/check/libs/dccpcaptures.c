/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads packets that were recorded between a Linux 6.1 kernel and its peer
 * (tests/check/data/dccp). Two tests are made:
 * - The fields of each packet are read, and the packet is written again from
 *   these fields.
 * - The value of each option is read, and the option is written again from this
 *   value.
 *
 * In both tests, the written bytes must be the same as in the recording. The
 * reader must refuse only the packets that were made invalid on purpose. */

#include <gio/gio.h>
#include <gst/check/gstcheck.h>

#include <string.h>

#include "ccid3options.h"
#include "dccpoptions.h"

/* Sizes of the headers in the recordings. The recordings are libpcap files with
 * Ethernet frames, and were written on a little-endian machine. */
#define FILE_HEADER 24
#define RECORD_HEADER 16
#define ETHERNET_HEADER 14
#define IPV4_HEADER 20

typedef struct
{
  const gchar *name;
  guint packets;
  guint refused[DCCP_LAST_REFUSAL];
  /* number of accepted packets of each DCCP packet type */
  guint types[DCCP_LAST_TYPE];
} Capture;

static const Capture captures[] = {
  {"linux61-peer.pcap.gz", 436, {[DCCP_ACCEPTED] = 436},
      {1, 1, 284, 145, 3, 0, 1, 1}},
  {"linux61-scenarios.pcap.gz", 783,
        {[DCCP_ACCEPTED] = 782,[DCCP_REFUSED_CHECKSUM] = 1},
      {17, 17, 504, 136, 57, 0, 10, 35, 5, 1}},
};

static guint32
read_le32 (const guint8 * bytes)
{
  return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (guint32) bytes[3] << 24;
}

static GByteArray *
read_capture (const gchar * name)
{
  GConverter *gunzip =
      G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP));
  gchar *path = g_build_filename (DCCP_CAPTURES, name, NULL);
  GFile *file = g_file_new_for_path (path);
  GInputStream *in = G_INPUT_STREAM (g_file_read (file, NULL, NULL));
  GByteArray *all = g_byte_array_new ();
  GInputStream *plain;
  guint8 piece[65536];
  gssize size;

  fail_unless (in != NULL, "no %s", path);
  plain = g_converter_input_stream_new (in, gunzip);
  while ((size = g_input_stream_read (plain, piece, sizeof (piece), NULL,
              NULL)) > 0)
    g_byte_array_append (all, piece, size);
  fail_unless_equals_int (size, 0);
  g_object_unref (plain);
  g_object_unref (in);
  g_object_unref (file);
  g_object_unref (gunzip);
  g_free (path);
  return all;
}

/* --- options -------------------------------------------------------------- */

/* Writes `option` to `writer`. If this function knows the format of the option,
 * it reads the values in the option and writes them. Otherwise it copies the
 * bytes. Returns FALSE if the option is not valid. */
static gboolean
write_value (DccpOptionWriter * writer, const DccpOption * option)
{
  TfrcIntervals intervals;
  guint64 number;
  guint32 stamp;

  switch (option->type) {
    case CCID3_OPTION_LOSS_EVENT_RATE:
    case CCID3_OPTION_RECEIVE_RATE:
      return ccid3_option_read_rate (option, &stamp)
          && dccp_option_write_number (writer, option->type, stamp, 4);
    case DCCP_OPTION_NDP_COUNT:
      return dccp_option_read_number (option, &number)
          && dccp_option_write_number (writer, option->type, number,
          option->size);
    case DCCP_OPTION_TIMESTAMP:
      return dccp_option_read_timestamp (option, &stamp)
          && dccp_option_write_number (writer, option->type, stamp, 4);
    case DCCP_OPTION_TIMESTAMP_ECHO:
      return dccp_option_read_timestamp_echo (option, &stamp, &number)
          && dccp_option_write_timestamp_echo (writer, stamp, number);
    case DCCP_OPTION_ELAPSED_TIME:
      return dccp_option_read_elapsed_time (option, &number)
          && dccp_option_write_elapsed_time (writer, number);
    case CCID3_OPTION_LOSS_INTERVALS:
      return ccid3_option_read_loss_intervals (option, &intervals)
          && ccid3_option_write_loss_intervals (writer, &intervals);
    default:
      return dccp_option_write (writer, option->mandatory, option->type,
          option->value, option->size);
  }
}

/* Reads each option of the packet and writes it again. The bytes must be the
 * same. Linux writes Padding before other options, so the function skips
 * Padding. */
static void
check_options (const DccpPacket * packet, const gchar * name, guint number)
{
  const guint8 *next = packet->options;
  DccpOptionReader reader;
  DccpOption option;

  dccp_option_reader_init (&reader, packet);
  while (dccp_option_reader_next (&reader, &option)) {
    DccpOptionWriter writer;

    while (next < option.value && *next == DCCP_OPTION_PADDING)
      next++;
    dccp_option_writer_init (&writer);
    fail_unless (write_value (&writer, &option), "%s, packet %u: option %u",
        name, number, option.type);
    fail_unless (next + writer.size == option.value + option.size
        && !memcmp (writer.bytes, next, writer.size),
        "%s, packet %u: option %u", name, number, option.type);
    next += writer.size;
  }
  fail_if (reader.broken);
  while (next < packet->payload)
    fail_unless (*next++ == DCCP_OPTION_PADDING, "%s, packet %u", name, number);
}

/* --- packets -------------------------------------------------------------- */

static void
check_written (const DccpPacket * packet, const DatagramPath * path,
    const guint8 * bytes, const gchar * name, guint number)
{
  guint8 written[DCCP_MAX_HEADER];
  gsize size = dccp_packet_write (packet, path, written);

  fail_unless (bytes + size == packet->payload
      && !memcmp (written, bytes, size), "%s, packet %u", name, number);
}

static DccpRefusal
check_packet (const guint8 * ip, gsize size, DccpPacket * packet,
    const gchar * name, guint number)
{
  const gsize length = ip[2] << 8 | ip[3];
  DatagramPath path = {.address_size = 4 };
  DccpRefusal refusal;
  guint8 *copy;

  fail_unless (ip[0] == 0x45 && ip[9] == DCCP_PROTOCOL && length <= size);
  memcpy (path.remote, ip + 12, 4);
  memcpy (path.local, ip + 16, 4);
  copy = g_memdup2 (ip + IPV4_HEADER, length - IPV4_HEADER);
  refusal = dccp_packet_parse (packet, &path, copy, length - IPV4_HEADER);
  if (refusal == DCCP_ACCEPTED) {
    check_written (packet, &path, copy, name, number);
    check_options (packet, name, number);
  }
  g_free (copy);
  return refusal;
}

GST_START_TEST (every_packet_is_written_as_it_was_read)
{
  const Capture *capture = &captures[__i__];
  GByteArray *all = read_capture (capture->name);
  Capture seen = { capture->name, };
  gsize offset = FILE_HEADER, size;
  guint i;

  while (offset + RECORD_HEADER <= all->len) {
    DccpPacket packet;
    DccpRefusal refusal;

    size = read_le32 (all->data + offset + 8);
    offset += RECORD_HEADER;
    fail_unless (offset + size <= all->len && size > ETHERNET_HEADER);
    seen.packets++;
    refusal = check_packet (all->data + offset + ETHERNET_HEADER,
        size - ETHERNET_HEADER, &packet, capture->name, seen.packets);
    seen.refused[refusal]++;
    if (refusal == DCCP_ACCEPTED)
      seen.types[packet.type]++;
    offset += size;
  }
  fail_unless_equals_uint64 (offset, all->len);
  fail_unless_equals_int (seen.packets, capture->packets);
  for (i = 0; i < DCCP_LAST_REFUSAL; i++)
    fail_unless (seen.refused[i] == capture->refused[i], "%s: %u %s, not %u",
        capture->name, seen.refused[i], dccp_refusal_get_name (i),
        capture->refused[i]);
  for (i = 0; i < DCCP_LAST_TYPE; i++)
    fail_unless (seen.types[i] == capture->types[i], "%s: %u %s, not %u",
        capture->name, seen.types[i], dccp_type_get_name (i),
        capture->types[i]);
  g_byte_array_unref (all);
}

GST_END_TEST;

static Suite *
dccpcaptures_suite (void)
{
  Suite *s = suite_create ("dccpcaptures");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, every_packet_is_written_as_it_was_read, 0,
      G_N_ELEMENTS (captures));
  return s;
}

GST_CHECK_MAIN (dccpcaptures);
