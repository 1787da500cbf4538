/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reorders packets and reassembles buffers at the receiver. */

#include "mmtpreorder.h"

#include <string.h>

#define STREAM_NUMBER_BITS 24
/* Waiting packets are stored in a ring, whose entries are called slots. At
 * first, the ring has MIN_SLOTS slots. It may grow to one slot for each
 * BYTES_OF_SLOT bytes of max_bytes, but at most to MAX_SLOTS.
 *
 * Messages contain only the low 24 bits of a stream number. MAX_SLOTS is less
 * than half of 2^24, so the receiver can always reconstruct the complete
 * number. */
#define MIN_SLOTS 256
#define BYTES_OF_SLOT 64
#define MAX_SLOTS (1 << 22)
/* Number of bits in the history. The history has one bit for each of the
 * stream numbers directly before the next expected stream number. The bit says
 * whether the packet with this stream number has arrived. If a packet with one
 * of these numbers arrives, the receiver therefore knows whether the packet is
 * a duplicate or only late. */
#define HISTORY 65536

/* A received packet. If the packet has to wait for earlier packets, the struct
 * and the payload are stored in a memory block of their own. The payload can
 * then become the data of an output buffer without a copy. */
typedef struct
{
  guint64 due;
  gint64 deadline;              /* in ns, without the shift */
  guint8 flags, caps_version;
  MmtpPrelude prelude;
  gsize size;
  /* memory block that contains the payload; NULL if the payload is in no block
   */
  DatagramBlock *block;
  guint8 payload[];
} Packet;

typedef struct
{
  gint64 deadline;              /* in ns, without the shift */
  guint64 number;
} Deadline;

typedef struct
{
  GList link;                   /* its `data` is the Output */
  MmtpReorderedBuffer buffer;
  gint64 deadline;              /* in ns, without the shift */
  /* Position of this buffer in `output_deadlines`, which contains the complete
   * buffers in the order of their deadlines. NULL if the buffer has not been
   * inserted there yet. */
  GSequenceIter *place;
} Output;

typedef enum
{
  BETWEEN_BUFFERS,
  ASSEMBLING,
  /* A packet of the current buffer is missing, so the buffer cannot be
   * completed. Its other packets are thrown away when they arrive. */
  GIVING_UP
} State;

struct _MmtpReorder
{
  guint64 max_bytes;
  guint64 max_slots;

  guint64 next;                 /* next expected stream number */
  guint64 highest;              /* highest stream number received */
  /* Ring of the packets that have arrived, but wait for an earlier packet.
   * Their stream numbers are `next` or higher. An empty slot is NULL. */
  Packet **slots;
  guint64 n_slots;              /* a power of two */
  guint64 n_waiting;            /* number of occupied slots */
  /* one bit for each slot; the bit is set if the slot is occupied */
  guint64 *taken;
  /* Bitmap with one bit for each 64-bit word of `taken`. A word of `taken`
   * describes 64 slots. Its bit in `summary` is set if at least one of these
   * slots is occupied. */
  guint64 *summary;
  /* Placeholder for all packets that arrived too late and were refused. The
   * slot of such a packet points to it, so that the receiver does not wait for
   * the packet any longer. */
  Packet *late;
  guint64 waiting_bytes;
  /* how long after its deadline a packet is still accepted, in ns */
  guint64 max_lateness;
  /* Sum in ns of all changes of the initial delay (D0, the latency of the
   * session) so far. Each change moves all deadlines. Deadlines are therefore
   * stored without this sum, and the sum is added when a stored deadline is
   * used. */
  gint64 shift;
  /* Heap of the deadlines of the waiting packets. The earliest deadline is at
   * the top. When a packet no longer waits, its entry may stay in the heap for
   * some time. */
  GArray *deadlines;
  /* One bit for each of the HISTORY stream numbers before `next`. The bit is
   * set if the packet with this number has arrived. */
  guint64 history[HISTORY / 64];

