/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the module that finds the references of H.264 and H.265. The pictures
 * form a valid stream. Its references, list modifications and memory management
 * are arbitrary. The module tells for each picture which slots the picture uses
 * and updates. A slot stands for a reference picture that a decoder stores. The
 * test drops some pictures. It also drops each picture that uses a slot, if the
 * picture that last updated this slot was dropped.
 *
 * Two models of a decoder check the result. The first model receives the whole
 * stream. The second model receives only the pictures that were not dropped.
 * For each of these pictures, both models must find the same reference
 * pictures.
 *
 * Input: one byte with codec and options, then pictures. Each picture consists
 * of these parts:
 * - a byte with the type and the flags of the picture
 * - a byte with the distance in display order from another picture: for a
 *   leading picture, the last key frame; for other pictures, the last key frame
 *   or P-frame
 * - bytes for the references of the picture
 */

#include "fuzz.h"
#include "references.h"

#define MAX_STORED 16
#define MAX_PICTURES 400
#define SLOT_BITS ((1u << 17) - 1)
/* Bits of the four special slots. The other slots stand for the reference
 * pictures that a decoder stores, but the special slots do not. One of them
 * stands for missing pictures. Three stand for the marks of H.264, which say
 * which pictures are still used for reference. */
#define SPECIAL_BITS (15u << 28)
/* Picture number of the substitute that a decoder stores in place of a lost
 * picture. */
#define SUBSTITUTE -1

typedef enum
{
  TYPE_IDR,
  TYPE_OPEN,                    /* a key frame that is not an IDR picture */
  TYPE_LEADING,
  TYPE_P,
  TYPE_B,
  TYPE_LAST
} Type;

#define FLAG_REFERENCE (1 << 3)
#define FLAG_DROP (1 << 4)
#define FLAG_CHANGES (1 << 5)
#define FLAG_MARKS (1 << 6)
/* Bits 5 to 7 of the byte that describes a picture. If all three bits are set,
 * the test tells the code under test that the references of the picture are
 * unknown. */
#define FLAGS_UNKNOWN (7 << 5)

typedef struct
{
  gint number;                  /* in decoding order, or SUBSTITUTE */
  gint gop;
  gint32 order;
  guint frame_num;
  gboolean is_leading;
} Stored;

/* The reference pictures that the decoder stores. The first picture in the list
 * is the picture that was decoded last. */
typedef struct
{
  Stored stored[MAX_STORED + 1];
  guint n;
  gboolean has_frame_num;
  guint last_frame_num;
} Decoder;

typedef struct
{
  gboolean is_h264;
  guint max_references, max_frame_num;
  H264Headers *headers;
  References *references;
  Decoder whole, arrived;
  gint number, gop;
  gint32 key_order, max_order;
  guint frame_num;
  guint32 wrong;
  gboolean may_lead;            /* A leading picture may come next. */
  gboolean is_active;
  /* TRUE if the value of `is_active` changed at the last key frame. `is_active`
   * says whether the code under test tells which slots a picture uses and
   * updates. */
  gboolean was_switched;
  guint n_since_key;
} Model;

/* --- an SPS of H.264 ------------------------------------------------------ */

typedef struct
{
  guint8 bytes[32];
  guint n;                      /* in bits */
} Bits;

static void
put_bits (Bits * bits, guint n, guint value)
{
  while (n-- > 0) {
    bits->bytes[bits->n / 8] |= (value >> n & 1) << (7 - bits->n % 8);
    bits->n++;
  }
}

static void
put_ue (Bits * bits, guint value)
{
  const guint length = g_bit_storage (value + 1);

  put_bits (bits, length - 1, 0);
  put_bits (bits, length, value + 1);
}

