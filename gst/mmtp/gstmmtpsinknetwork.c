/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A session of mmtpsink, from the handshake to the end, and the loop that
 * drives its core: what the sockets have, what they have room for, what time it
 * is.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstmmtpsinkprivate.h"

#include <string.h>

#include "systemrandom.h"

/* Longer than any message of a receiver, docs/wire-mmtp.md: a REPORT of 16
 * records with 16 ranges each has 1575 bytes. */
#define INPUT_ROOM 2048
/* Messages taken from one socket before it is looked at what is due */
#define MAX_INPUTS (4 * DATAGRAM_BATCH)
/* Nobody listens there, say all channels, and nothing came for so long: what
 * says so is not protected, so that it is not believed alone. us */
#define SILENCE (1 * G_TIME_SPAN_SECOND)

/* --- sending: all with lock ----------------------------------------------- */

static void
set_blocked (GstMmtpSink * self, Channel * channel, gboolean blocked)
{
  gst_poll_fd_ctl_write (self->loop.poll, &channel->fd, blocked);
  mmtp_sender_set_blocked (self->sender, gst_mmtp_now (), channel->number,
      blocked);
  gst_waker_wake (&self->loop);
}

static void
keep_unsent (Channel * channel, const Datagram * datagrams, guint n)
{
  guint i;

  for (i = 0; i < n; i++)
    g_queue_push_tail (&channel->unsent, g_bytes_new (datagrams[i].bytes,
            datagrams[i].size));
}

/* What passes, or is found by the silence that it makes; anything else says
 * that the path has gone. */
static gboolean
is_passing (const GError * error)
{
  return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED)
      || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE)
      || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED)
      || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
}

/* Takes the error. FALSE: nothing more can be sent here now */
static gboolean
take_error (GstMmtpSink * self, Channel * channel, GError * error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED))
    channel->refused = TRUE;
  GST_DEBUG_OBJECT (self, "channel %s: %s", channel->spec->name,
      error->message);
  if (is_passing (error)) {
    g_error_free (error);
    return TRUE;
  }
  g_clear_error (&channel->gone);
  channel->gone = error;
  gst_waker_wake (&self->loop);
  return FALSE;
}

/* How many of the first are done with. An ICMP error is that of an earlier
 * packet: the one at hand is tried once more. */
static guint
send_datagrams (GstMmtpSink * self, Channel * channel, Datagram * datagrams,
    guint n)
{
  gboolean again = TRUE;
  GError *error = NULL;
  guint done = 0;
  gint sent;

  while (done < n && !channel->gone) {
    sent = datagram_socket_send (channel->socket, datagrams + done, n - done,
        &error);
    if (sent > 0) {
      done += sent;
      again = TRUE;
      continue;
    }
    if (sent == 0)
      return done;
    if (!take_error (self, channel, g_steal_pointer (&error)))
      return n;
    done += again ? 0 : 1;
    again = !again;
  }
  return n;
}

static void
send_on_channel (GstMmtpSink * self, Channel * channel, Datagram * datagrams,
    guint n)
{
  guint done = 0;

  if (channel->asked_at == 0)
    channel->asked_at = g_get_monotonic_time ();
  if (g_queue_is_empty (&channel->unsent))
    done = send_datagrams (self, channel, datagrams, n);
  if (done == n)
    return;
  keep_unsent (channel, datagrams + done, n - done);
  set_blocked (self, channel, TRUE);
}

/* There is room in its socket again. */
static void
send_unsent (GstMmtpSink * self, Channel * channel)
{
  Datagram datagram;
  GBytes *bytes;

  while ((bytes = g_queue_peek_head (&channel->unsent))) {
    datagram_init (&datagram, (guint8 *) g_bytes_get_data (bytes, NULL),
        g_bytes_get_size (bytes));
    if (send_datagrams (self, channel, &datagram, 1) == 0)
      return;
    g_bytes_unref (g_queue_pop_head (&channel->unsent));
  }
  set_blocked (self, channel, FALSE);
}

/* Those of one channel together, in their order */
static void
send_batch (GstMmtpSink * self, const guint * numbers,
    const Datagram * datagrams, guint n)
{
  Datagram of_channel[DATAGRAM_BATCH];
  gboolean taken[DATAGRAM_BATCH] = { FALSE };
  guint first, i, n_of_channel;

  for (first = 0; first < n; first++) {
    if (taken[first])
      continue;
    n_of_channel = 0;
    for (i = first; i < n; i++) {
      if (numbers[i] != numbers[first])
        continue;
      taken[i] = TRUE;
      of_channel[n_of_channel++] = datagrams[i];
    }
    if (self->by_number[numbers[first]])
      send_on_channel (self, self->by_number[numbers[first]], of_channel,
          n_of_channel);
  }
}

