/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Enumerations, properties and statistics that the elements dccpthinsink and
 * dccpthinsrc share. The functions are documented in gstdccpthincommon.h. */

#include "gstdccpthincommon.h"

#include <string.h>

#include <gio/gio.h>

#include "gstnetworksrc.h"
#include "gstnetworkuri.h"
#include "gstwirelessproperties.h"
#include "gstwirelessstats.h"
#include "tfrcequation.h"

/* --- enumerations --------------------------------------------------------- */

/* *INDENT-OFF* */
/* The names "caller" and "listener" are the same as those of the SRT elements.
 * The older names "connect" and "listen" are deprecated. They are kept for
 * existing pipelines.
 *
 * Each deprecated name has a numeric value of its own, for this reason:
 * GStreamer's tools have only the value and look up its name. If "connect" and
 * "caller" had the same value, the tools could show the deprecated name. */
GST_WIRELESS_DEFINE_ENUM (gst_dccp_thin_mode, "GstDccpThinMode",
    {GST_DCCP_THIN_MODE_CALLER, "Connects to the peer", "caller"},
    {GST_DCCP_THIN_MODE_LISTENER, "Waits for the peer to connect", "listener"},
    {GST_DCCP_THIN_MODE_CONNECT, "Deprecated: the same as caller", "connect"},
    {GST_DCCP_THIN_MODE_LISTEN, "Deprecated: the same as listener",
        "listen"})

GST_WIRELESS_DEFINE_ENUM (gst_dccp_thin_encapsulation,
    "GstDccpThinEncapsulation",
    {GST_DCCP_THIN_ENCAPSULATION_UDP, "DCCP in UDP (RFC 6773)", "udp"},
    {GST_DCCP_THIN_ENCAPSULATION_RAW,
        "DCCP in IP, protocol 33, which needs CAP_NET_RAW",
        "raw"})

GST_WIRELESS_DEFINE_ENUM (gst_dccp_thin_equation, "GstDccpThinEquation",
    {TFRC_EQUATION_EXACT, "Computed in floating point", "exact"},
    {TFRC_EQUATION_TABLE,
        "Looked up in a table of integers, for small machines",
        "table"})
/* *INDENT-ON* */

GstDccpThinMode
gst_dccp_thin_mode_get_new (GstDccpThinMode mode)
{
  switch (mode) {
    case GST_DCCP_THIN_MODE_CONNECT:
      return GST_DCCP_THIN_MODE_CALLER;
    case GST_DCCP_THIN_MODE_LISTEN:
      return GST_DCCP_THIN_MODE_LISTENER;
    default:
      return mode;
  }
}

GstDccpThinMode
gst_dccp_thin_mode_replace (gpointer element, GstDccpThinMode mode)
{
  const GstDccpThinMode new_mode = gst_dccp_thin_mode_get_new (mode);
  GEnumClass *values;

  if (new_mode == mode)
    return mode;
  values = g_type_class_ref (gst_dccp_thin_mode_get_type ());
  gst_wireless_properties_warn_of_value (element, "mode",
      g_enum_get_value (values, mode)->value_nick,
      g_enum_get_value (values, new_mode)->value_nick);
  g_type_class_unref (values);
  return new_mode;
}

/* --- properties ----------------------------------------------------------- */

void
gst_dccp_thin_settings_copy (GstDccpThinSettings * to,
    const GstDccpThinSettings * from)
{
  *to = *from;
  to->host = g_strdup (from->host);
  to->address = g_strdup (from->address);
  to->service_code = g_strdup (from->service_code);
}

void
gst_dccp_thin_settings_clear (GstDccpThinSettings * settings)
{
  g_clear_pointer (&settings->host, g_free);
  g_clear_pointer (&settings->address, g_free);
  g_clear_pointer (&settings->service_code, g_free);
}

