/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Socket, core and loop of one end of DCCP; see the header. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdccpthinend.h"

#include <string.h>

#include <netinet/in.h>

#include "dccppacket.h"
#include "systemrandom.h"

/* Control packets that are sent together */
#define OUTPUTS 8
/* Packets taken from the socket before it is looked at what is due */
#define MAX_INPUTS (4 * DATAGRAM_BATCH)
/* Nobody listens there, says ICMP, and nothing came for so long: what says so is
 * not protected, so that it is not believed alone. us */
#define SILENCE (1 * G_TIME_SPAN_SECOND)
/* ns after which another address of the other end is tried, if there is one: a
 * Request is sent twice meanwhile (RFC 4340 section 8.1.1) */
#define NEXT_ADDRESS (2 * GST_SECOND)

/* A packet that the socket had no room for */
typedef struct
{
  DatagramPath path;
  gsize size;
  guint8 bytes[];
} Unsent;

guint64
gst_dccp_thin_now (void)
{
  return g_get_monotonic_time () * GST_USECOND;
}

void
gst_dccp_thin_end_init (GstDccpThinEnd * end,
    const GstDccpThinEndFuncs * funcs, gpointer element, GstDccpThinMode mode)
{
  memset (end, 0, sizeof (*end));
  g_mutex_init (&end->lock);
  gst_waker_init (&end->waker);
  g_queue_init (&end->unsent);
  g_queue_init (&end->messages);
  gst_dccp_thin_settings_init (&end->settings, mode);
  end->funcs = funcs;
  end->element = element;
}

void
gst_dccp_thin_end_clear (GstDccpThinEnd * end)
{
  gst_dccp_thin_settings_clear (&end->settings);
  g_clear_error (&end->broken);
  gst_waker_clear (&end->waker);
  g_mutex_clear (&end->lock);
}

/* --- what comes back ------------------------------------------------------ */

static void
clear_refusal (GstDccpThinEnd * end)
{
  g_clear_error (&end->refusal);
  end->refused_at = 0;
}

/* Takes the error */
static void
note_refusal (GstDccpThinEnd * end, GError * error)
{
  if (end->refused_at == 0)
    end->refused_at = g_get_monotonic_time ();
  g_clear_error (&end->refusal);
  end->refusal = error;
  dccp_endpoint_unreachable (end->endpoint, gst_dccp_thin_now (), 0);
}

/* The path takes less than was thought. */
static void
learn_mtu (GstDccpThinEnd * end)
{
  DatagramPath path;

  if (!dccp_endpoint_get_path (end->endpoint, &path))
    return;
  dccp_endpoint_unreachable (end->endpoint, gst_dccp_thin_now (),
      datagram_socket_get_mtu (end->socket, &path, end->mtu));
}

/* Takes the error */
static void
take_error (GstDccpThinEnd * end, GError * error)
{
  GST_DEBUG_OBJECT (end->element, "%s", error->message);
  if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE)) {
    note_refusal (end, error);
    return;
  }
  g_error_free (error);
  learn_mtu (end);
}

/* --- sending -------------------------------------------------------------- */

static void
keep_unsent (GstDccpThinEnd * end, const Datagram * datagrams, guint n)
{
  Unsent *unsent;
  guint i;

  for (i = 0; i < n; i++) {
    unsent = g_malloc (sizeof (*unsent) + datagram_get_size (&datagrams[i]));
    unsent->path = datagrams[i].path;
    unsent->size = datagram_get_size (&datagrams[i]);
    datagram_copy_bytes (&datagrams[i], unsent->bytes);
    g_queue_push_tail (&end->unsent, unsent);
  }
}

/* How many of the first are done with, sent or not. */
static guint
send_datagrams (GstDccpThinEnd * end, Datagram * datagrams, guint n)
{
  GError *error = NULL;
  guint done = 0;
  gint sent;

  while (done < n) {
    sent = datagram_socket_send (end->socket, datagrams + done, n - done,
        &error);
    if (sent > 0) {
      done += sent;
      continue;
    }
    if (sent == 0)
      return done;
    take_error (end, g_steal_pointer (&error));
    done++;
  }
  return done;
}

