/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sender and a receiver of MMTP in virtual time. The paths between them have
 * a constant rate and delay. A test can inject its own messages into the
 * session.
 *
 * The network checks these conditions, which must always hold:
 * - Counters do not decrease.
 * - Memory is bounded.
 * - If an address is not validated, the receiver sends no more bytes to this
 *   address than it has received from it.
 * - Each buffer is output in time and unchanged.
 */

#ifndef __MMTPNETWORK_H__
#define __MMTPNETWORK_H__

#include "mmtppacketbuilder.h"
#include "mmtpkeys.h"
#include "mmtpreceiver.h"
#include "mmtpsender.h"

G_BEGIN_DECLS

#define MMTP_NETWORK_PATHS 3
#define MMTP_NETWORK_PERIOD (40 * G_GUINT64_CONSTANT (1000000))    /* ns */

typedef struct _MmtpNetwork MmtpNetwork;

typedef struct
{
  const gchar *key;             /* NULL: none */
  /* Size in bytes of each buffer of the stream. The sender gets one buffer in
   * each period. */
  guint frame_size;
  /* Called for each message, even if `address` belongs to no path. `address` is
   * the source of the sender's messages, or the destination of the receiver's
   * messages. Returns FALSE to drop the message. */
    gboolean (*sent) (MmtpNetwork * network, MmtpRole from,
      const MmtpAddress * address, const guint8 * bytes, gsize size,
      gpointer data);
  /* Called after each event. */
  void (*happened) (MmtpNetwork * network, gpointer data);
  gpointer data;
} MmtpNetworkConfig;

struct _MmtpNetwork
{
  MmtpNetworkConfig config;
  MmtpSenderConfig sender_config;
  MmtpReceiverConfig receiver_config;
  MmtpSender *sender;
  MmtpReceiver *receiver;
  guint64 now;                  /* ns */
  MmtpOverheard overheard;
  /* TRUE if the receiver has accepted a session: the network has seen its
   * message ACCEPT. From then on, the fields in `directions` are set. */
  gboolean has_session;
  /* How the messages of each endpoint are protected against forgery: by a
   * message authentication code (MAC) if the session has a key, otherwise by a
   * token. directions[0] is for messages of the sender, and directions[1] is
   * for messages of the receiver. */
  MmtpDirection directions[2];
  MmtpKey key;

  /* TRUE while the stream runs: the network passes a new buffer to the sender
   * in each period. The stream starts when the sender reports READY. A test can
   * set the field to FALSE to pause the stream. */
  gboolean streaming;
  guint64 put_at;               /* ns */
  guint32 n_put;
  /* Array of guint32: the numbers of the buffers that the receiver has output,
   * in this order. */
  GArray *out;
  /* Numbers of events that the receiver has reported, one number for each type
   * of event. SESSION: a session began. SILENT: the sender no longer responds.
   * END: the stream ended. */
  guint sessions, silences, ends;
  /* Numbers of events that the sender has reported, one number for each type of
   * event. LOST: the receiver no longer responds. BROKEN: the only path is
   * silent. REFUSED: the receiver refused the session. ENDED: the receiver has
   * acknowledged the end of the stream. */
  guint lost, broken, refused, ended;
  /* TRUE if no attacker knows the secrets of the session. The network then
   * checks that each buffer that the receiver outputs was passed to the sender.
   */
  gboolean trusted;

  /* The messages that are in flight on each path. Index 0 is for messages to
   * the sender, and index 1 is for messages to the receiver. */
  GQueue flights[2][MMTP_NETWORK_PATHS];
  /* For each direction and path, the time in ns at which the path will have
   * transmitted all messages that wait in its queue now. */
  guint64 busy[2][MMTP_NETWORK_PATHS];
  /* Addresses of the sender's paths. */
  MmtpAddress addresses[MMTP_NETWORK_PATHS];
  GHashTable *accounts;         /* Account of every address. */
  MmtpSenderPathStats sender_paths[MMTP_NETWORK_PATHS];
  MmtpReceiverPathStats receiver_paths[MMTP_NETWORK_PATHS];
  MmtpSenderStats sender_stats;
  MmtpReceiverStats receiver_stats;
};

void mmtp_network_init (MmtpNetwork * network,
    const MmtpNetworkConfig * config);
void mmtp_network_clear (MmtpNetwork * network);
/* Frees the sender and makes a new one without paths, as if the sending program
 * had been restarted. `seed` determines the random numbers of the new sender.
 */
void mmtp_network_begin_anew (MmtpNetwork * network, guint seed);
/* Sets `address` to the address that the sender has on path number `path` at
 * the beginning. */
void mmtp_network_get_address (guint path, MmtpAddress * address);
void mmtp_network_add_path (MmtpNetwork * network, guint path);
void mmtp_network_run (MmtpNetwork * network, guint64 duration);

/* The following two functions deliver a message to the sender or to the
 * receiver immediately, as if it had arrived from the network. */
void mmtp_network_to_sender (MmtpNetwork * network, guint path,
    const guint8 * bytes, gsize size);
void mmtp_network_to_receiver (MmtpNetwork * network,
    const MmtpAddress * address, const guint8 * bytes, gsize size);
/* Gives the sender another address on path number `path`, as if its network had
 * changed. The new address applies to all messages that it sends later. */
void mmtp_network_move (MmtpNetwork * network, guint path,
    const MmtpAddress * address);
/* Returns the number of bytes that the receiver has sent to `address` so far.
 */
gsize mmtp_network_get_sent (MmtpNetwork * network,
    const MmtpAddress * address);

G_END_DECLS

#endif /* __MMTPNETWORK_H__ */
