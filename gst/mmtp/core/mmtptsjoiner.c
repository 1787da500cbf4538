/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtptsjoiner.h */

#include "mmtptsjoiner.h"

#include <string.h>

#include "tspictures.h"

/* Maximum number of PES packets of the video that are removed from one
 * incomplete picture. If more of them follow before the beginning of the next
 * picture is marked, the joiner concludes that the sender does not mark the
 * beginnings of pictures any more. */
#define MAX_PES_PACKETS 32
/* Maximum size in bytes of a picture that is held back until it is complete. A
 * picture may consist of two fields. The maximum size of a field is
 * MAX_UNIT_SIZE (tspictures.c). */
#define MAX_HELD_SIZE (32 * 1024 * 1024)

typedef enum
{
  /* The input is passed on unchanged, because no beginning of a picture has
   * been marked in it so far, or not for a long time. */
  STATE_UNCUT,
  STATE_BETWEEN,                /* between two pictures */
  /* A picture has begun, and no part of it is missing so far. Its packets are
   * held back until it is complete. */
  STATE_WHOLE,
  /* State while the current picture is incomplete, or while the beginning of
   * the next picture is unknown. */
  STATE_DAMAGED
} State;

typedef struct
{
  GBytes *data;
  gpointer user;
} Output;

struct _MmtpTsJoiner
{
  GDestroyNotify free_user;
  State state;
  guint pid;                    /* of the video */
  /* the packets of the current picture that have arrived so far; empty if a
   * part of the picture is missing
   */
  GByteArray *held;
  gpointer held_user;
  GQueue output;                /* elements are Output */
  /* Continuity counters are numbers from 0 to 15 in the TS packets of the
   * video. `counter` is the one of the last video packet in the output; -1 if
   * there was none. `offset` is the difference between the counters of input
   * and output: what has to be subtracted from the counter of an input packet.
   */
  gint counter;
  guint offset;
  /* TRUE if packets before the next video packet are missing or were removed */
  gboolean has_gap;
  /* number of PES packets that were removed from the current incomplete picture
   */
  guint n_pes_packets;
  guint64 n_incomplete;
};

MmtpTsJoiner *
mmtp_ts_joiner_new (GDestroyNotify free_user)
{
  MmtpTsJoiner *joiner = g_new0 (MmtpTsJoiner, 1);

  joiner->free_user = free_user;
  joiner->held = g_byte_array_new ();
  g_queue_init (&joiner->output);
  mmtp_ts_joiner_reset (joiner);
  return joiner;
}

void
mmtp_ts_joiner_reset (MmtpTsJoiner * joiner)
{
  gpointer user;
  GBytes *data;

  while ((data = mmtp_ts_joiner_poll (joiner, &user))) {
    g_bytes_unref (data);
    joiner->free_user (user);
  }
  if (joiner->held_user)
    joiner->free_user (joiner->held_user);
  joiner->held_user = NULL;
  g_byte_array_set_size (joiner->held, 0);
  joiner->state = STATE_UNCUT;
  joiner->pid = TS_NO_PID;
  joiner->counter = -1;
  joiner->offset = 0;
  joiner->has_gap = FALSE;
}

void
mmtp_ts_joiner_free (MmtpTsJoiner * joiner)
{
  mmtp_ts_joiner_reset (joiner);
  g_byte_array_unref (joiner->held);
  g_free (joiner);
}

gboolean
mmtp_ts_joiner_is_cut (const MmtpTsJoiner * joiner)
{
  return joiner->state != STATE_UNCUT;
}

guint64
mmtp_ts_joiner_get_incomplete (const MmtpTsJoiner * joiner)
{
  return joiner->n_incomplete;
}

/* --- continuity counters -------------------------------------------------- */

/* Sets the continuity counter of `packet` to the value that continues the
 * output. Packets that were removed or lost leave a gap in the counters, which
 * the receiver's output must not have. A packet without payload repeats the
 * counter of the packet before it (ISO/IEC 13818-1, 2.4.3.3). */
static void
continue_counter (MmtpTsJoiner * joiner, guint8 * packet)
{
  const gboolean has_payload = ts_packet_has_payload (packet);
  const guint counter = ts_packet_get_counter (packet);

  if (joiner->has_gap && has_payload && joiner->counter >= 0)
    joiner->offset = counter - joiner->counter - 1;
  if (has_payload)
    joiner->has_gap = FALSE;
  if (joiner->has_gap && joiner->counter >= 0)
    ts_packet_set_counter (packet, joiner->counter);
  else
    ts_packet_set_counter (packet, counter - joiner->offset);
  joiner->counter = ts_packet_get_counter (packet);
}

/* Returns the size of the item that begins at `data`. The item is a packet, or
 * a single byte that belongs to no packet. */
static gsize
get_step (const guint8 * data, gsize size)
{
  return size >= TS_PACKET_SIZE && data[0] == TS_SYNC_BYTE ? TS_PACKET_SIZE : 1;
}

static void
continue_counters (MmtpTsJoiner * joiner, guint8 * data, gsize size)
{
  gsize at, step;

  for (at = 0; at < size; at += step) {
    step = get_step (data + at, size - at);
    if (step == TS_PACKET_SIZE && ts_packet_get_pid (data + at) == joiner->pid)
      continue_counter (joiner, data + at);
  }
}

/* --- output --------------------------------------------------------------- */

