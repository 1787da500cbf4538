/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of udplitenetlink.h: asks the Linux kernel about its IPv4
 * routes, with system calls only. The kernel stores its answer before send ()
 * returns, so no function has to wait for the answer.
 */

#include "udplitenetlink.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>

#ifdef __linux__

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

/* Size in bytes of the buffer for the kernel's answer to a request for one
 * route. Every such answer fits into the buffer. */
#define MAX_ANSWER 4096

/* A netlink message that asks the kernel for a route. The attributes are the
 * destination, the source and the interface of the packets. */
typedef struct
{
  struct nlmsghdr header;
  struct rtmsg route;
  guint8 attributes[3 * RTA_SPACE (4)];
} Question;

typedef union
{
  struct nlmsghdr header;       /* ensures the alignment */
  guint8 bytes[MAX_ANSWER];
} Answer;

static gint
open_socket (guint32 groups)
{
  struct sockaddr_nl address = {.nl_family = AF_NETLINK,.nl_groups = groups };
  gint fd = socket (AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

  if (fd < 0)
    return -1;
  if (bind (fd, (struct sockaddr *) &address, sizeof (address)) == 0)
    return fd;
  close (fd);
  return -1;
}

/* --- changes -------------------------------------------------------------- */

gint
udplite_netlink_open (void)
{
  return open_socket (RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE
      | RTMGRP_IPV4_RULE);
}

/* Returns whether the kernel has reported a change of the network (an address,
 * a route, a rule or an interface) since the last call. Also returns TRUE if
 * recv () fails with an error other than EAGAIN or EINTR. Such an error means
 * that a report may have been lost, because the kernel had no room for it or
 * because the socket is unusable. The caller therefore has to assume a change.
 */
gboolean
udplite_netlink_has_changed (gint fd)
{
  /* The buffer has only one byte, so the kernel truncates each notification to
   * one byte. This does not matter, because only the arrival of a notification
   * is of interest, and not its contents. */
  guint8 ignored;
  gboolean has_changed = FALSE;

  while (recv (fd, &ignored, sizeof (ignored), MSG_DONTWAIT) >= 0)
    has_changed = TRUE;
  return has_changed || (errno != EAGAIN && errno != EINTR);
}

/* --- a route -------------------------------------------------------------- */

static void
add_attribute (Question * question, guint16 type, gconstpointer data)
{
  struct rtattr *attribute = (struct rtattr *) ((guint8 *) question +
      question->header.nlmsg_len);

  attribute->rta_type = type;
  attribute->rta_len = RTA_LENGTH (4);
  memcpy (RTA_DATA (attribute), data, 4);
  question->header.nlmsg_len += RTA_SPACE (4);
}

static gboolean
ask (const guint8 * source, const guint8 * destination, guint32 interface,
    Answer * answer, gssize * size)
{
  Question question = {
    .header = {.nlmsg_len = NLMSG_LENGTH (sizeof (struct rtmsg)),
        .nlmsg_type = RTM_GETROUTE,.nlmsg_flags = NLM_F_REQUEST},
    .route = {.rtm_family = AF_INET,.rtm_src_len = 32,.rtm_dst_len = 32},
  };
  gint fd = open_socket (0);

  if (fd < 0)
    return FALSE;
  add_attribute (&question, RTA_SRC, source);
  add_attribute (&question, RTA_DST, destination);
  if (interface > 0)
    add_attribute (&question, RTA_OIF, &interface);
  *size = -1;
  if (send (fd, &question, question.header.nlmsg_len, 0) >= 0)
    *size = recv (fd, answer, sizeof (*answer), MSG_DONTWAIT);
  close (fd);
  return *size >= 0;
}

/* Checks the metrics of a route. Returns FALSE if a metric makes the kernel
 * write IPv4 headers that differ from the usual ones. There are two such cases:
 * - The route has the metric RTAX_HOPLIMIT. The kernel then ignores the default
 *   TTL.
 * - The metric RTAX_MTU of the route is locked. The kernel then does not set
 *   the bit "don't fragment". */
static gboolean
are_plain_metrics (const struct rtattr *metrics)
{
  gint left = RTA_PAYLOAD (metrics);
  struct rtattr *metric;
  guint32 locks;

  for (metric = RTA_DATA (metrics); RTA_OK (metric, left);
      metric = RTA_NEXT (metric, left)) {
    if (metric->rta_type == RTAX_HOPLIMIT)
      return FALSE;
    if (metric->rta_type != RTAX_LOCK || RTA_PAYLOAD (metric) < sizeof (locks))
      continue;
    memcpy (&locks, RTA_DATA (metric), sizeof (locks));
    if (locks & (1 << RTAX_MTU))
      return FALSE;
  }
  return TRUE;
}

gboolean
udplite_netlink_is_plain_route (const guint8 * source,
    const guint8 * destination, guint interface)
{
  const struct rtattr *attribute;
  gssize size;
  Answer answer;
  gint left;

  if (!ask (source, destination, interface, &answer, &size)
      || !NLMSG_OK (&answer.header, size)
      || answer.header.nlmsg_type != RTM_NEWROUTE
      || answer.header.nlmsg_len < NLMSG_LENGTH (sizeof (struct rtmsg)))
    return FALSE;
  left = RTM_PAYLOAD (&answer.header);
  for (attribute = RTM_RTA (NLMSG_DATA (&answer.header));
      RTA_OK (attribute, left); attribute = RTA_NEXT (attribute, left)) {
    if (attribute->rta_type == RTA_METRICS && !are_plain_metrics (attribute))
      return FALSE;
  }
  return TRUE;
}

#else

gint
udplite_netlink_open (void)
{
  return -1;
}

gboolean
udplite_netlink_has_changed (gint fd)
{
  return TRUE;
}

gboolean
udplite_netlink_is_plain_route (const guint8 * source,
    const guint8 * destination, guint interface)
{
  return FALSE;
}

#endif
