/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers for the fuzz targets: functions that take numbers and bytes from the
 * start of the input, and the macro fuzz_check(), which aborts the program if a
 * condition does not hold.
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

/* These functions return the next 1, 2 or 4 bytes of the input as a number.
 * Bytes after the end of the input count as 0. */
guint fuzz_take_u8 (FuzzInput * input);
guint fuzz_take_u16 (FuzzInput * input);
guint32 fuzz_take_u32 (FuzzInput * input);
/* Returns a copy of the next bytes. The memory has exactly `size` bytes, so
 * that AddressSanitizer finds any access beyond them. */
guint8 *fuzz_take_copy (FuzzInput * input, gsize size);

#endif /* __FUZZ_H__ */
