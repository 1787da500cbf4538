/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks caps that arrive from the network as text (docs/wire-mmtp.md, CAPS).
 * GStreamer's parser can create values of any type that is registered in the
 * process, and a peer must not be able to choose that type. This check
 * therefore works on the text alone and accepts plain types only.
 */

#pragma once

#include <glib.h>

/* Returns whether `text` is one caps structure whose fields all have plain
 * types. */
gboolean mmtp_caps_text_is_plain (const gchar * text, gsize size);
