/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One open TUN device: made or attached in its network namespace, configured,
 * and gone (unless it is persistent) when it is freed or its process ends.
 *
 * Opened as IFF_TUN | IFF_NO_PI, without IFF_VNET_HDR and offloads: so the
 * kernel computes checksums and cuts TCP into segments before a packet is read,
 * and verifies those of packets that are written.
 */

#pragma once

#include <gst/gst.h>

#include "tunaddress.h"
#include "tunlink.h"
#include "tunnetns.h"

/* IPv4 and IPv6 know no larger packet without jumbograms */
#define TUN_MAX_PACKET 65575

/* What one element asks for; 0, NULL: nothing particular */
typedef struct
{
  const gchar *ifname;          /* may hold one %d */
  GArray *addresses;            /* of TunAddress */
  guint mtu, txqueuelen;
} TunRequest;

/* Fields but fd and link's tun_link_get_*() are for who holds the lock of the
 * table that it is in; names never change. */
typedef struct
{
  gint fd;                      /* non-blocking */
  gchar *name;                  /* as the kernel has it */
  gchar *asked_name;            /* as it was opened; may hold %d */
  TunNetns *netns;              /* NULL: unknown, the fd was inherited */
  TunLink *link;                /* same */
  gboolean existed;             /* somebody else made it */
  gchar *warning;               /* NULL: none */

  guint mtu, txqueuelen;        /* wished for so far; 0: by nobody */
  gchar *mtu_of, *txqueuelen_of;        /* who wished so */
  guint users;
  gchar *reader;                /* NULL: nobody reads */
} TunDevice;

/* The length and the characters of a name, before anything is opened. */
gboolean tun_device_check_name (const gchar * name, GError ** error);

/* Makes or attaches it in the namespace, which it takes, also on failure. */
TunDevice *tun_device_open (TunNetns * netns, const gchar * name,
    GError ** error);

/* A duplicate of a descriptor on which somebody did all that already. */
TunDevice *tun_device_open_fd (gint fd, GError ** error);

/* Adds what one more element request, `who` in messages, and brings it up. */
gboolean tun_device_configure (TunDevice * device, const TunRequest * request,
    const gchar * who, GError ** error);

void tun_device_free (TunDevice * device);

/* Any thread: as it is now; 0: unknown */
guint tun_device_get_mtu (TunDevice * device);

/* Any thread: packets that found its queue full since it was made; 0: unknown */
guint64 tun_device_get_dropped (TunDevice * device);
