/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of DCCP and CCID 3; see the header. Times go on the wire in
 * units of 10 us (RFC 4340 section 13); the round trip of RFC 6323 is in us.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "dccpoptions.h"

#include <string.h>

#define LAST_SINGLE_BYTE 31     /* RFC 4340 section 5.8: they have no length */
#define TYPE_AND_LENGTH 2       /* bytes, which the length counts too */
#define MAX_VALUE (255 - TYPE_AND_LENGTH)

#define TIME_UNIT 10000         /* ns */
#define ROUND_TRIP_UNIT 1000    /* ns, RFC 6323 section 3.2 */
#define MAX_ROUND_TRIP 0xffffff /* us: longer than can be said */

#define INTERVAL_SIZE 9         /* bytes, RFC 4342 section 8.6 */
#define MAX_SKIP 3              /* NDUPACK, section 6.1 */
#define MAX_LENGTH 0xffffff     /* 24 bits */
#define MAX_LOSS_LENGTH 0x7fffff        /* 23 bits, the highest is E */
#define ECN_NONCE 0x800000

#define MAX_NDP_COUNT 6         /* bytes, RFC 4340 section 7.7 */

/* --- one by one ----------------------------------------------------------- */

void
dccp_option_reader_init (DccpOptionReader * reader, const DccpPacket * packet)
{
  reader->bytes = packet->options;
  /* RFC 5596 section 2.2.1: those of Listen are ignored. */
  reader->size = packet->type == DCCP_LISTEN ? 0 : packet->options_size;
  reader->offset = 0;
  reader->packet_type = packet->type;
  reader->broken = FALSE;
}

/* RFC 4340 section 5.8, table 3, and RFC 6323 section 3.2; what Data may not
 * carry is ignored: an attacker would have to guess one number less (7.5.5). */
static gboolean
data_may_carry (guint8 type)
{
  switch (type) {
    case DCCP_OPTION_SLOW_RECEIVER:
    case DCCP_OPTION_NDP_COUNT:
    case DCCP_OPTION_TIMESTAMP:
    case DCCP_OPTION_TIMESTAMP_ECHO:
    case DCCP_OPTION_DATA_CHECKSUM:
    case DCCP_OPTION_RTT_ESTIMATE:
      return TRUE;
    default:
      return FALSE;
  }
}

/* They count from the acknowledgement number, or speak of it. */
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
    case DCCP_OPTION_LOSS_INTERVALS:
      return TRUE;
    default:
      return FALSE;
  }
}

static gboolean
may_carry (DccpType packet_type, guint8 type)
{
  if (packet_type == DCCP_DATA)
    return data_may_carry (type);
  return dccp_type_has_acknowledgement (packet_type)
      || !needs_acknowledgement (type);
}

/* The option at the offset, which goes behind it. FALSE: its length is
 * nonsensical. */
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

/* There is nothing behind a Mandatory that could be processed. */
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
      mandatory = FALSE;        /* with it the same as Padding, 5.8.2 */
    else if (option->type == DCCP_OPTION_MANDATORY) {
      if (mandatory)
        return end_with_mandatory (reader, option);
      /* ignored on Data, 5.8.2 */
      mandatory = reader->packet_type != DCCP_DATA;
    } else if (may_carry (reader->packet_type, option->type)) {
      option->mandatory = mandatory;
      return TRUE;
    } else
      mandatory = FALSE;
  }
  return mandatory && end_with_mandatory (reader, option);
}

/* --- values --------------------------------------------------------------- */

static guint64
get_number (const guint8 * bytes, gsize size)
{
  guint64 number = 0;
  gsize i;

  for (i = 0; i < size; i++)
    number = number << 8 | bytes[i];
  return number;
}

static void
put_number (guint8 * bytes, gsize size, guint64 number)
{
  for (; size > 0; size--, number >>= 8)
    bytes[size - 1] = number;
}

