/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The medium that all flows share: the emulated link, its time (called link
 * time), and the threads that wait for the link.
 *
 * With mode=realtime, link time follows the clock of the pipeline in PLAYING. A
 * scheduler thread waits for the next event in the link.
 *
 * With mode=timestamp, link time is running time. For each flow, the element
 * determines a time before which no further packet can enter. The thread that
 * pushes a packet advances the link to the earliest of these times. */

#include "gstwirelesslinkprivate.h"

#define GST_CAT_DEFAULT gst_wireless_link_debug

/* Time in ns without activity after which the link counts as stuck, with
 * mode=timestamp. Activity means that a packet enters the link, is delivered or
 * is lost. The time is link time, the time in the emulated link. In this mode,
 * link time is the running time of the stream.
 *
 * If the link is stuck, the packets that are still in the link are considered
 * lost. The link is stuck if a dial-up call is never set up, or if the radio
 * channel has no error-free block at all. */
#define DRAIN_LIMIT (24 * GST_SECOND * 3600)
/* A thread that advances the link holds the lock. After this number of steps,
 * it releases the lock for a moment, so that other threads can take it. */
#define MERGE_STEPS 256

/* --- notices: messages and notifications that wait until the lock is free - */

typedef struct
{
  /* The event that is announced to the application: the quality of a channel or
   * the state of the dial-up call has changed. Not used if `error` is set. */
  LinkEvent event;
  GError *error;                /* error of writing a file */
} Notice;

static void
notify_quality (GstWirelessLink * self, guint station)
{
  GList *pads = NULL, *walk;
  guint i;

  if (station == 0)
    g_object_notify (G_OBJECT (self), "channel-quality");
  gst_wireless_link_lock (self);
  for (i = 0; i < self->flows->len; i++) {
    GstWirelessLinkFlow *flow = g_ptr_array_index (self->flows, i);

    if (flow && flow->sinkpad && flow->station == station)
      pads = g_list_append (pads, gst_object_ref (flow->sinkpad));
  }
  gst_wireless_link_unlock (self);
  for (walk = pads; walk; walk = walk->next)
    g_object_notify (walk->data, "channel-quality");
  g_list_free_full (pads, gst_object_unref);
}

static void
post_call (GstWirelessLink * self, const LinkEvent * event)
{
  gst_element_post_message (GST_ELEMENT_CAST (self),
      gst_message_new_element (GST_OBJECT_CAST (self),
          gst_structure_new ("application/x-wirelesslink-call",
              "state", G_TYPE_STRING, link_call_get_name (event->call),
              "time", G_TYPE_UINT64, event->time, NULL)));
}

static void
send_notice (GstWirelessLink * self, Notice * notice)
{
  if (notice->error)
    GST_ELEMENT_WARNING (self, RESOURCE, WRITE, ("%s %s.",
            GST_OBJECT_NAME (self), notice->error->message), (NULL));
  else if (notice->event.type == LINK_EVENT_QUALITY)
    notify_quality (self, notice->event.station);
  else
    post_call (self, &notice->event);
  g_clear_error (&notice->error);
  g_slice_free (Notice, notice);
}

void
gst_wireless_link_unlock (GstWirelessLink * self)
{
  GQueue notices;
  Notice *notice;

  if (G_LIKELY (g_queue_is_empty (&self->notices))) {
    g_mutex_unlock (&self->lock);
    return;
  }
  notices = self->notices;
  g_queue_init (&self->notices);
  g_mutex_unlock (&self->lock);
  while ((notice = g_queue_pop_head (&notices)))
    send_notice (self, notice);
}

static void
add_notice (GstWirelessLink * self, const LinkEvent * event, GError * error)
{
  Notice *notice = g_slice_new0 (Notice);

  if (event)
    notice->event = *event;
  notice->error = error;
  g_queue_push_tail (&self->notices, notice);
}

/* --- link time ------------------------------------------------------------ */

void
gst_wireless_link_wake_scheduler (GstWirelessLink * self)
{
  self->scheduler_until = 0;
  if (self->scheduler_id)
    gst_clock_id_unschedule (self->scheduler_id);
  else
    g_cond_signal (&self->scheduler_cond);
}

