/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sender and the receiver cores of MMTP, as endpoints of a simulated
 * session. */

#include "mmtpsimulation.h"
#include "mmtpentropy.h"


static gpointer
sender_new (const MmtpSenderConfig * config, guint64 seed)
{
  guint8 entropy[MMTP_ENTROPY_SIZE];

  mmtp_entropy_make (seed, entropy);
  return mmtp_sender_new (config, entropy);
}

static gpointer
receiver_new (const MmtpReceiverConfig * config, guint64 seed)
{
  guint8 entropy[MMTP_ENTROPY_SIZE];

  mmtp_entropy_make (seed, entropy);
  return mmtp_receiver_new (config, entropy);
}

/* *INDENT-OFF* */
#define VERB(member, function) \
    .member = (__typeof__ (((MmtpSimulationEnds *) NULL)->member)) function

const MmtpSimulationEnds mmtp_simulation_cores = {
  .speaks_mmtp = TRUE,
  .sender_new = sender_new,
  VERB (sender_free, mmtp_sender_free),
  VERB (add_path, mmtp_sender_add_path),
  VERB (remove_path, mmtp_sender_remove_path),
  VERB (put, mmtp_sender_put),
  VERB (has_room, mmtp_sender_has_room),
  VERB (end, mmtp_sender_end),
  VERB (sender_input, mmtp_sender_input),
  VERB (sender_timeout, mmtp_sender_timeout),
  VERB (sender_poll_output, mmtp_sender_poll_output),
  VERB (sender_next_wakeup, mmtp_sender_next_wakeup),
  VERB (sender_poll_event, mmtp_sender_poll_event),
  VERB (get_sender_stats, mmtp_sender_get_stats),
  VERB (get_sender_path_stats, mmtp_sender_get_path_stats),
  .receiver_new = receiver_new,
  VERB (receiver_free, mmtp_receiver_free),
  VERB (receiver_input, mmtp_receiver_input),
  VERB (receiver_timeout, mmtp_receiver_timeout),
  VERB (receiver_poll_output, mmtp_receiver_poll_output),
  VERB (receiver_next_wakeup, mmtp_receiver_next_wakeup),
  VERB (receiver_poll_event, mmtp_receiver_poll_event),
  VERB (get_receiver_stats, mmtp_receiver_get_stats),
  VERB (get_receiver_path_stats, mmtp_receiver_get_path_stats),
};
/* *INDENT-ON* */
