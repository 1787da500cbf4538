/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of tspictures.h: finds the pictures in an MPEG transport
 * stream. */

#include "tspictures.h"

#include <string.h>

#include "mpegvideo.h"
#include "nalunittypes.h"

#define PID_PAT 0
#define TABLE_PAT 0
#define TABLE_PMT 2
#define CRC_SIZE 4
#define STUFFING 0xff
#define PES_HEADER_SIZE 9       /* without the optional fields (2.4.3.6) */
/* Values from ISO/IEC 13818-2. PICTURE_CODING_EXTENSION is the identifier of
 * the picture coding extension (table 6-2). FRAME_PICTURE is the value of
 * picture_structure for a frame picture (table 6-14). */
#define PICTURE_CODING_EXTENSION 8
#define FRAME_PICTURE 3
/* Maximum size of a unit in bytes. A unit normally ends when a new picture
 * begins. It also ends when it reaches this size. Otherwise a stream without
 * further pictures would need unlimited memory. */
#define MAX_UNIT_SIZE (16 * 1024 * 1024)

/* The user is told that a stream has no video when this number of program map
 * tables (PMTs) in a row has named no video. A multiplexer may write its first
 * tables before the encoder of the video has delivered anything. Multiplexers
 * write about ten tables per second. */
#define MAX_TABLES_WITHOUT_VIDEO 10

/* Values of stream_type (table 2-34) */
#define TYPE_MPEG1 0x01
#define TYPE_MPEG2 0x02
#define TYPE_H264 0x1b
#define TYPE_H265 0x24

/* The fields of a packet header, 2.4.3.2 */
typedef struct
{
  guint pid;
  gboolean begins;              /* payload_unit_start_indicator */
  gboolean is_scrambled;
  guint counter;                /* continuity_counter */
  /* the bytes of the adaptation field after its length byte; NULL if the packet
   * has no adaptation field */
  const guint8 *adaptation;
  guint adaptation_size;
  const guint8 *payload;        /* NULL if there is none */
  gsize payload_size;
} Packet;

/* Reads the sections of one table, such as the program map table. A section may
 * begin in one packet and end in another (2.4.4). */
typedef struct
{
  /* the bytes of those sections that are not complete yet */
  GByteArray *data;
  /* TRUE if a section has begun, and its remaining bytes are expected in the
   * next packets */
  gboolean is_open;
  /* continuity_counter of the last packet with sections of this table; -1 if
   * unknown */
  gint counter;
} Table;

struct _TsPictures
{
  Table pat, pmt;
  /* `unit_pid` is the last known PID of the video. All three are TS_NO_PID if
   * unknown. */
  guint pmt_pid, video_pid, unit_pid;
  TsVideo video;
  /* number of program map tables without video since the last one with video */
  guint n_without_video;
  /* The reason why the stream is not searched for pictures, as a text for the
   * user. NULL if the stream is searched for pictures. */
  const gchar *refusal;

  GByteArray *partial;          /* bytes of an incomplete packet */
  guint64 partial_tag;          /* tag of its first byte */
  GQueue units;                 /* TsUnits that are complete */

  /* The following fields belong to the current TsUnit, which is not complete
   * yet. */
  GByteArray *data, *stream, *rest;
  guint64 tag, last_tag;        /* see TsUnit */
  guint64 video_tag;            /* of the last video packet */
  gboolean has_picture;
  gboolean has_time;
  guint64 time;                 /* DTS or PTS, as in TsUnit */
  /* TRUE if `data` consists of bytes that are not part of a transport stream
   * packet */
  gboolean is_junk;
  guint n_removed;
  /* continuity_counter of the last video packet that had a payload; -1 if
   * unknown */
  gint last_counter;
  /* TRUE if the current unit contains both field pictures of an MPEG frame */
  gboolean has_second_field;
};

/* --- life cycle ----------------------------------------------------------- */

void
ts_unit_clear (TsUnit * unit)
{
  g_free (unit->data);
  g_free (unit->stream);
  g_free (unit->rest);
  memset (unit, 0, sizeof (*unit));
}

