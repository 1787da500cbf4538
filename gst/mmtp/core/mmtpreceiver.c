/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public functions of the receiver, and its events. mmtpreceiverprivate.h
 * lists the other files. */

#include "mmtpreceiverprivate.h"

#include <string.h>

/* the maximum that OPEN allows */
#define DEFAULT_MAX_DELAY (60 * MMTP_SECOND)
/* docs/wire-mmtp.md, section 4 */
#define DEFAULT_SESSION_TIMEOUT (10 * MMTP_SECOND)
/* 100 Mbit/s for 5 s. */
#define DEFAULT_MAX_BYTES (64 * 1024 * 1024)

void
mmtp_receiver_config_init (MmtpReceiverConfig * config)
{
  memset (config, 0, sizeof (*config));
  config->max_delay = DEFAULT_MAX_DELAY;
  config->session_timeout = DEFAULT_SESSION_TIMEOUT;
  config->max_bytes = DEFAULT_MAX_BYTES;
}

MmtpReceiver *
mmtp_receiver_new (const MmtpReceiverConfig * config,
    const guint8 entropy[MMTP_ENTROPY_SIZE])
{
  MmtpReceiver *self = g_new0 (MmtpReceiver, 1);

  self->config = *config;
  if (config->key)
    g_bytes_ref (config->key);
  mmtp_key_init (&self->key, config->key);
  memcpy (self->secret, entropy + MMTP_KEY_SIZE, MMTP_KEY_SIZE);
  mmtp_receiver_output_init (&self->output, &self->paths, &self->key);
  mmtp_reports_init (&self->reports, &self->paths, &self->output);
  mmtp_liveness_init (&self->liveness, &self->paths, &self->output,
      config->session_timeout);
  mmtp_receiver_handshake_init (&self->handshake, &self->paths, &self->output,
      &self->liveness, &self->key, entropy, self->secret);
  self->handshake.min_delay = config->min_delay;
  mmtp_receiver_joins_init (&self->joins, &self->paths, &self->output,
      &self->reports, &self->handshake.limits, &self->key, self->secret);
  g_queue_init (&self->events);
  return self;
}

void
mmtp_receiver_free (MmtpReceiver * self)
{
  mmtp_receiver_clear_session (self);
  mmtp_receiver_paths_clear (&self->paths);
  mmtp_receiver_output_clear (&self->output);
  g_queue_clear_full (&self->events, g_free);
  mmtp_receiver_handshake_clear (&self->handshake);
  mmtp_key_clear (&self->key);
  if (self->config.key)
    g_bytes_unref (self->config.key);
  g_free (self);
}

void
mmtp_receiver_set_ends (MmtpReceiver * self, gboolean ends)
{
  self->handshake.ends = ends;
}

gsize
mmtp_receiver_poll_output (MmtpReceiver * self, guint64 now,
    MmtpAddress * address, guint8 * bytes, gsize room)
{
  self->paths.now = MAX (self->paths.now, now);
  return mmtp_receiver_output_poll (&self->output, address, bytes, room);
}

/* --- input and timeout ---------------------------------------------------- */

static MmtpRefusal
take_message (MmtpReceiver * self, const MmtpAddress * address,
    const guint8 * bytes, gsize size)
{
  MmtpMessage message;
  MmtpRefusal refusal =
      mmtp_packet_parse_header (&message, bytes, size, MMTP_SENDER);

  if (refusal != MMTP_VALID && refusal != MMTP_REFUSED_VERSION)
    return refusal;
  if (message.type == MMTP_INIT || message.type == MMTP_OPEN)
    return mmtp_receiver_handshake (self, address, &message, bytes, size);
  if (refusal != MMTP_VALID)
    return refusal;
  return mmtp_receiver_session_input (self, address, &message, bytes, size);
}

void
mmtp_receiver_input (MmtpReceiver * self, guint64 now,
    const MmtpAddress * address, const guint8 * bytes, gsize size)
{
  MmtpRefusal refusal;

  self->paths.now = MAX (self->paths.now, now);
  mmtp_receiver_session_timeout (self);
  refusal = take_message (self, address, bytes, size);
  if (refusal != MMTP_VALID)
    self->stats.refused[refusal]++;
}

void
mmtp_receiver_timeout (MmtpReceiver * self, guint64 now)
{
  self->paths.now = MAX (self->paths.now, now);
  mmtp_receiver_session_timeout (self);
  mmtp_receiver_report_timeout (self);
}

