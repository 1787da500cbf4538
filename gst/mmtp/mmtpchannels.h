/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The channels that a user names, in the one syntax of the property, the URI
 * and ristsink's bonding-addresses:
 *
 *   channels = channel *("," channel), or "auto": the interfaces that lead to
 *              the receiver, as they come and go; or empty: one, as routing
 *              says
 *   channel  = [local] ["->" remote] ["?" name "=" value *("&" name "=" value)]
 *   local    = (interface / address) [":" port]
 *   remote   = host [":" port]       (IPv6 in brackets where it has a port)
 *   names    = rate (bits per second), delay (ms), mtu (bytes), name
 *
 *   "wlan0, usb0"     "192.0.2.7, 198.51.100.9->203.0.113.1:5006?rate=2000000"
 *
 * What is not said is the element's host and port, and what routing chooses.
 * Text only: names are not resolved here.
 */

#ifndef __MMTP_CHANNELS_H__
#define __MMTP_CHANNELS_H__

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  gchar *name;                  /* what the user wrote, or `name`; unique */
  gchar *interface;             /* NULL: any */
  gchar *local_address;         /* NULL: any */
  guint16 local_port;           /* 0: any */
  gchar *host;                  /* of the receiver */
  guint16 port;
  guint64 rate;                 /* bits per second, 0: to be measured */
  guint64 delay;                /* ns, 0: to be measured */
  guint mtu;                    /* bytes of an IP packet, 0: the interface's */
} MmtpChannelSpec;

typedef struct
{
  gboolean is_auto;
  GPtrArray *specs;             /* of MmtpChannelSpec, which it frees */
} MmtpChannels;

typedef enum
{
  MMTP_CHANNELS_ERROR_SYNTAX,
  MMTP_CHANNELS_ERROR_TWICE,
  MMTP_CHANNELS_ERROR_TOO_MANY
} MmtpChannelsError;

#define MMTP_CHANNELS_ERROR (mmtp_channels_error_quark ())
GQuark mmtp_channels_error_quark (void);

/* NULL, and an error that quotes what is wrong and says what would be right */
MmtpChannels *mmtp_channels_parse (const gchar * text, const gchar * host,
    guint16 port, GError ** error);
/* ristsink's: host:port or host:port/interface with commas between. NULL as
 * above */
MmtpChannels *mmtp_channels_parse_bonding (const gchar * text,
    GError ** error);
void mmtp_channels_free (MmtpChannels * channels);
MmtpChannelSpec *mmtp_channel_spec_new_interface (const gchar * interface,
    const gchar * host, guint16 port);
void mmtp_channel_spec_free (MmtpChannelSpec * spec);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MmtpChannels, mmtp_channels_free)

G_END_DECLS

#endif /* __MMTP_CHANNELS_H__ */
