/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstdccpthinend.h: opens and closes the socket and the
 * protocol core of an element's DCCP endpoint, and handles what the driver
 * reports about them. */

#include "gstdccpthinend.h"

#include <string.h>

#include <netinet/in.h>

#include "dccppacket.h"
#include "gsttrace.h"
#include "gstwirelessgso.h"
#include "socketmessages.h"
#include "systemrandom.h"

/* Time in us after which an ICMP error ends the connection, if no packet
 * arrived meanwhile. ICMP messages are not authenticated, so an ICMP error
 * alone does not end a connection. */
#define MAX_REFUSAL_TIME (1 * G_TIME_SPAN_SECOND)
/* Maximum time in ns for the attempt to connect to one address of the peer, if
 * the peer has another address that can be tried next. The time is long enough
 * for two Requests (RFC 4340 section 8.1.1). */
#define ADDRESS_TIMEOUT (2 * GST_SECOND)

guint64
gst_dccp_thin_now (void)
{
  return g_get_monotonic_time () * GST_USECOND;
}

/* --- events of the connection --------------------------------------------- */

void
gst_dccp_thin_end_queue_message (GstDccpThinEnd * end, GstStructure * structure)
{
  g_queue_push_tail (&end->messages,
      gst_message_new_element (end->element, structure));
}

static void
report_connection (GstDccpThinEnd * end, const gchar * state,
    const DatagramPath * path)
{
  gchar *address = datagram_path_to_string (path);

  GST_INFO_OBJECT (end->element, "connection with %s: %s", address, state);
  gst_dccp_thin_end_queue_message (end, gst_structure_new ("dccp-connection",
          "state", G_TYPE_STRING, state, "address", G_TYPE_STRING, address,
          NULL));
  g_free (address);
}

static void
take_connection (GstDccpThinEnd * end, const DccpEvent * event)
{
  end->is_connected = TRUE;
  end->peer = event->path;
  report_connection (end, "connected", &event->path);
}

/* Returns whether the endpoint is a listener that waits for a peer to connect.
 */
static gboolean
is_waiting (GstDccpThinEnd * end)
{
  return end->settings.mode == GST_DCCP_THIN_MODE_LISTENER
      && !end->is_connected && !end->is_closing;
}

void
gst_dccp_thin_end_take_off (GstDccpThinEnd * end)
{
  if (end->is_connected)
    report_connection (end, "ended", &end->peer);
  end->is_connected = FALSE;
}

/* Called for each event that ends the connection. If there are several such
 * events, the first one is reported as the reason. */
static void
take_end (GstDccpThinEnd * end, const DccpEvent * event)
{
  if (is_waiting (end))
    return;
  gst_dccp_thin_end_take_off (end);
  if (end->broken)
    return;
  if (event->type == DCCP_EVENT_UNREACHABLE && end->refusal)
    end->broken = g_error_copy (end->refusal);
  else
    end->broken = gst_dccp_thin_error_of (event);
}

/* Handles an event of the connection. An event that ends the connection is
 * handled here only. This also applies to DCCP_EVENT_REFUSED, which means that
 * a second client was refused. All other events are also passed on to the
 * element. */
static void
take_connection_event (GstDccpThinEnd * end, const DccpEvent * event)
{
  switch (event->type) {
    case DCCP_EVENT_CONNECTED:
      take_connection (end, event);
      break;
    case DCCP_EVENT_CLOSED:
    case DCCP_EVENT_RESET:
    case DCCP_EVENT_ABORTED:
    case DCCP_EVENT_TIMED_OUT:
    case DCCP_EVENT_UNREACHABLE:
      take_end (end, event);
      return;
    case DCCP_EVENT_REFUSED:
      report_connection (end, "refused", &event->path);
      return;
    default:
      break;
  }
  end->funcs->take_event (end->element, event);
}

void
gst_dccp_thin_end_unlock_and_post (GstDccpThinEnd * end)
{
  GQueue messages = end->messages;
  GstMessage *message;

  g_queue_init (&end->messages);
  if (end->funcs->unlock)
    end->funcs->unlock (end->element);
  else
    g_mutex_unlock (&end->lock);
  while ((message = g_queue_pop_head (&messages)))
    gst_element_post_message (end->element, message);
}

