/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of prefixlimiter.h. A budget is the number of answers that may
 * be sent to a network or host. For each budget, a single time is stored: the
 * time when the budget will be full again (generic cell rate algorithm, ITU-T
 * I.371). */

#include "prefixlimiter.h"

#include <string.h>

#define SECOND G_GUINT64_CONSTANT (1000000000)
/* The budget of a network limits the answers that are sent to this network.
 * Budgets are stored in cells. There are TABLES (4) tables with CELLS (2048)
 * cells each, which need 64 KiB together. Each cell allows PREFIX_LIMITER_RATE
 * (100) answers per second. The hash of a network prefix selects one cell in
 * each table. An answer to the network may be sent if at least one of its four
 * cells allows the answer. Each cell that allows the answer deducts it from its
 * budget.
 *
 * A flood from random addresses takes little of the budget of a network. If
 * 10,000 packets arrive per second, they are spread over the 2048 cells of each
 * table. Each cell is then used by about 5 packets per second, so the flood
 * takes only about 5 of the 100 answers that the cell allows. */
#define TABLES 4
#define CELLS 2048              /* a power of two */
/* Limits bursts of answers to all unknown hosts together. The maximum burst is
 * the number of answers that prefix_limiter_take () permits per second
 * (`rate`), divided by TOTAL_BURST_PART. */
#define TOTAL_BURST_PART 10

#define IPV4_PREFIX_SIZE 3      /* /24 */
#define IPV6_PREFIX_SIZE 6      /* /48 */
/* number of bytes that precede the IPv4 address in an IPv4-mapped IPv6 address
 */
#define MAPPED_SIZE 12

typedef struct
{
  PrefixLimiterHost host;
  guint64 full_at;              /* in ns */
  /* Number of the last handshake of this host; 0 if this entry is free. All
   * handshakes of all hosts are numbered in their order, from 1. The table
   * `known` of PrefixLimiter has one entry for each known host. If a new host
   * needs an entry of this table, the entry with the lowest number is replaced.
   */
  guint64 used;
} KnownHost;

struct _PrefixLimiter
{
  guint8 secret[PREFIX_LIMITER_SECRET_SIZE];
  /* The total budget limits the answers to all hosts together. This field is
   * the time in ns at which the total budget will be full again. An answer to a
   * host is deducted from the total budget, unless the host has a reserve of
   * its own that covers the answer.
   */
  guint64 full_at;
  /* Each cell is a budget for answers, stored as the time in ns at which the
   * budget will be full again. If the hash of several network prefixes selects
   * the same cell of a table, these prefixes share its budget. */
  guint64 cells[TABLES][CELLS];
  KnownHost known[PREFIX_LIMITER_HOSTS];
  guint64 n_uses;
};

