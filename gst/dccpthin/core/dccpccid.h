/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface between a DCCP connection and a congestion control algorithm
 * (RFC 4340 section 10): a table of operations, like struct ccid_operations in
 * Linux. Each algorithm is one file that fills the table, and the connection
 * calls an algorithm only through its table. The connection negotiates the
 * CCID, carries the options and keeps the sequence numbers. The algorithm
 * decides when data may be sent and what the receiver reports.
 * docs/architecture.md explains how to add an algorithm.
 *
 * Each connection has two half-connections, which may use different algorithms:
 * in one of them we send the data, in the other we receive data. Only
 * dccphalfconnections.c calls the operations, under the lock of the element. An
 * algorithm therefore needs no lock of its own. The object that `create`
 * returns belongs to the connection, which frees it with `free`. Pointers in
 * arguments are valid during the call only.
 *
 * Times are in ns on one clock that never goes back, rates are in bytes per
 * second, and sequence numbers are circular (dccpsequence.h).
 */

#pragma once

#include "dccpccidreceiver.h"
#include "dccpccidsender.h"

/* RFC 4340 section 10.3 gives rules for the options of congestion controls. An
 * entry of this type describes an option that has other rules. */
typedef struct
{
  guint8 type;
  /* TRUE if data packets may carry this option (RFC 4340 table 3) */
  gboolean on_data;
  /* TRUE if the option has no meaning on a packet without an acknowledgement
   * number */
  gboolean needs_acknowledgement;
} DccpCcidOption;

#define DCCP_CCID_MAX_FEATURES 4

typedef struct
{
  /* CCID, RFC 4340 section 10, table 5. The values 248 to 254 are for
   * experiments. */
  guint8 number;
  const gchar *name;
  /* Boolean features of this congestion control. Features 128 to 191 belong to
   * the sender of data, features 192 to 255 to the receiver (RFC 4340 section
   * 10.3). We ask the peer to switch on all features of this array. If the peer
   * asks us to switch on one of these features, we do so. Two algorithms may
   * use the same feature number only for the same feature. */
  guint8 features[DCCP_CCID_MAX_FEATURES];      /* 0 after the last feature */
  /* Array of the options whose rules differ from RFC 4340 section 10.3. The
   * last entry has the type 0. NULL if there are no such options. */
  const DccpCcidOption *options;
  DccpCcidSender sender;
  DccpCcidReceiver receiver;
} DccpCcid;

/* All algorithms of this build in order of preference, followed by NULL. */
extern const DccpCcid *const dccp_ccids[];

/* Returns the algorithm with this CCID, or NULL if `ccids` has none. `ccids` is
 * a list like dccp_ccids. */
const DccpCcid *dccp_ccid_find (const DccpCcid * const *ccids, guint number);

/* Congestion control algorithms. Each of them is defined in its own file. */
extern const DccpCcid dccp_ccid_3;