static void
free_unit (gpointer unit)
{
  ts_unit_clear (unit);
  g_free (unit);
}

TsPictures *
ts_pictures_new (void)
{
  TsPictures *pictures = g_new0 (TsPictures, 1);

  g_queue_init (&pictures->units);
  pictures->pat.data = g_byte_array_new ();
  pictures->pmt.data = g_byte_array_new ();
  pictures->partial = g_byte_array_new ();
  pictures->data = g_byte_array_new ();
  pictures->stream = g_byte_array_new ();
  pictures->rest = g_byte_array_new ();
  ts_pictures_reset (pictures);
  return pictures;
}

static void
begin_unit (TsPictures * pictures, gboolean has_picture)
{
  g_byte_array_set_size (pictures->data, 0);
  g_byte_array_set_size (pictures->stream, 0);
  g_byte_array_set_size (pictures->rest, 0);
  pictures->has_picture = has_picture;
  pictures->has_time = pictures->has_second_field = FALSE;
  pictures->is_junk = FALSE;
  pictures->n_removed = 0;
}

static void
reset_table (Table * table)
{
  g_byte_array_set_size (table->data, 0);
  table->is_open = FALSE;
  table->counter = -1;
}

void
ts_pictures_reset (TsPictures * pictures)
{
  g_queue_clear_full (&pictures->units, free_unit);
  reset_table (&pictures->pat);
  reset_table (&pictures->pmt);
  g_byte_array_set_size (pictures->partial, 0);
  begin_unit (pictures, FALSE);
  pictures->pmt_pid = pictures->video_pid = pictures->unit_pid = TS_NO_PID;
  pictures->n_without_video = 0;
  pictures->refusal = NULL;
  pictures->last_counter = -1;
}

void
ts_pictures_free (TsPictures * pictures)
{
  ts_pictures_reset (pictures);
  g_byte_array_unref (pictures->pat.data);
  g_byte_array_unref (pictures->pmt.data);
  g_byte_array_unref (pictures->partial);
  g_byte_array_unref (pictures->data);
  g_byte_array_unref (pictures->stream);
  g_byte_array_unref (pictures->rest);
  g_free (pictures);
}

const gchar *
ts_pictures_get_refusal (const TsPictures * pictures)
{
  return pictures->refusal;
}

static gboolean
has_no_video (const TsPictures * pictures)
{
  return pictures->n_without_video >= MAX_TABLES_WITHOUT_VIDEO;
}

const gchar *
ts_pictures_get_warning (const TsPictures * pictures)
{
  if (has_no_video (pictures))
    return "it has no MPEG, H.264 or H.265 video";
  return pictures->refusal;
}

/* --- packets -------------------------------------------------------------- */

static void
parse_packet (Packet * packet, const guint8 * data)
{
  const guint control = data[3] >> 4 & 3;       /* adaptation_field_control */
  guint at = 4;

  memset (packet, 0, sizeof (*packet));
  packet->pid = (data[1] << 8 | data[2]) & 0x1fff;
  packet->begins = data[1] >> 6 & 1;
  packet->is_scrambled = data[3] >> 6 != 0;
  packet->counter = data[3] & 15;
  if (control & 2) {
    packet->adaptation_size = MIN (data[4], TS_PACKET_SIZE - 5);
    packet->adaptation = data + 5;
    at = 5 + packet->adaptation_size;
  }
  if ((control & 1) && at < TS_PACKET_SIZE) {
    packet->payload = data + at;
    packet->payload_size = TS_PACKET_SIZE - at;
  }
}

/* Returns whether the packet contains a program clock reference (PCR). The bit
 * PCR_flag in the adaptation field says so (2.4.3.4). However, the adaptation
 * field must be long enough for its flags (1 byte) and the PCR (6 bytes). If it
 * is shorter, the bit is ignored. */
static gboolean
has_clock (const Packet * packet)
{
  return packet->adaptation_size >= 7 && (packet->adaptation[0] & 0x10);
}

/* --- program tables ------------------------------------------------------- */

