/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-tunsrc
 * @title: tunsrc
 * @short_description: Receives IP packets from the kernel through a TUN device
 *
 * Reads the packets that the kernel sends to a TUN device. Each IP packet
 * becomes one buffer. If the elements wirelesslink and tunsink are downstream,
 * the pipeline emulates a link between two TUN devices. Programs that do not
 * use GStreamer can then communicate over this link with the kernel's TCP, UDP
 * and UDP-Lite.
 *
 * The device is created, or opened if it exists, in the network namespace
 * #GstTunSrc:netns when the element changes from READY to PAUSED. A device that
 * is not persistent is removed when the element changes back to READY or when
 * the process ends. A tunsrc and a tunsink of one pipeline with the same
 * #GstTunSrc:netns and #GstTunSrc:ifname share one device. The addresses, the
 * MTU and the queue length that one of these elements sets apply to both.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 tunsrc netns=a ifname=wl0 address=10.9.0.1/24 ! tunsink netns=b ifname=wl0 address=10.9.0.2/24 tunsrc netns=b ifname=wl0 ! tunsink netns=a ifname=wl0
 * ]| Connects the namespaces a and b like a cable, so that
 * `ip netns exec a ping 10.9.0.2` works.
 *
 * Since: 0.1
 */

#include <gst/gst.h>
#include <gst/base/gstpushsrc.h>

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "gstlivesource.h"
#include "gsttunport.h"
#include "gstwronginput.h"
#include "gstwirelessproperties.h"

#define GST_TYPE_TUN_SRC (gst_tun_src_get_type ())
G_DECLARE_FINAL_TYPE (GstTunSrc, gst_tun_src, GST, TUN_SRC, GstPushSrc);
GST_ELEMENT_REGISTER_DECLARE (tunsrc);

GST_DEBUG_CATEGORY_STATIC (gst_tun_src_debug);
#define GST_CAT_DEFAULT gst_tun_src_debug

/* maximum length of a buffer list */
#define MAX_BATCH 64

struct _GstTunSrc
{
  GstPushSrc parent;

  GstTunPort port;

  /* protected by OBJECT_LOCK */
  guint64 packets, bytes, lists;
  /* The kernel's counter of dropped packets when it was last read */
  guint64 dropped;
  /* The kernel's counter of dropped packets when this element opened the
   * device. It is subtracted, so that the statistics count only later drops. */
  guint64 dropped_before;

  GstLiveFlush flush;           /* has its own lock */
  GstPoll *poll;                /* has its own lock */
  /* file descriptor of the TUN device; `poll` watches it while the element is
   * started */
  GstPollFD poll_fd;
  /* buffer of TUN_MAX_PACKET bytes into which packets are read; used by the
   * streaming thread */
  guint8 *scratch;
};

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_TUN_CAPS));

#define gst_tun_src_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstTunSrc, gst_tun_src, GST_TYPE_PUSH_SRC,
    GST_DEBUG_CATEGORY_INIT (gst_tun_src_debug, "tunsrc", 0,
        "Packets from a TUN device"));
GST_ELEMENT_REGISTER_DEFINE (tunsrc, "tunsrc", GST_RANK_NONE, GST_TYPE_TUN_SRC);

/* --- start and stop ------------------------------------------------------ */

