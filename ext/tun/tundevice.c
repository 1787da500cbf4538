/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens and configures TUN devices. The header documents the functions. */

#include "tundevice.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <net/if.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>

#define TUN_PATH "/dev/net/tun"

/* Minimum MTU of IPv6 (RFC 8200, section 5). Linux disables IPv6 on a device
 * with a smaller MTU. */
#define IPV6_MIN_MTU 1280

#define MODES (IFF_TUN | IFF_NO_PI)

G_STATIC_ASSERT (sizeof (struct virtio_net_hdr) == TUN_VNET_HEADER);

/* --- names --------------------------------------------------------------- */

/* Checks a device name or a pattern such as "tun%d". Uses the rules of
 * dev_valid_name() and dev_alloc_name() in the kernel. If the name is invalid,
 * sets `error` and returns FALSE. */
gboolean
tun_device_check_name (const gchar * name, GError ** error)
{
  const gchar *percent, *c;

  if (strlen (name) >= IFNAMSIZ) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "Could not use the ifname \"%s\": it has %u characters, but the name "
        "of a device has at most %d. Set a shorter name, such as wl0.", name,
        (guint) strlen (name), IFNAMSIZ - 1);
    return FALSE;
  }
  percent = strchr (name, '%');
  if (percent && (percent[1] != 'd' || strchr (percent + 1, '%'))) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "Could not use the ifname \"%s\": only a single %%d is allowed, which "
        "is replaced by a free number. Set a name such as wl%%d or wl0.", name);
    return FALSE;
  }
  for (c = name; *c; c++) {
    if (*c == '/' || *c == ':' || g_ascii_isspace (*c))
      break;
  }
  if (*c || g_str_equal (name, ".") || g_str_equal (name, "..")) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "Could not use the ifname \"%s\": slashes, colons, blanks, \".\" and "
        "\"..\" are not allowed. Set a name such as wl%%d or wl0.", name);
    return FALSE;
  }
  return TRUE;
}

/* --- errors of opening ---------------------------------------------------- */

#define HOW_TO_BE_ALLOWED \
    "run as root, or under \"unshare --user --map-root-user --net\""

static void
set_no_tun (gint error_number, GError ** error)
{
  const gchar *reason = g_strerror (error_number);

  switch (error_number) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
          "There is no TUN driver: " TUN_PATH ": %s (errno %d). \"modprobe "
          "tun\" as root loads it; a container gets it with \"--device "
          TUN_PATH "\".", reason, error_number);
      break;
    case EACCES:
    case EPERM:
      g_set_error (error, GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_NOT_AUTHORIZED,
          "May not open " TUN_PATH ": %s (errno %d). Run as root, or have root "
          "do \"chmod 0666 " TUN_PATH "\", as most systems have it; a "
          "container gets it with \"--device " TUN_PATH "\".", reason,
          error_number);
      break;
    default:
      g_set_error (error, GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_OPEN_READ_WRITE,
          "Could not open " TUN_PATH ": %s (errno %d). Check that it is a "
          "character device with the numbers 10, 200, and that \"ulimit -n\" "
          "allows another open file.", reason, error_number);
      break;
  }
}

/* Returns an example of a device name for messages: the first name that the
 * pattern `name` can produce. */
static gchar *
example_name (const gchar * name)
{
  gchar **parts = g_strsplit (name, "%d", 2);
  gchar *example = g_strjoinv ("0", parts);

  g_strfreev (parts);
  return example;
}

static void
set_no_device (const TunDevice * device, gint error_number, GError ** error)
{
  const gchar *reason = g_strerror (error_number);
  const gchar *name = device->asked_name;
  gchar *example = example_name (name);
  gchar *where = tun_netns_describe (device->netns);

  switch (error_number) {
    case EPERM:
    case EACCES:
      g_set_error (error, GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_NOT_AUTHORIZED,
          "May not open the TUN device %s in %s: %s (errno %d). That takes "
          "CAP_NET_ADMIN there: " HOW_TO_BE_ALLOWED ", or have root make the "
          "device for you with \"ip tuntap add dev %s mode tun user %s\".",
          name, where, reason, error_number, example, g_get_user_name ());
      break;
    case EBUSY:
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_BUSY,
          "The TUN device %s in %s is in use already: %s (errno %d). Stop the "
          "pipeline or the process that uses it, or set another ifname.", name,
          where, reason, error_number);
      break;
    case EINVAL:
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
          "Could not open the device %s in %s: %s (errno %d). If it exists, it "
          "is not a TUN device or has the flag multi_queue: set another "
          "ifname.", name, where, reason, error_number);
      break;
    default:
      g_set_error (error, GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_OPEN_READ_WRITE,
          "Could not open the TUN device %s in %s: %s (errno %d). Set another "
          "ifname, or delete TUN devices that are not needed with \"ip link "
          "delete\".", name, where, reason, error_number);
      break;
  }
  g_free (example);
  g_free (where);
}

