/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the parser of H.264 and H.265 with arbitrary codec data and arbitrary
 * access units. Checks the following:
 *
 * - The parser ends for every input and reads no byte beyond it.
 * - No access unit is counted twice.
 * - The format makes no difference. The test parses the same NAL units twice:
 *   in byte-stream format, and with length fields. The results and the slices
 *   must be equal.
 * - The slots that a frame uses and updates agree with the type of the frame
 *   (ifd.h). A slot is a place in which a decoder stores a picture. For
 *   example, an I-frame uses no slot.
 *
 * The first byte of the input selects the codec and the format. In the format
 * INPUT_LENGTHS, the codec data follow: first a byte that contains the length
 * of the codec data, then the codec data themselves. The rest of the input
 * consists of access units or NAL units. Each unit consists of a byte with
 * flags, a byte that contains the length of the unit, and the bytes of the
 * unit. */

#include "fuzz.h"
#include "ifdclassifier.h"

typedef enum
{
  /* The input consists of access units in byte-stream format. */
  INPUT_BYTE_STREAM,
  /* The input consists of access units with a length field before each NAL
   * unit. The codec data contain the size of the length fields. */
  INPUT_LENGTHS,
  INPUT_UNITS,                  /* NAL units, framed here */
  INPUT_LAST
} InputType;

/* Bits of the byte of flags that precedes each access unit or NAL unit in the
 * input. */
/* With this flag, the NAL unit is the last one of its access unit. */
#define FLAG_LAST (1 << 0)
#define FLAG_RESET (1 << 1)
#define FLAG_NO_PTS (1 << 2)
#define PTS(flags) ((flags) >> 3)

static guint64
count_malformed (const IfdClassifier * classifier)
{
  guint64 count = 0;
  guint i;

  for (i = 0; i < IFD_MALFORMED_LAST; i++)
    count += ifd_classifier_get_malformed (classifier, i);
  return count;
}

/* Bits of the fields `uses` and `updates` of a frame. Each bit of SLOT_BITS
 * stands for one slot, in which a decoder stores a picture. Each of the four
 * bits of SPECIAL_BITS stands for other state of the decoder. One of the four
 * bits is for H.265. It stands for pictures that a stream refers to although
 * they were never received. The other three of the four bits are for H.264.
 * They stand for the reference picture marking. */
#define SLOT_BITS ((1u << 17) - 1)
#define SPECIAL_BITS (15u << 28)

static void
check_slots (IfdCodec codec, const IfdFrame * frame)
{
  if (!(frame->flags & IFD_FRAME_SLOTS)) {
    fuzz_check (frame->uses == 0 && frame->updates == 0 && frame->depth == 0);
    return;
  }
  if (frame->uses != G_MAXUINT32)
    fuzz_check ((frame->uses & ~(SLOT_BITS | SPECIAL_BITS)) == 0);
  if (frame->updates != G_MAXUINT32)
    fuzz_check ((frame->updates & ~(SLOT_BITS | SPECIAL_BITS)) == 0);
  /* `uses` and `updates` are the sets of slots that the frame uses and updates.
   * A slot is a place in which a decoder stores a picture. The two sets must
   * agree with the type of the frame: an I-frame uses no slot, and a B-frame
   * updates no slot. An I-frame or P-frame updates at least one slot, because
   * later frames may need this frame. */
  if (frame->type == IFD_FRAME_B)
    fuzz_check (frame->updates == 0);
  else
    fuzz_check ((frame->updates & SLOT_BITS) != 0);
  if (frame->type == IFD_FRAME_I) {
    fuzz_check (frame->uses == 0);
    if (frame->flags & IFD_FRAME_CLOSED)
      fuzz_check (frame->updates == G_MAXUINT32);
  } else if (codec == IFD_CODEC_H264) {
    fuzz_check (frame->uses != 0);
  }
}

static void
check_frame (IfdCodec codec, const IfdFrame * frame)
{
  const guint flags = frame->flags & ~IFD_FRAME_SLOTS;
  guint direction = flags & (IFD_FRAME_LEADING | IFD_FRAME_TRAILING);

  fuzz_check (frame->type < IFD_FRAME_LAST);
  fuzz_check (direction != (IFD_FRAME_LEADING | IFD_FRAME_TRAILING));
  fuzz_check (!(frame->flags & IFD_FRAME_INCOMPLETE));
  if (frame->type == IFD_FRAME_I)
    fuzz_check (direction == 0
        && flags != (IFD_FRAME_CLOSED | IFD_FRAME_BROKEN));
  else if (frame->type == IFD_FRAME_P)
    fuzz_check ((flags & ~IFD_FRAME_REFRESH) == direction);
  else
    fuzz_check (flags == direction);
  fuzz_check (codec <= IFD_CODEC_H265);
  fuzz_check (frame->layer >= -1 && frame->layer < 8);
  check_slots (codec, frame);
}

