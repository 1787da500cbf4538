/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A small UDP sender and receiver for benchmarks. Each system call sends or
 * receives many packets.
 *
 *   udpflood receive PORT
 *   udpflood send ADDRESS PORT SIZE SECONDS
 *
 * The receiver waits for the first packet and ends when no packet came for half
 * a second. Both print the packets and the seconds from the first to the last.
 * SIZE is the size of the payload.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#define BATCH 32
#define BUFFER (8 << 20)
#define FIRST_WAIT 20           /* s */
#define IDLE_US 500000

typedef struct
{
  struct mmsghdr headers[BATCH];
  struct iovec vectors[BATCH];
  char data[BATCH][2048];
} Batch;

static Batch batch;

static void
fail (const char *what)
{
  fprintf (stderr, "udpflood: %s: %s\n", what, strerror (errno));
  exit (1);
}

static double
get_time (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

static void
fill_batch (size_t size)
{
  int i;

  for (i = 0; i < BATCH; i++) {
    batch.vectors[i].iov_base = batch.data[i];
    batch.vectors[i].iov_len = size;
    batch.headers[i].msg_hdr.msg_iov = &batch.vectors[i];
    batch.headers[i].msg_hdr.msg_iovlen = 1;
  }
}

static int
open_socket (int option)
{
  int fd = socket (AF_INET, SOCK_DGRAM, 0), size = BUFFER;

  if (fd < 0)
    fail ("socket");
  /* Asks for more than net.core.*mem_max, which only root gets. */
  if (setsockopt (fd, SOL_SOCKET, option, &size, sizeof (size)) < 0)
    setsockopt (fd, SOL_SOCKET, option == SO_RCVBUFFORCE ? SO_RCVBUF :
        SO_SNDBUF, &size, sizeof (size));
  return fd;
}

static void
set_timeout (int fd, long us)
{
  struct timeval timeout = { us / 1000000, us % 1000000 };

  if (setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof (timeout)) < 0)
    fail ("SO_RCVTIMEO");
}

static void
receive (int port)
{
  struct sockaddr_in address = { 0 };
  double first = 0, last = 0;
  uint64_t packets = 0;
  int fd = open_socket (SO_RCVBUFFORCE), n;

  address.sin_family = AF_INET;
  address.sin_port = htons (port);
  if (bind (fd, (struct sockaddr *) &address, sizeof (address)) < 0)
    fail ("bind");
  fill_batch (sizeof (batch.data[0]));
  set_timeout (fd, FIRST_WAIT * 1000000L);
  while ((n = recvmmsg (fd, batch.headers, BATCH, MSG_WAITFORONE, NULL)) > 0) {
    last = get_time ();
    if (packets == 0) {
      first = last;
      set_timeout (fd, IDLE_US);
    }
    packets += n;
  }
  printf ("%llu %.6f\n", (unsigned long long) packets, last - first);
}

static void
send_for (const char *host, int port, size_t size, double seconds)
{
  struct sockaddr_in address = { 0 };
  int fd = open_socket (SO_SNDBUFFORCE), n;
  double begin, now;
  uint64_t packets = 0;

  address.sin_family = AF_INET;
  address.sin_port = htons (port);
  if (size > sizeof (batch.data[0])
      || inet_pton (AF_INET, host, &address.sin_addr) != 1) {
    errno = EINVAL;
    fail (host);
  }
  if (connect (fd, (struct sockaddr *) &address, sizeof (address)) < 0)
    fail ("connect");
  fill_batch (size);
  begin = get_time ();
  do {
    n = sendmmsg (fd, batch.headers, BATCH, 0);
    /* The queue is full, or no receiver listens yet or any more. */
    if (n < 0 && errno != ENOBUFS && errno != ECONNREFUSED)
      fail ("sendmmsg");
    packets += n > 0 ? n : 0;
    now = get_time ();
  } while (now - begin < seconds);
  printf ("%llu %.6f\n", (unsigned long long) packets, now - begin);
}

int
main (int argc, char **argv)
{
  if (argc == 3 && !strcmp (argv[1], "receive")) {
    receive (atoi (argv[2]));
  } else if (argc == 6 && !strcmp (argv[1], "send")) {
    send_for (argv[2], atoi (argv[3]), atoi (argv[4]), atof (argv[5]));
  } else {
    fprintf (stderr, "Usage: udpflood receive PORT\n"
        "       udpflood send ADDRESS PORT SIZE SECONDS\n");
    return 2;
  }
  return 0;
}