static void
stop_time (GstWirelessLink * self)
{
  if (!wireless_link_clock_is_running (&self->clock))
    return;
  wireless_link_clock_stop (&self->clock);
  gst_wireless_link_wake_scheduler (self);
}

static void
start_time (GstWirelessLink * self)
{
  GstClock *clock = gst_element_get_clock (GST_ELEMENT_CAST (self));

  if (!clock)
    clock = gst_system_clock_obtain ();
  wireless_link_clock_start (&self->clock, clock);
  gst_wireless_link_wake_scheduler (self);
}

void
gst_wireless_link_play (GstWirelessLink * self)
{
  gst_wireless_link_lock (self);
  start_time (self);
  gst_wireless_link_unlock (self);
}

void
gst_wireless_link_pause (GstWirelessLink * self)
{
  gst_wireless_link_lock (self);
  stop_time (self);
  gst_wireless_link_unlock (self);
}

/* Switches to another clock. Link time continues from its current value. */
void
gst_wireless_link_change_clock (GstWirelessLink * self)
{
  gst_wireless_link_lock (self);
  if (wireless_link_clock_is_running (&self->clock)) {
    stop_time (self);
    start_time (self);
  }
  gst_wireless_link_unlock (self);
}

/* --- output of the link --------------------------------------------------- */

static GstWirelessLinkFlow *
find_flow (GstWirelessLink * self, guint number)
{
  if (number >= self->flows->len)
    return NULL;
  return g_ptr_array_index (self->flows, number);
}

/* Returns the flow of a packet, or NULL if the packet was flushed or the flow
 * was released. */
static GstWirelessLinkFlow *
find_flow_of (GstWirelessLink * self, const LinkPacket * packet)
{
  GstWirelessLinkFlow *flow = find_flow (self, packet->flow);
  const GstWirelessLinkPacket *own = packet->user;

  return flow && flow->generation == own->generation ? flow : NULL;
}

static void
log_event (GstWirelessLink * self, const LinkEvent * event)
{
  GError *error = NULL;

  if (!wireless_link_log_event (self->log, event, &error))
    add_notice (self, NULL, error);
}

void
gst_wireless_link_flush_log (GstWirelessLink * self)
{
  GError *error = NULL;

  if (self->log && !wireless_link_log_flush (self->log, &error))
    add_notice (self, NULL, error);
}

/* A text for each fate of a packet. A fate says whether the packet was
 * delivered, or why it was lost. Each text begins with the name that the fate
 * has in the statistics. Most texts have a colon after this name. An
 * explanation for the log follows the colon. */
static const gchar *const fates[LINK_FATE_LAST] = {
  "delivered", "damaged: the receiver gets it with wrong bits",
  "queue: the device queue had no room",
  "air: all attempts to transmit it failed",
  "check: it was damaged, and the frame check found that",
  "reset: the link layer gave up the packet and was reset",
  "call: the call broke, or there was none",
  "receiver: the receiver could not keep up",
  "too-big: it is larger than the link can carry",
  "frame: it was dropped together with its frame"
};

static void
handle_loss (GstWirelessLink * self, const LinkPacket * packet)
{
  GstWirelessLinkPacket *own = packet->user;
  GstWirelessLinkFlow *flow = find_flow_of (self, packet);

  GST_DEBUG_OBJECT (self, "flow %u: lost a packet of %u bytes at %"
      GST_TIME_FORMAT " after %u attempts: %s", packet->flow, packet->size,
      GST_TIME_ARGS (packet->departure), packet->attempts, fates[packet->fate]);
  self->in_flight--;
  self->last_fate = packet->departure;
  if (flow)
    gst_wireless_link_flow_finish (flow, own->epoch);
  gst_wireless_link_packet_free (own);
}

