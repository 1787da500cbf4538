/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A struct for one DCCP option, and a buffer to which the options of a packet
 * are written one after the other. An option consists of a type and, for most
 * types, a length and a value (RFC 4340 section 5.8). This code does not depend
 * on the packet header or on the meaning of the option types.
 */

#pragma once

#include <glib.h>

#include "wire.h"

/* Maximum total size in bytes of the options of a packet. The header with its
 * options has at most 1020 bytes, because the header field Data Offset has 8
 * bits and counts 32-bit words. Without options, the longest header has 7
 * words, which are 28 bytes (RFC 4340 section 5.1). */
#define DCCP_MAX_OPTIONS (1020 - 28)

typedef struct
{
  guint8 type;
  gboolean mandatory;           /* A Mandatory option preceded it. */
  const guint8 *value;          /* points into the packet */
  /* Size in bytes of the value, without the type and the length of the option.
   */
  guint8 size;
} DccpOption;

typedef struct
{
  guint8 bytes[DCCP_MAX_OPTIONS];
  gsize size;
  /* TRUE if at least one option did not fit and was left out */
  gboolean is_full;
} DccpOptionWriter;

void dccp_option_writer_init (DccpOptionWriter * writer);
/* Writes an option of any type. Returns FALSE and writes nothing if there is no
 * room for it. */
gboolean dccp_option_write (DccpOptionWriter * writer, gboolean mandatory,
    guint8 type, const guint8 * value, gsize size);
/* Writes an option whose value is a number of `size` bytes in network byte
 * order. */
gboolean dccp_option_write_number (DccpOptionWriter * writer, guint8 type,
    guint64 number, guint size);
