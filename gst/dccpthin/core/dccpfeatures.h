/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Feature negotiation of DCCP (RFC 4340 section 6). It follows the Thin
 * profile, which limits the features that are negotiated and their values
 * (docs/dccp-thin.md). This code decides which values we ask for, which values
 * we accept, and when a Change option is retransmitted. Each feature exists
 * twice, once for each endpoint. The options themselves are sent by
 * dccpconnectionoutput.c, and received by dccpconnectionoptions.c.
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
/* Features with a number of 128 or more are not in this list: they belong to a
 * certain congestion control (CCID). */
} DccpFeature;

typedef struct
{
  gboolean is_server;
  /* Size of our Sequence Window, 32 to 2^46 - 1 sequence numbers. The peer
   * accepts a packet of ours only if its sequence number is in this window. */
  guint64 sequence_window;
  /* Minimum checksum coverage (CsCov) that we accept in packets of the peer.
   * 0 = we accept only packets whose checksum covers all bytes. */
  guint8 min_coverage;
  /* Checksum coverage (CsCov) that we want to use for the packets that we send.
   * 0 = the checksum covers all bytes. */
  guint8 coverage;
  guint64 initial_sequence;     /* ISS */
  /* Congestion controls that we accept, in order of preference. The last entry
   * is NULL. If the field itself is NULL, the default list dccp_ccids is used.
   */
  const DccpCcid *const *ccids;
} DccpFeaturesConfig;

typedef struct _DccpFeatures DccpFeatures;

DccpFeatures *dccp_features_new (const DccpFeaturesConfig * config);
void dccp_features_free (DccpFeatures * features);

/* Sets ISR, the first sequence number that was received from the peer. */
void dccp_features_set_initial_received (DccpFeatures * features,
    guint64 sequence);
/* Processes a Change or Confirm option that `packet` contains. The packet must
 * be valid, and its type must allow feature options. If the packet is older
 * than another packet with feature options, the option is ignored. Returns 0 if
 * the connection continues. Otherwise the caller must reset the connection, and
 * the returned value is the Reset Code. */
guint8 dccp_features_input (DccpFeatures * features, const DccpOption * option,
    const DccpPacket * packet);
/* Called after all options of a received packet were processed. `gsr` is the
 * greatest sequence number that was received so far, and `gss` is the greatest
 * sequence number that was sent so far. If the packet had feature options, its
 * sequence number is stored. Feature options of packets with lower numbers that
 * arrive later are then ignored.
 *
 * The function also prevents an error: sequence numbers wrap around, so that a
 * very old stored number could seem to be greater than the present ones
 * (RFC 4340 erratum 974). */
void dccp_features_processed (DccpFeatures * features, guint64 gsr,
    guint64 gss);

/* Writes the feature options of a packet to `writer`. These are the Confirms
 * with which we still have to answer the peer, and our own Changes that are due
 * and not confirmed yet (RFC 4340 section 6.6.3). `sequence` is the sequence
 * number of the packet, which must not be a Data packet. */
void dccp_features_write (DccpFeatures * features, guint64 now,
    guint64 sequence, DccpOptionWriter * writer);
/* Repeats Confirms: writes to `writer` all Confirms that were sent before,
 * because the packets that carried them may have been lost. Confirms that have
 * to be sent for the first time are not written. */
void dccp_features_write_again (DccpFeatures * features,
    DccpOptionWriter * writer);
/* Returns TRUE if a Confirm or a Change has to be sent now. If no other packet
 * is sent that can carry this option, the caller must send an Ack. A client
 * that waits for the Response sends the option with its next Request instead.
 */
gboolean dccp_features_want_packet (DccpFeatures * features, guint64 now);
/* Returns the time in ns at which the next Change must be retransmitted.
 * Returns G_MAXUINT64 if no Change waits for its Confirm. Options that have to
 * be sent for the first time are not considered: dccp_features_want_packet ()
 * returns whether there are any. */
guint64 dccp_features_next_wakeup (DccpFeatures * features);
void dccp_features_set_round_trip (DccpFeatures * features,
    guint64 round_trip);

/* Returns the negotiated value of a feature. Each of the two endpoints of a
 * connection has its own value for each feature. If `local` is TRUE, returns
 * the value of this endpoint, otherwise the value of the peer. (RFC 4340
 * section 6 uses the term "feature location" for the endpoint to which a value
 * belongs.) */
guint64 dccp_features_get (DccpFeatures * features, guint feature,
    gboolean local);
/* Returns whether the congestion controls of both half-connections have been
 * negotiated, and whether we support both of them. */
gboolean dccp_features_are_settled (DccpFeatures * features);
