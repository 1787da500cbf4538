/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of a link, and the functions of the link that the link models call.
 * The link models are in linkdcf.c, linkpipe.c, linkblocks.c and linkrlp.c. The
 * calls go in one direction: link.c calls a model, a model calls linkmodel.c,
 * and linkmodel.c calls the queues and the telephone call (linkdialup.h). There
 * is one exception: linkmodel.c may call a model through its LinkModelClass.
 * This header is private to the core. */

#pragma once

#include "linkconfig.h"
#include "linkdialup.h"
#include "linkdraw.h"
#include "linkitem.h"
#include "linkonoff.h"
#include "linkqueue.h"
#include "linkreport.h"
#include "seededdraw.h"

typedef struct
{
  gpointer (*create) (Link * link, GError ** error);
  /* Frees the model and the packets that are in it. link_item_free () is called
   * for each packet, with `user_free` as its second argument. */
  void (*destroy) (gpointer model, GDestroyNotify user_free);
  /* Called at link->now when a packet has arrived and the queue of the station
   * contains a packet that can be sent. The station may be idle or busy. If it
   * is idle, the model can take the packet from the queue. */
  void (*arrived) (gpointer model, guint station);
  /* Returns the time of the model's next event. LINK_NEVER = the model has no
   * further event until a new packet arrives.
   */
  guint64 (*next) (gpointer model);
  /* Handles the model's next event. Called when link->now has reached the time
   * that `next` has returned for this event. */
  void (*advance) (gpointer model);
  /* Called at link->now when the state of the phone call of a dial-up link has
   * changed. `connected` is TRUE if the phone call is connected now. If
   * `connected` is FALSE, all packets that the model still holds are lost. The
   * model has to give them the fate LINK_FATE_CALL. A model without this
   * function sets the pointer to NULL.
   */
  void (*call_changed) (gpointer model, gboolean connected);
  gdouble (*quality) (gpointer model, guint station);
} LinkModelClass;

extern const LinkModelClass link_dcf_class;
extern const LinkModelClass link_pipe_class;
extern const LinkModelClass link_blocks_class;
extern const LinkModelClass link_rlp_class;

typedef struct
{
  guint station;
  guint64 next_index;
  LinkFlowStats stats;
} LinkFlow;

/* A change of the rate and the delay of the link in one direction. `rate` and
 * `delay` are the new values, and `from` is the time of the change. */
typedef struct
{
  guint64 from;                 /* ns */
  guint direction;
  guint64 rate;                 /* bit/s */
  guint64 delay;                /* ns */
} LinkStep;

/* A cut: an interruption of the link from the time `from` to the time `to`. A
 * packet of more than `above` bytes is lost if it is in transmission or in
 * flight during this time. */
typedef struct
{
  guint64 from, to;             /* ns */
  guint32 above;
} LinkCut;

struct _Link
{
  /* Copy of the configuration that was passed to link_new (). The copy has
   * pointers to strings that belong to the caller of link_new (). The caller
   * may free these strings later, so link_new () sets the pointers in the copy
   * to NULL before it returns. */
  LinkConfig config;
  guint64 now;                  /* ns: model time */
  LinkQueue queues[LINK_MAX_STATIONS];  /* by station */
  LinkStats stats;
  /* Recorded pattern that is replayed: what happened to each packet in an
   * earlier run. NULL = no pattern is replayed. */
  LinkPattern *pattern;
  const LinkModelClass *klass;
  gpointer model;
  LinkDialUp *dial_up;          /* NULL: always connected */
  /* number of packets that have entered the link, and have neither left it nor
   * been lost */
  guint64 in_flight;
  gdouble quality[LINK_MAX_STATIONS];   /* last reported values */

