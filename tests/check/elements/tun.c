/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of tunsrc and tunsink, which read and write the packets of a TUN
 * device. The tests check which packets pass, which settings are refused and
 * why, how several elements share a device, and which errors they post when a
 * device is not available. Some tests need a network namespace with real
 * devices. If the process may not create one, these tests report that they are
 * skipped.
 */

#define _GNU_SOURCE             /* unshare */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "ippackets.h"
#include "networknamespace.h"
#include "overwritingpool.h"
#include "skipped.h"
#include "tunaddress.h"

#define CONTEXT_TYPE "gst.wireless.tun-devices"
#define CAPS "application/x-ip"

/* Time for which a test waits to check that no packet arrives. If the kernel
 * sent packets to a new device on its own, they would arrive within this time.
 */
#define SILENCE (1200 * G_TIME_SPAN_MILLISECOND)

#define IP_HEADER 20
#define UDP_HEADER 8

/* --- helpers -------------------------------------------------------------- */

static gint
open_tun (const gchar * name, gint flags)
{
  struct ifreq request = { 0 };
  gint fd = open ("/dev/net/tun", O_RDWR | O_CLOEXEC);

  g_strlcpy (request.ifr_name, name, IFNAMSIZ);
  request.ifr_flags = flags;
  if (fd >= 0 && ioctl (fd, TUNSETIFF, &request) < 0) {
    close (fd);
    return -1;
  }
  return fd;
}

/* Returns TRUE if this process cannot make a TUN device, so that the test
 * cannot be run. In this case the function also prints that `test` is skipped.
 */
static gboolean
no_tun (const gchar * test)
{
  gint fd;

  if (netns_unshare ()) {
    fd = open_tun ("probe", IFF_TUN | IFF_NO_PI);
    if (fd >= 0) {
      close (fd);
      return FALSE;
    }
  }
  say_skipped (test, "no TUN device may be made here: %s", g_strerror (errno));
  return TRUE;
}

static void
set_flags (const gchar * name, gboolean up)
{
  struct ifreq request = { 0 };
  gint fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  g_strlcpy (request.ifr_name, name, IFNAMSIZ);
  request.ifr_flags = up ? IFF_UP : 0;
  fail_unless (ioctl (fd, SIOCSIFFLAGS, &request) == 0);
  close (fd);
}

static gint
read_mtu (const gchar * name)
{
  struct ifreq request = { 0 };
  gint fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  g_strlcpy (request.ifr_name, name, IFNAMSIZ);
  fail_unless (ioctl (fd, SIOCGIFMTU, &request) == 0);
  close (fd);
  return request.ifr_mtu;
}

static void
write_mtu (const gchar * name, gint mtu)
{
  struct ifreq request = { 0 };
  gint fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  g_strlcpy (request.ifr_name, name, IFNAMSIZ);
  request.ifr_mtu = mtu;
  fail_unless (ioctl (fd, SIOCSIFMTU, &request) == 0);
  close (fd);
}

static gboolean
exists (const gchar * name)
{
  return if_nametoindex (name) != 0;
}

static GstElement *
make (const gchar * factory, const gchar * first_property, ...)
{
  GstElement *element = gst_element_factory_make (factory, NULL);
  va_list arguments;

  fail_unless (element != NULL);
  va_start (arguments, first_property);
  g_object_set_valist (G_OBJECT (element), first_property, arguments);
  va_end (arguments);
  return element;
}

static guint64
stat_of (GstElement * element, const gchar * name)
{
  GstStructure *stats;
  guint64 value = G_MAXUINT64;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value), "no %s", name);
  gst_structure_free (stats);
  return value;
}

static gchar *
used_ifname (GstElement * element)
{
  gchar *name;

  g_object_get (element, "used-ifname", &name, NULL);
  return name;
}

static void
send_udp (const gchar * to, gsize size, guint times)
{
  struct sockaddr_in address = { AF_INET, htons (5000) };
  gint fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  guint i;
  guint8 *data = g_malloc0 (MAX (size, sizeof (i)));

  inet_pton (AF_INET, to, &address.sin_addr);
  for (i = 0; i < times; i++) {
    memcpy (data, &i, sizeof (i));
    fail_unless_equals_int (sendto (fd, data, size, 0,
            (struct sockaddr *) &address, sizeof (address)), size);
  }
  g_free (data);
  close (fd);
}

/* Returns a packet of `size` bytes. Its first byte is `first`, and all others
 * are 0. No host is its destination: the kernel accepts the packet from the
 * device and drops it later. */
static GstBuffer *
make_packet (guint8 first, gsize size)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_memset (buffer, 0, 0, size);
  gst_buffer_memset (buffer, 0, first, 1);
  return buffer;
}

/* Starts `element` and checks that the start fails. Returns the error that the
 * element posts. The caller frees it. */
static GError *
start_error (GstElement * element)
{
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_bus (element, bus);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  gst_message_unref (message);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  return error;
}

/* --- addresses ------------------------------------------------------------ */

static const gchar *const good_addresses[] = {
  "10.0.0.1/24", "0.0.0.0/0", "255.255.255.255/32", "fd00::1/64", "::1/128",
  "fe80::1/0",
};

GST_START_TEST (the_error_domain_has_no_spaces)
{
  fail_unless_equals_string (g_quark_to_string (TUN_ADDRESS_ERROR),
      "tun-address-error-quark");
}

GST_END_TEST;

GST_START_TEST (address_is_read_as_it_is_written)
{
  const gchar *text = good_addresses[__i__];
  GArray *addresses = tun_address_parse (text, NULL);
  gchar *again;

  fail_unless_equals_int (addresses->len, 1);
  again = tun_address_to_string (&g_array_index (addresses, TunAddress, 0));
  fail_unless_equals_string (again, text);
  g_free (again);
  g_array_unref (addresses);
}

GST_END_TEST;

