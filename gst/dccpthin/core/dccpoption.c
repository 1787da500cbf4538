/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpoption.h. Section numbers refer to RFC 4340. */

#include "dccpoption.h"

#include <string.h>

/* Greatest type of the options that consist of a single byte, the type. They
 * have no length field and no value (RFC 4340 section 5.8). */
#define LAST_SINGLE_BYTE 31
/* Total size in bytes of the fields type and length, with which an option
 * begins. The value of the length field includes these two bytes. */
#define TYPE_AND_LENGTH 2
#define MAX_VALUE (255 - TYPE_AND_LENGTH)
#define MANDATORY 1             /* section 5.8.2 */

void
dccp_option_writer_init (DccpOptionWriter * writer)
{
  writer->size = 0;
  writer->is_full = FALSE;
}

/* Writes the type and the length of an option, preceded by the option Mandatory
 * if `mandatory` is TRUE. Returns a pointer to the memory for the option's
 * value, or NULL if there is no room for the option. */
static guint8 *
begin_option (DccpOptionWriter * self, gboolean mandatory, guint8 type,
    gsize size)
{
  const gboolean is_single = type <= LAST_SINGLE_BYTE;
  const gsize head = (mandatory ? 1 : 0) + (is_single ? 1 : TYPE_AND_LENGTH);
  guint8 *bytes = self->bytes + self->size;

  g_return_val_if_fail (!is_single || size == 0, NULL);
  if (size > MAX_VALUE || head + size > sizeof (self->bytes) - self->size) {
    self->is_full = TRUE;
    return NULL;
  }
  self->size += head + size;
  if (mandatory)
    *bytes++ = MANDATORY;
  *bytes++ = type;
  if (!is_single)
    *bytes++ = TYPE_AND_LENGTH + size;
  return bytes;
}

gboolean
dccp_option_write (DccpOptionWriter * writer, gboolean mandatory, guint8 type,
    const guint8 * value, gsize size)
{
  guint8 *bytes = begin_option (writer, mandatory, type, size);

  if (!bytes)
    return FALSE;
  if (size > 0)
    memcpy (bytes, value, size);
  return TRUE;
}

gboolean
dccp_option_write_number (DccpOptionWriter * writer, guint8 type,
    guint64 number, guint size)
{
  guint8 *bytes = begin_option (writer, FALSE, type, size);

  if (!bytes)
    return FALSE;
  wire_write (bytes, size, number);
  return TRUE;
}
