/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arithmetic on the circular sequence numbers of DCCP, which have 48 bits (RFC
 * 4340 sections 3.1 and 7.6).
 */

#pragma once

#include <glib.h>

#define DCCP_SEQUENCE_BITS 48
#define DCCP_SEQUENCE_MASK ((G_GUINT64_CONSTANT (1) << DCCP_SEQUENCE_BITS) - 1)

static inline guint64
dccp_sequence_add (guint64 sequence, gint64 n)
{
  return (sequence + (guint64) n) & DCCP_SEQUENCE_MASK;
}

/* a - b, from -2^47 to 2^47 - 1 */
static inline gint64
dccp_sequence_difference (guint64 a, guint64 b)
{
  return (gint64) ((a - b) << (64 - DCCP_SEQUENCE_BITS)) >>
      (64 - DCCP_SEQUENCE_BITS);
}

/* Sequence numbers are circular: 0 follows 2^48 - 1. Returns whether `sequence`
 * is in the range that begins at `low` and ends at `high`. The range may extend
 * across 0. */
static inline gboolean
dccp_sequence_is_between (guint64 sequence, guint64 low, guint64 high)
{
  return ((sequence - low) & DCCP_SEQUENCE_MASK) <=
      ((high - low) & DCCP_SEQUENCE_MASK);
}

/* In a packet with short sequence numbers, only the lowest 24 bits of the
 * number are sent. Returns the sequence number of 48 bits whose lowest 24 bits
 * are `low`. There are many such numbers, and the one nearest to `near` is
 * returned (RFC 4340 section 7.6). */
static inline guint64
dccp_sequence_extend (guint32 low, guint64 near)
{
  gint32 difference = (gint32) ((low - (guint32) near) << 8) >> 8;

  return dccp_sequence_add (near, difference);
}
