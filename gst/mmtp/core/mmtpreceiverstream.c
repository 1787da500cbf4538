/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stream of one session at the receiver, from the messages that arrive to
 * the events for the application. */

#include "mmtpreceiverstream.h"

#include <string.h>

/* Number of END-ACK messages that the receiver sends on each path when the
 * stream has ended (docs/wire-mmtp.md, section 3). An END-ACK acknowledges the
 * end. Several of them are sent, because one may be lost. */
#define END_ACKS 3

void
mmtp_receiver_stream_init (MmtpReceiverStream * self,
    const MmtpReceiverPaths * paths, MmtpReceiverOutput * output,
    MmtpClock * clock, const MmtpInitialDelay * initial_delay,
    guint64 max_bytes, guint64 max_lateness)
{
  memset (self, 0, sizeof (*self));
  self->paths = paths;
  self->output = output;
  self->clock = clock;
  self->initial_delay = initial_delay;
  self->max_lateness = max_lateness;
  self->reorder = mmtp_reorder_new (max_bytes);
  mmtp_reorder_set_max_lateness (self->reorder, max_lateness);
  self->store = mmtp_store_new ();
}

void
mmtp_receiver_stream_clear (MmtpReceiverStream * self)
{
  g_clear_pointer (&self->reorder, mmtp_reorder_free);
  g_clear_pointer (&self->store, mmtp_store_free);
  mmtp_received_caps_clear (&self->caps);
}

/* --- deadlines ------------------------------------------------------------ */

guint64
mmtp_receiver_stream_get_latest_deadline (const MmtpReceiverStream * self)
{
  return MAX (self->latest_deadline,
      self->paths->now + self->initial_delay->delay);
}

void
mmtp_receiver_stream_shift_deadlines (MmtpReceiverStream * self, gint64 change)
{
  mmtp_reorder_shift_deadlines (self->reorder, self->paths->now, change);
}

/* --- DATA and REPAIR ------------------------------------------------------ */

static MmtpReorderResult
add_data (MmtpReceiverStream * self, const MmtpData * data, gboolean * is_late)
{
  const guint64 now = self->paths->now;
  guint64 due, deadline;

  due = mmtp_clock_unwrap_due (self->clock, now, data->due);
  deadline = mmtp_clock_map (self->clock, now, due)
      + self->initial_delay->delay;
  self->latest_deadline = MAX (self->latest_deadline, deadline);
  *is_late = now >= deadline;
  return mmtp_reorder_add (self->reorder, now, data, due, deadline);
}

/* Processes all missing packets that can now be computed from REPAIR messages,
 * as if they had arrived. */
static void
recover (MmtpReceiverStream * self)
{
  MmtpMessage message;
  const guint8 *bytes;
  gboolean is_late;
  gsize size;

  while (mmtp_store_poll (self->store, &bytes, &size)) {
    if (mmtp_packet_parse_header (&message, bytes, size, MMTP_SENDER) ||
        mmtp_packet_parse_body (&message, bytes, size))
      continue;
    message.data.block = NULL;
    if (add_data (self, &message.data, &is_late) == MMTP_REORDER_TAKEN)
      self->recovered++;
  }
}

void
mmtp_receiver_stream_take_data (MmtpReceiverStream * self,
    MmtpReceiverPath * path, const MmtpData * data, const guint8 * bytes,
    gsize size)
{
  gboolean is_late;

  if (self->has_ended)
    return;
  if (add_data (self, data, &is_late) == MMTP_REORDER_DUPLICATE)
    path->duplicates++;
  if (is_late)
    mmtp_arrivals_add_late (&path->arrivals);
  mmtp_store_add (self->store, data->stream_number, bytes, size);
  recover (self);
}

void
mmtp_receiver_stream_take_repair (MmtpReceiverStream * self,
    const MmtpRepair * repair)
{
  if (self->has_ended)
    return;
  mmtp_store_add_repair (self->store, repair);
  recover (self);
}

/* --- floor ---------------------------------------------------------------- */

/* The floor is a stream number in a KEEPALIVE. The sender announces with it
 * that it will send no packet with a lower number any more. Returns whether the
 * receiver may use the floor, which means that it need not wait for packets
 * with lower numbers.
 *
 * Such a packet may have been sent on a slower path before the KEEPALIVE, and
 * may still be in flight. The receiver therefore looks at each path, except
 * silent ones. It uses the floor when the last message on each of these paths
 * was sent at the same time as the KEEPALIVE or later. */
static gboolean
has_floor_come (const MmtpReceiverStream * self)
{
  guint i;

  for (i = 0; i < self->paths->n; i++) {
    const MmtpReceiverPath *path = mmtp_receiver_paths_nth (self->paths, i);

    if (path->joined && path->latest_sent < self->floor_sent
        && !mmtp_arrivals_is_silent (&path->arrivals, self->paths->now))
      return FALSE;
  }
  return TRUE;
}

