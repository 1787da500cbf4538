/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The address by which a receiver knows a channel of its sender. To the
 * receiver it is a row of bytes, so that simulations can have addresses of
 * another kind; with sockets it is a DatagramPath.
 */

#pragma once

#include "datagram.h"

/* Addresses are compared byte by byte. No memory is allocated for one that is
 * not known. */
typedef struct
{
  guint8 size;
  guint8 bytes[46];
  guint8 host_size;             /* the first bytes, which identify the host; 0:
                                 * not known */
  guint8 prefix_size;           /* of these the first, which identify the
                                 * network, for the limit of answers; 0: all */
} MmtpAddress;

gboolean mmtp_address_is_equal (const MmtpAddress * a, const MmtpAddress * b);

void mmtp_address_set_path (MmtpAddress * address, const DatagramPath * path);
void mmtp_address_get_path (const MmtpAddress * address, DatagramPath * path);
