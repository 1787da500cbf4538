/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Congestion control of DCCP (RFC 4340 section 10) as a table of operations,
 * as struct ccid_operations in Linux. An algorithm is one file that fills this
 * table; the connection calls nothing else. It negotiates the number, carries
 * the options and keeps the sequence numbers; the algorithm decides when data
 * may go, and what the receiver reports. docs/architecture.md says how to
 * write another one.
 *
 * Each connection has two half-connections, which may have different
 * algorithms: in one we are the sender of data, in the other the receiver.
 * dccphalfconnections.c is the only caller, under the lock of the element, so
 * an algorithm needs no lock. What `create` returns belongs to the connection
 * until it calls `free`. Pointers in arguments are valid during the call only.
 *
 * Times are ns on one clock that never goes back; rates are bytes per second;
 * sequence numbers are circular (dccpsequence.h).
 */

#pragma once

#include "dccpccidreceiver.h"
#include "dccpccidsender.h"

/* An option of its own that needs more than RFC 4340 section 10.3 gives all */
typedef struct
{
  guint8 type;
  gboolean on_data;             /* may be on Data (RFC 4340 table 3) */
  gboolean needs_acknowledgement;       /* says nothing without that number */
} DccpCcidOption;

#define DCCP_CCID_MAX_FEATURES 4

typedef struct
{
  guint8 number;                /* RFC 4340 section 10, table 5; 248 to 254 are
                                 * for experiments */
  const gchar *name;
  /* Boolean features of its own: 128 to 191 are the sender's, 192 to 255 the
   * receiver's (section 10.3). The peer is asked for them, and gets them.
   * Features of two algorithms with the same number mean the same. */
  guint8 features[DCCP_CCID_MAX_FEATURES];      /* 0 behind the last */
  const DccpCcidOption *options;        /* type 0 behind the last; or NULL */
  DccpCcidSender sender;
  DccpCcidReceiver receiver;
} DccpCcid;

/* All that are registered, the preferred one first; NULL behind the last */
extern const DccpCcid *const dccp_ccids[];

/* NULL: there is none. `ccids`: as dccp_ccids */
const DccpCcid *dccp_ccid_find (const DccpCcid * const *ccids, guint number);

/* The algorithms, each in a file of its own */
extern const DccpCcid dccp_ccid_3;