static void
trace_change (GstWirelessLink * self, const LinkEvent * event)
{
  if (event->type == LINK_EVENT_QUALITY)
    GST_DEBUG_OBJECT (self, "station %u: the quality of the channel is %g at %"
        GST_TIME_FORMAT, event->station, event->quality,
        GST_TIME_ARGS (event->time));
  else
    GST_DEBUG_OBJECT (self, "the call is %s at %" GST_TIME_FORMAT,
        link_call_get_name (event->call), GST_TIME_ARGS (event->time));
}

static void
handle_event (GstWirelessLink * self, const LinkEvent * event)
{
  if (self->log)
    log_event (self, event);
  if (event->type != LINK_EVENT_FATE) {
    trace_change (self, event);
    add_notice (self, event, NULL);
  } else if (event->packet.fate > LINK_FATE_DAMAGED) {
    handle_loss (self, &event->packet);
  }
}

/* Inverts the damaged bits of the packet in the buffer. If other elements have
 * references to the buffer, a copy of the buffer is damaged instead. */
static GstBuffer *
damage (GstBuffer * buffer, const LinkPacket * packet)
{
  GstMapInfo map;

  buffer = gst_buffer_make_writable (buffer);
  if (gst_buffer_map (buffer, &map, GST_MAP_READWRITE)) {
    link_packet_apply_damage (packet, map.data, map.size);
    gst_buffer_unmap (buffer, &map);
  }
  return buffer;
}

static GstClockTime
shift (GstClockTime stamp, gint64 by)
{
  if (!GST_CLOCK_TIME_IS_VALID (stamp))
    return stamp;
  return MAX ((gint64) stamp + by, 0);
}

/* Changes the timestamps of a packet's buffer, so that they say when the packet
 * left the link. `delay` is the time that the packet spent in the link, in
 * running time. The function multiplies `delay` by `rate`, the playback rate of
 * the segment, because timestamps advance `rate` times as fast as running time.
 * It adds the product to the timestamps. */
static GstBuffer *
restamp (GstBuffer * buffer, gint64 delay, gdouble rate)
{
  gint64 by = rate == 1.0 ? delay : (gint64) (delay * rate);

  buffer = gst_buffer_make_writable (buffer);
  GST_BUFFER_PTS (buffer) = shift (GST_BUFFER_PTS (buffer), by);
  GST_BUFFER_DTS (buffer) = shift (GST_BUFFER_DTS (buffer), by);
  return buffer;
}

static void
deliver (GstWirelessLink * self, GstWirelessLinkFlow * flow,
    const LinkPacket * packet)
{
  GstWirelessLinkPacket *own = packet->user;
  GstBuffer *buffer = packet->copy ? gst_buffer_ref (own->buffer) :
      g_steal_pointer (&own->buffer);
  GstWirelessLinkItem item;

  GST_LOG_OBJECT (self, "flow %u: packet of %u bytes leaves at %"
      GST_TIME_FORMAT " after %u attempts: %s", packet->flow, packet->size,
      GST_TIME_ARGS (packet->departure), packet->attempts, fates[packet->fate]);
  if (packet->n_damage)
    buffer = damage (buffer, packet);
  if (self->running_mode == GST_WIRELESS_LINK_MODE_TIMESTAMP)
    buffer = restamp (buffer, packet->departure - own->arrival,
        own->epoch->rate);
  item.object = GST_MINI_OBJECT_CAST (buffer);
  item.time = packet->departure;
  item.in_list = own->in_list;
  gst_wireless_link_flow_deliver (flow, own->epoch, &item);
}

static void
handle_output (GstWirelessLink * self, const LinkPacket * packet)
{
  GstWirelessLinkPacket *own = packet->user;
  GstWirelessLinkFlow *flow = find_flow_of (self, packet);

  if (flow)
    deliver (self, flow, packet);
  if (packet->copy)
    return;
  self->in_flight--;
  self->last_fate = packet->departure;
  if (flow)
    gst_wireless_link_flow_finish (flow, own->epoch);
  gst_wireless_link_packet_free (own);
}

void
gst_wireless_link_wake_senders (GstWirelessLink * self)
{
  guint i;

  for (i = 0; i < self->flows->len; i++) {
    GstWirelessLinkFlow *flow = g_ptr_array_index (self->flows, i);

    if (flow)
      g_cond_signal (&flow->input_cond);
  }
}