void
gst_dccp_thin_end_send (GstDccpThinEnd * end, Datagram * datagrams, guint n)
{
  guint done = 0;

  if (g_queue_is_empty (&end->unsent))
    done = send_datagrams (end, datagrams, n);
  if (done == n)
    return;
  keep_unsent (end, datagrams + done, n - done);
  gst_poll_fd_ctl_write (end->waker.poll, &end->fd, TRUE);
  gst_waker_wake (&end->waker);
}

/* There is room in the socket again. */
static void
send_unsent (GstDccpThinEnd * end)
{
  Datagram datagram;
  Unsent *unsent;

  while ((unsent = g_queue_peek_head (&end->unsent))) {
    datagram_init (&datagram, unsent->bytes, unsent->size);
    datagram.path = unsent->path;
    if (send_datagrams (end, &datagram, 1) == 0)
      return;
    g_free (g_queue_pop_head (&end->unsent));
  }
  gst_poll_fd_ctl_write (end->waker.poll, &end->fd, FALSE);
}

static guint
send_some_output (GstDccpThinEnd * end)
{
  guint8 outputs[OUTPUTS][DCCP_LONGEST_CONTROL];
  Datagram datagrams[OUTPUTS];
  guint64 now = gst_dccp_thin_now ();
  guint n;

  for (n = 0; n < OUTPUTS; n++) {
    datagram_init (&datagrams[n], outputs[n], 0);
    datagrams[n].size = dccp_endpoint_poll_output (end->endpoint, now,
        &datagrams[n].path, outputs[n]);
    if (datagrams[n].size == 0)
      break;
  }
  if (n > 0)
    gst_dccp_thin_end_send (end, datagrams, n);
  return n;
}

static void
take_events (GstDccpThinEnd * end)
{
  DccpEvent event;

  while (dccp_endpoint_poll_event (end->endpoint, &event)) {
    if (event.type == DCCP_EVENT_CONNECTED)
      learn_mtu (end);
    gst_dccp_thin_end_take_event (end, &event);
  }
}

void
gst_dccp_thin_end_flush (GstDccpThinEnd * end)
{
  if (!end->endpoint)
    return;
  while (send_some_output (end) == OUTPUTS);
  take_events (end);
}

/* --- receiving ------------------------------------------------------------ */

/* The first packet with data may be the one that opens the connection: that is
 * told first. */
static void
take_input (GstDccpThinEnd * end, const Datagram * datagrams, guint n)
{
  gboolean has_data;
  DccpData data;
  guint i;

  clear_refusal (end);
  for (i = 0; i < n; i++) {
    if (end->funcs->allows && !end->funcs->allows (end->element,
            &datagrams[i].path))
      continue;
    has_data = dccp_endpoint_input (end->endpoint, datagrams[i].time,
        &datagrams[i].path, datagrams[i].bytes, datagrams[i].size, &data);
    take_events (end);
    if (has_data && end->funcs->take_data)
      end->funcs->take_data (end->element, &data, datagrams[i].time);
  }
}

static void
receive (GstDccpThinEnd * end)
{
  Datagram datagrams[DATAGRAM_BATCH];
  GError *error = NULL;
  guint i, total = 0;
  gint n;

  do {
    for (i = 0; i < DATAGRAM_BATCH; i++)
      datagram_init (&datagrams[i], end->inputs + i * end->funcs->longest,
          end->funcs->longest);
    n = datagram_socket_receive (end->socket, datagrams, DATAGRAM_BATCH,
        &error);
    if (n > 0)
      take_input (end, datagrams, n);
    total += MAX (0, n);
  } while (n == DATAGRAM_BATCH && total < MAX_INPUTS);

  if (n < 0)
    take_error (end, error);
}

/* --- the loop ------------------------------------------------------------- */

void
gst_dccp_thin_end_wake (GstDccpThinEnd * end, gboolean always)
{
  if (always || (end->endpoint
          && dccp_endpoint_next_wakeup (end->endpoint) < end->sleeps_until))
    gst_waker_wake (&end->waker);
}

/* All that can be done now. Returns ns at which there is something again */
static guint64
do_what_is_due (GstDccpThinEnd * end)
{
  guint64 wakeup;

  dccp_endpoint_timeout (end->endpoint, gst_dccp_thin_now ());
  gst_dccp_thin_end_flush (end);
  wakeup = dccp_endpoint_next_wakeup (end->endpoint);
  if (end->refused_at)
    wakeup = MIN (wakeup, (guint64) (end->refused_at + SILENCE) * GST_USECOND);
  if (end->funcs->get_wakeup)
    wakeup = MIN (wakeup, end->funcs->get_wakeup (end->element));
  return wakeup;
}

