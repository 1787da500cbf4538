/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A client and a listener of DCCP and a wire between them, in virtual time: it
 * loses what it is told to, delays what it is told to, keeps a log of every
 * packet, and takes packets that neither of them sent. Watches what must hold
 * whatever comes: counters don't go back, nobody wants to be woken at once for
 * ever, Syncs and Resets are limited, data goes no faster than its rate.
 */

#ifndef __DCCPNETWORK_H__
#define __DCCPNETWORK_H__

#include "dccpendpointprivate.h"

G_BEGIN_DECLS

#define MS DCCP_MILLISECOND
#define SECOND DCCP_SECOND
#define DCCP_WIRE_PORT 5001     /* of the listener */
#define DCCP_WIRE_MAX_PAYLOAD 1500 /* bytes of a payload */

typedef enum
{
  CLIENT,
  SERVER,
  N_ENDS
} DccpEnd;

#define OTHER(end) ((end) == CLIENT ? SERVER : CLIENT)

typedef struct
{
  guint64 time;                 /* ns, when it was sent */
  DccpEnd from;
  DccpPacket packet;            /* options and payload are gone */
  gsize size;
  gboolean lost;
} DccpWireEntry;

typedef struct _DccpWire DccpWire;

struct _DccpWire
{
  DccpEndpointConfig configs[N_ENDS];
  DatagramPath paths[N_ENDS];       /* as each sees it */
  guint64 delay;                /* ns, one way */
  DccpEndpoint *ends[N_ENDS];
  guint64 now;
  GArray *log;                  /* of DccpWireEntry */
  GArray *events[N_ENDS];       /* of DccpEvent */
  GArray *received[N_ENDS];     /* of guint32: numbers of the data, by arrival */
  DccpData last[N_ENDS];        /* data; its payload is gone */

  /* data that each has to send: a packet each period */
  gboolean sending[N_ENDS];
  guint64 periods[N_ENDS];      /* ns */
  gsize sizes[N_ENDS];          /* bytes, at least 4, at most the longest */
  guint64 put_at[N_ENDS];
  guint32 n_put[N_ENDS], n_sent[N_ENDS];

  guint lose[N_ENDS][DCCP_LAST_TYPE];   /* of those that it sends next */
  guint lose_all[N_ENDS];
  /* FALSE: it is lost. May change the bytes. */
    gboolean (*filter) (DccpWire * wire, DccpEnd from,
      const DccpPacket * packet, guint8 * bytes, gsize size);
  guint64 extra_delay[N_ENDS];  /* of those that are sent now */
  gpointer user_data;
  gboolean is_by_window;        /* the congestion control has a window, and data
                                 * may go faster than its rate for a time */

  GQueue flights;               /* ordered by time */
  DccpStats stats[N_ENDS];
  gdouble credit[N_ENDS];       /* bytes of data that its rate allows */
  gdouble highest[N_ENDS];      /* rate since then, bytes per second */
  guint64 credit_time[N_ENDS];  /* ns */
};

/* CCID 3 alone, 50 ms one way, packets of 100 bytes each 10 ms once they are sending, in UDP */
void dccp_wire_init (DccpWire * wire);
/* After the configs, and the paths, were changed */
void dccp_wire_begin (DccpWire * wire);
void dccp_wire_clear (DccpWire * wire);
/* The first number of an end; for the SERVER, the client's port has to be known. */
void dccp_wire_set_iss (DccpWire * wire, DccpEnd end, guint64 iss);
void dccp_wire_connect (DccpWire * wire);
/* Both are OPEN, and 0.5 s have gone by since. */
void dccp_wire_open (DccpWire * wire);
void dccp_wire_run (DccpWire * wire, guint64 duration);
void dccp_wire_close (DccpWire * wire, DccpEnd end);
/* What an end has to say after a call of one's own */
void dccp_wire_flush (DccpWire * wire, DccpEnd end);

/* Arrives now */
void dccp_wire_inject (DccpWire * wire, DccpEnd to, const guint8 * bytes,
    gsize size);
void dccp_wire_inject_from (DccpWire * wire, DccpEnd to,
    const DatagramPath * path, const guint8 * bytes, gsize size);
/* Ports are those of the connection, unless set; long sequence numbers */
void dccp_wire_forge (DccpWire * wire, DccpEnd to, const DccpPacket * packet);
/* A packet that is valid for this end as the next of the other's */
DccpPacket dccp_wire_next (DccpWire * wire, DccpEnd to, DccpType type);

DccpConnection *dccp_wire_get (DccpWire * wire, DccpEnd end);
DccpState dccp_wire_get_state (DccpWire * wire, DccpEnd end);
guint dccp_wire_count (DccpWire * wire, DccpEnd from, DccpType type);
/* The n-th of them; negative from the end. NULL: there is none. */
const DccpWireEntry *dccp_wire_find (DccpWire * wire, DccpEnd from,
    DccpType type, gint n);
guint dccp_wire_count_events (DccpWire * wire, DccpEnd end,
    DccpEventType type);
const DccpEvent *dccp_wire_find_event (DccpWire * wire, DccpEnd end,
    DccpEventType type);
const DccpStats *dccp_wire_get_stats (DccpWire * wire, DccpEnd end);

G_END_DECLS

#endif /* __DCCPNETWORK_H__ */