void
gst_wireless_link_distribute (GstWirelessLink * self)
{
  LinkEvent event;
  LinkPacket packet;

  while (link_poll_event (self->link, &event))
    handle_event (self, &event);
  while (link_poll_output (self->link, &packet))
    handle_output (self, &packet);
  if (self->blocking)
    gst_wireless_link_wake_senders (self);
  if (self->scheduler && link_next_wakeup (self->link) < self->scheduler_until)
    gst_wireless_link_wake_scheduler (self);
}

/* --- packets that never leave the link ------------------------------------ */

/* Counts all packets in the link as lost. Otherwise EOS could wait for these
 * packets forever, for example if an outage never ends. */
static void
give_up (GstWirelessLink * self)
{
  guint i;

  GST_WARNING_OBJECT (self,
      "%" G_GUINT64_FORMAT " packets will never leave the link",
      self->in_flight);
  for (i = 0; i < self->flows->len; i++) {
    if (g_ptr_array_index (self->flows, i))
      gst_wireless_link_flow_give_up (g_ptr_array_index (self->flows, i));
  }
}

/* With mode=timestamp, the packets of all flows enter the link in the order of
 * their times. While the next packet of a flow is not known, the other flows
 * wait, because the unknown packet may have an earlier time than their packets.
 *
 * There is one exception. Each station of the link has a queue. If the next
 * packet of a flow is known, but has no room in the queue of its station, the
 * other flows do not wait for this packet. The queue cannot get room before the
 * next event in the link, and the time of this event is known. Packets of other
 * flows that are due before this event can enter the link, for example at
 * another station. */

static gboolean
takes_part (GstWirelessLinkFlow * flow)
{
  return flow && flow->result == GST_FLOW_OK && flow->sinkpad
      && gst_pad_is_linked (flow->sinkpad);
}

/* Returns the next packet of the flow's input, or NULL if the input has none.
 * The events and queries before this packet are put into the link first. */
static GstWirelessLinkItem *
get_next_packet (GstWirelessLinkFlow * flow)
{
  GstWirelessLinkItem *item;

  while ((item = gst_queue_array_peek_head_struct (flow->input))) {
    if (GST_IS_BUFFER (item->object))
      return item;
    flow->heard_until = MAX (flow->heard_until, (guint64) item->time);
    gst_wireless_link_put_object (flow->element, flow, item->object);
    gst_queue_array_pop_head_struct (flow->input);
  }
  return NULL;
}

static guint64
get_next_time (GstWirelessLinkFlow * flow)
{
  GstWirelessLinkItem *item = get_next_packet (flow);

  if (item)
    return MAX (MAX (item->time, 0), flow->heard_until);
  return flow->eos ? LINK_NEVER : flow->heard_until;
}

/* Finds the flow whose next packet arrives first. Flows whose next packet waits
 * for room in the link are ignored. Sets `first` to the flow that was found, or
 * to NULL if there is none. Returns FALSE if too many packets wait at a source
 * pad to be pushed. The link must then not advance until this pad has pushed
 * some of them. */
static gboolean
find_first_flow (GstWirelessLink * self, GstWirelessLinkFlow ** first,
    guint64 * time)
{
  guint i;

  *first = NULL;
  *time = LINK_NEVER;
  for (i = 0; i < self->flows->len; i++) {
    GstWirelessLinkFlow *flow = g_ptr_array_index (self->flows, i);
    guint64 next;

    if (!takes_part (flow))
      continue;
    if (gst_wireless_link_flow_is_full (flow))
      return FALSE;
    if (flow->waits)
      continue;
    next = get_next_time (flow);
    if (!*first || next < *time) {
      *first = flow;
      *time = next;
    }
  }
  return TRUE;
}

static void
take_packet (GstWirelessLink * self, GstWirelessLinkFlow * flow, guint64 time)
{
  GstWirelessLinkItem *item = gst_queue_array_pop_head_struct (flow->input);
  GstWirelessLinkPacket *packet = gst_wireless_link_packet_new (flow,
      GST_BUFFER_CAST (item->object), item->time, item->in_list);

  flow->waits = FALSE;
  flow->heard_until = time;
  self->link_time = MAX (self->link_time, time);
  gst_wireless_link_put (self, flow, packet, time);
  g_cond_signal (&flow->input_cond);
}

