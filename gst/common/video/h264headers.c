/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of h264headers.h: parsing of H.264 headers.
 *
 * Section numbers refer to ITU-T H.264. The parser rejects values above the
 * maximum that the standard allows. The number of steps to parse one header is
 * therefore limited. Picture order counts have 32 bits. They wrap around in
 * streams that exceed the range of the standard.
 */

#include "h264headers.h"

#include <string.h>

#include "nalbits.h"
#include "nalunittypes.h"

/* maximum numbers of sequence parameter sets and of picture parameter sets
 * (sections 7.4.2.1 and 7.4.2.2 of H.264) */
#define MAX_SPS 32
#define MAX_PPS 256
/* maximum value of num_ref_frames_in_pic_order_cnt_cycle, a field of the SPS */
#define MAX_CYCLE 255
/* maximum of log2_max_frame_num_minus4 and of log2_max_pic_order_cnt_lsb_minus4
 */
#define MAX_LOG2 12
#define MAX_REFERENCES 16       /* MaxDpbFrames, A.3.1 */
/* maximum value of num_slice_groups_minus1, a field of the PPS (section A.2 of
 * H.264) */
#define MAX_SLICE_GROUPS 7
/* Maximum of PicSizeInMapUnits: the number of map units in the largest picture
 * that the highest level of H.264 allows (table A-1). */
#define MAX_MAP_UNITS 139264

/* Highest possible index in a list of reference pictures. In a slice of a
 * field, a list can have 32 entries (section 7.4.3 of H.264). */
#define MAX_REF_IDX 31

typedef enum
{
  SLICE_P,
  SLICE_B,
  SLICE_I,
  SLICE_SP,
  SLICE_SI,
  SLICE_TYPES
} SliceType;

typedef struct
{
  gboolean is_set;
  gboolean is_monochrome;       /* ChromaArrayType is 0 */
  gboolean separate_planes;
  gboolean frames_only;
  guint log2_max_frame_num;
  guint order_type;             /* pic_order_cnt_type */
  guint log2_max_order_lsb;
  guint max_references;         /* max_num_ref_frames */
  /* The following fields are valid only if pic_order_cnt_type is 1. */
  gboolean delta_always_zero;
  gint32 offset_non_reference, offset_bottom;
  guint n_cycle;
  gint32 offset_cycle[MAX_CYCLE];
} Sps;

typedef struct
{
  gboolean is_set;
  guint sps;
  /* value of bottom_field_pic_order_in_frame_present_flag */
  gboolean has_bottom_order;
  /* Highest index of each of the two lists of reference pictures
   * (num_ref_idx_l0/l1_default_active_minus1). A slice header may contain a
   * different value. */
  guint last_ref_idx[2];
  gboolean weights_p;
  guint weights_b;
  gboolean has_redundant;
} Pps;

struct _H264Headers
{
  Sps sps[MAX_SPS];
  Pps pps[MAX_PPS];

  /* values from previous pictures that are needed to compute the picture order
   * count of the next picture (section 8.2.1 of H.264) */
  guint frame_num;              /* prevFrameNum */
  guint32 frame_num_offset;     /* prevFrameNumOffset */
  guint32 order_msb;            /* prevPicOrderCntMsb */
  guint order_lsb;              /* prevPicOrderCntLsb */
};

H264Headers *
h264_headers_new (void)
{
  return g_new0 (H264Headers, 1);
}

void
h264_headers_free (H264Headers * headers)
{
  g_free (headers);
}

void
h264_headers_reset (H264Headers * headers)
{
  headers->frame_num = 0;
  headers->frame_num_offset = headers->order_msb = 0;
  headers->order_lsb = 0;
}

/* Parameter sets */

/* Skips scaling_list () (section 7.3.2.1.1.1 of H.264). */
static void
skip_scaling_list (NalBits * bits, guint size)
{
  guint last = 8, next = 8, i;

  for (i = 0; i < size && next != 0; i++) {
    next = (last + (guint) nal_bits_take_se (bits)) & 255;
    if (next != 0)
      last = next;
  }
}

static void
skip_scaling_matrix (NalBits * bits, gboolean is_444)
{
  guint i;

  for (i = 0; i < (is_444 ? 12 : 8); i++) {
    if (nal_bits_take (bits, 1))
      skip_scaling_list (bits, i < 6 ? 16 : 64);
  }
}

/* Returns whether an SPS with the value `profile` of profile_idc has the field
 * chroma_format_idc (section 7.3.2.1.1 of H.264). */
