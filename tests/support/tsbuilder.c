/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of tsbuilder.h */

#include "tsbuilder.h"

#include <string.h>

void
ts_put_packet (GByteArray * bytes, guint pid, gboolean begins, guint scrambling,
    guint counter, const gchar * adaptation, gsize adaptation_size,
    const gchar * payload, gsize payload_size)
{
  guint8 packet[TS_PACKET_SIZE];
  gsize at = 4;

  memset (packet, 0xff, sizeof packet);
  packet[0] = 0x47;
  packet[1] = (begins ? 0x40 : 0) | pid >> 8;
  packet[2] = pid;
  packet[3] = scrambling << 6 | (adaptation ? 0x20 : 0) | (payload ? 0x10 : 0)
      | (counter & 15);
  if (adaptation) {
    packet[at++] = payload ? adaptation_size : TS_PACKET_SIZE - 5;
    memcpy (packet + at, adaptation, adaptation_size);
    at += adaptation_size;
  }
  if (payload)
    memcpy (packet + at, payload, payload_size);
  g_byte_array_append (bytes, packet, sizeof packet);
}

/* Annex A */
static void
put_crc (GByteArray * section)
{
  guint32 crc = 0xffffffff;
  guint8 bytes[4];
  guint i, bit;

  for (i = 0; i < section->len; i++) {
    for (bit = 8; bit-- > 0;)
      crc = crc << 1 ^ ((crc >> 31 ^ (section->data[i] >> bit & 1)) ?
          0x04c11db7 : 0);
  }
  for (i = 0; i < 4; i++)
    bytes[i] = crc >> (24 - 8 * i);
  g_byte_array_append (section, bytes, 4);
}

void
ts_put_section (GByteArray * bytes, guint pid, guint table,
    const guint8 * content, gsize size)
{
  const guint8 head[] = { table, 0xb0 | (size + 9) >> 8, size + 9, 0, 1, 0xc1,
    0, 0
  };
  GByteArray *section = g_byte_array_new ();
  guint counter = 0;
  gsize at, part;

  g_byte_array_append (section, head, sizeof head);
  g_byte_array_append (section, content, size);
  put_crc (section);
  g_byte_array_prepend (section, (const guint8 *) "\0", 1);
  for (at = 0; at < section->len; at += part) {
    part = MIN (section->len - at, TS_PACKET_SIZE - 4);
    ts_put_packet (bytes, pid, at == 0, 0, counter++, NULL, 0,
        (const gchar *) section->data + at, part);
  }
  g_byte_array_unref (section);
}

void
ts_put_tables (GByteArray * bytes, guint type)
{
  const guint8 pat[] = { 0, 1, 0xe0 | PMT_PID >> 8, PMT_PID & 0xff };
  const guint8 pmt[] = { 0xe0 | VIDEO_PID >> 8, VIDEO_PID & 0xff, 0xf0, 0,
    3, 0xe0 | SOUND_PID >> 8, SOUND_PID & 0xff, 0xf0, 2, 0x0a, 0,
    type, 0xe0 | VIDEO_PID >> 8, VIDEO_PID & 0xff, 0xf0, 0
  };

  ts_put_section (bytes, 0, 0, pat, sizeof pat);
  ts_put_section (bytes, PMT_PID, 2, pmt, sizeof pmt);
}

void
ts_stream_start (TsStream * stream, guint type)
{
  stream->bytes = g_byte_array_new ();
  stream->counter = 14;
  ts_put_tables (stream->bytes, type);
}

void
ts_put_video (TsStream * stream, gboolean begins, const gchar * adaptation,
    gsize adaptation_size, const gchar * payload, gsize size)
{
  ts_put_packet (stream->bytes, VIDEO_PID, begins, 0,
      payload ? stream->counter++ : stream->counter - 1, adaptation,
      adaptation_size, payload, size);
}

void
ts_put_more (TsStream * stream)
{
  ts_put_video (stream, FALSE, NULL, 0, "\x55", 1);
}

void
ts_put_sound (TsStream * stream)
{
  ts_put_packet (stream->bytes, SOUND_PID, FALSE, 0, 5, NULL, 0, "\x77", 1);
}
