/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The init program of a virtual machine that dccpguest.py starts. It loads the
 * DCCP modules of the kernel, sets up the network, and opens DCCP sockets on
 * request of a test.
 *
 *   init MODULE... IPV4 IPV6
 *
 * A request is a TCP connection from the test, one for each DCCP socket. It
 * begins with this line:
 *
 *   connect|listen ADDRESS PORT SERVICE-CODE COVERAGE MIN-COVERAGE PACKETS
 *
 * PACKETS is the number of packets to send. They follow the line. Each packet
 * is a record of three fields: the time in us since the DCCP connection was
 * opened, the payload's size in bytes, and the payload. The time and the size
 * have 32 bits, in network byte order.
 *
 * The program answers with lines: "listening", "connected", and "sent" when
 * the last packet is in the kernel's queue. The DCCP connection ends when the
 * peer closes it, when all packets are sent, or when the test ends its side of
 * the TCP connection. The last answer is a line "closed ERRNO
 * TIMES-THE-QUEUE-WAS-FULL RECEIVED". RECEIVED is the number of received
 * packets, which follow the line as records of the same form.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Constants from linux/dccp.h. Linux removed this file together with DCCP. */
#define SOL_DCCP 269
#define DCCP_SOCKOPT_SERVICE 2
#define DCCP_SOCKOPT_SEND_CSCOV 10
#define DCCP_SOCKOPT_RECV_CSCOV 11
#define DCCP_SOCKOPT_CCID 13
#define CCID3 3

#define CONTROL_PORT 1033
#define DEVICE "eth0"
#define MAX_PAYLOAD 65536
#define RECEIVE_BUFFER (1 << 25)
#define RECORD_HEADER 8
#define SECONDS_TO_CLOSE 20
#define RETRY_NS 1000000

/* The struct in6_ifreq of linux/ipv6.h. It is copied here, because that header
 * cannot always be included together with netinet/in.h. */
struct in6_ifreq
{
  struct in6_addr ifr6_addr;
  uint32_t ifr6_prefixlen;
  int ifr6_ifindex;
};

typedef struct
{
  uint8_t *bytes;
  size_t size, room;
} Records;

typedef struct
{
  FILE *from, *to;              /* the connection to the test */
  int socket;
  Records to_send, received;
  size_t sent;                  /* bytes of to_send */
  unsigned n_received, n_full;
  struct timespec start;
} Session;

static void
die (const char *what)
{
  printf ("init: %s: %s\n", what, strerror (errno));
  fflush (stdout);
  reboot (RB_POWER_OFF);
  exit (1);
}

/* ------------------------------------------------------------------ set-up */

static void
load_module (const char *path)
{
  int file = open (path, O_RDONLY);

  if (file < 0 || syscall (SYS_finit_module, file, "", 0) < 0)
    die (path);
  close (file);
}

static void
set_sysctl (const char *path, const char *value)
{
  int file = open (path, O_WRONLY);

  if (file < 0 || write (file, value, strlen (value)) < 0)
    die (path);
  close (file);
}

static void
set_up (const char *device, int flags)
{
  struct ifreq request = { 0 };
  int any = socket (AF_INET, SOCK_DGRAM, 0);

  strcpy (request.ifr_name, device);
  if (ioctl (any, SIOCGIFFLAGS, &request) < 0)
    die (device);
  request.ifr_flags |= IFF_UP | flags;
  if (ioctl (any, SIOCSIFFLAGS, &request) < 0)
    die (device);
  close (any);
}

static void
add_ipv4_address (const char *address)
{
  struct ifreq request = { 0 };
  struct sockaddr_in *in = (struct sockaddr_in *) &request.ifr_addr;
  int any = socket (AF_INET, SOCK_DGRAM, 0);

  strcpy (request.ifr_name, DEVICE);
  in->sin_family = AF_INET;
  inet_pton (AF_INET, address, &in->sin_addr);
  if (ioctl (any, SIOCSIFADDR, &request) < 0)
    die (address);
  inet_pton (AF_INET, "255.255.255.0", &in->sin_addr);
  if (ioctl (any, SIOCSIFNETMASK, &request) < 0)
    die (address);
  close (any);
}

static void
add_ipv6_address (const char *address)
{
  struct in6_ifreq request = {.ifr6_prefixlen = 64 };
  int any = socket (AF_INET6, SOCK_DGRAM, 0);

  request.ifr6_ifindex = if_nametoindex (DEVICE);
  inet_pton (AF_INET6, address, &request.ifr6_addr);
  if (ioctl (any, SIOCSIFADDR, &request) < 0)
    die (address);
  close (any);
}

/* Sets up the network interfaces of the virtual machine. The interfaces send
 * nothing by themselves: the kernel does not look for routers or neighbours,
 * and assigns no addresses automatically. */
static void
set_network_up (const char *ipv4, const char *ipv6)
{
  set_up ("lo", 0);
  set_up (DEVICE, IFF_NOARP);
  add_ipv4_address (ipv4);
  add_ipv6_address (ipv6);
}

/* ----------------------------------------------------------------- records */