  State state;
  /* memory in which the packets of the current buffer are joined; NULL if there
   * is none */
  DatagramBlock *assembly;
  /* number of bytes in `assembly` that are in use, and size of `assembly` in
   * bytes */
  gsize assembled, assembly_room;
  /* the current buffer, whose packets are being joined */
  MmtpReorderedBuffer buffer;
  gint64 buffer_deadline;       /* in ns, without the shift */
  /* TRUE if a buffer is missing directly before the buffer that will be
   * completed next. The field `discont` of that buffer will then be TRUE. */
  gboolean discont;
  GQueue output;                /* queue of Outputs */
  /* A sequence of the complete buffers in the queue `output`, sorted by their
   * deadlines. Each element of the sequence is the list node of a buffer in the
   * queue.
   *
   * A new buffer is not inserted into the sequence at once, but only when the
   * order of the deadlines is needed. Most buffers are fetched before that, so
   * this saves the time for sorting them. `unsorted` is the first node of the
   * queue that has not been inserted into the sequence yet. The nodes after it
   * have not been inserted either. */
  GSequence *output_deadlines;
  GList *unsorted;              /* NULL if all links are sorted */
  guint64 output_bytes;
  /* An Output that is not in use, or NULL. It will be used for the next
   * complete buffer, which saves an allocation. */
  Output *spare;

  MmtpReorderStats stats;
};

static void
allocate_slots (MmtpReorder * reorder)
{
  const guint64 n_words = reorder->n_slots / 64;

  reorder->slots = g_new0 (Packet *, reorder->n_slots);
  reorder->taken = g_new0 (guint64, n_words);
  reorder->summary = g_new0 (guint64, (n_words + 63) / 64);
}

MmtpReorder *
mmtp_reorder_new (guint64 max_bytes)
{
  MmtpReorder *reorder = g_new0 (MmtpReorder, 1);

  reorder->max_bytes = max_bytes;
  reorder->max_slots = MIN_SLOTS;
  while (reorder->max_slots < MAX_SLOTS
      && reorder->max_slots * BYTES_OF_SLOT < max_bytes)
    reorder->max_slots *= 2;
  reorder->n_slots = MIN_SLOTS;
  allocate_slots (reorder);
  reorder->late = g_new0 (Packet, 1);
  reorder->deadlines = g_array_new (FALSE, FALSE, sizeof (Deadline));
  g_queue_init (&reorder->output);
  reorder->output_deadlines = g_sequence_new (NULL);
  return reorder;
}

static void
output_free (gpointer data)
{
  Output *output = data;

  datagram_slice_clear (&output->buffer.data);
  g_free (output);
}

static void
packet_free (MmtpReorder * reorder, Packet * packet)
{
  if (packet && packet != reorder->late)
    datagram_block_unref (packet->block);
}

void
mmtp_reorder_free (MmtpReorder * reorder)
{
  guint64 i;

  for (i = 0; i < reorder->n_slots; i++)
    packet_free (reorder, reorder->slots[i]);
  g_free (reorder->slots);
  g_free (reorder->taken);
  g_free (reorder->summary);
  g_free (reorder->late);
  g_array_unref (reorder->deadlines);
  datagram_block_unref (reorder->assembly);
  g_sequence_free (reorder->output_deadlines);
  while (reorder->output.head)
    output_free (g_queue_pop_head_link (&reorder->output)->data);
  g_free (reorder->spare);
  g_free (reorder);
}

void
mmtp_reorder_set_max_lateness (MmtpReorder * reorder, guint64 max_lateness)
{
  reorder->max_lateness = max_lateness;
}

/* --- heap of deadlines ---------------------------------------------------- */

/* Converts `deadline` to the form in which deadlines are stored, and returns
 * it. A change of the initial delay (D0) moves all deadlines by the same time.
 * `shift` is the sum of all these changes so far. A stored deadline does not
 * include `shift`. When D0 changes, only `shift` is therefore changed, and the
 * stored deadlines stay valid. */
static gint64
store_deadline (const MmtpReorder * reorder, guint64 deadline)
{
  return (gint64) deadline - reorder->shift;
}

static guint64
load_deadline (const MmtpReorder * reorder, gint64 stored)
{
  return MAX (stored + reorder->shift, 0);
}

#define DEADLINE(reorder, i) g_array_index ((reorder)->deadlines, Deadline, i)

static void
push_deadline (MmtpReorder * reorder, gint64 deadline, guint64 number)
{
  Deadline entry = { deadline, number };
  guint i = reorder->deadlines->len, parent;

  g_array_append_val (reorder->deadlines, entry);
  for (; i > 0; i = parent) {
    parent = (i - 1) / 2;
    if (DEADLINE (reorder, parent).deadline <= deadline)
      break;
    DEADLINE (reorder, i) = DEADLINE (reorder, parent);
  }
  DEADLINE (reorder, i) = entry;
}

