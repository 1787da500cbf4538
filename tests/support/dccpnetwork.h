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
  /* The header of the packet. Its pointers to the options and to the payload
   * are NULL, because the log keeps neither of them. */
  DccpPacket packet;
  gsize size;
  gboolean lost;
} DccpNetworkEntry;

typedef struct _DccpNetwork DccpNetwork;

struct _DccpNetwork
{
  DccpEndpointConfig configs[N_ENDS];
  /* For each endpoint, its own address and port, and those of its peer. */
  DatagramPath paths[N_ENDS];
  guint64 delay;                /* One-way delay in ns. */
  DccpEndpoint *ends[N_ENDS];
  guint64 now;
  GArray *log;                  /* of DccpNetworkEntry */
  GArray *events[N_ENDS];       /* of DccpEvent */
  /* The payload of each data packet begins with a number. These arrays contain
   * the numbers (guint32) of the packets that each endpoint has received, in
   * order of arrival. */
  GArray *received[N_ENDS];
  /* The last data packet that each endpoint received. Its field `payload` is
   * NULL, because the payload is freed. */
  DccpData last[N_ENDS];

  /* `sending` says for each endpoint whether it sends data. If it does, the
   * endpoint sends one packet in each period. `periods` contains the length of
   * the period for each endpoint. */
  gboolean sending[N_ENDS];
  guint64 periods[N_ENDS];      /* ns */
  /* For each endpoint, the payload size in bytes of the data packets that it
   * sends. It may be from 4 to DCCP_NETWORK_MAX_PAYLOAD. */
  gsize sizes[N_ENDS];
  guint64 put_at[N_ENDS];
  guint32 n_put[N_ENDS], n_sent[N_ENDS];

  /* lose[from][type] is a number of packets to lose: the network drops the next
   * packets of the DCCP type `type` that the endpoint `from` sends, until this
   * number of packets was dropped. */
  guint lose[N_ENDS][DCCP_LAST_TYPE];
  guint lose_all[N_ENDS];
  /* If it is not NULL, this function is called for each packet that an endpoint
   * sends. It may change the packet, which is in `bytes`. It returns FALSE to
   * drop the packet. */
    gboolean (*filter) (DccpNetwork * network, DccpEnd from,
      const DccpPacket * packet, guint8 * bytes, gsize size);
  /* Additional one-way delay in ns for the packets of each sending endpoint. A
   * test may change it at any time. It applies to the packets that are sent
   * afterwards. */
  guint64 extra_delay[N_ENDS];
  gpointer user_data;
  /* TRUE if the congestion control limits the bytes in flight with a congestion
   * window instead of limiting the rate. An endpoint may then send bursts, so
   * the network does not check its rate. */
  gboolean is_by_window;

  GQueue flights;               /* ordered by time */
  DccpStats stats[N_ENDS];
  /* Number of bytes of data that each endpoint may send now. If an endpoint
   * sends more, it exceeds the rate that its congestion control allows. */
  gdouble credit[N_ENDS];
  /* Maximum rate, in bytes per second, that the congestion control of each
   * endpoint has allowed since check_rate () was last called for this endpoint.
   */
  gdouble highest[N_ENDS];
  guint64 credit_time[N_ENDS];  /* ns */
};

/* Initializes a network with a one-way delay of 50 ms. The endpoints use DCCP
 * over UDP and support only CCID 3. If a test makes an endpoint send data, the
 * endpoint sends a packet of 100 bytes every 10 ms. */
void dccp_network_init (DccpNetwork * network);
/* Creates both endpoints from the fields `configs` and `paths`. A test may
 * change these fields before this call. */
void dccp_network_begin (DccpNetwork * network);
void dccp_network_clear (DccpNetwork * network);
/* Sets the initial sequence number of the endpoint `end` to `iss`. The initial
 * sequence number of the SERVER depends on the port of the client. Before you
 * call this function for the SERVER, set configs[CLIENT].local_port. */
void dccp_network_set_iss (DccpNetwork * network, DccpEnd end, guint64 iss);
void dccp_network_connect (DccpNetwork * network);
/* Connects the endpoints and runs the network for 0.5 s. Then checks that both
 * endpoints are in the state OPEN. */
void dccp_network_open (DccpNetwork * network);
void dccp_network_run (DccpNetwork * network, guint64 duration);
void dccp_network_close (DccpNetwork * network, DccpEnd end);
/* Takes the packets that an endpoint has prepared, and puts them into the
 * network. An endpoint does not send its packets itself. A test that calls a
 * function of DccpEndpoint directly must therefore call dccp_network_flush ()
 * afterwards. */
void dccp_network_flush (DccpNetwork * network, DccpEnd end);

/* Delivers `bytes` to the endpoint `to` immediately, as a packet with the
 * address of its peer. Tests use this function for packets that no endpoint has
 * sent. */
void dccp_network_inject (DccpNetwork * network, DccpEnd to,
    const guint8 * bytes, gsize size);
void dccp_network_inject_from (DccpNetwork * network, DccpEnd to,
    const DatagramPath * path, const guint8 * bytes, gsize size);
/* Delivers a forged packet to the endpoint `to` immediately. Its sequence
 * numbers are written in the long form (48 bits). If its source port is 0, it
 * gets the ports of the connection. */
void dccp_network_inject_packet (DccpNetwork * network, DccpEnd to,
    const DccpPacket * packet);
/* Returns a packet of the type `type` with valid numbers, as the peer of the
 * endpoint `to` would send it next. The endpoint `to` accepts this packet. */
DccpPacket dccp_network_next (DccpNetwork * network, DccpEnd to, DccpType type);

DccpConnection *dccp_network_get (DccpNetwork * network, DccpEnd end);
DccpState dccp_network_get_state (DccpNetwork * network, DccpEnd end);
guint dccp_network_count (DccpNetwork * network, DccpEnd from, DccpType type);
/* Returns the `n`-th packet of the type `type` that the endpoint `from` sent;
 * NULL if there is none. If `n` is 0, this is the first packet. If `n` is -1,
 * it is the last one. */
const DccpNetworkEntry *dccp_network_find (DccpNetwork * network, DccpEnd from,
    DccpType type, gint n);
guint dccp_network_count_events (DccpNetwork * network, DccpEnd end,
    DccpEventType type);
const DccpEvent *dccp_network_find_event (DccpNetwork * network, DccpEnd end,
    DccpEventType type);
const DccpStats *dccp_network_get_stats (DccpNetwork * network, DccpEnd end);

G_END_DECLS

#endif /* __DCCPNETWORK_H__ */
