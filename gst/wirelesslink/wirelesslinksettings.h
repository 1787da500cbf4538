/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of wirelesslink that make up its LinkConfig. One table has
 * their names, blurbs, ranges and offsets. Their defaults are those of the
 * custom profile. A property that was set takes precedence over the value of
 * the profile, even if the property `profile` was set later. */

#pragma once

#include <gst/gst.h>

#include "linkconfig.h"

typedef struct _WirelessLinkSettings WirelessLinkSettings;

/* A configuration of the link, and the contents of the files to which the
 * configuration refers. The contents must be kept until link_new () has
 * returned. */
typedef struct
{
  LinkConfig config;
  gchar *texts[4];
  /* Name of the block-trace file. Only link_new () checks the content of this
   * file. */
  const gchar *block_trace;
} WirelessLinkConfig;

/* Installs the properties of this file's table in the class of the element.
 * `set` and `get` are the functions of that class. They call
 * wireless_link_settings_set () and wireless_link_settings_get (). */
void wireless_link_settings_install (GObjectClass * object_class,
    void (*set) (gpointer object, const GValue * value, GParamSpec * pspec),
    void (*get) (gpointer object, GValue * value, GParamSpec * pspec));

WirelessLinkSettings *wireless_link_settings_new (void);
void wireless_link_settings_free (WirelessLinkSettings * settings);
void wireless_link_settings_set (WirelessLinkSettings * settings,
    const gchar * name, const GValue * value);
void wireless_link_settings_get (WirelessLinkSettings * settings,
    const gchar * name, GValue * value);

/* Fills in `config` from `settings`, and reads and checks the files that the
 * properties name. If this fails, returns FALSE with `error` set. The error
 * names the invalid property or file. The caller frees the content of `config`
 * with wireless_link_config_clear (). */
gboolean wireless_link_settings_build (WirelessLinkSettings * settings,
    WirelessLinkConfig * config, GError ** error);
void wireless_link_config_clear (WirelessLinkConfig * config);
