/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-tunsink
 * @title: tunsink
 * @short_description: Passes IP packets to the kernel through a TUN device
 *
 * Writes each buffer as one IP packet to a TUN device. The kernel receives the
 * packet as it would receive one from a network card, and verifies its
 * checksums. A packet that the element wirelesslink has damaged upstream is
 * therefore treated like any other damaged packet.
 *
 * Packets are written immediately (#GstBaseSink:sync is %FALSE), and the
 * pipeline does not wait for a first packet (#GstBaseSink:async is %FALSE). If
 * packets have to be written at their timestamps, put the element wirelesslink
 * or the element clocksync upstream. If the kernel refuses a packet, the packet
 * is counted by the reason of the refusal, a warning is posted, and the stream
 * continues.
 *
 * The documentation of tunsrc describes the device. It also describes how a
 * tunsink shares the device with a tunsrc.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 tunsrc netns=a ifname=wl0 address=10.9.0.1/24 ! wirelesslink profile=80211b ! tunsink netns=b ifname=wl0 address=10.9.0.2/24
 * ]| Emulates a radio link from namespace a to namespace b, without a return
 * path.
 *
 * Since: 0.1
 */

#include <gst/gst.h>
#include <gst/base/gstbasesink.h>

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/virtio_net.h>

#include "gsttunport.h"
#include "gstwarninglimit.h"
#include "gstwirelessproperties.h"
#include "tunmerge.h"

#define GST_TYPE_TUN_SINK (gst_tun_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstTunSink, gst_tun_sink, GST, TUN_SINK, GstBaseSink);
GST_ELEMENT_REGISTER_DECLARE (tunsink);

GST_DEBUG_CATEGORY_STATIC (gst_tun_sink_debug);
#define GST_CAT_DEFAULT gst_tun_sink_debug

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
/* Linux 6.2 and later */
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif
/* Offset of the checksum in the UDP header (RFC 768) */
#define UDP_CHECKSUM 6
#define UDP_SIZE 8

/* reasons why a packet was not written to the device */
typedef enum
{
  REFUSED_NOT_IP,
  REFUSED_TOO_BIG,
  REFUSED_DEVICE_DOWN,
  REFUSED_NO_BUFFER,
  REFUSED_OTHER,
  REFUSED_LAST
} Refusal;

static const struct
{
  const gchar *name;            /* name of the counter in the property stats */
  const gchar *text;
  /* what the user can do; NULL = gst_tun_sink_get_remedy makes the text */
  const gchar *remedy;
} refusals[REFUSED_LAST] = {
  {"not-ip", "is neither IPv4 nor IPv6", "Put only IP packets upstream"},
  {"too-big", "is larger than the mtu",
      "Raise mtu, or lower the mtu of the payloader"},
  {"device-down", "was not accepted, because the device is down", NULL},
  {"no-buffer", "was not accepted, because the kernel has no memory",
      "Lower the bitrate"},
  {"other", "was refused by the kernel",
      "Check the device with \"ip link\""},
};

struct _GstTunSink
{
  GstBaseSink parent;

  GstTunPort port;

  /* protected by OBJECT_LOCK */
  guint64 packets, bytes;
  guint64 refused[REFUSED_LAST];

  /* The following fields are used by the streaming thread only. */
  /* MTU of the device in bytes, as it was last read from the kernel; 0 =
   * unknown */
  guint mtu;
  /* TRUE if consecutive packets are merged and written as one packet */
  gboolean merges;
  /* limits the warnings, for each reason why a packet is refused */
  GstWarningLimit warnings[REFUSED_LAST];
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_TUN_CAPS));

#define gst_tun_sink_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstTunSink, gst_tun_sink, GST_TYPE_BASE_SINK,
    GST_DEBUG_CATEGORY_INIT (gst_tun_sink_debug, "tunsink", 0,
        "Packets to a TUN device"));
GST_ELEMENT_REGISTER_DEFINE (tunsink, "tunsink", GST_RANK_NONE,
    GST_TYPE_TUN_SINK);

/* --- start and stop ------------------------------------------------------ */