static guint64
pts_of (guint flags)
{
  return flags & FLAG_NO_PTS ? G_MAXUINT64 : PTS (flags);
}

static void
find_slices (const IfdClassifier * classifier, const guint8 * data, gsize size,
    IfdSlices * slices)
{
  guint64 malformed = count_malformed (classifier);

  if (ifd_classifier_find_slices (classifier, data, size, slices))
    fuzz_check (slices->first >= data && slices->first_size > 0
        && slices->first + slices->first_size <= data + size);
  else
    fuzz_check (slices->size == 0);
  fuzz_check (slices->first_size <= slices->size && slices->size <= size);
  fuzz_check (count_malformed (classifier) == malformed);
}

/* Checks the two fields of an interlaced frame. A second field must follow a
 * first field, and must not be an I-frame. */
static void
check_field (const IfdClassifier * classifier, IfdField before,
    const IfdFrame * frame)
{
  IfdField field = ifd_classifier_get_field (classifier);
  IfdFrame joined = { IFD_FRAME_B, IFD_FRAME_LEADING };

  fuzz_check (field <= IFD_FIELD_SECOND);
  if (field != IFD_FIELD_SECOND)
    return;
  fuzz_check (before == IFD_FIELD_FIRST && frame->type != IFD_FRAME_I);
  ifd_classifier_join_fields (&joined, frame);
  fuzz_check (joined.type == frame->type);
}

static void
classify (IfdClassifier * classifier, IfdCodec codec, const guint8 * data,
    gsize size, guint flags, IfdFrame * frame)
{
  guint64 malformed = count_malformed (classifier);
  IfdField field = ifd_classifier_get_field (classifier);
  IfdSlices slices;

  find_slices (classifier, data, size, &slices);
  memset (frame, 0xff, sizeof (*frame));
  ifd_classifier_input (classifier, data, size, pts_of (flags), frame);
  check_frame (codec, frame);
  check_field (classifier, field, frame);
  malformed = count_malformed (classifier) - malformed;
  fuzz_check (malformed <= 1);
}

/* Divides the rest of the input into units, and passes each unit to the
 * classifier. Each unit is copied to memory of exactly its size, so that
 * AddressSanitizer finds any access beyond the unit. */
static void
classify_any (IfdCodec codec, FuzzInput * input, IfdClassifier * classifier)
{
  while (input->size > 0) {
    guint flags = fuzz_take_u8 (input);
    gsize size = fuzz_take_u8 (input);
    IfdFrame frame;
    guint8 *data;

    size = MIN (size, input->size);
    data = fuzz_take_copy (input, size);
    if (flags & FLAG_RESET) {
      ifd_classifier_reset (classifier);
      classify (classifier, codec, data, size, flags, &frame);
      if (codec == IFD_CODEC_H264)
        fuzz_check (!(frame.flags & IFD_FRAME_LEADING));
    } else {
      classify (classifier, codec, data, size, flags, &frame);
    }
    g_free (data);
  }
}

/* Passes codec data from the input to the classifier. If the classifier refuses
 * the codec data, it must classify the next frame in the same way as a new
 * classifier. */
static void
set_codec_data (IfdCodec codec, FuzzInput * input, IfdClassifier * classifier)
{
  IfdClassifier *twin = ifd_classifier_new (codec);
  gsize size = fuzz_take_u8 (input);
  const guint8 bytes[] = { 0, 0, 0, 1, 2, 1, 0, 0, 1, 0x65, 1 };
  IfdFrame frame, twin_frame;
  guint8 *data;

  size = MIN (size, input->size);
  data = fuzz_take_copy (input, size);
  if (!ifd_classifier_set_codec_data (classifier, data, size)) {
    classify (classifier, codec, bytes, sizeof (bytes), 0, &frame);
    classify (twin, codec, bytes, sizeof (bytes), 0, &twin_frame);
    fuzz_check (frame.type == twin_frame.type
        && frame.flags == twin_frame.flags);
  }
  g_free (data);
  ifd_classifier_free (twin);
}

/* Appends a NAL unit as an encoder writes it: without a start code inside and
 * without a zero byte at the end (H.264 section 7.4.1). */