guint64
mmtp_receiver_next_wakeup (MmtpReceiver * self)
{
  return mmtp_receiver_session_next_wakeup (self);
}

/* --- events --------------------------------------------------------------- */

static gboolean
tell_caps (MmtpReceiver * self, const MmtpCapsText * text, guint8 version,
    MmtpReceiverEvent * event)
{
  MmtpReceiverSession *session = &self->session;
  gboolean plain = text && text->plain;

  if (version == session->caps_version)
    return FALSE;
  session->caps_version = version;
  if (!plain && !session->has_caps)
    return FALSE;
  session->has_caps = plain;
  event->type = MMTP_EVENT_CAPS;
  event->caps = plain ? g_strndup (text->text, text->length) : NULL;
  return TRUE;
}

static gboolean
tell_rate (MmtpReceiver * self, const MmtpPrelude * prelude,
    MmtpReceiverEvent * event)
{
  MmtpReceiverSession *session = &self->session;

  if (!(prelude->mask & MMTP_PRELUDE_RATE) || session->rate_reported)
    return FALSE;
  session->rate_reported = TRUE;
  event->type = MMTP_EVENT_PRESENTATION_RATE;
  event->frame_rate = prelude->frame_rate;
  event->bit_rate = prelude->bit_rate;
  return TRUE;
}

/* Returns the due time for the application. The deadline of a buffer is fixed
 * when its packets arrive, but the clock may be corrected afterwards by 1 ms
 * per second (mmtpclock.c). A buffer that was in time then still counts as in
 * time, and so does one whose timer fired a little late. */
static guint64
get_due (MmtpReceiver * self, const MmtpReorderedBuffer * buffer)
{
  MmtpReceiverSession *session = &self->session;
  guint64 due =
      mmtp_clock_map_output (&session->clock, self->paths.now, buffer->due);
  guint64 limit = due + session->initial_delay;

  if (self->paths.now <= limit)
    return due;
  if (self->paths.now <= buffer->deadline
      || self->paths.now - limit <= session->initial_delay / 1000)
    return due + self->paths.now - limit;
  return due;
}

static gboolean
tell_buffer (MmtpReceiver * self, MmtpReceiverEvent * event)
{
  MmtpReceiverSession *session = &self->session;
  MmtpReorderedBuffer buffer;

  if (!mmtp_reorder_poll (session->reorder, &buffer))
    return FALSE;
  session->rate_reported = FALSE;
  event->type = MMTP_EVENT_BUFFER;
  event->data = buffer.data;
  event->due = get_due (self, &buffer);
  event->flags = buffer.flags;
  event->prelude = buffer.prelude;
  event->discont = buffer.discont;
  event->delay = session->initial_delay;
  self->stats.buffers++;
  self->stats.bytes += g_bytes_get_size (buffer.data);
  return TRUE;
}

static gboolean
tell_too_long (MmtpReceiver * self, MmtpReceiverEvent * event)
{
  MmtpReceiverSession *session = &self->session;

  if (session->has_reported_too_long
      || mmtp_reorder_get_stats (session->reorder)->too_long == 0)
    return FALSE;
  session->has_reported_too_long = TRUE;
  event->type = MMTP_EVENT_TOO_LONG;
  return TRUE;
}

/* Returns the next buffer unless it has to wait for its caps; NULL if there is
 * none. If due times go back, a buffer behind a waiting one may have an earlier
 * deadline. So buffers wait no longer than the earliest deadline of all. */
static const MmtpReorderedBuffer *
find_buffer (MmtpReceiver * self, const MmtpCapsText ** text)
{
  MmtpReorder *reorder = self->session.reorder;
  const MmtpReorderedBuffer *buffer;

  while ((buffer = mmtp_reorder_peek (reorder))) {
    *text = mmtp_received_caps_find (&self->session.caps, buffer->caps_version);
    if (buffer->caps_version == 0 || *text)
      return buffer;
    if (self->paths.now < mmtp_reorder_get_output_deadline (reorder))
      return NULL;
    mmtp_reorder_drop (reorder);
  }
  return NULL;
}

static gboolean
tell_end (MmtpReceiver * self, MmtpReceiverEvent * event)
{
  MmtpReceiverSession *session = &self->session;

  if (!session->end_known || self->handshake.phase == MMTP_RECEIVER_ENDED
      || mmtp_reorder_get_next (session->reorder) < session->end_number
      || mmtp_reorder_peek (session->reorder))
    return FALSE;
  self->handshake.phase = MMTP_RECEIVER_ENDED;
  mmtp_receiver_acknowledge_end (self);
  event->type = MMTP_EVENT_END;
  return TRUE;
}

