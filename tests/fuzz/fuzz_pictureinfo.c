/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the reading of video buffers, which may contain a picture or any other
 * bytes. Checks that no byte beyond the buffer is read, and that the
 * description of the picture does not contradict itself.
 *
 * Input: the format, the length of the codec data, the codec data, and then the
 * buffers. Each buffer consists of:
 * - a byte of flags: FLAG_KEY (the buffer is marked as a key frame), FLAG_TIME
 *   (it has a timestamp), FLAG_FLUSH (the reader is flushed before it reads the
 *   buffer)
 * - a byte with the timestamp, which is ignored without FLAG_TIME
 * - two bytes with the length of the data
 * - the data
 */

#include "fuzz.h"
#include "pictureinfo.h"

#define FLAG_KEY 1
#define FLAG_TIME 2
#define FLAG_FLUSH 4

static void
check_info (const PictureInfo * info, gboolean is_key)
{
  fuzz_check (info->kind <= PICTURE_KIND_KEY);
  fuzz_check (info->is_leading == TRUE || info->is_leading == FALSE);
  fuzz_check (!(info->kind == PICTURE_KIND_KEY && info->is_leading));
  fuzz_check (!(info->kind == PICTURE_KIND_REFERENCE && is_key));
}

static void
read_buffer (PictureReader * reader, FuzzInput * input)
{
  guint flags = fuzz_take_u8 (input), time = fuzz_take_u8 (input);
  gsize wanted = fuzz_take_u16 (input), size = MIN (wanted, input->size);
  guint8 *bytes = fuzz_take_copy (input, size);
  gboolean is_key = (flags & FLAG_KEY) != 0;
  PictureInfo info;

  if (flags & FLAG_FLUSH)
    picture_reader_reset (reader);
  memset (&info, 0xa5, sizeof info);
  picture_reader_input (reader, bytes, size,
      flags & FLAG_TIME ? time : G_MAXUINT64, is_key, &info);
  check_info (&info, is_key);
  g_free (bytes);
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  PictureReader *reader =
      picture_reader_new (fuzz_take_u8 (&input) % PICTURE_FORMAT_LAST);
  gsize wanted = fuzz_take_u8 (&input), length = MIN (wanted, input.size);
  guint8 *codec_data = fuzz_take_copy (&input, length);

  if (length > 0)
    picture_reader_set_codec_data (reader, codec_data, length);
  g_free (codec_data);
  while (input.size > 0)
    read_buffer (reader, &input);
  picture_reader_free (reader);
  return 0;
}
