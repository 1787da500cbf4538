/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selects the frame to drop if frames name the slots of the decoder that they
 * use and update (slotuse.h). These functions are a part of IFD (ifd.h), but
 * they have no state: the caller lists the waiting frames and the new frame.
 */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

/* maximum number of frames: the waiting frames and the new frame */
#define IFD_SLOTS_MAX_FRAMES 65

typedef struct
{
  /* TRUE if the frame says which slots it uses. After a change of the codec,
   * frames without this information may wait in the queue too. */
  gboolean has_slots;
  guint32 uses, updates;
  gboolean is_key, is_droppable;        /* is an I-frame; is a B-frame */
  gint layer;
  guint size;                   /* in bytes */
  /* Slots of the decoder that are not updated because frames were dropped
   * between the previous frame and the present frame */
  guint32 missed;
} IfdSlotFrame;

/* Simulates a decoder that receives `frames` without frames[without]; if
 * `without` is `n`, the decoder receives all frames. Sets lost[i] for each
 * frame that cannot be decoded. `wrong` is the set of slots with wrong contents
 * before the frames. Returns the set of slots with wrong contents after the
 * frames. */
guint32 ifd_slots_decode (guint32 wrong, const IfdSlotFrame * frames, guint n,
    guint without, gboolean lost[IFD_SLOTS_MAX_FRAMES]);

/* Returns the index of the frame to drop, which is the frame whose drop costs
 * the least. The cost of a drop includes all frames that cannot be decoded
 * without the dropped frame. `used` is the set of slots that recent frames have
 * used. `rule` is set to the rule that selected the frame. */
guint ifd_slots_find_victim (guint32 wrong, guint32 used,
    const IfdSlotFrame * frames, guint n, const gchar ** rule);

#pragma GCC visibility pop
