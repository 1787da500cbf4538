/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of references.h: tracks the reference pictures of H.264 and
 * H.265. */

#include "references.h"

#include <string.h>

/* maximum number of reference frames (H.264, A.3.1, and H.265, A.4.1) */
#define MAX_REFERENCES 16
#define N_SLOTS (MAX_REFERENCES + 1)

#define SLOTS_ALL G_MAXUINT32
/* A slot is a part of a decoder's memory. Each reference picture that a decoder
 * stores has its own slot. A picture of H.265 may refer to pictures that were
 * never received. SLOT_MISSING stands for all of these pictures. */
#define SLOT_MISSING (1u << 30)
/* Unlike other slots, the slot SLOT_MARKS does not contain a picture. It stands
 * for the reference picture marking of H.264: the part of a decoder's state
 * that says which pictures are still used for reference. Some pictures contain
 * commands that change the marking. If such a picture is lost, the marking is
 * not changed, and the decoder stores the wrong pictures. SLOT_MARKS then has
 * wrong contents. */
#define SLOT_MARKS (1u << 31)
/* A key frame begins a group of pictures. It replaces the reference picture
 * marking of H.264, which says which pictures are still used for reference.
 * From then on, SLOT_MARKS stands for the new marking. However, the leading
 * pictures of the key frame still need the marking of the previous group.
 *
 * Another kind of slot therefore stands only for the marking of a single group.
 * There are two slots of this kind: one for groups with an even number, and one
 * for groups with an odd number. `gop` is the number of the group. */
#define SLOT_GROUP_MARKS(gop) (1u << (28 + (gop) % 2))

typedef struct
{
  gboolean is_used;
  guint frame_num;              /* of H.264 */
  gint32 order;                 /* PicOrderCnt */
  /* sequence number of the picture in decoding order */
  guint64 number;
  /* Number of the group of pictures (GOP) to which the picture belongs. Each
   * key frame begins a new group. */
  guint64 gop;
  guint depth;
} Reference;

/* Properties of the pictures since the last key frame. At the next key frame,
 * they decide whether the pictures from this next key frame on get slots. */
typedef struct
{
  /* TRUE if there is a reference picture that belongs to a layer above the base
   * layer */
  gboolean has_layers;
  /* TRUE if there is a reference picture that refers to a picture of a higher
   * layer. The layers then say nothing about which pictures are needed. */
  gboolean has_upward_references;
  /* TRUE if there is a picture whose reference pictures are unknown */
  gboolean is_abandoned;
} Findings;

struct _References
{
  Reference slots[N_SLOTS];
  guint64 number, gop;          /* of the current picture */
  guint64 key_number;           /* sequence number of the last key frame */
  gboolean are_layers_declared;
  gboolean is_active;
  Findings findings;

  gboolean has_max_order;
  /* maximum PicOrderCnt (display order) of the last key frame and the pictures
   * decoded after it */
  gint32 max_order;
  /* sequence number in decoding order of the picture whose PicOrderCnt is
   * max_order */
  guint64 anchor;

  /* state of H.264 */
  gboolean has_frame_num;
  guint last_frame_num;         /* PrevRefFrameNum */
  guint max_frame_num, max_references;
  /* Encoders give a lower nal_ref_idc to reference pictures of higher layers.
   * This field is the maximum nal_ref_idc of certain pictures. The layer of a
   * reference picture is computed from this maximum. The field takes a picture
   * into account if two conditions are met:
   * - The picture is not a key frame.
   * - The picture is displayed after the last key frame and after all pictures
   *   that were decoded between this key frame and the picture. */
  guint max_ref_idc;
  /* A picture may contain removal operations. A removal operation names a
   * picture that the decoder must remove from the stored pictures. Leading
   * pictures may need pictures of the previous group of pictures (GOP). This
   * field is TRUE if it is not certain which pictures of the previous group
   * they need. The uncertainty arises in two cases:
   * - A removal operation in a leading picture names a picture that is not
   *   stored.
   * - A removal operation in a leading picture removes a picture of the
   *   previous group, although an older picture stays stored. */
  gboolean are_marks_in_doubt;

  /* the current picture */
  gboolean is_h264, is_known;
  H264Slice slice;              /* first slice of an H.264 picture */
  gint32 order;
  guint32 uses;
};

/* --- life cycle ----------------------------------------------------------- */

References *
references_new (void)
{
  return g_new0 (References, 1);
}

void
references_free (References * references)
{
  g_free (references);
}

void
references_reset (References * references)
{
  memset (references, 0, sizeof (*references));
}

void
references_declare_layers (References * references)
{
  references->are_layers_declared = TRUE;
}