static void
gst_tun_sink_choose_merging (GstTunSink * self)
{
  gboolean wanted;

  GST_OBJECT_LOCK (self);
  wanted = self->port.gro;
  GST_OBJECT_UNLOCK (self);
  self->merges = wanted && self->port.device->vnet_header;
  if (wanted && !self->merges)
    GST_WARNING_OBJECT (self, "gro has no effect: the device %s was opened "
        "without IFF_VNET_HDR", self->port.device->name);
}

static gboolean
gst_tun_sink_open (GstTunSink * self)
{
  guint i;

  GST_OBJECT_LOCK (self);
  self->packets = self->bytes = 0;
  for (i = 0; i < REFUSED_LAST; i++)
    self->refused[i] = 0;
  GST_OBJECT_UNLOCK (self);
  for (i = 0; i < REFUSED_LAST; i++)
    gst_warning_limit_reset (&self->warnings[i]);

  if (!gst_tun_port_open (&self->port, GST_BASE_SINK_PAD (self)))
    return FALSE;
  self->mtu = tun_device_get_mtu (self->port.device);
  gst_tun_sink_choose_merging (self);
  return TRUE;
}

/* The device is opened in the change to PAUSED, as in tunsrc, so that
 * properties can still be changed in READY. The start function of GstBaseSink
 * is not used for this, because it is called in the change to READY. */
static GstStateChangeReturn
gst_tun_sink_change_state (GstElement * element, GstStateChange transition)
{
  GstTunSink *self = GST_TUN_SINK (element);
  GstStateChangeReturn done;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED
      && !gst_tun_sink_open (self))
    return GST_STATE_CHANGE_FAILURE;

  done = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED
          && done == GST_STATE_CHANGE_FAILURE))
    gst_tun_port_close (&self->port);
  return done;
}

/* --- packets that are not written ---------------------------------------- */

static guint64
gst_tun_sink_count_refusal (GstTunSink * self, Refusal refusal)
{
  guint64 count;

  GST_OBJECT_LOCK (self);
  count = ++self->refused[refusal];
  GST_OBJECT_UNLOCK (self);
  return count;
}

/* Returns what the user can do so that packets are no longer refused. */
static gchar *
gst_tun_sink_get_remedy (GstTunSink * self, Refusal refusal)
{
  if (refusal == REFUSED_DEVICE_DOWN)
    return g_strdup_printf ("Run \"ip link set %s up\"",
        self->port.device->name);
  return g_strdup (refusals[refusal].remedy);
}

static void
gst_tun_sink_refuse (GstTunSink * self, GstBuffer * buffer, Refusal refusal,
    gint error_number)
{
  guint64 count = gst_tun_sink_count_refusal (self, refusal);
  gchar *remedy;

  GST_DEBUG_OBJECT (self, "refused (%s, %s): %" GST_PTR_FORMAT,
      refusals[refusal].name, g_strerror (error_number), buffer);
  if (!gst_warning_limit_allow (&self->warnings[refusal]))
    return;
  remedy = gst_tun_sink_get_remedy (self, refusal);
  GST_ELEMENT_WARNING (self, RESOURCE, WRITE,
      ("A packet of %" G_GSIZE_FORMAT " bytes for the TUN device %s %s: %s "
          "(errno %d); %" G_GUINT64_FORMAT " so far. %s.",
          gst_buffer_get_size (buffer), self->port.device->name,
          refusals[refusal].text, g_strerror (error_number), error_number,
          count, remedy),
      ("The mtu is %u. There is at most one such warning in 10 s.", self->mtu));
  g_free (remedy);
}

static Refusal
refusal_of (gint error_number)
{
  switch (error_number) {
    case EINVAL:
      return REFUSED_NOT_IP;
    case EIO:
      return REFUSED_DEVICE_DOWN;
    case ENOMEM:
    case ENOBUFS:
    case EAGAIN:
      return REFUSED_NO_BUFFER;
    default:
      return REFUSED_OTHER;
  }
}

/* --- processing of a packet ----------------------------------------------- */

/* Returns whether a packet of `size` bytes exceeds the MTU of the device. The
 * kernel accepts packets of any size from a TUN device, but a network card
 * would not receive such a packet. If the packet seems too big, the MTU is read
 * again, because another program may have changed it. */