static void
pop_deadline (MmtpReorder * reorder)
{
  guint n = reorder->deadlines->len - 1, i = 0, child;
  Deadline last = DEADLINE (reorder, n);

  g_array_set_size (reorder->deadlines, n);
  if (n == 0)
    return;
  while ((child = 2 * i + 1) < n) {
    if (child + 1 < n && DEADLINE (reorder, child + 1).deadline
        < DEADLINE (reorder, child).deadline)
      child++;
    if (last.deadline <= DEADLINE (reorder, child).deadline)
      break;
    DEADLINE (reorder, i) = DEADLINE (reorder, child);
    i = child;
  }
  DEADLINE (reorder, i) = last;
}

/* Returns the heap entry of the waiting packet with the earliest deadline.
 * Returns NULL if no packet waits. First removes the entries at the top whose
 * packets no longer wait. */
static const Deadline *
peek_deadline (MmtpReorder * reorder)
{
  if (reorder->n_waiting == 0 && reorder->deadlines->len > 0)
    g_array_set_size (reorder->deadlines, 0);
  while (reorder->deadlines->len > 0
      && DEADLINE (reorder, 0).number < reorder->next)
    pop_deadline (reorder);
  return reorder->deadlines->len > 0 ? &DEADLINE (reorder, 0) : NULL;
}

/* If the heap has many entries of packets that no longer wait, removes these
 * entries. The heap therefore never has many more entries than there are
 * waiting packets. */
static void
compact_deadlines (MmtpReorder * reorder)
{
  GArray *old = reorder->deadlines;
  guint i;

  if (old->len < 2 * reorder->n_waiting + MIN_SLOTS)
    return;
  reorder->deadlines = g_array_new (FALSE, FALSE, sizeof (Deadline));
  reorder->stats.steps += old->len;
  for (i = 0; i < old->len; i++) {
    const Deadline *entry = &g_array_index (old, Deadline, i);

    if (entry->number >= reorder->next)
      push_deadline (reorder, entry->deadline, entry->number);
  }
  g_array_unref (old);
}

/* --- reassembly of buffers ------------------------------------------------ */

static gsize
get_output_cost (const MmtpReorderedBuffer * buffer)
{
  return buffer->data.size + sizeof (*buffer);
}

static gint
compare_outputs (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const Output *first = ((const GList *) a)->data;
  const Output *second = ((const GList *) b)->data;

  return first->deadline < second->deadline ? -1 :
      first->deadline > second->deadline;
}

/* Inserts all buffers of the queue `output` that are not in the sorted sequence
 * `output_deadlines` yet. These are the buffer of the list node `unsorted` and
 * all buffers after it in the queue. */
static void
sort_output (MmtpReorder * reorder)
{
  GList *link;

  for (link = reorder->unsorted; link; link = link->next)
    ((Output *) link->data)->place =
        g_sequence_insert_sorted (reorder->output_deadlines, link,
        compare_outputs, NULL);
  reorder->unsorted = NULL;
}

/* Removes a complete buffer from `output`, the queue of the buffers that the
 * application has not fetched yet. The caller has to free the buffer. */
static void
unlink_output (MmtpReorder * reorder, Output * output)
{
  if (reorder->unsorted == &output->link)
    reorder->unsorted = output->link.next;
  if (output->place)
    g_sequence_remove (output->place);
  g_queue_unlink (&reorder->output, &output->link);
  reorder->output_bytes -= get_output_cost (&output->buffer);
}

/* Called when all packets of the current buffer have been joined. Appends the
 * buffer to the queue `output`. Takes ownership of `data`, the bytes of the
 * buffer. */
static void
push_output (MmtpReorder * reorder, const DatagramSlice * data)
{
  Output *output = reorder->spare ? g_steal_pointer (&reorder->spare) :
      g_new (Output, 1);
  MmtpReorderedBuffer *buffer = &output->buffer;

  memset (&output->link, 0, sizeof (output->link));
  output->link.data = output;
  output->place = NULL;
  output->deadline = reorder->buffer_deadline;
  *buffer = reorder->buffer;
  buffer->data = *data;
  buffer->discont = reorder->discont;
  reorder->discont = FALSE;
  reorder->state = BETWEEN_BUFFERS;
  reorder->output_bytes += get_output_cost (buffer);
  g_queue_push_tail_link (&reorder->output, &output->link);
  if (!reorder->unsorted)
    reorder->unsorted = &output->link;
}

static void
drop_assembly (MmtpReorder * reorder)
{
  g_clear_pointer (&reorder->assembly, datagram_block_unref);
  reorder->assembled = reorder->assembly_room = 0;
}

static void
give_up (MmtpReorder * reorder)
{
  if (reorder->state != GIVING_UP)
    reorder->stats.incomplete++;
  drop_assembly (reorder);
  reorder->state = GIVING_UP;
  reorder->discont = TRUE;
}

