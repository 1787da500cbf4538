/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of a link, and what the models of what carries its packets (linkdcf.c,
 * linkpipe.c, linkblocks.c, linkrlp.c) do to it. Calls go one way: link.c calls a
 * model, a model calls linkmodel.c, and linkmodel.c calls the queues and the call
 * of linkdialup.h; what comes back up is in the class of the model. Private to
 * this core.
 */

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
  /* Items that it holds go to link_item_free with user_free. */
  void (*destroy) (gpointer model, GDestroyNotify user_free);
  /* An item came into the queue of an idle or busy station at link->now, or
   * others made up a frame; there is one to take. */
  void (*arrived) (gpointer model, guint station);
  /* When its next own event is; LINK_NEVER while nothing waits */
  guint64 (*next) (gpointer model);
  /* The event that next () told, time link->now */
  void (*advance) (gpointer model);
  /* The call begins or ends at link->now; may be NULL. At its end the model
   * loses what is in service or in flight with LINK_FATE_CALL. */
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

/* From this time on a direction has this rate and delay. */
typedef struct
{
  guint64 from;                 /* ns */
  guint direction;
  guint64 rate;                 /* bit/s */
  guint64 delay;                /* ns */
} LinkStep;

/* Packets of more bytes than `above` do not survive this time. */
typedef struct
{
  guint64 from, to;             /* ns */
  guint32 above;
} LinkCut;

struct _Link
{
  LinkConfig config;            /* its texts are not valid after link_new */
  guint64 now;                  /* ns: model time */
  LinkQueue queues[LINK_MAX_STATIONS];  /* by station */
  LinkStats stats;
  LinkPattern *pattern;         /* replayed, or NULL */
  const LinkModelClass *klass;
  gpointer model;
  LinkDialUp *dial_up;          /* NULL: always connected */
  guint64 in_flight;            /* packets that have not met their fate */
  gdouble quality[LINK_MAX_STATIONS];   /* last told */

  GArray *flows;                /* of LinkFlow */
  GArray *steps;                /* of LinkStep, in the order of their times */
  GArray *cuts;                 /* of LinkCut */
  GPtrArray *departures;        /* of LinkItem: heap by departure and order */
  guint64 n_departures;
  GQueue outputs;               /* of LinkItem that left */
  GArray *events;               /* of LinkEvent, ring from first_event */
  guint first_event;
  LinkItem *last_output;        /* whose damage the caller may read */
  LinkDamage *event_damage;     /* of the last event polled */
};

/* What a model may do */

/* The direction of a station, an index into arrays of two */
static inline guint
link_direction (guint station)
{
  return station == 0 ? 0 : 1;
}

/* Takes the oldest item of a queue into service, or NULL. */
static inline LinkItem *
link_take (Link * link, guint station)
{
  return link_queue_take (&link->queues[station], link->now);
}

/* The oldest item, which stays */
static inline LinkItem *
link_peek (Link * link, guint station)
{
  return link_queue_peek (&link->queues[station]);
}

/* It leaves at this time, now or later. */
void link_deliver (Link * link, LinkItem * item, guint64 departure);
/* One more copy of an item leaves at this time; before link_deliver of it. */
void link_duplicate (Link * link, LinkItem * item, guint64 departure);
/* It ends here, at link->now. */
void link_lose (Link * link, LinkItem * item, LinkFate fate);
/* It does not arrive. */
static inline gboolean
link_fate_is_lost (LinkFate fate)
{
  return fate > LINK_FATE_DAMAGED;
}

/* Whether the call stands; TRUE without dial-up */
gboolean link_is_connected (Link * link);
/* The call breaks now: a reason of the model's. */
void link_disconnect (Link * link);
/* Something that the quality depends on changed at link->now. */
void link_quality_changed (Link * link, guint station);
/* The same for all stations that have sent */
void link_all_qualities_changed (Link * link);

/* What link.c does besides */

static inline LinkFlow *
link_get_flow (Link * link, guint flow)
{
  g_assert (flow < link->flows->len);
  return &g_array_index (link->flows, LinkFlow, flow);
}

/* The first departure becomes an output. */
void link_release_departure (Link * link);
static inline guint64
link_next_departure (const Link * link)
{
  if (link->departures->len == 0)
    return LINK_NEVER;
  return ((LinkItem *) link->departures->pdata[0])->p.departure;
}

/* A packet waits: without a call one is made. Links with calls only */
void link_want_call (Link * link);
/* What link_next_call () told, at link->now */
void link_advance_call (Link * link);
static inline guint64
link_next_call (const Link * link)
{
  return link->dial_up ? link_dial_up_next_wakeup (link->dial_up) : LINK_NEVER;
}

/* See link_get_quality () in link.h. */
gdouble link_get_model_quality (Link * link, guint station);