GST_START_TEST (addresses_are_separated_by_commas)
{
  GArray *addresses = tun_address_parse ("10.0.0.1/24, fd00::1/64", NULL);

  fail_unless_equals_int (addresses->len, 2);
  fail_unless (tun_address_has_family (addresses, AF_INET6));
  fail_unless_equals_int (g_array_index (addresses, TunAddress, 1).prefix, 64);
  g_array_unref (addresses);

  addresses = tun_address_parse (NULL, NULL);
  fail_unless_equals_int (addresses->len, 0);
  g_array_unref (addresses);
  addresses = tun_address_parse ("", NULL);
  fail_unless_equals_int (addresses->len, 0);
  g_array_unref (addresses);
}

GST_END_TEST;

/* Each row consists of an invalid value of the property `address` and a text
 * that the error message must contain. */
static const gchar *const bad_addresses[][2] = {
  {"10.0.0.1", "10.0.0.1/24"},
  {"fd00::1", "fd00::1/64"},
  {"10.0.0.1/33", "0 to 32"},
  {"fd00::1/129", "0 to 128"},
  {"10.0.0.1/-1", "0 to 32"},
  {"10.0.0.1/", "0 to 32"},
  {"10.0.0.1/2/4", "0 to 32"},
  {"10.0.0.1/ 8", "0 to 32"},
  {"10.0.0/24", "\"10.0.0\""},
  {"10.0.0.256/24", "\"10.0.0.256\""},
  {"localhost/8", "\"localhost\""},
  {"/24", "\"\""},
  {"10.0.0.1/24,", "\"\""},
  {",", "\"\""},
  {"fd00::1::2/64", "\"fd00::1::2\""},
};

GST_START_TEST (bad_address_is_named)
{
  const gchar *const *bad = bad_addresses[__i__];
  GError *error = NULL;

  fail_unless (tun_address_parse (bad[0], &error) == NULL);
  fail_unless (strstr (error->message, bad[1]) != NULL, "%s: %s", bad[0],
      error->message);
  g_error_free (error);
}

GST_END_TEST;

/* --- errors that need no device ------------------------------------------- */

static const struct
{
  const gchar *property, *value;
  gint code;
  const gchar *words[2];        /* of the message */
} start_errors[] = {
  {"netns", "no-such-namespace", GST_RESOURCE_ERROR_NOT_FOUND,
      {"no-such-namespace", "ip netns add"}},
  {"netns", "999999999", GST_RESOURCE_ERROR_NOT_FOUND,
      {"process 999999999", "/proc/999999999/ns/net"}},
  {"netns", "/no/such/path", GST_RESOURCE_ERROR_NOT_FOUND,
      {"/no/such/path", "errno 2"}},
  {"netns", "/dev/null", GST_RESOURCE_ERROR_SETTINGS,
      {"/dev/null", "not a network namespace"}},
  {"netns", "/proc/self/ns/uts", GST_RESOURCE_ERROR_SETTINGS,
      {"/proc/self/ns/uts", "not a network namespace"}},
  {"address", "10.0.0.1", GST_RESOURCE_ERROR_SETTINGS,
      {"10.0.0.1", "prefix length"}},
  {"ifname", "sixteen-is-long-", GST_RESOURCE_ERROR_SETTINGS,
      {"sixteen-is-long-", "16"}},
  {"ifname", "a%sb", GST_RESOURCE_ERROR_SETTINGS, {"a%sb", "%d"}},
  {"ifname", "a%d%d", GST_RESOURCE_ERROR_SETTINGS, {"a%d%d", "%d"}},
  {"ifname", "a/b", GST_RESOURCE_ERROR_SETTINGS, {"a/b", "slashes"}},
  {"ifname", "a b", GST_RESOURCE_ERROR_SETTINGS, {"a b", "blanks"}},
  {"ifname", "..", GST_RESOURCE_ERROR_SETTINGS, {"..", "not allowed"}},
  {"mtu", "67", GST_RESOURCE_ERROR_SETTINGS, {"67", "68"}},
  {"fd", "987654", GST_RESOURCE_ERROR_OPEN_READ_WRITE, {"987654", "errno 9"}},
  {"fd", "2", GST_RESOURCE_ERROR_OPEN_READ_WRITE, {"fd 2", "not an open TUN"}},
};

static void
check_start_error (const gchar * factory, guint i)
{
  GstElement *element = gst_element_factory_make (factory, NULL);
  GError *error;
  guint word;

  gst_util_set_object_arg (G_OBJECT (element), start_errors[i].property,
      start_errors[i].value);
  error = start_error (element);
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR,
          start_errors[i].code), "%d: %s", error->code, error->message);
  for (word = 0; word < 2; word++)
    fail_unless (strstr (error->message, start_errors[i].words[word]) != NULL,
        "no %s: %s", start_errors[i].words[word], error->message);
  g_error_free (error);
  gst_object_unref (element);
}

GST_START_TEST (start_fails_with_the_reason)
{
  check_start_error ("tunsrc", __i__);
  check_start_error ("tunsink", __i__);
}

GST_END_TEST;

static const gchar *const ready_only[] = {
  "netns", "ifname", "address", "mtu", "txqueuelen", "fd"
};

GST_START_TEST (properties_of_the_device_change_before_it_is_open)
{
  GstElement *elements[] = { make ("tunsrc", NULL), make ("tunsink", NULL) };
  GParamSpec *spec;
  guint i, p;

  for (i = 0; i < G_N_ELEMENTS (elements); i++) {
    for (p = 0; p < G_N_ELEMENTS (ready_only); p++) {
      spec = g_object_class_find_property (G_OBJECT_GET_CLASS (elements[i]),
          ready_only[p]);
      fail_unless (spec->flags & GST_PARAM_MUTABLE_READY);
    }
    gst_object_unref (elements[i]);
  }
}

GST_END_TEST;

/* --- the context ---------------------------------------------------------- */

static GstContext *
context_of (GstElement * element)
{
  return gst_element_get_context (element, CONTEXT_TYPE);
}

static void
fail_unless_same_context (GstElement * a, GstElement * b)
{
  GstContext *context_a = context_of (a), *context_b = context_of (b);

  fail_unless (context_a != NULL);
  fail_unless (context_a == context_b);
  gst_context_unref (context_a);
  gst_context_unref (context_b);
}

