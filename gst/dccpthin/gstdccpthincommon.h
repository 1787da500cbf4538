/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the sink and the source of DCCP share as elements: the scheme of their
 * URIs, enumerations, the properties of a connection, statistics.
 */

#pragma once

#include <gst/gst.h>

#include "dccpendpoint.h"

#define GST_DCCP_THIN_SCHEME "dccpthin"
#define GST_DCCP_THIN_DEFAULT_PORT 5004 /* as RTP's */

typedef enum
{
  GST_DCCP_THIN_MODE_CALLER,
  GST_DCCP_THIN_MODE_LISTENER,
  /* Values of the old words, which never stay: gst_dccp_thin_mode_get_new */
  GST_DCCP_THIN_MODE_CONNECT,
  GST_DCCP_THIN_MODE_LISTEN
} GstDccpThinMode;

typedef enum
{
  GST_DCCP_THIN_ENCAPSULATION_UDP,
  GST_DCCP_THIN_ENCAPSULATION_RAW
} GstDccpThinEncapsulation;

/* caller, listener, and their old names connect, listen: GstDccpThinMode */
GType gst_dccp_thin_mode_get_type (void);
/* caller for connect, listener for listen, or what it is */
GstDccpThinMode gst_dccp_thin_mode_get_new (GstDccpThinMode mode);
/* udp, raw: GstDccpThinEncapsulation */
GType gst_dccp_thin_encapsulation_get_type (void);
/* exact, table: TfrcEquation */
GType gst_dccp_thin_equation_get_type (void);

/* --- properties of a connection ------------------------------------------- */

/* Strings are its own */
typedef struct
{
  gchar *host;                  /* to connect to */
  gchar *address;               /* of our own; NULL: any */
  gchar *service_code;
  gint port, udp_port, bind_port;
  gint mode, encapsulation, equation;
  guint64 sequence_window;      /* packets */
  guint mtu;                    /* bytes, 0: the path's */
  guint coverage;               /* CsCov */
  gint buffer_size, ttl, dscp;
} GstDccpThinSettings;

void gst_dccp_thin_settings_copy (GstDccpThinSettings * to,
    const GstDccpThinSettings * from);
void gst_dccp_thin_settings_clear (GstDccpThinSettings * settings);
/* The properties that the sink and the source have in the same way, and their
 * URIs. The others have a table of each element. `settings`, `lock`: offsets in
 * the instance */
void gst_dccp_thin_install_properties (GObjectClass * klass, gssize settings,
    gssize lock);

/* RFC 4340 section 8.1.2, with or without "SC:" before: up to four characters,
 * "SC=" with a number, or "SC=x" with hexadecimal digits. FALSE: it is none */
gboolean gst_dccp_thin_parse_service_code (const gchar * text, guint32 * code);

/* "host:port" of the other end, or of our own while we listen; free it */
gchar *gst_dccp_thin_settings_describe (const GstDccpThinSettings * settings);

/* --- statistics ----------------------------------------------------------- */

/* Adds the counters of `more` to `sum`, whose gauges are those of `more`. */
void gst_dccp_thin_add_stats (DccpStats * sum, const DccpStats * more);
void gst_dccp_thin_fill_stats (GstStructure * structure,
    const DccpStats * stats, gboolean is_sink);

/* --- what an event means -------------------------------------------------- */

/* Why there is no connection, or none any more */
GError *gst_dccp_thin_error_of (const DccpEvent * event);
