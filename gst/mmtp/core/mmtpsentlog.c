/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The log of messages that were sent on a path. */

#include "mmtpsentlog.h"
#include "mmtppacket.h"

/* Maximum number of messages in the log. Loss ranges in a report contain only
 * the low 16 bits of a message number. The 16 bits are unambiguous among 65536
 * messages, which is twice the maximum. */
#define MAX_RING 32768
/* Initial number of messages in the ring, a power of two. The number is doubled
 * when the ring is full. */
#define MIN_RING 64

void
mmtp_sent_log_clear (MmtpSentLog * log)
{
  g_free (log->ring);
}

static void
grow_ring (MmtpSentLog * log)
{
  guint size = log->ring_size ? log->ring_size * 2 : MIN_RING;
  MmtpSent *ring = g_new (MmtpSent, size);
  guint64 number;

  for (number = log->kept; number < log->next; number++)
    ring[number & (size - 1)] = log->ring[number & (log->ring_size - 1)];
  g_free (log->ring);
  log->ring = ring;
  log->ring_size = size;
}

/* Makes room for one more entry in the log. If the log is full, its memory is
 * doubled. If it has its maximum size already, the entry of the oldest message
 * is removed instead. If the receiver has not reported about this message yet,
 * the message no longer counts as in flight. */
static void
make_room (MmtpSentLog * log)
{
  if (log->next - log->kept < log->ring_size)
    return;
  if (log->ring_size < MAX_RING) {
    grow_ring (log);
    return;
  }
  if (log->unreported == log->kept) {
    log->in_flight -= mmtp_sent_log_get (log, log->kept)->size;
    log->unreported++;
  }
  log->kept++;
}

MmtpSent *
mmtp_sent_log_begin (MmtpSentLog * log, guint64 now, guint32 size)
{
  MmtpSent *sent;

  make_room (log);
  sent = &log->ring[log->next & (log->ring_size - 1)];
  log->in_flight += size;
  sent->time = now;
  sent->in_flight = log->in_flight;
  sent->size = size;
  return sent;
}

void
mmtp_sent_log_commit (MmtpSentLog * log)
{
  log->next++;
}

MmtpSent *
mmtp_sent_log_get (const MmtpSentLog * log, guint64 number)
{
  if (number < log->kept || number >= log->next)
    return NULL;
  return &log->ring[number & (log->ring_size - 1)];
}

guint64
mmtp_sent_log_get_oldest (const MmtpSentLog * log)
{
  return MAX (log->unreported, log->kept);
}

const MmtpSent *
mmtp_sent_log_find (const MmtpSentLog * log, guint16 low, guint64 * number)
{
  *number = mmtp_unwrap (low, 16, log->unreported);
  return mmtp_sent_log_get (log, *number);
}

void
mmtp_sent_log_forget (MmtpSentLog * log, guint64 time)
{
  while (log->kept < log->unreported) {
    const MmtpSent *sent = mmtp_sent_log_get (log, log->kept);

    if (sent && sent->time >= time)
      return;
    log->kept++;
  }
}