static void
begin_buffer (MmtpReorder * reorder, const Packet * packet)
{
  MmtpReorderedBuffer *buffer = &reorder->buffer;

  if (reorder->state == ASSEMBLING)
    give_up (reorder);
  reorder->state = ASSEMBLING;
  buffer->due = packet->due;
  reorder->buffer_deadline = packet->deadline;
  buffer->flags = packet->flags & MMTP_FLAGS_OF_BUFFER;
  buffer->caps_version = packet->caps_version;
  buffer->prelude = packet->prelude;
}

static gboolean
goes_on (const MmtpReorder * reorder, const Packet * packet)
{
  const MmtpReorderedBuffer *buffer = &reorder->buffer;

  return reorder->state == ASSEMBLING && packet->due == buffer->due
      && (packet->flags & MMTP_FLAGS_OF_BUFFER) == buffer->flags
      && packet->caps_version == buffer->caps_version;
}

/* Prepares the reassembly of a buffer for `packet`, the next packet in the
 * order of the stream:
 * - If the packet is the first packet of a buffer, begins this buffer and
 *   returns TRUE.
 * - If the packet continues the current buffer, returns TRUE.
 * - Otherwise gives up the current buffer and returns FALSE. The caller then
 *   has to discard the packet. */
static gboolean
place_packet (MmtpReorder * reorder, const Packet * packet)
{
  if (packet->flags & MMTP_FLAG_FIRST) {
    begin_buffer (reorder, packet);
  } else if (!goes_on (reorder, packet)) {
    give_up (reorder);
    if (packet->flags & MMTP_FLAG_LAST)
      reorder->state = BETWEEN_BUFFERS;
    return FALSE;
  }
  /* The estimate of the sender's clock may have changed between the arrivals of
   * two packets of a buffer. The deadlines of these packets then differ
   * slightly. The buffer gets the earliest of the deadlines of its packets. */
  reorder->buffer_deadline = MIN (reorder->buffer_deadline, packet->deadline);
  return TRUE;
}

static gboolean
is_whole (const Packet * packet)
{
  const guint8 whole = MMTP_FLAG_FIRST | MMTP_FLAG_LAST;

  return (packet->flags & whole) == whole;
}

static void
add_to_assembly (MmtpReorder * reorder, const guint8 * payload, gsize size)
{
  if (!reorder->assembly)
    reorder->assembly = datagram_block_new (0);
  if (size > reorder->assembly_room - reorder->assembled) {
    reorder->assembly_room = MAX (2 * reorder->assembly_room,
        reorder->assembled + size);
    reorder->assembly = datagram_block_resize (reorder->assembly,
        reorder->assembly_room);
  }
  if (size > 0)
    memcpy (reorder->assembly->bytes + reorder->assembled, payload, size);
  reorder->assembled += size;
}

static void
push_assembly (MmtpReorder * reorder)
{
  DatagramSlice data;

  datagram_block_steal (reorder->assembly, reorder->assembly->bytes,
      reorder->assembled, &data);
  reorder->assembly = NULL;
  drop_assembly (reorder);
  push_output (reorder, &data);
}

static void
append (MmtpReorder * reorder, const Packet * packet, const guint8 * payload)
{
  if (reorder->assembled + packet->size > reorder->max_bytes) {
    reorder->stats.no_room++;
    reorder->stats.too_long++;
    give_up (reorder);
    return;
  }
  add_to_assembly (reorder, payload, packet->size);
  if (packet->flags & MMTP_FLAG_LAST)
    push_assembly (reorder);
}

/* Passes `packet` to the reassembly, which joins packets into buffers. The
 * packet arrived in order, so it did not have to wait. Its payload has not been
 * copied yet: `payload` points into the received datagram. */
static void
deliver (MmtpReorder * reorder, const Packet * packet, const guint8 * payload)
{
  DatagramSlice data;

  if (!place_packet (reorder, packet))
    return;
  if (!is_whole (packet)) {
    append (reorder, packet, payload);
    return;
  }
  datagram_block_slice (packet->block, payload, packet->size, &data);
  push_output (reorder, &data);
}

/* Passes `packet` to the reassembly, which joins packets into buffers. The
 * packet has waited until an earlier packet arrived or was skipped. If the
 * packet contains a whole buffer, its memory block becomes the memory of this
 * buffer. Otherwise, the payload is copied and the block is freed. */