/* Computes the CRC of a section (annex A). If `data` includes the CRC field of
 * the section and the section is correct, the result is 0. */
static guint32
get_crc (const guint8 * data, gsize size)
{
  guint32 crc = 0xffffffff;
  guint bit;

  for (; size > 0; size--) {
    crc ^= (guint32) * data++ << 24;
    for (bit = 0; bit < 8; bit++)
      crc = crc & 0x80000000 ? crc << 1 ^ 0x04c11db7 : crc << 1;
  }
  return crc;
}

/* Returns TRUE if `section` is a correct section of the table with the table_id
 * `table`, and if it is applicable now. Its bit current_next_indicator says
 * whether it is applicable now (ISO/IEC 13818-1, 2.4.4). */
static gboolean
is_valid_section (const guint8 * section, gsize size, guint table)
{
  return size >= 8 + CRC_SIZE && section[0] == table && (section[5] & 1)
      && get_crc (section, size) == 0;
}

static void end_unit (TsPictures * pictures);

static void
refuse (TsPictures * pictures, const gchar * reason)
{
  pictures->refusal = reason;
}

/* Reads a section of the program association table (PAT, 2.4.4.3). `size` is
 * its size in bytes without the CRC. */
static void
take_pat (TsPictures * pictures, const guint8 * section, gsize size)
{
  guint n_programs = 0, pid;
  gsize at;

  for (at = 8; at + 4 <= size; at += 4) {
    if (section[at] == 0 && section[at + 1] == 0)
      /* The entry with the program number 0 contains the network PID. It is not
       * a program. */
      continue;
    n_programs++;
    pid = (section[at + 2] << 8 | section[at + 3]) & 0x1fff;
    if (pid != pictures->pmt_pid)
      reset_table (&pictures->pmt);
    pictures->pmt_pid = pid;
  }
  if (n_programs > 1)
    refuse (pictures, "it has several programs");
}

static gboolean
find_video (guint type, TsVideo * video)
{
  switch (type) {
    case TYPE_MPEG1:
    case TYPE_MPEG2:
      *video = TS_VIDEO_MPEG;
      return TRUE;
    case TYPE_H264:
      *video = TS_VIDEO_H264;
      return TRUE;
    case TYPE_H265:
      *video = TS_VIDEO_H265;
      return TRUE;
    default:
      return FALSE;
  }
}

/* Sets the PID and the format of the video. The PID is TS_NO_PID if the program
 * has no video. */
static void
set_video (TsPictures * pictures, guint pid, TsVideo video)
{
  if (pid == pictures->video_pid && video == pictures->video)
    return;
  /* No further packet of the current picture follows. */
  end_unit (pictures);
  if (pid != pictures->video_pid)
    pictures->last_counter = -1;
  if (pid != TS_NO_PID)
    pictures->unit_pid = pid;
  pictures->video_pid = pid;
  pictures->video = video;
}

/* Reads a section of the program map table (PMT, 2.4.4.8). `size` is its size
 * in bytes without the CRC. Only the first video stream in the table is
 * searched for pictures. Other video streams pass unchanged. If the table has
 * no video, a later table may have one. */
static void
take_pmt (TsPictures * pictures, const guint8 * section, gsize size)
{
  TsVideo video = pictures->video;
  gsize at;

  if (size < 12)
    return;
  at = 12 + ((section[10] & 15) << 8 | section[11]);
  for (; at + 5 <= size; at += 5 + ((section[at + 3] & 15) << 8 |
          section[at + 4])) {
    if (!find_video (section[at], &video))
      continue;
    set_video (pictures, (section[at + 1] << 8 | section[at + 2]) & 0x1fff,
        video);
    pictures->n_without_video = 0;
    return;
  }
  set_video (pictures, TS_NO_PID, video);
  pictures->n_without_video++;
}

static void
take_section (TsPictures * pictures, const Table * table, gsize size)
{
  const guint8 *section = table->data->data;

  if (table == &pictures->pat && is_valid_section (section, size, TABLE_PAT))
    take_pat (pictures, section, size - CRC_SIZE);
  if (table == &pictures->pmt && is_valid_section (section, size, TABLE_PMT))
    take_pmt (pictures, section, size - CRC_SIZE);
}

