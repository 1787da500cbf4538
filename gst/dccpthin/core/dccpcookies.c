/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpcookies.h: Init Cookies. A cookie has four parts: the
 * time at which it was made (8 bytes), the sequence number of the Request (8
 * bytes), the first 16 bytes of an HMAC-SHA-256, and the options of the
 * Request. The HMAC covers all values that the client must not change. */

#include "dccpcookies.h"

#include <string.h>

#include "dccpoptions.h"
#include "wire.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
/* Lifetime of a cookie in ns. A client that has got a cookie returns it in an
 * Ack (state PARTOPEN). If no answer arrives, the client sends the Ack again
 * after 200 ms, then after 400 ms, and so on (RFC 4340 section 8.1.5). The
 * lifetime is long enough for six of these Acks, even if the round-trip time is
 * several seconds. */
#define LIFETIME (16 * SECOND)
#define MAC_AT 16
#define MAC_SIZE 16
#define OPTIONS_AT (MAC_AT + MAC_SIZE)

/* Computes the HMAC of a cookie. It covers the contents of the cookie, `epoch`,
 * the addresses in `path`, and the ports in `client`. `epoch` is the number of
 * connections that the listener has opened so far. `client` is any packet that
 * the client sent. */
static void
make_mac (const guint8 * cookie, gsize size,
    const guint8 secret[DCCP_COOKIE_SECRET_SIZE], guint64 epoch,
    const DatagramPath * path, const DccpPacket * client, guint8 mac[MAC_SIZE])
{
  const guint16 ports[] = { client->source, client->destination,
    path->local_port, path->remote_port
  };
  GHmac *hmac = g_hmac_new (G_CHECKSUM_SHA256, secret,
      DCCP_COOKIE_SECRET_SIZE);
  guint8 digest[32];
  gsize digest_size = sizeof (digest);

  g_hmac_update (hmac, (const guint8 *) "cookie", 6);
  g_hmac_update (hmac, (const guint8 *) &epoch, sizeof (epoch));
  g_hmac_update (hmac, path->local, sizeof (path->local));
  g_hmac_update (hmac, path->remote, sizeof (path->remote));
  g_hmac_update (hmac, (const guint8 *) &path->scope, sizeof (path->scope));
  g_hmac_update (hmac, (const guint8 *) ports, sizeof (ports));
  g_hmac_update (hmac, cookie, MAC_AT);
  if (size > OPTIONS_AT)
    g_hmac_update (hmac, cookie + OPTIONS_AT, size - OPTIONS_AT);
  g_hmac_get_digest (hmac, digest, &digest_size);
  g_hmac_unref (hmac);
  memcpy (mac, digest, MAC_SIZE);
}

gboolean
dccp_cookie_make (DccpCookie * cookie,
    const guint8 secret[DCCP_COOKIE_SECRET_SIZE], guint64 epoch, guint64 now,
    const DatagramPath * path, const DccpPacket * request)
{
  if (request->options_size > DCCP_MAX_COOKIE - OPTIONS_AT)
    return FALSE;
  cookie->size = OPTIONS_AT + request->options_size;
  wire_write (cookie->bytes, 8, now);
  wire_write (cookie->bytes + 8, 8, request->sequence);
  if (request->options_size > 0)
    memcpy (cookie->bytes + OPTIONS_AT, request->options,
        request->options_size);
  make_mac (cookie->bytes, cookie->size, secret, epoch, path, request,
      cookie->bytes + MAC_AT);
  return TRUE;
}

static gboolean
find_cookie (const DccpPacket * packet, DccpOption * cookie)
{
  DccpOptionReader reader;

  dccp_option_reader_init (&reader, packet);
  while (dccp_option_reader_next (&reader, cookie))
    if (!reader.broken && cookie->type == DCCP_OPTION_INIT_COOKIE)
      return cookie->size >= OPTIONS_AT;
  return FALSE;
}

gboolean
dccp_cookie_check (const DccpPacket * packet,
    const guint8 secret[DCCP_COOKIE_SECRET_SIZE], guint64 epoch, guint64 now,
    const DatagramPath * path, DccpPacket * request, guint64 * time)
{
  guint8 mac[MAC_SIZE];
  DccpOption cookie;

  if (!find_cookie (packet, &cookie))
    return FALSE;
  *time = wire_read (cookie.value, 8);
  if (*time > now || now - *time > LIFETIME)
    return FALSE;
  make_mac (cookie.value, cookie.size, secret, epoch, path, packet, mac);
  if (!wire_is_same (mac, cookie.value + MAC_AT, MAC_SIZE))
    return FALSE;
  memset (request, 0, sizeof (*request));
  request->type = DCCP_REQUEST;
  request->extended = TRUE;
  request->source = packet->source;
  request->destination = packet->destination;
  request->service_code = packet->service_code;
  request->sequence = wire_read (cookie.value + 8, 8);
  request->options = cookie.value + OPTIONS_AT;
  request->options_size = cookie.size - OPTIONS_AT;
  return TRUE;
}