gboolean
references_are_active (const References * references)
{
  return references->is_active;
}

/* --- the kept pictures ---------------------------------------------------- */

static void
clear (References * references)
{
  memset (references->slots, 0, sizeof (references->slots));
}

static Reference *
find_oldest (References * references)
{
  Reference *oldest = NULL;
  guint i;

  for (i = 0; i < N_SLOTS; i++) {
    Reference *slot = &references->slots[i];

    if (slot->is_used && (!oldest || slot->number < oldest->number))
      oldest = slot;
  }
  return oldest;
}

static guint
count (const References * references)
{
  guint n = 0, i;

  for (i = 0; i < N_SLOTS; i++)
    n += references->slots[i].is_used;
  return n;
}

/* Applies the sliding window of H.264 (section 8.2.5.3): removes the oldest
 * pictures until fewer than `max` pictures are stored. */
static void
remove_oldest (References * references, guint max)
{
  while (count (references) >= max)
    find_oldest (references)->is_used = FALSE;
}

static guint32
get_bit (const References * references, const Reference * slot)
{
  return (guint32) 1 << (slot - references->slots);
}

/* Stores the current picture in a free slot, and returns this slot. If no slot
 * is free, the oldest stored picture is removed to make room. */
static Reference *
store (References * references, guint frame_num, guint depth)
{
  Reference *slot = references->slots;

  remove_oldest (references, N_SLOTS);
  while (slot->is_used)
    slot++;
  memset (slot, 0, sizeof (*slot));
  slot->is_used = TRUE;
  slot->frame_num = frame_num;
  slot->order = references->order;
  slot->number = references->number;
  slot->gop = references->gop;
  slot->depth = depth;
  return slot;
}

void
references_abandon (References * references)
{
  references->findings.is_abandoned = TRUE;
  references->is_known = FALSE;
}

/* --- H.264 ---------------------------------------------------------------- */

/* A gap in frame_num, the counter of reference frames in H.264, shows that
 * reference pictures were lost. Stores substitutes for them, as a decoder does
 * (section 8.2.5.2 of H.264). */
static void
fill_gap (References * references, guint frame_num)
{
  const guint mask = references->max_frame_num - 1;
  const guint last = references->last_frame_num;
  guint n = (frame_num - last) & mask;

  if (!references->has_frame_num || n <= 1)
    return;
  for (n = MIN (n - 1, MAX_REFERENCES); n > 0; n--) {
    remove_oldest (references, references->max_references);
    store (references, (frame_num - n) & mask, 0);
    references->number++;
  }
  references->last_frame_num = (frame_num - 1) & mask;
}

void
references_begin_h264 (References * references, const H264Headers * headers,
    const H264Slice * slice, gint32 order)
{
  references->is_h264 = references->is_known = TRUE;
  references->slice = *slice;
  references->order = order;
  references->uses = 0;
  h264_headers_get_limits (headers, slice, &references->max_references,
      &references->max_frame_num);
  if (slice->is_field || slice->forgets || slice->has_long_term)
    references_abandon (references);
  if (slice->is_idr)
    clear (references);
  else
    fill_gap (references, slice->frame_num);
}

/* The list of the reference pictures of a P-slice (section 8.2.4 of H.264). To
 * move a picture within the list, its entry is first inserted at the new place.
 * The old entry is removed afterwards. The list therefore needs room for one
 * more entry. */
typedef struct
{
  const Reference *entries[N_SLOTS + H264_MAX_LIST_CHANGES + 1];
  guint n;
} List;

/* Makes the initial list of the reference pictures of a P-slice. The last
 * decoded picture is the first in the list (section 8.2.4.2.1 of H.264). */
static void
make_initial_list (const References * references, List * list)
{
  guint i, at;

  list->n = 0;
  for (i = 0; i < N_SLOTS; i++) {
    const Reference *slot = &references->slots[i];

    if (!slot->is_used)
      continue;
    for (at = list->n++; at > 0
        && list->entries[at - 1]->number < slot->number; at--)
      list->entries[at] = list->entries[at - 1];
    list->entries[at] = slot;
  }
}

static const Reference *
find_frame_num (const References * references, guint frame_num)
{
  guint i;

  for (i = 0; i < N_SLOTS; i++) {
    if (references->slots[i].is_used
        && references->slots[i].frame_num == frame_num)
      return &references->slots[i];
  }
  return NULL;
}

/* Moves a picture to the index `at` of the list. The picture is inserted there,
 * and its old entry behind this index is removed. */
