/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstifdqueueinput.h: the input of ifdqueue. */

#include "gstifdqueueinput.h"
#include "gstframeinfometa.h"
#include "tsclassifier.h"
#include "gstwronginput.h"

#include <string.h>

/* Duration of a frame at the lowest frame rate of MPEG video, 24000/1001
 * (13818-2 table 6-4). It is used if the frame rate is not known. */
#define MAX_FRAME_DURATION (GST_SECOND * 1001 / 24000)

/* The PTS and the DTS in an MPEG transport stream have 33 bits and are in units
 * of 1/90000 s (13818-1, 2.4.3.7). */
#define TS_TIME_RATE 90000
#define TS_TIME_MASK ((G_GUINT64_CONSTANT (1) << 33) - 1)
/* Maximum step of the DTS from one picture to the next, in units of 1/90000 s.
 * If the step is larger, the clock of the stream is assumed to have jumped. */
#define MAX_TS_STEP (2 * TS_TIME_RATE)
/* The due time of a picture is computed from its DTS. If this time differs from
 * the timestamp of the picture's buffer by more than MAX_TS_DISTANCE (ns), the
 * timestamp of the buffer is used instead. */
#define MAX_TS_DISTANCE ((gint64) (2 * GST_SECOND))

struct _GstIfdQueueInput
{
  GstElement *owner;
  GstMpegVideoInput *mpeg;
  /* Description of the stream in the latest error about caps, for example "RTP
   * packets"; NULL if the latest caps were usable */
  gchar *refused;
  /* There are three parsers: `classifier`, `slots` and `ts`. Only the parser
   * that fits the caps exists, and the other two are NULL. For MPEG video, all
   * three are NULL, and `mpeg` is used. */
  IfdClassifier *classifier;    /* for H.264 and H.265 */
  IfdCodec codec;               /* codec of the classifier */
  SlotReader *slots;            /* for VP8, VP9 and AV1 */
  SlotCodec slot_codec;
  TsPictures *ts;               /* for a transport stream */
  /* Finds out the frame type of each picture of a transport stream. NULL if the
   * input is not a transport stream. */
  TsClassifier *ts_classifier;
  /* Times of the last picture of a transport stream: `ts_time` is its DTS, and
   * `ts_due` is its due time in ns. The due time of the next picture is usually
   * `ts_due` plus the difference between the DTS of the two pictures. */
  gboolean has_ts_time;
  guint64 ts_time;              /* in units of 1/90000 s modulo 2^33 */
  GstClockTime ts_due;
  /* TRUE if a warning about this transport stream was already posted. The
   * warning says that the stream cannot be divided into pictures and is passed
   * on unchanged. */
  gboolean told_refusal;
  /* TRUE if the caps of MPEG video contain parsed=true, which means that a
   * parser upstream has divided the video into frames */
  gboolean parsed;
  /* frame rate from the caps or the sequence header; 0 if unknown */
  gint fps_n, fps_d;
  /* Number of malformed access units, for each kind of error. Each classifier
   * has its own counts, which are added to these numbers when the classifier is
   * freed. */
  guint64 malformed[IFD_MALFORMED_LAST];
  guint64 malformed_frames;
  /* for all codecs but MPEG video */
  /* queue of the parsed frames (IfdLineItem) that gst_ifd_queue_input_pull ()
   * will return */
  GQueue units;
  /* The first field of a frame, while it waits for the second field of this
   * frame. `first_field.object` is NULL if no field waits. */
  IfdLineItem first_field;

  /* for MPEG video */
  MpegVideoSequence sequence;   /* belongs to the newest caps */
  gboolean have_caps;           /* caps were output */
  /* TRUE if new caps have to be sent downstream, because upstream has sent new
   * caps or the sequence header has changed */
  gboolean update_caps;
  /* The newest sequence header of the MPEG video, with its extensions and user
   * data; NULL if there is none */
  GstMemory *header;
  /* MPEG temporal reference (position in display order) of the last I-frame */
  guint i_reference;
};

void
gst_ifd_queue_item_clear (IfdLineItem * item)
{
  if (item->object && !GST_IS_QUERY (item->object))
    gst_mini_object_unref (item->object);
  if (item->second)
    gst_buffer_unref (item->second);
  if (item->sequence)
    gst_memory_unref (item->sequence);
  if (item->rest)
    gst_buffer_unref (item->rest);
  item->object = item->second = item->sequence = item->rest = NULL;
}