static gboolean
is_size_of_number (const DccpOption * option)
{
  switch (option->type) {
    case DCCP_OPTION_NDP_COUNT:
      return option->size >= 1 && option->size <= MAX_NDP_COUNT;
    case DCCP_OPTION_DATA_CHECKSUM:
    case DCCP_OPTION_LOSS_EVENT_RATE:
    case DCCP_OPTION_RECEIVE_RATE:
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
  *number = get_number (option->value, option->size);
  return TRUE;
}

gboolean
dccp_option_read_timestamp (const DccpOption * option, guint32 * stamp)
{
  if (option->size != 4)
    return FALSE;
  *stamp = get_number (option->value, 4);
  return TRUE;
}

gboolean
dccp_option_read_timestamp_echo (const DccpOption * option, guint32 * stamp,
    guint64 * elapsed)
{
  if (option->size != 4 && option->size != 6 && option->size != 8)
    return FALSE;
  *stamp = get_number (option->value, 4);
  *elapsed = get_number (option->value + 4, option->size - 4) * TIME_UNIT;
  return TRUE;
}

gboolean
dccp_option_read_elapsed_time (const DccpOption * option, guint64 * elapsed)
{
  if (option->size != 2 && option->size != 4)
    return FALSE;
  *elapsed = get_number (option->value, option->size) * TIME_UNIT;
  return TRUE;
}

gboolean
dccp_option_read_rtt_estimate (const DccpOption * option, guint64 * round_trip)
{
  if (option->size < 1 || option->size > 3)
    return FALSE;
  *round_trip = get_number (option->value, option->size) * ROUND_TRIP_UNIT;
  if (*round_trip == MAX_ROUND_TRIP * (guint64) ROUND_TRIP_UNIT)
    *round_trip = 0;
  return TRUE;
}

static void
read_interval (DccpLossInterval * interval, const guint8 * bytes)
{
  guint32 loss = get_number (bytes + 3, 3);

  interval->lossless = get_number (bytes, 3);
  interval->loss = loss & ~ECN_NONCE;
  interval->ecn_nonce = (loss & ECN_NONCE) != 0;
  interval->data = get_number (bytes + 6, 3);
}

gboolean
dccp_option_read_loss_intervals (const DccpOption * option,
    DccpLossIntervals * intervals)
{
  guint i;

  if (option->size < 1 + INTERVAL_SIZE
      || (option->size - 1) % INTERVAL_SIZE != 0 || option->value[0] > MAX_SKIP)
    return FALSE;
  intervals->skip = option->value[0];
  intervals->n = (option->size - 1) / INTERVAL_SIZE;
  for (i = 0; i < intervals->n; i++)
    read_interval (&intervals->intervals[i],
        option->value + 1 + i * INTERVAL_SIZE);
  return TRUE;
}

/* RFC 4340 section 11.7: a run length of 0 is one packet. */
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

void
dccp_option_writer_init (DccpOptionWriter * writer)
{
  writer->size = 0;
  writer->is_full = FALSE;
}

/* Where the value of this option is to go, or NULL */
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
    *bytes++ = DCCP_OPTION_MANDATORY;
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
  put_number (bytes, size, number);
  return TRUE;
}

/* RFC 4340 section 13.2: 2^32 - 1 is that or any longer time. */
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

/* Section 13.1: it turns round. */
gboolean
dccp_option_write_timestamp (DccpOptionWriter * writer, guint64 now)
{
  return dccp_option_write_number (writer, DCCP_OPTION_TIMESTAMP,
      now / TIME_UNIT, 4);
}

/* Section 13.3: no elapsed time is one of 0. */
gboolean
dccp_option_write_timestamp_echo (DccpOptionWriter * writer, guint32 stamp,
    guint64 elapsed)
{
  const guint32 units = get_time_units (elapsed);
  const gsize size = units == 0 ? 0 : units > G_MAXUINT16 ? 4 : 2;
  guint8 *bytes = begin_option (writer, FALSE, DCCP_OPTION_TIMESTAMP_ECHO,
      4 + size);

  if (!bytes)
    return FALSE;
  put_number (bytes, 4, stamp);
  put_number (bytes + 4, size, units);
  return TRUE;
}

/* Rounded up; 0: no estimate (RFC 6323 section 3.2.1) */
gboolean
dccp_option_write_rtt_estimate (DccpOptionWriter * writer, guint64 round_trip)
{
  const guint64 units = MIN (round_trip / ROUND_TRIP_UNIT
      + (round_trip % ROUND_TRIP_UNIT > 0), MAX_ROUND_TRIP);

  return dccp_option_write_number (writer, DCCP_OPTION_RTT_ESTIMATE, units,
      units > G_MAXUINT16 ? 3 : units > G_MAXUINT8 ? 2 : 1);
}

static void
write_interval (guint8 * bytes, const DccpLossInterval * interval)
{
  put_number (bytes, 3, MIN (interval->lossless, MAX_LENGTH));
  put_number (bytes + 3, 3, MIN (interval->loss, MAX_LOSS_LENGTH));
  put_number (bytes + 6, 3, MIN (interval->data, MAX_LENGTH));
}

gboolean
dccp_option_write_loss_intervals (DccpOptionWriter * writer,
    const DccpLossIntervals * intervals)
{
  guint8 *bytes;
  guint i;

  g_return_val_if_fail (intervals->n >= 1
      && intervals->n <= DCCP_MAX_LOSS_INTERVALS, FALSE);
  g_return_val_if_fail (intervals->skip <= MAX_SKIP, FALSE);
  bytes = begin_option (writer, FALSE, DCCP_OPTION_LOSS_INTERVALS,
      1 + intervals->n * INTERVAL_SIZE);
  if (!bytes)
    return FALSE;
  bytes[0] = intervals->skip;
  for (i = 0; i < intervals->n; i++)
    write_interval (bytes + 1 + i * INTERVAL_SIZE, &intervals->intervals[i]);
  return TRUE;
}

gboolean
dccp_option_write_data_dropped (DccpOptionWriter * writer,
    const guint8 * blocks, gsize n)
{
  return dccp_option_write (writer, FALSE, DCCP_OPTION_DATA_DROPPED, blocks, n);
}
