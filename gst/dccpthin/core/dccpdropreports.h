/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports of the peer about packets that we sent and that it has dropped. The
 * peer reports them in the option Data Dropped, each packet up to three times
 * (dccpdropped.h). This module counts each packet only once.
 */

#pragma once

#include "dccphistory.h"
#include "dccpoptions.h"

typedef struct
{
  /* `sent_data` records which packets with data we have sent. `reported`
   * records which of these packets the peer has reported as dropped. */
  DccpHistory sent_data, reported;
} DccpDropReports;

/* A set of packets that we have sent, and that the peer has dropped for the
 * same reason, according to a Data Dropped option. Packets that an earlier
 * option has reported are not included. `n` is their number. `first` and `last`
 * are the lowest and the highest of their sequence numbers. */
typedef struct
{
  guint n;
  guint64 first, last;
} DccpDropReport;

/* Called when a packet with data is sent. */
void dccp_drop_reports_add_sent (DccpDropReports * reports, guint64 sequence);
/* Reads a Data Dropped option. The option describes packets that we have sent,
 * in descending order of their sequence numbers. `last` is the number of the
 * first described packet. `dropped` must be filled with zeros. For each Drop
 * Code, the function writes the packets that were dropped for this reason to
 * `dropped`. Returns the number of packets that the option describes. */
guint dccp_drop_reports_read (DccpDropReports * reports,
    const DccpOption * option, guint64 last,
    DccpDropReport dropped[DCCP_DROP_NONE]);
