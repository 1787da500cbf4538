/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of the congestion control algorithms in this build. */

#include "dccpccid.h"

const DccpCcid *const dccp_ccids[] = { &dccp_ccid_3, NULL };

const DccpCcid *
dccp_ccid_find (const DccpCcid * const *ccids, guint number)
{
  for (; *ccids; ccids++)
    if ((*ccids)->number == number)
      return *ccids;
  return NULL;
}
