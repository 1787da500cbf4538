/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpnumbers.h: the sequence numbers of a connection, and
 * the windows in which the numbers of a received packet must be. */

#include "dccpnumbers.h"

void
dccp_numbers_init (DccpNumbers * numbers, DccpFeatures * features, guint64 iss)
{
  numbers->features = features;
  numbers->iss = numbers->gar = iss;
  numbers->gss = dccp_sequence_add (iss, -1);
}

guint64
dccp_numbers_get_next (const DccpNumbers * numbers)
{
  return dccp_sequence_add (numbers->gss, 1);
}

void
dccp_numbers_set_initial_received (DccpNumbers * numbers, guint64 sequence)
{
  numbers->isr = sequence;
  /* GSR is the greatest sequence number received so far. This packet is the
   * first one from the peer. Step 6 of RFC 4340 section 8.5 accepts a packet as
   * the latest one only if its sequence number is greater than GSR. GSR is
   * therefore set to the sequence number before that of this packet. */
  numbers->gsr = dccp_sequence_add (sequence, -1);
  dccp_features_set_initial_received (numbers->features, sequence);
}

void
dccp_numbers_add_sent (DccpNumbers * numbers, guint64 sequence)
{
  numbers->gss = sequence;
}

gboolean
dccp_numbers_add_received (DccpNumbers * numbers, guint64 now, guint64 sequence)
{
  if (dccp_sequence_difference (sequence, numbers->gsr) <= 0)
    return FALSE;
  numbers->gsr = sequence;
  numbers->gsr_time = now;
  return TRUE;
}

void
dccp_numbers_add_acknowledged (DccpNumbers * numbers, guint64 acknowledgement)
{
  if (dccp_sequence_difference (acknowledgement, numbers->gar) > 0)
    numbers->gar = acknowledgement;
}

void
dccp_numbers_open (DccpNumbers * numbers, guint64 sequence)
{
  numbers->osr = sequence;
  numbers->first_open = dccp_numbers_get_next (numbers);
}

/* --- validity: section 7.5 ------------------------------------------------ */

/* Returns SWL, the lowest valid sequence number of a received packet (section
 * 7.5.1). `w` is the Sequence Window of the peer. */
static guint64
get_swl (const DccpNumbers * numbers)
{
  const guint64 w = dccp_features_get (numbers->features,
      DCCP_FEATURE_SEQUENCE_WINDOW, FALSE);
  const guint64 swl = dccp_sequence_add (numbers->gsr, 1 - (gint64) (w / 4));

  return dccp_sequence_difference (swl, numbers->isr) < 0 ? numbers->isr : swl;
}

static guint64
get_swh (const DccpNumbers * numbers)
{
  const guint64 w = dccp_features_get (numbers->features,
      DCCP_FEATURE_SEQUENCE_WINDOW, FALSE);

  return dccp_sequence_add (numbers->gsr, (3 * w + 3) / 4);
}

/* Returns AWL, the lowest valid acknowledgement number (section 7.5.1). The
 * highest valid number, AWH, is the greatest sequence number that we have sent
 * (GSS). */
static guint64
get_awl (const DccpNumbers * numbers)
{
  const guint64 w = dccp_features_get (numbers->features,
      DCCP_FEATURE_SEQUENCE_WINDOW, TRUE);
  const guint64 awl = dccp_sequence_add (numbers->gss, 1 - (gint64) w);

  return dccp_sequence_difference (awl, numbers->iss) < 0 ? numbers->iss : awl;
}

/* Returns whether packets of this type end a connection. A packet that ends the
 * connection is valid only if its sequence number is higher than those of all
 * packets received before (section 7.5.3). */
static gboolean
ends_connection (DccpType type)
{
  return type == DCCP_CLOSE_REQ || type == DCCP_CLOSE || type == DCCP_RESET;
}

gboolean
dccp_numbers_is_sequence_valid (const DccpNumbers * numbers,
    const DccpPacket * packet)
{
  const guint64 low = ends_connection (packet->type) ?
      dccp_sequence_add (numbers->gsr, 1) : get_swl (numbers);

  return dccp_sequence_is_between (packet->sequence, low, get_swh (numbers));
}

gboolean
dccp_numbers_is_acknowledgement_valid (const DccpNumbers * numbers,
    const DccpPacket * packet)
{
  const guint64 low = ends_connection (packet->type) ? numbers->gar :
      get_awl (numbers);

  if (!dccp_type_has_acknowledgement (packet->type))
    return TRUE;
  /* No packet was sent yet. */
  if (dccp_numbers_get_next (numbers) == numbers->iss)
    return FALSE;
  return dccp_sequence_is_between (packet->acknowledgement, low, numbers->gss);
}

gboolean
dccp_numbers_is_sync_valid (const DccpNumbers * numbers,
    const DccpPacket * packet, gboolean in_window)
{
  if (!dccp_numbers_is_acknowledgement_valid (numbers, packet))
    return FALSE;
  if (in_window)
    return dccp_numbers_is_sequence_valid (numbers, packet);
  return dccp_sequence_difference (packet->sequence, get_swl (numbers)) >= 0;
}