GstIfdQueueInput *
gst_ifd_queue_input_new (GstElement * owner, guint max_frame_size)
{
  GstIfdQueueInput *input = g_new0 (GstIfdQueueInput, 1);

  input->owner = owner;
  g_queue_init (&input->units);
  input->mpeg = gst_mpeg_video_input_new (owner);
  gst_mpeg_video_input_set_max_frame_size (input->mpeg, max_frame_size);
  return input;
}

static void
drop_classifier (GstIfdQueueInput * input)
{
  guint i;

  if (!input->classifier)
    return;
  for (i = 0; i < IFD_MALFORMED_LAST; i++)
    input->malformed[i] += ifd_classifier_get_malformed (input->classifier, i);
  g_clear_pointer (&input->classifier, ifd_classifier_free);
}

static void
drop_slots (GstIfdQueueInput * input)
{
  g_clear_pointer (&input->slots, slot_reader_free);
}

static void
drop_ts (GstIfdQueueInput * input)
{
  g_clear_pointer (&input->ts, ts_pictures_free);
  g_clear_pointer (&input->ts_classifier, ts_classifier_free);
}

static void
free_item (gpointer item)
{
  gst_ifd_queue_item_clear (item);
  g_free (item);
}

static void
drop_units (GstIfdQueueInput * input)
{
  g_queue_clear_full (&input->units, free_item);
  gst_ifd_queue_item_clear (&input->first_field);
}

static void
drop_header (GstIfdQueueInput * input)
{
  if (input->header)
    gst_memory_unref (input->header);
  input->header = NULL;
}

void
gst_ifd_queue_input_free (GstIfdQueueInput * input)
{
  gst_mpeg_video_input_free (input->mpeg);
  drop_classifier (input);
  drop_slots (input);
  drop_ts (input);
  drop_header (input);
  drop_units (input);
  g_clear_pointer (&input->refused, g_free);
  g_free (input);
}

void
gst_ifd_queue_input_reset (GstIfdQueueInput * input)
{
  gst_mpeg_video_input_reset (input->mpeg);
  if (input->classifier)
    ifd_classifier_reset (input->classifier);
  if (input->slots)
    slot_reader_reset (input->slots);
  if (input->ts)
    ts_pictures_reset (input->ts);
  input->has_ts_time = FALSE;
  if (input->ts_classifier)
    ts_classifier_reset (input->ts_classifier);
  drop_units (input);
}

/* --- caps ---------------------------------------------------------------- */

/* Returns the caps of streams for which ifdqueue needs another element
 * upstream, such as a parser. A pad with these caps can be linked to ifdqueue.
 * When the stream arrives, ifdqueue posts an error that names the missing
 * element.
 *
 * `usable` are the caps that both ifdqueue and downstream can use. If `usable`
 * contains no form of H.264, a parser for H.264 does not help. The result then
 * does not contain H.264, so linking fails. The same applies to H.265 and AV1.
 */
static GstCaps *
make_unusable_caps (GstCaps * usable)
{
  GstCaps *unusable = gst_caps_from_string (GST_IFD_QUEUE_UNUSABLE_CAPS);
  guint i;

  for (i = gst_caps_get_size (unusable); i-- > 0;) {
    const gchar *name =
        gst_structure_get_name (gst_caps_get_structure (unusable, i));
    GstCaps *any_form = gst_caps_new_empty_simple (name);

    if ((g_str_has_prefix (name, "video/x-h26")
            || g_str_equal (name, "video/x-av1"))
        && !gst_caps_can_intersect (usable, any_form))
      gst_caps_remove_structure (unusable, i);
    gst_caps_unref (any_form);
  }
  return unusable;
}

static GstCaps *
intersect_with_filter (GstCaps * caps, GstCaps * filter)
{
  GstCaps *both;

  if (!filter)
    return caps;
  both = gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (caps);
  return both;
}

