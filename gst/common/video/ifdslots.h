/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selects the frame to drop if frames name the slots that they use and update
 * (slotuse.h). It is a part of IFD (ifd.h) without state of its own: the caller
 * lists the waiting frames and the new one.
 */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

/* the waiting frames and the new one */
#define IFD_SLOTS_MAX_FRAMES 65

typedef struct
{
  /* The frame says which slots it uses. A frame that does not belongs to
   * another codec, before or after this one. */
  gboolean has_slots;
  guint32 uses, updates;
  gboolean is_key, is_droppable;        /* an I-frame, a B-frame */
  gint layer;
  guint size;                   /* in bytes */
  /* Slots that the frames update which were dropped between the previous frame
   * and this one */
  guint32 missed;
} IfdSlotFrame;

/* Sets lost[i] for each frame that cannot be decoded if `frames` are sent
 * without frames[without]; `without` may be `n`. `wrong` are the slots that are
 * wrong in the decoder before the frames. Returns those that are wrong after
 * the frames. */
guint32 ifd_slots_decode (guint32 wrong, const IfdSlotFrame * frames, guint n,
    guint without, gboolean lost[IFD_SLOTS_MAX_FRAMES]);

/* Returns the index of the frame that costs the least if it is dropped, with
 * all frames that cannot be decoded without it. `used` are the slots that
 * recent frames have used. `rule` is set to the rule that selected the frame.
 */
guint ifd_slots_find_victim (guint32 wrong, guint32 used,
    const IfdSlotFrame * frames, guint n, const gchar ** rule);

#pragma GCC visibility pop