static void
move_to (List * list, guint at, const Reference * slot)
{
  guint i, n;

  for (i = list->n; i > at; i--)
    list->entries[i] = list->entries[i - 1];
  list->entries[at] = slot;
  list->n++;
  for (i = n = at + 1; i < list->n; i++)
    if (list->entries[i] != slot)
      list->entries[n++] = list->entries[i];
  list->n = n;
}

/* Changes the list of the reference pictures of a P-slice as the slice header
 * says (section 8.2.4.3.1 of H.264). Returns FALSE if the slice refers to
 * long-term pictures, or to pictures that are not stored. */
static gboolean
modify_list (const References * references, const H264Slice * slice,
    List * list)
{
  const guint mask = references->max_frame_num - 1;
  guint predicted = slice->frame_num, i;

  for (i = 0; i < slice->n_changes; i++) {
    const H264Operation *change = &slice->changes[i];
    const Reference *slot;

    if (change->operation > 1)
      return FALSE;
    predicted = (predicted + (change->operation == 1 ? change->value + 1 :
            -(change->value + 1))) & mask;
    slot = find_frame_num (references, predicted);
    if (!slot || i > list->n)
      return FALSE;
    move_to (list, i, slot);
  }
  return TRUE;
}

static guint32
get_all (const References * references)
{
  guint32 all = 0;
  guint i;

  for (i = 0; i < N_SLOTS; i++) {
    if (references->slots[i].is_used)
      all |= (guint32) 1 << i;
  }
  return all;
}

/* references->uses is the set of all pictures to which the current picture
 * refers. This function adds the pictures to which one of its slices refers.
 *
 * If a reference picture is missing, a decoder puts a substitute into the
 * reference lists (section 8.2.5.2 of H.264). P-slices and B-slices differ in
 * the effect of this substitute:
 * - The list of a P-slice is sorted in decoding order, so the substitute does
 *   not change the positions of the other pictures. A P-slice therefore adds
 *   only the pictures in its list.
 * - The lists of a B-slice are sorted in display order, and the position of a
 *   substitute in this order is unknown. A B-slice therefore adds all stored
 *   pictures. */
void
references_add_h264_slice (References * references, const H264Slice * slice)
{
  List list;
  guint i;

  if (!references->is_known || slice->is_intra)
    return;
  if (slice->is_b) {
    references->uses |= get_all (references);
    return;
  }
  make_initial_list (references, &list);
  if (!modify_list (references, slice, &list)) {
    references_abandon (references);
    return;
  }
  for (i = 0; i < MIN (list.n, slice->n_references); i++)
    references->uses |= get_bit (references, list.entries[i]);
}

/* A marking operation in a slice header has told the decoder to remove the
 * picture `removed`. If the slice is lost, the decoder does not execute the
 * operation and keeps the picture. Returns whether the decoder can nevertheless
 * decode the later pictures correctly. It can if these two conditions are met:
 * - `removed` is the last picture in each reference list, so the indices of the
 *   other pictures do not change.
 * - `removed` is also the picture that the decoder removes next when it needs
 *   room for a new picture.
 *
 * Both conditions are met if `removed` belongs to an earlier group of pictures
 * (GOP). */
static gboolean
is_last_in_lists (const References * references, const Reference * removed)
{
  guint i;

  if (removed->gop != references->gop)
    return TRUE;
  for (i = 0; i < N_SLOTS; i++) {
    const Reference *kept = &references->slots[i];

    if (!kept->is_used || kept->gop != references->gop)
      continue;
    if (kept->number < removed->number || kept->order < removed->order)
      return FALSE;
  }
  return TRUE;
}

/* Returns whether a picture is stored that has a lower sequence number than
 * `number`, and is therefore older. */
static gboolean
has_older (const References * references, guint64 number)
{
  guint i;

  for (i = 0; i < N_SLOTS; i++) {
    if (references->slots[i].is_used && references->slots[i].number < number)
      return TRUE;
  }
  return FALSE;
}

/* Applies the marking operations of a picture. They tell a decoder which stored
 * pictures to remove (section 8.2.5.4.1 of H.264). Long-term pictures are not
 * supported. Returns TRUE if later pictures cannot be decoded correctly by a
 * decoder that has missed these operations. */
