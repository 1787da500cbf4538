/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpsecrets.h: the secrets and the initial sequence numbers
 * of a DCCP endpoint. */

#include "dccpsecrets.h"

#include <string.h>

/* Computes the MAC of the `size` bytes at `text`, followed by the `more_size`
 * bytes at `more`. The key consists of the random bytes from the caller. */
static void
make_mac (const DccpSecrets * secrets, gconstpointer text, gsize size,
    gconstpointer more, gsize more_size, guint8 mac[DCCP_SECRET_SIZE])
{
  GHmac *hmac = g_hmac_new (G_CHECKSUM_SHA256, secrets->entropy,
      DCCP_ENTROPY_SIZE);
  gsize mac_size = DCCP_SECRET_SIZE;

  g_hmac_update (hmac, text, size);
  if (more_size > 0)
    g_hmac_update (hmac, more, more_size);
  g_hmac_get_digest (hmac, mac, &mac_size);
  g_hmac_unref (hmac);
}

void
dccp_secrets_init (DccpSecrets * secrets,
    const guint8 entropy[DCCP_ENTROPY_SIZE])
{
  memset (secrets, 0, sizeof (*secrets));
  memcpy (secrets->entropy, entropy, DCCP_ENTROPY_SIZE);
  secrets->next_iss = dccp_secrets_draw (secrets) & DCCP_SEQUENCE_MASK;
}

/* The number is the MAC of a counter, which counts the calls of this function.
 */
guint64
dccp_secrets_draw (DccpSecrets * secrets)
{
  const guint64 n = secrets->n_drawn++;
  const guint64 counter = GUINT64_TO_BE (n);
  guint8 mac[DCCP_SECRET_SIZE];
  guint64 drawn;

  make_mac (secrets, &counter, sizeof (counter), NULL, 0, mac);
  memcpy (&drawn, mac, sizeof (drawn));
  return drawn;
}

void
dccp_secrets_make (const DccpSecrets * secrets, const gchar * purpose,
    guint8 secret[DCCP_SECRET_SIZE])
{
  make_mac (secrets, purpose, strlen (purpose), NULL, 0, secret);
}

guint64
dccp_secrets_take_iss (DccpSecrets * secrets)
{
  const guint64 iss = secrets->next_iss;

  secrets->next_iss = dccp_secrets_draw (secrets) & DCCP_SEQUENCE_MASK;
  return iss;
}

guint64
dccp_secrets_make_iss (const DccpSecrets * secrets, guint64 epoch,
    const DatagramPath * path, guint16 local_port, guint16 remote_port)
{
  struct
  {
    guint64 epoch;
    guint8 local[16], remote[16];
    guint32 scope;
    guint16 ports[4];
  } attempt;
  guint8 mac[DCCP_SECRET_SIZE];
  guint64 iss;

  /* The MAC also covers the bytes between the fields. */
  memset (&attempt, 0, sizeof (attempt));
  attempt.epoch = epoch;
  memcpy (attempt.local, path->local, sizeof (attempt.local));
  memcpy (attempt.remote, path->remote, sizeof (attempt.remote));
  attempt.scope = path->scope;
  attempt.ports[0] = path->local_port;
  attempt.ports[1] = path->remote_port;
  attempt.ports[2] = local_port;
  attempt.ports[3] = remote_port;
  make_mac (secrets, "iss", strlen ("iss"), &attempt, sizeof (attempt), mac);
  memcpy (&iss, mac, sizeof (iss));
  return (iss + secrets->next_iss) & DCCP_SEQUENCE_MASK;
}
