/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds small MPEG transport streams for tests, by hand from ISO/IEC 13818-1.
 * It shares no code with the parsers under test.
 */

#ifndef __TSBUILDER_H__
#define __TSBUILDER_H__

#include <glib.h>

#include "tspictures.h"

#define PMT_PID 0x100
#define VIDEO_PID 0x101
#define SOUND_PID 0x102
#define H264 0x1b
#define MPEG2 2
#define PRIVATE 6

/* Payloads of the first TS packet of a PES packet. Each begins with the macro
 * PES, which is the header of the PES packet with a PTS. After this header:
 * - H264_PICTURE has an access unit delimiter and a slice of H.264.
 * - H264_REST has a slice of H.264 that does not begin a picture.
 * - MPEG_PICTURE has a picture header and the beginning of a slice. The
 *   temporal reference in the picture header is `reference`. */
#define PES "\0\0\1\xe0\0\0\x80\x80\5\x21\0\1\0\1"
#define PES_SIZE 14
#define H264_PICTURE PES "\0\0\0\1\x09\x10\0\0\1\x41\x9a\x24"
#define H264_REST PES "\0\0\1\x41\x1a\x24\x55\x66\x77\x88"
#define MPEG_PICTURE(reference) PES "\0\0\1\0" reference "\xff\xf8\0\0\1\1"
/* Content of an adaptation field with a program clock reference (PCR). It does
 * not include the first byte of the field, which contains the length. */
#define CLOCK "\x10\0\1\2\3\4\5"
#define CLOCK_SIZE 7

typedef struct
{
  GByteArray *bytes;
  guint counter;                /* of the video */
} TsStream;

/* Begins a transport stream with one program. The program has two elementary
 * streams: sound, and a video whose stream_type is `type`. The caller frees
 * `bytes`. */
void ts_stream_start (TsStream * stream, guint type);

/* Writes a TS packet (ISO/IEC 13818-1, 2.4.3.2). `adaptation` is its adaptation
 * field, but without the first byte, which would contain the length
 * (adaptation_field_length). */
void ts_put_packet (GByteArray * bytes, guint pid, gboolean begins,
    guint scrambling, guint counter, const gchar * adaptation,
    gsize adaptation_size, const gchar * payload, gsize payload_size);
/* Writes a section (ISO/IEC 13818-1, 2.4.4) in as many packets as it needs. A
 * pointer_field precedes the section. `content` is the part of the section
 * after last_section_number, without the CRC. */
void ts_put_section (GByteArray * bytes, guint pid, guint table,
    const guint8 * content, gsize size);
void ts_put_tables (GByteArray * bytes, guint type);
/* Writes the next TS packet of the video, with the given adaptation field and
 * payload. */
void ts_put_video (TsStream * stream, gboolean begins,
    const gchar * adaptation, gsize adaptation_size, const gchar * payload,
    gsize size);
#define ts_put_picture(stream, text) ts_put_video (stream, TRUE, NULL, 0, \
    text, sizeof (text) - 1)
void ts_put_more (TsStream * stream);
void ts_put_sound (TsStream * stream);

#endif /* __TSBUILDER_H__ */