static void
deliver_waiting (MmtpReorder * reorder, Packet * packet)
{
  DatagramSlice data;

  if (is_whole (packet) && place_packet (reorder, packet)) {
    datagram_block_steal (packet->block, packet->payload, packet->size, &data);
    push_output (reorder, &data);
    return;
  }
  if (!is_whole (packet) && place_packet (reorder, packet))
    append (reorder, packet, packet->payload);
  datagram_block_unref (packet->block);
}

/* --- order of the packets ------------------------------------------------- */

static void
advance (MmtpReorder * reorder, gboolean came)
{
  guint64 *word = &reorder->history[reorder->next % HISTORY / 64];
  guint64 bit = G_GUINT64_CONSTANT (1) << reorder->next % 64;

  *word = came ? *word | bit : *word & ~bit;
  reorder->next++;
}

static gboolean
has_come (const MmtpReorder * reorder, guint64 number)
{
  return reorder->next - number <= HISTORY
      && reorder->history[number % HISTORY / 64] >> number % 64 & 1;
}

static void
skip (MmtpReorder * reorder, gboolean came)
{
  reorder->stats.missing++;
  advance (reorder, came);
  if (reorder->state == ASSEMBLING)
    give_up (reorder);
  reorder->discont = TRUE;
}

static Packet **
get_slot (MmtpReorder * reorder, guint64 number)
{
  return &reorder->slots[number & (reorder->n_slots - 1)];
}

static gsize
get_cost (gsize payload_size)
{
  return sizeof (DatagramBlock) + sizeof (Packet) + payload_size;
}

static void
mark_taken (MmtpReorder * reorder, guint64 number, gboolean taken)
{
  const guint64 slot = number & (reorder->n_slots - 1), word = slot / 64;
  const guint64 one = 1;

  if (taken)
    reorder->taken[word] |= one << slot % 64;
  else
    reorder->taken[word] &= ~(one << slot % 64);
  if (reorder->taken[word])
    reorder->summary[word / 64] |= one << word % 64;
  else
    reorder->summary[word / 64] &= ~(one << word % 64);
}

/* Returns the lowest stream number of the packets that wait in the ring. At
 * least one packet must wait. Each bit of `summary` stands for 64 slots. A word
 * of `summary` that is 0 therefore lets the search skip 64 * 64 empty slots in
 * one step. */
static guint64
find_taken (MmtpReorder * reorder)
{
  const guint64 n_words = reorder->n_slots / 64, mask = reorder->n_slots - 1;
  const guint64 first = reorder->next & mask;
  guint64 bits = reorder->taken[first / 64] >> first % 64 << first % 64;
  guint64 word = first / 64;

  while (!bits) {
    reorder->stats.steps++;
    word = (word + 1) % n_words;
    if (word % 64 == 0 && reorder->summary[word / 64] == 0)
      word = (word + 63) % n_words;
    bits = reorder->taken[word];
  }
  return reorder->next +
      ((word * 64 + __builtin_ctzll (bits) - reorder->next) & mask);
}

static void
take_next (MmtpReorder * reorder)
{
  Packet **slot = get_slot (reorder, reorder->next), *packet = *slot;

  if (!packet) {
    skip (reorder, FALSE);
    return;
  }
  reorder->stats.steps++;
  *slot = NULL;
  mark_taken (reorder, reorder->next, FALSE);
  reorder->n_waiting--;
  if (packet == reorder->late) {
    skip (reorder, TRUE);
    return;
  }
  reorder->waiting_bytes -= get_cost (packet->size);
  advance (reorder, TRUE);
  deliver_waiting (reorder, packet);
}

static void
take_in_order (MmtpReorder * reorder)
{
  while (reorder->n_waiting > 0 && *get_slot (reorder, reorder->next))
    take_next (reorder);
}

/* Records that the `n` packets with the stream numbers from `next` on have not
 * arrived: clears their bits in `history`, the record of the packets that have
 * arrived. */
static void
clear_history (MmtpReorder * reorder, guint64 n)
{
  guint64 number = reorder->next, end = number + n, size;

  if (n >= HISTORY) {
    memset (reorder->history, 0, sizeof (reorder->history));
    return;
  }
  for (; number < end; number += size) {
    guint64 bits = G_MAXUINT64;

    size = MIN (64 - number % 64, end - number);
    bits = bits >> (64 - size) << number % 64;
    reorder->history[number % HISTORY / 64] &= ~bits;
    reorder->stats.steps++;
  }
}

/* Skips all packets with a stream number below `number`: stops waiting for them
 * and counts them as missing. The caller guarantees that none of them waits in
 * the ring. */
