/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads links (network interfaces), addresses and routes from the kernel. After
 * any change, all of them are read again, so that no outdated entry remains.
 * This costs little, because a host has few links, addresses and routes.
 *
 * The routes are read from the routing tables. Another method would be to try
 * to reach the destination from a socket that is bound to an interface. This
 * method does not show whether the interface has a route, because the kernel
 * treats every destination as on-link for such a socket.
 */

#include "mmtpinterfaces.h"

#include <errno.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

#include "socketmessages.h"

/* Size in bytes of a buffer for received netlink messages. It has room for
 * several messages. MNL_SOCKET_BUFFER_SIZE cannot be used because it is not a
 * constant. */
#define ROOM 32768

/* Maximum number of attempts to read the kernel's tables of interfaces,
 * addresses and routes. If a table changes while it is read, the next attempt
 * begins. If it also changes during the last attempt, this update fails. The
 * kernel's notification of the change then triggers another update. */
#define MAX_DUMPS 8

/* An interface that is up and running. */
typedef struct
{
  /* The field `interface` must be the first one, because interface_free() frees
   * the whole struct through a pointer to this field. */
  MmtpInterface interface;
  gint index;
  gboolean is_loopback;
  gboolean has_route;
} Link;

struct _MmtpInterfaces
{
  /* Address family of the receiver's address: AF_INET or AF_INET6. If no
   * address of a receiver was given, it is AF_UNSPEC, and no routes are read.
   */
  guint8 family;
  guint8 remote[16];
  guint remote_size;            /* in bytes */
  /* Index of the only network interface that may be used; 0 means any
   * interface. A link-local address of the receiver determines the interface.
   */
  guint32 scope;
  /* TRUE if the address of the receiver is a link-local IPv6 address */
  gboolean is_link_local;

  struct mnl_socket *changes;   /* notifications; non-blocking */
  GPtrArray *interfaces;        /* MmtpInterfaces */

  /* The following fields are used only while the kernel's tables of interfaces,
   * addresses and routes are read. */
  /* Netlink socket for reading the kernel's tables. Each attempt to read the
   * tables opens a new socket. If an attempt fails, its unread answers are
   * discarded with the old socket. */
  struct mnl_socket *dumps;
  guint32 sequence;             /* number of the last request */
  GPtrArray *links;             /* Links */
  /* TRUE if the address of the receiver is an address of this host */
  gboolean is_here;
};

/* --- links ---------------------------------------------------------------- */

static void
interface_free (gpointer data)
{
  MmtpInterface *interface = data;

  g_free (interface->name);
  g_ptr_array_unref (interface->addresses);
  g_free (interface);
}

static Link *
find_link (MmtpInterfaces * self, gint index)
{
  Link *link;
  guint i;

  for (i = 0; i < self->links->len; i++) {
    link = g_ptr_array_index (self->links, i);
    if (link->index == index)
      return link;
  }
  return NULL;
}

/* Returns the attribute of the type `type` in `message`. Returns NULL if
 * `message` has no such attribute, or if the attribute has less than `size`
 * bytes. */
static const struct nlattr *
find_attribute (const struct nlmsghdr *message, gsize offset, guint16 type,
    gsize size)
{
  const struct nlattr *attribute;

  mnl_attr_for_each (attribute, message, offset) {
    if (mnl_attr_get_type (attribute) == type)
      return mnl_attr_get_payload_len (attribute) >= size ? attribute : NULL;
  }
  return NULL;
}

static int
take_link (const struct nlmsghdr *message, void *data)
{
  const struct ifinfomsg *info = mnl_nlmsg_get_payload (message);
  MmtpInterfaces *self = data;
  const struct nlattr *name, *mtu;
  Link *link;

  name = find_attribute (message, sizeof (*info), IFLA_IFNAME, 1);
  mtu = find_attribute (message, sizeof (*info), IFLA_MTU, 4);
  if (!(info->ifi_flags & IFF_UP) || !(info->ifi_flags & IFF_RUNNING)
      || !name || mnl_attr_validate (name, MNL_TYPE_NUL_STRING) < 0)
    return MNL_CB_OK;
  link = g_new0 (Link, 1);
  link->index = info->ifi_index;
  link->interface.name = g_strdup (mnl_attr_get_str (name));
  link->interface.mtu = mtu ? mnl_attr_get_u32 (mtu) : 0;
  link->is_loopback = (info->ifi_flags & IFF_LOOPBACK) != 0;
  link->interface.addresses = g_ptr_array_new_with_free_func (g_object_unref);
  g_ptr_array_add (self->links, link);
  return MNL_CB_OK;
}

/* --- addresses ------------------------------------------------------------ */

/* RFC 4291, section 2.5.6: fe80::/10. */
static gboolean
is_link_local (const guint8 * ipv6)
{
  return ipv6[0] == 0xfe && (ipv6[1] & 0xc0) == 0x80;
}