static guint
poll_batch (GstMmtpSink * self, guint * numbers, Datagram * datagrams)
{
  guint64 now = gst_mmtp_now ();
  guint n;

  for (n = 0; n < DATAGRAM_BATCH && self->outputs; n++) {
    datagram_init (&datagrams[n], self->outputs + n * self->output_room, 0);
    datagrams[n].size = mmtp_sender_poll_output (self->sender, now,
        &numbers[n], datagrams[n].bytes, self->output_room);
    if (datagrams[n].size == 0)
      break;
  }
  return n;
}

gboolean
gst_mmtp_sink_has_room (GstMmtpSink * self, gsize size)
{
  return mmtp_sender_has_room (self->sender, gst_mmtp_now ())
      && mmtp_sender_fits (self->sender, size);
}

static void
tell_room (GstMmtpSink * self)
{
  if (!self->wants_room || !gst_mmtp_sink_has_room (self, self->wanted_bytes))
    return;
  self->wants_room = FALSE;
  gst_waker_wake (&self->room);
}

void
gst_mmtp_sink_flush_output (GstMmtpSink * self)
{
  Datagram datagrams[DATAGRAM_BATCH];
  guint numbers[DATAGRAM_BATCH];
  guint n;

  do {
    n = poll_batch (self, numbers, datagrams);
    send_batch (self, numbers, datagrams, n);
  } while (n == DATAGRAM_BATCH);
  gst_mmtp_sink_take_events (self);
  tell_room (self);
}

/* --- receiving ------------------------------------------------------------ */

/* With lock */
static void
take_input (GstMmtpSink * self, Channel * channel, Datagram * datagrams,
    guint n)
{
  guint i;

  channel->refused = FALSE;
  channel->was_heard = TRUE;
  channel->heard_at = g_get_monotonic_time ();
  for (i = 0; i < n; i++)
    mmtp_sender_input (self->sender, datagrams[i].time, channel->number,
        datagrams[i].bytes, datagrams[i].size);
}

/* With lock. Some of what one socket has */
static void
receive (GstMmtpSink * self, Channel * channel)
{
  guint8 rooms[DATAGRAM_BATCH][INPUT_ROOM];
  Datagram datagrams[DATAGRAM_BATCH];
  GError *error = NULL;
  guint i, total = 0;
  gint n;

  do {
    for (i = 0; i < DATAGRAM_BATCH; i++)
      datagram_init (&datagrams[i], rooms[i], INPUT_ROOM);
    n = datagram_socket_receive (channel->socket, datagrams, DATAGRAM_BATCH,
        &error);
    if (n > 0)
      take_input (self, channel, datagrams, n);
    total += MAX (0, n);
  } while (n == DATAGRAM_BATCH && total < MAX_INPUTS);

  if (n < 0)
    take_error (self, channel, error);
}

/* With lock */
static void
look_at_sockets (GstMmtpSink * self)
{
  guint i;

  self->interfaces_told = self->interfaces
      && gst_poll_fd_can_read (self->loop.poll, &self->interfaces_fd);
  for (i = 0; i < self->channels->len; i++) {
    Channel *channel = g_ptr_array_index (self->channels, i);

    if (!channel->socket)
      continue;
    if (gst_poll_fd_can_read (self->loop.poll, &channel->fd)
        || gst_poll_fd_has_error (self->loop.poll, &channel->fd))
      receive (self, channel);
    if (gst_poll_fd_can_write (self->loop.poll, &channel->fd))
      send_unsent (self, channel);
  }
}

/* --- the loop ------------------------------------------------------------- */

void
gst_mmtp_sink_wake_loop (GstMmtpSink * self, gboolean always)
{
  if (always || (self->sender
          && mmtp_sender_next_wakeup (self->sender) < self->sleeps_until))
    gst_waker_wake (&self->loop);
}

/* With lock. Nobody listens, as far as all channels say */
static gboolean
is_refused (GstMmtpSink * self)
{
  gint64 now = g_get_monotonic_time ();
  gboolean any = FALSE;
  guint i;

  for (i = 0; i < self->channels->len; i++) {
    const Channel *channel = g_ptr_array_index (self->channels, i);

    if (!channel->socket)
      continue;
    any = TRUE;
    if (!channel->refused
        || (self->is_ready && now - channel->heard_at < SILENCE))
      return FALSE;
  }
  return any;
}

