/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Constants of socket options on Linux: UDP segmentation (GSO and GRO, udp(7)),
 * and UDP packets without a checksum. They are defined here because the headers
 * of older C libraries lack them. On systems other than Linux they are not
 * defined. */

#pragma once

#include <netinet/in.h>
#include <netinet/udp.h>

#ifdef __linux__
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#ifndef UDP_NO_CHECK6_TX
#define UDP_NO_CHECK6_TX 101
#endif
#ifndef UDP_NO_CHECK6_RX
#define UDP_NO_CHECK6_RX 102
#endif
#endif
