/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpoptions.h: the options of DCCP. On the wire, times are
 * in units of 10 us (RFC 4340 section 13).
 */

#include "dccpoptions.h"

/* Options of the types 0 to 31 have no length and no value. They consist of the
 * type only (RFC 4340 section 5.8). */
#define LAST_SINGLE_BYTE 31
/* Total size in bytes of the type and the length, with which an option begins.
 * The value of the length field includes these two bytes. */
#define TYPE_AND_LENGTH 2

#define TIME_UNIT 10000         /* ns */
#define MAX_NDP_COUNT 6         /* bytes, RFC 4340 section 7.7 */

/* --- one by one ----------------------------------------------------------- */

void
dccp_option_reader_init (DccpOptionReader * reader, const DccpPacket * packet)
{
  reader->bytes = packet->options;
  /* All options of a DCCP-Listen packet are ignored (RFC 5596 section 2.2.1).
   */
  reader->size = packet->type == DCCP_LISTEN ? 0 : packet->options_size;
  reader->offset = 0;
  reader->packet_type = packet->type;
  reader->broken = FALSE;
  reader->ccids = dccp_ccids;
}

/* Returns whether a Data packet may carry options of this type. All other
 * options are ignored if they are in a Data packet (RFC 4340 section 5.8, table
 * 3). The reason is that a Data packet has no acknowledgement number. An
 * attacker who forges such a packet has to guess only its sequence number
 * (section 7.5.5). */
static gboolean
data_may_carry (guint8 type)
{
  switch (type) {
    case DCCP_OPTION_SLOW_RECEIVER:
    case DCCP_OPTION_NDP_COUNT:
    case DCCP_OPTION_TIMESTAMP:
    case DCCP_OPTION_TIMESTAMP_ECHO:
    case DCCP_OPTION_DATA_CHECKSUM:
      return TRUE;
    default:
      return FALSE;
  }
}

/* Returns whether options of this type refer to the acknowledgement number of
 * their packet. They have no meaning in a packet without this number. */
static gboolean
needs_acknowledgement (guint8 type)
{
  switch (type) {
    case DCCP_OPTION_CONFIRM_L:
    case DCCP_OPTION_CONFIRM_R:
    case DCCP_OPTION_ACK_VECTOR_0:
    case DCCP_OPTION_ACK_VECTOR_1:
    case DCCP_OPTION_DATA_DROPPED:
    case DCCP_OPTION_ELAPSED_TIME:
      return TRUE;
    default:
      return FALSE;
  }
}

/* Each congestion control may have a table of its options that have special
 * rules. Searches the tables of the congestion controls `ccids` for an option
 * of the type `type`. Returns the table entry, which says which packets may
 * carry this option. Returns NULL if no table has an entry for this type. */
static const DccpCcidOption *
find_ccid_option (const DccpCcid * const *ccids, guint8 type)
{
  const DccpCcidOption *option;

  for (; *ccids; ccids++)
    for (option = (*ccids)->options; option && option->type != 0; option++)
      if (option->type == type)
        return option;
  return NULL;
}

static gboolean
may_carry (const DccpOptionReader * self, guint8 type)
{
  const DccpCcidOption *own = type >= DCCP_FIRST_CCID_OPTION ?
      find_ccid_option (self->ccids, type) : NULL;

  if (self->packet_type == DCCP_DATA)
    return own ? own->on_data : data_may_carry (type);
  return dccp_type_has_acknowledgement (self->packet_type)
      || !(own ? own->needs_acknowledgement : needs_acknowledgement (type));
}

/* Reads the option at the current offset of the reader, and advances this
 * offset to the next option. Returns FALSE if the length of the option is
 * invalid. */
static gboolean
read_option (DccpOptionReader * self, DccpOption * option)
{
  const guint8 *bytes = self->bytes + self->offset;
  const gsize left = self->size - self->offset;

  option->type = bytes[0];
  option->value = bytes + 1;
  option->size = 0;
  if (option->type <= LAST_SINGLE_BYTE) {
    self->offset++;
    return TRUE;
  }
  if (left < TYPE_AND_LENGTH || bytes[1] < TYPE_AND_LENGTH || bytes[1] > left)
    return FALSE;
  option->value = bytes + TYPE_AND_LENGTH;
  option->size = bytes[1] - TYPE_AND_LENGTH;
  self->offset += bytes[1];
  return TRUE;
}

/* The option Mandatory must be followed by another option. Called if it is the
 * last option of the packet, or if another option Mandatory follows. Both cases
 * are errors. To report the error, the function returns the option Mandatory
 * itself in `option`. */
static gboolean
end_with_mandatory (DccpOptionReader * self, DccpOption * option)
{
  option->type = DCCP_OPTION_MANDATORY;
  option->mandatory = FALSE;
  option->value = self->bytes + self->offset;
  option->size = 0;
  return TRUE;
}