static gboolean
gst_tun_sink_is_too_big (GstTunSink * self, gsize size)
{
  if (G_LIKELY (size <= self->mtu))
    return FALSE;
  self->mtu = tun_device_get_mtu (self->port.device);
  return self->mtu > 0 && size > self->mtu;
}

/* Writes a packet that consists of several parts. Returns 0, or errno on
 * failure. */
static gint
gst_tun_sink_write_parts (GstTunSink * self, const struct iovec *parts, guint n)
{
  gssize written;

  do
    written = writev (self->port.device->fd, parts, n);
  while (written < 0 && errno == EINTR);

  return written < 0 ? errno : 0;
}

/* Writes a single packet to the TUN device. Returns 0, or errno on failure. */
static gint
gst_tun_sink_write (GstTunSink * self, const guint8 * data, gsize size)
{
  static guint8 no_offload[TUN_VNET_HEADER];
  struct iovec parts[] = { {no_offload, sizeof (no_offload)},
  {(guint8 *) data, size}
  };
  gssize written;

  if (self->port.device->vnet_header)
    return gst_tun_sink_write_parts (self, parts, G_N_ELEMENTS (parts));
  do
    written = write (self->port.device->fd, data, size);
  while (written < 0 && errno == EINTR);

  return written < 0 ? errno : 0;
}

static void
gst_tun_sink_count (GstTunSink * self, guint packets, gsize bytes)
{
  GST_OBJECT_LOCK (self);
  self->packets += packets;
  self->bytes += bytes;
  GST_OBJECT_UNLOCK (self);
}

static GstFlowReturn
gst_tun_sink_device_is_gone (GstTunSink * self, gint error_number)
{
  GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
      ("The TUN device %s was deleted by another program. Start the pipeline "
          "again.", self->port.device->name),
      ("write: %s (errno %d)", g_strerror (error_number), error_number));
  return GST_FLOW_ERROR;
}

static GstFlowReturn
gst_tun_sink_render (GstBaseSink * sink, GstBuffer * buffer)
{
  GstTunSink *self = GST_TUN_SINK (sink);
  GstMapInfo map;
  gsize size;
  gint error_number;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("Could not read a packet of %" G_GSIZE_FORMAT " bytes: its memory "
            "cannot be mapped. Use an upstream element that allocates system "
            "memory.", gst_buffer_get_size (buffer)), (NULL));
    return GST_FLOW_ERROR;
  }
  size = map.size;
  if (size == 0)
    error_number = EINVAL;
  else if (gst_tun_sink_is_too_big (self, size))
    error_number = EMSGSIZE;
  else
    error_number = gst_tun_sink_write (self, map.data, size);
  gst_buffer_unmap (buffer, &map);

  if (G_LIKELY (error_number == 0))
    gst_tun_sink_count (self, 1, size);
  else if (error_number == EBADFD)
    return gst_tun_sink_device_is_gone (self, error_number);
  else
    gst_tun_sink_refuse (self, buffer, error_number == EMSGSIZE ?
        REFUSED_TOO_BIG : refusal_of (error_number), error_number);
  return GST_FLOW_OK;
}

/* --- several packets in one (gro) ----------------------------------------- */

/* A run is a sequence of consecutive buffers of a buffer list. Their packets
 * are merged and written to the device as one packet. */
typedef struct
{
  TunMerge merge;
  guint n;                      /* number of mapped buffers */
  GstBuffer *buffers[TUN_MERGE_MAX_PACKETS];
  GstMapInfo maps[TUN_MERGE_MAX_PACKETS];
} Run;

/* Maps the buffer and adds it to the run, which is a sequence of buffers that
 * are written as one packet. Returns FALSE if the buffer cannot be mapped or
 * added. */
static gboolean
gst_tun_sink_add_to_run (GstTunSink * self, Run * run, GstBuffer * buffer)
{
  GstMapInfo *map = &run->maps[run->n];

  if (run->n == TUN_MERGE_MAX_PACKETS
      || !gst_buffer_map (buffer, map, GST_MAP_READ))
    return FALSE;
  if (gst_tun_sink_is_too_big (self, map->size)
      || !(run->n == 0 ? tun_merge_begin (&run->merge, map->data, map->size) :
          tun_merge_add (&run->merge, map->data, map->size))) {
    gst_buffer_unmap (buffer, map);
    return FALSE;
  }
  run->buffers[run->n++] = buffer;
  return TRUE;
}

