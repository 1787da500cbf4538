/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of the element wirelesslink that make up its LinkConfig, the
 * configuration of the emulated link. A table in wirelesslinksettings.c
 * contains the name, the blurb, the range and the offset of each property. The
 * default of each property is its value in the profile "custom". If a property
 * was set, its value takes precedence over that of the profile, even if the
 * property `profile` was set later. */

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
  /* Name of the block-trace file. The content of this file is checked only by
   * link_new (), which does not know the name. If the check fails, the caller
   * of link_new () adds the name to the error message. */
  const gchar *block_trace;
} WirelessLinkConfig;

/* Adds the properties of the table in wirelesslinksettings.c to the class of
 * the element. `set` and `get` are functions of the element that set and read
 * one of these properties. They have to call wireless_link_settings_set () and
 * wireless_link_settings_get (). */
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
 * properties name. After success, the caller frees the content of `config` with
 * wireless_link_config_clear (). After a failure, returns FALSE with `error`
 * set, and nothing has to be freed. The error names the invalid property or
 * file. */
gboolean wireless_link_settings_build (WirelessLinkSettings * settings,
    WirelessLinkConfig * config, GError ** error);
void wireless_link_config_clear (WirelessLinkConfig * config);