GstCaps *
gst_ifd_queue_input_query_caps (GstCaps * downstream, GstCaps * filter)
{
  GstCaps *usable = gst_caps_from_string (GST_IFD_QUEUE_USABLE_CAPS);
  GstCaps *accepted = gst_caps_copy (downstream), *both, *unusable;
  guint i;

  /* In the caps of downstream, the field "parsed" says whether downstream needs
   * parsed video. For MPEG video, this field is removed here. The reason is
   * that upstream may send unparsed video, because ifdqueue parses the video
   * itself. */
  for (i = 0; i < gst_caps_get_size (accepted); i++) {
    GstStructure *structure = gst_caps_get_structure (accepted, i);

    if (gst_structure_has_name (structure, "video/mpeg"))
      gst_structure_remove_field (structure, "parsed");
  }
  both = gst_caps_intersect_full (accepted, usable, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (accepted);
  gst_caps_unref (usable);
  unusable = make_unusable_caps (both);
  /* The order of caps is the order of preference, so the usable caps must come
   * before the unusable caps. The filter may have another order. The usable
   * caps and the unusable caps are therefore intersected with the filter
   * separately, and the results are put one after the other. */
  both = intersect_with_filter (both, filter);
  gst_caps_append (both, intersect_with_filter (unusable, filter));
  return both;
}

static gboolean
refuse (GstIfdQueueInput * input, GstCaps * caps, const gchar * what,
    const gchar * remedy)
{
  GstElement *element;

  /* The error is posted only once, although upstream sends the refused caps
   * again with each buffer (CAPS is a sticky event). The repeated caps may
   * differ from the first caps, because a muxer adds its stream headers to
   * them. Therefore `what`, the description of the stream, is compared instead
   * of the caps. */
  if (g_strcmp0 (input->refused, what) == 0)
    return FALSE;
  g_free (input->refused);
  input->refused = g_strdup (what);
  element = gst_wrong_input_get_element (input->owner);
  GST_ELEMENT_ERROR (element, STREAM, WRONG_TYPE,
      ("%s takes whole frames, not %s: %s.", GST_OBJECT_NAME (element), what,
          remedy), ("%" GST_PTR_FORMAT, caps));
  gst_object_unref (element);
  return FALSE;
}

/* Posts an error if the input is RTP packets instead of frames. The error
 * advises the user how to correct the pipeline. For ifdqueue, the advice is to
 * put ifdqueue upstream of the payloader that fits the stream. ifdsink contains
 * an ifdqueue, but sends no RTP, so its advice is to remove the payloader. */
static gboolean
refuse_rtp (GstIfdQueueInput * input, GstCaps * caps,
    const GstStructure * structure)
{
  static const gchar *const payloaders[][2] = {
    {"MPV", "rfc2250pay"}, {"H264", "rtph264pay"}, {"H265", "rtph265pay"},
    {"VP8", "rtpvp8pay"}, {"VP9", "rtpvp9pay"}, {"AV1", "rtpav1pay"},
  };
  const gchar *name = gst_structure_get_string (structure, "encoding-name");
  const gchar *payloader = NULL;
  GstElement *element = gst_wrong_input_get_element (input->owner);
  const gchar *factory = GST_OBJECT_NAME (gst_element_get_factory (element));
  gchar *remedy;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (payloaders); i++)
    if (g_strcmp0 (name, payloaders[i][0]) == 0)
      payloader = payloaders[i][1];
  if (g_str_equal (factory, "ifdsink"))
    remedy = g_strdup_printf ("remove the payloader%s%s",
        payloader ? ", " : "", payloader ? payloader : "");
  else
    remedy = g_strdup_printf ("put ifdqueue upstream of the payloader: ... ! "
        "ifdqueue ! %s ! udpsink", payloader ? payloader : "PAYLOADER");
  refuse (input, caps, "RTP packets", remedy);
  g_free (remedy);
  gst_object_unref (element);
  return FALSE;
}

static gboolean
refuse_h26x (GstIfdQueueInput * input, GstCaps * caps,
    const GstStructure * structure)
{
  const gboolean is_h264 = gst_structure_has_name (structure, "video/x-h264");

  if (g_strcmp0 (gst_structure_get_string (structure, "alignment"), "nal")
      == 0)
    return refuse (input, caps, is_h264 ? "H.264 with alignment=nal" :
        "H.265 with alignment=nal", is_h264 ?
        "put h264parse upstream, and set alignment=au" :
        "put h265parse upstream, and set alignment=au");
  return refuse (input, caps, is_h264 ? "this form of H.264" :
      "this form of H.265", is_h264 ? "put h264parse upstream" :
      "put h265parse upstream");
}

static gboolean
is_usable (GstCaps * caps)
{
  GstCaps *usable = gst_caps_from_string (GST_IFD_QUEUE_USABLE_CAPS);
  gboolean is_subset = gst_caps_is_subset (caps, usable);
  gint packet_size = TS_PACKET_SIZE;

  gst_caps_unref (usable);
  gst_structure_get_int (gst_caps_get_structure (caps, 0), "packetsize",
      &packet_size);
  return is_subset && packet_size == TS_PACKET_SIZE;
}