/* Appends bytes to the sections of a table, and reads each section that is then
 * complete. The bytes after the last section of a packet are stuffing. They
 * have the value 0xff, which no table_id has (2.4.4.10). */
static void
add_sections (TsPictures * pictures, Table * table, const guint8 * data,
    gsize size)
{
  GByteArray *bytes = table->data;
  gsize whole;

  g_byte_array_append (bytes, data, size);
  while (bytes->len >= 3 && bytes->data[0] != STUFFING) {
    /* section_length */
    whole = 3 + ((bytes->data[1] & 15) << 8 | bytes->data[2]);
    if (bytes->len < whole)
      return;
    take_section (pictures, table, whole);
    g_byte_array_remove_range (bytes, 0, whole);
  }
  table->is_open = bytes->len > 0 && bytes->data[0] != STUFFING;
  if (!table->is_open)
    g_byte_array_set_size (bytes, 0);
}

/* Reads the sections of `table` that are in `packet` (2.4.4.2). If the first
 * part of a section was in a missing packet, the rest of the section is
 * discarded. If a packet is sent twice, the second copy changes nothing. */
static void
take_table (TsPictures * pictures, Table * table, const Packet * packet)
{
  const gint before = table->counter;
  gsize pointer;

  if (packet->payload_size < 1
      || (!packet->begins && before == (gint) packet->counter))
    return;
  table->counter = packet->counter;
  if (before >= 0 && packet->counter != ((before + 1) & 15))
    table->is_open = FALSE;
  if (!packet->begins) {
    if (table->is_open)
      add_sections (pictures, table, packet->payload, packet->payload_size);
    return;
  }
  pointer = packet->payload[0];
  if (packet->payload_size < 1 + pointer)
    return;
  if (table->is_open)
    add_sections (pictures, table, packet->payload + 1, pointer);
  g_byte_array_set_size (table->data, 0);
  table->is_open = TRUE;
  add_sections (pictures, table, packet->payload + 1 + pointer,
      packet->payload_size - 1 - pointer);
}

/* --- pictures ------------------------------------------------------------- */

/* Returns the size in bytes of the PES header (2.4.3.6) at the beginning of the
 * payload. Returns 0 if no PES header begins there. */
static gsize
get_pes_header_size (const Packet * packet)
{
  const guint8 *pes = packet->payload;
  gsize size;

  if (!packet->begins || packet->payload_size < PES_HEADER_SIZE
      || pes[0] != 0 || pes[1] != 0 || pes[2] != 1 || pes[3] >> 4 != 0xe
      || pes[6] >> 6 != 2)
    return 0;
  size = PES_HEADER_SIZE + pes[8];
  return size <= packet->payload_size ? size : 0;
}

/* Reads a PTS or DTS of 33 bits (2.4.3.7). The bits are not contiguous: a
 * marker bit follows the 3rd, the 18th and the 33rd bit. */
static guint64
get_pes_time (const guint8 * field)
{
  return (guint64) (field[0] >> 1 & 7) << 30 | (guint64) field[1] << 22 |
      (guint64) (field[2] >> 1) << 15 | field[3] << 7 | field[4] >> 1;
}

/* Reads the DTS from the PES header at `pes`. If the header has no DTS, reads
 * the PTS. `header` is the size of the PES header in bytes. */
static void
take_time (TsPictures * pictures, const guint8 * pes, gsize header)
{
  const guint flags = pes[7] >> 6;      /* PTS_DTS_flags */

  pictures->has_time = header >= PES_HEADER_SIZE + (flags == 3 ? 10 : 5)
      && flags >= 2;
  if (pictures->has_time)
    pictures->time = get_pes_time (pes + PES_HEADER_SIZE +
        (flags == 3 ? 5 : 0));
}

/* Returns whether a picture of H.264 begins with this NAL unit (H.264,
 * 7.4.1.2.3). A picture begins with its first slice, in which first_mb_in_slice
 * is 0. If other NAL units precede the first slice, such as parameter sets, the
 * picture begins with them. */
