/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A DCCP client, a DCCP listener and a simulated network between them, in
 * virtual time. The network drops and delays the packets that a test selects.
 * It logs every packet. It can also deliver packets that neither endpoint sent.
 *
 * The network checks these conditions, which must hold in every test:
 * - Counters never decrease.
 * - No endpoint asks for an immediate wakeup again and again.
 * - Syncs and Resets are rate-limited.
 * - Data does not exceed its allowed rate.
 */

#ifndef __DCCPNETWORK_H__
#define __DCCPNETWORK_H__

#include "dccpendpointprivate.h"

G_BEGIN_DECLS

#define MS DCCP_MILLISECOND
#define SECOND DCCP_SECOND
#define DCCP_NETWORK_PORT 5001     /* Port of the listener. */
#define DCCP_NETWORK_MAX_PAYLOAD 1500 /* Bytes of a payload. */

typedef enum
{
  CLIENT,
  SERVER,
  N_ENDS
} DccpEnd;

#define OTHER(end) ((end) == CLIENT ? SERVER : CLIENT)

typedef struct
{
  guint64 time;                 /* Time of sending, in ns. */
  DccpEnd from;
  /* The header of the packet. The fields that point to the options and the
   * payload are NULL. */
  DccpPacket packet;
  gsize size;
  gboolean lost;
} DccpNetworkEntry;

typedef struct _DccpNetwork DccpNetwork;

struct _DccpNetwork
{
  DccpEndpointConfig configs[N_ENDS];
  /* The local and the remote address and port of each endpoint. */
  DatagramPath paths[N_ENDS];
  guint64 delay;                /* One-way delay in ns. */
  DccpEndpoint *ends[N_ENDS];
  guint64 now;
  GArray *log;                  /* of DccpNetworkEntry */
  GArray *events[N_ENDS];       /* of DccpEvent */
  /* Each data packet contains a number. These arrays contain the numbers
   * (guint32) that each endpoint has received, in order of arrival. */
  GArray *received[N_ENDS];
  /* The last data packet that each endpoint received, without its payload. */
  DccpData last[N_ENDS];

  /* The data that each endpoint sends. If `sending` is TRUE, the endpoint sends
   * one packet in each period. */
  gboolean sending[N_ENDS];
  guint64 periods[N_ENDS];      /* ns */
  /* Payload size in bytes of the packets that each endpoint sends, from 4 to
   * DCCP_NETWORK_MAX_PAYLOAD. */
  gsize sizes[N_ENDS];
  guint64 put_at[N_ENDS];
  guint32 n_put[N_ENDS], n_sent[N_ENDS];

  /* The network drops the next lose[from][type] packets of the DCCP packet type
   * `type` that the endpoint `from` sends. */
  guint lose[N_ENDS][DCCP_LAST_TYPE];
  guint lose_all[N_ENDS];
  /* If it is not NULL, this function is called for each packet. It may change
   * `bytes`, and returns FALSE to drop the packet. */
    gboolean (*filter) (DccpNetwork * network, DccpEnd from,
      const DccpPacket * packet, guint8 * bytes, gsize size);
  /* Additional delay in ns of the packets that each endpoint sends. It applies
   * to all packets that are sent while it is set. */
  guint64 extra_delay[N_ENDS];
  gpointer user_data;
  /* TRUE if the congestion control limits the bytes in flight with a congestion
   * window instead of a rate. Such an endpoint may send bursts, so its rate is
   * not checked. */
  gboolean is_by_window;

  GQueue flights;               /* ordered by time */
  DccpStats stats[N_ENDS];
  /* Number of bytes of data that each endpoint may send now without exceeding
   * its allowed rate. */
  gdouble credit[N_ENDS];
  /* Maximum rate in bytes per second that the congestion control has allowed
   * since check_rate () was last called. */
  gdouble highest[N_ENDS];
  guint64 credit_time[N_ENDS];  /* ns */
};

/* Initializes a network with a one-way delay of 50 ms. The endpoints use DCCP
 * over UDP and offer only CCID 3. An endpoint that sends data generates a
 * packet of 100 bytes every 10 ms. */
void dccp_network_init (DccpNetwork * network);
/* Creates the endpoints. Call it after changing `configs` and `paths`. */
void dccp_network_begin (DccpNetwork * network);
void dccp_network_clear (DccpNetwork * network);
/* Sets the initial sequence number of an endpoint. That of the SERVER depends
 * on the port of the client, so set configs[CLIENT].local_port before you call
 * this function for the SERVER. */
void dccp_network_set_iss (DccpNetwork * network, DccpEnd end, guint64 iss);
void dccp_network_connect (DccpNetwork * network);
/* Connects the endpoints, and runs the network for 0.5 s. Both endpoints must
 * then be OPEN. */
void dccp_network_open (DccpNetwork * network);
void dccp_network_run (DccpNetwork * network, guint64 duration);
void dccp_network_close (DccpNetwork * network, DccpEnd end);
/* Sends the packets that an endpoint wants to send. A test must call this
 * function after it has called a function of the endpoint directly, because the
 * endpoint does not send packets by itself. */
void dccp_network_flush (DccpNetwork * network, DccpEnd end);

/* Delivers a packet to the endpoint `to` immediately, as if its peer had sent
 * it. */
void dccp_network_inject (DccpNetwork * network, DccpEnd to,
    const guint8 * bytes, gsize size);
void dccp_network_inject_from (DccpNetwork * network, DccpEnd to,
    const DatagramPath * path, const guint8 * bytes, gsize size);
/* Delivers a packet to the endpoint `to` immediately. The packet gets long
 * sequence numbers. If it has no ports, it gets the ports of the connection. */
void dccp_network_inject_packet (DccpNetwork * network, DccpEnd to,
    const DccpPacket * packet);
/* Returns a packet that the endpoint `to` accepts as the next packet of its
 * peer. */
DccpPacket dccp_network_next (DccpNetwork * network, DccpEnd to, DccpType type);

DccpConnection *dccp_network_get (DccpNetwork * network, DccpEnd end);
DccpState dccp_network_get_state (DccpNetwork * network, DccpEnd end);
guint dccp_network_count (DccpNetwork * network, DccpEnd from, DccpType type);
/* Returns the n-th packet of the type `type` that the endpoint `from` sent, or
 * NULL. If `n` is negative, the packets are counted from the end. */
const DccpNetworkEntry *dccp_network_find (DccpNetwork * network, DccpEnd from,
    DccpType type, gint n);
guint dccp_network_count_events (DccpNetwork * network, DccpEnd end,
    DccpEventType type);
const DccpEvent *dccp_network_find_event (DccpNetwork * network, DccpEnd end,
    DccpEventType type);
const DccpStats *dccp_network_get_stats (DccpNetwork * network, DccpEnd end);

G_END_DECLS

#endif /* __DCCPNETWORK_H__ */