gboolean
gst_ifd_queue_input_refuse_caps (GstIfdQueueInput * input, GstCaps * caps)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);

  if (gst_structure_has_name (structure, "application/x-rtp"))
    return refuse_rtp (input, caps, structure);
  if (gst_structure_has_name (structure, "video/x-h264")
      || gst_structure_has_name (structure, "video/x-h265"))
    return refuse_h26x (input, caps, structure);
  if (gst_structure_has_name (structure, "video/x-av1"))
    return refuse (input, caps, "this form of AV1", "put av1parse upstream");
  if (gst_structure_has_name (structure, "video/mpegts") && is_usable (caps))
    return refuse (input, caps, "an MPEG transport stream",
        "to send the whole transport stream, use mmtpsink or dccpthinsink "
        "instead; to send only its video, put tsdemux upstream");
  if (gst_structure_has_name (structure, "video/mpegts"))
    return refuse (input, caps, "this form of MPEG transport stream",
        "put tsparse upstream");
  return refuse (input, caps, "an MPEG program stream",
      "put mpegpsdemux upstream");
}

static gboolean
set_h26x_caps (GstIfdQueueInput * input, GstCaps * caps, IfdCodec codec)
{
  drop_slots (input);
  drop_ts (input);
  if (!input->classifier || input->codec != codec) {
    drop_classifier (input);
    drop_units (input);
    input->classifier = ifd_classifier_new (codec);
    input->codec = codec;
  }
  if (gst_h26x_caps_set_codec_data (caps, input->classifier)) {
    g_clear_pointer (&input->refused, g_free);
    return TRUE;
  }
  return refuse (input, caps, codec == IFD_CODEC_H264 ?
      "H.264 without valid codec_data" : "H.265 without valid codec_data",
      codec == IFD_CODEC_H264 ? "put h264parse upstream" :
      "put h265parse upstream");
}

static void
set_slot_caps (GstIfdQueueInput * input, GstCaps * caps, SlotCodec codec)
{
  drop_classifier (input);
  drop_ts (input);
  if (!input->slots || input->slot_codec != codec) {
    drop_slots (input);
    drop_units (input);
    input->slots = slot_reader_new (codec);
    input->slot_codec = codec;
  }
  gst_slot_caps_set_codec_data (caps, input->slots);
}

static void
set_ts_caps (GstIfdQueueInput * input)
{
  drop_classifier (input);
  drop_slots (input);
  if (input->ts)
    return;
  drop_units (input);
  input->ts = ts_pictures_new ();
  input->ts_classifier = ts_classifier_new ();
  input->told_refusal = FALSE;
  input->has_ts_time = FALSE;
}

static void
set_mpeg_caps (GstIfdQueueInput * input, GstCaps * caps)
{
  drop_classifier (input);
  drop_slots (input);
  drop_ts (input);
  input->parsed = FALSE;
  gst_structure_get_boolean (gst_caps_get_structure (caps, 0), "parsed",
      &input->parsed);
  gst_mpeg_video_input_set_caps (input->mpeg, caps);
  input->update_caps = TRUE;
}

gboolean
gst_ifd_queue_input_set_caps (GstIfdQueueInput * input, GstCaps * caps)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  SlotCodec slot_codec;
  IfdCodec codec;

  if (!is_usable (caps))
    return gst_ifd_queue_input_refuse_caps (input, caps);
  if (!gst_structure_get_fraction (structure, "framerate", &input->fps_n,
          &input->fps_d))
    input->fps_n = 0;
  if (gst_h26x_caps_get_codec (caps, &codec))
    return set_h26x_caps (input, caps, codec);
  g_clear_pointer (&input->refused, g_free);
  if (gst_slot_caps_get_codec (caps, &slot_codec))
    set_slot_caps (input, caps, slot_codec);
  else if (gst_structure_has_name (structure, "video/mpegts"))
    set_ts_caps (input);
  else
    set_mpeg_caps (input, caps);
  return TRUE;
}

gboolean
gst_ifd_queue_input_is_mpeg (const GstIfdQueueInput * input)
{
  return !input->classifier && !input->slots && !input->ts;
}

gboolean
gst_ifd_queue_input_is_raw (const GstIfdQueueInput * input)
{
  return input->ts || (gst_ifd_queue_input_is_mpeg (input) && !input->parsed);
}

gboolean
gst_ifd_queue_input_is_pending (const GstIfdQueueInput * input)
{
  return gst_ifd_queue_input_is_raw (input) || input->first_field.object;
}

GstClockTime
gst_ifd_queue_input_get_frame_duration (const GstIfdQueueInput * input)
{
  if (input->fps_n <= 0 || input->fps_d <= 0)
    return MAX_FRAME_DURATION;
  return gst_util_uint64_scale (GST_SECOND, input->fps_d, input->fps_n);
}