GST_START_TEST (elements_of_a_pipeline_share_their_table)
{
  GstElement *pipeline = gst_pipeline_new (NULL), *bin = gst_bin_new (NULL);
  GstElement *src = make ("tunsrc", "netns", "no-such-namespace", NULL);
  GstElement *sink = make ("tunsink", "netns", "no-such-namespace", NULL);

  gst_bin_add (GST_BIN (bin), sink);
  gst_bin_add_many (GST_BIN (pipeline), src, bin, NULL);
  gst_element_set_state (sink, GST_STATE_PAUSED);
  gst_element_set_state (src, GST_STATE_PAUSED);
  fail_unless_same_context (src, sink);
  fail_unless_same_context (src, pipeline);
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (neighbours_share_their_table)
{
  GstElement *src = make ("tunsrc", "netns", "no-such-namespace", NULL);
  GstElement *sink = make ("tunsink", "netns", "no-such-namespace", NULL);

  fail_unless (gst_element_link (src, sink));
  gst_element_set_state (sink, GST_STATE_PAUSED);
  gst_element_set_state (src, GST_STATE_PAUSED);
  fail_unless_same_context (src, sink);
  gst_element_set_state (src, GST_STATE_NULL);
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_object_unref (src);
  gst_object_unref (sink);
}

GST_END_TEST;

/* --- sharing a device ----------------------------------------------------- */

/* Returns a pipeline of a tunsrc and a tunsink, which sends each packet of the
 * device `ifname` back to the same device. `src` and `sink` are set to the two
 * elements. */
static GstElement *
make_mirror (const gchar * ifname, GstElement ** src, GstElement ** sink)
{
  GstElement *pipeline = gst_pipeline_new (NULL);

  *src = make ("tunsrc", "ifname", ifname, NULL);
  *sink = make ("tunsink", "ifname", ifname, NULL);
  gst_bin_add_many (GST_BIN (pipeline), *src, *sink, NULL);
  fail_unless (gst_element_link (*src, *sink));
  return pipeline;
}

static void
play (GstElement * pipeline)
{
  fail_unless (gst_element_set_state (pipeline, GST_STATE_PLAYING) !=
      GST_STATE_CHANGE_FAILURE);
}

static void
end (GstElement * pipeline)
{
  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_NULL),
      GST_STATE_CHANGE_SUCCESS);
  gst_object_unref (pipeline);
}

GST_START_TEST (device_is_there_from_paused_to_ready)
{
  GstElement *pipeline, *src, *sink;
  guint round;

  if (no_tun ("device_is_there_from_paused_to_ready"))
    return;
  pipeline = make_mirror ("wl0", &src, &sink);
  for (round = 0; round < 3; round++) {
    fail_if (exists ("wl0"));
    play (pipeline);
    fail_unless (exists ("wl0"));
    gst_element_set_state (pipeline, GST_STATE_READY);
    fail_if (exists ("wl0"));
  }
  end (pipeline);
}

GST_END_TEST;

GST_START_TEST (pattern_gives_both_the_same_device)
{
  GstElement *pipeline, *src, *sink;
  gchar *read, *written;

  if (no_tun ("pattern_gives_both_the_same_device"))
    return;
  pipeline = make_mirror ("some%d", &src, &sink);
  play (pipeline);
  read = used_ifname (src);
  written = used_ifname (sink);
  fail_unless_equals_string (read, "some0");
  fail_unless_equals_string (written, "some0");
  g_free (read);
  g_free (written);
  gst_element_set_state (pipeline, GST_STATE_READY);
  fail_unless (used_ifname (src) == NULL);
  end (pipeline);
}

GST_END_TEST;

GST_START_TEST (another_pipeline_finds_it_busy)
{
  GstElement *pipeline, *src, *sink, *other;
  GError *error;

  if (no_tun ("another_pipeline_finds_it_busy"))
    return;
  pipeline = make_mirror ("wl0", &src, &sink);
  play (pipeline);
  other = make ("tunsink", "ifname", "wl0", NULL);
  error = start_error (other);
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_BUSY));
  fail_unless (strstr (error->message, "wl0") != NULL);
  g_error_free (error);
  gst_object_unref (other);
  end (pipeline);
}

GST_END_TEST;

GST_START_TEST (another_pipeline_with_the_context_shares_it)
{
  GstElement *pipeline, *src, *sink, *other;
  GstContext *context;

  if (no_tun ("another_pipeline_with_the_context_shares_it"))
    return;
  pipeline = make_mirror ("wl0", &src, &sink);
  play (pipeline);
  context = context_of (src);
  other = make ("tunsink", "ifname", "wl0", NULL);
  gst_element_set_context (other, context);
  gst_context_unref (context);
  play (other);
  end (pipeline);
  fail_unless (exists ("wl0"));
  end (other);
  fail_if (exists ("wl0"));
}

GST_END_TEST;

static GError *
error_of_second (GstElement * first, GstElement * second)
{
  GstContext *context;
  GError *error;

  play (first);
  context = context_of (first);
  gst_element_set_context (second, context);
  gst_context_unref (context);
  error = start_error (second);
  gst_object_unref (second);
  end (first);
  fail_if (exists ("wl0"));
  return error;
}

GST_START_TEST (contradiction_names_both)
{
  const gchar *property = __i__ == 0 ? "mtu" : "txqueuelen";
  GstElement *first, *second;
  GError *error;

  if (no_tun ("contradiction_names_both"))
    return;
  first = make ("tunsink", "name", "first", "ifname", "wl0", property, 1400,
      NULL);
  second = make ("tunsink", "name", "second", "ifname", "wl0", property, 1300,
      NULL);
  error = error_of_second (first, second);
  fail_unless (strstr (error->message, "first") != NULL);
  fail_unless (strstr (error->message, "second") != NULL);
  fail_unless (strstr (error->message, "1400") != NULL);
  fail_unless (strstr (error->message, "1300") != NULL);
  g_error_free (error);
}

GST_END_TEST;

GST_START_TEST (only_one_reads_a_device)
{
  GError *error;

  if (no_tun ("only_one_reads_a_device"))
    return;
  error = error_of_second (make ("tunsrc", "name", "first", "ifname", "wl0",
          NULL), make ("tunsrc", "name", "second", "ifname", "wl0", NULL));
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_BUSY));
  fail_unless (strstr (error->message, "first reads it") != NULL);
  g_error_free (error);
}

