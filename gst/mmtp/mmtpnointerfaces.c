/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replacement for mmtpinterfaces.c in builds without libmnl. Here,
 * mmtp_interfaces_new() always fails, so no other function is ever called.
 */

#include "mmtpinterfaces.h"

MmtpInterfaces *
mmtp_interfaces_new (GSocketAddress * remote, GError ** error)
{
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
      "channels=auto needs libmnl, and this build has none: name the "
      "interfaces in channels");
  return NULL;
}

void
mmtp_interfaces_free (MmtpInterfaces * self)
{
}

gint
mmtp_interfaces_get_fd (MmtpInterfaces * self)
{
  return -1;
}

gboolean
mmtp_interfaces_update (MmtpInterfaces * self)
{
  return FALSE;
}

const GPtrArray *
mmtp_interfaces_get (MmtpInterfaces * self)
{
  return NULL;
}