GstEvent *
gst_ifd_queue_input_convert_segment (GstIfdQueueInput * input, GstEvent * event)
{
  return gst_mpeg_video_input_convert_segment (input->mpeg, event);
}

GstCaps *
gst_ifd_queue_input_make_caps (GstIfdQueueInput * input)
{
  if (!gst_ifd_queue_input_is_mpeg (input) || !input->update_caps)
    return NULL;
  input->update_caps = FALSE;
  input->have_caps = TRUE;
  return gst_mpeg_video_input_make_caps (input->mpeg, &input->sequence);
}

/* --- frames of MPEG video ------------------------------------------------ */

/* Called for each frame of MPEG video. Returns the caps that have to be sent
 * before this frame; NULL if the caps have not changed. New caps are necessary
 * if none were sent yet, if upstream has sent new caps, or if the frame has a
 * different sequence header. */
static GstCaps *
update_caps (GstIfdQueueInput * input, const MpegVideoSequence * sequence)
{
  /* After a flush, a frame may arrive before the first sequence header. In this
   * case `sequence` has the width 0, and the caps do not change. */
  if (input->have_caps && !input->update_caps && (sequence->width == 0
          || memcmp (&input->sequence, sequence, sizeof (*sequence)) == 0))
    return NULL;
  input->sequence = *sequence;
  if (sequence->fps_n > 0) {
    input->fps_n = sequence->fps_n;
    input->fps_d = sequence->fps_d;
  }
  input->update_caps = TRUE;
  return gst_ifd_queue_input_make_caps (input);
}

static gsize
find_unit (const MpegVideoFrame * frame, guint code, guint * unit)
{
  for (; *unit < frame->n_units; (*unit)++) {
    if (frame->units[*unit].code == code)
      return frame->units[*unit].offset;
  }
  return frame->size;
}

/* Stores the sequence header with its extensions and user data, that is, all
 * bytes up to the GOP or picture header (13818-2 6.2.2). */
static void
keep_header (GstIfdQueueInput * input, const MpegVideoFrame * frame,
    GstBuffer * buffer)
{
  guint unit = 0, gop;
  gsize begin = find_unit (frame, MPEG_VIDEO_CODE_SEQUENCE, &unit);
  gsize end;
  guint8 *bytes;

  gop = unit;
  end = find_unit (frame, MPEG_VIDEO_CODE_PICTURE, &unit);
  end = MIN (end, find_unit (frame, MPEG_VIDEO_CODE_GOP, &gop));
  if (begin >= end)
    return;
  bytes = g_malloc (end - begin);
  gst_buffer_extract (buffer, begin, bytes, end - begin);
  drop_header (input);
  input->header = gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY, bytes,
      end - begin, 0, end - begin, bytes, g_free);
}

static void
classify_mpeg (GstIfdQueueInput * input, const MpegVideoFrame * mpeg,
    IfdFrame * frame)
{
  const MpegVideoPicture *picture = &mpeg->pictures[0].header;

  if (picture->type == MPEG_VIDEO_PICTURE_P) {
    frame->type = IFD_FRAME_P;
  } else if (picture->type == MPEG_VIDEO_PICTURE_B) {
    frame->type = IFD_FRAME_B;
    frame->flags = ifd_find_place (picture->temporal_reference,
        input->i_reference);
  } else {
    frame->type = IFD_FRAME_I;
    input->i_reference = picture->temporal_reference;
    if (mpeg->has_gop && mpeg->gop.closed)
      frame->flags |= IFD_FRAME_CLOSED;
    if (mpeg->has_gop && mpeg->gop.broken_link)
      frame->flags |= IFD_FRAME_BROKEN;
  }
}

static gboolean
pull_mpeg (GstIfdQueueInput * input, IfdLineItem * item, GstCaps ** caps)
{
  GstMpegVideoInputFrame pulled;
  MpegVideoLoss loss;

  if (!gst_mpeg_video_input_pull (input->mpeg, &pulled))
    return FALSE;
  /* The parser of MPEG video also reports frames that never arrived. These
   * reports are read and discarded, because such frames were lost upstream, and
   * ifdqueue counts only frames that arrived. */
  while (gst_mpeg_video_input_pull_loss (input->mpeg, &loss));
  *caps = update_caps (input, &pulled.frame.sequence);
  if (pulled.frame.has_sequence)
    keep_header (input, &pulled.frame, pulled.buffer);
  classify_mpeg (input, &pulled.frame, &item->frame);
  item->has_sequence = pulled.frame.has_sequence;
  item->sequence = input->header ? gst_memory_ref (input->header) : NULL;
  item->object = g_steal_pointer (&pulled.buffer);
  gst_mpeg_video_input_frame_clear (&pulled);
  return TRUE;
}

