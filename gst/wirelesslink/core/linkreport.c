/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of the states of a dial-up call. */

#include "linkreport.h"

const gchar *
link_call_get_name (LinkCall call)
{
  static const gchar *const names[] = { "none", "idle", "dialling", "connected"
  };

  return names[call];
}
