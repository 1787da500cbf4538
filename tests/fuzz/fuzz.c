/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fuzz.h"

guint
fuzz_take_u8 (FuzzInput * input)
{
  if (input->size == 0)
    return 0;
  input->size--;
  return *input->data++;
}

guint
fuzz_take_u16 (FuzzInput * input)
{
  guint high = fuzz_take_u8 (input);

  return high << 8 | fuzz_take_u8 (input);
}

guint32
fuzz_take_u32 (FuzzInput * input)
{
  guint32 high = fuzz_take_u16 (input);

  return high << 16 | fuzz_take_u16 (input);
}

guint8 *
fuzz_take_copy (FuzzInput * input, gsize size)
{
  guint8 *copy = g_malloc (size + (size == 0));

  g_assert (size <= input->size);
  if (size > 0)
    memcpy (copy, input->data, size);
  input->data += size;
  input->size -= size;
  return copy;
}
