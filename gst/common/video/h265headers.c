/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of h265headers.h: parsing of H.265 headers.
 *
 * Section numbers refer to ITU-T H.265. The parser rejects values above the
 * maximum that the standard allows. The number of steps to parse one header is
 * therefore limited.
 */

#include "h265headers.h"

#include <string.h>

#include "nalbits.h"
#include "nalunittypes.h"

/* maximum numbers of sequence parameter sets and of picture parameter sets
 * (sections 7.4.3.2.1 and 7.4.3.3.1 of H.265)
 */
#define MAX_SPS 16
#define MAX_PPS 64
/* maximum value of num_short_term_ref_pic_sets, a field of the SPS */
#define MAX_SETS 64
/* maximum value of num_long_term_ref_pics_sps, a field of the SPS */
#define MAX_LONG_TERM 32
#define MAX_SUB_LAYERS 7
/* maximum value of log2_max_pic_order_cnt_lsb_minus4, a field of the SPS */
#define MAX_LOG2_ORDER 12
#define HEADER_SIZE 2           /* size in bytes of the header of a NAL unit */

typedef struct
{
  gint32 delta;
  gboolean is_used;
} ShortTerm;

/* A short-term reference picture set (section 7.4.8 of H.265). It has two
 * groups. The first group contains the pictures that are shown before the
 * current picture. The second group contains the pictures that are shown after
 * it. In each group, the picture nearest to the current picture is first. */
typedef struct
{
  guint n[2];
  ShortTerm pictures[2][H265_MAX_REFERENCES];
} Set;

typedef struct
{
  gboolean is_set;
  gboolean separate_planes;
  guint log2_max_order;
  guint n_sets;
  Set sets[MAX_SETS];
  gboolean has_long_term;
  guint n_long_term;
  struct
  {
    guint order;
    gboolean is_used;
  } long_term[MAX_LONG_TERM];
} Sps;

typedef struct
{
  gboolean is_set;
  guint sps;
  gboolean has_output_flag;
  guint n_extra_bits;           /* num_extra_slice_header_bits */
} Pps;

struct _H265Headers
{
  Sps *sps[MAX_SPS];            /* NULL if there is none */
  Pps pps[MAX_PPS];
  /* Picture order count (PicOrderCntVal) of an earlier picture, from which the
   * count of the next picture is computed. The earlier picture is the last one
   * that has TemporalId 0 and is neither a leading picture nor a sub-layer
   * non-reference picture (section 8.3.1 of H.265). */
  guint32 order;
};

H265Headers *
h265_headers_new (void)
{
  return g_new0 (H265Headers, 1);
}

static void
drop_all_sps (H265Headers * headers)
{
  guint i;

  for (i = 0; i < MAX_SPS; i++)
    g_clear_pointer (&headers->sps[i], g_free);
}

void
h265_headers_free (H265Headers * headers)
{
  drop_all_sps (headers);
  g_free (headers);
}

void
h265_headers_reset (H265Headers * headers)
{
  headers->order = 0;
}

/* Parameter sets */

static void
skip_bits (NalBits * bits, guint n)
{
  for (; n > 32; n -= 32)
    nal_bits_take (bits, 32);
  nal_bits_take (bits, n);
}

/* Skips the syntax structure profile_tier_level () of an SPS (section 7.3.3 of
 * H.265). Its parameter profilePresentFlag is always 1 in an SPS. */
static void
skip_profile (NalBits * bits, guint highest_sub_layer)
{
  guint present[MAX_SUB_LAYERS] = { 0, }, i;

  skip_bits (bits, 88);
  skip_bits (bits, 8);
  for (i = 0; i < highest_sub_layer; i++)
    present[i] = nal_bits_take (bits, 2);
  if (highest_sub_layer > 0)
    skip_bits (bits, 2 * (8 - highest_sub_layer));
  for (i = 0; i < highest_sub_layer; i++) {
    if (present[i] & 2)
      skip_bits (bits, 88);
    if (present[i] & 1)
      skip_bits (bits, 8);
  }
}