static void
advance_link (GstWirelessLink * self, guint64 time)
{
  self->link_time = MAX (self->link_time, time);
  link_timeout (self->link, time);
}

/* Puts the next packet of the flow into the link if there is room. Otherwise
 * the packet and its flow wait for room. */
static void
offer_packet (GstWirelessLink * self, GstWirelessLinkFlow * flow, guint64 time)
{
  advance_link (self, time);
  flow->waits_since = time;
  flow->waits = !gst_wireless_link_lets_in (self, flow,
      GST_BUFFER_CAST (get_next_packet (flow)->object));
  if (!flow->waits)
    take_packet (self, flow, time);
}

/* Returns the flow whose next packet has been waiting longest for room in the
 * link, or NULL if no packet waits. If `with_room` is TRUE, considers only the
 * flows whose next packet has room now. */
static GstWirelessLinkFlow *
find_waiting (GstWirelessLink * self, gboolean with_room)
{
  GstWirelessLinkFlow *first = NULL;
  guint i;

  for (i = 0; i < self->flows->len; i++) {
    GstWirelessLinkFlow *flow = g_ptr_array_index (self->flows, i);

    if (!flow || !flow->waits || !takes_part (flow))
      continue;
    if (with_room && !gst_wireless_link_lets_in (self, flow,
            GST_BUFFER_CAST (get_next_packet (flow)->object)))
      continue;
    if (!first || flow->waits_since < first->waits_since)
      first = flow;
  }
  return first;
}

/* Returns whether the link is stuck, so that no packet can be expected to leave
 * it. `next` is the time of the link's next event. The link is stuck if `next`
 * is LINK_NEVER, which means that there is no next event. It is also stuck if
 * `next` is more than DRAIN_LIMIT after the last time at which a packet entered
 * the link, was delivered or was lost. */
static gboolean
is_stuck (GstWirelessLink * self, guint64 next)
{
  return next == LINK_NEVER || next > self->last_fate + DRAIN_LIMIT;
}

/* Performs one step for the flows whose next packet waits for room in the link.
 * `until` is the time at which the next packet of another flow enters.
 *
 * If there is room for a waiting packet, this packet enters. Otherwise the link
 * advances to the next time at which there may be room, but not beyond `until`.
 * If the link is stuck, so that there will never be room, a waiting packet
 * enters nevertheless. This packet is then lost. Returns FALSE if there is
 * nothing to do. */
static gboolean
admit_waiting_packet (GstWirelessLink * self, guint64 until)
{
  GstWirelessLinkFlow *flow = find_waiting (self, TRUE);
  guint64 next = link_next_wakeup (self->link);

  if (!flow && until == LINK_NEVER && is_stuck (self, next))
    flow = find_waiting (self, FALSE);
  if (flow)
    take_packet (self, flow, MAX (self->link_time, flow->waits_since));
  else if (next <= until && find_waiting (self, FALSE))
    advance_link (self, next);
  else
    return FALSE;
  return TRUE;
}

/* Called after all flows have ended. Advances the link to its next event.
 * Returns FALSE if no packet is left in the link, or if the remaining packets
 * were given up. */
static gboolean
drain (GstWirelessLink * self)
{
  guint64 next = link_next_wakeup (self->link);

  if (self->in_flight == 0)
    return FALSE;
  if (is_stuck (self, next)) {
    give_up (self);
    return FALSE;
  }
  link_timeout (self->link, next);
  return TRUE;
}

static gboolean
merge_one (GstWirelessLink * self)
{
  GstWirelessLinkFlow *flow;
  guint64 time;

  if (!find_first_flow (self, &flow, &time))
    return FALSE;
  if (admit_waiting_packet (self, time))
    return TRUE;
  if (!flow)
    return FALSE;
  if (get_next_packet (flow)) {
    offer_packet (self, flow, time);
    return TRUE;
  }
  if (time == LINK_NEVER)
    return drain (self);
  advance_link (self, time);
  return FALSE;
}

