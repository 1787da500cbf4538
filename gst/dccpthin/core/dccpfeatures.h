/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Feature negotiation (RFC 4340 section 6) within the Thin profile
 * (docs/dccp-thin.md): which values we ask for, which values we accept, and
 * when a Change option is retransmitted. Each feature exists twice, once for
 * each endpoint. dccpconnection.c sends and receives the options.
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
/* The features with a number of 128 or more belong to a certain congestion
 * control (CCID). */
} DccpFeature;

typedef struct
{
  gboolean is_server;
  /* Size of our Sequence Window, 32 to 2^46 - 1 sequence numbers. The peer
   * accepts a packet of ours only if its sequence number is in this window. */
  guint64 sequence_window;
  /* Minimum checksum coverage (CsCov) that we accept; 0 = only packets whose
   * checksum covers all bytes. */
  guint8 min_coverage;
  /* checksum coverage (CsCov) that we want for the packets that we send; 0 =
   * the checksum covers all bytes */
  guint8 coverage;
  guint64 initial_sequence;     /* ISS */
  /* list of the congestion controls that we accept; NULL = the default list,
   * dccp_ccids */
  const DccpCcid *const *ccids;
} DccpFeaturesConfig;

typedef struct _DccpFeatures DccpFeatures;

DccpFeatures *dccp_features_new (const DccpFeaturesConfig * config);
void dccp_features_free (DccpFeatures * features);

/* Sets ISR, the first sequence number of the peer. */
void dccp_features_set_initial_received (DccpFeatures * features,
    guint64 sequence);
/* Processes a Change or Confirm option. The packet must be valid, and its type
 * must allow feature options. Returns 0 if the option was processed, or was
 * ignored as too old. Otherwise returns the code of the Reset that must be
 * sent. */
guint8 dccp_features_input (DccpFeatures * features, const DccpOption * option,
    const DccpPacket * packet);
/* Called after all options of a packet were processed. `gsr` is the greatest
 * sequence number that was received so far, and `gss` is the greatest sequence
 * number that was sent so far. If the processed packet has feature options, a
 * packet that arrives later with a lower sequence number counts as reordered,
 * and its feature options are ignored.
 *
 * After the sequence numbers have wrapped around, very old numbers could be
 * taken for new ones. This function prevents this error (RFC 4340 erratum 974).
 */
void dccp_features_processed (DccpFeatures * features, guint64 gsr,
    guint64 gss);

/* Writes the feature options of a packet to `writer`. These options are the
 * Confirms that we owe, and the unconfirmed Changes that are due (RFC 4340
 * section 6.6.3). `sequence` is the sequence number of the packet, which must
 * not be a Data packet. */
void dccp_features_write (DccpFeatures * features, guint64 now,
    guint64 sequence, DccpOptionWriter * writer);
/* Writes to `writer` all Confirms that were sent before, because the packets
 * that carried them may have been lost. Confirms that have not been sent yet
 * are not written. */
void dccp_features_write_again (DccpFeatures * features,
    DccpOptionWriter * writer);
/* Returns TRUE if a Confirm or a Change has to be sent now. If no other packet
 * can carry the option, an Ack must be sent. A client that has not received a
 * Response yet sends the option with its next Request. */
gboolean dccp_features_want_packet (DccpFeatures * features, guint64 now);
/* Returns the time at which the next Change must be retransmitted. Returns
 * G_MAXUINT64 if no Change waits for its Confirm. Options that were not sent
 * yet do not count: dccp_features_want_packet () returns whether there are any.
 */
guint64 dccp_features_next_wakeup (DccpFeatures * features);
void dccp_features_set_round_trip (DccpFeatures * features,
    guint64 round_trip);

/* Returns the negotiated value of a feature. Each feature has one value for
 * each of the two endpoints. If `local` is TRUE, returns the value for this
 * endpoint, otherwise the value for the peer (feature location, RFC 4340
 * section 6). */
guint64 dccp_features_get (DccpFeatures * features, guint feature,
    gboolean local);
/* Returns whether the congestion controls of both half-connections have been
 * negotiated, and we support both of them. */
gboolean dccp_features_are_settled (DccpFeatures * features);