/* --- opening, called inside the namespace --------------------------------- */

/* If the device existed already, its last user may have changed some settings:
 * offloads, and the size and the byte order of the header in front of each
 * packet. This function resets these settings. A new device has the right
 * settings anyway. */
static void
tun_device_reset (TunDevice * device)
{
  gint header = TUN_VNET_HEADER, little_endian = FALSE;

  ioctl (device->fd, TUNSETOFFLOAD, 0);
  ioctl (device->fd, TUNSETVNETHDRSZ, &header);
  ioctl (device->fd, TUNSETVNETLE, &little_endian);
}

static gboolean
tun_device_attach (TunDevice * device, GError ** error)
{
  struct ifreq request = { 0 };

  device->existed = if_nametoindex (device->asked_name) != 0;
  g_strlcpy (request.ifr_name, device->asked_name, IFNAMSIZ);
  request.ifr_flags = MODES | (device->vnet_header ? IFF_VNET_HDR : 0);
  if (ioctl (device->fd, TUNSETIFF, &request) < 0) {
    set_no_device (device, errno, error);
    return FALSE;
  }
  device->name = g_strndup (request.ifr_name, IFNAMSIZ);
  tun_device_reset (device);
  return TRUE;
}

static gboolean
tun_device_open_inside (gpointer user_data, GError ** error)
{
  TunDevice *device = user_data;

  device->fd = open (TUN_PATH, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (device->fd < 0) {
    set_no_tun (errno, error);
    return FALSE;
  }
  if (!tun_device_attach (device, error))
    return FALSE;

  device->link = tun_link_new (device->name, error);
  if (!device->link)
    return FALSE;
  /* Only packets of programs shall cross the link. If the device had a
   * generated link-local address, the kernel would also send packets of its
   * own, such as router solicitations and multicast reports. The device
   * therefore gets no such address. */
  if (!device->existed)
    tun_link_no_generated_address (device->link);
  return TRUE;
}

static TunDevice *
tun_device_new (void)
{
  TunDevice *device = g_new0 (TunDevice, 1);

  device->fd = -1;
  return device;
}

TunDevice *
tun_device_open (TunNetns * netns, const TunRequest * request, GError ** error)
{
  TunDevice *device = tun_device_new ();

  device->netns = netns;
  device->asked_name = g_strdup (request->ifname);
  device->vnet_header = request->vnet_header ? TUN_VNET_HEADER : 0;
  if (tun_netns_call (netns, tun_device_open_inside, device, error))
    return device;

  tun_device_free (device);
  return NULL;
}

void
tun_device_free (TunDevice * device)
{
  if (device->link)
    tun_link_free (device->link);
  if (device->fd >= 0)
    close (device->fd);
  if (device->netns)
    tun_netns_free (device->netns);
  g_free (device->name);
  g_free (device->asked_name);
  g_free (device->warning);
  g_free (device->mtu_of);
  g_free (device->txqueuelen_of);
  g_free (device->reader);
  g_free (device);
}

/* --- an inherited descriptor --------------------------------------------- */

/* Returns the reason why a TUN device that the application has opened cannot be
 * used, and what to do about it. Returns NULL if the device can be used.
 * `flags` are the flags that TUNGETIFF returns for it.
 *
 * A device that was opened without IFF_NO_PI cannot be used either, but this
 * function does not detect it. The flags do not show it, because the same bit
 * is used for IFF_NOFILTER.
 */
static const gchar *
why_not_ours (gint flags)
{
  if (!(flags & IFF_TUN))
    return "it is a TAP device, which carries Ethernet frames and not IP "
        "packets. Open the device with IFF_TUN";
  if (flags & IFF_VNET_HDR)
    return "it was opened with IFF_VNET_HDR. Open the device without this flag";
  return NULL;
}

static gboolean
tun_device_adopt (TunDevice * device, gint fd, GError ** error)
{
  struct ifreq request = { 0 };
  const gchar *why_not;
  gint error_number;

  device->fd = fcntl (fd, F_DUPFD_CLOEXEC, 0);
  if (device->fd < 0 || ioctl (device->fd, TUNGETIFF, &request) < 0) {
    error_number = errno;
    g_set_error (error, GST_RESOURCE_ERROR,
        GST_RESOURCE_ERROR_OPEN_READ_WRITE,
        "Could not use fd %d: it is not an open TUN device: %s (errno %d). Set "
        "the descriptor of an open TUN device, or -1 to open the device "
        "ifname.", fd, g_strerror (error_number), error_number);
    return FALSE;
  }
  why_not = why_not_ours ((guint16) request.ifr_flags);
  if (why_not) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "Could not use fd %d: %s.", fd, why_not);
    return FALSE;
  }
  device->name = g_strndup (request.ifr_name, IFNAMSIZ);
  fcntl (device->fd, F_SETFL, fcntl (device->fd, F_GETFL) | O_NONBLOCK);
  return TRUE;
}