/* Releases the lock for a moment, so that a thread that stops or flushes the
 * element need not wait until the link is drained. */
static void
yield_lock (GstWirelessLink * self)
{
  gst_wireless_link_unlock (self);
  g_thread_yield ();
  gst_wireless_link_lock (self);
}

void
gst_wireless_link_merge (GstWirelessLink * self)
{
  gboolean more = TRUE;
  guint steps;

  for (steps = 1; more && self->link && !self->flushing; steps++) {
    more = merge_one (self);
    gst_wireless_link_distribute (self);
    if (steps % MERGE_STEPS == 0)
      yield_lock (self);
  }
}

/* --- mode=realtime: waiting for room in the queue; scheduler thread ------- */

void
gst_wireless_link_wait_for_room (GstWirelessLink * self,
    GstWirelessLinkFlow * flow, GstBuffer * buffer)
{
  while (!self->flushing && flow->result == GST_FLOW_OK) {
    link_timeout (self->link, wireless_link_clock_get_time (&self->clock));
    gst_wireless_link_distribute (self);
    if (gst_wireless_link_lets_in (self, flow, buffer))
      return;
    g_cond_wait (&flow->input_cond, &self->lock);
  }
}

static void
wait_for_clock (GstWirelessLink * self, guint64 time)
{
  GstClockID id = wireless_link_clock_new_wait (&self->clock, time);

  self->scheduler_id = id;
  self->scheduler_until = time;
  gst_wireless_link_unlock (self);
  gst_clock_id_wait (id, NULL);
  gst_wireless_link_lock (self);
  self->scheduler_id = NULL;
  self->scheduler_until = 0;
  gst_clock_id_unref (id);
}

static gboolean
is_at_end (GstWirelessLink * self)
{
  guint i;

  for (i = 0; i < self->flows->len; i++) {
    GstWirelessLinkFlow *flow = g_ptr_array_index (self->flows, i);

    if (takes_part (flow) && !flow->eos)
      return FALSE;
  }
  return TRUE;
}

static void
schedule (GstWirelessLink * self)
{
  gboolean is_playing = wireless_link_clock_is_running (&self->clock);
  guint64 next = is_playing ? link_next_wakeup (self->link) : LINK_NEVER;
  guint64 now = wireless_link_clock_get_time (&self->clock);

  if (next == LINK_NEVER) {
    if (is_playing && self->in_flight && is_at_end (self))
      give_up (self);
    self->scheduler_until = LINK_NEVER;
    g_cond_wait (&self->scheduler_cond, &self->lock);
    self->scheduler_until = 0;
  } else if (next > now) {
    wait_for_clock (self, next);
  } else {
    link_timeout (self->link, now);
    gst_wireless_link_distribute (self);
    gst_wireless_link_unlock (self);
    gst_wireless_link_lock (self);
  }
}

static gpointer
run_scheduler (gpointer data)
{
  GstWirelessLink *self = data;

  gst_wireless_link_lock (self);
  while (!self->scheduler_stops)
    schedule (self);
  gst_wireless_link_unlock (self);
  return NULL;
}

/* --- start and stop ------------------------------------------------------- */

static void
keep_delays (GstWirelessLink * self, const LinkConfig * config)
{
  guint i;

  for (i = 0; i < 2; i++) {
    if (config->model == LINK_MODEL_PIPE)
      self->delays[i] = config->pipe.delay[i];
    else if (config->model == LINK_MODEL_DCF)
      self->delays[i] = 0;
    else
      self->delays[i] = config->blocks.delay[i] + config->blocks.radio_delay;
  }
}

