/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The address of a sender's path as the receiver sees it. For the protocol core
 * of the receiver, an address is only a sequence of bytes, so simulations can
 * use another kind of address. With real sockets, the bytes are a DatagramPath:
 * the IP addresses and ports of both endpoints. */

#pragma once

#include "datagram.h"

/* An address, and which of its bytes identify the host and the network. Two
 * addresses are equal if all their bytes are equal. The struct has a fixed
 * size, so that no memory has to be allocated for an address that is not
 * validated yet. */
typedef struct
{
  guint8 size;
  guint8 bytes[46];
  /* Number of leading bytes of `bytes` that identify the host; 0 if the host is
   * unknown. */
  guint8 host_size;
  /* Number of leading bytes of `bytes` that identify the network of the host; 0
   * means all bytes. A receiver answers the first handshake message of a sender
   * with COOKIE or REFUSE. It limits the rate of these answers for each network
   * separately. */
  guint8 prefix_size;
} MmtpAddress;

gboolean mmtp_address_is_equal (const MmtpAddress * a, const MmtpAddress * b);

void mmtp_address_set_path (MmtpAddress * address, const DatagramPath * path);
void mmtp_address_get_path (const MmtpAddress * address, DatagramPath * path);