static void
gst_tun_src_update_dropped (GstTunSrc * self)
{
  guint64 dropped = gst_tun_port_get_dropped (&self->port);

  GST_OBJECT_LOCK (self);
  if (dropped > self->dropped_before)
    self->dropped = MAX (self->dropped, dropped - self->dropped_before);
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_tun_src_stop (GstBaseSrc * src)
{
  GstTunSrc *self = GST_TUN_SRC (src);

  gst_poll_remove_fd (self->poll, &self->poll_fd);
  g_clear_pointer (&self->scratch, g_free);
  gst_tun_src_update_dropped (self);
  gst_tun_port_close (&self->port);
  return TRUE;
}

static gboolean
gst_tun_src_start (GstBaseSrc * src)
{
  GstTunSrc *self = GST_TUN_SRC (src);

  guint64 dropped;

  if (!gst_tun_port_open (&self->port, GST_BASE_SRC_PAD (src)))
    return FALSE;

  dropped = gst_tun_port_get_dropped (&self->port);
  GST_OBJECT_LOCK (self);
  self->packets = self->bytes = self->lists = self->dropped = 0;
  self->dropped_before = dropped;
  GST_OBJECT_UNLOCK (self);

  gst_poll_fd_init (&self->poll_fd);
  self->poll_fd.fd = self->port.device->fd;
  gst_poll_add_fd (self->poll, &self->poll_fd);
  gst_poll_fd_ctl_read (self->poll, &self->poll_fd, TRUE);
  self->scratch = g_malloc (TUN_MAX_PACKET);
  return TRUE;
}

static void
gst_tun_src_set_flushing (GstBaseSrc * src, gboolean flushing)
{
  gst_poll_set_flushing (GST_TUN_SRC (src)->poll, flushing);
}

static gboolean
gst_tun_src_unlock (GstBaseSrc * src)
{
  gst_live_flush_unlock (&GST_TUN_SRC (src)->flush);
  return TRUE;
}

static gboolean
gst_tun_src_unlock_stop (GstBaseSrc * src)
{
  gst_live_flush_unlock_stop (&GST_TUN_SRC (src)->flush);
  return TRUE;
}

static GstStateChangeReturn
gst_tun_src_change_state (GstElement * element, GstStateChange transition)
{
  return gst_live_flush_change_state (&GST_TUN_SRC (element)->flush,
      GST_ELEMENT_CLASS (parent_class), transition);
}

/* --- processing of a packet ----------------------------------------------- */

/* Reads a packet and the header in front of it, and discards the header. The
 * header contains no information, because the device has no offloads. */
static gssize
gst_tun_src_read_with_header (GstTunSrc * self)
{
  guint8 header[TUN_VNET_HEADER];
  struct iovec parts[] = { {header, sizeof (header)},
  {self->scratch, TUN_MAX_PACKET}
  };
  gssize size = readv (self->port.device->fd, parts, G_N_ELEMENTS (parts));

  return size < 0 ? size : size - (gssize) sizeof (header);
}

/* Reads the next packet from the TUN device into self->scratch. Returns its
 * size in bytes, 0 if no packet is waiting, or -1 with errno set on failure. */
static gssize
gst_tun_src_read_packet (GstTunSrc * self)
{
  gssize size;

  do
    size = self->port.device->vnet_header ?
        gst_tun_src_read_with_header (self) :
        read (self->port.device->fd, self->scratch, TUN_MAX_PACKET);
  while (size < 0 && errno == EINTR);

  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    return 0;
  return size;
}

/* Copies the packet into a new buffer that has only the size of the packet. A
 * buffer of the size of the MTU would waste memory: queues downstream hold many
 * packets, and most packets are far smaller than the MTU. */
static GstBuffer *
gst_tun_src_make_buffer (GstTunSrc * self, gsize size, GstClockTime time)
{
  GstBuffer *buffer = gst_buffer_new_memdup (self->scratch, size);

  GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) = time;
  return buffer;
}

static void
gst_tun_src_count (GstTunSrc * self, guint packets, gsize bytes)
{
  GST_OBJECT_LOCK (self);
  self->packets += packets;
  self->bytes += bytes;
  self->lists += packets > 0;
  GST_OBJECT_UNLOCK (self);
}

static GstFlowReturn
gst_tun_src_read_error (GstTunSrc * self, gint error_number)
{
  const gchar *name = self->port.device->name;

  if (error_number == EBADFD)
    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("The TUN device %s was deleted by another program. Start the pipeline "
            "again.", name),
        ("read: %s (errno %d)", g_strerror (error_number), error_number));
  else
    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("Could not read from the TUN device %s: %s (errno %d). Start the "
            "pipeline again.", name, g_strerror (error_number), error_number),
        (NULL));
  return GST_FLOW_ERROR;
}

/* Reads the packets that wait in the device, but not more than a buffer list
 * may contain. Sets `n` to the number of packets that were read, or to 0 if no
 * packet is waiting. */