/* --- access units of H.264 and H.265 ------------------------------------- */

static GstBuffer *
mark_droppable (GstBuffer * buffer)
{
  buffer = gst_buffer_make_writable (buffer);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT |
      GST_BUFFER_FLAG_DROPPABLE);
  return buffer;
}

static GstBuffer *
add_picture_info (GstBuffer * buffer, const IfdFrame * frame)
{
  static const guint types[IFD_FRAME_LAST] = { MPEG_VIDEO_PICTURE_I,
    MPEG_VIDEO_PICTURE_P, MPEG_VIDEO_PICTURE_B
  };
  GstFrameInfoMeta *info;

  buffer = gst_buffer_make_writable (buffer);
  info = gst_buffer_get_frame_info_meta (buffer);
  if (!info)
    info = gst_buffer_add_frame_info_meta (buffer, 0, 0,
        GST_FRAME_INFO_COVERAGE_ALL);
  info->picture_type = types[frame->type];
  info->temporal_layer = frame->layer;
  return buffer;
}

/* Appends the frame `item` to `units`, the queue of parsed frames. Takes
 * ownership of the objects that `item` contains. */
static void
append_unit (GstIfdQueueInput * input, IfdLineItem * item)
{
  if (item->frame.type == IFD_FRAME_B && item->pid == 0) {
    item->object = mark_droppable (item->object);
    if (item->second)
      item->second = mark_droppable (item->second);
  }
  item->frame.size = gst_buffer_get_size (item->object)
      + (item->second ? gst_buffer_get_size (item->second) : 0)
      - (item->rest ? gst_buffer_get_size (item->rest) : 0);
  g_queue_push_tail (&input->units, g_memdup2 (item, sizeof (*item)));
  memset (item, 0, sizeof (*item));
}

/* Moves the field or frame in `first_field`, if there is any, to the end of
 * `units`, the queue of parsed frames. It is called in two cases. In the first
 * case, the second field has arrived and was added to `first_field`, so the
 * frame is complete. In the second case, the second field is missing. */
static void
append_first_field (GstIfdQueueInput * input)
{
  if (input->first_field.object)
    append_unit (input, &input->first_field);
}

/* Called when the two fields of a frame of a transport stream are joined. In
 * each field, `rest` contains the packets that are sent even if the frame is
 * dropped. This function appends the `rest` of the second field to the `rest`
 * of the first field.
 *
 * If the frame is dropped, only the packets in `rest` are sent, and the other
 * video packets of the first field are missing. `n_removed` of the first field
 * is the number of these missing packets. The function reduces the continuity
 * counters of the appended packets by this number, so that the counters have no
 * gap. */
static void
append_rest (IfdLineItem * first, IfdLineItem * second)
{
  GstBuffer *rest = g_steal_pointer (&second->rest);
  GstMapInfo map;

  if (!rest)
    return;
  rest = gst_buffer_make_writable (rest);
  if (gst_buffer_map (rest, &map, GST_MAP_READWRITE)) {
    ts_shift_counters (map.data, map.size, second->pid, first->n_removed);
    gst_buffer_unmap (rest, &map);
  }
  first->rest = gst_buffer_append (first->rest, rest);
  first->n_removed += second->n_removed;
}

static void
classify_unit (GstIfdQueueInput * input, GstBuffer * buffer, IfdFrame * frame)
{
  GstMapInfo map;

  frame->type = IFD_FRAME_P;
  frame->layer = -1;
  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return;
  ifd_classifier_input (input->classifier, map.data, map.size,
      GST_BUFFER_PTS (buffer), frame);
  gst_buffer_unmap (buffer, &map);
}

/* Adds `item`, a frame or a field, to the parsed frames in `units`, and takes
 * ownership of its objects. The first field of a frame is held back until the
 * second field arrives. The two fields then become one frame. */
static void
push_item (GstIfdQueueInput * input, IfdLineItem * item, IfdField field)
{
  if (field == IFD_FIELD_SECOND && input->first_field.object) {
    ifd_classifier_join_fields (&input->first_field.frame, &item->frame);
    input->first_field.second = item->object;
    if (item->has_media_time)
      input->first_field.media_time = item->media_time;
    append_rest (&input->first_field, item);
    append_first_field (input);
    return;
  }
  append_first_field (input);
  if (field == IFD_FIELD_FIRST)
    input->first_field = *item;
  else
    append_unit (input, item);
}