/* Takes ownership of `user`. */
static void
push (MmtpTsJoiner * joiner, const guint8 * data, gsize size, gpointer user)
{
  Output *output = g_new0 (Output, 1);

  output->data = g_bytes_new (data, size);
  output->user = user;
  g_queue_push_tail (&joiner->output, output);
}

/* Removes `packet` if it is a video packet or a null packet, but keeps its
 * clock reference. Returns FALSE if nothing of the packet remains. */
static gboolean
remove_packet (MmtpTsJoiner * joiner, guint8 * packet)
{
  const guint pid = ts_packet_get_pid (packet);

  if (pid != joiner->pid)
    return pid != TS_NO_PID;
  joiner->n_pes_packets += ts_packet_begins (packet);
  if (!ts_packet_has_clock (packet))
    return FALSE;
  if (joiner->counter < 0)
    joiner->counter = ts_packet_get_counter (packet);
  ts_packet_keep_clock (packet, joiner->counter);
  return TRUE;
}

/* Removes the video packets of an incomplete picture from `data`, and leaves
 * other packets, such as sound. Returns the number of bytes that are left. */
static gsize
remove_picture (MmtpTsJoiner * joiner, guint8 * data, gsize size)
{
  gsize at, step, kept = 0;

  for (at = 0; at < size; at += step) {
    step = get_step (data + at, size - at);
    if (step == TS_PACKET_SIZE && !remove_packet (joiner, data + at))
      continue;
    memmove (data + kept, data + at, step);
    kept += step;
  }
  joiner->has_gap = TRUE;
  if (joiner->n_pes_packets > MAX_PES_PACKETS)
    joiner->state = STATE_UNCUT;
  return kept;
}

/* Outputs the packets in `data`. If the current picture is incomplete
 * (STATE_DAMAGED), the video packets are removed first. Takes ownership of
 * `user`. */
static void
push_packets (MmtpTsJoiner * joiner, guint8 * data, gsize size, gpointer user)
{
  if (joiner->state == STATE_DAMAGED)
    size = remove_picture (joiner, data, size);
  else
    continue_counters (joiner, data, size);
  if (size > 0)
    push (joiner, data, size, user);
  else
    joiner->free_user (user);
}

/* Outputs the packets of the current picture that are held. If the picture is
 * incomplete, some of these packets are removed first. */
static void
push_held (MmtpTsJoiner * joiner)
{
  if (joiner->held_user)
    push_packets (joiner, joiner->held->data, joiner->held->len,
        g_steal_pointer (&joiner->held_user));
  g_byte_array_set_size (joiner->held, 0);
}

/* --- input ---------------------------------------------------------------- */

static void
note_gap (MmtpTsJoiner * joiner)
{
  joiner->has_gap = TRUE;
  if (joiner->state == STATE_UNCUT)
    return;
  if (joiner->state != STATE_DAMAGED)
    joiner->n_incomplete++;
  joiner->state = STATE_DAMAGED;
  joiner->n_pes_packets = 0;
  push_held (joiner);
}

/* A picture begins with a video packet. */
static void
begin_picture (MmtpTsJoiner * joiner, const guint8 * data, gsize size)
{
  if (size < TS_PACKET_SIZE)
    return;
  /* The previous picture has not ended yet. The buffer that ends it must
   * therefore be missing. */
  if (joiner->state == STATE_WHOLE)
    note_gap (joiner);
  joiner->state = STATE_WHOLE;
  if (ts_packet_get_pid (data) != joiner->pid) {
    joiner->pid = ts_packet_get_pid (data);
    joiner->counter = -1;
    joiner->offset = 0;
    joiner->has_gap = FALSE;
  }
}

/* Takes ownership of `user`. */
static void
hold (MmtpTsJoiner * joiner, const guint8 * data, gsize size, gpointer user)
{
  if (joiner->held_user)
    joiner->free_user (user);
  else
    joiner->held_user = user;
  g_byte_array_append (joiner->held, data, size);
  if (joiner->held->len <= MAX_HELD_SIZE)
    return;
  push_held (joiner);
  joiner->state = STATE_BETWEEN;
}

void
mmtp_ts_joiner_input (MmtpTsJoiner * joiner, GBytes * data, guint8 flags,
    gboolean is_gap, gpointer user)
{
  gsize size;
  const guint8 *bytes = g_bytes_get_data (data, &size);
  guint8 *copy;

  if (is_gap)
    note_gap (joiner);
  if (flags & MMTP_FLAG_HEADER)
    begin_picture (joiner, bytes, size);
  if (joiner->state == STATE_WHOLE) {
    hold (joiner, bytes, size, user);
  } else if (joiner->state == STATE_UNCUT) {
    push (joiner, bytes, size, user);
  } else {
    copy = g_memdup2 (bytes, size);
    push_packets (joiner, copy, size, user);
    g_free (copy);
  }
  if (!(flags & MMTP_FLAG_MARKER) || joiner->state == STATE_UNCUT)
    return;
  push_held (joiner);
  joiner->state = STATE_BETWEEN;
}

void
mmtp_ts_joiner_drain (MmtpTsJoiner * joiner)
{
  push_held (joiner);
}

GBytes *
mmtp_ts_joiner_poll (MmtpTsJoiner * joiner, gpointer * user)
{
  Output *first = g_queue_pop_head (&joiner->output);
  GBytes *data;

  if (!first)
    return NULL;
  data = first->data;
  *user = first->user;
  g_free (first);
  return data;
}