static uint8_t *
records_make_room (Records * records, size_t size)
{
  if (records->size + size > records->room) {
    records->room = 2 * (records->size + size);
    records->bytes = realloc (records->bytes, records->room);
    if (!records->bytes)
      die ("memory");
  }
  return records->bytes + records->size;
}

static uint32_t
read_number (const uint8_t * bytes)
{
  uint32_t number;

  memcpy (&number, bytes, sizeof (number));
  return ntohl (number);
}

static void
write_number (uint8_t * bytes, uint32_t number)
{
  number = htonl (number);
  memcpy (bytes, &number, sizeof (number));
}

static int
records_read (Records * records, FILE * from, unsigned n)
{
  while (n--) {
    uint8_t *record = records_make_room (records, RECORD_HEADER + MAX_PAYLOAD);
    uint32_t size;

    if (fread (record, RECORD_HEADER, 1, from) != 1)
      return 0;
    size = read_number (record + 4);
    if (size > MAX_PAYLOAD || (size && fread (record + RECORD_HEADER, size, 1,
                from) != 1))
      return 0;
    records->size += RECORD_HEADER + size;
  }
  return 1;
}

/* ----------------------------------------------------------------- sessions */

static void
say (Session * session, const char *word)
{
  fprintf (session->to, "%s\n", word);
  fflush (session->to);
}

static uint32_t
get_elapsed (const Session * session)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (now.tv_sec - session->start.tv_sec) * 1000000 +
      (now.tv_nsec - session->start.tv_nsec) / 1000;
}

static int
set_option (int socket, int option, int value)
{
  return !value || setsockopt (socket, SOL_DCCP, option, &value,
      sizeof (value)) == 0;
}

static int
make_socket (int family, uint32_t service, int coverage, int min_coverage)
{
  uint8_t ccids[] = { CCID3 };
  struct linger linger = { 1, SECONDS_TO_CLOSE };
  int made = socket (family, SOCK_DCCP, IPPROTO_DCCP), on = 1;
  int room = RECEIVE_BUFFER;

  service = htonl (service);
  if (made < 0 || setsockopt (made, SOL_DCCP, DCCP_SOCKOPT_SERVICE, &service,
          sizeof (service)) < 0 || setsockopt (made, SOL_DCCP,
          DCCP_SOCKOPT_CCID, ccids, sizeof (ccids)) < 0
      || !set_option (made, DCCP_SOCKOPT_SEND_CSCOV, coverage)
      || !set_option (made, DCCP_SOCKOPT_RECV_CSCOV, min_coverage))
    return -1;
  setsockopt (made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof (on));
  /* Packets may arrive while the emulated processor is busy. The receive
   * buffer is large, so that these packets are not lost.
   */
  setsockopt (made, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof (room));
  /* Without SO_LINGER, close() would drop the packets that still wait in the
   * send queue. */
  setsockopt (made, SOL_SOCKET, SO_LINGER, &linger, sizeof (linger));
  return made;
}

static socklen_t
read_address (struct sockaddr_storage *address, const char *text, int port)
{
  struct sockaddr_in *in = (struct sockaddr_in *) address;
  struct sockaddr_in6 *in6 = (struct sockaddr_in6 *) address;

  memset (address, 0, sizeof (*address));
  if (inet_pton (AF_INET, text, &in->sin_addr) == 1) {
    in->sin_family = AF_INET;
    in->sin_port = htons (port);
    return sizeof (*in);
  }
  if (inet_pton (AF_INET6, text, &in6->sin6_addr) == 1) {
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons (port);
    return sizeof (*in6);
  }
  return 0;
}

static void
prepare_wait (const Session * session, struct pollfd wait[2])
{
  wait[0] = (struct pollfd) {.fd = session->socket,.events = POLLIN };
  wait[1] = (struct pollfd) {.fd = fileno (session->from),.events = POLLIN };
}

/* Returns whether the test has ended its side of the TCP connection. `control`
 * is the result of poll() for this connection. */
static int
is_over (const struct pollfd *control)
{
  return control->revents & (POLLIN | POLLHUP | POLLERR);
}

static int
wait_for_client (Session * session)
{
  struct pollfd wait[2];
  int accepted;

  say (session, "listening");
  prepare_wait (session, wait);
  poll (wait, 2, -1);
  if (is_over (&wait[1]))
    return 0;
  accepted = accept (session->socket, NULL, NULL);
  close (session->socket);
  session->socket = accepted;
  return accepted >= 0;
}

/* Opens a DCCP connection: connects to the peer, or waits for a client,
 * depending on `role`. The test controls this program over a TCP connection.
 * Returns 0 in two cases: a system call fails (errno is then set), or the test
 * ends its side of the TCP connection before a DCCP client has connected. */
static int
open_connection (Session * session, const char *role, const char *text,
    int port)
{
  struct sockaddr_storage address;
  socklen_t size = read_address (&address, text, port);

  if (strcmp (role, "connect") == 0)
    return connect (session->socket, (struct sockaddr *) &address, size) == 0;
  if (bind (session->socket, (struct sockaddr *) &address, size) < 0
      || listen (session->socket, 1) < 0)
    return 0;
  return wait_for_client (session);
}