/* Skips one scaling list of scaling_list_data () (section 7.3.4 of H.265). */
static void
skip_scaling_list (NalBits * bits, guint size)
{
  guint n = MIN (64, 1 << (4 + (size << 1))), i;

  if (!nal_bits_take (bits, 1)) {
    nal_bits_take_ue (bits);
    return;
  }
  if (size > 1)
    nal_bits_take_se (bits);
  for (i = 0; i < n; i++)
    nal_bits_take_se (bits);
}

static void
skip_scaling_lists (NalBits * bits)
{
  guint size, matrix;

  for (size = 0; size < 4; size++)
    for (matrix = 0; matrix < 6; matrix += size == 3 ? 3 : 1)
      skip_scaling_list (bits, size);
}

static void
add_short_term (NalBits * bits, Set * set, gint32 delta, gboolean is_used)
{
  const guint which = delta > 0;
  ShortTerm *picture;

  if (set->n[0] + set->n[1] >= H265_MAX_REFERENCES) {
    bits->beyond = TRUE;
    return;
  }
  picture = &set->pictures[which][set->n[which]++];
  picture->delta = delta;
  picture->is_used = is_used;
}

/* Computes a reference picture set that is coded as a difference from an
 * earlier set, `from` (equations 7-61 and 7-62 of H.265). The picture order
 * counts of the pictures in `from` are shifted by `delta`, and flags select
 * which of these pictures are in the new set. The new set can also contain the
 * picture to which the set `from` belongs. */
static void
predict_set (NalBits * bits, const Set * from, gint32 delta, Set * set)
{
  const guint n = from->n[0] + from->n[1];
  gboolean is_used[H265_MAX_REFERENCES + 1], is_kept[H265_MAX_REFERENCES + 1];
  gint32 at;
  guint i;

  for (i = 0; i <= n; i++) {
    is_used[i] = nal_bits_take (bits, 1);
    is_kept[i] = is_used[i] || nal_bits_take (bits, 1);
  }
  for (i = from->n[1]; i-- > 0;) {
    at = from->pictures[1][i].delta + delta;
    if (at < 0 && is_kept[from->n[0] + i])
      add_short_term (bits, set, at, is_used[from->n[0] + i]);
  }
  if (delta < 0 && is_kept[n])
    add_short_term (bits, set, delta, is_used[n]);
  for (i = 0; i < from->n[0]; i++) {
    at = from->pictures[0][i].delta + delta;
    if (at < 0 && is_kept[i])
      add_short_term (bits, set, at, is_used[i]);
  }
  for (i = from->n[0]; i-- > 0;) {
    at = from->pictures[0][i].delta + delta;
    if (at > 0 && is_kept[i])
      add_short_term (bits, set, at, is_used[i]);
  }
  if (delta > 0 && is_kept[n])
    add_short_term (bits, set, delta, is_used[n]);
  for (i = 0; i < from->n[1]; i++) {
    at = from->pictures[1][i].delta + delta;
    if (at > 0 && is_kept[from->n[0] + i])
      add_short_term (bits, set, at, is_used[from->n[0] + i]);
  }
}

static void
read_explicit_set (NalBits * bits, Set * set)
{
  const guint n[2] = { nal_bits_take_index (bits, H265_MAX_REFERENCES),
    nal_bits_take_index (bits, H265_MAX_REFERENCES)
  };
  guint which, i;

  for (which = 0; which < 2; which++) {
    gint32 delta = 0;

    for (i = 0; i < n[which] && !bits->beyond; i++) {
      const gint32 step = nal_bits_take_index (bits, 0x7fff) + 1;

      delta += which ? step : -step;
      add_short_term (bits, set, delta, nal_bits_take (bits, 1));
    }
  }
}

/* Parses st_ref_pic_set (), a short-term reference picture set (section 7.3.7
 * of H.265). The set may be one of the `n_sets` sets in an SPS; `index` is then
 * its index. Or it may be in a slice header; `index` is then equal to `n_sets`.
 */
