/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Configures a network device with rtnetlink. The header documents the
 * functions. */

#include "tunlink.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include <libmnl/libmnl.h>
#include <net/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

struct _TunLink
{
  gchar name[IFNAMSIZ];
  gint index;
  /* rtnetlink socket in the network namespace of the device */
  struct mnl_socket *socket;
  /* Protects `socket`. A thread holds the lock from the sending of an rtnetlink
   * request until the answer to this request has arrived. */
  GMutex lock;
  /* sequence number of the last rtnetlink request; protected by `lock` */
  guint32 sequence;
};

/* Size in bytes of the memory for a request. The largest request contains an IP
 * address twice, as IFA_LOCAL and as IFA_ADDRESS. */
#define REQUEST_SIZE 512
/* Size in bytes of the memory for the kernel's answer to an rtnetlink request.
 * An answer that describes a network device completely has about 2000 bytes. */
#define ANSWER_SIZE 16384

TunLink *
tun_link_new (const gchar * name, GError ** error)
{
  TunLink *link = g_new0 (TunLink, 1);
  gint on = 1, error_number;

  g_mutex_init (&link->lock);
  g_strlcpy (link->name, name, sizeof (link->name));
  link->index = if_nametoindex (name);
  link->socket = link->index ? mnl_socket_open2 (NETLINK_ROUTE, SOCK_CLOEXEC)
      : NULL;
  if (!link->socket || mnl_socket_bind (link->socket, 0,
          MNL_SOCKET_AUTOPID) < 0) {
    error_number = errno;
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
        "Could not ask for the device %s by rtnetlink: %s (errno %d). Check "
        "that the device still exists with \"ip link\".", name,
        g_strerror (error_number), error_number);
    tun_link_free (link);
    return NULL;
  }
  mnl_socket_setsockopt (link->socket, NETLINK_EXT_ACK, &on, sizeof (on));
  return link;
}

void
tun_link_free (TunLink * link)
{
  if (link->socket)
    mnl_socket_close (link->socket);
  g_mutex_clear (&link->lock);
  g_free (link);
}

/* --- a request and its answer -------------------------------------------- */

static struct nlmsghdr *
new_request (gpointer room, guint16 type, guint16 flags)
{
  struct nlmsghdr *request = mnl_nlmsg_put_header (room);

  request->nlmsg_type = type;
  request->nlmsg_flags = NLM_F_REQUEST | flags;
  return request;
}

static struct nlmsghdr *
tun_link_new_link_request (TunLink * link, gpointer room, guint16 type,
    guint16 flags)
{
  struct nlmsghdr *request = new_request (room, type, flags);
  struct ifinfomsg *info = mnl_nlmsg_put_extra_header (request, sizeof (*info));

  info->ifi_family = AF_UNSPEC;
  info->ifi_index = link->index;
  return request;
}

static gint
find_text (const struct nlattr *attribute, void *data)
{
  const gchar **text = data;

  if (mnl_attr_get_type (attribute) == NLMSGERR_ATTR_MSG
      && mnl_attr_validate (attribute, MNL_TYPE_NUL_STRING) >= 0)
    *text = mnl_attr_get_str (attribute);
  return MNL_CB_OK;
}

/* Returns the text in which the kernel explains the error in `answer`, or NULL
 * if there is none. */
static const gchar *
extended_text (const struct nlmsghdr *answer)
{
  const struct nlmsgerr *verdict = mnl_nlmsg_get_payload (answer);
  gsize size = sizeof (*verdict);
  const gchar *text = NULL;

  if (!(answer->nlmsg_flags & NLM_F_ACK_TLVS))
    return NULL;
  if (!(answer->nlmsg_flags & NLM_F_CAPPED))
    size += mnl_nlmsg_get_payload_len (&verdict->msg);
  if (size > mnl_nlmsg_get_payload_len (answer))
    return NULL;
  mnl_attr_parse (answer, size, find_text, &text);
  return text;
}

/* Sends an rtnetlink request and stores the kernel's answer in `room`, which
 * has ANSWER_SIZE bytes. Returns 0, or errno on failure. The caller holds
 * link->lock. */
