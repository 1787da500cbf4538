/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtptscutter.h: cuts an MPEG transport stream into buffers
 * at the pictures of its video. The parser in tspictures.h finds the pictures.
 */

#include "mmtptscutter.h"

#include <string.h>

#include "mmtppacket.h"
#include "tsclassifier.h"

/* description (MmtpPicture) of packets that contain no part of a picture, such
 * as packets of sound */
static const MmtpPicture no_picture = {
  .is_piece = TRUE,.is_data = TRUE,.is_independent = TRUE
};

struct _MmtpTsCutter
{
  TsPictures *pictures;
  TsClassifier *classifier;
  PictureReader *reader;
  GQueue pieces;                /* elements are MmtpTsPiece */

  /* The first field of a picture that consists of two fields, while it waits
   * for the second field. If no field waits, `field.data` is NULL. */
  TsUnit field;
  IfdFrame field_frame;

  /* packets of the transport stream that belong to no picture and have not been
   * output yet */
  GByteArray *passing;
  guint64 passing_tag;
};

MmtpTsCutter *
mmtp_ts_cutter_new (void)
{
  MmtpTsCutter *cutter = g_new0 (MmtpTsCutter, 1);

  cutter->pictures = ts_pictures_new ();
  cutter->classifier = ts_classifier_new ();
  cutter->reader = picture_reader_new (PICTURE_FORMAT_MPEG);
  cutter->passing = g_byte_array_new ();
  g_queue_init (&cutter->pieces);
  return cutter;
}

static void
free_piece (gpointer data)
{
  MmtpTsPiece *piece = data;

  g_bytes_unref (piece->data);
  g_free (piece);
}

void
mmtp_ts_cutter_reset (MmtpTsCutter * cutter)
{
  ts_pictures_reset (cutter->pictures);
  ts_classifier_reset (cutter->classifier);
  picture_reader_reset (cutter->reader);
  g_queue_clear_full (&cutter->pieces, free_piece);
  ts_unit_clear (&cutter->field);
  g_byte_array_set_size (cutter->passing, 0);
}

void
mmtp_ts_cutter_free (MmtpTsCutter * cutter)
{
  mmtp_ts_cutter_reset (cutter);
  ts_pictures_free (cutter->pictures);
  ts_classifier_free (cutter->classifier);
  picture_reader_free (cutter->reader);
  g_byte_array_unref (cutter->passing);
  g_free (cutter);
}

const gchar *
mmtp_ts_cutter_get_refusal (const MmtpTsCutter * cutter)
{
  return ts_pictures_get_refusal (cutter->pictures);
}

const gchar *
mmtp_ts_cutter_get_warning (const MmtpTsCutter * cutter)
{
  return ts_pictures_get_warning (cutter->pictures);
}

/* --- buffers -------------------------------------------------------------- */

static void
push_piece (MmtpTsCutter * cutter, const guint8 * data, gsize size, guint64 tag,
    guint8 flags, const MmtpPicture * picture)
{
  MmtpTsPiece *piece = g_new0 (MmtpTsPiece, 1);

  piece->data = g_bytes_new (data, size);
  piece->tag = tag;
  piece->flags = flags;
  piece->picture = *picture;
  g_queue_push_tail (&cutter->pieces, piece);
}

static void
push_passing (MmtpTsCutter * cutter)
{
  if (cutter->passing->len == 0)
    return;
  push_piece (cutter, cutter->passing->data, cutter->passing->len,
      cutter->passing_tag, 0, &no_picture);
  g_byte_array_set_size (cutter->passing, 0);
}

static void
pass (MmtpTsCutter * cutter, const TsUnit * unit)
{
  if (cutter->passing->len > 0 && cutter->passing_tag != unit->last_tag)
    push_passing (cutter);
  cutter->passing_tag = unit->last_tag;
  g_byte_array_append (cutter->passing, unit->data, unit->size);
}

/* --- pictures ------------------------------------------------------------- */

/* `packet` is a TS packet in `unit`. Returns whether it belongs to the picture
 * in this unit. A null packet (padding) counts as part of the picture, so that
 * it is dropped with the picture. */
static gboolean
is_of_picture (const TsUnit * unit, const guint8 * packet)
{
  const guint pid = ts_packet_get_pid (packet);

  return pid == unit->pid || pid == TS_NO_PID;
}

/* Returns whether the packet has to be kept when the picture is dropped. This
 * is the case for a packet of another stream, such as sound, and for a video
 * packet with a clock reference. */
static gboolean
is_data (const TsUnit * unit, const guint8 * packet)
{
  return !is_of_picture (unit, packet) || (ts_packet_has_clock (packet)
      && ts_packet_get_pid (packet) == unit->pid);
}

/* Returns the offset of the end of the last TS packet in `unit` that belongs to
 * the picture. The packets after it, such as sound, do not belong to the
 * picture. */
static gsize
find_end (const TsUnit * unit)
{
  gsize end = unit->size;

  while (end > TS_PACKET_SIZE
      && !is_of_picture (unit, unit->data + end - TS_PACKET_SIZE))
    end -= TS_PACKET_SIZE;
  return end;
}

/* A unit is a picture of a transport stream, or one of its fields. The unit
 * also contains packets of other streams, such as sound, which lie between the
 * packets of the picture. The unit is cut into pieces of two kinds. Pieces of
 * the first kind are dropped if the picture is dropped. Pieces of the second
 * kind, such as pieces with sound, are kept even if the picture is dropped.
 *
 * A piece begins at the offset `begin` in `unit`. The function returns the
 * offset at which this piece ends. `end` is the offset of the end of the
 * picture, and no piece extends across this offset. */