static void
read_set (NalBits * bits, const Sps * sps, guint index, guint n_sets, Set * set)
{
  guint back = 1;
  gboolean is_negative;
  gint32 delta;

  memset (set, 0, sizeof (*set));
  if (index == 0 || !nal_bits_take (bits, 1)) {
    read_explicit_set (bits, set);
    return;
  }
  if (index == n_sets)
    back = nal_bits_take_index (bits, index - 1) + 1;
  is_negative = nal_bits_take (bits, 1);
  delta = nal_bits_take_index (bits, 0x7fff) + 1;
  predict_set (bits, &sps->sets[index - back], is_negative ? -delta : delta,
      set);
}

static void
read_long_term (NalBits * bits, Sps * sps)
{
  guint i;

  sps->has_long_term = nal_bits_take (bits, 1);
  if (!sps->has_long_term)
    return;
  sps->n_long_term = nal_bits_take_index (bits, MAX_LONG_TERM);
  for (i = 0; i < sps->n_long_term; i++) {
    sps->long_term[i].order = nal_bits_take (bits, sps->log2_max_order);
    sps->long_term[i].is_used = nal_bits_take (bits, 1);
  }
}

/* Parses the fields of an SPS from chroma_format_idc to
 * log2_max_pic_order_cnt_lsb_minus4. */
static void
read_picture_format (NalBits * bits, Sps * sps)
{
  guint i;

  if (nal_bits_take_index (bits, 3) == 3)
    sps->separate_planes = nal_bits_take (bits, 1);
  /* width and height */
  nal_bits_take_ue (bits);
  nal_bits_take_ue (bits);
  if (nal_bits_take (bits, 1)) {        /* conformance_window_flag */
    for (i = 0; i < 4; i++)
      nal_bits_take_ue (bits);
  }
  /* bit depths */
  nal_bits_take_ue (bits);
  nal_bits_take_ue (bits);
  sps->log2_max_order = nal_bits_take_index (bits, MAX_LOG2_ORDER) + 4;
}

/* Skips the fields of an SPS between the picture format and the reference
 * picture sets. The first of these fields is
 * sps_sub_layer_ordering_info_present_flag. The last ones are the flags of the
 * coding tools.
 */
static void
skip_tools (NalBits * bits, guint highest_sub_layer)
{
  guint n = nal_bits_take (bits, 1) ? highest_sub_layer + 1 : 1, i;

  for (i = 0; i < 3 * n; i++)
    nal_bits_take_ue (bits);
  /* Skips the six fields from log2_min_luma_coding_block_size_minus3 to
   * max_transform_hierarchy_depth_intra, which describe the sizes of blocks. */
  for (i = 0; i < 6; i++)
    nal_bits_take_ue (bits);
  if (nal_bits_take (bits, 1) && nal_bits_take (bits, 1))
    skip_scaling_lists (bits);
  nal_bits_take (bits, 2);      /* amp_enabled_flag, SAO */
  if (nal_bits_take (bits, 1)) {        /* pcm_enabled_flag */
    nal_bits_take (bits, 8);
    nal_bits_take_ue (bits);
    nal_bits_take_ue (bits);
    nal_bits_take (bits, 1);
  }
}

/* Parses the fields of an SPS up to and including the long-term reference
 * pictures (section 7.3.2.2.1 of H.265). */
void
h265_headers_add_sps (H265Headers * headers, const guint8 * data, gsize size)
{
  Sps *sps = g_new0 (Sps, 1);
  guint highest, id, i;
  NalBits bits;

  sps->is_set = TRUE;
  nal_bits_init (&bits, data + MIN (size, HEADER_SIZE), data + size);
  nal_bits_take (&bits, 4);     /* sps_video_parameter_set_id */
  highest = nal_bits_take (&bits, 3);
  nal_bits_take (&bits, 1);
  if (highest >= MAX_SUB_LAYERS)
    bits.beyond = TRUE;
  skip_profile (&bits, MIN (highest, MAX_SUB_LAYERS - 1));
  id = nal_bits_take_index (&bits, MAX_SPS - 1);
  read_picture_format (&bits, sps);
  skip_tools (&bits, highest);
  sps->n_sets = nal_bits_take_index (&bits, MAX_SETS);
  for (i = 0; i < sps->n_sets && !bits.beyond; i++)
    read_set (&bits, sps, i, sps->n_sets, &sps->sets[i]);
  read_long_term (&bits, sps);
  if (bits.beyond) {
    drop_all_sps (headers);
    g_free (sps);
    return;
  }
  g_free (headers->sps[id]);
  headers->sps[id] = sps;
}

