/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks caps that arrive from the network as text (docs/wire-mmtp.md, CAPS).
 * GStreamer's parser of caps can create a value of any type that is registered
 * in the process. A peer must not be able to choose such a type. This check
 * therefore reads the text before GStreamer parses it, and accepts only plain
 * types, such as integers and strings. */

#pragma once

#include <glib.h>

/* Returns whether `text` is a single caps structure in which all fields have
 * plain types. The plain types are integers, booleans, doubles, fractions,
 * bitmasks, strings, buffers, and lists of these types. */
gboolean mmtp_caps_text_is_plain (const gchar * text, gsize size);
