/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads and writes the options of CCID 3 (RFC 4342 section 8, RFC 6323), and
 * defines the numbers of its options and features. These numbers are in the
 * range that RFC 4340 section 10.3 reserves for congestion controls. */

#pragma once

#include "dccpoption.h"
#include "tfrclosses.h"

enum
{
  CCID3_OPTION_RTT_ESTIMATE = 128,      /* RFC 6323 */
  CCID3_OPTION_LOSS_EVENT_RATE = 192,   /* RFC 4342 section 8.5 */
  CCID3_OPTION_LOSS_INTERVALS = 193,    /* section 8.6 */
  CCID3_OPTION_RECEIVE_RATE = 194       /* section 8.3 */
};

#define CCID3_FEATURE_SEND_RTT_ESTIMATE 128     /* RFC 6323 */
#define CCID3_FEATURE_SEND_LOSS_EVENT_RATE 192  /* RFC 4342 section 8.4 */

/* The following read functions return FALSE if the size or the value of the
 * option is not allowed. */

/* Reads the option Loss Event Rate or Receive Rate. The first contains 1/p, the
 * inverse of the loss event rate. The second contains bytes per second. */
gboolean ccid3_option_read_rate (const DccpOption * option, guint32 * rate);
/* Reads the option RTT Estimate. Stores the round-trip time in ns, or 0 if the
 * peer has no estimate, or if the round-trip time is too long for the option.
 */
gboolean ccid3_option_read_rtt_estimate (const DccpOption * option,
    guint64 * round_trip);
gboolean ccid3_option_read_loss_intervals (const DccpOption * option,
    TfrcIntervals * intervals);

/* The following write functions return FALSE if the packet has no room for the
 * option. */
gboolean ccid3_option_write_rtt_estimate (DccpOptionWriter * writer,
    guint64 round_trip);
gboolean ccid3_option_write_loss_intervals (DccpOptionWriter * writer,
    const TfrcIntervals * intervals);
