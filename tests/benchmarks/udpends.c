/* SPDX-License-Identifier: LGPL-2.1-or-later */

#define _GNU_SOURCE
#include "udpends.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

void
udp_fail (const char *what)
{
  fprintf (stderr, "%s: %s: %s\n", program_invocation_short_name, what,
      strerror (errno));
  exit (1);
}

double
udp_read_clock (clockid_t clock)
{
  struct timespec now;

  clock_gettime (clock, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

int
udp_open (int option, int size)
{
  int fd = socket (AF_INET, SOCK_DGRAM, 0);

  if (fd < 0)
    udp_fail ("socket");
  if (setsockopt (fd, SOL_SOCKET, option, &size, sizeof (size)) < 0)
    setsockopt (fd, SOL_SOCKET, option == SO_RCVBUFFORCE ? SO_RCVBUF :
        SO_SNDBUF, &size, sizeof (size));
  return fd;
}

void
udp_set_timeout (int fd, long us)
{
  struct timeval timeout = { us / 1000000, us % 1000000 };

  if (setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof (timeout)) < 0)
    udp_fail ("SO_RCVTIMEO");
}
