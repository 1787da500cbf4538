/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that the programs udpflood and udprate share. They open sockets,
 * read clocks, and end the program after a failure.
 */

#ifndef __UDP_ENDS_H__
#define __UDP_ENDS_H__

#include <time.h>

/* Prints the name of the program, the text `what` and the error in errno. Then
 * ends the program. */
void udp_fail (const char *what);
/* Returns the time of the clock `clock` in seconds. */
double udp_read_clock (clockid_t clock);
/* Returns a UDP socket. If `option` is SO_RCVBUFFORCE, the receive buffer of
 * the socket gets `size` bytes. If `option` is SO_SNDBUFFORCE, the send buffer
 * gets `size` bytes. If the program does not run as root, the kernel limits the
 * sizes to net.core.rmem_max and net.core.wmem_max. */
int udp_open (int option, int size);
/* Sets the maximum time in us for which a receiving call on the socket `fd`
 * waits for a packet. */
void udp_set_timeout (int fd, long us);

#endif /* __UDP_ENDS_H__ */