  GArray *flows;                /* elements are LinkFlow */
  /* planned changes of the rate and the delay: array of LinkStep, in increasing
   * order of time */
  GArray *steps;
  GArray *cuts;                 /* elements are LinkCut */
  /* Packets (LinkItem) that will leave the link later. They form a binary heap,
   * ordered by departure time. Packets with equal departure times are ordered
   * by their field `order`, which numbers them as they enter the heap. */
  GPtrArray *departures;
  guint64 n_departures;
  /* packets (LinkItem) that have left the link, and that the caller has not
   * polled yet */
  GQueue outputs;
  /* queue of the LinkEvents that the caller has not polled yet; first_event is
   * the index of the oldest one */
  GArray *events;
  guint first_event;
  /* The packet that link_poll_output () returned last. It is freed in the next
   * call of this function, because the caller may read its bit errors
   * (`damage`) until then. */
  LinkItem *last_output;
  /* Bit errors in the packet of the event that link_poll_event () returned
   * last. They are freed in the next call of this function. */
  LinkDamage *event_damage;
};

/* --- functions for the models */

/* Returns the direction in which a station sends: 0 for station 0, and 1 for
 * all other stations. Arrays with one value per direction are indexed by this
 * number. */
static inline guint
link_direction (guint station)
{
  return station == 0 ? 0 : 1;
}

/* Removes the oldest packet from a station's queue, so that the model can
 * transmit it. Returns NULL if the queue is empty. */
static inline LinkItem *
link_take (Link * link, guint station)
{
  return link_queue_take (&link->queues[station], link->now);
}

/* Returns the oldest packet of a station's queue without removing it. Returns
 * NULL if the queue is empty. */
static inline LinkItem *
link_peek (Link * link, guint station)
{
  return link_queue_peek (&link->queues[station]);
}

/* Called by a model when it is known that a packet is not lost. The packet
 * leaves the link at `departure`, which is now or later. Takes ownership of
 * `item`. */
void link_deliver (Link * link, LinkItem * item, guint64 departure);
/* Makes a duplicate of the packet. The duplicate leaves the link at
 * `departure`. The model must call this function before it calls
 * link_deliver () for the original packet. */
void link_duplicate (Link * link, LinkItem * item, guint64 departure);
/* Called by a model when a packet is lost, at link->now. `fate` says how it was
 * lost. Takes ownership of `item`. */
void link_lose (Link * link, LinkItem * item, LinkFate fate);
/* Returns whether a packet with the fate `fate` is lost in the link. A damaged
 * packet is not lost, because it leaves the link. */
static inline gboolean
link_fate_is_lost (LinkFate fate)
{
  return fate > LINK_FATE_DAMAGED;
}

/* Returns whether a phone call is connected. Always returns TRUE if the link is
 * not a dial-up link. */
gboolean link_is_connected (Link * link);
/* Ends the phone call of a dial-up link at link->now. Called by the model. */
void link_disconnect (Link * link);
/* Called by the model when the quality of the station `station` may have
 * changed at link->now. The quality is the probability that a packet arrives
 * undamaged at the first attempt. */
void link_quality_changed (Link * link, guint station);
/* Called when the quality of all stations may have changed at link->now. The
 * quality of a station is the probability that its next packet arrives
 * undamaged at the first attempt. Stations that have not sent a packet yet are
 * ignored. */
void link_all_qualities_changed (Link * link);

/* --- further functions for link.c */

static inline LinkFlow *
link_get_flow (Link * link, guint flow)
{
  g_assert (flow < link->flows->len);
  return &g_array_index (link->flows, LinkFlow, flow);
}

/* Moves the packet with the earliest departure time from `departures` to
 * `outputs`. */
void link_release_departure (Link * link);
static inline guint64
link_next_departure (const Link * link)
{
  if (link->departures->len == 0)
    return LINK_NEVER;
  return ((LinkItem *) link->departures->pdata[0])->p.departure;
}

/* Starts a phone call if there is none. The caller calls this function when a
 * packet waits, and only if the link is a dial-up link. */
void link_want_call (Link * link);
/* Performs the next event of the phone call, such as the end of its set-up.
 * Called when link->now has reached the time that link_next_call () has
 * returned for this event. */
void link_advance_call (Link * link);
static inline guint64
link_next_call (const Link * link)
{
  return link->dial_up ? link_dial_up_next_wakeup (link->dial_up) : LINK_NEVER;
}

/* Returns the quality that the model computes for the station: the probability,
 * 0 to 1, that a packet sent now arrives undamaged at the first attempt.
 * Returns 0 while no phone call is connected. */
gdouble link_get_model_quality (Link * link, guint station);