/* --- driver callbacks, called with the lock held -------------------------- */

static void
clear_refusal (GstDccpThinEnd * end)
{
  g_clear_error (&end->refusal);
  end->refused_at = 0;
}

static void
note_refusal (GstDccpThinEnd * end, const GError * error)
{
  if (end->refused_at == 0)
    end->refused_at = g_get_monotonic_time ();
  g_clear_error (&end->refusal);
  end->refusal = g_error_copy (error);
  dccp_endpoint_unreachable (end->endpoint, gst_dccp_thin_now (), 0);
}

/* Reads the path MTU from the kernel and passes it to the protocol core. Called
 * when a connection begins, and when a packet was too large for the path. */
static void
learn_mtu (GstDccpThinEnd * end)
{
  DatagramPath path;

  if (!dccp_endpoint_get_path (end->endpoint, &path))
    return;
  dccp_endpoint_unreachable (end->endpoint, gst_dccp_thin_now (),
      datagram_socket_get_mtu (driver_get_socket (&end->driver, 0), &path,
          end->mtu));
}

static gboolean
take_error (gpointer data, guint path, const GError * error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE))
    learn_mtu (data);
  else
    note_refusal (data, error);
  return TRUE;
}

static void
note_heard (gpointer end, guint path)
{
  clear_refusal (end);
}

static void
take_event (gpointer data, gpointer event_data)
{
  const DccpEvent *event = event_data;
  GstDccpThinEnd *end = data;

  if (event->type == DCCP_EVENT_DATA) {
    if (end->funcs->take_data)
      end->funcs->take_data (end->element, &event->data, event->time);
    return;
  }
  if (event->type == DCCP_EVENT_CONNECTED)
    learn_mtu (end);
  take_connection_event (end, event);
}

static gboolean
allows (gpointer data, const DatagramPath * path)
{
  GstDccpThinEnd *end = data;

  return !end->funcs->allows || end->funcs->allows (end->element, path);
}

static guint64
next_wakeup (gpointer data)
{
  GstDccpThinEnd *end = data;
  guint64 wakeup = DRIVER_NEVER;

  if (end->refused_at)
    wakeup = (guint64) (end->refused_at + MAX_REFUSAL_TIME) * GST_USECOND;
  if (end->funcs->next_wakeup)
    wakeup = MIN (wakeup, end->funcs->next_wakeup (end->element));
  return wakeup;
}

static gboolean
check_refusal (gpointer data, GError ** error)
{
  GstDccpThinEnd *end = data;

  if (!end->refused_at
      || g_get_monotonic_time () - end->refused_at < MAX_REFUSAL_TIME)
    return TRUE;
  g_propagate_error (error, g_error_copy (end->refusal));
  return FALSE;
}

static void
unlock_and_post (gpointer data)
{
  GstDccpThinEnd *end = data;

  if (end->funcs->unlock_and_post)
    end->funcs->unlock_and_post (end->element);
  else
    gst_dccp_thin_end_unlock_and_post (end);
}

static void
trace (gpointer data, gboolean is_packet, const gchar * format, va_list args)
{
  GstDccpThinEnd *end = data;

  gst_wireless_trace (*end->funcs->category, end->element, is_packet, format,
      args);
}

static const DriverFuncs driver_funcs = {
  .take_event = take_event,
  .allows = allows,
  .note_heard = note_heard,
  .take_error = take_error,
  .next_wakeup = next_wakeup,
  .check = check_refusal,
  .unlock_and_post = unlock_and_post,
  .trace = trace,
};

gboolean
gst_dccp_thin_end_is_broken (gpointer end)
{
  return ((GstDccpThinEnd *) end)->broken != NULL;
}

/* --- life cycle ----------------------------------------------------------- */

void
gst_dccp_thin_end_init (GstDccpThinEnd * end,
    const GstDccpThinEndFuncs * funcs, gpointer element)
{
  memset (end, 0, sizeof (*end));
  g_mutex_init (&end->lock);
  driver_init (&end->driver, &driver_funcs, end, &end->lock);
  g_queue_init (&end->messages);
  end->funcs = funcs;
  end->element = element;
}