static gboolean
begins_h264 (const guint8 * unit)
{
  const guint type = unit[0] & H264_TYPE;

  if (type == H264_SLICE_FIRST || type == H264_IDR)
    return unit[1] >> 7;
  return type >= H264_SEI && type <= H264_DELIMITER;
}

/* Returns whether a picture of H.265 begins with this NAL unit (H.265,
 * 7.4.2.4.4). A picture begins with its first slice, in which
 * first_slice_segment_in_pic_flag is 1. If other NAL units precede the first
 * slice, such as parameter sets, the picture begins with them. */
static gboolean
begins_h265 (const guint8 * unit)
{
  const guint type = unit[0] >> 1 & 0x3f;

  if (type <= H265_VCL_LAST)
    return unit[2] >> 7;
  return (type >= H265_VPS && type <= H265_DELIMITER)
      || type == H265_PREFIX_SEI;
}

static gint
get_temporal_reference (const guint8 * code)
{
  return code[4] << 2 | code[5] >> 6;
}

/* If the current unit contains only one picture, and this is a field picture,
 * returns its temporal reference. Otherwise returns -1. The picture coding
 * extension, which follows the picture header, shows whether a picture is a
 * field picture (13818-2, 6.2.3.1). */
static gint
find_first_field (const TsPictures * pictures)
{
  const guint8 *code = pictures->stream->data, *end;
  gint reference = -1;

  /* The data pointer of a GByteArray is NULL until the first bytes are
   * appended. */
  if (!pictures->has_picture || pictures->has_second_field || !code)
    return -1;
  end = code + pictures->stream->len;
  while ((code = mpeg_video_find_start_code (code, end)) && end - code >= 7) {
    if (code[3] == MPEG_VIDEO_CODE_PICTURE)
      reference = get_temporal_reference (code);
    else if (code[3] == MPEG_VIDEO_CODE_EXTENSION && reference >= 0
        && code[4] >> 4 == PICTURE_CODING_EXTENSION)
      return (code[6] & 3) == FRAME_PICTURE ? -1 : reference;
    else if (reference >= 0)
      return -1;
    code += 3;
  }
  return -1;
}

/* Returns whether the start code at `code` begins a new unit. Most MPEG
 * pictures do. The second field picture of a frame does not: it has the same
 * temporal reference as the first field picture, and belongs to the same unit
 * (13818-2, 6.1.1.4.1 and 6.3.9). */
static gboolean
begins_mpeg (TsPictures * pictures, const guint8 * code)
{
  if (code[3] != MPEG_VIDEO_CODE_PICTURE)
    return code[3] == MPEG_VIDEO_CODE_GOP
        || code[3] == MPEG_VIDEO_CODE_SEQUENCE;
  if (find_first_field (pictures) != get_temporal_reference (code))
    return TRUE;
  pictures->has_second_field = TRUE;
  return FALSE;
}

/* Returns whether the data of a PES packet begin with a new picture or with its
 * headers. They may also begin with the rest of an earlier picture. */
static gboolean
begins_picture (TsPictures * pictures, const guint8 * stream, gsize size)
{
  const guint8 *code = mpeg_video_find_start_code (stream, stream + size);

  if (!code || size - (code - stream) < 6)
    return FALSE;
  if (pictures->video == TS_VIDEO_H264)
    return begins_h264 (code + 3);
  if (pictures->video == TS_VIDEO_H265)
    return begins_h265 (code + 3);
  return begins_mpeg (pictures, code);
}

static guint8 *
steal (GByteArray * array, gsize * size)
{
  *size = array->len;
  return g_memdup2 (array->data, array->len);
}

