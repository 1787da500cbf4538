/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of nalbits.h: reads the payload of a NAL unit. */

#include "nalbits.h"

#include <string.h>

void
nal_bits_init (NalBits * bits, const guint8 * data, const guint8 * end)
{
  memset (bits, 0, sizeof (*bits));
  bits->next = data;
  bits->end = end;
}

gboolean
nal_bits_take_byte (NalBits * bits, guint8 * byte)
{
  if (bits->zeros >= 2 && bits->next < bits->end && *bits->next == 3) {
    bits->next++;
    bits->zeros = 0;
  }
  if (bits->next == bits->end)
    return FALSE;
  *byte = *bits->next++;
  bits->zeros = *byte == 0 ? bits->zeros + 1 : 0;
  return TRUE;
}

static guint
take_bit (NalBits * bits)
{
  if (bits->left == 0) {
    if (!nal_bits_take_byte (bits, &bits->byte)) {
      bits->beyond = TRUE;
      return 0;
    }
    bits->left = 8;
  }
  return bits->byte >> --bits->left & 1;
}

guint32
nal_bits_take (NalBits * bits, guint n)
{
  guint32 value = 0;

  for (; n > 0; n--)
    value = value << 1 | take_bit (bits);
  return value;
}

/* Reads an unsigned Exp-Golomb code (H.264, 9.1). If the code has 32 or more
 * leading zero bits, its value does not fit into 32 bits. In this case, the
 * function sets `beyond` and returns 0. */
guint32
nal_bits_take_ue (NalBits * bits)
{
  guint zeros = 0;

  while (!bits->beyond && !take_bit (bits)) {
    if (++zeros == 32)
      bits->beyond = TRUE;
  }
  if (bits->beyond)
    return 0;
  return ((guint32) 1 << zeros) - 1 + nal_bits_take (bits, zeros);
}

/* Reads a signed Exp-Golomb code (H.264, 9.1.1). The signed value is derived
 * from an unsigned code: the unsigned codes 0, 1, 2, 3, 4 mean 0, 1, -1, 2, -2,
 * and so on. */
gint32
nal_bits_take_se (NalBits * bits)
{
  guint32 code = nal_bits_take_ue (bits);

  return code & 1 ? (gint32) (code / 2 + 1) : -(gint32) (code / 2);
}

guint32
nal_bits_take_index (NalBits * bits, guint32 max)
{
  guint32 index = nal_bits_take_ue (bits);

  if (index > max)
    bits->beyond = TRUE;
  return index > max ? 0 : index;
}