static void
jump (MmtpReorder * reorder, guint64 number)
{
  const guint64 n = number - reorder->next;

  clear_history (reorder, n);
  reorder->stats.missing += n;
  reorder->next = number;
  if (reorder->state == ASSEMBLING)
    give_up (reorder);
  reorder->discont = TRUE;
}

/* Handles the packet that is expected next. Its stream number is `next`, a
 * field of `reorder`:
 * - If this packet has arrived, passes it to the reassembly.
 * - If this packet is missing, skips it and the missing packets that directly
 *   follow it. Stops at the first packet that has arrived. Also stops at the
 *   stream number `number`, an argument, so that this number and higher ones
 *   are not skipped. */
static void
take_or_jump (MmtpReorder * reorder, guint64 number)
{
  const guint64 taken = reorder->n_waiting > 0 ? find_taken (reorder) : number;

  if (taken > reorder->next)
    jump (reorder, MIN (taken, number));
  else
    take_next (reorder);
}

/* First handles all packets with stream numbers below `number`: passes those
 * that have arrived to the reassembly, and skips the missing ones. Then passes
 * on the packets from `number` on, up to the first one that is missing. */
static void
take_until (MmtpReorder * reorder, guint64 number)
{
  while (reorder->next < number)
    take_or_jump (reorder, number);
  take_in_order (reorder);
}

static void
grow (MmtpReorder * reorder, guint64 span)
{
  MmtpReorder old = *reorder;
  guint64 number;

  while (reorder->n_slots < span)
    reorder->n_slots *= 2;
  allocate_slots (reorder);
  for (; old.n_waiting > 0; old.n_waiting--) {
    number = find_taken (&old);
    *get_slot (reorder, number) = *get_slot (&old, number);
    mark_taken (reorder, number, TRUE);
    mark_taken (&old, number, FALSE);
    old.next = number;
    old.stats.steps++;
  }
  reorder->stats.steps = old.stats.steps;
  g_free (old.slots);
  g_free (old.taken);
  g_free (old.summary);
}

static void
wait_in_slot (MmtpReorder * reorder, guint64 number, Packet * packet)
{
  *get_slot (reorder, number) = packet;
  mark_taken (reorder, number, TRUE);
  reorder->n_waiting++;
}

/* Stores a packet that has to wait, because an earlier packet of the stream is
 * missing. The packet usually waits until its deadline. If it arrived after its
 * deadline (`is_late`), it waits until its deadline plus the maximum lateness.
 * Up to this time, an earlier packet with the same deadline would still be
 * accepted. */
static void
keep (MmtpReorder * reorder, guint64 number, const Packet * header,
    const guint8 * payload, gboolean is_late)
{
  DatagramBlock *block = datagram_block_new (sizeof (Packet) + header->size);
  Packet *packet = (Packet *) block->bytes;

  *packet = *header;
  packet->block = block;
  memcpy (packet->payload, payload, header->size);
  wait_in_slot (reorder, number, packet);
  reorder->waiting_bytes += get_cost (packet->size);
  push_deadline (reorder, packet->deadline + (is_late ?
          (gint64) reorder->max_lateness : 0), number);
  compact_deadlines (reorder);
}

/* Makes sure that the ring of waiting packets has a slot for the packet with
 * the stream number `number`. Enlarges the ring if necessary.
 *
 * If `number` is very high, even the largest ring may have no slot for it. The
 * function then makes room: it passes on the waiting packets with the lowest
 * numbers, and skips the missing packets between them. */
static void
make_slot (MmtpReorder * reorder, guint64 number)
{
  if (number - reorder->next >= reorder->max_slots)
    take_until (reorder, number - reorder->max_slots + 1);
  if (number - reorder->next >= reorder->n_slots)
    grow (reorder, number - reorder->next + 1);
}

static guint64
get_held_bytes (const MmtpReorder * reorder)
{
  return reorder->waiting_bytes + reorder->output_bytes + reorder->assembled;
}

static gboolean
has_room (const MmtpReorder * reorder, gsize size)
{
  return get_held_bytes (reorder) + get_cost (size) <= reorder->max_bytes;
}

/* Appending a packet makes the current buffer larger. Returns whether the
 * current buffer alone would then need more memory than max_bytes. Other data
 * in memory do not count. `size` is the payload size of the packet in bytes. */
static gboolean
is_too_long (const MmtpReorder * reorder, gsize size)
{
  return reorder->assembled + get_cost (size) > reorder->max_bytes;
}