static void
add_sps (Model * model)
{
  Bits sps = { {0,}, 0 };

  put_bits (&sps, 8, 0x67);
  put_bits (&sps, 8, 66);       /* profile_idc */
  put_bits (&sps, 16, 30);      /* constraints and level_idc */
  put_ue (&sps, 0);             /* seq_parameter_set_id */
  put_ue (&sps, g_bit_storage (model->max_frame_num) - 1 - 4);
  put_ue (&sps, 2);             /* pic_order_cnt_type */
  put_ue (&sps, model->max_references);
  /* SPS field gaps_in_frame_num_value_allowed_flag = 1: the values of frame_num
   * may have gaps. */
  put_bits (&sps, 1, 1);
  put_ue (&sps, 9);
  put_ue (&sps, 5);
  /* The remaining bits of the SPS, from frame_mbs_only_flag to the stop bit. */
  put_bits (&sps, 5, 0x19);
  h264_headers_add_sps (model->headers, sps.bytes, (sps.n + 7) / 8);
}

/* --- the decoder ---------------------------------------------------------- */

static void
remove_stored (Decoder * decoder, guint at)
{
  memmove (decoder->stored + at, decoder->stored + at + 1,
      (decoder->n - at - 1) * sizeof (Stored));
  decoder->n--;
}

static void
store (Decoder * decoder, const Stored * stored)
{
  if (decoder->n > MAX_STORED)
    remove_stored (decoder, decoder->n - 1);
  memmove (decoder->stored + 1, decoder->stored, decoder->n * sizeof (Stored));
  decoder->stored[0] = *stored;
  decoder->n++;
}

static gint
get_pic_num (const Stored * stored, guint frame_num, guint max_frame_num)
{
  return stored->frame_num > frame_num ?
      (gint) stored->frame_num - (gint) max_frame_num :
      (gint) stored->frame_num;
}

/* The sliding window of H.264 (section 8.2.5.3): makes room for a new picture.
 * Removes the picture with the lowest FrameNumWrap until fewer than
 * max_references pictures are stored. */
static void
slide (Decoder * decoder, guint frame_num, const Model * model)
{
  guint oldest, i;

  while (decoder->n >= model->max_references) {
    for (oldest = 0, i = 1; i < decoder->n; i++) {
      if (get_pic_num (&decoder->stored[i], frame_num, model->max_frame_num)
          < get_pic_num (&decoder->stored[oldest], frame_num,
              model->max_frame_num))
        oldest = i;
    }
    remove_stored (decoder, oldest);
  }
}

/* Section 8.2.5.2 of H.264 */
static void
fill_gap (Decoder * decoder, guint frame_num, const Model * model)
{
  const guint mask = model->max_frame_num - 1;
  guint next;

  if (!decoder->has_frame_num || frame_num == decoder->last_frame_num)
    return;
  for (next = (decoder->last_frame_num + 1) & mask; next != frame_num;
      next = (next + 1) & mask) {
    const Stored substitute = { SUBSTITUTE, -1, 0, next, FALSE };

    slide (decoder, next, model);
    store (decoder, &substitute);
    decoder->last_frame_num = next;
  }
}

static gint
find_pic_num (const Decoder * decoder, gint pic_num, guint frame_num,
    const Model * model)
{
  guint i;

  for (i = 0; i < decoder->n; i++) {
    if (get_pic_num (&decoder->stored[i], frame_num, model->max_frame_num)
        == pic_num)
      return i;
  }
  return -1;
}

/* Writes the reference picture list of a P-slice to `list` (sections 8.2.4.2.1
 * and 8.2.4.3.1 of H.264). Returns FALSE if a modification of the list refers
 * to a picture that is not stored. */