gboolean
dccp_option_reader_next (DccpOptionReader * reader, DccpOption * option)
{
  gboolean mandatory = FALSE;

  while (reader->offset < reader->size) {
    if (!read_option (reader, option)) {
      reader->broken = TRUE;
      reader->offset = reader->size;
      option->mandatory = mandatory;
      return mandatory;
    } else if (option->type == DCCP_OPTION_PADDING)
      /* If Padding follows the option Mandatory, both are ignored (RFC 4340
       * section 5.8.2). */
      mandatory = FALSE;
    else if (option->type == DCCP_OPTION_MANDATORY) {
      if (mandatory)
        return end_with_mandatory (reader, option);
      /* The option Mandatory is ignored in Data packets (section 5.8.2). */
      mandatory = reader->packet_type != DCCP_DATA;
    } else if (may_carry (reader, option->type)) {
      option->mandatory = mandatory;
      return TRUE;
    } else
      mandatory = FALSE;
  }
  return mandatory && end_with_mandatory (reader, option);
}

/* --- values --------------------------------------------------------------- */

gboolean
dccp_option_is_negotiation (const DccpOption * option)
{
  return option->type >= DCCP_OPTION_CHANGE_L
      && option->type <= DCCP_OPTION_CONFIRM_R;
}

static gboolean
is_size_of_number (const DccpOption * option)
{
  switch (option->type) {
    case DCCP_OPTION_NDP_COUNT:
      return option->size >= 1 && option->size <= MAX_NDP_COUNT;
    case DCCP_OPTION_DATA_CHECKSUM:
      return option->size == 4;
    default:
      return option->size >= 1 && option->size <= sizeof (guint64);
  }
}

gboolean
dccp_option_read_number (const DccpOption * option, guint64 * number)
{
  if (!is_size_of_number (option))
    return FALSE;
  *number = wire_read (option->value, option->size);
  return TRUE;
}

gboolean
dccp_option_read_timestamp (const DccpOption * option, guint32 * stamp)
{
  if (option->size != 4)
    return FALSE;
  *stamp = wire_read (option->value, 4);
  return TRUE;
}

gboolean
dccp_option_read_timestamp_echo (const DccpOption * option, guint32 * stamp,
    guint64 * elapsed)
{
  if (option->size != 4 && option->size != 6 && option->size != 8)
    return FALSE;
  *stamp = wire_read (option->value, 4);
  *elapsed = wire_read (option->value + 4, option->size - 4)
      * TIME_UNIT;
  return TRUE;
}

gboolean
dccp_option_read_elapsed_time (const DccpOption * option, guint64 * elapsed)
{
  if (option->size != 2 && option->size != 4)
    return FALSE;
  *elapsed = wire_read (option->value, option->size) * TIME_UNIT;
  return TRUE;
}

/* Reads the next block of a Data Dropped option. A block describes `run`
 * consecutive packets. It contains this number minus one, so the value 0 in a
 * block means one packet (RFC 4340 section 11.7). */
gboolean
dccp_option_next_drop_block (const DccpOption * option, guint * offset,
    DccpDropCode * code, guint * run)
{
  guint8 block;

  if (*offset >= option->size)
    return FALSE;
  block = option->value[(*offset)++];
  if (block & 0x80) {
    *code = block >> 4 & 0x07;
    *run = (block & 0x0f) + 1;
  } else {
    *code = DCCP_DROP_NONE;
    *run = block + 1;
  }
  return TRUE;
}

/* --- writing -------------------------------------------------------------- */

/* Converts a time from ns to units of 10 us, which DCCP options use. The result
 * has 32 bits. A time that is too long for 32 bits is replaced by 2^32 - 1,
 * which means "this time or longer" (RFC 4340 section 13.2). */
static guint32
get_time_units (guint64 time)
{
  return MIN (time / TIME_UNIT, G_MAXUINT32);
}

gboolean
dccp_option_write_elapsed_time (DccpOptionWriter * writer, guint64 elapsed)
{
  const guint32 units = get_time_units (elapsed);

  return dccp_option_write_number (writer, DCCP_OPTION_ELAPSED_TIME, units,
      units > G_MAXUINT16 ? 4 : 2);
}

/* If the elapsed time is 0, the option Timestamp Echo is written without it.
 * This has the same meaning and is shorter (RFC 4340 section 13.3). */
gboolean
dccp_option_write_timestamp_echo (DccpOptionWriter * writer, guint32 stamp,
    guint64 elapsed)
{
  const guint32 units = get_time_units (elapsed);
  const gsize size = units == 0 ? 0 : units > G_MAXUINT16 ? 4 : 2;
  guint8 value[8];

  wire_write (value, 4, stamp);
  wire_write (value + 4, size, units);
  return dccp_option_write (writer, FALSE, DCCP_OPTION_TIMESTAMP_ECHO, value,
      4 + size);
}

gboolean
dccp_option_write_data_dropped (DccpOptionWriter * writer,
    const guint8 * blocks, gsize n)
{
  return dccp_option_write (writer, FALSE, DCCP_OPTION_DATA_DROPPED, blocks, n);
}