/* With lock. FALSE: error, the session is of no use */
static gboolean
check_session (GstMmtpSink * self, GError ** error)
{
  gchar *problem;

  if (self->broken) {
    g_propagate_error (error, g_steal_pointer (&self->broken));
    return FALSE;
  }
  if (is_refused (self)) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED,
        "Connection refused");
    return FALSE;
  }
  problem = self->is_ready ? NULL : gst_mmtp_sink_get_channel_problem (self);
  if (!problem)
    return TRUE;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, problem);
  g_free (problem);
  return FALSE;
}

/* With lock: all that can be done now. Returns ns of the core's clock at which
 * there is something again */
static guint64
do_what_is_due (GstMmtpSink * self)
{
  gint64 retry;
  guint64 wakeup;

  gst_mmtp_sink_update_channels (self);
  mmtp_sender_timeout (self->sender, gst_mmtp_now ());
  gst_mmtp_sink_flush_output (self);
  wakeup = mmtp_sender_next_wakeup (self->sender);
  retry = gst_mmtp_sink_get_retry_time (self);
  if (retry < G_MAXINT64)
    wakeup = MIN (wakeup, (guint64) retry * GST_USECOND);
  return wakeup;
}

/* Until `wakeup`, a socket has something, the streaming thread wakes it, or it
 * is cancelled */
static void
sleep_until (GstMmtpSink * self, guint64 wakeup)
{
  guint64 now = gst_mmtp_now ();

  gst_poll_wait (self->loop.poll, wakeup == MMTP_NEVER ? GST_CLOCK_TIME_NONE :
      wakeup > now ? wakeup - now : 0);
  LOCK (self);
  self->sleeps_until = 0;
  gst_waker_reset (&self->loop);
  look_at_sockets (self);
}

static gboolean
is_never (GstMmtpSink * self)
{
  return FALSE;
}

static gboolean
is_ready (GstMmtpSink * self)
{
  return self->is_ready;
}

static gboolean
has_ended (GstMmtpSink * self)
{
  return self->has_ended;
}

/* TRUE: it is done. FALSE: `deadline` (monotonic us) is over, without error; or
 * error, also when cancelled */
static gboolean
run (GstMmtpSink * self, gboolean (*is_done) (GstMmtpSink *), gint64 deadline,
    GCancellable * cancellable, GError ** error)
{
  gboolean done = FALSE;
  guint64 wakeup;

  LOCK (self);
  while (TRUE) {
    wakeup = do_what_is_due (self);
    done = is_done (self);
    if (done || g_get_monotonic_time () >= deadline
        || g_cancellable_set_error_if_cancelled (cancellable, error)
        || !check_session (self, error))
      break;
    if (deadline < G_MAXINT64)
      wakeup = MIN (wakeup, (guint64) deadline * GST_USECOND);
    self->sleeps_until = wakeup;
    gst_mmtp_sink_unlock_and_tell (self);
    sleep_until (self, wakeup);
  }
  gst_mmtp_sink_unlock_and_tell (self);
  return done;
}

/* The same, while the loop also wakes when it is cancelled */
static gboolean
run_cancellable (GstMmtpSink * self, gboolean (*is_done) (GstMmtpSink *),
    gint64 deadline, GCancellable * cancellable, GError ** error)
{
  GstPollFD fd;
  gboolean done;

  gst_waker_add (&self->loop, &fd, g_cancellable_get_fd (cancellable));
  done = run (self, is_done, deadline, cancellable, error);
  gst_waker_remove (&self->loop, &fd);
  g_cancellable_release_fd (cancellable);
  return done;
}

/* --- what the base class calls -------------------------------------------- */

/* With lock */
static gboolean
fill_config (GstMmtpSink * self, MmtpSenderConfig * config,
    GstClockTime timeout, GError ** error)
{
  const GstMmtpSinkSettings *settings = &self->settings;

  mmtp_sender_config_init (config);
  config->max_delay = settings->latency * GST_MSECOND;
  config->initial_delay = settings->initial_delay * GST_MSECOND;
  config->keepalive_period = settings->keepalive_interval * GST_MSECOND;
  config->session_timeout = timeout > 0 ? timeout : MMTP_NEVER;
  config->bit_rate = settings->bitrate;
  config->frame_period = self->frame_period;
  config->max_bytes = settings->max_bytes;
  config->retransmit = settings->retransmit;
  config->scheduler = settings->scheduler;
  return gst_mmtp_parse_key (settings->key, &config->key, error);
}