static gboolean
check_refusal (GstDccpThinEnd * end, GError ** error)
{
  if (!end->refused_at || g_get_monotonic_time () - end->refused_at < SILENCE)
    return TRUE;
  g_propagate_error (error, g_error_copy (end->refusal));
  return FALSE;
}

/* Until `wakeup`, the socket has something, another thread wakes it, or it is
 * cancelled. Returns with lock */
static void
sleep_until (GstDccpThinEnd * end, guint64 wakeup)
{
  guint64 now = gst_dccp_thin_now ();

  gst_poll_wait (end->waker.poll, wakeup == G_MAXUINT64 ?
      GST_CLOCK_TIME_NONE : wakeup > now ? wakeup - now : 0);
  g_mutex_lock (&end->lock);
  end->sleeps_until = 0;
  gst_waker_reset (&end->waker);
  receive (end);
  if (!g_queue_is_empty (&end->unsent))
    send_unsent (end);
}

static void
unlock_and_tell (GstDccpThinEnd * end)
{
  if (end->funcs->unlock_and_tell)
    end->funcs->unlock_and_tell (end->element);
  else
    gst_dccp_thin_end_unlock_and_post (end);
}

static gboolean
run (GstDccpThinEnd * end, gboolean (*is_done) (gpointer), gint64 deadline,
    GCancellable * cancellable, GError ** error)
{
  guint64 wakeup;
  gboolean done;

  g_mutex_lock (&end->lock);
  while (TRUE) {
    wakeup = do_what_is_due (end);
    done = is_done (end->element);
    if (done || g_get_monotonic_time () >= deadline
        || g_cancellable_set_error_if_cancelled (cancellable, error)
        || !check_refusal (end, error))
      break;
    if (deadline < G_MAXINT64)
      wakeup = MIN (wakeup, (guint64) deadline * GST_USECOND);
    end->sleeps_until = wakeup;
    unlock_and_tell (end);
    sleep_until (end, wakeup);
  }
  unlock_and_tell (end);
  return done;
}

gboolean
gst_dccp_thin_end_run (GstDccpThinEnd * end, gboolean (*is_done) (gpointer),
    gint64 deadline, GCancellable * cancellable, GError ** error)
{
  GstPollFD fd;
  gboolean done;

  gst_waker_add (&end->waker, &fd, g_cancellable_get_fd (cancellable));
  done = run (end, is_done, deadline, cancellable, error);
  gst_waker_remove (&end->waker, &fd);
  g_cancellable_release_fd (cancellable);
  return done;
}

/* --- addresses ------------------------------------------------------------ */

static GList *
lookup (const gchar * host, GCancellable * cancellable, GError ** error)
{
  GResolver *resolver = g_resolver_get_default ();
  GList *found = g_resolver_lookup_by_name (resolver, host, cancellable, error);

  g_object_unref (resolver);
  return found;
}

/* Of UDP; of raw sockets the port is none. */
static guint16
get_remote_port (const GstDccpThinSettings * settings)
{
  return settings->udp_port ? settings->udp_port : settings->port;
}

/* NULL: error */
static GList *
find_addresses (const gchar * host, guint16 port, GCancellable * cancellable,
    GError ** error)
{
  GList *found, *walk, *addresses = NULL;
  GSocketAddress *address;

  /* with a scope too, as in fe80::1%eth0 */
  address = g_inet_socket_address_new_from_string (host, port);
  if (address)
    return g_list_prepend (NULL, address);
  found = lookup (host, cancellable, error);
  for (walk = found; walk; walk = walk->next)
    addresses = g_list_append (addresses,
        g_inet_socket_address_new (walk->data, port));
  g_resolver_free_addresses (found);
  return addresses;
}

GList *
gst_dccp_thin_resolve (const GstDccpThinSettings * settings,
    GCancellable * cancellable, GError ** error)
{
  return find_addresses (settings->host, get_remote_port (settings),
      cancellable, error);
}

static gboolean
is_any (const gchar * address)
{
  return g_str_equal (address, "0.0.0.0") || g_str_equal (address, "::");
}

