/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which text of caps is taken from the network: docs/wire-mmtp.md, CAPS. What a
 * parser would make objects of, of any type that the process knows, is not for
 * a peer to choose. Text only: nothing is parsed into caps here.
 */

#pragma once

#include <glib.h>

/* One structure, of fields of plain types */
gboolean mmtp_caps_text_is_plain (const gchar * text, gsize size);