static gboolean
has_chroma_format (guint profile)
{
  static const guint8 profiles[] = {
    100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135
  };

  return memchr (profiles, profile, sizeof (profiles)) != NULL;
}

static void
read_chroma_format (NalBits * bits, Sps * sps)
{
  guint format = nal_bits_take_index (bits, 3);

  if (format == 3)
    sps->separate_planes = nal_bits_take (bits, 1);
  sps->is_monochrome = format == 0 || sps->separate_planes;
  /* Skips fields of the SPS that are not needed: the bit depths of luma and
   * chroma, and qpprime_y_zero_transform_bypass_flag. */
  nal_bits_take_ue (bits);
  nal_bits_take_ue (bits);
  nal_bits_take (bits, 1);
  if (nal_bits_take (bits, 1))
    skip_scaling_matrix (bits, format == 3);
}

static void
read_order_cycle (NalBits * bits, Sps * sps)
{
  guint i;

  sps->delta_always_zero = nal_bits_take (bits, 1);
  sps->offset_non_reference = nal_bits_take_se (bits);
  sps->offset_bottom = nal_bits_take_se (bits);
  sps->n_cycle = nal_bits_take_index (bits, MAX_CYCLE);
  for (i = 0; i < sps->n_cycle; i++)
    sps->offset_cycle[i] = nal_bits_take_se (bits);
}

/* Parses the fields of an SPS up to and including frame_mbs_only_flag (section
 * 7.3.2.1.1 of H.264). */
void
h264_headers_add_sps (H264Headers * headers, const guint8 * data, gsize size)
{
  Sps sps = { TRUE, };
  guint profile, id, i;
  NalBits bits;

  nal_bits_init (&bits, data + MIN (size, 1), data + size);
  profile = nal_bits_take (&bits, 8);
  /* Skips the constraint flags and the level, which have 16 bits together. */
  nal_bits_take (&bits, 16);
  id = nal_bits_take_index (&bits, MAX_SPS - 1);
  if (has_chroma_format (profile))
    read_chroma_format (&bits, &sps);
  sps.log2_max_frame_num = nal_bits_take_index (&bits, MAX_LOG2) + 4;
  sps.order_type = nal_bits_take_index (&bits, 2);
  if (sps.order_type == 0)
    sps.log2_max_order_lsb = nal_bits_take_index (&bits, MAX_LOG2) + 4;
  else if (sps.order_type == 1)
    read_order_cycle (&bits, &sps);
  sps.max_references = nal_bits_take_index (&bits, MAX_REFERENCES);
  /* Skips fields of the SPS that are not needed:
   * gaps_in_frame_num_value_allowed_flag, width and height. */
  nal_bits_take (&bits, 1);
  nal_bits_take_ue (&bits);
  nal_bits_take_ue (&bits);
  sps.frames_only = nal_bits_take (&bits, 1);
  for (i = 0; bits.beyond && i < MAX_SPS; i++)
    headers->sps[i].is_set = FALSE;
  if (!bits.beyond)
    headers->sps[id] = sps;
}

/* Skips all slice_group_id fields. The number of bits of each field is just
 * sufficient for the highest group number, `last_group`. */
static void
skip_slice_group_ids (NalBits * bits, guint last_group)
{
  guint n = nal_bits_take_index (bits, MAX_MAP_UNITS - 1) + 1;

  for (; n > 0 && !bits->beyond; n--)
    nal_bits_take (bits, g_bit_storage (last_group));
}

/* Skips the slice groups of a PPS (section 7.3.2.2 of H.264). */
static void
skip_slice_groups (NalBits * bits, guint last_group)
{
  guint type = nal_bits_take_index (bits, 6), i;

  if (type == 0) {
    for (i = 0; i <= last_group; i++)
      nal_bits_take_ue (bits);
  } else if (type == 2) {
    for (i = 0; i < 2 * last_group; i++)
      nal_bits_take_ue (bits);
  } else if (type >= 3 && type <= 5) {
    nal_bits_take (bits, 1);
    nal_bits_take_ue (bits);
  } else if (type == 6) {
    skip_slice_group_ids (bits, last_group);
  }
}

/* Parses the fields of a PPS up to and including redundant_pic_cnt_present_flag
 * (section 7.3.2.2 of H.264). */
