/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A packet as a socket takes and gives it. */

#pragma once

#include "datagrampath.h"

#define DATAGRAM_MAX_PARTS 16   /* per packet, beside `bytes` */

typedef struct
{
  gconstpointer data;
  gsize size;
} DatagramPart;

typedef struct
{
  guint8 *bytes;                /* the caller's memory. Received packets have no
                                 * IP header. */
  gsize size;                   /* sending: of the first part; receiving: of the
                                 * memory, then of the packet */
  const DatagramPart *parts;    /* sending: the rest of the packet */
  guint n_parts;                /* DATAGRAM_MAX_PARTS at most */
  gboolean is_truncated;        /* received: the packet was longer */
  DatagramPath path;            /* sending, if connected: ignored */
  guint64 time;                 /* received: ns of g_get_monotonic_time() */
} Datagram;

void datagram_init (Datagram * datagram, guint8 * bytes, gsize size);
/* Of all parts of a packet that is to be sent */
gsize datagram_get_size (const Datagram * datagram);
void datagram_copy_bytes (const Datagram * datagram, guint8 * to);