GST_END_TEST;

GST_START_TEST (settings_of_both_are_met)
{
  GstElement *pipeline, *src, *sink;
  gint fd;
  struct sockaddr_in address = { AF_INET };
  struct sockaddr_in6 address6 = { AF_INET6 };

  if (no_tun ("settings_of_both_are_met"))
    return;
  pipeline = make_mirror ("wl0", &src, &sink);
  g_object_set (src, "address", "10.9.0.1/24,10.9.1.1/24", NULL);
  g_object_set (sink, "address", "10.9.0.1/24,fd09::1/64", "mtu", 1400,
      "txqueuelen", 7, NULL);
  play (pipeline);

  fail_unless_equals_int (read_mtu ("wl0"), 1400);
  fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  inet_pton (AF_INET, "10.9.1.1", &address.sin_addr);
  fail_unless (bind (fd, (struct sockaddr *) &address, sizeof (address)) == 0);
  close (fd);
  /* The IPv6 address of the device must be usable at once. Usually Linux first
   * checks whether another host has the same address (duplicate address
   * detection). On a device that tunsrc or tunsink has created, it does not. */
  fd = socket (AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd >= 0) {
    inet_pton (AF_INET6, "fd09::1", &address6.sin6_addr);
    fail_unless (bind (fd, (struct sockaddr *) &address6,
            sizeof (address6)) == 0);
    close (fd);
  }
  end (pipeline);
}

GST_END_TEST;

GST_START_TEST (ipv6_needs_its_mtu)
{
  GstElement *sink;
  GError *error;

  if (no_tun ("ipv6_needs_its_mtu"))
    return;
  sink = make ("tunsink", "mtu", 1279, "address", "fd09::1/64", NULL);
  error = start_error (sink);
  fail_unless (strstr (error->message, "1279") != NULL);
  fail_unless (strstr (error->message, "1280") != NULL);
  g_error_free (error);
  gst_object_unref (sink);
  fail_if (exists ("wl0"));
}

GST_END_TEST;

GST_START_TEST (kernel_says_why_it_refuses_an_address)
{
  GstElement *sink;
  GError *error;

  if (no_tun ("kernel_says_why_it_refuses_an_address"))
    return;
  sink = make ("tunsink", "ifname", "wl0", "address", "ff02::1/64", NULL);
  error = start_error (sink);
  fail_unless (strstr (error->message, "ff02::1/64 of the device wl0") != NULL,
      "%s", error->message);
  fail_unless (strstr (error->message, "errno") != NULL);
  g_error_free (error);
  gst_object_unref (sink);
  fail_if (exists ("wl0"));
}

GST_END_TEST;

/* --- file descriptors of the application ---------------------------------- */

GST_START_TEST (inherited_descriptor_is_enough)
{
  GstElement *src, *sink;
  GstHarness *harness;
  gchar *name;
  gint fd;

  if (no_tun ("inherited_descriptor_is_enough"))
    return;
  fd = open_tun ("given", IFF_TUN | IFF_NO_PI);
  src = make ("tunsrc", "fd", fd, NULL);
  sink = make ("tunsink", "fd", fd, NULL);
  play (src);
  close (fd);
  name = used_ifname (src);
  fail_unless_equals_string (name, "given");
  g_free (name);
  end (src);
  fail_if (exists ("given"));

  fd = open_tun ("given", IFF_TUN | IFF_NO_PI);
  g_object_set (sink, "fd", fd, NULL);
  set_flags ("given", TRUE);
  harness = gst_harness_new_with_element (sink, "sink", NULL);
  gst_harness_set_src_caps_str (harness, CAPS);
  gst_harness_push (harness, make_packet (0x45, 3000));
  fail_unless_equals_uint64 (stat_of (sink, "packets"), 1);
  gst_harness_teardown (harness);
  gst_object_unref (sink);
  close (fd);
}

GST_END_TEST;

GST_START_TEST (descriptor_of_another_kind_is_refused)
{
  const gint kinds[] = { IFF_TAP | IFF_NO_PI,
    IFF_TUN | IFF_NO_PI | IFF_VNET_HDR
  };
  const gchar *const words[] = { "TAP", "IFF_VNET_HDR" };
  GstElement *src;
  GError *error;
  gint fd;

  if (no_tun ("descriptor_of_another_kind_is_refused"))
    return;
  fd = open_tun ("given", kinds[__i__]);
  src = make ("tunsrc", "fd", fd, NULL);
  error = start_error (src);
  fail_unless (strstr (error->message, words[__i__]) != NULL, "%s",
      error->message);
  g_error_free (error);
  gst_object_unref (src);
  close (fd);
}

GST_END_TEST;

/* --- tunsink -------------------------------------------------------------- */

static GstHarness *
make_sink_harness (GstElement ** sink)
{
  GstHarness *harness;

  *sink = make ("tunsink", "ifname", "wl0", "address", "10.9.0.1/24", NULL);
  harness = gst_harness_new_with_element (*sink, "sink", NULL);
  gst_harness_set_src_caps_str (harness, CAPS);
  return harness;
}

static void
push (GstHarness * harness, GstBuffer * buffer)
{
  fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
}

GST_START_TEST (refused_packets_are_counted_by_reason)
{
  GstHarness *harness;
  GstElement *sink;

  if (no_tun ("refused_packets_are_counted_by_reason"))
    return;
  harness = make_sink_harness (&sink);

  push (harness, make_packet (0x45, 1500));
  push (harness, make_packet (0x60, 40));
  fail_unless_equals_uint64 (stat_of (sink, "packets"), 2);
  fail_unless_equals_uint64 (stat_of (sink, "bytes"), 1540);

  push (harness, make_packet (0x55, 100));
  push (harness, make_packet (0x05, 100));
  push (harness, gst_buffer_new ());
  fail_unless_equals_uint64 (stat_of (sink, "not-ip"), 3);

  push (harness, make_packet (0x45, 1501));
  fail_unless_equals_uint64 (stat_of (sink, "too-big"), 1);
  write_mtu ("wl0", 1501);
  push (harness, make_packet (0x45, 1501));
  fail_unless_equals_uint64 (stat_of (sink, "too-big"), 1);

  set_flags ("wl0", FALSE);
  push (harness, make_packet (0x45, 100));
  fail_unless_equals_uint64 (stat_of (sink, "device-down"), 1);
  set_flags ("wl0", TRUE);
  push (harness, make_packet (0x45, 100));

  fail_unless_equals_uint64 (stat_of (sink, "packets"), 4);
  fail_unless_equals_uint64 (stat_of (sink, "no-buffer"), 0);
  fail_unless_equals_uint64 (stat_of (sink, "other"), 0);
  gst_harness_teardown (harness);
  gst_object_unref (sink);
}

