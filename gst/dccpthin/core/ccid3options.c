/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of ccid3options.h: reads and writes the options of CCID 3. */

#include "ccid3options.h"

#define RATE_SIZE 4             /* bytes, RFC 4342 sections 8.3 and 8.5 */

#define ROUND_TRIP_UNIT 1000    /* ns, RFC 6323 section 3.2 */
/* Maximum value of the option RTT Estimate in us. A received option with this
 * value means either that the round-trip time is unknown, or that it is too
 * long for the option. */
#define MAX_ROUND_TRIP 0xffffff

#define INTERVAL_SIZE 9         /* bytes, RFC 4342 section 8.6 */
#define MAX_SKIP 3              /* NDUPACK, section 6.1 */
#define MAX_LENGTH 0xffffff     /* 24 bits */
/* Maximum Loss Length in packets. It has only 23 bits, because the highest bit
 * of the 24-bit field is the ECN nonce echo E. */
#define MAX_LOSS_LENGTH 0x7fffff
#define ECN_NONCE 0x800000

gboolean
ccid3_option_read_rate (const DccpOption * option, guint32 * rate)
{
  if (option->size != RATE_SIZE)
    return FALSE;
  *rate = wire_read (option->value, RATE_SIZE);
  return TRUE;
}

gboolean
ccid3_option_read_rtt_estimate (const DccpOption * option, guint64 * round_trip)
{
  if (option->size < 1 || option->size > 3)
    return FALSE;
  *round_trip = wire_read (option->value, option->size)
      * ROUND_TRIP_UNIT;
  if (*round_trip == MAX_ROUND_TRIP * (guint64) ROUND_TRIP_UNIT)
    *round_trip = 0;
  return TRUE;
}

/* Writes the option RTT Estimate. The round-trip time is rounded up. Rounding
 * down could give the value 0, which means that there is no estimate (RFC 6323
 * section 3.2.1). */
gboolean
ccid3_option_write_rtt_estimate (DccpOptionWriter * writer, guint64 round_trip)
{
  const guint64 units = MIN (round_trip / ROUND_TRIP_UNIT
      + (round_trip % ROUND_TRIP_UNIT > 0), MAX_ROUND_TRIP);

  return dccp_option_write_number (writer, CCID3_OPTION_RTT_ESTIMATE, units,
      units > G_MAXUINT16 ? 3 : units > G_MAXUINT8 ? 2 : 1);
}

static void
read_interval (TfrcInterval * interval, const guint8 * bytes)
{
  guint32 loss = wire_read (bytes + 3, 3);

  interval->lossless = wire_read (bytes, 3);
  interval->loss = loss & ~ECN_NONCE;
  interval->ecn_nonce = (loss & ECN_NONCE) != 0;
  interval->data = wire_read (bytes + 6, 3);
}

gboolean
ccid3_option_read_loss_intervals (const DccpOption * option,
    TfrcIntervals * intervals)
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

static void
write_interval (guint8 * bytes, const TfrcInterval * interval)
{
  wire_write (bytes, 3, MIN (interval->lossless, MAX_LENGTH));
  wire_write (bytes + 3, 3, MIN (interval->loss, MAX_LOSS_LENGTH));
  wire_write (bytes + 6, 3, MIN (interval->data, MAX_LENGTH));
}

gboolean
ccid3_option_write_loss_intervals (DccpOptionWriter * writer,
    const TfrcIntervals * intervals)
{
  guint8 value[1 + TFRC_MAX_INTERVALS * INTERVAL_SIZE];
  guint i;

  g_return_val_if_fail (intervals->n >= 1
      && intervals->n <= TFRC_MAX_INTERVALS, FALSE);
  g_return_val_if_fail (intervals->skip <= MAX_SKIP, FALSE);
  value[0] = intervals->skip;
  for (i = 0; i < intervals->n; i++)
    write_interval (value + 1 + i * INTERVAL_SIZE, &intervals->intervals[i]);
  return dccp_option_write (writer, FALSE, CCID3_OPTION_LOSS_INTERVALS, value,
      1 + intervals->n * INTERVAL_SIZE);
}