#define PROPERTY_STRUCT GstDccpThinSettings
static const GstWirelessProperty properties[] = {
  PROPERTY_STRING ("host", "Host",
      "Host name or IP address to connect to, with mode=caller",
      PROPERTY_READY | PROPERTY_URI | PROPERTY_NOT_NULL, host, "localhost"),
  PROPERTY_INT ("udp-port", "UDP port",
      "UDP port to connect to or to listen on, with encapsulation=udp (0 = the "
      "value of the property port; RFC 6773 assigns 6511)",
      PROPERTY_READY | PROPERTY_URI,
      udp_port, 0, G_MAXUINT16, 0),
  PROPERTY_INT ("bind-port", "Bind port",
      "Local port to connect from, with mode=caller (0 = any)",
      PROPERTY_READY | PROPERTY_URI, bind_port, 0, G_MAXUINT16, 0),
  PROPERTY_ENUM ("encapsulation", "Encapsulation",
      "Protocol that carries the DCCP packets", PROPERTY_READY | PROPERTY_URI,
      encapsulation, gst_dccp_thin_encapsulation_get_type,
      GST_DCCP_THIN_ENCAPSULATION_UDP),
  /* RTPV is the service code for video over RTP (RFC 5762 section 5.1). */
  PROPERTY_STRING ("service-code", "Service code",
      "DCCP service code, the same at both ends: at most four characters, SC= "
      "and a decimal number, or SC=x and a hexadecimal number (RFC 4340 "
      "section 8.1.2)",
      PROPERTY_READY | PROPERTY_URI | PROPERTY_NOT_NULL, service_code, "RTPV"),
  /* The Sequence Window is the number of consecutive sequence numbers that the
   * peer accepts as valid. RFC 4340 section 7.5.2 specifies its minimum and its
   * maximum. The section also says that the window should be at least as large
   * as the number of packets that are sent in five round trips. The default of
   * 10000 packets is enough if the round-trip time is one second and 2000
   * packets are sent per second. */
  PROPERTY_UINT64 ("sequence-window", "Sequence window",
      "Sequence window announced to the peer, at least the number of packets "
      "sent in five round trips; the default suits nearly every path (packets, "
      "RFC 4340 section 7.5.2)",
      PROPERTY_READY | PROPERTY_URI,
      sequence_window, 32, (G_GUINT64_CONSTANT (1) << 46) - 1, 10000),
  PROPERTY_UINT ("mtu", "MTU",
      "Maximum size of an IP packet (bytes, 0 = as the path allows); a path with "
      "a smaller MTU gets smaller packets", PROPERTY_READY | PROPERTY_URI, mtu,
      0, 65535, 1500),
  PROPERTY_ENUM ("equation", "Equation",
      "How the TCP throughput equation of TFRC (RFC 5348 section 3.1) is "
      "evaluated; the default suits all but very small machines",
      PROPERTY_READY | PROPERTY_URI, equation,
      gst_dccp_thin_equation_get_type, TFRC_EQUATION_EXACT),
  /* The default of the property `buffer-size` is much larger than the default
   * of Linux 6.1, which is enough for only 90 packets of 1400 bytes. On a fast
   * link, more than 90 packets can arrive before the receiving thread runs
   * again. */
  PROPERTY_INT ("buffer-size", "Buffer size",
      "Size of the kernel send buffer and of the kernel receive buffer "
      "(bytes, 0 = the system's default)", PROPERTY_READY, buffer_size, 0,
      G_MAXINT, 2 * 1024 * 1024),
  PROPERTY_INT ("ttl", "TTL",
      "Time to live of the packets, the number of routers that they may pass "
      "(0 = the system's default)", PROPERTY_READY | PROPERTY_URI, ttl, 0, 255,
      0),
  PROPERTY_INT ("qos-dscp", "QoS DSCP",
      "Differentiated services code point of the packets (-1 = the system's "
      "default)", PROPERTY_READY | PROPERTY_URI, dscp, -1, 63, -1),
};

/* Returns the name of the property to which the host in a URI is assigned. In
 * the mode "caller", the host is the peer, so this is the property `host`. In
 * the mode "listener", the host is a local address. The property is then
 * `address` of the source or `bind-address` of the sink. The mode is taken from
 * the key "mode" of the URI or, if the URI has no such key, from the property
 * `mode`. */
static const gchar *
get_host_property (GstElement * element, const GstUri * uri)
{
  const gchar *text = uri ? gst_uri_get_query_value (uri, "mode") : NULL;
  GValue value = G_VALUE_INIT;
  gint mode;

  g_object_get (element, "mode", &mode, NULL);
  g_value_init (&value, gst_dccp_thin_mode_get_type ());
  if (text && gst_value_deserialize (&value, text))
    mode = gst_dccp_thin_mode_get_new (g_value_get_enum (&value));
  g_value_unset (&value);
  if (mode == GST_DCCP_THIN_MODE_CALLER)
    return "host";
  return GST_IS_NETWORK_SRC (element) ? "address" : "bind-address";
}