/* Parses the fields of a PPS up to and including num_extra_slice_header_bits
 * (section 7.3.2.3.1 of H.265). */
void
h265_headers_add_pps (H265Headers * headers, const guint8 * data, gsize size)
{
  Pps pps = { TRUE, };
  NalBits bits;
  guint id, i;

  nal_bits_init (&bits, data + MIN (size, HEADER_SIZE), data + size);
  id = nal_bits_take_index (&bits, MAX_PPS - 1);
  pps.sps = nal_bits_take_index (&bits, MAX_SPS - 1);
  nal_bits_take (&bits, 1);     /* dependent_slice_segments_enabled_flag */
  pps.has_output_flag = nal_bits_take (&bits, 1);
  pps.n_extra_bits = nal_bits_take (&bits, 3);
  for (i = 0; bits.beyond && i < MAX_PPS; i++)
    headers->pps[i].is_set = FALSE;
  if (!bits.beyond)
    headers->pps[id] = pps;
}

/* Slice headers */

static void
add_reference (NalBits * bits, H265Slice * slice, gint32 order, guint32 mask,
    gboolean is_used)
{
  H265Reference *reference;

  if (slice->n_references >= H265_MAX_REFERENCES) {
    bits->beyond = TRUE;
    return;
  }
  reference = &slice->references[slice->n_references++];
  reference->order = order;
  reference->mask = mask;
  reference->is_used = is_used;
}

static void
read_short_term_set (NalBits * bits, const Sps * sps, H265Slice * slice)
{
  guint which, i, index = 0;
  const Set *set;
  Set own;

  /* The field short_term_ref_pic_set_sps_flag is 0 if the set is coded in the
   * slice header itself. */
  if (!nal_bits_take (bits, 1)) {
    read_set (bits, sps, sps->n_sets, sps->n_sets, &own);
    set = &own;
  } else {
    if (sps->n_sets > 1)
      index = nal_bits_take (bits, g_bit_storage (sps->n_sets - 1));
    if (index >= sps->n_sets) {
      bits->beyond = TRUE;
      return;
    }
    set = &sps->sets[index];
  }
  for (which = 0; which < 2; which++)
    for (i = 0; i < set->n[which]; i++)
      add_reference (bits, slice,
          (gint32) ((guint32) slice->order
              + (guint32) set->pictures[which][i].delta), G_MAXUINT32,
          set->pictures[which][i].is_used);
}

/* Parses the long-term reference pictures of a slice header (equation 7-52 and
 * section 8.3.2 of H.265). There are two groups of entries: those in the first
 * group are selected from a list in the SPS, and those in the second group are
 * coded in the slice header. In each group, delta_poc_msb_cycle_lt is coded as
 * the difference from the previous entry of the group. */
static void
read_long_term_set (NalBits * bits, const Sps * sps, H265Slice * slice)
{
  const guint32 max = (guint32) 1 << sps->log2_max_order;
  guint n_sps = 0, n, i;
  guint32 cycle = 0;

  if (sps->n_long_term > 0)
    n_sps = nal_bits_take_index (bits, H265_MAX_REFERENCES);
  n = n_sps + nal_bits_take_index (bits, H265_MAX_REFERENCES);
  for (i = 0; i < n && !bits->beyond; i++) {
    guint32 order, mask = max - 1;
    gboolean is_used;

    if (i < n_sps) {
      guint index = sps->n_long_term > 1 ?
          nal_bits_take (bits, g_bit_storage (sps->n_long_term - 1)) : 0;

      if (index >= sps->n_long_term) {
        bits->beyond = TRUE;
        return;
      }
      order = sps->long_term[index].order;
      is_used = sps->long_term[index].is_used;
    } else {
      order = nal_bits_take (bits, sps->log2_max_order);
      is_used = nal_bits_take (bits, 1);
    }
    if (i == n_sps)
      cycle = 0;
    if (nal_bits_take (bits, 1)) {      /* delta_poc_msb_present_flag */
      cycle += nal_bits_take_ue (bits);
      order += (guint32) slice->order - cycle * max
          - ((guint32) slice->order & (max - 1));
      mask = G_MAXUINT32;
    }
    add_reference (bits, slice, (gint32) order, mask, is_used);
  }
}