/* Collects the next run in `run`. A run is a sequence of consecutive buffers of
 * the list whose packets are written as one merged packet. It begins with the
 * buffer at the index `first`, and ends before the first buffer that cannot be
 * merged with the buffers before it. */
static void
gst_tun_sink_begin_run (GstTunSink * self, Run * run, GstBufferList * list,
    guint first)
{
  guint length = gst_buffer_list_length (list);

  run->n = 0;
  while (first + run->n < length && gst_tun_sink_add_to_run (self, run,
          gst_buffer_list_get (list, first + run->n)))
    continue;
}

static void
run_end (Run * run)
{
  guint i;

  for (i = 0; i < run->n; i++)
    gst_buffer_unmap (run->buffers[i], &run->maps[i]);
}

/* Writes the packets in `run` as one merged packet. Returns 0, or errno on
 * failure. */
static gint
gst_tun_sink_write_run (GstTunSink * self, const Run * run)
{
  gsize skip = run->merge.header_size;
  guint8 header[TUN_MERGE_MAX_HEADER];
  struct virtio_net_hdr offload = {
    .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
    .gso_type = VIRTIO_NET_HDR_GSO_UDP_L4,
    .hdr_len = skip,
    .gso_size = run->merge.segment_size,
    .csum_start = skip - UDP_SIZE,
    .csum_offset = UDP_CHECKSUM,
  };
  struct iovec parts[2 + TUN_MERGE_MAX_PACKETS] = { {&offload, TUN_VNET_HEADER},
  {header, skip}
  };
  guint i;

  tun_merge_write_header (&run->merge, header);
  for (i = 0; i < run->n; i++) {
    parts[2 + i].iov_base = run->maps[i].data + skip;
    parts[2 + i].iov_len = run->maps[i].size - skip;
  }
  return gst_tun_sink_write_parts (self, parts, 2 + run->n);
}

/* Tries to write the packets in `run` as one merged packet, and returns whether
 * this succeeded. If it did not, the caller writes each packet by itself,
 * because the kernel may refuse only some of them, each for its own reason. */
static gboolean
gst_tun_sink_render_run (GstTunSink * self, const Run * run)
{
  const TunMerge *merge = &run->merge;
  gint error_number;

  if (run->n < 2)
    return FALSE;
  error_number = gst_tun_sink_write_run (self, run);
  if (error_number == 0) {
    gst_tun_sink_count (self, run->n,
        run->n * merge->header_size + merge->payload_size);
    return TRUE;
  }
  if (error_number == EINVAL) {
    GST_DEBUG_OBJECT (self, "the kernel does not accept merged packets (Linux "
        "before 6.2); each packet is written by itself");
    self->merges = FALSE;
  }
  return FALSE;
}

static GstFlowReturn
gst_tun_sink_render_range (GstTunSink * self, GstBufferList * list,
    guint first, guint n)
{
  GstFlowReturn flow = GST_FLOW_OK;
  guint i;

  for (i = first; i < first + n && flow == GST_FLOW_OK; i++)
    flow = gst_tun_sink_render (GST_BASE_SINK_CAST (self),
        gst_buffer_list_get (list, i));
  return flow;
}

static GstFlowReturn
gst_tun_sink_render_list (GstBaseSink * sink, GstBufferList * list)
{
  GstTunSink *self = GST_TUN_SINK (sink);
  guint length = gst_buffer_list_length (list), i, n;
  GstFlowReturn flow = GST_FLOW_OK;
  gboolean written;
  Run run;

  for (i = 0; self->merges && i < length && flow == GST_FLOW_OK; i += n) {
    gst_tun_sink_begin_run (self, &run, list, i);
    written = gst_tun_sink_render_run (self, &run);
    run_end (&run);
    n = MAX (run.n, 1);
    if (!written)
      flow = gst_tun_sink_render_range (self, list, i, n);
  }
  if (flow != GST_FLOW_OK)
    return flow;
  return gst_tun_sink_render_range (self, list, i, length - i);
}