void
gst_dccp_thin_install_properties (GObjectClass * klass, gssize settings,
    gssize lock)
{
  static const GstNetworkUri uri = {
    .protocols = {GST_DCCP_THIN_SCHEME},
    .get_host_property = get_host_property
  };

  gst_network_uri_install (klass, &uri);
  gst_wireless_properties_install (klass, properties,
      G_N_ELEMENTS (properties), settings, lock);
}

/* --- service codes -------------------------------------------------------- */

static gboolean
parse_number (const gchar * text, guint32 * code)
{
  gboolean hexadecimal = *text == 'x' || *text == 'X';
  guint64 number;

  if (!g_ascii_string_to_unsigned (text + (hexadecimal ? 1 : 0),
          hexadecimal ? 16 : 10, 0, G_MAXUINT32 - 1, &number, NULL))
    return FALSE;
  *code = number;
  return TRUE;
}

/* A service code has four characters. A shorter text is padded with spaces (RFC
 * 4340 section 8.1.2). */
static gboolean
parse_characters (const gchar * text, guint32 * code)
{
  gsize i, length = strlen (text);
  guchar c;

  if (length == 0 || length > 4)
    return FALSE;
  *code = 0;
  for (i = 0; i < 4; i++) {
    c = i < length ? text[i] : ' ';
    if (i < length && !g_ascii_isalnum (c) && !strchr ("-_+.*/?@", c))
      return FALSE;
    *code = *code << 8 | c;
  }
  return TRUE;
}

gboolean
gst_dccp_thin_parse_service_code (const gchar * text, guint32 * code)
{
  if (g_str_has_prefix (text, "SC="))
    return parse_number (text + 3, code);
  if (g_str_has_prefix (text, "SC:"))
    text += 3;
  return parse_characters (text, code);
}

/* --- description of the peer ---------------------------------------------- */

static const gchar *
get_host (const GstDccpThinSettings * settings)
{
  return settings->mode == GST_DCCP_THIN_MODE_LISTENER ? settings->address :
      settings->host;
}

gchar *
gst_dccp_thin_settings_describe (const GstDccpThinSettings * settings)
{
  const gchar *host = get_host (settings);
  const gchar *before = "";

  if (settings->mode == GST_DCCP_THIN_MODE_LISTENER)
    before = "whoever connects to ";
  return g_strdup_printf (strchr (host, ':') ? "%s[%s]:%d" : "%s%s:%d", before,
      host, settings->port);
}

/* --- statistics ----------------------------------------------------------- */

#define STATS_STRUCT DccpStats

static const GstWirelessStatsField counters[] = {
  STATS_COUNTER ("payload-bytes-sent", bytes_sent),
  STATS_COUNTER ("payload-bytes-received", bytes_received),
  STATS_COUNTER ("answers-suppressed", answers_suppressed),
  STATS_COUNTER ("connections-refused", connections_refused),
  STATS_COUNTER ("option-errors", option_errors),
};

static const GstWirelessStatsField sink_counters[] = {
  STATS_COUNTER ("feedback-received", feedback_received),
  STATS_COUNTER ("no-feedback", no_feedback),
  STATS_COUNTER ("loss-events", loss_events_received),
  STATS_COUNTER ("packets-lost", packets_lost),
  STATS_COUNTER ("slow-receiver-received", slow_receiver_received),
  STATS_COUNTER ("dropped-received", dropped_received),
};

static const GstWirelessStatsField src_counters[] = {
  STATS_COUNTER ("lost", lost),
  STATS_COUNTER ("loss-events", loss_events),
  STATS_COUNTER ("reordered", reordered),
  STATS_COUNTER ("duplicates", duplicates),
  STATS_COUNTER ("feedback-sent", feedback_sent),
  STATS_COUNTER ("slow-receiver-sent", slow_receiver_sent),
  STATS_COUNTER ("dropped-sent", dropped_sent),
};

static const GstWirelessStatsField sink_gauges[] = {
  STATS_COUNTER ("rate", rate),
  STATS_COUNTER ("reported-rate", reported_rate),
  STATS_COUNTER ("round-trip", round_trip),
  STATS_COUNTER ("round-trip-variance", round_trip_variance),
  STATS_COUNTER ("queue-delay", queue_delay),
  STATS_COUNTER ("in-flight", in_flight),
};