/* Computes the picture order count (PicOrderCntVal) of a picture from the lower
 * bits of this count, `lsb`, and from the count of an earlier picture (section
 * 8.3.1 of H.265). */
static guint32
get_order (const H265Headers * headers, const Sps * sps, guint lsb)
{
  const guint32 max = (guint32) 1 << sps->log2_max_order;
  const guint32 before = headers->order & (max - 1);
  guint32 msb = headers->order - before;

  if (lsb < before && before - lsb >= max / 2)
    msb += max;
  else if (lsb > before && lsb - before > max / 2)
    msb -= max;
  return msb + lsb;
}

/* Reads the picture order count. A decoder sets the upper bits of the count to
 * 0 at each IRAP picture with NoRaslOutputFlag. This function sets them to 0
 * only at BLA pictures. At a CRA picture, it continues the count of the
 * previous pictures, because it assumes that the stream did not start at the
 * CRA picture.
 *
 * If a decoder does start at the CRA picture, its counts differ from the counts
 * of this function by a constant. This constant does not matter, because only
 * the differences between the counts of two pictures are used. */
static void
read_order (H265Headers * headers, const Sps * sps, guint type,
    NalBits * bits, H265Slice * slice)
{
  const guint lsb = nal_bits_take (bits, sps->log2_max_order);

  slice->order = (gint32) (type <= H265_BLA_LAST && type >= H265_BLA_FIRST ?
      lsb : get_order (headers, sps, lsb));
}

static void
note_order (H265Headers * headers, guint type, guint sub_layer, gint32 order)
{
  const gboolean is_leading = type >= H265_RADL_N && type <= H265_RASL_R;
  const gboolean is_no_reference = type < H265_SUB_LAYER_LAST && type % 2 == 0;

  if (sub_layer == 0 && !is_leading && !is_no_reference)
    headers->order = (guint32) order;
}

gboolean
h265_headers_read_slice (H265Headers * headers, const guint8 * data,
    gsize size, H265Slice * slice)
{
  const guint type = size > 0 ? data[0] >> 1 & 63 : 0;
  const gboolean is_irap = type >= H265_BLA_FIRST && type <= H265_IRAP_LAST;
  const gboolean is_idr = type > H265_BLA_LAST && type <= H265_IDR_LAST;
  const Pps *pps;
  const Sps *sps;
  NalBits bits;

  slice->order = 0;
  slice->n_references = 0;
  nal_bits_init (&bits, data + MIN (size, HEADER_SIZE), data + size);
  if (size < HEADER_SIZE || !nal_bits_take (&bits, 1))
    return FALSE;
  if (is_irap)
    nal_bits_take (&bits, 1);
  pps = &headers->pps[nal_bits_take_index (&bits, MAX_PPS - 1)];
  sps = headers->sps[pps->sps];
  if (bits.beyond || !pps->is_set || !sps)
    return FALSE;
  nal_bits_take (&bits, pps->n_extra_bits);
  nal_bits_take_index (&bits, 2);       /* slice_type */
  if (pps->has_output_flag)
    nal_bits_take (&bits, 1);
  if (sps->separate_planes)
    nal_bits_take (&bits, 2);
  if (!is_idr) {
    read_order (headers, sps, type, &bits, slice);
    read_short_term_set (&bits, sps, slice);
    if (sps->has_long_term && !bits.beyond)
      read_long_term_set (&bits, sps, slice);
  }
  if (bits.beyond)
    return FALSE;
  note_order (headers, type, (data[1] & 7) - 1, slice->order);
  return TRUE;
}