static GstFlowReturn
gst_tun_src_read_batch (GstTunSrc * self, GstBuffer ** buffers, guint * n)
{
  guint batch = gst_live_list_get_max (GST_BASE_SRC_CAST (self), MAX_BATCH);
  GstClockTime time = gst_live_list_get_time (GST_BASE_SRC_CAST (self));
  gsize bytes = 0;
  gssize size = 0;

  for (*n = 0; *n < batch; (*n)++) {
    size = gst_tun_src_read_packet (self);
    if (size <= 0)
      break;
    bytes += size;
    buffers[*n] = gst_tun_src_make_buffer (self, size, time);
  }
  gst_tun_src_count (self, *n, bytes);
  /* If an error occurs after some packets were read, these packets are pushed
   * first. The error is reported by the next call of this function. */
  if (size < 0 && *n == 0)
    return gst_tun_src_read_error (self, errno);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_tun_src_wait (GstTunSrc * self)
{
  while (gst_poll_wait (self->poll, GST_CLOCK_TIME_NONE) < 0) {
    if (errno == EBUSY)
      return GST_FLOW_FLUSHING;
    if (errno != EINTR && errno != EAGAIN)
      return gst_tun_src_read_error (self, errno);
  }
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_tun_src_create (GstPushSrc * src, GstBuffer ** buffer)
{
  GstTunSrc *self = GST_TUN_SRC (src);
  GstBuffer *buffers[MAX_BATCH];
  GstFlowReturn flow;
  guint n;

  gst_live_flush_begin_create (&self->flush);
  do {
    flow = gst_tun_src_read_batch (self, buffers, &n);
    if (flow == GST_FLOW_OK && n == 0)
      flow = gst_tun_src_wait (self);
  } while (flow == GST_FLOW_OK && n == 0);

  if (flow != GST_FLOW_OK)
    return flow;
  return gst_live_list_submit (&self->flush, buffers, n, buffer);
}

/* --- queries, statistics and class ---------------------------------------- */

static gboolean
gst_tun_src_is_seekable (GstBaseSrc * src)
{
  return FALSE;
}

static gboolean
gst_tun_src_query (GstBaseSrc * src, GstQuery * query)
{
  return gst_tun_port_answer (&GST_TUN_SRC (src)->port, query)
      || GST_BASE_SRC_CLASS (parent_class)->query (src, query);
}

static GstStructure *
gst_tun_src_create_stats (GstElement * element)
{
  GstTunSrc *self = GST_TUN_SRC (element);
  GstStructure *stats;

  gst_tun_src_update_dropped (self);
  GST_OBJECT_LOCK (self);
  stats = gst_structure_new ("application/x-tunsrc-stats",
      "packets", G_TYPE_UINT64, self->packets,
      "bytes", G_TYPE_UINT64, self->bytes,
      "lists", G_TYPE_UINT64, self->lists,
      "dropped", G_TYPE_UINT64, self->dropped, NULL);
  GST_OBJECT_UNLOCK (self);
  return stats;
}

static const GstWirelessProperty properties[] = {
  /**
   * GstTunSrc:stats:
   *
   * A #GstStructure named `application/x-tunsrc-stats`. All fields are
   * #guint64. They are 0 when the element starts, never decrease, and can be
   * read until the element starts again:
   *
   * * `packets`: number of packets that were read
   * * `bytes`: size of these packets, IP headers included
   * * `lists`: number of batches in which the packets were read; a batch has 1
   *   to 64 packets
   * * `dropped`: packets that the kernel dropped because the queue of the
   *   device was full (#GstTunSrc:txqueuelen); always 0 with #GstTunSrc:fd,
   *   because the number is then unknown
   */
  PROPERTY_STATS ("Packets, bytes and lists that were read, and packets that "
      "found the queue full, since the element started",
      gst_tun_src_create_stats),
};

static void
gst_tun_src_finalize (GObject * object)
{
  GstTunSrc *self = GST_TUN_SRC (object);

  gst_live_flush_clear (&self->flush);
  gst_poll_free (self->poll);
  gst_tun_port_clear (&self->port);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_tun_src_init (GstTunSrc * self)
{
  GstBaseSrc *src = GST_BASE_SRC_CAST (self);

  gst_tun_port_init (&self->port, GST_ELEMENT_CAST (self), TRUE);
  self->poll = gst_poll_new (TRUE);
  gst_live_flush_init (&self->flush, src, gst_tun_src_set_flushing);
  gst_base_src_set_live (src, TRUE);
  gst_base_src_set_format (src, GST_FORMAT_TIME);
  gst_base_src_set_do_timestamp (src, TRUE);
}

static void
gst_tun_src_class_init (GstTunSrcClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);

  object_class->finalize = gst_tun_src_finalize;
  gst_wrong_input_drop_start_error (element_class);
  element_class->change_state = gst_tun_src_change_state;
  src_class->start = gst_tun_src_start;
  src_class->stop = gst_tun_src_stop;
  src_class->unlock = gst_tun_src_unlock;
  src_class->unlock_stop = gst_tun_src_unlock_stop;
  src_class->is_seekable = gst_tun_src_is_seekable;
  src_class->query = gst_tun_src_query;
  GST_PUSH_SRC_CLASS (klass)->create = gst_tun_src_create;

  gst_tun_port_install_properties (object_class,
      G_STRUCT_OFFSET (GstTunSrc, port));
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, GST_WIRELESS_OBJECT_LOCK);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "TUN source", "Source/Network",
      "IP packets that a Linux TUN device sends, one per buffer",
      "The gst-plugins-wireless authors");
}
