/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sender and a receiver of MMTP with channels of constant rate and delay
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

#define MMTP_PAIR_CHANNELS 3
#define MMTP_PAIR_PERIOD (40 * G_GUINT64_CONSTANT (1000000))    /* ns */

typedef struct _MmtpPair MmtpPair;

typedef struct
{
  const gchar *key;             /* NULL: none */
  guint frame_size;             /* bytes of a buffer each period */
  /* Each message that goes on a channel, or to another address; FALSE: it is
   * lost */
    gboolean (*sent) (MmtpPair * pair, MmtpRole from,
      const MmtpAddress * address, const guint8 * bytes, gsize size,
      gpointer data);
  /* After each thing that happened */
  void (*happened) (MmtpPair * pair, gpointer data);
  gpointer data;
} MmtpPairConfig;

struct _MmtpPair
{
  MmtpPairConfig config;
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

  GQueue flights[2][MMTP_PAIR_CHANNELS];        /* to sender, to receiver */
  guint64 busy[2][MMTP_PAIR_CHANNELS];  /* ns, until which the channel sends */
  MmtpAddress addresses[MMTP_PAIR_CHANNELS];    /* of the sender's channels */
  GHashTable *accounts;         /* of every address */
  MmtpSenderPathStats sender_channels[MMTP_PAIR_CHANNELS];
  MmtpReceiverPathStats receiver_channels[MMTP_PAIR_CHANNELS];
  MmtpSenderStats sender_stats;
  MmtpReceiverStats receiver_stats;
};

void mmtp_pair_init (MmtpPair * pair, const MmtpPairConfig * config);
void mmtp_pair_clear (MmtpPair * pair);
/* Another sender in the place of the one that was, without a channel */
void mmtp_pair_begin_anew (MmtpPair * pair, guint seed);
/* The address that a channel of the sender begins with */
void mmtp_pair_get_address (guint channel, MmtpAddress * address);
void mmtp_pair_add_channel (MmtpPair * pair, guint channel);
void mmtp_pair_run (MmtpPair * pair, guint64 duration);

/* As if it came now */
void mmtp_pair_to_sender (MmtpPair * pair, guint channel,
    const guint8 * bytes, gsize size);
void mmtp_pair_to_receiver (MmtpPair * pair, const MmtpAddress * address,
    const guint8 * bytes, gsize size);
/* The channel has another address from now on. */
void mmtp_pair_move (MmtpPair * pair, guint channel,
    const MmtpAddress * address);
/* Bytes that were sent there */
gsize mmtp_pair_get_sent (MmtpPair * pair, const MmtpAddress * address);

G_END_DECLS

#endif /* __MMTPNETWORK_H__ */