static gboolean
open_link (GstWirelessLink * self, GError ** error)
{
  WirelessLinkConfig config;
  Link *link;

  if (!wireless_link_settings_build (self->settings, &config, error))
    return FALSE;
  link = link_new (&config.config, error);
  if (!link && (*error)->code != LINK_ERROR_RANGE && config.block_trace)
    g_prefix_error (error, "block-trace \"%s\": ", config.block_trace);
  keep_delays (self, &config.config);
  self->knows_frames = config.config.queue.discipline != LINK_QUEUE_DROP_TAIL;
  wireless_link_config_clear (&config);
  if (!link)
    return FALSE;
  if (self->location || self->record_pattern) {
    self->log = wireless_link_log_new (self->location, self->record_pattern,
        config.config.seed, error);
    if (!self->log) {
      link_free (link, NULL);
      return FALSE;
    }
  }
  self->link = link;
  return TRUE;
}

static void
announce_flows (GstWirelessLink * self)
{
  guint i;

  self->n_announced = 0;
  g_array_set_size (self->dropped_output, 0);
  for (i = 0; i < self->flows->len; i++) {
    GstWirelessLinkFlow *flow = g_ptr_array_index (self->flows, i);

    if (flow) {
      flow->time_offset = flow->heard_until = flow->last_arrival = 0;
      gst_wireless_link_announce_flow (self, flow);
    }
  }
}

static void
begin_run (GstWirelessLink * self)
{
  self->running_mode = self->mode;
  self->flushing = FALSE;
  self->clock.stopped_at = 0;
  self->link_time = 0;
  self->in_flight = self->last_fate = 0;
  self->stats_posted = FALSE;
  gst_clear_structure (&self->last_stats);
  g_clear_pointer (&self->lateness, statistics_histogram_free);
  self->lateness = statistics_histogram_new ();
  announce_flows (self);
  if (self->mode == GST_WIRELESS_LINK_MODE_REALTIME) {
    self->scheduler_stops = FALSE;
    self->scheduler_until = 0;
    self->scheduler = g_thread_new ("wirelesslink", run_scheduler, self);
  }
}

/* Posts the reason why the link could not be started. An error of the domain
 * G_FILE_ERROR concerns a file. Any other error concerns the configuration. */
static void
post_error (GstWirelessLink * self, const GError * error)
{
  if (error->domain == G_FILE_ERROR)
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ_WRITE, ("Could not use a file "
            "of %s: %s.", GST_OBJECT_NAME (self), error->message), (NULL));
  else
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("Could not use the settings "
            "of %s: %s.", GST_OBJECT_NAME (self), error->message), (NULL));
}

gboolean
gst_wireless_link_start (GstWirelessLink * self)
{
  GError *error = NULL;
  gboolean opened;

  gst_wireless_link_lock (self);
  opened = open_link (self, &error);
  if (opened)
    begin_run (self);
  gst_wireless_link_unlock (self);
  if (!opened)
    post_error (self, error);
  g_clear_error (&error);
  return opened;
}

void
gst_wireless_link_interrupt (GstWirelessLink * self)
{
  GThread *scheduler;
  guint i;

  gst_wireless_link_lock (self);
  stop_time (self);
  self->flushing = TRUE;
  for (i = 0; i < self->flows->len; i++) {
    if (g_ptr_array_index (self->flows, i))
      gst_wireless_link_flow_wake (g_ptr_array_index (self->flows, i));
  }
  scheduler = g_steal_pointer (&self->scheduler);
  self->scheduler_stops = TRUE;
  gst_wireless_link_wake_scheduler (self);
  gst_wireless_link_unlock (self);
  if (scheduler)
    g_thread_join (scheduler);
}

void
gst_wireless_link_stop (GstWirelessLink * self, GstStructure * last_stats)
{
  guint i;

  gst_wireless_link_lock (self);
  gst_wireless_link_flush_log (self);
  for (i = 0; i < self->flows->len; i++) {
    if (g_ptr_array_index (self->flows, i))
      gst_wireless_link_flow_clear (g_ptr_array_index (self->flows, i));
  }
  g_clear_pointer (&self->log, wireless_link_log_free);
  link_free (g_steal_pointer (&self->link), gst_wireless_link_packet_free);
  self->last_stats = last_stats;
  gst_wireless_link_unlock (self);
}

gdouble
gst_wireless_link_get_quality (GstWirelessLink * self, guint station)
{
  return self->link ? link_get_quality (self->link, station) : 1;
}