GST_END_TEST;

GST_START_TEST (warnings_are_few)
{
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GstHarness *harness;
  GstElement *sink;
  guint i, warnings = 0;

  if (no_tun ("warnings_are_few")) {
    gst_object_unref (bus);
    return;
  }
  harness = make_sink_harness (&sink);
  gst_element_set_bus (sink, bus);
  for (i = 0; i < 100; i++) {
    push (harness, make_packet (0x00, 100));
    push (harness, make_packet (0x45, 2000));
  }
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING))) {
    gst_message_unref (message);
    warnings++;
  }
  fail_unless_equals_int (warnings, 2);
  fail_unless_equals_uint64 (stat_of (sink, "not-ip"), 100);
  gst_element_set_bus (sink, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (harness);
  gst_object_unref (sink);
}

GST_END_TEST;

GST_START_TEST (list_is_written_packet_by_packet)
{
  GstBufferList *list = gst_buffer_list_new ();
  GstHarness *harness;
  GstElement *sink;
  guint i;

  if (no_tun ("list_is_written_packet_by_packet")) {
    gst_buffer_list_unref (list);
    return;
  }
  harness = make_sink_harness (&sink);
  for (i = 0; i < 10; i++)
    gst_buffer_list_add (list, make_packet (i == 5 ? 0x00 : 0x45, 100));
  fail_unless_equals_int (gst_pad_push_list (harness->srcpad, list),
      GST_FLOW_OK);
  fail_unless_equals_uint64 (stat_of (sink, "packets"), 9);
  fail_unless_equals_uint64 (stat_of (sink, "not-ip"), 1);
  gst_harness_teardown (harness);
  gst_object_unref (sink);
}

GST_END_TEST;

/* --- merged packets (gro) ------------------------------------------------- */

#define GRO_PORT 5000
#define GRO_PACKETS 100

/* Returns a non-blocking UDP socket that receives the packets to the port
 * GRO_PORT. */
static gint
open_receiver (void)
{
  struct sockaddr_in address = { AF_INET, htons (GRO_PORT) };
  gint fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  gint size = 1 << 20;

  setsockopt (fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof (size));
  fail_unless (bind (fd, (struct sockaddr *) &address, sizeof (address)) == 0);
  return fd;
}

static GstBuffer *
make_udp (const IpPacket * packet)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, ip_packet_size (packet),
      NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  ip_packet_write (packet, map.data);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

/* Inverts a bit of the payload. */
static void
damage (GstBuffer * buffer)
{
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_READWRITE);
  map.data[map.size - 1] ^= 1;
  gst_buffer_unmap (buffer, &map);
}

/* Returns a list of packets in which most packets are alike, so that tunsink
 * can merge them. Some packets are shorter, some are damaged, some have another
 * source port, and some belong to another protocol. */
static GstBufferList *
make_mixed_list (void)
{
  IpPacket packet = { 4, 0, 64, 0, 0x4000, 1000, GRO_PORT, 1400, 0 };
  GstBufferList *list = gst_buffer_list_new ();
  GstBuffer *buffer;
  guint i;

  for (i = 0; i < GRO_PACKETS; i++) {
    packet.fill = i;
    packet.payload = i % 17 == 3 ? 1399 : 1400;
    packet.source_port = i % 23 == 5 ? 1001 : 1000;
    buffer = make_udp (&packet);
    if (i % 31 == 7)
      damage (buffer);
    gst_buffer_list_add (list, i % 41 == 9 ? make_packet (0x45, 100) : buffer);
    if (i % 41 == 9)
      gst_buffer_unref (buffer);
  }
  return list;
}

static void
push_mixed_list (GstHarness * harness)
{
  fail_unless_equals_int (gst_pad_push_list (harness->srcpad,
          make_mixed_list ()), GST_FLOW_OK);
}

/* Receives all packets of the socket `fd`. They must be exactly the undamaged
 * UDP packets of make_mixed_list (), in the same order. */
static void
fail_unless_received (gint fd)
{
  struct sockaddr_in from;
  socklen_t from_size;
  guint8 data[2048];
  guint i;

  for (i = 0; i < GRO_PACKETS; i++) {
    if (i % 31 == 7 || i % 41 == 9)
      continue;
    from_size = sizeof (from);
    fail_unless_equals_int (recvfrom (fd, data, sizeof (data), 0,
            (struct sockaddr *) &from, &from_size), i % 17 == 3 ? 1399 : 1400);
    fail_unless_equals_int (data[0], i);
    fail_unless_equals_int (ntohs (from.sin_port), i % 23 == 5 ? 1001 : 1000);
  }
  fail_unless (recv (fd, data, sizeof (data), 0) < 0);
}

/* Returns how many packets the kernel has received from the device wl0. The
 * kernel counts a merged packet as one packet. */
static guint
count_received (void)
{
  gchar *text, *line;
  guint bytes, packets = 0;

  fail_unless (g_file_get_contents ("/proc/thread-self/net/dev", &text, NULL,
          NULL));
  line = strstr (text, "wl0:");
  fail_unless (line && sscanf (line, "wl0: %u %u", &bytes, &packets) == 2);
  g_free (text);
  return packets;
}