void
h264_headers_add_pps (H264Headers * headers, const guint8 * data, gsize size)
{
  Pps pps = { TRUE, };
  guint id, last_group, i;
  NalBits bits;

  nal_bits_init (&bits, data + MIN (size, 1), data + size);
  id = nal_bits_take_index (&bits, MAX_PPS - 1);
  pps.sps = nal_bits_take_index (&bits, MAX_SPS - 1);
  /* entropy_coding_mode_flag */
  nal_bits_take (&bits, 1);
  pps.has_bottom_order = nal_bits_take (&bits, 1);
  last_group = nal_bits_take_index (&bits, MAX_SLICE_GROUPS);
  if (last_group > 0)
    skip_slice_groups (&bits, last_group);
  pps.last_ref_idx[0] = nal_bits_take_index (&bits, MAX_REF_IDX);
  pps.last_ref_idx[1] = nal_bits_take_index (&bits, MAX_REF_IDX);
  pps.weights_p = nal_bits_take (&bits, 1);
  pps.weights_b = nal_bits_take (&bits, 2);
  /* Skips fields of the PPS that are not needed: the quantizers, deblocking
   * control and constrained intra prediction.
   */
  nal_bits_take_se (&bits);
  nal_bits_take_se (&bits);
  nal_bits_take_se (&bits);
  nal_bits_take (&bits, 2);
  pps.has_redundant = nal_bits_take (&bits, 1);
  for (i = 0; bits.beyond && i < MAX_PPS; i++)
    headers->pps[i].is_set = FALSE;
  if (!bits.beyond)
    headers->pps[id] = pps;
}

/* Slice headers */

static gboolean
has_lists (SliceType type)
{
  return type != SLICE_I && type != SLICE_SI;
}

/* Parses ref_pic_list_modification () for one list of reference pictures
 * (section 7.3.3.1 of H.264). Stores the operations in `changes` and returns
 * their number. */
static guint
read_list_changes (NalBits * bits, H264Operation * changes)
{
  guint i;

  if (!nal_bits_take (bits, 1))
    return 0;
  for (i = 0; i < H264_MAX_LIST_CHANGES; i++) {
    changes[i].operation = nal_bits_take_index (bits, 3);
    if (changes[i].operation == 3 || bits->beyond)
      return i;
    changes[i].value = nal_bits_take_ue (bits);
  }
  bits->beyond = TRUE;
  return 0;
}

/* Skips the prediction weights of one list of reference pictures (section
 * 7.3.3.2 of H.264). */
static void
skip_weights (NalBits * bits, guint last, gboolean is_monochrome)
{
  guint i;

  for (i = 0; i <= last; i++) {
    if (nal_bits_take (bits, 1)) {
      nal_bits_take_se (bits);
      nal_bits_take_se (bits);
    }
    if (!is_monochrome && nal_bits_take (bits, 1)) {
      nal_bits_take_se (bits);
      nal_bits_take_se (bits);
      nal_bits_take_se (bits);
      nal_bits_take_se (bits);
    }
  }
}

/* Parses dec_ref_pic_marking () of a picture that is not an IDR picture
 * (section 7.3.3.3 of H.264). The syntax structure contains memory management
 * control operations. Operation 5 marks all reference pictures as unused. */
static void
read_marks (NalBits * bits, H264Slice * slice)
{
  guint i;

  if (!nal_bits_take (bits, 1))
    return;
  for (i = 0; i < H264_MAX_MARKS; i++) {
    H264Operation *mark = &slice->marks[i];

    mark->operation = nal_bits_take_index (bits, 6);
    if (mark->operation == 0)
      return;
    slice->n_marks = i + 1;
    slice->forgets |= mark->operation == 5;
    if (mark->operation != 5)
      mark->value = nal_bits_take_ue (bits);
    if (mark->operation == 3)
      nal_bits_take_ue (bits);
  }
  bits->beyond = TRUE;
}

/* Parses the fields of a slice header from num_ref_idx_active_override_flag to
 * the prediction weights. */
static void
read_lists (NalBits * bits, const Sps * sps, const Pps * pps, H264Slice * slice)
{
  guint last[2] = { pps->last_ref_idx[0], pps->last_ref_idx[1] };
  const gboolean is_b = slice->is_b;

  if (nal_bits_take (bits, 1)) {
    last[0] = nal_bits_take_index (bits, MAX_REF_IDX);
    if (is_b)
      last[1] = nal_bits_take_index (bits, MAX_REF_IDX);
  }
  slice->n_references = last[0] + 1;
  slice->n_changes = read_list_changes (bits, slice->changes);
  /* In a B-slice, the operations of the second list overwrite those of the
   * first list. This does no harm, because only the operations of P-slices are
   * used. */
  if (is_b)
    slice->n_changes = read_list_changes (bits, slice->changes);
  if (is_b ? pps->weights_b != 1 : !pps->weights_p)
    return;
  nal_bits_take_ue (bits);
  if (!sps->is_monochrome)
    nal_bits_take_ue (bits);
  skip_weights (bits, last[0], sps->is_monochrome);
  if (is_b)
    skip_weights (bits, last[1], sps->is_monochrome);
}