/* Sends all packets whose time has come. Returns the time in ns after which
 * the caller must call this function again. This is the time until the next
 * packet is due. If the kernel has no room for a packet, it is the time until
 * the next attempt to send this packet. Returns -1 if there are no more
 * packets or if sending failed. */
static int64_t
send_what_is_due (Session * session)
{
  while (session->sent < session->to_send.size) {
    const uint8_t *record = session->to_send.bytes + session->sent;
    uint32_t due = read_number (record), size = read_number (record + 4);
    uint32_t elapsed = get_elapsed (session);

    if (due > elapsed)
      return (due - elapsed) * (int64_t) 1000;
    if (send (session->socket, record + RECORD_HEADER, size,
            MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
      if (errno != EAGAIN)
        return -1;
      session->n_full++;
      return RETRY_NS;
    }
    session->sent += RECORD_HEADER + size;
  }
  return -1;
}

/* Receives the packets that have arrived. Returns 0 if the connection has
 * ended. In this case, errno is the reason, or 0 if the connection was closed
 * normally. */
static int
receive (Session * session)
{
  for (;;) {
    uint8_t *record = records_make_room (&session->received,
        RECORD_HEADER + MAX_PAYLOAD);
    ssize_t size = recv (session->socket, record + RECORD_HEADER, MAX_PAYLOAD,
        MSG_DONTWAIT);

    if (size < 0)
      return errno == EAGAIN;
    if (size == 0) {
      errno = 0;
      return 0;
    }
    write_number (record, get_elapsed (session));
    write_number (record + 4, size);
    session->received.size += RECORD_HEADER + size;
    session->n_received++;
  }
}

/* Sends or receives until the connection ends. Returns 0 in three cases: all
 * packets were sent, the peer closed the connection, or the test ended it.
 * Otherwise returns the errno value with which the connection ended. */
static int
run_connection (Session * session)
{
  int has_data = session->to_send.size > 0;
  struct pollfd wait[2];

  prepare_wait (session, wait);
  clock_gettime (CLOCK_MONOTONIC, &session->start);
  for (;;) {
    int64_t ns = send_what_is_due (session);
    struct timespec timeout = { ns / 1000000000, ns % 1000000000 };

    if (ns < 0 && has_data)
      return session->sent == session->to_send.size ? 0 : errno;
    ppoll (wait, 2, ns < 0 ? NULL : &timeout, NULL);
    if (wait[0].revents && !receive (session))
      return errno;
    if (is_over (&wait[1]))
      return 0;
  }
}

static void
report (Session * session, int error)
{
  const Records *received = &session->received;

  fprintf (session->to, "closed %d %u %u\n", error, session->n_full,
      session->n_received);
  fwrite (received->bytes, 1, received->size, session->to);
  fflush (session->to);
}

static int
run_session (int control)
{
  Session session = {.from = fdopen (control, "r"),.to = fdopen (dup (control),
        "w")
  };
  char line[256], role[16], text[64];
  int port, coverage, min_coverage, error;
  unsigned service, n_packets;
  struct sockaddr_storage address;

  if (!fgets (line, sizeof (line), session.from)
      || sscanf (line, "%15s %63s %d %u %d %d %u", role, text, &port,
          &service, &coverage, &min_coverage, &n_packets) != 7
      || !read_address (&address, text, port)
      || !records_read (&session.to_send, session.from, n_packets))
    return 1;
  session.socket = make_socket (address.ss_family, service, coverage,
      min_coverage);
  if (session.socket < 0 || !open_connection (&session, role, text, port)) {
    report (&session, errno);
    return 1;
  }
  say (&session, "connected");
  error = run_connection (&session);
  if (session.to_send.size && !error)
    say (&session, "sent");
  close (session.socket);
  report (&session, error);
  return 0;
}

static void
serve (void)
{
  struct sockaddr_in6 address = {.sin6_family = AF_INET6,.sin6_port =
        htons (CONTROL_PORT)
  };
  int listener = socket (AF_INET6, SOCK_STREAM, 0), control;

  signal (SIGCHLD, SIG_IGN);
  if (bind (listener, (struct sockaddr *) &address, sizeof (address)) < 0
      || listen (listener, 8) < 0)
    die ("listen");
  puts ("init: ready");
  while ((control = accept (listener, NULL, NULL)) >= 0) {
    if (fork () == 0)
      _exit (run_session (control));
    close (control);
  }
  die ("accept");
}

int
main (int argc, char **argv)
{
  int at = 1;

  setvbuf (stdout, NULL, _IOLBF, 0);
  mkdir ("/proc", 0755);
  if (mount ("proc", "/proc", "proc", 0, NULL) < 0)
    die ("/proc");
  set_sysctl ("/proc/sys/net/ipv6/conf/default/accept_dad", "0");
  set_sysctl ("/proc/sys/net/ipv6/conf/default/router_solicitations", "0");
  set_sysctl ("/proc/sys/net/ipv6/conf/default/addr_gen_mode", "1");
  for (; at < argc - 2; at++)
    load_module (argv[at]);
  set_network_up (argv[at], argv[at + 1]);
  serve ();
  return 0;
}
