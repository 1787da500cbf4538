/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits how many answers a listener sends to addresses that it does not know.
 * Every network (IPv4 /24, IPv6 /48) has a budget of its own, so that a flood
 * from one network cannot take the answers of another. Hosts that have completed
 * a handshake before have a reserve. The memory is constant.
 *
 * The budgets are cells in tables that are indexed by a keyed hash of the prefix.
 * Two prefixes share a cell of one table by chance, but hardly those of all
 * tables, and without the secret nobody can choose a prefix that does.
 *
 *   limiter = prefix_limiter_new (secret);
 *   if (prefix_limiter_take (limiter, now, &host, rate))
 *     send one answer
 *   prefix_limiter_remember (limiter, &host);   a handshake is complete
 *
 * Times are ns on one clock of the caller's and never go back.
 */

#pragma once

#include <glib.h>

#define PREFIX_LIMITER_SECRET_SIZE 32
#define PREFIX_LIMITER_MAX_HOST 24      /* bytes */
/* Answers per second to one prefix, and at once */
#define PREFIX_LIMITER_RATE 100
#define PREFIX_LIMITER_BURST 100
/* Hosts with a reserve, and its answers per second for each of them */
#define PREFIX_LIMITER_HOSTS 16
#define PREFIX_LIMITER_RESERVE 10

typedef struct
{
  guint8 bytes[PREFIX_LIMITER_MAX_HOST];        /* the prefix is first */
  guint8 size;                  /* 0: the host is not known */
  guint8 prefix_size;           /* at most `size` */
} PrefixLimiterHost;

/* Bytes of the prefix of an address in network order: 4 bytes are IPv4, 16 are
 * IPv6. An IPv4 address that is mapped into IPv6 counts as IPv4. */
guint8 prefix_limiter_get_prefix_size (const guint8 * address, gsize size);

typedef struct _PrefixLimiter PrefixLimiter;

/* `secret`: bytes that nobody can guess */
PrefixLimiter *prefix_limiter_new (
    const guint8 secret[PREFIX_LIMITER_SECRET_SIZE]);
void prefix_limiter_free (PrefixLimiter * limiter);

/* TRUE: one answer may be sent, and is counted. `rate`: answers per second to all
 * that have no reserve */
gboolean prefix_limiter_take (PrefixLimiter * limiter, guint64 now,
    const PrefixLimiterHost * host, guint rate);
/* TRUE: the host has a reserve, and one answer of it is counted. */
gboolean prefix_limiter_take_reserve (PrefixLimiter * limiter, guint64 now,
    const PrefixLimiterHost * host);
/* The host has shown that it receives at its address. It has a reserve until as
 * many others as there is room for have come after it. */
void prefix_limiter_remember (PrefixLimiter * limiter,
    const PrefixLimiterHost * host);