static void
read_order (NalBits * bits, const Sps * sps, const Pps * pps, H264Slice * slice)
{
  gboolean has_bottom = pps->has_bottom_order && !slice->is_field;

  if (sps->order_type == 0) {
    slice->order_lsb = nal_bits_take (bits, sps->log2_max_order_lsb);
    if (has_bottom)
      slice->order_delta_bottom = nal_bits_take_se (bits);
  } else if (sps->order_type == 1 && !sps->delta_always_zero) {
    slice->order_delta[0] = nal_bits_take_se (bits);
    if (has_bottom)
      slice->order_delta[1] = nal_bits_take_se (bits);
  }
}

/* Parses the fields of a slice header from colour_plane_id to
 * redundant_pic_cnt. */
static void
read_place (NalBits * bits, const Sps * sps, const Pps * pps, H264Slice * slice)
{
  if (sps->separate_planes)
    nal_bits_take (bits, 2);
  slice->frame_num = nal_bits_take (bits, sps->log2_max_frame_num);
  if (!sps->frames_only)
    slice->is_field = nal_bits_take (bits, 1);
  if (slice->is_field)
    slice->is_bottom = nal_bits_take (bits, 1);
  if (slice->is_idr)
    nal_bits_take_ue (bits);
  read_order (bits, sps, pps, slice);
  if (pps->has_redundant)
    nal_bits_take_ue (bits);
}

/* Parses the fields of a slice header up to and including dec_ref_pic_marking
 * () (section 7.3.3 of H.264). */
gboolean
h264_headers_read_slice (const H264Headers * headers, const guint8 * data,
    gsize size, H264Slice * slice)
{
  SliceType type;
  const Pps *pps;
  const Sps *sps;
  NalBits bits;

  memset (slice, 0, sizeof (*slice));
  slice->ref_idc = size > 0 ? data[0] >> 5 & 3 : 0;
  slice->is_reference = slice->ref_idc > 0;
  slice->is_idr = size > 0 && (data[0] & H264_TYPE) == H264_IDR;
  nal_bits_init (&bits, data + MIN (size, 1), data + size);
  /* first_mb_in_slice */
  nal_bits_take_ue (&bits);
  type = nal_bits_take_index (&bits, 2 * SLICE_TYPES - 1) % SLICE_TYPES;
  slice->is_intra = !bits.beyond && !has_lists (type);
  pps = &headers->pps[nal_bits_take_index (&bits, MAX_PPS - 1)];
  sps = &headers->sps[pps->sps];
  if (bits.beyond || !pps->is_set || !sps->is_set)
    return FALSE;
  slice->sps = pps->sps;
  read_place (&bits, sps, pps, slice);
  slice->is_b = type == SLICE_B;
  if (slice->is_b)
    nal_bits_take (&bits, 1);
  if (has_lists (type))
    read_lists (&bits, sps, pps, slice);
  if (slice->is_idr) {
    /* Skips the field no_output_of_prior_pics_flag, which is not needed. */
    nal_bits_take (&bits, 1);
    slice->has_long_term = nal_bits_take (&bits, 1);
  } else if (slice->is_reference) {
    read_marks (&bits, slice);
  }
  return !bits.beyond;
}

/* Picture order count */

typedef struct
{
  guint32 top, bottom;
} Order;

/* Computes the picture order counts of a picture's two fields, in a stream with
 * pic_order_cnt_type 0 (section 8.2.1.1 of H.264). */
static Order
count_order_0 (H264Headers * headers, const Sps * sps, const H264Slice * slice)
{
  guint32 max = (guint32) 1 << sps->log2_max_order_lsb;
  guint32 msb = headers->order_msb;
  Order order;

  if (slice->order_lsb < headers->order_lsb
      && headers->order_lsb - slice->order_lsb >= max / 2)
    msb += max;
  else if (slice->order_lsb > headers->order_lsb
      && slice->order_lsb - headers->order_lsb > max / 2)
    msb -= max;
  order.top = order.bottom = msb + slice->order_lsb;
  if (!slice->is_field)
    order.bottom += slice->order_delta_bottom;
  if (slice->is_reference) {
    headers->order_msb = msb;
    headers->order_lsb = slice->order_lsb;
  }
  return order;
}

