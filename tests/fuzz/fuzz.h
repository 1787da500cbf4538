/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the fuzz targets share: choices taken from the front of the input, and
 * a check that ends the run where a property doesn't hold.
 */

#ifndef __FUZZ_H__
#define __FUZZ_H__

#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t * data, size_t size);

#define fuzz_check(condition) G_STMT_START { \
  if (G_UNLIKELY (!(condition))) { \
    fprintf (stderr, "%s:%d: %s: does not hold: %s\n", __FILE__, __LINE__, \
        __func__, #condition); \
    abort (); \
  } \
} G_STMT_END

typedef struct
{
  const guint8 *data;
  gsize size;
} FuzzInput;

/* Once the input is used up, every choice is 0. */
static inline guint
fuzz_take_u8 (FuzzInput * input)
{
  if (input->size == 0)
    return 0;
  input->size--;
  return *input->data++;
}

static inline guint
fuzz_take_u16 (FuzzInput * input)
{
  guint high = fuzz_take_u8 (input);

  return high << 8 | fuzz_take_u8 (input);
}

static inline guint32
fuzz_take_u32 (FuzzInput * input)
{
  guint32 high = fuzz_take_u16 (input);

  return high << 16 | fuzz_take_u16 (input);
}

/* The next bytes in memory of just that size, so that AddressSanitizer sees
 * the first byte read beyond. */
static inline guint8 *
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

#endif /* __FUZZ_H__ */