/* Returns whether an address with the flags `flags` may be used. An address
 * must not be used before duplicate address detection has succeeded (RFC 4862,
 * section 5.4). An optimistic address is an exception. */
static gboolean
is_usable (guint32 flags)
{
  if (flags & IFA_F_DADFAILED)
    return FALSE;
  return !(flags & IFA_F_TENTATIVE) || (flags & IFA_F_OPTIMISTIC);
}

static gboolean
is_of_family (MmtpInterfaces * self, guint8 family)
{
  return self->family == AF_UNSPEC ? family == AF_INET || family == AF_INET6 :
      family == self->family;
}

/* Returns the local address of an interface. IFA_LOCAL is preferred, because
 * IFA_ADDRESS is the address of the peer on a point-to-point interface. */
static const struct nlattr *
find_address (const struct nlmsghdr *message)
{
  const struct ifaddrmsg *info = mnl_nlmsg_get_payload (message);
  gsize size = info->ifa_family == AF_INET ? 4 : 16;
  const struct nlattr *local =
      find_attribute (message, sizeof (*info), IFA_LOCAL, size);

  return local ? local : find_attribute (message, sizeof (*info), IFA_ADDRESS,
      size);
}

static int
take_address (const struct nlmsghdr *message, void *data)
{
  const struct ifaddrmsg *info = mnl_nlmsg_get_payload (message);
  MmtpInterfaces *self = data;
  Link *link = find_link (self, info->ifa_index);
  const struct nlattr *address, *flags;

  if (!link || !is_of_family (self, info->ifa_family))
    return MNL_CB_OK;
  address = find_address (message);
  flags = find_attribute (message, sizeof (*info), IFA_FLAGS, 4);
  if (!address
      || !is_usable (flags ? mnl_attr_get_u32 (flags) : info->ifa_flags))
    return MNL_CB_OK;
  /* A link-local address can reach only link-local addresses. This receiver's
   * address is not link-local, so the link-local addresses of the interface are
   * omitted. */
  if (self->family == AF_INET6 && !self->is_link_local
      && is_link_local (mnl_attr_get_payload (address)))
    return MNL_CB_OK;
  g_ptr_array_add (link->interface.addresses,
      g_inet_address_new_from_bytes (mnl_attr_get_payload (address),
          info->ifa_family == AF_INET ? G_SOCKET_FAMILY_IPV4 :
          G_SOCKET_FAMILY_IPV6));
  return MNL_CB_OK;
}

/* --- routes --------------------------------------------------------------- */

static gboolean
has_prefix (const guint8 * address, const guint8 * prefix, guint bits)
{
  guint bytes = bits / 8, rest = bits % 8;

  return memcmp (address, prefix, bytes) == 0 && (rest == 0
      || (address[bytes] ^ prefix[bytes]) >> (8 - rest) == 0);
}

static gboolean
leads_to_remote (MmtpInterfaces * self, const struct nlmsghdr *message)
{
  const struct rtmsg *route = mnl_nlmsg_get_payload (message);
  const struct nlattr *destination;

  if (route->rtm_family != self->family || (route->rtm_flags & RTM_F_CLONED)
      || route->rtm_dst_len > self->remote_size * 8)
    return FALSE;
  if (route->rtm_dst_len == 0)
    return TRUE;
  destination = find_attribute (message, sizeof (*route), RTA_DST,
      self->remote_size);
  return destination && has_prefix (self->remote,
      mnl_attr_get_payload (destination), route->rtm_dst_len);
}

static void
add_hop (MmtpInterfaces * self, gint index, guint flags)
{
  Link *link = find_link (self, index);

  if (!link || (flags & (RTNH_F_DEAD | RTNH_F_LINKDOWN)))
    return;
  if (self->scope == 0 || self->scope == index)
    link->has_route = TRUE;
}

/* Reads the interfaces of a multipath route from the attribute RTA_MULTIPATH.
 * This attribute is a list of struct rtnexthop. Each struct describes one hop,
 * and may be followed by further attributes of this hop (rtnetlink(7)). */
static void
add_hops (MmtpInterfaces * self, const struct nlattr *attribute)
{
  const struct rtnexthop *hop = mnl_attr_get_payload (attribute);
  gint left = mnl_attr_get_payload_len (attribute);

  while (RTNH_OK (hop, left)) {
    add_hop (self, hop->rtnh_ifindex, hop->rtnh_flags);
    left -= NLMSG_ALIGN (hop->rtnh_len);
    hop = RTNH_NEXT (hop);
  }
}