static gsize
find_piece_end (const TsUnit * unit, gsize begin, gsize end)
{
  const gboolean stays = is_data (unit, unit->data + begin);
  gsize at = begin + TS_PACKET_SIZE;

  while (at < unit->size && at != end
      && is_data (unit, unit->data + at) == stays)
    at += TS_PACKET_SIZE;
  return at;
}

/* Outputs the unit `unit`, which is a picture or one of its fields. `flags`
 * describes the picture. It contains MMTP_FLAG_HEADER if the picture begins in
 * this unit, and MMTP_FLAG_MARKER if the picture ends in it. */
static void
push_unit (MmtpTsCutter * cutter, const TsUnit * unit, guint64 tag,
    guint8 flags, const MmtpPicture * picture)
{
  const gsize picture_end = find_end (unit);
  const guint8 marker = flags & MMTP_FLAG_MARKER;
  gsize begin, end;

  flags &= ~MMTP_FLAG_MARKER;
  for (begin = 0; begin < unit->size; begin = end) {
    const gboolean stays = is_data (unit, unit->data + begin);
    const guint8 ends = begin < picture_end ? marker : 0;

    end = find_piece_end (unit, begin, picture_end);
    push_piece (cutter, unit->data + begin, end - begin, tag, stays ?
        flags & ~MMTP_FLAG_DROPPABLE :
        flags | (end == picture_end ? ends : 0), stays ? &no_picture : picture);
    flags &= ~MMTP_FLAG_HEADER;
    if (stays && end == picture_end && ends)
      push_piece (cutter, NULL, 0, tag, flags | ends, picture);
  }
}

static guint8
get_flags (PictureKind kind)
{
  if (kind == PICTURE_KIND_KEY)
    return 0;
  return kind == PICTURE_KIND_DROPPABLE ?
      MMTP_FLAG_DELTA | MMTP_FLAG_DROPPABLE : MMTP_FLAG_DELTA;
}

static void
read_picture (MmtpTsCutter * cutter, const IfdFrame * frame,
    MmtpPicture * picture)
{
  PictureInfo info;

  picture_reader_input_frame (cutter->reader, frame, &info);
  mmtp_picture_set_info (picture, &info);
  picture->is_piece = TRUE;
}

/* Outputs a picture. If `second` is NULL, `unit` is the whole picture, or the
 * only field of the picture that is available. Otherwise, `unit` is the first
 * field and `second` is the second field. `frame` describes the picture. */
static void
push_picture (MmtpTsCutter * cutter, const TsUnit * unit,
    const TsUnit * second, const IfdFrame * frame)
{
  MmtpPicture picture = { PICTURE_KIND_UNKNOWN };
  guint64 tag;
  guint8 flags;

  read_picture (cutter, frame, &picture);
  flags = get_flags (picture.kind);
  tag = second ? second->last_tag : unit->last_tag;
  push_unit (cutter, unit, tag, flags | MMTP_FLAG_HEADER |
      (second ? 0 : MMTP_FLAG_MARKER), &picture);
  if (second)
    push_unit (cutter, second, tag, flags | MMTP_FLAG_MARKER, &picture);
}

/* If the first field of a picture still waits for the second field, outputs the
 * first field alone. The picture then has no second field. */
static void
push_field (MmtpTsCutter * cutter)
{
  if (cutter->field.data)
    push_picture (cutter, &cutter->field, NULL, &cutter->field_frame);
  ts_unit_clear (&cutter->field);
}

/* Takes the contents of `unit`. */
static void
take_picture (MmtpTsCutter * cutter, TsUnit * unit)
{
  IfdFrame frame = { 0, };
  const IfdField field = ts_classifier_input (cutter->classifier, unit, &frame);

  if (field == IFD_FIELD_SECOND && cutter->field.data) {
    ifd_classifier_join_fields (&cutter->field_frame, &frame);
    push_picture (cutter, &cutter->field, unit, &cutter->field_frame);
    ts_unit_clear (&cutter->field);
    return;
  }
  push_field (cutter);
  if (field == IFD_FIELD_FIRST) {
    cutter->field = *unit;
    cutter->field_frame = frame;
    memset (unit, 0, sizeof (*unit));
    return;
  }
  push_picture (cutter, unit, NULL, &frame);
}

static void
take_units (MmtpTsCutter * cutter)
{
  TsUnit unit;

  while (ts_pictures_poll (cutter->pictures, &unit)) {
    if (unit.has_picture) {
      push_passing (cutter);
      take_picture (cutter, &unit);
    } else {
      push_field (cutter);
      pass (cutter, &unit);
    }
    ts_unit_clear (&unit);
  }
  push_passing (cutter);
}

void
mmtp_ts_cutter_input (MmtpTsCutter * cutter, const guint8 * data, gsize size,
    guint64 tag)
{
  ts_pictures_input (cutter->pictures, data, size, tag);
  take_units (cutter);
}

gboolean
mmtp_ts_cutter_is_open (const MmtpTsCutter * cutter, guint64 * tag)
{
  return ts_pictures_is_open (cutter->pictures, tag);
}

void
mmtp_ts_cutter_end (MmtpTsCutter * cutter)
{
  ts_pictures_end (cutter->pictures);
  take_units (cutter);
  push_field (cutter);
}

void
mmtp_ts_cutter_drain (MmtpTsCutter * cutter)
{
  ts_pictures_drain (cutter->pictures);
  take_units (cutter);
  push_field (cutter);
}

gboolean
mmtp_ts_cutter_poll (MmtpTsCutter * cutter, MmtpTsPiece * piece)
{
  MmtpTsPiece *first = g_queue_pop_head (&cutter->pieces);

  if (!first)
    return FALSE;
  *piece = *first;
  g_free (first);
  return TRUE;
}