static gboolean
make_list (const Decoder * decoder, const H264Slice * slice,
    const Model * model, Stored list[H264_MAX_LIST_CHANGES + MAX_STORED + 2])
{
  gint predicted = slice->frame_num, max = model->max_frame_num, found;
  guint n = 0, i, j;

  for (i = 0; i < decoder->n; i++) {
    const gint num = get_pic_num (&decoder->stored[i], slice->frame_num, max);

    for (j = n++; j > 0 && get_pic_num (&list[j - 1], slice->frame_num, max)
        < num; j--)
      list[j] = list[j - 1];
    list[j] = decoder->stored[i];
  }
  for (i = 0; i < slice->n_changes; i++) {
    const gint distance = slice->changes[i].value + 1;
    const Stored none = { SUBSTITUTE, -1, 0, G_MAXUINT, FALSE };

    predicted += slice->changes[i].operation == 1 ? distance : -distance;
    predicted = (predicted + 2 * max) % max;
    found = find_pic_num (decoder, predicted > (gint) slice->frame_num ?
        predicted - max : predicted, slice->frame_num, model);
    if (found < 0)
      return FALSE;
    for (; n <= i; n++)
      list[n] = none;
    memmove (list + i + 1, list + i, (n - i) * sizeof (Stored));
    list[i] = decoder->stored[found];
    n++;
    for (j = i + 1; j < n; j++) {
      if (list[j].frame_num == list[i].frame_num) {
        memmove (list + j, list + j + 1, (n - j - 1) * sizeof (Stored));
        n--;
        break;
      }
    }
  }
  for (; n < slice->n_references; n++) {
    const Stored none = { SUBSTITUTE, -1, 0, G_MAXUINT, FALSE };

    list[n] = none;
  }
  return TRUE;
}

/* Section 8.2.5 of H.264. If an IDR picture was lost, an older picture may have
 * the same frame_num. The standard does not say what a decoder does then. This
 * model of a decoder removes the older picture, as ffmpeg does. */
static void
mark_h264 (Decoder * decoder, const H264Slice * slice, const Stored * picture,
    const Model * model)
{
  const gint same = find_pic_num (decoder, slice->frame_num, slice->frame_num,
      model);
  guint i;

  if (same >= 0)
    remove_stored (decoder, same);

  for (i = 0; i < slice->n_marks; i++) {
    const gint found = find_pic_num (decoder, (gint) slice->frame_num
        - (gint) slice->marks[i].value - 1, slice->frame_num, model);

    if (found >= 0)
      remove_stored (decoder, found);
  }
  /* A picture may contain operations that remove other pictures from the
   * decoder. If such a picture was lost, more pictures may be stored than
   * allowed. The decoder then removes the oldest pictures. */
  slide (decoder, slice->frame_num, model);
  store (decoder, picture);
  decoder->has_frame_num = TRUE;
  decoder->last_frame_num = slice->frame_num;
}

static const Stored *
find_number (const Decoder * decoder, gint number)
{
  guint i;

  for (i = 0; i < decoder->n; i++) {
    if (decoder->stored[i].number == number)
      return &decoder->stored[i];
  }
  return NULL;
}

/* --- H.264 ---------------------------------------------------------------- */

static void
begin_decoder_h264 (Decoder * decoder, const H264Slice * slice,
    const Model * model)
{
  if (slice->is_idr)
    decoder->n = 0;
  else
    fill_gap (decoder, slice->frame_num, model);
}

/* Returns whether the current picture may need a stored picture.
 *
 * A group is a key frame and the pictures after it up to the next key frame. A
 * decoder may begin at any key frame. It must then decode all trailing pictures
 * of the group of this key frame, and all leading pictures of the next group.
 *
 * A trailing picture therefore needs neither leading pictures nor pictures of
 * earlier groups. A leading picture needs only pictures of its own group and of
 * the group before. */
static gboolean
is_needed (const Model * model, const Stored * stored, Type type)
{
  if (stored->number == SUBSTITUTE)
    return FALSE;
  if (type == TYPE_LEADING)
    return stored->gop == model->gop || (stored->gop == model->gop - 1
        && !stored->is_leading);
  return stored->gop == model->gop && !stored->is_leading;
}

static void
take_changes (Model * model, FuzzInput * input, Type type, H264Slice * slice)
{
  gint predicted = slice->frame_num;
  guint n = fuzz_take_u8 (input) % 4 + 1;

  while (n-- > 0 && model->whole.n > 0) {
    const Stored *to =
        &model->whole.stored[fuzz_take_u8 (input) % model->whole.n];
    const gint mask = model->max_frame_num - 1;
    H264Operation *change = &slice->changes[slice->n_changes];
    guint distance = (predicted - (gint) to->frame_num) & mask;

    if (!is_needed (model, to, type))
      continue;
    if (distance == 0)
      distance = model->max_frame_num;
    change->value = distance - 1;
    predicted = to->frame_num;
    slice->n_changes++;
  }
}

