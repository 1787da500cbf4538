/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One option of DCCP (RFC 4340 section 5.8): a type and a value; and a space to
 * which options are written one behind the other. Knows no packet, and not what
 * the types mean.
 */

#pragma once

#include <glib.h>

#include "wire.h"

/* Bytes. Data Offset counts words in 8 bits, and the header before the options
 * has 7 words at most (RFC 4340 section 5.1). */
#define DCCP_MAX_OPTIONS (1020 - 28)

typedef struct
{
  guint8 type;
  gboolean mandatory;           /* Mandatory stood before it */
  const guint8 *value;          /* within the packet */
  guint8 size;                  /* bytes of the value */
} DccpOption;

typedef struct
{
  guint8 bytes[DCCP_MAX_OPTIONS];
  gsize size;
  gboolean is_full;             /* something did not fit, and is not there */
} DccpOptionWriter;

void dccp_option_writer_init (DccpOptionWriter * writer);
/* Any; all of it or, when there is no room, nothing: FALSE */
gboolean dccp_option_write (DccpOptionWriter * writer, gboolean mandatory,
    guint8 type, const guint8 * value, gsize size);
/* In `size` bytes, the highest first */
gboolean dccp_option_write_number (DccpOptionWriter * writer, guint8 type,
    guint64 number, guint size);