gboolean
mmtp_receiver_poll_event (MmtpReceiver * self, MmtpReceiverEvent * event)
{
  MmtpReceiverEvent *queued = g_queue_pop_head (&self->events);
  const MmtpReorderedBuffer *buffer;
  const MmtpCapsText *text = NULL;

  memset (event, 0, sizeof (*event));
  if (queued) {
    *event = *queued;
    g_free (queued);
    return TRUE;
  }
  if (self->handshake.phase == MMTP_RECEIVER_IDLE)
    return FALSE;
  if (tell_too_long (self, event))
    return TRUE;
  buffer = find_buffer (self, &text);
  if (!buffer)
    return tell_end (self, event);
  return tell_caps (self, text, buffer->caps_version, event)
      || tell_rate (self, &buffer->prelude, event)
      || tell_buffer (self, event);
}

/* --- statistics ----------------------------------------------------------- */

void
mmtp_receiver_get_stats (MmtpReceiver * self, MmtpReceiverStats * stats)
{
  const MmtpReceiverSession *session = &self->session;
  const MmtpReorderStats *reorder;

  *stats = self->stats;
  stats->reports = self->reports.n_sent;
  stats->in_session = self->handshake.phase == MMTP_RECEIVER_ALIVE;
  if (self->handshake.phase == MMTP_RECEIVER_IDLE)
    return;
  reorder = mmtp_reorder_get_stats (session->reorder);
  stats->packets += reorder->packets;
  stats->late += reorder->late;
  stats->duplicates += reorder->duplicates;
  stats->missing += reorder->missing;
  stats->incomplete += reorder->incomplete;
  stats->no_room += reorder->no_room;
  stats->held_bytes = reorder->held_bytes;
  stats->reorder_steps = reorder->steps;
  stats->initial_delay = session->initial_delay;
  /* Messages of a fast clock seem to arrive sooner and sooner, hence the sign.
   */
  stats->skew = -session->clock.skew * 1e9;
}

gboolean
mmtp_receiver_get_path_stats (MmtpReceiver * self, guint id,
    MmtpReceiverPathStats * stats)
{
  const MmtpReceiverPath *path =
      id < MMTP_MAX_PATHS ? self->paths.all[id] : NULL;
  const MmtpArrivals *arrivals;

  memset (stats, 0, sizeof (*stats));
  if (!path)
    return FALSE;
  arrivals = &path->arrivals;
  stats->joined = path->joined;
  stats->received = path->past.received + arrivals->received;
  stats->bytes = path->past.bytes + arrivals->bytes;
  stats->lost = path->past.lost + arrivals->losses.lost;
  stats->late = path->past.late + arrivals->late;
  stats->duplicates = path->duplicates;
  stats->rate = mmtp_arrivals_get_rate (arrivals, self->paths.now) * 8;
  stats->jitter = arrivals->jitter;
  if (!mmtp_arrivals_get_min_transit (arrivals, self->paths.now,
          &stats->transit))
    stats->transit = 0;
  return TRUE;
}

/* --- functions for the driver --------------------------------------------- */

static void
receiver_input (gpointer core, guint64 now, guint path,
    const Datagram * datagram)
{
  MmtpAddress address;

  mmtp_address_set_path (&address, &datagram->path);
  mmtp_receiver_input (core, now, &address, datagram->bytes, datagram->size);
}

static void
receiver_timeout (gpointer core, guint64 now)
{
  mmtp_receiver_timeout (core, now);
}

static gboolean
receiver_poll_output (gpointer core, guint64 now, guint * path,
    Datagram * datagram, gsize room)
{
  MmtpAddress address;

  datagram->size = mmtp_receiver_poll_output (core, now, &address,
      datagram->bytes, room);
  if (datagram->size == 0)
    return FALSE;
  *path = 0;
  mmtp_address_get_path (&address, &datagram->path);
  return TRUE;
}

static gboolean
receiver_poll_event (gpointer core, gpointer event)
{
  return mmtp_receiver_poll_event (core, event);
}

static guint64
receiver_next_wakeup (gpointer core)
{
  return mmtp_receiver_next_wakeup (core);
}

const DriverVerbs mmtp_receiver_verbs = {
  .event_size = sizeof (MmtpReceiverEvent),
  .input = receiver_input,
  .timeout = receiver_timeout,
  .poll_output = receiver_poll_output,
  .poll_event = receiver_poll_event,
  .next_wakeup = receiver_next_wakeup,
};