/* Adds `buffer`, which contains a frame or a field of H.264 or H.265, to the
 * parsed frames in `units`. Takes ownership of `buffer`. */
static void
push_unit (GstIfdQueueInput * input, GstBuffer * buffer)
{
  IfdLineItem item = { NULL, };

  classify_unit (input, buffer, &item.frame);
  if (item.frame.layer >= 0)
    buffer = add_picture_info (buffer, &item.frame);
  item.object = buffer;
  push_item (input, &item, ifd_classifier_get_field (input->classifier));
}

/* --- VP8, VP9 and AV1 ---------------------------------------------------- */

static void
read_slots (GstIfdQueueInput * input, GstBuffer * buffer, SlotUse * use)
{
  SlotLayer layer;
  const gboolean is_layered = input->slot_codec == SLOT_CODEC_VP8
      && gst_wireless_get_vp8_layer (buffer, &layer);
  GstMapInfo map = GST_MAP_INFO_INIT;
  const gboolean is_mapped = gst_buffer_map (buffer, &map, GST_MAP_READ);

  if (!slot_reader_input (input->slots, map.data, map.size,
          is_layered ? &layer : NULL, use))
    input->malformed_frames++;
  if (is_mapped)
    gst_buffer_unmap (buffer, &map);
}

/* Adds `buffer`, which contains a frame of VP8, VP9 or AV1, to the parsed
 * frames in `units`. Takes ownership of `buffer`. */
static void
push_slot_unit (GstIfdQueueInput * input, GstBuffer * buffer)
{
  IfdLineItem item = { NULL, };
  SlotUse use;

  read_slots (input, buffer, &use);
  gst_slot_use_to_frame (&use, &item.frame);
  item.object = add_picture_info (buffer, &item.frame);
  append_unit (input, &item);
}

/* --- transport streams ---------------------------------------------------- */

static GstBuffer *
wrap (guint8 ** data, gsize size)
{
  if (size == 0)
    return gst_buffer_new ();
  return gst_buffer_new_wrapped (g_steal_pointer (data), size);
}

static void
push_ts_data (GstIfdQueueInput * input, GstBuffer * buffer, guint pid)
{
  IfdLineItem item = { buffer, };

  append_first_field (input);
  item.pid = pid;
  g_queue_push_tail (&input->units, g_memdup2 (&item, sizeof (item)));
}

/* Sets the due time of a picture of a transport stream. It is the due time of
 * the previous picture plus the difference between the DTS values of the two
 * pictures.
 *
 * There are two exceptions:
 * - If there is no previous picture, or if the DTS jumps, the due time is the
 *   timestamp of the picture's buffer. If the buffer has no timestamp, the due
 *   time is 0 for the first picture. For later pictures, it is the due time of
 *   the previous picture plus the frame duration.
 * - If the computed due time is too far from the timestamp of the buffer
 *   (MAX_TS_DISTANCE), this timestamp is the due time. */
static void
set_media_time (GstIfdQueueInput * input, const TsUnit * unit,
    IfdLineItem * item)
{
  const guint64 step = (unit->time - input->ts_time) & TS_TIME_MASK;
  const GstClockTime tag = unit->tag;

  if (!unit->has_time)
    return;
  if (input->has_ts_time && step <= MAX_TS_STEP) {
    input->ts_due += gst_util_uint64_scale (step, GST_SECOND, TS_TIME_RATE);
  } else if (GST_CLOCK_TIME_IS_VALID (tag)) {
    input->ts_due = tag;
  } else {
    input->ts_due = input->has_ts_time ? input->ts_due
        + gst_ifd_queue_input_get_frame_duration (input) : 0;
  }
  /* `ts_due` is the due time of the picture, computed from the DTS. `tag` is
   * the timestamp of the picture's buffer. If these two times differ by more
   * than MAX_TS_DISTANCE, the timestamps of the buffers have jumped, for
   * example after a seek. The timestamp of the buffer is then used as the due
   * time. */
  if (GST_CLOCK_TIME_IS_VALID (tag)
      && ABS (GST_CLOCK_DIFF (tag, input->ts_due)) > MAX_TS_DISTANCE)
    input->ts_due = tag;
  input->has_ts_time = TRUE;
  input->ts_time = unit->time;
  item->has_media_time = TRUE;
  item->media_time = input->ts_due;
}

