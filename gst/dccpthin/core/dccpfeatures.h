/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Feature negotiation (RFC 4340 section 6) within the Thin profile
 * (docs/dccp-thin.md): what we ask for, what we accept, when a Change goes out
 * again. Both ends of each feature; the connection carries the options.
 */

#pragma once

#include "dccpccid.h"
#include "dccpoptions.h"

typedef enum                    /* section 6.4, table 4 */
{
  DCCP_FEATURE_CCID = 1,
  DCCP_FEATURE_SHORT_SEQUENCE = 2,
  DCCP_FEATURE_SEQUENCE_WINDOW = 3,
  DCCP_FEATURE_ECN_INCAPABLE = 4,
  DCCP_FEATURE_ACK_RATIO = 5,
  DCCP_FEATURE_SEND_ACK_VECTOR = 6,
  DCCP_FEATURE_SEND_NDP_COUNT = 7,
  DCCP_FEATURE_MIN_COVERAGE = 8,
  DCCP_FEATURE_CHECK_DATA_CHECKSUM = 9
} DccpFeature;                  /* from 128 on those of a congestion control */

typedef struct
{
  gboolean is_server;
  guint64 sequence_window;      /* of our own direction: packets that the other
                                 * end accepts ahead; 32 to 2^46 - 1 */
  guint8 min_coverage;          /* least CsCov that we accept; 0: only whole
                                 * packets' */
  guint8 coverage;              /* CsCov that we want to send, 0: all */
  guint64 initial_sequence;     /* ISS */
  const DccpCcid *const *ccids; /* to agree on; NULL: dccp_ccids */
} DccpFeaturesConfig;

typedef struct _DccpFeatures DccpFeatures;

DccpFeatures *dccp_features_new (const DccpFeaturesConfig * config);
void dccp_features_free (DccpFeatures * features);

/* The other end's first sequence number, ISR */
void dccp_features_set_initial_received (DccpFeatures * features,
    guint64 sequence);
/* A Change or Confirm of a packet that may carry one and is valid. 0: done, or
 * ignored as too old; else the code of the Reset that it deserves. */
guint8 dccp_features_input (DccpFeatures * features, const DccpOption * option,
    const DccpPacket * packet);
/* After the options of each packet, with GSR and GSS: what comes on an earlier
 * packet from now on is out of order. Erratum 974: numbers as old as half a
 * turn do not count as new. */
void dccp_features_processed (DccpFeatures * features, guint64 gsr,
    guint64 gss);

/* Adds what the packet `sequence` is to carry: Confirms that are owed, Changes
 * not yet confirmed whose time has come (section 6.6.3). Not for Data. */
void dccp_features_write (DccpFeatures * features, guint64 now,
    guint64 sequence, DccpOptionWriter * writer);
/* Once more the Confirms that went already, and are not owed again */
void dccp_features_write_again (DccpFeatures * features,
    DccpOptionWriter * writer);
/* A Confirm is owed, or a Change is due: an Ack must go if nothing else does; a
 * client that has no Response yet sends it with its next Request */
gboolean dccp_features_want_packet (DccpFeatures * features, guint64 now);
/* When a Change is due again; G_MAXUINT64: none is out. What is owed already is
 * dccp_features_want_packet's. */
guint64 dccp_features_next_wakeup (DccpFeatures * features);
void dccp_features_set_round_trip (DccpFeatures * features,
    guint64 round_trip);

/* As negotiated. local: we are its location (L), else the other end is. */
guint64 dccp_features_get (DccpFeatures * features, guint feature,
    gboolean local);
/* Both half-connections have a congestion control that we have */
gboolean dccp_features_are_settled (DccpFeatures * features);
