/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtphmac.h. The computation of each HMAC begins with
 * hashing the key. The state of the hash is then the same for all messages. It
 * is therefore stored in the context, and a copy of it is used for each
 * message. For a short message, hashing the key again would take half as long
 * as hashing the message. */

#include "mmtphmac.h"

#include <string.h>

#include "wire.h"

#ifdef HAVE_NETTLE

#include <nettle/hmac.h>

struct _MmtpHmac
{
  struct hmac_sha256_ctx context;
};

MmtpHmac *
mmtp_hmac_new (const guint8 * key, gsize size)
{
  MmtpHmac *hmac = g_new (MmtpHmac, 1);

  hmac_sha256_set_key (&hmac->context, size, key);
  return hmac;
}

void
mmtp_hmac_free (MmtpHmac * hmac)
{
  memset (hmac, 0, sizeof (*hmac));
  g_free (hmac);
}

void
mmtp_hmac_compute (const MmtpHmac * hmac, guint64 number,
    const guint8 * bytes, gsize size, guint8 digest[MMTP_HMAC_SIZE])
{
  struct hmac_sha256_ctx context = hmac->context;
  guint8 number_bytes[8];

  wire_write (number_bytes, sizeof (number_bytes), number);
  hmac_sha256_update (&context, sizeof (number_bytes), number_bytes);
  hmac_sha256_update (&context, size, bytes);
  hmac_sha256_digest (&context, MMTP_HMAC_SIZE, digest);
}

#else

struct _MmtpHmac
{
  GHmac *context;
};

MmtpHmac *
mmtp_hmac_new (const guint8 * key, gsize size)
{
  MmtpHmac *hmac = g_new (MmtpHmac, 1);

  hmac->context = g_hmac_new (G_CHECKSUM_SHA256, key, size);
  return hmac;
}

void
mmtp_hmac_free (MmtpHmac * hmac)
{
  g_hmac_unref (hmac->context);
  g_free (hmac);
}

void
mmtp_hmac_compute (const MmtpHmac * hmac, guint64 number,
    const guint8 * bytes, gsize size, guint8 digest[MMTP_HMAC_SIZE])
{
  GHmac *context = g_hmac_copy (hmac->context);
  gsize digest_size = MMTP_HMAC_SIZE;
  guint8 number_bytes[8];

  wire_write (number_bytes, sizeof (number_bytes), number);
  g_hmac_update (context, number_bytes, sizeof (number_bytes));
  if (size > 0)
    g_hmac_update (context, bytes, size);
  g_hmac_get_digest (context, digest, &digest_size);
  g_hmac_unref (context);
}

#endif
