/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The output of mmtpsrc. The functions are documented in gstmmtpsrcoutput.h. */

#include "gstmmtpsrcoutput.h"

#include <string.h>

#include "gstlivesource.h"

/* the category of the element, from gstmmtpsrc.c */
#define GST_CAT_DEFAULT gst_mmtp_src_debug

/* --- life cycle ----------------------------------------------------------- */

void
gst_mmtp_src_output_init (GstMmtpSrcOutput * self, GstNetworkSrc * src,
    GstMmtpSrcQueue * queue)
{
  self->src = src;
  self->queue = queue;
  gst_mmtp_src_buffers_init (&self->buffers, GST_ELEMENT_CAST (src));
  self->joiner = mmtp_ts_joiner_new ((GDestroyNotify) gst_buffer_unref);
}

void
gst_mmtp_src_output_finalize (GstMmtpSrcOutput * self)
{
  mmtp_ts_joiner_free (self->joiner);
}

void
gst_mmtp_src_output_start (GstMmtpSrcOutput * self)
{
  gst_mmtp_src_buffers_reset (&self->buffers);
}

static void
clear_next (GstMmtpSrcOutput * self)
{
  while (self->n_next > 0)
    gst_mmtp_src_item_clear (&self->next[--self->n_next]);
}

void
gst_mmtp_src_output_clear (GstMmtpSrcOutput * self)
{
  g_clear_pointer (&self->caps_in_use, g_ref_string_release);
  clear_next (self);
  mmtp_ts_joiner_reset (self->joiner);
  self->is_joined = FALSE;
}

/* --- caps ----------------------------------------------------------------- */

/* Sets the caps of the source pad from `text`, which the sender has sent. The
 * protocol core has already checked with mmtp_caps_text_is_plain() that all
 * field types in `text` are allowed. */
static GstFlowReturn
set_caps (GstMmtpSrcOutput * self, const gchar * text)
{
  GstCaps *caps = gst_caps_from_string (text);
  gboolean taken;

  if (!caps) {
    GST_WARNING_OBJECT (self->src, "could not parse the caps of the sender: %s",
        text);
    return GST_FLOW_OK;
  }
  GST_DEBUG_OBJECT (self->src, "the sender's caps: %" GST_PTR_FORMAT, caps);
  taken = gst_base_src_set_caps (GST_BASE_SRC (self->src), caps);
  gst_caps_unref (caps);
  if (taken)
    return GST_FLOW_OK;
  return GST_PAD_IS_FLUSHING (GST_BASE_SRC_PAD (self->src)) ? GST_FLOW_FLUSHING
      : GST_FLOW_NOT_NEGOTIATED;
}

/* `item` may contain caps that the sender has sent. Sets these caps on the
 * source pad. If the application has set the property caps, the caps of the
 * sender are ignored. */
static GstFlowReturn
take_caps (GstMmtpSrcOutput * self, const GstMmtpSrcItem * item)
{
  GstFlowReturn flow;

  if (gst_network_src_has_caps (self->src)) {
    g_clear_pointer (&self->caps_in_use, g_ref_string_release);
    return GST_FLOW_OK;
  }
  if (!item->caps || item->caps == self->caps_in_use)
    return GST_FLOW_OK;
  flow = set_caps (self, item->caps);
  if (flow != GST_FLOW_OK)
    return flow;
  g_clear_pointer (&self->caps_in_use, g_ref_string_release);
  self->caps_in_use = g_ref_string_acquire (item->caps);
  return GST_FLOW_OK;
}

/* --- transport streams ---------------------------------------------------- */

static void
log_incomplete (GstMmtpSrcOutput * self)
{
  const guint64 n = mmtp_ts_joiner_get_incomplete (self->joiner);

  if (n > self->n_incomplete)
    GST_DEBUG_OBJECT (self->src,
        "removed an incomplete picture from the transport stream");
  self->n_incomplete = n;
}

/* Passes a buffer of a transport stream to the joiner (mmtptsjoiner.h), which
 * may join several buffers. A joined buffer gets the times and flags of the
 * first of these buffers. After a gap in the received stream, the flag DISCONT
 * marks a discontinuity. If the sender has divided the stream at its pictures,
 * the output of the joiner has no discontinuity in spite of the gap. In this
 * case, the flag DISCONT is removed. */
static void
join (GstMmtpSrcOutput * self, GstMmtpSrcItem * item)
{
  const gboolean is_gap = item->discont ||
      (item->prelude.mask & MMTP_PRELUDE_DISCONT);
  const guint8 flags = item->flags;
  GBytes *data = g_bytes_new_with_free_func (item->data.bytes, item->data.size,
      (GDestroyNotify) datagram_block_unref, item->data.block);
  const GstMmtpSrcAnchor anchor =
      gst_mmtp_src_buffers_get_anchor (&self->buffers);
  GstBuffer *buffer;

  memset (&item->data, 0, sizeof (item->data));
  if ((flags & MMTP_FLAG_HEADER) || mmtp_ts_joiner_is_cut (self->joiner)) {
    item->discont = FALSE;
    item->prelude.mask &= ~MMTP_PRELUDE_DISCONT;
    item->flags &= MMTP_FLAG_DELTA;
  }
  buffer = gst_mmtp_src_buffers_make (&self->buffers, item, &anchor);
  mmtp_ts_joiner_input (self->joiner, data, flags, is_gap, buffer);
  log_incomplete (self);
  g_bytes_unref (data);
}