/* Makes room for a packet of `size` bytes with the stream number `number`.
 * Returns whether there is room for it.
 *
 * The function frees nothing in two cases:
 * - At least an eighth of max_bytes would still be free after the packet is
 *   stored.
 * - Complete buffers that the caller has not fetched occupy more than half of
 *   max_bytes.
 *
 * Otherwise it frees memory in two steps:
 * - If waiting packets occupy more than half of max_bytes, it skips missing
 *   packets with numbers below `number`. The packets that wait for them are
 *   then passed on.
 * - If there is still no room, it drops the buffer that is being assembled. */
static gboolean
make_room (MmtpReorder * reorder, guint64 number, gsize size)
{
  const guint64 reserve = reorder->max_bytes / 8;

  if (has_room (reorder, size + reserve))
    return TRUE;
  if (reorder->output_bytes > reorder->max_bytes / 2)
    return has_room (reorder, size);
  while (reorder->waiting_bytes > reorder->max_bytes / 2
      && reorder->next < number)
    take_or_jump (reorder, number);
  if (reorder->assembly && !has_room (reorder, size)) {
    reorder->stats.no_room++;
    reorder->stats.too_long += is_too_long (reorder, size);
    give_up (reorder);
  }
  return has_room (reorder, size);
}

static MmtpReorderResult
add_late (MmtpReorder * reorder, guint64 number)
{
  reorder->stats.late++;
  if (number == reorder->next) {
    skip (reorder, TRUE);
    take_in_order (reorder);
  } else if (number > reorder->next) {
    make_slot (reorder, number);
    wait_in_slot (reorder, number, reorder->late);
  }
  return MMTP_REORDER_LATE;
}

static gboolean
is_duplicate (MmtpReorder * reorder, guint64 number)
{
  if (number < reorder->next)
    return has_come (reorder, number);
  return number - reorder->next < reorder->n_slots
      && *get_slot (reorder, number);
}

MmtpReorderResult
mmtp_reorder_add (MmtpReorder * reorder, guint64 now, const MmtpData * data,
    guint64 due, guint64 deadline)
{
  Packet header = { due, store_deadline (reorder, deadline), data->flags,
    data->caps_version, data->prelude, data->payload_size, data->block
  };
  guint64 number = mmtp_unwrap (data->stream_number, STREAM_NUMBER_BITS,
      MAX (reorder->highest, reorder->next));

  reorder->highest = MAX (reorder->highest, number);
  if (is_duplicate (reorder, number)) {
    reorder->stats.duplicates++;
    return MMTP_REORDER_DUPLICATE;
  }
  if (number < reorder->next || now >= deadline + reorder->max_lateness)
    return add_late (reorder, number);
  if (!make_room (reorder, number, data->payload_size)) {
    reorder->stats.no_room++;
    reorder->stats.too_long += is_too_long (reorder, data->payload_size);
    return MMTP_REORDER_NO_ROOM;
  }
  make_slot (reorder, number);
  reorder->stats.packets++;
  if (number > reorder->next) {
    keep (reorder, number, &header, data->payload, now >= deadline);
    return MMTP_REORDER_TAKEN;
  }
  advance (reorder, TRUE);
  deliver (reorder, &header, data->payload);
  take_in_order (reorder);
  return MMTP_REORDER_TAKEN;
}

void
mmtp_reorder_set_floor (MmtpReorder * reorder, guint32 floor)
{
  guint64 number = mmtp_unwrap (floor, 32, reorder->next);

  if (number > reorder->next)
    take_until (reorder, number);
}

void
mmtp_reorder_timeout (MmtpReorder * reorder, guint64 now)
{
  const Deadline *first;

  while ((first = peek_deadline (reorder))
      && load_deadline (reorder, first->deadline) <= now)
    take_until (reorder, first->number + 1);
}

guint64
mmtp_reorder_next_wakeup (MmtpReorder * reorder)
{
  const Deadline *first = peek_deadline (reorder);

  return first ? load_deadline (reorder, first->deadline) : MMTP_NEVER;
}

/* --- changes of deadlines ------------------------------------------------- */

static gboolean
is_over (const MmtpReorder * reorder, gint64 deadline, guint64 now)
{
  return load_deadline (reorder, deadline) + reorder->max_lateness < now;
}

static void
make_late (MmtpReorder * reorder, guint64 number)
{
  Packet **slot = get_slot (reorder, number), *packet = *slot;

  if (packet == reorder->late)
    return;
  reorder->stats.late++;
  reorder->waiting_bytes -= get_cost (packet->size);
  *slot = reorder->late;
  datagram_block_unref (packet->block);
}