GST_START_TEST (sockets_receive_the_same_with_and_without_gro)
{
  gboolean gro = __i__;
  GstHarness *harness;
  GstElement *sink;
  guint received;
  gint fd;

  if (no_tun ("sockets_receive_the_same_with_and_without_gro"))
    return;
  sink = make ("tunsink", "ifname", "wl0", "address", "10.9.0.2/24", "gro",
      gro, NULL);
  harness = gst_harness_new_with_element (sink, "sink", NULL);
  gst_harness_set_src_caps_str (harness, CAPS);
  fd = open_receiver ();
  push_mixed_list (harness);
  fail_unless_received (fd);
  fail_unless_equals_uint64 (stat_of (sink, "packets"), GRO_PACKETS);
  fail_unless_equals_uint64 (stat_of (sink, "other"), 0);
  received = count_received ();
  if (!gro) {
    fail_unless_equals_int (received, GRO_PACKETS);
  } else if (received == GRO_PACKETS) {
    say_skipped ("sockets_receive_the_same_with_and_without_gro",
        "the kernel accepts no merged packets");
  } else {
    fail_unless (received < GRO_PACKETS / 2, "%u", received);
  }
  close (fd);
  gst_harness_teardown (harness);
  gst_object_unref (sink);
}

GST_END_TEST;

/* tunsink merges packets before it writes them to the device, but its
 * statistics must count the packets of its input. The MTU of the device is 1427
 * bytes. Most of the packets that push_mixed_list () pushes are larger than
 * this MTU, and must be counted as too big. The kernel accepts the other,
 * shorter packets. */
GST_START_TEST (merged_packets_are_counted_by_reason)
{
  GstHarness *harness;
  GstElement *sink;

  if (no_tun ("merged_packets_are_counted_by_reason"))
    return;
  sink = make ("tunsink", "ifname", "wl0", "address", "10.9.0.2/24", "mtu",
      1427, "gro", TRUE, NULL);
  harness = gst_harness_new_with_element (sink, "sink", NULL);
  gst_harness_set_src_caps_str (harness, CAPS);
  push_mixed_list (harness);
  fail_unless_equals_uint64 (stat_of (sink, "packets"), 9);
  fail_unless_equals_uint64 (stat_of (sink, "too-big"), GRO_PACKETS - 9);

  write_mtu ("wl0", 1500);
  push_mixed_list (harness);
  fail_unless_equals_uint64 (stat_of (sink, "packets"), 9 + GRO_PACKETS);

  set_flags ("wl0", FALSE);
  push_mixed_list (harness);
  fail_unless_equals_uint64 (stat_of (sink, "packets"), 9 + GRO_PACKETS);
  fail_unless_equals_uint64 (stat_of (sink, "device-down"), GRO_PACKETS);
  gst_harness_teardown (harness);
  gst_object_unref (sink);
}

GST_END_TEST;

/* With gro=TRUE, tunsink opens the device with the flag IFF_VNET_HDR. Each
 * packet that is read from the device then begins with an additional header of
 * the kernel. If a tunsrc uses the same device, it must remove this header. */
GST_START_TEST (source_shares_a_device_with_gro)
{
  GstElement *pipeline, *src, *sink;

  if (no_tun ("source_shares_a_device_with_gro"))
    return;
  pipeline = gst_pipeline_new (NULL);
  src = make ("tunsrc", "ifname", "wl0", "address", "10.9.0.1/24", NULL);
  sink = make ("tunsink", "ifname", "wl0", "gro", TRUE, NULL);
  gst_bin_add_many (GST_BIN (pipeline), src, sink, NULL);
  gst_element_link (src, sink);
  play (pipeline);
  send_udp ("10.9.0.2", 33, 10);
  while (stat_of (sink, "packets") < 10)
    g_usleep (1000);
  fail_unless_equals_uint64 (stat_of (src, "bytes"),
      10 * (IP_HEADER + UDP_HEADER + 33));
  fail_unless_equals_uint64 (stat_of (sink, "bytes"),
      10 * (IP_HEADER + UDP_HEADER + 33));
  end (pipeline);
}

GST_END_TEST;

/* The packets are in buffers of a pool, which overwrites the bytes of a buffer
 * as soon as the buffer returns to it. tunsink must have written and counted a
 * packet before it returns the buffer. */
GST_START_TEST (pools_may_have_their_buffers_back)
{
  GstBuffer *packet = make_packet (0x45, 100);
  GstBufferPool *pool = pooled_new (100);
  GstHarness *harness;
  GstElement *sink;
  guint i;

  if (no_tun ("pools_may_have_their_buffers_back")) {
    gst_buffer_unref (packet);
    pooled_free (pool);
    return;
  }
  harness = make_sink_harness (&sink);
  for (i = 0; i < 20; i++)
    pooled_push (harness, pool, packet);
  fail_unless_equals_uint64 (stat_of (sink, "packets"), 20);
  fail_unless_equals_uint64 (stat_of (sink, "bytes"), 20 * 100);
  fail_unless_equals_uint64 (stat_of (sink, "not-ip"), 0);
  gst_harness_teardown (harness);
  gst_object_unref (sink);
  gst_buffer_unref (packet);
  pooled_free (pool);
}

GST_END_TEST;

/* --- tunsrc --------------------------------------------------------------- */

static GstHarness *
make_src_harness (GstElement ** src)
{
  *src = make ("tunsrc", "ifname", "wl0", "address", "10.9.0.1/24", NULL);
  return gst_harness_new_with_element (*src, NULL, "src");
}

static void
fail_unless_udp (GstBuffer * buffer, gsize payload)
{
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless_equals_int (map.size, IP_HEADER + UDP_HEADER + payload);
  fail_unless_equals_int (map.data[0], 0x45);
  fail_unless_equals_int (map.data[9], IPPROTO_UDP);
  gst_buffer_unmap (buffer, &map);
}