static gboolean
apply_marks (References * references, gboolean is_leading)
{
  const H264Slice *slice = &references->slice;
  const guint mask = references->max_frame_num - 1;
  gboolean are_needed = FALSE;
  guint64 last_removed = 0;
  guint i;

  for (i = 0; i < slice->n_marks; i++) {
    const H264Operation *mark = &slice->marks[i];
    const Reference *slot;

    if (mark->operation == 4 && mark->value == 0)
      continue;                 /* no long-term pictures */
    if (mark->operation != 1) {
      references_abandon (references);
      are_needed = TRUE;
      continue;
    }
    slot = find_frame_num (references,
        (slice->frame_num - mark->value - 1) & mask);
    if (!slot) {
      references->are_marks_in_doubt |= is_leading;
      continue;
    }
    references->slots[slot - references->slots].is_used = FALSE;
    are_needed |= !is_last_in_lists (references, slot);
    if (slot->gop != references->gop)
      last_removed = MAX (last_removed, slot->number);
  }
  references->are_marks_in_doubt |= is_leading
      && has_older (references, last_removed);
  return are_needed;
}

static guint32
store_h264 (References * references, gboolean is_leading, guint depth)
{
  const H264Slice *slice = &references->slice;
  guint32 updates = 0;

  references->has_frame_num = TRUE;
  references->last_frame_num = slice->frame_num;
  if (slice->n_marks > 0) {
    if (apply_marks (references, is_leading))
      updates |= SLOT_MARKS | SLOT_GROUP_MARKS (references->gop);
  } else {
    remove_oldest (references, references->max_references);
  }
  return updates | get_bit (references, store (references, slice->frame_num,
          depth));
}

/* --- H.265 ---------------------------------------------------------------- */

static Reference *
find_order (References * references, gint32 order, guint32 mask)
{
  guint i;

  for (i = 0; i < N_SLOTS; i++) {
    Reference *slot = &references->slots[i];

    if (slot->is_used && ((guint32) (slot->order ^ order) & mask) == 0)
      return slot;
  }
  return NULL;
}

/* Starts a picture of H.265. Each picture lists all stored pictures to which it
 * or later pictures may refer (section 8.3.2 of H.265). All other stored
 * pictures are removed. */
void
references_begin_h265 (References * references, const H265Slice * slice)
{
  gboolean is_kept[N_SLOTS] = { FALSE, };
  guint i;

  references->is_h264 = FALSE;
  references->is_known = TRUE;
  references->order = slice->order;
  references->uses = 0;
  for (i = 0; i < slice->n_references; i++) {
    const H265Reference *reference = &slice->references[i];
    const Reference *slot = find_order (references, reference->order,
        reference->mask);

    if (slot)
      is_kept[slot - references->slots] = TRUE;
    if (reference->is_used)
      references->uses |= slot ? get_bit (references, slot) : SLOT_MISSING;
  }
  for (i = 0; i < N_SLOTS; i++)
    references->slots[i].is_used &= is_kept[i];
}

/* --- a picture ------------------------------------------------------------ */

/* Starts a group of pictures (GOP). */
static void
begin_gop (References * references)
{
  const Findings none = { FALSE, };
  Findings *findings = &references->findings;

  if (findings->has_upward_references || findings->is_abandoned)
    references->is_active = FALSE;
  else if (findings->has_layers || references->are_layers_declared)
    references->is_active = TRUE;
  *findings = none;
  references->are_marks_in_doubt = FALSE;
  references->gop++;
  references->has_max_order = FALSE;
}

/* Returns the highest layer of those pictures to which the current picture
 * refers. Pictures with a sequence number below `since` are ignored. */
static guint
get_max_depth (const References * references, guint64 since)
{
  guint depth = 0, i;

  for (i = 0; i < N_SLOTS; i++) {
    const Reference *slot = &references->slots[i];

    if ((references->uses & get_bit (references, slot))
        && slot->number >= since)
      depth = MAX (depth, slot->depth);
  }
  return depth;
}

/* Returns the layer of the current picture. A key frame has the layer 0.
 *
 * Any other picture is compared with a picture P. To find P, take the last key
 * frame and all pictures that were decoded after this key frame and before the
 * current picture. P is the picture among them that is displayed last. There
 * are three cases:
 * - The current picture is displayed before P. Its layer is then one above the
 *   highest layer of its reference pictures. Reference pictures that were
 *   decoded before P are ignored.
 * - The current picture is displayed after P and is a non-reference picture.
 *   Its layer is then one above the highest layer of all its reference
 *   pictures.
 * - The current picture is displayed after P and is a reference picture. In
 *   H.264, its layer is then max_ref_idc - nal_ref_idc, where max_ref_idc is
 *   the maximum nal_ref_idc of the current picture and of earlier pictures in
 *   this case. In H.265, its layer is 0.
 *
 * The stream may also contain the number of a temporal layer for the current
 * picture. If this number is higher than the layer from the rules above, the
 * function returns this number instead. */
