/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A DCCP client, a DCCP listener and a simulated network between them, in
 * virtual time. The network loses and delays the packets that a test names,
 * keeps a log of every packet, and delivers packets that neither endpoint sent.
 * It also checks what must hold in every test: counters never decrease, no
 * endpoint asks for an immediate wakeup again and again, Syncs and Resets are
 * rate-limited, and data does not exceed its allowed rate.
 */

#ifndef __DCCPNETWORK_H__
#define __DCCPNETWORK_H__

#include "dccpendpointprivate.h"

G_BEGIN_DECLS

#define MS DCCP_MILLISECOND
#define SECOND DCCP_SECOND
#define DCCP_NETWORK_PORT 5001     /* of the listener */
#define DCCP_NETWORK_MAX_PAYLOAD 1500 /* bytes of a payload */

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
  DatagramPath paths[N_ENDS];   /* as each sees it */
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
  gsize sizes[N_ENDS];          /* bytes, at least 4, at most the maximum */
  guint64 put_at[N_ENDS];
  guint32 n_put[N_ENDS], n_sent[N_ENDS];

  guint lose[N_ENDS][DCCP_LAST_TYPE];   /* of those that it sends next */
  guint lose_all[N_ENDS];
  /* FALSE: it is lost. May change the bytes. */
    gboolean (*filter) (DccpNetwork * network, DccpEnd from,
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

/* CCID 3 alone, 50 ms one way, in UDP. An end that sends data puts a packet of
 * 100 bytes each 10 ms. */
void dccp_network_init (DccpNetwork * network);
/* After the configs, and the paths, were changed */
void dccp_network_begin (DccpNetwork * network);
void dccp_network_clear (DccpNetwork * network);
/* The first number of an end; for the SERVER, the client's port has to be known. */
void dccp_network_set_iss (DccpNetwork * network, DccpEnd end, guint64 iss);
void dccp_network_connect (DccpNetwork * network);
/* Both are OPEN, and 0.5 s have gone by since. */
void dccp_network_open (DccpNetwork * network);
void dccp_network_run (DccpNetwork * network, guint64 duration);
void dccp_network_close (DccpNetwork * network, DccpEnd end);
/* What an end has to say after a call of one's own */
void dccp_network_flush (DccpNetwork * network, DccpEnd end);

/* Arrives now */
void dccp_network_inject (DccpNetwork * network, DccpEnd to,
    const guint8 * bytes, gsize size);
void dccp_network_inject_from (DccpNetwork * network, DccpEnd to,
    const DatagramPath * path, const guint8 * bytes, gsize size);
/* Ports are those of the connection, unless set; long sequence numbers */
void dccp_network_inject_packet (DccpNetwork * network, DccpEnd to,
    const DccpPacket * packet);
/* A packet that is valid for this end as the next of the other's */
DccpPacket dccp_network_next (DccpNetwork * network, DccpEnd to, DccpType type);

DccpConnection *dccp_network_get (DccpNetwork * network, DccpEnd end);
DccpState dccp_network_get_state (DccpNetwork * network, DccpEnd end);
guint dccp_network_count (DccpNetwork * network, DccpEnd from, DccpType type);
/* The n-th of them; negative from the end. NULL: there is none. */
const DccpNetworkEntry *dccp_network_find (DccpNetwork * network, DccpEnd from,
    DccpType type, gint n);
guint dccp_network_count_events (DccpNetwork * network, DccpEnd end,
    DccpEventType type);
const DccpEvent *dccp_network_find_event (DccpNetwork * network, DccpEnd end,
    DccpEventType type);
const DccpStats *dccp_network_get_stats (DccpNetwork * network, DccpEnd end);

G_END_DECLS

#endif /* __DCCPNETWORK_H__ */
