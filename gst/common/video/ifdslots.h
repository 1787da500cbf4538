/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selects the frame to drop. In some codecs, the header of a frame says which
 * slots of the decoder, such as reference buffers, the frame uses and updates
 * (slotuse.h). The selection is based on these slots.
 *
 * These functions are a part of IFD (ifd.h), but they have no state: the caller
 * lists the waiting frames and the new frame.
 */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

/* Maximum number of frames in the array `frames`: up to 64 waiting frames, and
 * the new frame. */
#define IFD_SLOTS_MAX_FRAMES 65

typedef struct
{
  /* TRUE if the slots that the frame uses and updates are known. After a change
   * of the codec, frames with known slots and frames with unknown slots may
   * wait in the same queue. */
  gboolean has_slots;
  guint32 uses, updates;
  gboolean is_key, is_droppable;        /* is an I-frame; is a B-frame */
  gint layer;
  guint size;                   /* in bytes */
  /* Slots of the decoder that are not updated because frames were dropped
   * between the previous frame and the present frame */
  guint32 missed;
} IfdSlotFrame;

/* Simulates a decoder that receives the `n` frames of the array `frames`
 * without frames[without]. If `without` is equal to `n`, the decoder receives
 * all frames. `wrong` is the set of decoder slots (for example buffers of
 * reference frames) that have wrong contents before the first frame. Sets
 * lost[i] to TRUE for each frame that is not received or cannot be decoded.
 * Returns the set of slots that have wrong contents after the last frame. */
guint32 ifd_slots_decode (guint32 wrong, const IfdSlotFrame * frames, guint n,
    guint without, gboolean lost[IFD_SLOTS_MAX_FRAMES]);

/* Returns the index of the frame to drop, which is the frame whose drop costs
 * the least. The cost of a drop includes all frames that cannot be decoded
 * without the dropped frame. `used` is the set of slots that recent frames have
 * used. `rule` is set to the rule that selected the frame. */
guint ifd_slots_find_victim (guint32 wrong, guint32 used,
    const IfdSlotFrame * frames, guint n, const gchar ** rule);

#pragma GCC visibility pop
