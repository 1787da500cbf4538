/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Backend for the UDP-Lite of the kernel, in Linux before 7.1 and in FreeBSD. A
 * socket has one send coverage at a time. Consecutive packets of equal coverage
 * are therefore sent as one batch, and a further system call is needed only
 * when the coverage changes. The kernel does not tell the receiver the coverage
 * of a packet. It also does not tell which packets it discarded.
 */

#include "udplitesocketbackend.h"

#include <errno.h>

#include <sys/socket.h>

#include "socketmessages.h"

static gboolean
set_option (UdpliteSocket * self, gint option, gint value, const gchar * what,
    GError ** error)
{
  if (setsockopt (self->fd, UDPLITE_SOCKET_LEVEL, option, &value,
          sizeof (value)) == 0)
    return TRUE;
  return socket_set_error (error, errno, "could not set the %s to %d", what,
      value);
}

/* Sets the socket option for the minimum coverage of received packets. If
 * `min_coverage` is negative, all packets must be accepted. Linux cannot unset
 * the option once it is set. A negative value therefore sets the option to 8,
 * the minimum coverage of any packet (RFC 3828 section 3.1). The value 0 would
 * make the kernel discard all packets that are not covered completely. */
static gboolean
kernel_set_min_coverage (UdpliteSocket * self, gint min_coverage,
    GError ** error)
{
  return set_option (self, UDPLITE_SOCKET_RECEIVE_COVERAGE,
      min_coverage < 0 ? UDPLITE_HEADER_SIZE : min_coverage,
      "minimum coverage of received packets", error);
}

static void
kernel_free (gpointer data)
{
  UdpliteKernel *kernel = data;

  g_mutex_clear (&kernel->lock);
  g_free (kernel);
}

/* Sets self->kernel, which is the state that all UdpliteSockets of one GSocket
 * share. The first UdpliteSocket of a GSocket creates this state. */
static void
kernel_adopt (UdpliteSocket * self)
{
  const GQuark quark = g_quark_from_static_string ("udplite-kernel");
  GObject *socket = G_OBJECT (datagram_socket_get_socket (self->socket));
  UdpliteKernel *kernel = g_new0 (UdpliteKernel, 1);
  gint coverage = 0;
  socklen_t size = sizeof (coverage);

  g_mutex_init (&kernel->lock);
  getsockopt (self->fd, UDPLITE_SOCKET_LEVEL, UDPLITE_SOCKET_SEND_COVERAGE,
      &coverage, &size);
  kernel->coverage = coverage;
  if (!g_object_replace_qdata (socket, quark, NULL, kernel, kernel_free, NULL))
    kernel_free (kernel);
  self->kernel = g_object_get_qdata (socket, quark);
}

static gboolean
kernel_create (UdpliteSocket * self, GSocketFamily family, GError ** error)
{
  if (!udplite_socket_take (self, udplite_socket_open (family,
              UDPLITE_PROTOCOL, FALSE, error)))
    return FALSE;
  kernel_adopt (self);
#ifdef __linux__
  return TRUE;
#else
  /* FreeBSD initially accepts only packets that the checksum covers completely
   * (udplite(4)). The following call makes the socket accept all packets, as on
   * Linux. */
  return kernel_set_min_coverage (self, -1, error);
#endif
}

/* Returns whether a packet of `size` bytes can be sent without changing
 * `socket_coverage`, the present send coverage of the socket. `coverage` is the
 * coverage that the packet needs. Both coverages are in bytes, and 0 means the
 * whole packet. If a packet is smaller than the send coverage, the kernel
 * covers it completely. */
static gboolean
fits (guint socket_coverage, guint coverage, gsize size)
{
  if (coverage > 0)
    return socket_coverage == coverage;
  return socket_coverage == 0 || socket_coverage >= size;
}

static gboolean
set_send_coverage (UdpliteSocket * self, guint coverage, GError ** error)
{
  if (!set_option (self, UDPLITE_SOCKET_SEND_COVERAGE, coverage,
          "coverage of sent packets", error))
    return FALSE;
  self->kernel->coverage = coverage;
  return TRUE;
}

static gboolean
output_fits (const UdpliteSocket * self, const UdpliteOutput * output)
{
  return fits (self->kernel->coverage, udplite_output_get_coverage (output),
      udplite_output_get_size (output));
}

/* Sends the packets. Consecutive packets of equal coverage are sent with one
 * system call. The caller holds the lock of `self->kernel`. */
static guint
send_runs (UdpliteSocket * self, const UdpliteOutput * outputs, guint n,
    GError ** error)
{
  Datagram datagrams[DATAGRAM_BATCH];
  guint first = 0, end;

  while (first < n) {
    if (!output_fits (self, &outputs[first])
        && !set_send_coverage (self,
            udplite_output_get_coverage (&outputs[first]), error))
      return first;
    for (end = first; end < n && output_fits (self, &outputs[end]); end++)
      udplite_output_get_datagram (&outputs[end], &datagrams[end], NULL);
    first += udplite_socket_send_datagrams (self, datagrams + first,
        end - first, error);
    if (first < end)
      return first;
  }
  return n;
}

static guint
kernel_send (UdpliteSocket * self, const UdpliteOutput * outputs, guint n,
    GError ** error)
{
  guint sent;

  g_mutex_lock (&self->kernel->lock);
  sent = send_runs (self, outputs, n, error);
  g_mutex_unlock (&self->kernel->lock);
  return sent;
}

static gboolean
kernel_accept (UdpliteSocket * self, const Datagram * datagram,
    UdplitePacket * packet, UdpliteSocketStats * stats)
{
  packet->data = datagram->bytes;
  packet->size = datagram->size;
  packet->covered = G_MAXUINT;
  return TRUE;
}

const UdpliteSocketBackend udplite_socket_backend_kernel = {
  .backend = UDPLITE_BACKEND_KERNEL,
  .name = "kernel",
  .create = kernel_create,
  .bind = udplite_socket_bind,
  .adopt = kernel_adopt,
  .set_min_coverage = kernel_set_min_coverage,
  .send = kernel_send,
  .accept = kernel_accept,
};
