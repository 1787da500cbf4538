/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpcookielist.h: the Init Cookies of one Response. They
 * are stored as the options that a packet contains. */

#include "dccpcookielist.h"

#include <string.h>

gboolean
dccp_cookie_list_add (DccpCookieList * list, const guint8 * value, gsize size)
{
  guint8 *option = list->options + list->size;

  if (size + 2 > DCCP_MAX_COOKIES - list->size)
    return FALSE;
  option[0] = DCCP_OPTION_INIT_COOKIE;
  option[1] = size + 2;
  if (size > 0)
    memcpy (option + 2, value, size);
  list->size += size + 2;
  return TRUE;
}

void
dccp_cookie_list_clear (DccpCookieList * list)
{
  list->size = 0;
}

gboolean
dccp_cookie_list_is_empty (const DccpCookieList * list)
{
  return list->size == 0;
}

void
dccp_cookie_list_write (const DccpCookieList * list, DccpOptionWriter * writer)
{
  gsize i;

  for (i = 0; i < list->size; i += list->options[i + 1])
    dccp_option_write (writer, FALSE, DCCP_OPTION_INIT_COOKIE,
        &list->options[i + 2], list->options[i + 1] - 2);
}