static void
push_ts_unit (GstIfdQueueInput * input, TsUnit * unit)
{
  IfdLineItem item = { wrap (&unit->data, unit->size), };

  GST_BUFFER_PTS (item.object) = unit->tag;
  if (!unit->has_picture) {
    push_ts_data (input, item.object, unit->pid);
    return;
  }
  item.rest = wrap (&unit->rest, unit->rest_size);
  GST_BUFFER_PTS (item.rest) = unit->tag;
  item.pid = unit->pid;
  item.n_removed = unit->n_removed;
  set_media_time (input, unit, &item);
  push_item (input, &item,
      ts_classifier_input (input->ts_classifier, unit, &item.frame));
}

static void
push_ts_units (GstIfdQueueInput * input)
{
  TsUnit unit;

  while (ts_pictures_poll (input->ts, &unit)) {
    push_ts_unit (input, &unit);
    ts_unit_clear (&unit);
  }
}

/* If the transport stream cannot be divided into pictures, posts a warning with
 * the reason. The warning is posted only once for each stream. */
static void
warn_about_stream (GstIfdQueueInput * input)
{
  const gchar *reason = ts_pictures_get_warning (input->ts);

  if (!reason || input->told_refusal)
    return;
  input->told_refusal = TRUE;
  GST_ELEMENT_WARNING (input->owner, STREAM, FORMAT,
      ("The transport stream passes untouched, because %s.", reason), (NULL));
}

/* Takes ownership of `buffer`, which contains data of a transport stream, and
 * divides these data into pictures. If the parser `ts` has found that this
 * stream cannot be divided into pictures, the buffer is passed on unchanged. */
static void
push_ts (GstIfdQueueInput * input, GstBuffer * buffer)
{
  GstMapInfo map;

  warn_about_stream (input);
  if (ts_pictures_get_refusal (input->ts)) {
    ts_pictures_drain (input->ts);
    push_ts_units (input);
    push_ts_data (input, buffer, TS_NO_PID);
    return;
  }
  if (gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    ts_pictures_input (input->ts, map.data, map.size, GST_BUFFER_PTS (buffer));
    gst_buffer_unmap (buffer, &map);
  }
  gst_buffer_unref (buffer);
  push_ts_units (input);
}

gboolean
gst_ifd_queue_input_is_data (const IfdLineItem * item)
{
  return item->pid != 0 && !item->rest;
}

static gboolean
pull_unit (GstIfdQueueInput * input, IfdLineItem * item)
{
  IfdLineItem *first = g_queue_pop_head (&input->units);

  if (!first)
    return FALSE;
  *item = *first;
  g_free (first);
  return TRUE;
}

/* --- input ---------------------------------------------------------------- */

gboolean
gst_ifd_queue_input_push (GstIfdQueueInput * input, GstBuffer * buffer)
{
  if (gst_ifd_queue_input_is_mpeg (input))
    return gst_mpeg_video_input_push (input->mpeg, buffer);
  if (input->ts)
    push_ts (input, buffer);
  else if (input->slots)
    push_slot_unit (input, buffer);
  else
    push_unit (input, buffer);
  return TRUE;
}

gboolean
gst_ifd_queue_input_drain (GstIfdQueueInput * input)
{
  if (gst_ifd_queue_input_is_mpeg (input))
    return gst_mpeg_video_input_drain (input->mpeg);
  if (input->ts) {
    ts_pictures_drain (input->ts);
    push_ts_units (input);
  }
  append_first_field (input);
  return TRUE;
}

gboolean
gst_ifd_queue_input_pull (GstIfdQueueInput * input, IfdLineItem * item,
    GstCaps ** caps)
{
  memset (item, 0, sizeof (*item));
  *caps = NULL;
  if (!gst_ifd_queue_input_is_mpeg (input))
    return pull_unit (input, item);
  if (!pull_mpeg (input, item, caps))
    return FALSE;
  item->frame.size = gst_buffer_get_size (GST_BUFFER_CAST (item->object));
  return TRUE;
}

void
gst_ifd_queue_input_get_stats (const GstIfdQueueInput * input,
    GstIfdQueueInputStats * stats)
{
  guint i;

  gst_mpeg_video_input_get_stats (input->mpeg, &stats->framer);
  for (i = 0; i < IFD_MALFORMED_LAST; i++) {
    stats->malformed[i] = input->malformed[i];
    if (input->classifier)
      stats->malformed[i] +=
          ifd_classifier_get_malformed (input->classifier, i);
  }
  stats->malformed_frames = input->malformed_frames;
}
