/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface between a DCCP connection and a congestion control algorithm
 * (RFC 4340 section 10). It is a table of operations, like struct
 * ccid_operations in Linux. Each algorithm is one file that fills such a table.
 * The connection calls an algorithm only through its table. The connection
 * negotiates the algorithm (its CCID), carries its options and keeps the
 * sequence numbers. The algorithm decides when data may be sent, and what the
 * receiver of the data reports. docs/architecture.md explains how to add an
 * algorithm.
 *
 * Each connection has two half-connections: in one of them we send data, in the
 * other we receive data. They may use different algorithms. Only
 * dccphalfconnections.c calls the operations, under the lock of the element. An
 * algorithm therefore needs no lock of its own. The object that the operation
 * `create` returns belongs to the connection, which frees it with the operation
 * `free`. Pointers in arguments are valid during the call only.
 *
 * Times are in ns on one clock that never goes back. Rates are in bytes per
 * second. Sequence numbers are circular (dccpsequence.h). */

#pragma once

#include "dccpccidreceiver.h"
#include "dccpccidsender.h"

/* An option of a congestion control for which the rules of RFC 4340 section
 * 10.3 do not hold */
typedef struct
{
  guint8 type;
  /* TRUE if data packets may carry this option (RFC 4340 table 3) */
  gboolean on_data;
  /* TRUE if the option is only meaningful on a packet that has an
   * acknowledgement number */
  gboolean needs_acknowledgement;
} DccpCcidOption;

#define DCCP_CCID_MAX_FEATURES 4

typedef struct
{
  /* CCID, the number of the algorithm (RFC 4340 section 10, table 5). The
   * values 248 to 254 are for experiments. */
  guint8 number;
  const gchar *name;
  /* Numbers of the boolean features of this congestion control. Features 128 to
   * 191 belong to the sender of data, and features 192 to 255 to the receiver
   * (RFC 4340 section 10.3). We ask the peer to switch on all of these
   * features. If the peer asks us to switch on one of them, we do so.
   *
   * An endpoint may support several congestion controls. If two of them have
   * the same feature number in this array, the number must have the same
   * meaning in both. */
  guint8 features[DCCP_CCID_MAX_FEATURES];      /* 0 after the last feature */
  /* Array of the options for which the rules of RFC 4340 section 10.3 do not
   * hold. The last entry has the type 0. NULL if there are no such options. */
  const DccpCcidOption *options;
  DccpCcidSender sender;
  DccpCcidReceiver receiver;
} DccpCcid;

/* All congestion control algorithms of this build, in order of preference. The
 * last entry is NULL. */
extern const DccpCcid *const dccp_ccids[];

/* Returns the algorithm with the CCID `number`, or NULL if it is not in
 * `ccids`. `ccids` is a list of algorithms that ends with NULL, like
 * dccp_ccids. */
const DccpCcid *dccp_ccid_find (const DccpCcid * const *ccids, guint number);

/* The congestion control algorithms. Each of them is defined in its own file.
 */
extern const DccpCcid dccp_ccid_3;
