/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks caps that arrive from the network as text (docs/wire-mmtp.md, CAPS).
 * GStreamer's parser can create values of any type that is registered in the
 * process, and a peer must not be able to choose that type. This check
 * therefore works on the text alone and accepts plain types only.
 */

#pragma once

#include <glib.h>

/* Returns whether `text` is a single caps structure in which all fields have
 * plain types. The plain types are integers, booleans, doubles, fractions,
 * bitmasks, strings, buffers, and lists of these types. */
gboolean mmtp_caps_text_is_plain (const gchar * text, gsize size);
