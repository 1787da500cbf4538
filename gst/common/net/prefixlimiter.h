/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits the number of answers that a listener sends to unknown addresses.
 * Each network (IPv4 /24, IPv6 /48) has a budget of its own, so that a flood
 * from one network cannot use up the budget of another network. A host that
 * completes a handshake gets an additional budget, its reserve. The memory is
 * constant.
 *
 * The budgets are cells in several tables that are indexed by a keyed hash of
 * the network prefix. Two prefixes may by chance have the same cell in one
 * table. It is unlikely that they have the same cells in all tables. The key of
 * the hash is secret. Without it, nobody can choose a prefix that has the same
 * cells as another prefix.
 *
 * When a packet from an unknown address arrives:
 *
 *   if (prefix_limiter_take (limiter, now, &host, rate))
 *     send one answer
 *
 * When a host has completed a handshake:
 *
 *   prefix_limiter_remember (limiter, &host);
 *
 * Times are ns of a clock that the caller chooses; they never decrease.
 */

#pragma once

#include <glib.h>

#define PREFIX_LIMITER_SECRET_SIZE 32
#define PREFIX_LIMITER_MAX_HOST 24      /* in bytes */
/* A prefix gets at most PREFIX_LIMITER_RATE answers per second, in bursts of at
 * most PREFIX_LIMITER_BURST answers. */
#define PREFIX_LIMITER_RATE 100
#define PREFIX_LIMITER_BURST 100
/* Each of the last PREFIX_LIMITER_HOSTS hosts that have completed a handshake
 * has an additional budget (reserve) of PREFIX_LIMITER_RESERVE answers per
 * second. */
#define PREFIX_LIMITER_HOSTS 16
#define PREFIX_LIMITER_RESERVE 10

typedef struct
{
  guint8 bytes[PREFIX_LIMITER_MAX_HOST];        /* begins with the prefix */
  /* size of the address in bytes, 0 if the host is unknown */
  guint8 size;
  guint8 prefix_size;           /* at most `size` */
} PrefixLimiterHost;

/* Returns the size of the network prefix of an address, in bytes. `address` is
 * in network byte order. It is an IPv4 address if `size` is 4, and an IPv6
 * address if `size` is 16. An IPv4-mapped IPv6 address counts as IPv4. */
guint8 prefix_limiter_get_prefix_size (const guint8 * address, gsize size);

typedef struct _PrefixLimiter PrefixLimiter;

/* Creates a limiter. `secret` contains bytes that nobody else can guess. */
PrefixLimiter *prefix_limiter_new (
    const guint8 secret[PREFIX_LIMITER_SECRET_SIZE]);
void prefix_limiter_free (PrefixLimiter * limiter);

/* Returns whether one answer to `host` may be sent, and deducts it from a
 * budget:
 * - A host that has completed a handshake has a reserve. The answer is deducted
 *   from it first.
 * - If there is no reserve or it is used up, the answer needs both the budget
 *   of the host's network and the total budget of all hosts. `rate` is this
 *   total budget in answers per second. */
gboolean prefix_limiter_take (PrefixLimiter * limiter, guint64 now,
    const PrefixLimiterHost * host, guint rate);
/* A host that has completed a handshake has a reserve, which is a budget of its
 * own. Returns whether this reserve allows one answer. If so, deducts this
 * answer from the reserve. */
gboolean prefix_limiter_take_reserve (PrefixLimiter * limiter, guint64 now,
    const PrefixLimiterHost * host);
/* Stores that `host` has completed a handshake. The handshake proves that the
 * host receives packets at its address. The host then has a reserve of
 * PREFIX_LIMITER_RESERVE answers per second, until PREFIX_LIMITER_HOSTS other
 * hosts have completed a handshake. */
void prefix_limiter_remember (PrefixLimiter * limiter,
    const PrefixLimiterHost * host);