GST_START_TEST (packets_come_one_per_buffer)
{
  GstHarness *harness;
  GstElement *src;
  GstBuffer *buffer;
  guint i;

  if (no_tun ("packets_come_one_per_buffer"))
    return;
  harness = make_src_harness (&src);
  gst_harness_use_systemclock (harness);
  gst_harness_play (harness);
  send_udp ("10.9.0.2", 33, 300);
  for (i = 0; i < 300; i++) {
    buffer = gst_harness_pull (harness);
    fail_unless_udp (buffer, 33);
    fail_unless (GST_BUFFER_PTS_IS_VALID (buffer));
    fail_unless (GST_BUFFER_DTS_IS_VALID (buffer));
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_uint64 (stat_of (src, "packets"), 300);
  fail_unless_equals_uint64 (stat_of (src, "bytes"),
      300 * (IP_HEADER + UDP_HEADER + 33));
  fail_unless (stat_of (src, "lists") <= 300);
  gst_harness_teardown (harness);
  gst_object_unref (src);
}

GST_END_TEST;

static GstPadProbeReturn
count_lists (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  guint *largest = user_data;
  guint length = gst_buffer_list_length (GST_PAD_PROBE_INFO_BUFFER_LIST (info));

  *largest = MAX (*largest, length);
  return GST_PAD_PROBE_OK;
}

GST_START_TEST (packets_that_wait_come_as_lists)
{
  GstElement *pipeline, *src, *sink;
  GstPad *pad;
  guint largest = 0;

  if (no_tun ("packets_that_wait_come_as_lists"))
    return;
  pipeline = gst_pipeline_new (NULL);
  src = make ("tunsrc", "ifname", "wl0", "address", "10.9.0.1/24", NULL);
  sink = make ("fakesink", "sync", FALSE, "async", FALSE, NULL);
  gst_bin_add_many (GST_BIN (pipeline), src, sink, NULL);
  gst_element_link (src, sink);
  pad = gst_element_get_static_pad (src, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER_LIST, count_lists,
      &largest, NULL);
  gst_object_unref (pad);

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  send_udp ("10.9.0.2", 100, 200);
  play (pipeline);
  while (stat_of (src, "packets") < 200)
    g_usleep (1000);
  fail_unless_equals_uint64 (stat_of (src, "lists"), (200 + 63) / 64);
  gst_element_set_state (pipeline, GST_STATE_READY);
  fail_unless_equals_int (largest, 64);
  end (pipeline);
}

GST_END_TEST;

GST_START_TEST (packets_that_find_the_queue_full_are_counted)
{
  GstHarness *harness;
  GstElement *src;

  if (no_tun ("packets_that_find_the_queue_full_are_counted"))
    return;
  src = make ("tunsrc", "ifname", "wl0", "address", "10.9.0.1/24",
      "txqueuelen", 10, NULL);
  fail_unless (gst_element_set_state (src, GST_STATE_PAUSED) !=
      GST_STATE_CHANGE_FAILURE);
  send_udp ("10.9.0.2", 33, 30);
  fail_unless_equals_uint64 (stat_of (src, "dropped"), 20);
  gst_element_set_state (src, GST_STATE_READY);
  fail_unless_equals_uint64 (stat_of (src, "dropped"), 20);

  harness = gst_harness_new_with_element (src, NULL, "src");
  gst_harness_play (harness);
  fail_unless_equals_uint64 (stat_of (src, "dropped"), 0);
  gst_harness_teardown (harness);
  gst_object_unref (src);
}

GST_END_TEST;

GST_START_TEST (packets_of_any_size_come_whole)
{
  GstHarness *harness;
  GstElement *src;
  GstBuffer *buffer;

  if (no_tun ("packets_of_any_size_come_whole"))
    return;
  src = make ("tunsrc", "ifname", "wl0", "address", "10.9.0.1/24", "mtu",
      65535, NULL);
  harness = gst_harness_new_with_element (src, NULL, "src");
  gst_harness_play (harness);
  send_udp ("10.9.0.2", 0, 1);
  send_udp ("10.9.0.2", 65507, 1);
  buffer = gst_harness_pull (harness);
  fail_unless_udp (buffer, 0);
  gst_buffer_unref (buffer);
  buffer = gst_harness_pull (harness);
  fail_unless_udp (buffer, 65507);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  gst_object_unref (src);
}

GST_END_TEST;

GST_START_TEST (num_buffers_counts_packets)
{
  GstElement *pipeline, *src, *sink;
  GstMessage *message;
  GstBus *bus;

  if (no_tun ("num_buffers_counts_packets"))
    return;
  pipeline = gst_pipeline_new (NULL);
  src = make ("tunsrc", "ifname", "wl0", "address", "10.9.0.1/24",
      "num-buffers", 7, NULL);
  sink = make ("fakesink", "sync", FALSE, "async", FALSE, NULL);
  gst_bin_add_many (GST_BIN (pipeline), src, sink, NULL);
  gst_element_link (src, sink);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  send_udp ("10.9.0.2", 100, 20);
  play (pipeline);
  bus = gst_element_get_bus (pipeline);
  message = gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_EOS);
  fail_unless (message != NULL);
  gst_message_unref (message);
  gst_object_unref (bus);
  fail_unless_equals_uint64 (stat_of (src, "packets"), 7);
  end (pipeline);
}

GST_END_TEST;

GST_START_TEST (device_sends_no_packet_of_its_own)
{
  const gchar *const addresses[] = { NULL, "10.9.0.1/24", "fd09::1/64" };
  GstHarness *harness;
  GstElement *src;

  if (no_tun ("device_sends_no_packet_of_its_own"))
    return;
  src = make ("tunsrc", "address", addresses[__i__], NULL);
  harness = gst_harness_new_with_element (src, NULL, "src");
  gst_harness_play (harness);
  g_usleep (SILENCE);
  fail_unless_equals_uint64 (stat_of (src, "packets"), 0);
  gst_harness_teardown (harness);
  gst_object_unref (src);
}

GST_END_TEST;

/* The source is stopped while it waits for a packet. This wait must end. If it
 * did not, the test would run into the timeout of the suite. */
GST_START_TEST (waiting_ends)
{
  GstHarness *harness;
  GstElement *src;

  if (no_tun ("waiting_ends"))
    return;
  harness = make_src_harness (&src);
  gst_harness_play (harness);
  g_usleep (50 * G_TIME_SPAN_MILLISECOND);
  gst_harness_teardown (harness);
  gst_object_unref (src);
  fail_if (exists ("wl0"));
}

GST_END_TEST;

/* If a source returns a buffer list while it is being stopped, GstBaseSrc calls
 * unref on NULL. This call prints a critical message, which ends the test.
 * tunsrc must therefore not return a list while it is being stopped.
 *
 * tunsrc makes a list only if at least two packets arrive together. This does
 * not always happen, so the test makes several attempts. In each attempt, the
 * pipeline pauses while tunsrc waits for a packet, and then many packets are
 * sent. If the machine is busy, the pipeline sometimes pauses before tunsrc has
 * begun to wait. tunsrc then reads nothing while the pipeline is paused, and
 * the attempt ends after 100 ms. */
