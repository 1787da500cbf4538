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
} DccpNetworkEntry;

typedef struct _DccpNetwork DccpNetwork;

struct _DccpNetwork
{
  DccpEndpointConfig configs[N_ENDS];
  DatagramPath paths[N_ENDS];       /* as each sees it */
  guint64 delay;                /* ns, one way */
  DccpEndpoint *ends[N_ENDS];
  guint64 now;
  GArray *log;                  /* of DccpNetworkEntry */
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
    gboolean (*filter) (DccpNetwork * wire, DccpEnd from,
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
void dccp_network_init (DccpNetwork * wire);
/* After the configs, and the paths, were changed */
void dccp_network_begin (DccpNetwork * wire);
void dccp_network_clear (DccpNetwork * wire);
/* The first number of an end; for the SERVER, the client's port has to be known. */
void dccp_network_set_iss (DccpNetwork * wire, DccpEnd end, guint64 iss);
void dccp_network_connect (DccpNetwork * wire);
/* Both are OPEN, and 0.5 s have gone by since. */
void dccp_network_open (DccpNetwork * wire);
void dccp_network_run (DccpNetwork * wire, guint64 duration);
void dccp_network_close (DccpNetwork * wire, DccpEnd end);
/* What an end has to say after a call of one's own */
void dccp_network_flush (DccpNetwork * wire, DccpEnd end);

/* Arrives now */
void dccp_network_inject (DccpNetwork * wire, DccpEnd to, const guint8 * bytes,
    gsize size);
void dccp_network_inject_from (DccpNetwork * wire, DccpEnd to,
    const DatagramPath * path, const guint8 * bytes, gsize size);
/* Ports are those of the connection, unless set; long sequence numbers */
void dccp_network_forge (DccpNetwork * wire, DccpEnd to,
    const DccpPacket * packet);
/* A packet that is valid for this end as the next of the other's */
DccpPacket dccp_network_next (DccpNetwork * wire, DccpEnd to, DccpType type);

DccpConnection *dccp_network_get (DccpNetwork * wire, DccpEnd end);
DccpState dccp_network_get_state (DccpNetwork * wire, DccpEnd end);
guint dccp_network_count (DccpNetwork * wire, DccpEnd from, DccpType type);
/* The n-th of them; negative from the end. NULL: there is none. */
const DccpNetworkEntry *dccp_network_find (DccpNetwork * wire, DccpEnd from,
    DccpType type, gint n);
guint dccp_network_count_events (DccpNetwork * wire, DccpEnd end,
    DccpEventType type);
const DccpEvent *dccp_network_find_event (DccpNetwork * wire, DccpEnd end,
    DccpEventType type);
const DccpStats *dccp_network_get_stats (DccpNetwork * wire, DccpEnd end);

G_END_DECLS

#endif /* __DCCPNETWORK_H__ */
