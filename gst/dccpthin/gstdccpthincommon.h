/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that the elements dccpthinsink and dccpthinsrc share: the URI
 * scheme, the enumerations, the settings of a connection with their properties,
 * and the statistics.
 */

#pragma once

#include <gst/gst.h>

#include "dccpendpoint.h"

#define GST_DCCP_THIN_SCHEME "dccpthin"
#define GST_DCCP_THIN_DEFAULT_PORT 5004 /* the default port of RTP */

typedef enum
{
  GST_DCCP_THIN_MODE_CALLER,
  GST_DCCP_THIN_MODE_LISTENER,
  /* Values for the deprecated names "connect" and "listen". If the property
   * `mode` is set to CONNECT, the element immediately changes the property to
   * CALLER. If it is set to LISTEN, the element changes it to LISTENER.
   * gst_dccp_thin_mode_replace () returns the new value. */
  GST_DCCP_THIN_MODE_CONNECT,
  GST_DCCP_THIN_MODE_LISTEN
} GstDccpThinMode;

typedef enum
{
  GST_DCCP_THIN_ENCAPSULATION_UDP,
  GST_DCCP_THIN_ENCAPSULATION_RAW
} GstDccpThinEncapsulation;

/* GType of the enumeration GstDccpThinMode. Its values are "caller",
 * "listener", and the deprecated "connect" and "listen". */
GType gst_dccp_thin_mode_get_type (void);
/* Returns the value that replaces `mode`: CALLER for the deprecated CONNECT,
 * LISTENER for the deprecated LISTEN, and `mode` itself otherwise. */
GstDccpThinMode gst_dccp_thin_mode_get_new (GstDccpThinMode mode);
/* Replaces a deprecated value of the property `mode`: returns CALLER for
 * CONNECT, LISTENER for LISTEN, and `mode` itself otherwise. If `mode` is
 * deprecated, the function also logs a warning, with `element` as the object of
 * the log message. */
GstDccpThinMode gst_dccp_thin_mode_replace (gpointer element,
    GstDccpThinMode mode);
/* GType of the enumeration GstDccpThinEncapsulation. Its values are "udp" and
 * "raw". */
GType gst_dccp_thin_encapsulation_get_type (void);
/* GType of the enumeration TfrcEquation, which says how the throughput equation
 * is computed. Its values are "exact" and "table". */
GType gst_dccp_thin_equation_get_type (void);

/* --- properties of a connection ------------------------------------------- */

/* Settings of one connection: the values of the element's properties. The
 * struct owns its strings. */
typedef struct
{
  /* Host name or IP address of the peer. Used only if the property `mode` is
   * "caller". */
  gchar *host;
  gchar *address;               /* local address; NULL = any */
  gchar *service_code;
  gint port, udp_port, bind_port;
  gint mode, encapsulation, equation;
  guint64 sequence_window;      /* packets */
  /* Value of the property `mtu`: maximum size of an IP packet in bytes. 0 =
   * only the path MTU limits the size. */
  guint mtu;
  guint coverage;               /* CsCov, RFC 4340 section 9.2 */
  gint buffer_size, ttl, dscp;
  /* Value of the property `gso`, which says whether UDP segmentation offload is
   * used. Only the sink has this property. */
  gint gso;
} GstDccpThinSettings;

void gst_dccp_thin_settings_copy (GstDccpThinSettings * to,
    const GstDccpThinSettings * from);
void gst_dccp_thin_settings_clear (GstDccpThinSettings * settings);
/* Installs the properties and the URI handling that the elements dccpthinsink
 * and dccpthinsrc have in common. Each of the two elements also has properties
 * of its own, which it installs itself. `settings` is the offset of the
 * GstDccpThinSettings in the instance struct of the element. `lock` is the
 * offset of the GMutex that protects these settings. */
void gst_dccp_thin_install_properties (GObjectClass * klass, gssize settings,
    gssize lock);

/* Parses a service code in one of the formats of RFC 4340 section 8.1.2: up to
 * four characters, "SC=" with a decimal number, or "SC=x" with hexadecimal
 * digits. The characters may also be written with the prefix "SC:". Returns
 * FALSE if `text` is not a service code. */
gboolean gst_dccp_thin_parse_service_code (const gchar * text, guint32 * code);

/* Returns a text that names the peer in messages. If the property `mode` is
 * "caller", the element connects to one peer, and the text is "host:port" of
 * this peer. If the property is "listener", any peer may connect to the
 * element. The text then contains the local address and port to which peers
 * connect. The text has to be freed with g_free () by the code that calls this
 * function. */
gchar *gst_dccp_thin_settings_describe (const GstDccpThinSettings * settings);

/* --- statistics ----------------------------------------------------------- */

/* Adds each counter in `more` to the same counter in `sum`. The fields that are
 * not counters, such as the state and the rates, are copied from `more` to
 * `sum`. */
void gst_dccp_thin_add_stats (DccpStats * sum, const DccpStats * more);
void gst_dccp_thin_fill_stats (GstStructure * structure,
    const DccpStats * stats, gboolean is_sink);

/* --- errors --------------------------------------------------------------- */

/* Converts an event into an error, if the event ends a connection or an attempt
 * to connect. Returns NULL for any other event. The caller frees the error. */
GError *gst_dccp_thin_error_of (const DccpEvent * event);