void
mmtp_receiver_stream_take_floor (MmtpReceiverStream * self, guint32 floor,
    gint64 sent)
{
  if (!self->floor_waits) {
    self->floor = floor;
    self->floor_sent = sent;
    self->floor_waits = TRUE;
  }
  if (!has_floor_come (self))
    return;
  mmtp_reorder_set_floor (self->reorder, self->floor);
  self->floor_waits = FALSE;
}

/* --- CAPS ----------------------------------------------------------------- */

MmtpRefusal
mmtp_receiver_stream_take_caps (MmtpReceiverStream * self,
    MmtpReceiverPath * path, const MmtpCaps * caps)
{
  MmtpMessage answer = {.type = MMTP_CAPS_ACK };
  gboolean is_complete;
  MmtpRefusal refusal = mmtp_received_caps_add (&self->caps, caps,
      &is_complete);

  answer.caps.version = caps->version;
  if (is_complete)
    mmtp_receiver_output_add (self->output, path, &answer, &path->address);
  return refusal;
}

/* --- END ------------------------------------------------------------------ */

static void
acknowledge_end (MmtpReceiverStream * self, MmtpReceiverPath * path)
{
  MmtpMessage answer = {.type = MMTP_END_ACK };

  answer.end.stream_number = self->end_number & G_MAXUINT32;
  mmtp_receiver_output_add (self->output, path, &answer, &path->address);
}

/* Sends END-ACK, the acknowledgement of the end of the stream, on all paths. A
 * sender that has received END-ACK may exit. This function must therefore be
 * called only when each packet has arrived or is too late.
 *
 * A single END-ACK may be lost. The sender would then repeat its END message
 * after 100 ms, but the application may have closed the receiver by then.
 * END-ACK is therefore sent END_ACKS times on each path. */
static void
acknowledge_end_on_all (MmtpReceiverStream * self)
{
  guint i, n;

  for (n = 0; n < END_ACKS; n++) {
    for (i = 0; i < self->paths->n; i++) {
      if (mmtp_receiver_paths_nth (self->paths, i)->joined)
        acknowledge_end (self, mmtp_receiver_paths_nth (self->paths, i));
    }
  }
}

void
mmtp_receiver_stream_take_end (MmtpReceiverStream * self,
    MmtpReceiverPath * path, const MmtpEnd * end)
{
  if (!self->end_known) {
    self->end_known = TRUE;
    self->end_number = mmtp_unwrap (end->stream_number, 32,
        mmtp_reorder_get_next (self->reorder));
    self->end_deadline = mmtp_receiver_stream_get_latest_deadline (self);
  }
  if (self->has_ended)
    acknowledge_end (self, path);
}

/* Returns whether packets before the known end of the stream are still missing.
 */
static gboolean
is_end_open (const MmtpReceiverStream * self)
{
  return self->end_known
      && mmtp_reorder_get_next (self->reorder) < self->end_number;
}

/* --- timeout -------------------------------------------------------------- */

/* Returns the time until which the next buffer may wait for its caps (the
 * description of the media format). The result is the earliest deadline of all
 * complete buffers, plus the time by which a buffer may be late (max_lateness).
 */
static guint64
get_output_limit (MmtpReceiverStream * self)
{
  guint64 deadline = mmtp_reorder_get_output_deadline (self->reorder);

  return deadline == MMTP_NEVER ? MMTP_NEVER : deadline + self->max_lateness;
}

static guint64
get_caps_deadline (MmtpReceiverStream * self)
{
  const MmtpReorderedBuffer *buffer = mmtp_reorder_peek (self->reorder);

  return buffer && buffer->caps_version != 0
      && !mmtp_received_caps_find (&self->caps, buffer->caps_version) ?
      get_output_limit (self) : MMTP_NEVER;
}

void
mmtp_receiver_stream_timeout (MmtpReceiverStream * self)
{
  mmtp_reorder_timeout (self->reorder, self->paths->now);
  if (is_end_open (self) && self->end_deadline <= self->paths->now)
    mmtp_reorder_set_floor (self->reorder, self->end_number & G_MAXUINT32);
}

guint64
mmtp_receiver_stream_next_wakeup (MmtpReceiverStream * self)
{
  guint64 next = MIN (mmtp_reorder_next_wakeup (self->reorder),
      get_caps_deadline (self));

  return is_end_open (self) ? MIN (next, self->end_deadline) : next;
}

/* --- events for the application ------------------------------------------- */

static void
begin_event (MmtpReceiverEvent * event, MmtpReceiverEventType type)
{
  memset (event, 0, sizeof (*event));
  event->type = type;
}

static gboolean
tell_too_long (MmtpReceiverStream * self, MmtpReceiverEvent * event)
{
  if (self->has_reported_too_long
      || mmtp_reorder_get_stats (self->reorder)->too_long == 0)
    return FALSE;
  self->has_reported_too_long = TRUE;
  begin_event (event, MMTP_EVENT_TOO_LONG);
  return TRUE;
}