static gint
tun_link_talk (TunLink * link, struct nlmsghdr *request, gchar * room)
{
  const struct nlmsghdr *answer = (const struct nlmsghdr *) room;
  gssize size;

  request->nlmsg_seq = ++link->sequence;
  if (mnl_socket_sendto (link->socket, request, request->nlmsg_len) < 0)
    return errno;
  do {
    do
      size = mnl_socket_recvfrom (link->socket, room, ANSWER_SIZE);
    while (size < 0 && errno == EINTR);
    if (size < 0)
      return errno;
    if (!mnl_nlmsg_ok (answer, size))
      return EPROTO;
  } while (answer->nlmsg_seq != request->nlmsg_seq);
  return 0;
}

/* Sends `request` and returns the error number in the kernel's answer; 0 means
 * success. `text` is set to the kernel's explanation, or to NULL if there is
 * none. */
static gint
tun_link_ask (TunLink * link, struct nlmsghdr *request, gchar ** text)
{
  gchar room[ANSWER_SIZE] __attribute__((aligned (NLMSG_ALIGNTO)));
  const struct nlmsghdr *answer = (const struct nlmsghdr *) room;
  const struct nlmsgerr *verdict;
  gint error_number;

  g_mutex_lock (&link->lock);
  error_number = tun_link_talk (link, request, room);
  g_mutex_unlock (&link->lock);
  if (error_number != 0)
    return error_number;
  if (answer->nlmsg_type != NLMSG_ERROR)
    return EPROTO;

  verdict = mnl_nlmsg_get_payload (answer);
  *text = g_strdup (extended_text (answer));
  return -verdict->error;
}

static gboolean
tun_link_request (TunLink * link, struct nlmsghdr *request,
    const gchar * what, GError ** error)
{
  gchar *text = NULL;
  gint error_number = tun_link_ask (link, request, &text);

  if (error_number != 0)
    g_set_error (error, GST_RESOURCE_ERROR,
        error_number == EPERM ? GST_RESOURCE_ERROR_NOT_AUTHORIZED :
        GST_RESOURCE_ERROR_SETTINGS,
        "Could not %s of the device %s: %s (errno %d)%s%s%s", what,
        link->name, g_strerror (error_number), error_number,
        text ? "; the kernel says: " : ".", text ? text : "",
        error_number == EPERM ? " It takes CAP_NET_ADMIN in the user namespace "
        "that owns the network namespace: run as root, or have root do it." :
        "");
  g_free (text);
  return error_number == 0;
}

/* --- changes of the device ------------------------------------------------ */

static gboolean
tun_link_set_u32 (TunLink * link, guint16 attribute, guint32 value,
    const gchar * name, GError ** error)
{
  gchar room[REQUEST_SIZE] __attribute__((aligned (NLMSG_ALIGNTO)));
  struct nlmsghdr *request = tun_link_new_link_request (link, room,
      RTM_NEWLINK, NLM_F_ACK);
  gchar *what = g_strdup_printf ("set the %s %u", name, value);
  gboolean done;

  mnl_attr_put_u32 (request, attribute, value);
  done = tun_link_request (link, request, what, error);
  g_free (what);
  return done;
}

gboolean
tun_link_set_mtu (TunLink * link, guint mtu, GError ** error)
{
  return tun_link_set_u32 (link, IFLA_MTU, mtu, "mtu", error);
}

gboolean
tun_link_set_txqueuelen (TunLink * link, guint length, GError ** error)
{
  return tun_link_set_u32 (link, IFLA_TXQLEN, length, "txqueuelen", error);
}

gboolean
tun_link_set_up (TunLink * link, GError ** error)
{
  gchar room[REQUEST_SIZE] __attribute__((aligned (NLMSG_ALIGNTO)));
  struct nlmsghdr *request = tun_link_new_link_request (link, room,
      RTM_NEWLINK, NLM_F_ACK);
  struct ifinfomsg *info = mnl_nlmsg_get_payload (request);

  info->ifi_flags = info->ifi_change = IFF_UP;
  return tun_link_request (link, request, "set the state \"up\"", error);
}

