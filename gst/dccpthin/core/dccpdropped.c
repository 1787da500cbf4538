/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpdropped.h: the list of received packets that we have
 * dropped. The option Data Dropped reports them to the peer. With CCID 3, the
 * peer does not acknowledge the packets that contain this option, so we never
 * know whether such a packet has arrived. Each dropped packet is therefore
 * reported several times. The peer counts it only once. */

#include "dccpdropped.h"

#include <string.h>

/* Number of times that each dropped packet is reported to the peer. If two of
 * the three reports are lost, the peer still receives the third one. */
#define REPORTS 3
/* Maximum size in bytes of the value of a Data Dropped option. The value
 * consists of blocks of one byte. */
#define MAX_BLOCKS 64
/* The option Data Dropped consists of blocks of one byte. This is the maximum
 * number of consecutive packets that one block can report as not dropped. The
 * block stores this number minus one in 7 bits. */
#define MAX_NORMAL_RUN 128
/* The option Data Dropped consists of blocks of one byte. This is the maximum
 * number of consecutive packets that one block can report as dropped. The block
 * stores this number minus one in 4 bits. */
#define MAX_DROPPED_RUN 16

gboolean
dccp_dropped_add (DccpDropped * dropped, guint64 sequence, DccpDropCode code)
{
  const DccpDrop drop = { sequence, code, REPORTS };
  guint i;

  for (i = 0; i < dropped->n; i++) {
    gint64 after = dccp_sequence_difference (sequence,
        dropped->drops[i].sequence);

    if (after == 0)
      return FALSE;
    if (after > 0)
      break;
  }
  if (i == DCCP_MAX_DROPPED)
    return FALSE;
  if (dropped->n == DCCP_MAX_DROPPED)
    dropped->n--;
  memmove (&dropped->drops[i + 1], &dropped->drops[i],
      (dropped->n - i) * sizeof (drop));
  dropped->drops[i] = drop;
  dropped->n++;
  return TRUE;
}

/* Removes packets from the list of dropped packets: those packets that have
 * been reported to the peer often enough (REPORTS times). */
static void
forget (DccpDropped * dropped)
{
  guint i, n = 0;

  for (i = 0; i < dropped->n; i++)
    if (dropped->drops[i].reports > 0)
      dropped->drops[n++] = dropped->drops[i];
  dropped->n = n;
}

/* The value of the option Data Dropped consists of blocks of one byte. Appends
 * the blocks that describe `run` consecutive packets that were not dropped.
 * Returns FALSE if there is no room for the blocks. */
static gboolean
add_normal (guint8 * blocks, gsize * size, gint64 run)
{
  for (; run > 0; run -= MAX_NORMAL_RUN) {
    if (*size == MAX_BLOCKS)
      return FALSE;
    blocks[(*size)++] = MIN (run, MAX_NORMAL_RUN) - 1;
  }
  return TRUE;
}

static gboolean
add_dropped (guint8 * blocks, gsize * size, gboolean continues, guint8 code)
{
  if (continues && (blocks[*size - 1] & 0x80)
      && (blocks[*size - 1] >> 4 & 7) == code
      && (blocks[*size - 1] & 15) < MAX_DROPPED_RUN - 1) {
    blocks[*size - 1]++;
    return TRUE;
  }
  if (*size == MAX_BLOCKS)
    return FALSE;
  blocks[(*size)++] = 0x80 | code << 4;
  return TRUE;
}

void
dccp_dropped_write (DccpDropped * dropped, guint64 acknowledgement,
    DccpOptionWriter * writer)
{
  guint8 blocks[MAX_BLOCKS];
  guint64 next = acknowledgement;
  gsize size = 0, kept = 0;
  guint i, n;

  for (n = 0; n < dropped->n; n++) {
    const DccpDrop *drop = &dropped->drops[n];
    gint64 run = dccp_sequence_difference (next, drop->sequence);

    if (!add_normal (blocks, &size, run)
        || !add_dropped (blocks, &size, run == 0 && size > 0, drop->code))
      break;
    kept = size;
    next = dccp_sequence_add (drop->sequence, -1);
  }
  if (kept == 0 || !dccp_option_write_data_dropped (writer, blocks, kept))
    return;
  for (i = 0; i < n; i++)
    dropped->drops[i].reports--;
  forget (dropped);
}