GST_START_TEST (source_stops_with_a_list_in_hand)
{
  GstElement *pipeline, *src, *sink;
  guint i, n_read = 0;

  if (no_tun ("source_stops_with_a_list_in_hand"))
    return;
  pipeline = gst_pipeline_new (NULL);
  src = make ("tunsrc", "ifname", "wl0", "address", "10.9.0.1/24", NULL);
  sink = make ("fakesink", "sync", FALSE, "async", FALSE, NULL);
  gst_bin_add_many (GST_BIN (pipeline), src, sink, NULL);
  gst_element_link (src, sink);
  for (i = 0; i < 20; i++) {
    gint64 end_time;

    play (pipeline);
    send_udp ("10.9.0.2", 10, 1);
    while (stat_of (src, "packets") < 1)
      g_usleep (100);
    /* Gives the source some time, so that it is probably waiting for the next
     * packet when the pipeline pauses. */
    g_usleep (1000);
    gst_element_set_state (pipeline, GST_STATE_PAUSED);
    send_udp ("10.9.0.2", 10, 64);
    end_time = g_get_monotonic_time () + 100 * G_TIME_SPAN_MILLISECOND;
    while (stat_of (src, "packets") < 2 && g_get_monotonic_time () < end_time)
      g_usleep (100);
    n_read += stat_of (src, "packets") >= 2;
    gst_element_set_state (pipeline, GST_STATE_READY);
  }
  if (n_read == 0)
    g_print ("  the source never waited for a packet: nothing was tested\n");
  end (pipeline);
}

GST_END_TEST;

GST_START_TEST (source_is_live)
{
  GstClockTime min, max;
  GstHarness *harness;
  GstElement *src;
  GstQuery *query;
  gboolean live;

  if (no_tun ("source_is_live"))
    return;
  harness = make_src_harness (&src);
  gst_harness_play (harness);
  query = gst_query_new_latency ();
  fail_unless (gst_element_query (src, query));
  gst_query_parse_latency (query, &live, &min, &max);
  fail_unless (live);
  fail_unless_equals_uint64 (min, 0);
  gst_query_unref (query);
  gst_harness_teardown (harness);
  gst_object_unref (src);
}

GST_END_TEST;

/* While the device is down, the source must wait for it. It must not stop: when
 * the device is up again, the next packet must arrive. */
GST_START_TEST (source_waits_while_the_device_is_down)
{
  GstHarness *harness;
  GstElement *src;
  GstBuffer *buffer;

  if (no_tun ("source_waits_while_the_device_is_down"))
    return;
  harness = make_src_harness (&src);
  gst_harness_play (harness);
  set_flags ("wl0", FALSE);
  g_usleep (50 * G_TIME_SPAN_MILLISECOND);
  set_flags ("wl0", TRUE);
  send_udp ("10.9.0.2", 10, 1);
  buffer = gst_harness_pull (harness);
  fail_unless_udp (buffer, 10);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  gst_object_unref (src);
}

GST_END_TEST;

static Suite *
tun_suite (void)
{
  Suite *suite = suite_create ("tun");
  TCase *tc;

  tc = tcase_create ("address");
  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, address_is_read_as_it_is_written, 0,
      G_N_ELEMENTS (good_addresses));
  tcase_add_test (tc, the_error_domain_has_no_spaces);
  tcase_add_test (tc, addresses_are_separated_by_commas);
  tcase_add_loop_test (tc, bad_address_is_named, 0,
      G_N_ELEMENTS (bad_addresses));

  tc = tcase_create ("without a device");
  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, start_fails_with_the_reason, 0,
      G_N_ELEMENTS (start_errors));
  tcase_add_test (tc, properties_of_the_device_change_before_it_is_open);
  tcase_add_test (tc, elements_of_a_pipeline_share_their_table);
  tcase_add_test (tc, neighbours_share_their_table);

  tc = tcase_create ("sharing");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, device_is_there_from_paused_to_ready);
  tcase_add_test (tc, pattern_gives_both_the_same_device);
  tcase_add_test (tc, another_pipeline_finds_it_busy);
  tcase_add_test (tc, another_pipeline_with_the_context_shares_it);
  tcase_add_loop_test (tc, contradiction_names_both, 0, 2);
  tcase_add_test (tc, only_one_reads_a_device);
  tcase_add_test (tc, settings_of_both_are_met);
  tcase_add_test (tc, ipv6_needs_its_mtu);
  tcase_add_test (tc, kernel_says_why_it_refuses_an_address);
  tcase_add_test (tc, inherited_descriptor_is_enough);
  tcase_add_loop_test (tc, descriptor_of_another_kind_is_refused, 0, 2);

  tc = tcase_create ("tunsink");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, refused_packets_are_counted_by_reason);
  tcase_add_test (tc, warnings_are_few);
  tcase_add_test (tc, list_is_written_packet_by_packet);
  tcase_add_loop_test (tc, sockets_receive_the_same_with_and_without_gro, 0, 2);
  tcase_add_test (tc, merged_packets_are_counted_by_reason);
  tcase_add_test (tc, source_shares_a_device_with_gro);
  tcase_add_test (tc, pools_may_have_their_buffers_back);

  tc = tcase_create ("tunsrc");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, packets_come_one_per_buffer);
  tcase_add_test (tc, packets_that_wait_come_as_lists);
  tcase_add_test (tc, packets_that_find_the_queue_full_are_counted);
  tcase_add_test (tc, packets_of_any_size_come_whole);
  tcase_add_test (tc, num_buffers_counts_packets);
  tcase_add_loop_test (tc, device_sends_no_packet_of_its_own, 0, 3);
  tcase_add_test (tc, waiting_ends);
  tcase_add_test (tc, source_stops_with_a_list_in_hand);
  tcase_add_test (tc, source_is_live);
  tcase_add_test (tc, source_waits_while_the_device_is_down);

  return suite;
}

GST_CHECK_MAIN (tun);