/* Returns the next buffer in the order of the stream, and sets `text` to its
 * caps (the description of the media format). Returns NULL if there is no
 * complete buffer. Also returns NULL if the caps of the next buffer have not
 * arrived yet. This buffer then waits for its caps, and the buffers after it
 * wait, too.
 *
 * The buffer that waits for its caps must not make the buffers after it too
 * late. It is therefore dropped at a certain time: the earliest deadline of all
 * complete buffers, plus the maximum lateness. The earliest deadline may be
 * that of a later buffer, because the due times of the stream may decrease. */
static const MmtpReorderedBuffer *
find_buffer (MmtpReceiverStream * self, const MmtpCapsText ** text)
{
  const MmtpReorderedBuffer *buffer;

  while ((buffer = mmtp_reorder_peek (self->reorder))) {
    *text = mmtp_received_caps_find (&self->caps, buffer->caps_version);
    if (buffer->caps_version == 0 || *text)
      return buffer;
    if (self->paths->now < get_output_limit (self))
      return NULL;
    mmtp_reorder_drop (self->reorder);
  }
  return NULL;
}

static gboolean
tell_caps (MmtpReceiverStream * self, const MmtpCapsText * text,
    guint8 version, MmtpReceiverEvent * event)
{
  gboolean plain = text && text->plain;

  if (version == self->caps_version)
    return FALSE;
  self->caps_version = version;
  if (!plain && !self->has_caps)
    return FALSE;
  self->has_caps = plain;
  begin_event (event, MMTP_EVENT_CAPS);
  event->caps = plain ? g_strndup (text->text, text->length) : NULL;
  return TRUE;
}

static gboolean
tell_rate (MmtpReceiverStream * self, const MmtpPrelude * prelude,
    MmtpReceiverEvent * event)
{
  if (!(prelude->mask & MMTP_PRELUDE_RATE) || self->rate_reported)
    return FALSE;
  self->rate_reported = TRUE;
  begin_event (event, MMTP_EVENT_PRESENTATION_RATE);
  event->frame_rate = prelude->frame_rate;
  event->bit_rate = prelude->bit_rate;
  return TRUE;
}

/* Returns the due time of `buffer` as it is reported to the application. The
 * application considers a buffer late when the present time is after the due
 * time plus D0. D0 is the initial delay, which is the latency of the session.
 *
 * In two cases, the buffer must not count as late although its due time plus D0
 * is in the past. The function then returns a later due time: the present time
 * minus D0.
 * - The deadline of the buffer has not passed. The deadline is the due time
 *   plus D0, as they were known when the packets arrived. Since then, the
 *   estimate of the sender's clock may have been corrected, by at most 1 ms per
 *   second (mmtpclock.c). The correction may have made the due time earlier,
 *   but does not change the deadline.
 * - The due time plus D0 passed only a moment ago (at most a thousandth of D0),
 *   because the timer for the buffer fired a little late. */
static guint64
get_due (MmtpReceiverStream * self, const MmtpReorderedBuffer * buffer)
{
  const guint64 now = self->paths->now, delay = self->initial_delay->delay;
  guint64 due = mmtp_clock_map_output (self->clock, now, buffer->due);
  guint64 limit = due + delay;

  if (now <= limit)
    return due;
  if (now <= buffer->deadline || now - limit <= delay / 1000)
    return due + now - limit;
  return due;
}

static gboolean
tell_buffer (MmtpReceiverStream * self, MmtpReceiverEvent * event)
{
  MmtpReorderedBuffer buffer;

  if (!mmtp_reorder_poll (self->reorder, &buffer))
    return FALSE;
  self->rate_reported = FALSE;
  begin_event (event, MMTP_EVENT_BUFFER);
  event->data = buffer.data;
  event->due = get_due (self, &buffer);
  event->flags = buffer.flags;
  event->prelude = buffer.prelude;
  event->discont = buffer.discont;
  event->delay = self->initial_delay->delay;
  self->buffers++;
  self->bytes += buffer.data.size;
  return TRUE;
}

static gboolean
tell_end (MmtpReceiverStream * self, MmtpReceiverEvent * event)
{
  if (!self->end_known || self->has_ended || is_end_open (self)
      || mmtp_reorder_peek (self->reorder))
    return FALSE;
  self->has_ended = TRUE;
  acknowledge_end_on_all (self);
  begin_event (event, MMTP_EVENT_END);
  return TRUE;
}

gboolean
mmtp_receiver_stream_poll_event (MmtpReceiverStream * self,
    MmtpReceiverEvent * event)
{
  const MmtpReorderedBuffer *buffer;
  const MmtpCapsText *text = NULL;

  if (tell_too_long (self, event))
    return TRUE;
  buffer = find_buffer (self, &text);
  if (!buffer)
    return tell_end (self, event);
  return tell_caps (self, text, buffer->caps_version, event)
      || tell_rate (self, &buffer->prelude, event)
      || tell_buffer (self, event);
}