/* Called after all deadlines have been moved, so packets that wait may now be
 * too late. A packet is too late if its deadline plus the maximum lateness has
 * passed. The function marks these packets, and removes their entries from the
 * heap of deadlines.
 *
 * Then the function adds a single entry to the heap. This entry replaces all
 * removed entries. Its deadline is the earliest of the removed deadlines. Its
 * stream number is the highest of the removed stream numbers. At the next
 * timeout, the receiver therefore handles all packets up to this stream number:
 * it passes on those that have arrived, and skips the others. */
static void
make_waiting_late (MmtpReorder * reorder, guint64 now)
{
  const Deadline *first = peek_deadline (reorder);
  Deadline last;

  if (!first || !is_over (reorder, first->deadline, now))
    return;
  last = *first;
  while ((first = peek_deadline (reorder))
      && is_over (reorder, first->deadline, now)) {
    last.number = MAX (last.number, first->number);
    make_late (reorder, first->number);
    pop_deadline (reorder);
    reorder->stats.steps++;
  }
  push_deadline (reorder, last.deadline, last.number);
}

static void
drop_output (MmtpReorder * reorder, GList * link)
{
  Output *output = link->data, *next = link->next ? link->next->data : NULL;

  if (next)
    next->buffer.discont = TRUE;
  else
    reorder->discont = TRUE;
  reorder->stats.incomplete++;
  unlink_output (reorder, output);
  output_free (output);
}

/* Returns the complete buffer with the earliest deadline, as a list node of the
 * queue `output`. Returns NULL if the application has fetched all complete
 * buffers. */
static GList *
peek_earliest_output (MmtpReorder * reorder)
{
  GSequenceIter *first;

  sort_output (reorder);
  first = g_sequence_get_begin_iter (reorder->output_deadlines);
  return g_sequence_iter_is_end (first) ? NULL : g_sequence_get (first);
}

/* Drops the complete buffers that are too late: those whose deadline plus the
 * maximum lateness has passed. The loop visits the buffers in the order of
 * their deadlines, and ends at the first one that is not too late. This saves
 * time when many buffers wait for their caps (the description of the media
 * format). */
static void
drop_late_output (MmtpReorder * reorder, guint64 now)
{
  GList *link;

  while ((link = peek_earliest_output (reorder))
      && is_over (reorder, ((Output *) link->data)->deadline, now)) {
    drop_output (reorder, link);
    reorder->stats.steps++;
  }
}

void
mmtp_reorder_shift_deadlines (MmtpReorder * reorder, guint64 now, gint64 shift)
{
  reorder->shift += shift;
  make_waiting_late (reorder, now);
  if (reorder->state == ASSEMBLING
      && is_over (reorder, reorder->buffer_deadline, now))
    give_up (reorder);
  drop_late_output (reorder, now);
  take_in_order (reorder);
}

/* --- output --------------------------------------------------------------- */

const MmtpReorderedBuffer *
mmtp_reorder_peek (MmtpReorder * reorder)
{
  Output *first = g_queue_peek_head (&reorder->output);

  if (!first)
    return NULL;
  first->buffer.deadline = load_deadline (reorder, first->deadline);
  return &first->buffer;
}

guint64
mmtp_reorder_get_output_deadline (MmtpReorder * reorder)
{
  const GList *link = peek_earliest_output (reorder);

  return link ? load_deadline (reorder,
      ((const Output *) link->data)->deadline) : MMTP_NEVER;
}

gboolean
mmtp_reorder_poll (MmtpReorder * reorder, MmtpReorderedBuffer * buffer)
{
  const MmtpReorderedBuffer *first = mmtp_reorder_peek (reorder);
  Output *output;

  if (!first)
    return FALSE;
  *buffer = *first;
  output = reorder->output.head->data;
  unlink_output (reorder, output);
  g_free (reorder->spare);
  reorder->spare = output;
  return TRUE;
}

void
mmtp_reorder_drop (MmtpReorder * reorder)
{
  if (reorder->output.head)
    drop_output (reorder, reorder->output.head);
}

guint64
mmtp_reorder_get_next (const MmtpReorder * reorder)
{
  return reorder->next;
}

const MmtpReorderStats *
mmtp_reorder_get_stats (const MmtpReorder * reorder)
{
  MmtpReorder *writable = (MmtpReorder *) reorder;

  writable->stats.held_bytes = get_held_bytes (reorder);
  return &reorder->stats;
}