static int
take_route (const struct nlmsghdr *message, void *data)
{
  const struct rtmsg *route = mnl_nlmsg_get_payload (message);
  const struct nlattr *hop, *hops;
  MmtpInterfaces *self = data;

  if (!leads_to_remote (self, message))
    return MNL_CB_OK;
  if (route->rtm_type == RTN_LOCAL)
    self->is_here = TRUE;
  if (route->rtm_type != RTN_UNICAST)
    return MNL_CB_OK;
  hop = find_attribute (message, sizeof (*route), RTA_OIF, 4);
  hops = find_attribute (message, sizeof (*route), RTA_MULTIPATH, 0);
  if (hop)
    add_hop (self, mnl_attr_get_u32 (hop), route->rtm_flags);
  if (hops)
    add_hops (self, hops);
  return MNL_CB_OK;
}

/* --- reading the tables --------------------------------------------------- */

static struct mnl_socket *
open_socket (gint flags)
{
  struct mnl_socket *socket = mnl_socket_open2 (NETLINK_ROUTE,
      SOCK_CLOEXEC | flags);

  if (!socket || mnl_socket_bind (socket, 0, MNL_SOCKET_AUTOPID) == 0)
    return socket;
  mnl_socket_close (socket);
  return NULL;
}

static gboolean
read_dump (MmtpInterfaces * self, mnl_cb_t take)
{
  guint port = mnl_socket_get_portid (self->dumps);
  gint result = MNL_CB_OK;
  gchar room[ROOM];
  gssize size;

  while (result > MNL_CB_STOP) {
    size = mnl_socket_recvfrom (self->dumps, room, sizeof (room));
    if (size >= 0)
      result = mnl_cb_run (room, size, self->sequence, port, take, self);
    else if (errno != EINTR)
      result = MNL_CB_ERROR;
  }
  return result == MNL_CB_STOP;
}

/* Requests one of the kernel's tables and calls `take` with each of its
 * entries. Returns FALSE and sets errno on failure. EINTR means that the table
 * has changed while it was read. */
static gboolean
dump (MmtpInterfaces * self, guint16 type, guint8 family, mnl_cb_t take)
{
  gchar room[MNL_NLMSG_HDRLEN + MNL_ALIGN (sizeof (struct rtgenmsg))];
  struct nlmsghdr *request = mnl_nlmsg_put_header (room);
  struct rtgenmsg *info = mnl_nlmsg_put_extra_header (request, sizeof (*info));

  request->nlmsg_type = type;
  request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request->nlmsg_seq = ++self->sequence;
  info->rtgen_family = family;
  return mnl_socket_sendto (self->dumps, request, request->nlmsg_len) >= 0
      && read_dump (self, take);
}

static gboolean
ask_once (MmtpInterfaces * self)
{
  gboolean done;
  gint saved;

  self->is_here = FALSE;
  g_ptr_array_set_size (self->links, 0);
  self->dumps = open_socket (0);
  if (!self->dumps)
    return FALSE;
  done = dump (self, RTM_GETLINK, AF_UNSPEC, take_link)
      && dump (self, RTM_GETADDR, self->family, take_address)
      && (self->family == AF_UNSPEC
      || dump (self, RTM_GETROUTE, self->family, take_route));
  saved = errno;
  mnl_socket_close (self->dumps);
  errno = saved;
  return done;
}

/* Returns whether the sender can use the interface of `link`. If the receiver
 * has an address of this host, only the loopback interface can be used, because
 * the host reaches its own addresses only through this interface. */
static gboolean
is_wanted (MmtpInterfaces * self, const Link * link)
{
  if (link->interface.addresses->len == 0)
    return FALSE;
  if (self->family == AF_UNSPEC)
    return TRUE;
  return self->is_here ? link->is_loopback : link->has_route;
}

static GPtrArray *
choose (MmtpInterfaces * self)
{
  GPtrArray *chosen = g_ptr_array_new_with_free_func (interface_free);
  MmtpInterface *interface;
  Link *link;
  guint i;

  for (i = 0; i < self->links->len; i++) {
    link = g_ptr_array_index (self->links, i);
    if (!is_wanted (self, link))
      continue;
    interface = g_new0 (MmtpInterface, 1);
    interface->name = g_strdup (link->interface.name);
    interface->mtu = link->interface.mtu;
    interface->addresses = g_ptr_array_ref (link->interface.addresses);
    g_ptr_array_add (chosen, interface);
  }
  return chosen;
}

/* Reads the list of interfaces from the kernel. Returns NULL and sets errno if
 * the list cannot be read. */
static GPtrArray *
ask (MmtpInterfaces * self)
{
  guint i;

  for (i = 0; i < MAX_DUMPS; i++) {
    if (ask_once (self))
      return choose (self);
    if (errno != EINTR)
      return NULL;
  }
  return NULL;
}

/* --- life cycle ----------------------------------------------------------- */