TunDevice *
tun_device_open_fd (gint fd, GError ** error)
{
  TunDevice *device = tun_device_new ();

  device->existed = TRUE;
  if (tun_device_adopt (device, fd, error))
    return device;

  tun_device_free (device);
  return NULL;
}

/* --- configuration ------------------------------------------------------- */

/* Sets the MTU or the queue length of the device to `wished`, and stores the
 * name of the element that has requested this value. If `wished` is 0, the
 * element has no request, and nothing is changed. Returns FALSE with `error`
 * set if another element has requested a different value, or if the kernel
 * refuses the value. */
static gboolean
configure_number (const TunDevice * device, const gchar * what, guint wished,
    const gchar * who, guint * value, gchar ** value_of,
    guint (*get) (TunLink * link),
    gboolean (*set) (TunLink * link, guint value, GError ** error),
    GError ** error)
{
  if (wished == 0)
    return TRUE;
  if (*value != 0 && *value != wished) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "%s asks for the %s %u, but %s opened the same device, %s, with %u: "
        "set the same value in both, or in one only.",
        who, what, wished, *value_of, device->name, *value);
    return FALSE;
  }
  *value = wished;
  if (!*value_of)
    *value_of = g_strdup (who);
  return get (device->link) == wished || set (device->link, wished, error);
}

static gboolean
tun_device_configure_addresses (TunDevice * device, const GArray * addresses,
    GError ** error)
{
  guint mtu = tun_link_get_mtu (device->link);
  guint i;

  if (mtu < IPV6_MIN_MTU && tun_address_has_family (addresses, AF_INET6)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "The device %s has the mtu %u, which is too small for an IPv6 address: "
        "set mtu to at least %d.", device->name, mtu, IPV6_MIN_MTU);
    return FALSE;
  }
  for (i = 0; i < addresses->len; i++) {
    if (!tun_link_add_address (device->link,
            &g_array_index (addresses, TunAddress, i), error))
      return FALSE;
  }
  return TRUE;
}

/* Brings the device up. This may fail because the process has no permission.
 * The failure is not an error if another process has created the device: a
 * warning is then stored for the user, and no packet passes until root brings
 * the device up. */
static gboolean
tun_device_bring_up (TunDevice * device, GError ** error)
{
  GError *reason = NULL;

  if (tun_link_is_up (device->link)
      || tun_link_set_up (device->link, &reason))
    return TRUE;
  if (device->existed && g_error_matches (reason, GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_NOT_AUTHORIZED)) {
    g_free (device->warning);
    device->warning = g_strdup_printf ("The device %s is down, and bringing it "
        "up needs CAP_NET_ADMIN: run \"ip link set %s up\" as root. Until then "
        "no packet passes.", device->name, device->name);
    g_error_free (reason);
    return TRUE;
  }
  g_propagate_error (error, reason);
  return FALSE;
}

gboolean
tun_device_configure (TunDevice * device, const TunRequest * request,
    const gchar * who, GError ** error)
{
  return configure_number (device, "mtu", request->mtu, who, &device->mtu,
      &device->mtu_of, tun_link_get_mtu, tun_link_set_mtu, error)
      && configure_number (device, "txqueuelen", request->txqueuelen, who,
      &device->txqueuelen, &device->txqueuelen_of, tun_link_get_txqueuelen,
      tun_link_set_txqueuelen, error)
      && tun_device_configure_addresses (device, request->addresses, error)
      && tun_device_bring_up (device, error);
}

guint
tun_device_get_mtu (TunDevice * device)
{
  return device->link ? tun_link_get_mtu (device->link) : 0;
}

guint64
tun_device_get_dropped (TunDevice * device)
{
  return device->link ? tun_link_get_dropped (device->link) : 0;
}