static void
take_marks (Model * model, FuzzInput * input, H264Slice * slice)
{
  guint n = fuzz_take_u8 (input) % 3 + 1;
  Decoder left = model->whole;

  /* The memory management operations must remove enough pictures for the
   * decoder to store the current picture. */
  for (; left.n > 0 && (n > 0 || left.n >= model->max_references); n -= n > 0) {
    const guint at = fuzz_take_u8 (input) % left.n;

    slice->marks[slice->n_marks].operation = 1;
    slice->marks[slice->n_marks].value = (slice->frame_num
        - left.stored[at].frame_num - 1) & (model->max_frame_num - 1);
    slice->n_marks++;
    remove_stored (&left, at);
  }
}

static void
check_arrived_h264 (const Model * model, const H264Slice * slice, Type type)
{
  Stored expected[H264_MAX_LIST_CHANGES + MAX_STORED + 2];
  Stored found[H264_MAX_LIST_CHANGES + MAX_STORED + 2];
  guint i;

  if (slice->is_b) {
    for (i = 0; i < model->whole.n; i++) {
      if (is_needed (model, &model->whole.stored[i], type))
        fuzz_check (find_number (&model->arrived,
                model->whole.stored[i].number));
    }
    return;
  }
  fuzz_check (make_list (&model->whole, slice, model, expected));
  fuzz_check (make_list (&model->arrived, slice, model, found));
  for (i = 0; i < slice->n_references; i++) {
    if (is_needed (model, &expected[i], type))
      fuzz_check (expected[i].number == found[i].number);
  }
}

static void
take_h264 (Model * model, FuzzInput * input, guint what, Type type,
    gint32 order, H264Slice * slice)
{
  memset (slice, 0, sizeof (*slice));
  slice->is_idr = type == TYPE_IDR;
  slice->is_intra = type <= TYPE_OPEN;
  slice->is_reference = slice->is_intra || (what & FLAG_REFERENCE);
  slice->ref_idc = !slice->is_reference ? 0 : slice->is_intra ? 3 :
      1 + fuzz_take_u8 (input) % 3;
  slice->is_b = type == TYPE_B || (type == TYPE_LEADING && (what & FLAG_MARKS));
  if (slice->is_idr)
    model->frame_num = 0;
  slice->frame_num = model->frame_num;
  if (!slice->is_intra)
    slice->n_references = 1 + fuzz_take_u8 (input) % MAX_STORED;
  if (!slice->is_intra && !slice->is_b && (what & FLAG_CHANGES))
    take_changes (model, input, type, slice);
  if (slice->is_reference && !slice->is_idr && (what & FLAG_MARKS))
    take_marks (model, input, slice);
  references_begin_h264 (model->references, model->headers, slice, order);
  if ((what & FLAGS_UNKNOWN) == FLAGS_UNKNOWN)
    references_abandon (model->references);
  else
    references_add_h264_slice (model->references, slice);
}

/* --- H.265 ---------------------------------------------------------------- */

/* Takes the reference picture set of an H.265 slice from the input. The set
 * lists only pictures that the decoder stores. A group is a key frame and the
 * pictures after it up to the next key frame. A leading picture may list only
 * pictures of its own group and of the group before. A trailing picture may
 * list only pictures of its own group (section 8.3.2 of H.265). */
static void
take_h265 (Model * model, FuzzInput * input, guint what, Type type,
    gint32 order, H265Slice * slice)
{
  guint kept = fuzz_take_u16 (input), used = fuzz_take_u16 (input), i;

  memset (slice, 0, sizeof (*slice));
  slice->order = order;
  for (i = 0; i < model->whole.n && type != TYPE_IDR; i++) {
    const Stored *stored = &model->whole.stored[i];
    H265Reference *reference = &slice->references[slice->n_references];

    if (!(kept >> i & 1) || slice->n_references == H265_MAX_REFERENCES - 1
        || (type >= TYPE_LEADING && !is_needed (model, stored, type)))
      continue;
    reference->order = stored->order;
    reference->mask = G_MAXUINT32;
    reference->is_used = type != TYPE_OPEN && (used >> i & 1);
    slice->n_references++;
  }
  references_begin_h265 (model->references, slice);
  if ((what & FLAGS_UNKNOWN) == FLAGS_UNKNOWN)
    references_abandon (model->references);
}