/* Returns the next buffer that the joiner (mmtptsjoiner.h) outputs, or NULL if
 * the joiner needs more input first. */
static GstBuffer *
poll_joiner (GstMmtpSrcOutput * self)
{
  gpointer user = NULL;
  GBytes *data = mmtp_ts_joiner_poll (self->joiner, &user);
  GstBuffer *buffer = user;

  if (!data)
    return NULL;
  if (g_bytes_get_size (data) == 0)
    g_bytes_unref (data);
  else
    gst_buffer_append_memory (buffer, gst_memory_new_wrapped
        (GST_MEMORY_FLAG_READONLY, (gpointer) g_bytes_get_data (data, NULL),
            g_bytes_get_size (data), 0, g_bytes_get_size (data), data,
            (GDestroyNotify) g_bytes_unref));
  return buffer;
}

/* --- items ---------------------------------------------------------------- */

static void
make_buffers (GstMmtpSrcOutput * self, GstBuffer ** buffers)
{
  const GstMmtpSrcAnchor anchor =
      gst_mmtp_src_buffers_get_anchor (&self->buffers);
  guint i;

  for (i = 0; i < self->n_next; i++)
    buffers[i] =
        gst_mmtp_src_buffers_make (&self->buffers, &self->next[i], &anchor);
}

/* Processes and removes all items (buffers, or the end of the stream) in
 * `next`.
 *
 * If `next` contains a buffer of a transport stream, this is the only item. The
 * function passes it to the joiner (mmtptsjoiner.h). In all other cases, the
 * function creates one buffer for each item, stores the buffers in `buffers`,
 * and sets `n` to their number. Returns GST_FLOW_EOS at the end of the stream.
 */
static GstFlowReturn
take_next (GstMmtpSrcOutput * self, GstBuffer ** buffers, guint * n)
{
  GstMmtpSrcItem *first = &self->next[0];
  GstFlowReturn flow = first->is_eos ? GST_FLOW_EOS : take_caps (self, first);

  if (first->is_first)
    mmtp_ts_joiner_reset (self->joiner);
  self->is_joined = flow == GST_FLOW_OK
      && gst_mmtp_src_item_is_transport_stream (first);
  if (self->is_joined) {
    join (self, first);
  } else if (flow == GST_FLOW_OK) {
    make_buffers (self, buffers);
    *n = self->n_next;
  }
  clear_next (self);
  return flow;
}

/* Removes the next items (buffers, or the end of the stream) from the queue and
 * stores them in self->next. Returns FALSE while the source is flushing.
 *
 * The joiner (mmtptsjoiner.h) joins the buffers of a transport stream. If the
 * items belong to another stream than the data in the joiner, the joiner must
 * first output all its data.
 *
 * If the base class sets the timestamps, only one item is removed, because the
 * base class cannot set timestamps in a buffer list. */
static gboolean
fetch_next (GstMmtpSrcOutput * self)
{
  GstBaseSrc *src = GST_BASE_SRC (self->src);

  self->n_next = gst_mmtp_src_queue_take (self->queue, self->next,
      gst_base_src_get_do_timestamp (src) ? 1 : gst_live_list_get_max (src,
          GST_MMTP_SRC_MAX_LIST));
  if (self->n_next == 0)
    return FALSE;
  if (self->next[0].is_first || (self->is_joined
          && !gst_mmtp_src_item_is_transport_stream (&self->next[0])))
    mmtp_ts_joiner_drain (self->joiner);
  return TRUE;
}

/* Takes the next output buffer of the joiner (mmtptsjoiner.h), stores it in
 * `buffers`, and counts it. Returns 1, or 0 if the joiner has no output buffer.
 */
static guint
fetch_joined (GstMmtpSrcOutput * self, GstBuffer ** buffers)
{
  buffers[0] = poll_joiner (self);
  if (!buffers[0])
    return 0;
  gst_mmtp_src_queue_count_joined (self->queue,
      gst_buffer_get_size (buffers[0]));
  return 1;
}

GstFlowReturn
gst_mmtp_src_output_create (GstMmtpSrcOutput * self, GstBuffer ** buffer)
{
  GstBuffer *buffers[GST_MMTP_SRC_MAX_LIST];
  GstFlowReturn flow = GST_FLOW_OK;
  guint n = fetch_joined (self, buffers);

  while (n == 0 && flow == GST_FLOW_OK) {
    if (self->n_next == 0) {
      if (!fetch_next (self))
        return GST_FLOW_FLUSHING;
    } else {
      flow = take_next (self, buffers, &n);
    }
    if (n == 0 && flow == GST_FLOW_OK)
      n = fetch_joined (self, buffers);
  }
  if (flow != GST_FLOW_OK)
    return flow;
  return gst_network_src_submit (self->src, buffers, n, buffer);
}
