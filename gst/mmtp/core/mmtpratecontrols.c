/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of the rate control algorithms for paths without a configured rate.
 * It is in a file of its own, so that mmtpratecontrol.c does not depend on any
 * algorithm. */

#include "mmtpratecontrol.h"

#include <string.h>

const MmtpRateControlClass *const mmtp_rate_controls[] = {
  &mmtp_delivery_control,
  NULL
};

const MmtpRateControlClass *
mmtp_rate_control_find (const gchar * name)
{
  guint i;

  if (!name)
    return mmtp_rate_controls[0];
  for (i = 0; mmtp_rate_controls[i]; i++)
    if (strcmp (mmtp_rate_controls[i]->name, name) == 0)
      return mmtp_rate_controls[i];
  return NULL;
}