static void
end_unit (TsPictures * pictures)
{
  TsUnit *unit;

  if (pictures->data->len == 0)
    return;
  unit = g_new0 (TsUnit, 1);
  unit->data = steal (pictures->data, &unit->size);
  unit->tag = pictures->tag;
  unit->last_tag = pictures->last_tag;
  unit->has_picture = pictures->has_picture && pictures->stream->len > 0;
  unit->pid = pictures->unit_pid;
  if (unit->has_picture) {
    unit->video = pictures->video;
    unit->stream = steal (pictures->stream, &unit->stream_size);
    unit->rest = steal (pictures->rest, &unit->rest_size);
    unit->n_removed = pictures->n_removed;
    unit->has_time = pictures->has_time;
    unit->time = pictures->time;
  }
  g_queue_push_tail (&pictures->units, unit);
  begin_unit (pictures, FALSE);
}

/* Adds the packet that is sent in place of the packet `data` if the picture is
 * dropped. The added packet contains the clock reference of `data`, but no
 * payload. A packet without a payload does not increment the continuity counter
 * (ISO/IEC 13818-1, 2.4.3.3). The added packet therefore gets `counter`, the
 * counter of the last sent packet that has a payload. */
static void
add_clock (TsPictures * pictures, const guint8 * data, guint counter)
{
  guint8 packet[TS_PACKET_SIZE];

  memcpy (packet, data, sizeof packet);
  ts_packet_keep_clock (packet, counter);
  g_byte_array_append (pictures->rest, packet, sizeof packet);
}

/* Called for each video packet of a picture that may have to be dropped. If the
 * picture is dropped, the packets in `rest` are sent instead of it. If the
 * video packet has a clock reference, the function adds a packet with only this
 * clock reference to `rest`.
 *
 * `n_removed` counts the video packets with a payload. A packet that has the
 * same continuity counter as the packet before is a repetition, and is not
 * counted. */
static void
remove_packet (TsPictures * pictures, const Packet * packet,
    const guint8 * data)
{
  const gboolean advances = packet->payload
      && pictures->last_counter != (gint) packet->counter;

  if (has_clock (packet))
    add_clock (pictures, data,
        packet->counter - pictures->n_removed - (advances ? 1 : 0));
  if (advances)
    pictures->n_removed++;
  if (packet->payload)
    pictures->last_counter = packet->counter;
}

static void
take_video (TsPictures * pictures, const Packet * packet, const guint8 * data)
{
  const gboolean is_duplicate = packet->payload
      && pictures->last_counter == (gint) packet->counter;
  gsize header = get_pes_header_size (packet);

  if (packet->is_scrambled) {
    end_unit (pictures);
    refuse (pictures, "its video is scrambled");
    return;
  }
  if (header > 0 && !is_duplicate
      && begins_picture (pictures, packet->payload + header,
          packet->payload_size - header)) {
    end_unit (pictures);
    begin_unit (pictures, TRUE);
    take_time (pictures, packet->payload, header);
  }
  if (packet->payload && pictures->has_picture && !is_duplicate)
    g_byte_array_append (pictures->stream, packet->payload + header,
        packet->payload_size - header);
  remove_packet (pictures, packet, data);
}

static void
take_packet (TsPictures * pictures, const guint8 * data, guint64 tag)
{
  Packet packet;

  parse_packet (&packet, data);
  if (pictures->is_junk || pictures->refusal
      || pictures->data->len >= MAX_UNIT_SIZE)
    end_unit (pictures);
  if (!pictures->refusal && packet.pid == PID_PAT)
    take_table (pictures, &pictures->pat, &packet);
  else if (!pictures->refusal && packet.pid == pictures->pmt_pid)
    take_table (pictures, &pictures->pmt, &packet);
  if (!pictures->refusal && packet.pid == pictures->video_pid
      && packet.pid != TS_NO_PID) {
    take_video (pictures, &packet, data);
    pictures->video_tag = tag;
  } else if (pictures->has_picture && packet.pid != TS_NO_PID) {
    g_byte_array_append (pictures->rest, data, TS_PACKET_SIZE);
  }
  if (pictures->data->len == 0)
    pictures->tag = tag;
  pictures->last_tag = tag;
  g_byte_array_append (pictures->data, data, TS_PACKET_SIZE);
  if (!pictures->has_picture && !has_no_video (pictures))
    end_unit (pictures);
}

/* --- the stream ----------------------------------------------------------- */