static GSocketAddress *
find_local (const GstDccpThinSettings * settings, GSocketAddress * remote,
    guint16 port, GCancellable * cancellable, GError ** error)
{
  GSocketAddress *local = NULL;
  GInetAddress *any;
  GList *found;

  if (remote && is_any (settings->address)) {
    any = g_inet_address_new_any (g_socket_address_get_family (remote));
    local = g_inet_socket_address_new (any, port);
    g_object_unref (any);
    return local;
  }
  found = find_addresses (settings->address, port, cancellable, error);
  if (found)
    local = g_object_ref (found->data);
  g_list_free_full (found, g_object_unref);
  return local;
}

/* --- open and close ------------------------------------------------------- */

static guint16
get_local_port (const GstDccpThinSettings * settings, gboolean is_client)
{
  guint16 port = is_client ? settings->bind_port : settings->port;

  if (settings->encapsulation == GST_DCCP_THIN_ENCAPSULATION_RAW)
    return port ? port : datagram_socket_draw_port ();
  return is_client || !settings->udp_port ? port : settings->udp_port;
}

static DatagramSocket *
open_socket (const GstDccpThinSettings * settings, GSocketAddress * remote,
    GSocketAddress * local, GError ** error)
{
  DatagramSocketOptions options;

  datagram_socket_options_init (&options);
  options.is_raw = settings->encapsulation == GST_DCCP_THIN_ENCAPSULATION_RAW;
  options.protocol = options.is_raw ? DCCP_PROTOCOL : IPPROTO_UDP;
  options.receive_buffer_size = settings->buffer_size;
  options.send_buffer_size = settings->buffer_size;
  options.ttl = settings->ttl;
  options.dscp = settings->dscp;
  options.may_fragment = FALSE;
  if (remote)
    return datagram_socket_new_connected (remote, local, &options, error);
  return datagram_socket_new_listener (local, &options, error);
}

static gboolean
fill_config (DccpEndpointConfig * config, const GstDccpThinSettings * settings,
    gboolean is_listener, guint64 timeout, GError ** error)
{
  dccp_endpoint_config_init (config);
  if (!gst_dccp_thin_parse_service_code (settings->service_code,
          &config->service_code)) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "\"%s\" is no service code", settings->service_code);
    return FALSE;
  }
  config->is_listener = is_listener;
  config->remote_port = settings->port;
  config->sequence_window = settings->sequence_window;
  config->coverage = settings->coverage;
  config->min_coverage = settings->coverage;
  config->connect_timeout = timeout;
  config->idle_timeout = timeout;
  config->equation = settings->equation;
  return TRUE;
}

/* The port of DCCP, where none was said, is that which the kernel gave us of
 * UDP. */
static guint16
get_dccp_port (const GstDccpThinSettings * settings, gboolean is_client,
    DatagramSocket * socket, guint16 chosen)
{
  guint16 port = is_client ? settings->bind_port : settings->port;

  if (port > 0)
    return port;
  if (settings->encapsulation == GST_DCCP_THIN_ENCAPSULATION_RAW)
    return chosen;
  return datagram_socket_get_path (socket)->local_port;
}

/* With lock */
static void
begin (GstDccpThinEnd * end, DatagramSocket * socket,
    DccpEndpointConfig * config, const guint8 * entropy)
{
  GSocket *below = datagram_socket_get_socket (socket);
  const DatagramPath *path = datagram_socket_get_path (socket);

  end->socket = socket;
  end->port = config->local_port;
  end->mtu = config->mtu;
  end->inputs = g_malloc (DATAGRAM_BATCH * end->funcs->longest);
  gst_waker_add (&end->waker, &end->fd, g_socket_get_fd (below));
  clear_refusal (end);
  if (!config->is_listener)
    config->mtu = datagram_socket_get_mtu (socket, path, config->mtu);
  else if (config->mtu == 0)
    config->mtu = G_MAXUINT16;  /* until somebody connects */
  end->endpoint = dccp_endpoint_new (config, entropy);
  if (!config->is_listener)
    dccp_endpoint_connect (end->endpoint, gst_dccp_thin_now (), path);
}