static gboolean
take_remote (MmtpInterfaces * self, GSocketAddress * remote, GError ** error)
{
  union
  {
    struct sockaddr any;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
  } native;

  if (!g_socket_address_to_native (remote, &native, sizeof (native), error))
    return FALSE;
  self->family = native.any.sa_family;
  if (self->family == AF_INET) {
    self->remote_size = 4;
    memcpy (self->remote, &native.ipv4.sin_addr, 4);
    return TRUE;
  }
  self->remote_size = 16;
  memcpy (self->remote, &native.ipv6.sin6_addr, 16);
  self->is_link_local = is_link_local (self->remote);
  self->scope = native.ipv6.sin6_scope_id;
  return TRUE;
}

static gboolean
join (MmtpInterfaces * self)
{
  gint groups[] = { RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV4_ROUTE };
  guint i;

  if (self->family == AF_INET6) {
    groups[1] = RTNLGRP_IPV6_IFADDR;
    groups[2] = RTNLGRP_IPV6_ROUTE;
  } else if (self->family == AF_UNSPEC) {
    groups[2] = RTNLGRP_IPV6_IFADDR;
  }
  for (i = 0; i < G_N_ELEMENTS (groups); i++) {
    if (mnl_socket_setsockopt (self->changes, NETLINK_ADD_MEMBERSHIP,
            &groups[i], sizeof (groups[i])) < 0)
      return FALSE;
  }
  return TRUE;
}

/* Subscribes to the kernel's notifications of changes, and only then reads the
 * list of interfaces. In the opposite order, a change between the two steps
 * would be missed. */
static gboolean
begin (MmtpInterfaces * self)
{
  self->changes = open_socket (SOCK_NONBLOCK);
  if (!self->changes || !join (self))
    return FALSE;
  self->interfaces = ask (self);
  return self->interfaces != NULL;
}

MmtpInterfaces *
mmtp_interfaces_new (GSocketAddress * remote, GError ** error)
{
  MmtpInterfaces *self = g_new0 (MmtpInterfaces, 1);

  self->links = g_ptr_array_new_with_free_func (interface_free);
  if (remote && !take_remote (self, remote, error)) {
    mmtp_interfaces_free (self);
    return NULL;
  }
  if (!begin (self)) {
    socket_set_error (error, errno,
        "Could not ask for the interfaces by rtnetlink");
    mmtp_interfaces_free (self);
    return NULL;
  }
  return self;
}

void
mmtp_interfaces_free (MmtpInterfaces * self)
{
  if (self->changes)
    mnl_socket_close (self->changes);
  g_clear_pointer (&self->interfaces, g_ptr_array_unref);
  g_ptr_array_unref (self->links);
  g_free (self);
}

/* --- changes -------------------------------------------------------------- */

gint
mmtp_interfaces_get_fd (MmtpInterfaces * self)
{
  return mnl_socket_get_fd (self->changes);
}

/* Reads and discards all pending notifications of the kernel. Returns TRUE if
 * there was at least one. If notifications were lost, the kernel reports the
 * error ENOBUFS, which also counts as a notification. */
static gboolean
drain (MmtpInterfaces * self)
{
  gboolean any = FALSE;
  gchar room[ROOM];

  while (mnl_socket_recvfrom (self->changes, room, sizeof (room)) >= 0
      || errno == ENOBUFS || errno == EINTR || errno == ENOSPC)
    any = TRUE;
  return any;
}

static gboolean
has_same_addresses (const MmtpInterface * a, const MmtpInterface * b)
{
  guint i;

  if (a->addresses->len != b->addresses->len)
    return FALSE;
  for (i = 0; i < a->addresses->len; i++) {
    if (!g_inet_address_equal (g_ptr_array_index (a->addresses, i),
            g_ptr_array_index (b->addresses, i)))
      return FALSE;
  }
  return TRUE;
}

static gboolean
is_same (const GPtrArray * one, const GPtrArray * other)
{
  const MmtpInterface *a, *b;
  guint i;

  if (one->len != other->len)
    return FALSE;
  for (i = 0; i < one->len; i++) {
    a = g_ptr_array_index (one, i);
    b = g_ptr_array_index (other, i);
    if (a->mtu != b->mtu || strcmp (a->name, b->name) != 0
        || !has_same_addresses (a, b))
      return FALSE;
  }
  return TRUE;
}

gboolean
mmtp_interfaces_update (MmtpInterfaces * self)
{
  GPtrArray *interfaces = drain (self) ? ask (self) : NULL;

  if (!interfaces)
    return FALSE;
  if (is_same (interfaces, self->interfaces)) {
    g_ptr_array_unref (interfaces);
    return FALSE;
  }
  g_ptr_array_unref (self->interfaces);
  self->interfaces = interfaces;
  return TRUE;
}

const GPtrArray *
mmtp_interfaces_get (MmtpInterfaces * self)
{
  return self->interfaces;
}
