/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that dccpthinsink and dccpthinsrc share: the URI scheme, the
 * enumerations, the settings of a connection with their properties, and the
 * statistics.
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
  /* Values of the deprecated nicks "connect" and "listen". If the property is
   * set to one of them, the element immediately replaces it with the new value;
   * see gst_dccp_thin_mode_replace ().
   */
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
/* Returns the value that replaces `mode`: caller for connect, listener for
 * listen, and `mode` itself otherwise. */
GstDccpThinMode gst_dccp_thin_mode_get_new (GstDccpThinMode mode);
/* Replaces a deprecated `mode`: returns caller for connect, listener for
 * listen, and `mode` itself otherwise. If `mode` is deprecated, also logs a
 * warning, with `element` as the object of the log message. */
GstDccpThinMode gst_dccp_thin_mode_replace (gpointer element,
    GstDccpThinMode mode);
/* GType of the enumeration GstDccpThinEncapsulation. Its values are "udp" and
 * "raw". */
GType gst_dccp_thin_encapsulation_get_type (void);
/* GType of the enumeration TfrcEquation. Its values are "exact" and "table". */
GType gst_dccp_thin_equation_get_type (void);

/* --- properties of a connection ------------------------------------------- */

/* Settings of one connection. The struct owns its strings. */
typedef struct
{
  /* host name or IP address of the peer; used only with mode=caller */
  gchar *host;
  gchar *address;               /* local address; NULL = any */
  gchar *service_code;
  gint port, udp_port, bind_port;
  gint mode, encapsulation, equation;
  guint64 sequence_window;      /* packets */
  /* maximum size of an IP packet in bytes; 0 = the path MTU */
  guint mtu;
  guint coverage;               /* CsCov, RFC 4340 section 9.2 */
  gint buffer_size, ttl, dscp;
  /* value of the property `gso` (UDP segmentation offload), which only the sink
   * has */
  gint gso;
} GstDccpThinSettings;

void gst_dccp_thin_settings_copy (GstDccpThinSettings * to,
    const GstDccpThinSettings * from);
void gst_dccp_thin_settings_clear (GstDccpThinSettings * settings);
/* Installs the properties and the URI handling that the sink and the source
 * have in common. Each element installs its remaining properties from a table
 * of its own. `settings` is the offset of the GstDccpThinSettings in the
 * instance struct. `lock` is the offset of the GMutex that protects the
 * settings. */
void gst_dccp_thin_install_properties (GObjectClass * klass, gssize settings,
    gssize lock);

/* Parses a service code in a format of RFC 4340 section 8.1.2: up to four
 * characters, "SC=" with a decimal number, or "SC=x" with hexadecimal digits.
 * The characters may follow the prefix "SC:". Returns FALSE if `text` is not a
 * service code. */
gboolean gst_dccp_thin_parse_service_code (const gchar * text, guint32 * code);

/* Returns "host:port" of the peer, or a text with the local address and port if
 * the element listens. Free the text with g_free (). */
gchar *gst_dccp_thin_settings_describe (const GstDccpThinSettings * settings);

/* --- statistics ----------------------------------------------------------- */

/* Adds the counters of `more` to those of `sum`. Values that are not counters
 * are copied from `more` to `sum`. */
void gst_dccp_thin_add_stats (DccpStats * sum, const DccpStats * more);
void gst_dccp_thin_fill_stats (GstStructure * structure,
    const DccpStats * stats, gboolean is_sink);

/* --- errors --------------------------------------------------------------- */

/* Converts an event that ends a connection, or that ends the attempt to
 * connect, into an error. Returns NULL for any other event. The caller frees
 * the error. */
GError *gst_dccp_thin_error_of (const DccpEvent * event);