static guint
find_depth (References * references, const ReferencePicture * picture)
{
  const guint ref_idc = references->is_h264 ? references->slice.ref_idc : 0;
  guint depth = 0;

  if (picture->is_key) {
    references->max_order = references->order;
    references->anchor = references->number;
    references->has_max_order = TRUE;
    return 0;
  }
  if (references->has_max_order && references->order < references->max_order) {
    depth = get_max_depth (references, references->anchor) + 1;
  } else {
    references->has_max_order = TRUE;
    references->max_order = references->order;
    references->anchor = references->number;
    references->max_ref_idc = MAX (references->max_ref_idc, ref_idc);
    if (!picture->is_reference)
      depth = get_max_depth (references, 0) + 1;
    else if (ref_idc > 0)
      depth = references->max_ref_idc - ref_idc;
  }
  return MAX (depth, (guint) MAX (picture->layer, 0));
}

/* Returns the slots that the current picture needs. A slot is the place of one
 * reference picture in the memory of a decoder. The caller must not call this
 * function for a leading picture, because a leading picture may need pictures
 * from before the last key frame.
 *
 * The reference lists of any other picture may still contain such older
 * pictures. However, a decoder that starts at the key frame can decode the
 * current picture without the older pictures. Their slots are therefore left
 * out. */
static guint32
select_group (const References * references)
{
  guint32 uses = references->uses;
  guint i;

  for (i = 0; i < N_SLOTS; i++) {
    const Reference *slot = &references->slots[i];

    if (slot->is_used && slot->gop != references->gop)
      uses &= ~get_bit (references, slot);
  }
  return uses;
}

/* Returns the slot of the last key frame as a bit, or SLOTS_ALL if no slot
 * contains this frame. A slot is the place of one reference picture in the
 * memory of a decoder.
 *
 * A leading picture always needs the slot of the key frame, even if it does not
 * refer to the key frame. The reason is that the key frame also changes the
 * reference picture marking. A decoder that has missed the key frame has missed
 * this change. */
static guint32
get_key (const References * references)
{
  guint i;

  for (i = 0; i < N_SLOTS; i++) {
    if (references->slots[i].is_used
        && references->slots[i].number == references->key_number)
      return (guint32) 1 << i;
  }
  return SLOTS_ALL;
}

static void
note_findings (References * references, const ReferencePicture * picture,
    guint depth)
{
  Findings *findings = &references->findings;

  if (!picture->is_reference)
    return;
  findings->has_layers |= depth > 0;
  findings->has_upward_references |= get_max_depth (references, 0) > depth;
}

/* Ends a picture for which it is unknown to which pictures it refers.
 *
 * If the picture is a reference picture, it is then also unknown which pictures
 * a decoder stores from now on. The list of stored pictures is therefore
 * cleared.
 *
 * If the picture is a non-reference picture, a decoder does not store it. The
 * list of stored pictures is therefore kept. */
static gboolean
end_unknown (References * references, const ReferencePicture * picture,
    ReferenceUse * use)
{
  if (picture->is_reference) {
    clear (references);
    references->has_frame_num = FALSE;
  }
  use->uses = picture->is_key ? 0 : SLOTS_ALL;
  use->updates = picture->is_reference ? SLOTS_ALL : 0;
  use->depth = 0;
  return references->is_active;
}

gboolean
references_end (References * references, const ReferencePicture * picture,
    ReferenceUse * use)
{
  guint depth;

  if (picture->is_key)
    begin_gop (references);
  references->number++;
  if (picture->is_key)
    references->key_number = references->number;
  if (!references->is_known) {
    references->findings.is_abandoned = TRUE;
    return end_unknown (references, picture, use);
  }
  references->is_known = FALSE;
  if (picture->is_key)
    references->uses = 0;
  else if (!picture->is_leading)
    references->uses = select_group (references);
  use->depth = depth = find_depth (references, picture);
  note_findings (references, picture, depth);
  use->uses = references->uses;
  if (references->is_h264 && !picture->is_key)
    use->uses |= SLOT_MARKS;
  if (references->is_h264 && picture->is_leading)
    use->uses |= references->are_marks_in_doubt ? SLOTS_ALL :
        get_key (references) | SLOT_GROUP_MARKS (references->gop - 1);
  use->updates = 0;
  if (picture->is_reference)
    use->updates =
        references->is_h264 ? store_h264 (references, picture->is_leading,
        depth) : get_bit (references, store (references, 0, depth));
  if (picture->is_key)
    use->updates = picture->is_closed ? SLOTS_ALL : use->updates | SLOT_MARKS
        | SLOT_GROUP_MARKS (references->gop);
  return references->is_active;
}
