/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtptsjoiner.h */

#include "mmtptsjoiner.h"

#include <string.h>

#include "tspictures.h"

/* The joiner removes the video packets of an incomplete picture until a buffer
 * marks the end of this picture or the beginning of the next one. If it removes
 * more PES packets than this number, it concludes that the sender does not mark
 * pictures any more. It then passes the stream on unchanged. */
#define MAX_PES_PACKETS 32
/* The joiner holds the packets of a picture back until the picture is complete.
 * This constant is the maximum size in bytes of the packets that it holds. A
 * larger picture is output before it is complete. The value is the maximum size
 * of a picture: a picture may consist of two fields, and a field has at most 16
 * MiB (MAX_UNIT_SIZE in tspictures.c). */
#define MAX_HELD_SIZE (32 * 1024 * 1024)

typedef enum
{
  /* The joiner passes the input on unchanged, because the sender does not mark
   * the beginnings of pictures: it has not marked any so far, or it has stopped
   * doing so. */
  STATE_UNCUT,
  STATE_BETWEEN,                /* between two pictures */
  /* A picture has begun, and no part of it is missing so far. Its packets are
   * held back until it is complete. */
  STATE_WHOLE,
  /* A buffer is missing. Either the current picture is incomplete, or the
   * missing buffer may have contained the beginning of a picture. The joiner
   * removes all video packets until a buffer marks the end of this picture or
   * the beginning of the next one. */
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
  /* A continuity counter is a number from 0 to 15 in each TS packet. The joiner
   * changes the counters of the video packets. `counter` is the counter of the
   * last video packet in the output; -1 if there was none. `offset` has to be
   * subtracted from the counter of an input packet to get the counter of the
   * output packet. */
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

/* Sets the continuity counter of the video packet `packet`. The counters of the
 * output must have no gap, but packets that were removed or lost leave a gap in
 * the counters of the input. A packet with payload therefore gets the counter
 * of the last packet of the output plus one. A packet without payload repeats
 * the counter of the packet before it (ISO/IEC 13818-1, 2.4.3.3). */
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

/* Returns the size in bytes of the item that begins at `data`. The item is a TS
 * packet, or a single byte that belongs to no packet. */
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

/* Called for each packet of an incomplete picture. Removes `packet` if it is a
 * video packet or a null packet (padding). If a video packet has a clock
 * reference, the decoder still needs this reference. A packet that contains
 * only the reference then takes the place of the video packet. Packets of other
 * streams, such as sound, are not changed. Returns FALSE if nothing of `packet`
 * remains. */
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
 * (STATE_DAMAGED), the video packets are removed first. `user` is the pointer
 * that the caller passed with the input. This function takes ownership of it.
 */
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

/* The packets of a picture are held back until the picture is complete. This
 * function outputs the held packets of the current picture. If a part of the
 * picture is missing, the function removes the video packets of the picture,
 * and outputs only the other packets. */
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
  /* A new picture begins, so the previous picture must have ended. In
   * STATE_WHOLE, the end of the previous picture has not arrived, although all
   * buffers before the end have arrived. The buffer with the end must therefore
   * be missing. */
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