gboolean
gst_dccp_thin_end_open (GstDccpThinEnd * end,
    const GstDccpThinSettings * settings, GSocketAddress * remote,
    gboolean is_last, guint64 timeout, GCancellable * cancellable,
    GError ** error)
{
  guint16 port = get_local_port (settings, remote != NULL);
  guint8 entropy[DCCP_ENTROPY_SIZE];
  DccpEndpointConfig config;
  GSocketAddress *local;
  DatagramSocket *socket;

  if (!fill_config (&config, settings, remote == NULL, timeout, error)
      || !system_random_fill (entropy, sizeof (entropy), error))
    return FALSE;
  local = find_local (settings, remote, port, cancellable, error);
  if (!local)
    return FALSE;
  socket = open_socket (settings, remote, local, error);
  g_object_unref (local);
  if (!socket)
    return FALSE;

  if (!is_last)
    config.connect_timeout = timeout == 0 ? NEXT_ADDRESS :
        MIN (timeout, NEXT_ADDRESS);
  config.mtu = settings->mtu;
  config.local_port = get_dccp_port (settings, remote != NULL, socket, port);
  g_mutex_lock (&end->lock);
  begin (end, socket, &config, entropy);
  g_mutex_unlock (&end->lock);
  memset (entropy, 0, sizeof (entropy));
  return TRUE;
}

gboolean
gst_dccp_thin_end_listen (GstDccpThinEnd * end, guint64 timeout,
    GCancellable * cancellable, GstResourceError code)
{
  GstDccpThinSettings settings;
  GError *error = NULL;
  gboolean done;

  gst_dccp_thin_end_copy_settings (end, &settings);
  done = settings.mode != GST_DCCP_THIN_MODE_LISTEN
      || gst_dccp_thin_end_open (end, &settings, NULL, TRUE, timeout,
      cancellable, &error);
  if (!done)
    gst_element_message_full (end->element, GST_MESSAGE_ERROR,
        GST_RESOURCE_ERROR, code,
        g_strdup_printf ("Could not listen for DCCP on %s, port %d: %s.",
            settings.address, settings.port, error->message), NULL, __FILE__,
        GST_FUNCTION, __LINE__);
  g_clear_error (&error);
  gst_dccp_thin_settings_clear (&settings);
  return done;
}

void
gst_dccp_thin_end_close (GstDccpThinEnd * end)
{
  DccpStats stats;

  g_mutex_lock (&end->lock);
  if (end->endpoint) {
    gst_dccp_thin_end_get_stats (end, &stats);
    end->past = stats;
    end->past.state = DCCP_STATE_CLOSED;
    end->past.rate = 0;
    gst_waker_remove (&end->waker, &end->fd);
    g_clear_pointer (&end->endpoint, dccp_endpoint_free);
    g_clear_pointer (&end->socket, datagram_socket_free);
    g_clear_pointer (&end->inputs, g_free);
    g_queue_clear_full (&end->unsent, g_free);
    gst_waker_reset (&end->waker);
    clear_refusal (end);
    end->port = 0;
  }
  g_mutex_unlock (&end->lock);
}

/* --- settings ------------------------------------------------------------- */

void
gst_dccp_thin_end_copy_settings (GstDccpThinEnd * end,
    GstDccpThinSettings * settings)
{
  g_mutex_lock (&end->lock);
  gst_dccp_thin_settings_copy (settings, &end->settings);
  g_mutex_unlock (&end->lock);
}

gchar *
gst_dccp_thin_end_get_uri (GstDccpThinEnd * end)
{
  gchar *uri;

  g_mutex_lock (&end->lock);
  uri = gst_dccp_thin_settings_get_uri (&end->settings);
  g_mutex_unlock (&end->lock);
  return uri;
}

void
gst_dccp_thin_end_get_property (GstDccpThinEnd * end, guint id, GValue * value)
{
  gst_dccp_thin_settings_get (&end->settings, id, value);
  if (id == GST_DCCP_THIN_PROP_PORT && end->settings.port == 0)
    g_value_set_int (value, end->port);
}

/* --- statistics ----------------------------------------------------------- */

void
gst_dccp_thin_end_get_stats (GstDccpThinEnd * end, DccpStats * stats)
{
  DccpStats now;

  *stats = end->past;
  if (!end->endpoint)
    return;
  dccp_endpoint_get_stats (end->endpoint, &now);
  gst_dccp_thin_add_stats (stats, &now);
}

void
gst_dccp_thin_end_reset_stats (GstDccpThinEnd * end)
{
  memset (&end->past, 0, sizeof (end->past));
}