/* Computes the picture order counts of a picture's two fields, in a stream with
 * pic_order_cnt_type 1 (section 8.2.1.2 of H.264). `frame_num` is the variable
 * absFrameNum of the standard. */
static Order
count_order_1 (const Sps * sps, const H264Slice * slice, guint32 frame_num)
{
  guint32 expected = 0, cycle = 0, in_cycle = 0;
  Order order;
  guint i;

  if (sps->n_cycle == 0)
    frame_num = 0;
  if (!slice->is_reference && frame_num > 0)
    frame_num--;
  if (frame_num > 0) {
    cycle = (frame_num - 1) / sps->n_cycle;
    in_cycle = (frame_num - 1) % sps->n_cycle + 1;
  }
  for (i = 0; i < sps->n_cycle; i++)
    expected += sps->offset_cycle[i] * (cycle + (i < in_cycle));
  if (!slice->is_reference)
    expected += sps->offset_non_reference;
  order.top = expected + slice->order_delta[0];
  order.bottom = order.top + sps->offset_bottom;
  if (!slice->is_field)
    order.bottom += slice->order_delta[1];
  return order;
}

/* Computes the picture order counts of a picture's two fields, in a stream with
 * pic_order_cnt_type 2 (section 8.2.1.3 of H.264). */
static Order
count_order_2 (const H264Slice * slice, guint32 frame_num)
{
  Order order;

  order.top = order.bottom = 2 * frame_num - !slice->is_reference;
  return order;
}

/* Returns the value of frame_num without wrap-around: FrameNumOffset +
 * frame_num (section 8.2.1 of H.264). After a picture with
 * memory_management_control_operation 5, frame_num continues from 0 (section
 * 7.4.3 of H.264). */
static guint32
count_frame_num (H264Headers * headers, const Sps * sps,
    const H264Slice * slice)
{
  if (headers->frame_num > slice->frame_num)
    headers->frame_num_offset += (guint32) 1 << sps->log2_max_frame_num;
  headers->frame_num = slice->frame_num;
  return headers->frame_num_offset + slice->frame_num;
}

/* Returns the picture order count of the picture. For a field, it is the count
 * of this field. For a frame, it is the smaller one of the counts of its two
 * fields. */
static guint32
get_order (const H264Slice * slice, Order order)
{
  if (slice->is_field)
    return slice->is_bottom ? order.bottom : order.top;
  return (gint32) (order.bottom - order.top) < 0 ? order.bottom : order.top;
}

gint32
h264_headers_begin_picture (H264Headers * headers, const H264Slice * slice)
{
  const Sps *sps = &headers->sps[slice->sps];
  guint32 frame_num, count;
  Order order;

  if (slice->is_idr)
    h264_headers_reset (headers);
  frame_num = count_frame_num (headers, sps, slice);
  if (sps->order_type == 0)
    order = count_order_0 (headers, sps, slice);
  else if (sps->order_type == 1)
    order = count_order_1 (sps, slice, frame_num);
  else
    order = count_order_2 (slice, frame_num);
  count = get_order (slice, order);
  if (!slice->forgets)
    return count;
  h264_headers_reset (headers);
  /* The picture has marked all earlier reference pictures as unused
   * (memory_management_control_operation 5). When a decoder has decoded such a
   * picture, the decoder subtracts tempPicOrderCnt from the picture order
   * counts of the picture's fields. The picture then has the count 0 (section
   * 8.2.1 of H.264). */
  if (!slice->is_bottom)
    headers->order_lsb = order.top - count;
  return 0;
}

guint
h264_headers_get_order_range (const H264Headers * headers,
    const H264Slice * slice)
{
  const Sps *sps = &headers->sps[slice->sps];

  return sps->order_type == 0 ? 1u << sps->log2_max_order_lsb : 0;
}

void
h264_headers_get_limits (const H264Headers * headers, const H264Slice * slice,
    guint * max_references, guint * max_frame_num)
{
  const Sps *sps = &headers->sps[slice->sps];

  *max_references = MAX (sps->max_references, 1);
  *max_frame_num = 1u << sps->log2_max_frame_num;
}