static const GstWirelessStatsField src_gauges[] = {
  STATS_COUNTER ("receive-rate", receive_rate),
  STATS_COUNTER ("round-trip", round_trip),
};

void
gst_dccp_thin_add_stats (DccpStats * sum, const DccpStats * more)
{
  DccpStats before = *sum;
  guint i;

  *sum = *more;
  sum->connections += before.connections;
  gst_wireless_stats_add (counters, G_N_ELEMENTS (counters), sum, &before);
  gst_wireless_stats_add (sink_counters, G_N_ELEMENTS (sink_counters), sum,
      &before);
  gst_wireless_stats_add (src_counters, G_N_ELEMENTS (src_counters), sum,
      &before);
  for (i = 0; i < DCCP_LAST_TYPE; i++) {
    sum->sent[i] += before.sent[i];
    sum->received[i] += before.received[i];
  }
  for (i = 0; i < DCCP_LAST_REFUSAL; i++)
    sum->refused[i] += before.refused[i];
}

static void
fill_packets (GstStructure * structure, const DccpStats * stats)
{
  guint i;

  for (i = 0; i < DCCP_LAST_TYPE; i++) {
    if (i == DCCP_LISTEN)
      continue;
    gst_wireless_stats_set (structure, "sent-", dccp_type_get_name (i),
        stats->sent[i]);
    gst_wireless_stats_set (structure, "received-", dccp_type_get_name (i),
        stats->received[i]);
  }
  for (i = DCCP_ACCEPTED + 1; i < DCCP_LAST_REFUSAL; i++)
    gst_wireless_stats_set (structure, "refused-", dccp_refusal_get_name (i),
        stats->refused[i]);
}

void
gst_dccp_thin_fill_stats (GstStructure * structure, const DccpStats * stats,
    gboolean is_sink)
{
  gst_structure_set (structure,
      "connection", G_TYPE_STRING, dccp_state_get_name (stats->state),
      "loss-event-rate", G_TYPE_DOUBLE, is_sink ? stats->loss_event_rate :
      stats->their_loss_event_rate, NULL);
  if (is_sink) {
    gst_structure_set (structure, "application-limited", G_TYPE_BOOLEAN,
        stats->is_app_limited, NULL);
    gst_wireless_stats_fill (structure, sink_gauges,
        G_N_ELEMENTS (sink_gauges), stats);
    gst_wireless_stats_fill (structure, sink_counters,
        G_N_ELEMENTS (sink_counters), stats);
  } else {
    gst_wireless_stats_fill (structure, src_gauges, G_N_ELEMENTS (src_gauges),
        stats);
    gst_wireless_stats_fill (structure, src_counters,
        G_N_ELEMENTS (src_counters), stats);
  }
  gst_wireless_stats_fill (structure, counters, G_N_ELEMENTS (counters), stats);
  fill_packets (structure, stats);
}

/* --- errors --------------------------------------------------------------- */

static GError *
make_reset_error (guint8 code, const gchar * who)
{
  gint kind = G_IO_ERROR_CONNECTION_CLOSED;
  const gchar *advice = "";

  switch (code) {
    case DCCP_RESET_NO_CONNECTION:
    case DCCP_RESET_CONNECTION_REFUSED:
      kind = G_IO_ERROR_CONNECTION_REFUSED;
      break;
    case DCCP_RESET_BAD_SERVICE_CODE:
      kind = G_IO_ERROR_PERMISSION_DENIED;
      advice = ". Set the same service-code at both ends";
      break;
    case DCCP_RESET_TOO_BUSY:
      kind = G_IO_ERROR_BUSY;
      advice = ". Try again later";
      break;
    default:
      break;
  }
  return g_error_new (G_IO_ERROR, kind, "%s reset the connection: %s%s", who,
      dccp_reset_code_get_name (code), advice);
}

GError *
gst_dccp_thin_error_of (const DccpEvent * event)
{
  switch (event->type) {
    case DCCP_EVENT_CLOSED:
      return g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CLOSED,
          "the peer closed the connection");
    case DCCP_EVENT_RESET:
      return make_reset_error (event->reset_code, "the peer");
    case DCCP_EVENT_ABORTED:
      return make_reset_error (event->reset_code, "this element");
    case DCCP_EVENT_TIMED_OUT:
      return g_error_new_literal (G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
          "the peer does not answer");
    case DCCP_EVENT_UNREACHABLE:
      return g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED,
          "Connection refused");
    default:
      return NULL;
  }
}