/* Called for a byte that is not part of a transport stream packet, because no
 * sync byte has been found yet. The byte is passed on, so that the output
 * contains all bytes of the input. */
static void
pass_byte (TsPictures * pictures, guint8 byte, guint64 tag)
{
  if (!pictures->is_junk || pictures->data->len >= MAX_UNIT_SIZE)
    end_unit (pictures);
  if (pictures->data->len == 0)
    pictures->tag = tag;
  pictures->last_tag = tag;
  pictures->is_junk = TRUE;
  g_byte_array_append (pictures->data, &byte, 1);
}

void
ts_pictures_input (TsPictures * pictures, const guint8 * data, gsize size,
    guint64 tag)
{
  GByteArray *partial = pictures->partial;
  gsize missing;

  while (size > 0) {
    if (partial->len == 0 && *data != TS_SYNC_BYTE) {
      pass_byte (pictures, *data++, tag);
      size--;
      continue;
    }
    if (partial->len == 0)
      pictures->partial_tag = tag;
    missing = MIN (size, TS_PACKET_SIZE - partial->len);
    g_byte_array_append (partial, data, missing);
    data += missing;
    size -= missing;
    if (partial->len < TS_PACKET_SIZE)
      break;
    take_packet (pictures, partial->data, pictures->partial_tag);
    g_byte_array_set_size (partial, 0);
  }
  if (has_no_video (pictures))
    end_unit (pictures);
}

void
ts_pictures_drain (TsPictures * pictures)
{
  end_unit (pictures);
  if (pictures->partial->len == 0)
    return;
  pictures->tag = pictures->last_tag = pictures->partial_tag;
  g_byte_array_append (pictures->data, pictures->partial->data,
      pictures->partial->len);
  g_byte_array_set_size (pictures->partial, 0);
  end_unit (pictures);
}

gboolean
ts_pictures_is_open (const TsPictures * pictures, guint64 * tag)
{
  *tag = pictures->video_tag;
  return pictures->has_picture && pictures->data->len > 0;
}

void
ts_pictures_end (TsPictures * pictures)
{
  end_unit (pictures);
}

gboolean
ts_pictures_poll (TsPictures * pictures, TsUnit * unit)
{
  TsUnit *first = g_queue_pop_head (&pictures->units);

  if (!first)
    return FALSE;
  *unit = *first;
  g_free (first);
  return TRUE;
}

/* --- single packets ------------------------------------------------------- */

guint
ts_packet_get_pid (const guint8 * packet)
{
  return (packet[1] << 8 | packet[2]) & 0x1fff;
}

guint
ts_packet_get_counter (const guint8 * packet)
{
  return packet[3] & 15;
}

gboolean
ts_packet_has_payload (const guint8 * packet)
{
  return (packet[3] & 0x10) != 0;
}

gboolean
ts_packet_begins (const guint8 * packet)
{
  return (packet[1] & 0x40) != 0;
}

gboolean
ts_packet_has_clock (const guint8 * packet)
{
  Packet parsed;

  parse_packet (&parsed, packet);
  return has_clock (&parsed);
}

void
ts_packet_set_counter (guint8 * packet, guint counter)
{
  packet[3] = (packet[3] & 0xf0) | (counter & 15);
}

void
ts_packet_keep_clock (guint8 * packet, guint counter)
{
  packet[1] &= 0x1f;            /* no PES packet begins here */
  packet[3] = 2 << 4 | (counter & 15);
  packet[4] = TS_PACKET_SIZE - 5;
  /* discontinuity_indicator and PCR_flag */
  packet[5] = (packet[5] & 0x80) | 0x10;
  memset (packet + 12, STUFFING, TS_PACKET_SIZE - 12);
}

void
ts_shift_counters (guint8 * data, gsize size, guint pid, guint offset)
{
  for (; size >= TS_PACKET_SIZE; size -= TS_PACKET_SIZE) {
    if (data[0] == TS_SYNC_BYTE && ts_packet_get_pid (data) == pid)
      ts_packet_set_counter (data, data[3] - offset);
    data += TS_PACKET_SIZE;
  }
}