static void
append_unit (GByteArray * unit, FuzzInput * input, gsize size)
{
  guint zeros = 0;

  for (; size > 0 && input->size > 0; size--) {
    guint8 byte = fuzz_take_u8 (input);

    if (zeros >= 2 && byte < 3)
      byte = 3;
    zeros = byte == 0 ? zeros + 1 : 0;
    g_byte_array_append (unit, &byte, 1);
  }
  if (unit->len == 0 || unit->data[unit->len - 1] == 0)
    g_byte_array_append (unit, (const guint8 *) "\x80", 1);
}

static void
append_framed (GByteArray * stream, GByteArray * lengths,
    const GByteArray * unit, gboolean long_code)
{
  const guint8 length[] = { unit->len >> 8, unit->len & 0xff };

  g_byte_array_append (stream, (const guint8 *) "\0\0\0\1" + !long_code,
      3 + long_code);
  g_byte_array_append (stream, unit->data, unit->len);
  g_byte_array_append (lengths, length, sizeof (length));
  g_byte_array_append (lengths, unit->data, unit->len);
}

static void
classify_both (IfdCodec codec, IfdClassifier * stream_classifier,
    const GByteArray * stream, IfdClassifier * lengths_classifier,
    const GByteArray * lengths, guint flags)
{
  IfdSlices a_slices, b_slices;
  IfdFrame a, b;
  guint i;

  find_slices (stream_classifier, stream->data, stream->len, &a_slices);
  find_slices (lengths_classifier, lengths->data, lengths->len, &b_slices);
  fuzz_check (a_slices.size == b_slices.size);
  fuzz_check (a_slices.first_size == b_slices.first_size);
  fuzz_check (a_slices.first_size == 0 || memcmp (a_slices.first,
          b_slices.first, a_slices.first_size) == 0);
  classify (stream_classifier, codec, stream->data, stream->len, flags, &a);
  classify (lengths_classifier, codec, lengths->data, lengths->len, flags, &b);
  fuzz_check (a.type == b.type && a.flags == b.flags);
  fuzz_check (a.uses == b.uses && a.updates == b.updates);
  fuzz_check (a.layer == b.layer && a.depth == b.depth);
  fuzz_check (ifd_classifier_get_field (stream_classifier)
      == ifd_classifier_get_field (lengths_classifier));
  for (i = 0; i < IFD_MALFORMED_LAST; i++)
    fuzz_check (ifd_classifier_get_malformed (stream_classifier, i)
        == ifd_classifier_get_malformed (lengths_classifier, i));
}

static void
classify_units (IfdCodec codec, FuzzInput * input)
{
  const guint8 avcc[] = { 1, 100, 0, 30, 0xfd, 0xe0, 0 };
  const guint8 hvcc[23] = { 1,[21] = 1 };
  IfdClassifier *a = ifd_classifier_new (codec);
  IfdClassifier *b = ifd_classifier_new (codec);
  GByteArray *stream = g_byte_array_new (), *lengths = g_byte_array_new ();

  if (codec == IFD_CODEC_H264)
    fuzz_check (ifd_classifier_set_codec_data (b, avcc, sizeof (avcc)));
  else
    fuzz_check (ifd_classifier_set_codec_data (b, hvcc, sizeof (hvcc)));
  while (input->size > 0) {
    guint flags = fuzz_take_u8 (input);
    GByteArray *unit = g_byte_array_new ();

    append_unit (unit, input, fuzz_take_u8 (input));
    append_framed (stream, lengths, unit, flags >> 7);
    g_byte_array_unref (unit);
    if (!(flags & FLAG_LAST))
      continue;
    if (flags & FLAG_RESET) {
      ifd_classifier_reset (a);
      ifd_classifier_reset (b);
    }
    classify_both (codec, a, stream, b, lengths, flags);
    g_byte_array_set_size (stream, 0);
    g_byte_array_set_size (lengths, 0);
  }
  g_byte_array_unref (stream);
  g_byte_array_unref (lengths);
  ifd_classifier_free (a);
  ifd_classifier_free (b);
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  guint what = fuzz_take_u8 (&input);
  IfdCodec codec = what & 1 ? IFD_CODEC_H265 : IFD_CODEC_H264;
  IfdClassifier *classifier;

  if ((what >> 1) % INPUT_LAST == INPUT_UNITS) {
    classify_units (codec, &input);
    return 0;
  }
  classifier = ifd_classifier_new (codec);
  if ((what >> 1) % INPUT_LAST == INPUT_LENGTHS)
    set_codec_data (codec, &input, classifier);
  classify_any (codec, &input, classifier);
  ifd_classifier_free (classifier);
  return 0;
}