void
tun_link_no_generated_address (TunLink * link)
{
  gchar room[REQUEST_SIZE] __attribute__((aligned (NLMSG_ALIGNTO)));
  struct nlmsghdr *request = tun_link_new_link_request (link, room,
      RTM_NEWLINK, NLM_F_ACK);
  struct nlattr *families, *inet6;
  gchar *text = NULL;

  families = mnl_attr_nest_start (request, IFLA_AF_SPEC);
  inet6 = mnl_attr_nest_start (request, AF_INET6);
  mnl_attr_put_u8 (request, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE);
  mnl_attr_nest_end (request, inet6);
  mnl_attr_nest_end (request, families);
  tun_link_ask (link, request, &text);
  g_free (text);
}

gboolean
tun_link_add_address (TunLink * link, const TunAddress * address,
    GError ** error)
{
  gchar room[REQUEST_SIZE] __attribute__((aligned (NLMSG_ALIGNTO)));
  struct nlmsghdr *request = new_request (room, RTM_NEWADDR,
      NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE);
  struct ifaddrmsg *info = mnl_nlmsg_put_extra_header (request, sizeof (*info));
  gchar *name, *what;
  gboolean done;

  info->ifa_family = address->family;
  info->ifa_prefixlen = address->prefix;
  info->ifa_index = link->index;
  info->ifa_scope = RT_SCOPE_UNIVERSE;
  /* A TUN device is a point-to-point link without other hosts. Therefore
   * duplicate address detection is disabled: it would delay the use of the
   * address and send packets. */
  if (address->family == AF_INET6)
    info->ifa_flags = IFA_F_NODAD;
  mnl_attr_put (request, IFA_LOCAL, tun_address_n_bytes (address),
      address->bytes);
  mnl_attr_put (request, IFA_ADDRESS, tun_address_n_bytes (address),
      address->bytes);

  name = tun_address_to_string (address);
  what = g_strdup_printf ("set the address %s", name);
  done = tun_link_request (link, request, what, error);
  g_free (what);
  g_free (name);
  return done;
}

/* --- state of the device -------------------------------------------------- */

static gboolean
tun_link_get (TunLink * link, gulong what, struct ifreq *request)
{
  memset (request, 0, sizeof (*request));
  g_strlcpy (request->ifr_name, link->name, IFNAMSIZ);
  return ioctl (mnl_socket_get_fd (link->socket), what, request) == 0;
}

guint
tun_link_get_mtu (TunLink * link)
{
  struct ifreq request;

  return tun_link_get (link, SIOCGIFMTU, &request) ? request.ifr_mtu : 0;
}

guint
tun_link_get_txqueuelen (TunLink * link)
{
  struct ifreq request;

  return tun_link_get (link, SIOCGIFTXQLEN, &request) ? request.ifr_qlen : 0;
}

gboolean
tun_link_is_up (TunLink * link)
{
  struct ifreq request;

  return tun_link_get (link, SIOCGIFFLAGS, &request)
      && (request.ifr_flags & IFF_UP);
}

static gint
find_statistics (const struct nlattr *attribute, void *data)
{
  struct rtnl_link_stats64 *statistics = data;

  if (mnl_attr_get_type (attribute) == IFLA_STATS64)
    memcpy (statistics, mnl_attr_get_payload (attribute),
        MIN (mnl_attr_get_payload_len (attribute), sizeof (*statistics)));
  return MNL_CB_OK;
}

guint64
tun_link_get_dropped (TunLink * link)
{
  gchar request_room[REQUEST_SIZE] __attribute__((aligned (NLMSG_ALIGNTO)));
  gchar room[ANSWER_SIZE] __attribute__((aligned (NLMSG_ALIGNTO)));
  const struct nlmsghdr *answer = (const struct nlmsghdr *) room;
  struct rtnl_link_stats64 statistics = { 0 };
  gint error_number;

  g_mutex_lock (&link->lock);
  error_number = tun_link_talk (link, tun_link_new_link_request (link,
          request_room, RTM_GETLINK, 0), room);
  g_mutex_unlock (&link->lock);

  if (error_number == 0 && answer->nlmsg_type == RTM_NEWLINK)
    mnl_attr_parse (answer, sizeof (struct ifinfomsg), find_statistics,
        &statistics);
  return statistics.tx_dropped;
}