static gboolean
begin_session (GstMmtpSink * self, GError ** error)
{
  GstClockTime timeout = gst_network_sink_get_timeout (GST_NETWORK_SINK (self));
  gboolean stored = !gst_base_sink_get_sync (GST_BASE_SINK (self));
  guint8 entropy[MMTP_ENTROPY_SIZE];
  MmtpSenderConfig config;

  if (!system_random_fill (entropy, sizeof (entropy), error))
    return FALSE;
  LOCK (self);
  if (!fill_config (self, &config, timeout, error)) {
    UNLOCK (self);
    return FALSE;
  }
  config.stored = stored;
  self->sender = mmtp_sender_new (&config, entropy);
  g_clear_pointer (&config.key, g_bytes_unref);
  memset (entropy, 0, sizeof (entropy));
  if (self->caps)
    mmtp_sender_set_caps (self->sender, gst_mmtp_now (), self->caps);
  self->is_ready = FALSE;
  self->has_ended = FALSE;
  self->tell_rate = self->frame_rate > 0 || self->settings.bitrate > 0;
  self->channels_changed = TRUE;
  UNLOCK (self);
  return TRUE;
}

/* Told once, without waiting, when nobody did wait for the end of the stream:
 * the receiver, which takes no other sender meanwhile, need not find out by the
 * silence. */
static void
end_session (GstMmtpSink * self, gboolean reset)
{
  LOCK (self);
  if (!reset && !self->has_ended && !self->broken) {
    mmtp_sender_flush (self->sender, gst_mmtp_now ());
    mmtp_sender_end (self->sender, gst_mmtp_now ());
    gst_mmtp_sink_flush_output (self);
  }
  gst_mmtp_sink_close_channels (self);
  gst_mmtp_sink_keep_stats (self);
  g_clear_pointer (&self->sender, mmtp_sender_free);
  g_clear_error (&self->broken);
  self->wants_room = FALSE;
  gst_mmtp_sink_unlock_and_tell (self);
}

/* Who comes in the middle of a stream has nothing that it refers to. */
static void
greet_receiver (GstMmtpSink * self)
{
  gboolean waits;

  g_object_get (self, "wait-for-connection", &waits, NULL);
  LOCK (self);
  if (self->sessions > 0 || !waits)
    gst_mmtp_sink_ask_for_key_unit (self);
  self->sessions++;
  gst_mmtp_sink_unlock_and_tell (self);
}

static gint64
get_deadline (GstMmtpSink * self)
{
  GstClockTime timeout = gst_network_sink_get_timeout (GST_NETWORK_SINK (self));

  return timeout == 0 ? G_MAXINT64 :
      g_get_monotonic_time () + (gint64) (timeout / GST_USECOND);
}

static GError *
make_timeout (GstMmtpSink * self)
{
  const gdouble seconds =
      gst_network_sink_get_timeout (GST_NETWORK_SINK (self)) /
      (gdouble) GST_SECOND;
  MmtpRefuseReason reason;
  GError *refusal, *error;
  guint version;

  LOCK (self);
  reason = mmtp_sender_get_unverified_refusal (self->sender, &version);
  UNLOCK (self);
  if (reason == 0)
    return g_error_new (G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
        "no answer within %g s", seconds);
  refusal = gst_mmtp_sink_make_refusal (reason, version);
  error = g_error_new (G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
      "no valid answer within %g s; an unverified answer said: %s", seconds,
      refusal->message);
  g_error_free (refusal);
  return error;
}

gboolean
gst_mmtp_sink_connect (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error)
{
  GstMmtpSink *self = GST_MMTP_SINK (sink);
  GError *local_error = NULL;

  if (!gst_mmtp_sink_resolve (self, cancellable, error)
      || !begin_session (self, error))
    return FALSE;
  if (run_cancellable (self, is_ready, get_deadline (self), cancellable,
          &local_error)) {
    greet_receiver (self);
    return TRUE;
  }
  if (!local_error)
    local_error = make_timeout (self);
  g_propagate_error (error, local_error);
  end_session (self, FALSE);
  return FALSE;
}

void
gst_mmtp_sink_watch (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error)
{
  run_cancellable (GST_MMTP_SINK (sink), is_never, G_MAXINT64, cancellable,
      error);
}

gboolean
gst_mmtp_sink_drain (GstNetworkSink * sink, gint64 deadline,
    GCancellable * cancellable, GError ** error)
{
  GstMmtpSink *self = GST_MMTP_SINK (sink);
  GError *local_error = NULL;
  gboolean done;

  LOCK (self);
  mmtp_sender_end (self->sender, gst_mmtp_now ());
  UNLOCK (self);
  done = run_cancellable (self, has_ended, deadline, cancellable, &local_error);
  if (g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_clear_error (&local_error);
  if (local_error)
    g_propagate_error (error, local_error);
  return done;
}

void
gst_mmtp_sink_disconnect (GstNetworkSink * sink, gboolean reset)
{
  end_session (GST_MMTP_SINK (sink), reset);
}
