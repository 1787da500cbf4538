/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the sink and the source of DCCP share as elements: the scheme of their
 * URIs, enumerations, the properties of a connection, statistics.
 */

#ifndef __GST_DCCP_THIN_COMMON_H__
#define __GST_DCCP_THIN_COMMON_H__

#include <gst/gst.h>

#include "dccpendpoint.h"

G_BEGIN_DECLS

#define GST_DCCP_THIN_SCHEME "dccpthin"
#define GST_DCCP_THIN_DEFAULT_PORT 5004 /* as RTP's */

typedef enum
{
  GST_DCCP_THIN_MODE_CONNECT,
  GST_DCCP_THIN_MODE_LISTEN
} GstDccpThinMode;

typedef enum
{
  GST_DCCP_THIN_ENCAPSULATION_UDP,
  GST_DCCP_THIN_ENCAPSULATION_RAW
} GstDccpThinEncapsulation;

/* connect, listen: GstDccpThinMode */
#define GST_TYPE_DCCP_THIN_MODE (gst_dccp_thin_mode_get_type ())
GType gst_dccp_thin_mode_get_type (void);
/* udp, raw: GstDccpThinEncapsulation */
#define GST_TYPE_DCCP_THIN_ENCAPSULATION \
  (gst_dccp_thin_encapsulation_get_type ())
GType gst_dccp_thin_encapsulation_get_type (void);
/* exact, table: TfrcEquation */
#define GST_TYPE_DCCP_THIN_EQUATION (gst_dccp_thin_equation_get_type ())
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

/* Their numbers; an element's own ones begin with GST_DCCP_THIN_PROP_LAST. */
enum
{
  GST_DCCP_THIN_PROP_0,
  GST_DCCP_THIN_PROP_HOST,
  GST_DCCP_THIN_PROP_ADDRESS,
  GST_DCCP_THIN_PROP_PORT,
  GST_DCCP_THIN_PROP_UDP_PORT,
  GST_DCCP_THIN_PROP_BIND_PORT,
  GST_DCCP_THIN_PROP_MODE,
  GST_DCCP_THIN_PROP_ENCAPSULATION,
  GST_DCCP_THIN_PROP_SERVICE_CODE,
  GST_DCCP_THIN_PROP_SEQUENCE_WINDOW,
  GST_DCCP_THIN_PROP_MTU,
  GST_DCCP_THIN_PROP_COVERAGE,
  GST_DCCP_THIN_PROP_EQUATION,
  GST_DCCP_THIN_PROP_BUFFER_SIZE,
  GST_DCCP_THIN_PROP_TTL,
  GST_DCCP_THIN_PROP_QOS_DSCP,
  GST_DCCP_THIN_PROP_LAST
};

void gst_dccp_thin_settings_init (GstDccpThinSettings * settings,
    GstDccpThinMode mode);
void gst_dccp_thin_settings_copy (GstDccpThinSettings * to,
    const GstDccpThinSettings * from);
void gst_dccp_thin_settings_clear (GstDccpThinSettings * settings);
/* FALSE: it is none of them. With the lock of the settings */
gboolean gst_dccp_thin_settings_set (GstDccpThinSettings * settings, guint id,
    const GValue * value);
gboolean gst_dccp_thin_settings_get (const GstDccpThinSettings * settings,
    guint id, GValue * value);
/* A sink's or a source's, which differ in a few names and defaults */
void gst_dccp_thin_install_properties (GObjectClass * object_class,
    gboolean is_sink);

/* RFC 4340 section 8.1.2, with or without "SC:" before: up to four characters,
 * "SC=" with a number, or "SC=x" with hexadecimal digits. FALSE: it is none */
gboolean gst_dccp_thin_parse_service_code (const gchar * text, guint32 * code);

/* "host:port" of the other end, or of our own while we listen; free it */
gchar *gst_dccp_thin_settings_describe (const GstDccpThinSettings * settings);

/* dccpthin://host:port; free it */
gchar *gst_dccp_thin_settings_get_uri (const GstDccpThinSettings * settings);
/* The host of a URI is the other end's, or our own address where we listen, as
 * its key "mode" or the property says. */
gboolean gst_dccp_thin_set_uri (GstElement * element, const gchar * uri,
    const gchar * address_property, GError ** error);

/* --- statistics ----------------------------------------------------------- */

/* Adds the counters of `more` to `sum`, whose gauges are those of `more`. */
void gst_dccp_thin_add_stats (DccpStats * sum, const DccpStats * more);
void gst_dccp_thin_fill_stats (GstStructure * structure,
    const DccpStats * stats, gboolean is_sink);

/* --- what an event means -------------------------------------------------- */

/* Why there is no connection, or none any more */
GError *gst_dccp_thin_error_of (const DccpEvent * event);

G_END_DECLS

#endif /* __GST_DCCP_THIN_COMMON_H__ */
