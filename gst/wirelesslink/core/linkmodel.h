/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the link (queues, packets, logs; link.c) and the models of what
 * carries them (linkdcf.c, linkpipe.c, linkblocks.c, linkrlp.c): what each asks
 * of the other. Private to this core.
 */

#ifndef __LINK_MODEL_H__
#define __LINK_MODEL_H__

#include "link.h"
#include "linkitem.h"
#include "linkonoff.h"
#include "linkqueue.h"
#include "seededdraw.h"

G_BEGIN_DECLS

/* What a draw is for. Numbers are part of what a seed means: never reused. */
typedef enum
{
  LINK_DRAW_BACKOFF = 1,
  LINK_DRAW_FAILURE = 2,
  LINK_DRAW_OVEN_PHASE = 3,
  LINK_DRAW_FADING = 4,
  LINK_DRAW_LOSS = 5,
  LINK_DRAW_BIT_ERROR = 6,
  LINK_DRAW_JITTER = 7,
  LINK_DRAW_DUPLICATE = 8,
  LINK_DRAW_REORDER = 9,
  LINK_DRAW_OUTAGE = 10,
  LINK_DRAW_STALL = 11,
  LINK_DRAW_BLOCK = 12,
  LINK_DRAW_CORRUPT = 13,
  LINK_DRAW_DIAL = 14,
  LINK_DRAW_BREAK = 15,
  LINK_DRAW_CELLULAR_OUTAGE = 16,
  LINK_DRAW_CELLULAR_RATE = 17,
  LINK_DRAW_CELLULAR_DELIVERY = 18
} LinkDraw;

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

typedef struct _LinkDialUp LinkDialUp;

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

  GArray *flows;                /* of LinkFlow, in link.c */
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
LinkItem *link_take (Link * link, guint station);
/* The oldest item, which stays */
LinkItem *link_peek (Link * link, guint station);
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
/* Something that link_get_quality depends on changed at link->now. */
void link_quality_changed (Link * link, guint station);
/* The same for all stations that have sent */
void link_all_qualities_changed (Link * link);

/* linkdialup.c */
LinkDialUp *link_dial_up_new (Link * link);
void link_dial_up_free (LinkDialUp * dial_up);
guint64 link_dial_up_next (LinkDialUp * dial_up);
void link_dial_up_advance (LinkDialUp * dial_up);
/* A packet waits: dials unless it does already. */
void link_dial_up_wanted (LinkDialUp * dial_up);
void link_dial_up_break (LinkDialUp * dial_up);
/* The first packet came into the link, or the last left it. */
void link_dial_up_use_changed (LinkDialUp * dial_up);
LinkCall link_dial_up_get_state (LinkDialUp * dial_up);
/* called by it */
void link_call_changed (Link * link, LinkCall call);

G_END_DECLS

#endif /* __LINK_MODEL_H__ */
