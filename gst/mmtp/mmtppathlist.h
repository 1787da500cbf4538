/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the list of paths that a user sets: in the property `channels`, in a
 * URI, or in the syntax of the property bonding-addresses of ristsink. The user
 * documentation calls a path a channel. In `channels` and in a URI, the syntax
 * of a list is:
 *
 *   list     = path *("," path) / "auto" / ""
 *   path     = [local] ["->" remote] ["?" option *("&" option)]
 *   local    = (interface / address) [":" port]
 *   remote   = host [":" port]       (IPv6 in brackets if a port follows)
 *   option   = "rate=" (bits per second) / "delay=" (ms) / "mtu=" (bytes)
 *              / "name=" (any text)
 *
 * These are two examples of a list:
 *
 *   wlan0, usb0
 *   192.0.2.7, 198.51.100.9->203.0.113.1:5006?rate=2000000
 *
 * The list "auto" means that each interface that leads to the receiver is a
 * path, as long as the interface exists. An empty list means one path, whose
 * interface the routing table chooses.
 *
 * If a path has no remote part, the host and port of the element are used. If
 * it has no local part, the routing table chooses the interface and the local
 * address. Host names are not resolved here.
 */

#pragma once

#include <glib.h>

typedef struct
{
  /* Name of the path: the option `name` of the path or, if this option is
   * missing, the path as the user wrote it. The name is unique in the list. */
  gchar *name;
  gchar *interface;             /* NULL means any */
  gchar *local_address;         /* NULL means any */
  guint16 local_port;           /* 0 means any */
  gchar *host;                  /* host of the receiver */
  guint16 port;
  /* configured rate of the path in bit/s; 0 means that the rate is measured */
  guint64 rate;
  /* configured delay of the path in ns; 0 means that the delay is measured */
  guint64 delay;
  /* Maximum size of an IP packet on the path in bytes. 0 means the MTU of the
   * interface. */
  guint mtu;
} MmtpPathSpec;

typedef struct
{
  gboolean is_auto;
  /* Paths of the list. The elements are of the type MmtpPathSpec; the array
   * owns them. */
  GPtrArray *specs;
} MmtpPathList;

typedef enum
{
  MMTP_PATH_LIST_ERROR_SYNTAX,
  MMTP_PATH_LIST_ERROR_TWICE,
  MMTP_PATH_LIST_ERROR_TOO_MANY
} MmtpPathListError;

#define MMTP_PATH_LIST_ERROR (mmtp_path_list_error_quark ())
GQuark mmtp_path_list_error_quark (void);

/* Parses `text`, which is a list of paths. If a path in the list has no remote
 * part, `host` and `port` are used. Returns NULL on failure; the error quotes
 * the wrong part of the list and says what is allowed. Free the list with
 * mmtp_path_list_free(). */
MmtpPathList *mmtp_path_list_parse (const gchar * text, const gchar * host,
    guint16 port, GError ** error);
/* Parses a list in the syntax of ristsink: host:port or host:port/interface,
 * separated by commas. Returns NULL on failure. */
MmtpPathList *mmtp_path_list_parse_bonding (const gchar * text,
    GError ** error);
/* Converts a list in the syntax of ristsink (host:port/interface) to the syntax
 * of the property `channels` of mmtpsink. Returns NULL on failure. Free the
 * returned text with g_free(). */
gchar *mmtp_path_list_convert_bonding (const gchar * text, GError ** error);
void mmtp_path_list_free (MmtpPathList * paths);
MmtpPathSpec *mmtp_path_spec_new_interface (const gchar * interface,
    const gchar * host, guint16 port);
void mmtp_path_spec_free (MmtpPathSpec * spec);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MmtpPathList, mmtp_path_list_free)
