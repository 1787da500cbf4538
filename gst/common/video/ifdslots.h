/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selects the frame to drop if a queue of video frames is full. A decoder has
 * slots, such as buffers of reference frames. In some codecs, the header of a
 * frame says which slots the frame uses and which it updates (slotuse.h). The
 * selection is based on this information.
 *
 * These functions are a part of I-Frame Delay (IFD, ifd.h). They have no state:
 * the caller passes an array with the waiting frames and the new frame.
 */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

/* maximum number of frames in the array `frames`: up to 64 waiting frames, and
 * the new frame */
#define IFD_SLOTS_MAX_FRAMES 65

typedef struct
{
  /* TRUE if it is known which slots of the decoder (for example buffers of
   * reference frames) the frame uses and updates. After a change of the codec,
   * frames with known slots and frames with unknown slots may wait in the same
   * queue. */
  gboolean has_slots;
  guint32 uses, updates;
  gboolean is_key, is_droppable;        /* is an I-frame; is a B-frame */
  gint layer;
  guint size;                   /* in bytes */
  /* Some frames were dropped between this frame and the frame before it in the
   * array of frames. This field is the set of the decoder slots (such as
   * buffers of reference frames) that the dropped frames would have updated,
   * and that were therefore not updated. */
  guint32 missed;
} IfdSlotFrame;

/* Simulates a decoder that receives the `n` frames of the array `frames`,
 * except frames[without]. If `without` is equal to `n`, the decoder receives
 * all frames. `wrong` is the set of decoder slots (for example buffers of
 * reference frames) that have wrong contents before the first frame. Sets
 * lost[i] to TRUE for each frame that is not received or cannot be decoded.
 * Returns the set of slots that have wrong contents after the last frame. */
guint32 ifd_slots_decode (guint32 wrong, const IfdSlotFrame * frames, guint n,
    guint without, gboolean lost[IFD_SLOTS_MAX_FRAMES]);

/* Returns the index in `frames` of the frame to drop, which is the frame whose
 * drop costs the least. The cost of a drop includes all frames that cannot be
 * decoded without the dropped frame. `wrong` is the set of decoder slots (for
 * example buffers of reference frames) that have wrong contents before the
 * decoder gets frames[0]. `used` is the set of slots that recent frames have
 * used. `rule` is set to a text that explains the selection. */
guint ifd_slots_find_victim (guint32 wrong, guint32 used,
    const IfdSlotFrame * frames, guint n, const gchar ** rule);

#pragma GCC visibility pop
