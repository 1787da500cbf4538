/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The paths that a user names, in the one syntax of the property, the URI
 * and ristsink's bonding-addresses:
 *
 *   paths = path *("," path), or "auto": the interfaces that lead to
 *              the receiver, as they come and go; or empty: one, as routing
 *              says
 *   path  = [local] ["->" remote] ["?" name "=" value *("&" name "=" value)]
 *   local    = (interface / address) [":" port]
 *   remote   = host [":" port]       (IPv6 in brackets where it has a port)
 *   names    = rate (bits per second), delay (ms), mtu (bytes), name
 *
 *   "wlan0, usb0"     "192.0.2.7, 198.51.100.9->203.0.113.1:5006?rate=2000000"
 *
 * What is not said is the element's host and port, and what routing chooses.
 * Text only: names are not resolved here.
 */

#pragma once

#include <glib.h>

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
} MmtpPathSpec;

typedef struct
{
  gboolean is_auto;
  GPtrArray *specs;             /* of MmtpPathSpec, which it frees */
} MmtpPathList;

typedef enum
{
  MMTP_PATH_LIST_ERROR_SYNTAX,
  MMTP_PATH_LIST_ERROR_TWICE,
  MMTP_PATH_LIST_ERROR_TOO_MANY
} MmtpPathListError;

#define MMTP_PATH_LIST_ERROR (mmtp_path_list_error_quark ())
GQuark mmtp_path_list_error_quark (void);

/* NULL, and an error that quotes what is wrong and says what would be right */
MmtpPathList *mmtp_path_list_parse (const gchar * text, const gchar * host,
    guint16 port, GError ** error);
/* ristsink's: host:port or host:port/interface with commas between. NULL as
 * above */
MmtpPathList *mmtp_path_list_parse_bonding (const gchar * text,
    GError ** error);
/* The same paths in the syntax above; free it. NULL as above */
gchar *mmtp_path_list_convert_bonding (const gchar * text, GError ** error);
void mmtp_path_list_free (MmtpPathList * paths);
MmtpPathSpec *mmtp_path_spec_new_interface (const gchar * interface,
    const gchar * host, guint16 port);
void mmtp_path_spec_free (MmtpPathSpec * spec);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MmtpPathList, mmtp_path_list_free)