guint8
prefix_limiter_get_prefix_size (const guint8 * address, gsize size)
{
  static const guint8 mapped[MAPPED_SIZE] =
      { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

  if (size == 4)
    return IPV4_PREFIX_SIZE;
  if (memcmp (address, mapped, MAPPED_SIZE) == 0)
    return MAPPED_SIZE + IPV4_PREFIX_SIZE;
  return IPV6_PREFIX_SIZE;
}

PrefixLimiter *
prefix_limiter_new (const guint8 secret[PREFIX_LIMITER_SECRET_SIZE])
{
  PrefixLimiter *limiter = g_new0 (PrefixLimiter, 1);

  memcpy (limiter->secret, secret, PREFIX_LIMITER_SECRET_SIZE);
  return limiter;
}

void
prefix_limiter_free (PrefixLimiter * limiter)
{
  g_free (limiter);
}

/* --- budgets -------------------------------------------------------------- */

static gboolean
has_budget (guint64 full_at, guint64 now, guint64 distance, guint64 burst)
{
  return full_at <= now + distance * (burst - 1);
}

static void
spend (guint64 * full_at, guint64 now, guint64 distance)
{
  *full_at = MAX (*full_at, now) + distance;
}

/* --- prefixes ------------------------------------------------------------- */

static void
find_cells (PrefixLimiter * limiter, const PrefixLimiterHost * host,
    guint64 * cells[TABLES])
{
  GHmac *hmac = g_hmac_new (G_CHECKSUM_SHA256, limiter->secret,
      PREFIX_LIMITER_SECRET_SIZE);
  guint32 digest[8];
  gsize size = sizeof (digest);
  guint i;

  g_hmac_update (hmac, &host->prefix_size, 1);
  g_hmac_update (hmac, host->bytes, host->prefix_size);
  g_hmac_get_digest (hmac, (guint8 *) digest, &size);
  g_hmac_unref (hmac);
  for (i = 0; i < TABLES; i++)
    cells[i] = &limiter->cells[i][digest[i] % CELLS];
}

/* A network prefix has one cell in each table, and each cell contains a budget.
 * Returns TRUE if at least one of these cells has budget for an answer. Deducts
 * the answer from every cell that has budget.
 *
 * One cell is sufficient, because two prefixes may share a cell by chance. If a
 * flood from one of them uses up the budget of the shared cell, the other
 * prefix can still use its other cells. */
static gboolean
take_of_prefix (PrefixLimiter * limiter, guint64 now,
    const PrefixLimiterHost * host)
{
  const guint64 distance = SECOND / PREFIX_LIMITER_RATE;
  guint64 *cells[TABLES];
  gboolean may = FALSE;
  guint i;

  find_cells (limiter, host, cells);
  for (i = 0; i < TABLES; i++) {
    if (!has_budget (*cells[i], now, distance, PREFIX_LIMITER_BURST))
      continue;
    spend (cells[i], now, distance);
    may = TRUE;
  }
  return may;
}

gboolean
prefix_limiter_take (PrefixLimiter * limiter, guint64 now,
    const PrefixLimiterHost * host, guint rate)
{
  const guint64 distance = SECOND / rate;
  const guint64 burst = MAX (rate / TOTAL_BURST_PART, 1);

  if (prefix_limiter_take_reserve (limiter, now, host))
    return TRUE;
  if (!has_budget (limiter->full_at, now, distance, burst)
      || !take_of_prefix (limiter, now, host))
    return FALSE;
  spend (&limiter->full_at, now, distance);
  return TRUE;
}

/* --- known hosts ------------------------------------------------------------
 */

static KnownHost *
find_known (PrefixLimiter * limiter, const PrefixLimiterHost * host)
{
  guint i;

  for (i = 0; i < PREFIX_LIMITER_HOSTS; i++) {
    KnownHost *known = &limiter->known[i];

    if (known->used > 0 && known->host.size == host->size
        && memcmp (known->host.bytes, host->bytes, host->size) == 0)
      return known;
  }
  return NULL;
}

static KnownHost *
find_room (PrefixLimiter * limiter)
{
  KnownHost *oldest = &limiter->known[0];
  guint i;

  for (i = 1; i < PREFIX_LIMITER_HOSTS; i++)
    if (limiter->known[i].used < oldest->used)
      oldest = &limiter->known[i];
  return oldest;
}

gboolean
prefix_limiter_take_reserve (PrefixLimiter * limiter, guint64 now,
    const PrefixLimiterHost * host)
{
  const guint64 distance = SECOND / PREFIX_LIMITER_RESERVE;
  KnownHost *known = find_known (limiter, host);

  if (!known || !has_budget (known->full_at, now, distance,
          PREFIX_LIMITER_RESERVE))
    return FALSE;
  spend (&known->full_at, now, distance);
  return TRUE;
}

void
prefix_limiter_remember (PrefixLimiter * limiter,
    const PrefixLimiterHost * host)
{
  KnownHost *known = find_known (limiter, host);

  if (host->size == 0)
    return;
  if (!known) {
    known = find_room (limiter);
    known->host = *host;
    known->full_at = 0;
  }
  known->used = ++limiter->n_uses;
}
