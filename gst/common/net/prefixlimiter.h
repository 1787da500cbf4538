/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits the number of answers that a listener sends to unknown addresses. Each
 * network (IPv4 /24, IPv6 /48) has a budget of its own, so that a flood from
 * one network cannot use up the budget of another network. A host that
 * completes a handshake gets an additional budget, its reserve. The limiter
 * needs a constant amount of memory.
 *
 * The budgets of the networks are cells in several tables. A keyed hash of the
 * network prefix selects one cell in each table. Two prefixes may by chance
 * have the same cell in one table, but it is unlikely that they have the same
 * cells in all tables. The key of the hash is secret, so an attacker cannot
 * choose a prefix that has the same cells as another prefix.
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
 * Times are in ns, on a clock that the caller chooses and that never goes back.
 */

#pragma once

#include <glib.h>

#define PREFIX_LIMITER_SECRET_SIZE 32
#define PREFIX_LIMITER_MAX_HOST 24      /* in bytes */
/* Each network prefix gets at most PREFIX_LIMITER_RATE answers per second, in
 * bursts of at most PREFIX_LIMITER_BURST answers. */
#define PREFIX_LIMITER_RATE 100
#define PREFIX_LIMITER_BURST 100
/* A host that has completed a handshake gets an additional budget, its reserve,
 * of PREFIX_LIMITER_RESERVE answers per second. Only the last
 * PREFIX_LIMITER_HOSTS such hosts have a reserve. */
#define PREFIX_LIMITER_HOSTS 16
#define PREFIX_LIMITER_RESERVE 10

typedef struct
{
  guint8 bytes[PREFIX_LIMITER_MAX_HOST];        /* begins with the prefix */
  /* size of the address in bytes; 0 if the address of the host is unknown */
  guint8 size;
  guint8 prefix_size;           /* at most `size` */
} PrefixLimiterHost;

/* Returns the size of the network prefix of an address, in bytes. `address` is
 * in network byte order. It is an IPv4 address if `size` is 4, and an IPv6
 * address if `size` is 16. An IPv4-mapped IPv6 address counts as IPv4. */
guint8 prefix_limiter_get_prefix_size (const guint8 * address, gsize size);

typedef struct _PrefixLimiter PrefixLimiter;

/* Creates a limiter. `secret` must consist of bytes that nobody else can guess.
 */
PrefixLimiter *prefix_limiter_new (
    const guint8 secret[PREFIX_LIMITER_SECRET_SIZE]);
void prefix_limiter_free (PrefixLimiter * limiter);

/* Returns whether one answer to `host` may be sent. If so, deducts the answer
 * from one or two budgets:
 * - A host that has completed a handshake has a budget of its own, its reserve.
 *   If the reserve allows the answer, the answer is deducted only from the
 *   reserve.
 * - Otherwise the answer is deducted from two budgets: the budget of the host's
 *   network, and the total budget of all hosts. If one of these two budgets
 *   does not allow the answer, the answer may not be sent. `rate` is the
 *   number of answers per second that the total budget allows. */
gboolean prefix_limiter_take (PrefixLimiter * limiter, guint64 now,
    const PrefixLimiterHost * host, guint rate);
/* Returns whether the reserve of `host` allows one answer. If so, deducts this
 * answer from the reserve. The reserve is a separate budget that a host gets
 * when it completes a handshake. */
gboolean prefix_limiter_take_reserve (PrefixLimiter * limiter, guint64 now,
    const PrefixLimiterHost * host);
/* Stores that `host` has completed a handshake. The handshake proves that the
 * host receives packets at its address. The host then has a reserve of
 * PREFIX_LIMITER_RESERVE answers per second, until PREFIX_LIMITER_HOSTS other
 * hosts have completed a handshake. */
void prefix_limiter_remember (PrefixLimiter * limiter,
    const PrefixLimiterHost * host);