/* --- queries, statistics and class ---------------------------------------- */

static gboolean
gst_tun_sink_query (GstBaseSink * sink, GstQuery * query)
{
  return gst_tun_port_answer (&GST_TUN_SINK (sink)->port, query)
      || GST_BASE_SINK_CLASS (parent_class)->query (sink, query);
}

static GstStructure *
gst_tun_sink_create_stats (GstElement * element)
{
  GstTunSink *self = GST_TUN_SINK (element);
  GstStructure *stats;
  guint i;

  GST_OBJECT_LOCK (self);
  stats = gst_structure_new ("application/x-tunsink-stats",
      "packets", G_TYPE_UINT64, self->packets,
      "bytes", G_TYPE_UINT64, self->bytes, NULL);
  for (i = 0; i < REFUSED_LAST; i++)
    gst_structure_set (stats, refusals[i].name, G_TYPE_UINT64,
        self->refused[i], NULL);
  GST_OBJECT_UNLOCK (self);
  return stats;
}

#define PROPERTY_STRUCT GstTunSink
static const GstWirelessProperty properties[] = {
  /**
   * GstTunSink:gro:
   *
   * If this is TRUE, consecutive UDP packets of a buffer list are merged, as a
   * network card with generic receive offload does. They are merged only if
   * they belong to one stream, are undamaged and have the same size; only the
   * last of them may be shorter. Sockets receive the same datagrams as without
   * merging, but a capture shows the merged packets.
   *
   * Merging needs Linux 6.2. With an older kernel, each packet is written by
   * itself. The property has no effect with #GstTunSink:fd, or if an element
   * with `gro=false` opened the device first.
   */
  PROPERTY_BOOLEAN ("gro", "GRO",
      "Whether UDP packets of one stream that leave the link together are "
      "passed to the kernel as one (generic receive offload), which takes less "
      "CPU time", PROPERTY_READY, port.gro, FALSE),

  /**
   * GstTunSink:stats:
   *
   * A #GstStructure named `application/x-tunsink-stats`. All fields are
   * #guint64. They are 0 when the element starts, never decrease, and can be
   * read until the element starts again:
   *
   * * `packets`: number of packets that were written
   * * `bytes`: size of these packets, IP headers included
   *
   * The other fields count refused packets by the reason of the refusal:
   *
   * * `not-ip`: the first four bits of the packet are neither 4 nor 6
   * * `too-big`: the packet is larger than the MTU of the device
   * * `device-down`: the device was down
   * * `no-buffer`: the kernel had no memory for the packet
   * * `other`: the kernel refused the packet for another reason
   */
  PROPERTY_STATS ("Packets and bytes that were written, and packets that were "
      "refused, by reason, since the element started",
      gst_tun_sink_create_stats),
};

static void
gst_tun_sink_finalize (GObject * object)
{
  gst_tun_port_clear (&GST_TUN_SINK (object)->port);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_tun_sink_init (GstTunSink * self)
{
  gst_tun_port_init (&self->port, GST_ELEMENT_CAST (self), FALSE);
  gst_base_sink_set_sync (GST_BASE_SINK_CAST (self), FALSE);
  gst_base_sink_set_async_enabled (GST_BASE_SINK_CAST (self), FALSE);
  gst_base_sink_set_last_sample_enabled (GST_BASE_SINK_CAST (self), FALSE);
}

static void
gst_tun_sink_class_init (GstTunSinkClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);

  object_class->finalize = gst_tun_sink_finalize;
  element_class->change_state = gst_tun_sink_change_state;
  sink_class->render = gst_tun_sink_render;
  sink_class->render_list = gst_tun_sink_render_list;
  sink_class->query = gst_tun_sink_query;

  gst_tun_port_install_properties (object_class,
      G_STRUCT_OFFSET (GstTunSink, port));
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, GST_WIRELESS_OBJECT_LOCK);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class,
      "TUN sink", "Sink/Network",
      "Gives IP packets to a Linux TUN device, as if they had arrived there",
      "The gst-plugins-wireless authors");
}