static gboolean
is_listed (const H265Slice * slice, gint32 order, gboolean * is_used)
{
  guint i;

  for (i = 0; i < slice->n_references; i++) {
    if (slice->references[i].order == order) {
      *is_used = slice->references[i].is_used;
      return TRUE;
    }
  }
  return FALSE;
}

static void
begin_decoder_h265 (Decoder * decoder, const H265Slice * slice)
{
  gboolean is_used;
  guint i;

  for (i = 0; i < decoder->n;) {
    if (is_listed (slice, decoder->stored[i].order, &is_used))
      i++;
    else
      remove_stored (decoder, i);
  }
}

static void
check_arrived_h265 (const Model * model, const H265Slice * slice)
{
  guint i;

  for (i = 0; i < model->whole.n; i++) {
    const Stored *stored = &model->whole.stored[i];
    gboolean is_used;

    if (is_listed (slice, stored->order, &is_used) && is_used)
      fuzz_check (find_number (&model->arrived, stored->number));
  }
}

/* --- pictures ------------------------------------------------------------- */

static void
check_use (const Model * model, const ReferencePicture * picture,
    const ReferenceUse * use)
{
  if (use->uses != G_MAXUINT32)
    fuzz_check ((use->uses & ~(SLOT_BITS | SPECIAL_BITS)) == 0);
  if (picture->is_key)
    fuzz_check (use->uses == 0);
  if (picture->is_closed)
    fuzz_check (use->updates == G_MAXUINT32);
  if (picture->is_reference)
    fuzz_check ((use->updates & SLOT_BITS) != 0);
  else
    fuzz_check (use->updates == 0);
  /* `depth` is the number of the layer of the picture, and the base layer has
   * the number 0. The number may come from the stream, and is then at most 7.
   * It may also be one more than the highest layer number of the pictures to
   * which the picture refers. In this second case, each picture since the last
   * key frame can increase the number by 1. The maximum is therefore 7 plus the
   * number of pictures since the last key frame. */
  fuzz_check (use->depth <= 7 + model->n_since_key);
}

/* Returns whether the picture is dropped, on its own or because a picture that
 * it needs was dropped. */
static gboolean
drop (Model * model, guint what, const ReferencePicture * picture,
    gboolean is_active, const ReferenceUse * use)
{
  gboolean is_dropped = is_active && (what & FLAG_DROP);

  if (picture->is_key) {
    model->was_switched = is_active != model->is_active;
    if (model->was_switched)
      model->wrong = G_MAXUINT32;
  }
  fuzz_check (picture->is_key || is_active == model->is_active);
  model->is_active = is_active;
  if (!is_active)
    return picture->is_leading && model->was_switched;
  is_dropped |= (use->uses & model->wrong) != 0
      || (picture->is_leading && model->was_switched);
  if (is_dropped)
    model->wrong |= use->updates;
  else
    model->wrong &= ~use->updates;
  return is_dropped;
}

static gint32
take_order (Model * model, FuzzInput * input, Type type)
{
  const guint distance = fuzz_take_u8 (input) % 16 + 1;

  if (type == TYPE_IDR) {
    model->key_order = model->max_order = 0;
    return 0;
  }
  if (type == TYPE_LEADING)
    return model->key_order - distance;
  if (type == TYPE_P || type == TYPE_OPEN) {
    model->max_order += distance;
    if (type == TYPE_OPEN)
      model->key_order = model->max_order;
    return model->max_order;
  }
  return MAX (model->max_order - (gint32) distance, model->key_order + 1);
}