void
gst_dccp_thin_end_clear (GstDccpThinEnd * end)
{
  gst_dccp_thin_settings_clear (&end->settings);
  g_clear_error (&end->broken);
  driver_clear (&end->driver);
  g_mutex_clear (&end->lock);
}

/* --- addresses ------------------------------------------------------------ */

/* Returns the UDP port of the peer to which the endpoint connects. With
 * encapsulation=raw, packets have no UDP header, and the caller does not use
 * the result. */
static guint16
get_remote_port (const GstDccpThinSettings * settings)
{
  return settings->udp_port ? settings->udp_port : settings->port;
}

GList *
gst_dccp_thin_resolve (const GstDccpThinSettings * settings,
    GCancellable * cancellable, GError ** error)
{
  return datagram_resolve (settings->host, get_remote_port (settings),
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
  found = datagram_resolve (settings->address, port, cancellable, error);
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
open_socket (GstDccpThinEnd * end, const GstDccpThinSettings * settings,
    GSocketAddress * remote, GSocketAddress * local, GError ** error)
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
  options.gso = settings->gso != GST_WIRELESS_GSO_OFF;
  options.gro = end->funcs->max_input_size >= DATAGRAM_MERGED_SIZE;
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
        "\"%s\" is not a service code: set at most four characters, such as "
        "RTPV, or SC= and a decimal number, or SC=x and a hexadecimal number",
        settings->service_code);
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

/* Returns the local DCCP port: the property bind-port of a client, or the
 * property port of a listener. If this property is 0, the port depends on the
 * encapsulation. With UDP, the DCCP port is the UDP port that the kernel has
 * assigned. With raw sockets there is no UDP port, so the DCCP port is
 * `chosen`, a random number. */
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

/* The caller holds the lock. */
static void
begin (GstDccpThinEnd * end, DatagramSocket * socket,
    DccpEndpointConfig * config, const guint8 * entropy)
{
  const DatagramPath *path = datagram_socket_get_path (socket);

  end->port = config->local_port;
  end->mtu = config->mtu;
  clear_refusal (end);
  if (!config->is_listener)
    config->mtu = datagram_socket_get_mtu (socket, path, config->mtu);
  else if (config->mtu == 0)
    config->mtu = G_MAXUINT16;  /* unlimited until a peer connects */
  end->endpoint = dccp_endpoint_new (config, entropy);
  dccp_endpoint_set_trace (end->endpoint, trace, end);
  driver_begin (&end->driver, &dccp_endpoint_verbs, end->endpoint,
      end->funcs->max_input_size);
  driver_add_path (&end->driver, 0, socket, DCCP_MAX_CONTROL);
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
  socket = open_socket (end, settings, remote, local, error);
  g_object_unref (local);
  if (!socket)
    return FALSE;

  if (!is_last)
    config.connect_timeout = timeout == 0 ? ADDRESS_TIMEOUT :
        MIN (timeout, ADDRESS_TIMEOUT);
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
  done = settings.mode != GST_DCCP_THIN_MODE_LISTENER
      || gst_dccp_thin_end_open (end, &settings, NULL, TRUE, timeout,
      cancellable, &error);
  if (!done)
    gst_element_message_full (end->element, GST_MESSAGE_ERROR,
        GST_RESOURCE_ERROR, code,
        g_strdup_printf ("Could not listen for DCCP on %s, port %d: %s.%s",
            settings.address, settings.port, error->message,
            socket_error_get_advice (error)), NULL, __FILE__, GST_FUNCTION,
        __LINE__);
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
    driver_end (&end->driver);
    g_clear_pointer (&end->endpoint, dccp_endpoint_free);
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

gint
gst_dccp_thin_end_get_port (GstDccpThinEnd * end)
{
  gint port;

  g_mutex_lock (&end->lock);
  port = end->settings.port ? end->settings.port : end->port;
  g_mutex_unlock (&end->lock);
  return port;
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
