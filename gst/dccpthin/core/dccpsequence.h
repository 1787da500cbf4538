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

/* Returns whether `sequence` is in the range from `low` to `high`, both
 * included. Sequence numbers are circular: 0 follows 2^48 - 1. The range may
 * therefore extend across 0. */
static inline gboolean
dccp_sequence_is_between (guint64 sequence, guint64 low, guint64 high)
{
  return ((sequence - low) & DCCP_SEQUENCE_MASK) <=
      ((high - low) & DCCP_SEQUENCE_MASK);
}

/* Restores a sequence number of 48 bits from `low`, its lowest 24 bits. A
 * packet with short sequence numbers contains only these bits. Many sequence
 * numbers have the same low bits, so the function returns the one that is
 * nearest to `near` (RFC 4340 section 7.6). */
static inline guint64
dccp_sequence_extend (guint32 low, guint64 near)
{
  gint32 difference = (gint32) ((low - (guint32) near) << 8) >> 8;

  return dccp_sequence_add (near, difference);
}
