/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The Init Cookies of one Response (RFC 4340 section 8.1.4). The listener makes
 * them (dccpcookies.h) and adds them to its Response. The client stores the
 * cookies of the Response, and returns them in its packets until the connection
 * is open.
 */

#pragma once

#include "dccpoptions.h"

/* Maximum total size in bytes of the Init Cookie options of a Response,
 * including their type and length fields. */
#define DCCP_MAX_COOKIES 512

typedef struct
{
  guint8 options[DCCP_MAX_COOKIES];
  gsize size;                   /* bytes; 0 = no cookies */
} DccpCookieList;

/* Adds an Init Cookie of `size` bytes. Returns FALSE if there is no room for
 * it. */
gboolean dccp_cookie_list_add (DccpCookieList * list, const guint8 * value,
    gsize size);
void dccp_cookie_list_clear (DccpCookieList * list);
gboolean dccp_cookie_list_is_empty (const DccpCookieList * list);
/* Writes the cookies to `writer`, in the order in which they were added. */
void dccp_cookie_list_write (const DccpCookieList * list,
    DccpOptionWriter * writer);
