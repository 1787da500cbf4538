/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sender and a receiver of MMTP with paths of constant rate and delay
 * between them, in virtual time, for those who want to put messages of their
 * own among theirs. Watches what must hold whatever comes: counters don't go
 * back, memory is bounded, nobody is sent more than came from there before the
 * address is validated, no buffer comes out after its time, or other than it
 * was put.
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
  guint frame_size;             /* bytes of a buffer each period */
  /* Each message that goes on a path, or to another address; FALSE: it is
   * lost */
    gboolean (*sent) (MmtpNetwork * network, MmtpRole from,
      const MmtpAddress * address, const guint8 * bytes, gsize size,
      gpointer data);
  /* After each thing that happened */
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
  gboolean has_session;         /* an ACCEPT came by; `directions` are set */
  MmtpDirection directions[2];  /* the sender's, the receiver's */
  MmtpKey key;

  gboolean streaming;           /* since READY, until it is set FALSE */
  guint64 put_at;               /* ns */
  guint32 n_put;
  GArray *out;                  /* guint32: the buffers that came out */
  guint sessions, silences, ends;       /* events of the receiver */
  guint lost, broken, refused, ended;   /* events of the sender */
  gboolean trusted;             /* nobody else has the secrets: what comes out
                                 * is what was put */

  GQueue flights[2][MMTP_NETWORK_PATHS];        /* to sender, to receiver */
  guint64 busy[2][MMTP_NETWORK_PATHS];  /* ns, until which the path sends */
  MmtpAddress addresses[MMTP_NETWORK_PATHS];    /* of the sender's paths */
  GHashTable *accounts;         /* of every address */
  MmtpSenderPathStats sender_paths[MMTP_NETWORK_PATHS];
  MmtpReceiverPathStats receiver_paths[MMTP_NETWORK_PATHS];
  MmtpSenderStats sender_stats;
  MmtpReceiverStats receiver_stats;
};

void mmtp_network_init (MmtpNetwork * network,
    const MmtpNetworkConfig * config);
void mmtp_network_clear (MmtpNetwork * network);
/* Another sender in the place of the one that was, without a path */
void mmtp_network_begin_anew (MmtpNetwork * network, guint seed);
/* The address that a path of the sender begins with */
void mmtp_network_get_address (guint path, MmtpAddress * address);
void mmtp_network_add_path (MmtpNetwork * network, guint path);
void mmtp_network_run (MmtpNetwork * network, guint64 duration);

/* As if it came now */
void mmtp_network_to_sender (MmtpNetwork * network, guint path,
    const guint8 * bytes, gsize size);
void mmtp_network_to_receiver (MmtpNetwork * network,
    const MmtpAddress * address, const guint8 * bytes, gsize size);
/* The path has another address from now on. */
void mmtp_network_move (MmtpNetwork * network, guint path,
    const MmtpAddress * address);
/* Bytes that were sent there */
gsize mmtp_network_get_sent (MmtpNetwork * network,
    const MmtpAddress * address);

G_END_DECLS

#endif /* __MMTPNETWORK_H__ */
