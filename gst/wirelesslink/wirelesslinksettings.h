/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of wirelesslink that make up its LinkConfig: one table has
 * their names, texts, ranges and places in it; defaults are those of the
 * custom profile. A property that was set overrides the profile, whichever was
 * set first.
 */

#pragma once

#include <gst/gst.h>

#include "linkconfig.h"

typedef struct _WirelessLinkSettings WirelessLinkSettings;

/* Files are read into texts that link_new needs */
typedef struct
{
  LinkConfig config;
  gchar *texts[4];
  const gchar *block_trace;     /* name of the file that only link_new tries */
} WirelessLinkConfig;

/* Adds these properties to those of the element, which sets and gets them by the
 * functions below. */
void wireless_link_settings_install (GObjectClass * object_class,
    void (*set) (gpointer object, const GValue * value, GParamSpec * pspec),
    void (*get) (gpointer object, GValue * value, GParamSpec * pspec));

WirelessLinkSettings *wireless_link_settings_new (void);
void wireless_link_settings_free (WirelessLinkSettings * settings);
void wireless_link_settings_set (WirelessLinkSettings * settings,
    const gchar * name, const GValue * value);
void wireless_link_settings_get (WirelessLinkSettings * settings,
    const gchar * name, GValue * value);

/* Reads and tries the files. The error names the property or the file. */
gboolean wireless_link_settings_build (WirelessLinkSettings * settings,
    WirelessLinkConfig * config, GError ** error);
void wireless_link_config_clear (WirelessLinkConfig * config);