static gboolean
has_order (const Decoder * decoder, gint32 order)
{
  guint i;

  for (i = 0; i < decoder->n; i++) {
    if (decoder->stored[i].order == order)
      return TRUE;
  }
  return FALSE;
}

static void
decode (Model * model, Decoder * decoder, const H264Slice * h264,
    const Stored * stored)
{
  if (model->is_h264)
    mark_h264 (decoder, h264, stored, model);
  else
    store (decoder, stored);
}

/* Returns the type of the next picture. A leading picture may refer to the
 * group of pictures before its key frame, so it is allowed only if its key
 * frame is not an IDR picture. All leading pictures come before the first
 * trailing picture. */
static Type
take_type (Model * model, guint what)
{
  const Type type = model->number == 0 ? TYPE_IDR : what % 8 % TYPE_LAST;

  if (type == TYPE_LEADING && !model->may_lead)
    return TYPE_P;
  model->may_lead = type == TYPE_OPEN || type == TYPE_LEADING;
  return type;
}

static void
input_picture (Model * model, FuzzInput * input)
{
  const guint what = fuzz_take_u8 (input);
  const Type type = take_type (model, what);
  const gint32 order = take_order (model, input, type);
  const gboolean is_key = type <= TYPE_OPEN;
  const gboolean is_reference = is_key || (what & FLAG_REFERENCE);
  const ReferencePicture picture = { is_key, type == TYPE_IDR,
    type == TYPE_LEADING, is_reference, (gint) (what >> 5 & 3) - 1
  };
  Stored stored = { model->number, model->gop, order, 0, picture.is_leading };
  H264Slice h264;
  H265Slice h265;
  ReferenceUse use;
  gboolean is_active, is_dropped;

  /* In a valid stream, two pictures of a group never have the same picture
   * order count. If a stored picture already has the count `order`, the new
   * picture is therefore left out. */
  if (!is_key && has_order (&model->whole, order))
    return;
  if (is_key) {
    stored.gop = ++model->gop;
    model->n_since_key = 0;
  }
  if (model->is_h264)
    take_h264 (model, input, what, type, order, &h264);
  else
    take_h265 (model, input, what, type, order, &h265);
  stored.frame_num = model->frame_num;
  is_active = references_end (model->references, &picture, &use);
  if (is_active)
    check_use (model, &picture, &use);
  is_dropped = drop (model, what, &picture, is_active, &use);
  model->n_since_key++;
  model->number++;

  if (model->is_h264) {
    begin_decoder_h264 (&model->whole, &h264, model);
    if (!is_dropped)
      begin_decoder_h264 (&model->arrived, &h264, model);
    if (is_active && !is_dropped && !is_key)
      check_arrived_h264 (model, &h264, type);
  } else {
    begin_decoder_h265 (&model->whole, &h265);
    if (!is_dropped)
      begin_decoder_h265 (&model->arrived, &h265);
    if (is_active && !is_dropped && !is_key)
      check_arrived_h265 (model, &h265);
  }
  if (!is_reference)
    return;
  decode (model, &model->whole, &h264, &stored);
  if (!is_dropped)
    decode (model, &model->arrived, &h264, &stored);
  model->frame_num = (model->frame_num + 1) & (model->max_frame_num - 1);
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  const guint options = fuzz_take_u8 (&input);
  static Model model;

  memset (&model, 0, sizeof (model));
  model.is_h264 = options & 1;
  model.max_references = 1 + (options >> 1) % MAX_STORED;
  /* frame_num counts pictures modulo MaxFrameNum. Each group of pictures has
   * fewer pictures than MaxFrameNum, so a gap in frame_num within a group is
   * never ambiguous. */
  model.max_frame_num = 1 << 16;
  model.headers = h264_headers_new ();
  model.references = references_new ();
  add_sps (&model);
  if (options >> 6 & 1)
    references_declare_layers (model.references);
  while (input.size > 0 && model.number < MAX_PICTURES)
    input_picture (&model, &input);
  references_free (model.references);
  h264_headers_free (model.headers);
  return 0;
}
