/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Model of the transparent data service of GSM. This service has no radio link
 * protocol (RLP), so damaged data is not retransmitted. Packets are framed by
 * PPP and cross a serial line. Their bytes are then sent in radio blocks, which
 * may have errors (Singh 2.3.2, 5.1, appendix B).
 *
 *   queue -> serial line -> radio blocks -> frame check -> out
 */

#include "linkmodel.h"

#include "linkradioblocks.h"
#include "linkserial.h"

typedef struct
{
  LinkSerial line;
  /* packets (LinkItem) to which radio blocks were assigned, and which have not
   * been received yet */
  GQueue air;
  /* number of the radio block after the last one that was assigned to a packet
   */
  guint64 free_block;
} Direction;

typedef struct
{
  Link *link;
  LinkBlocksConfig config;
  LinkRadioBlocks radio;
  Direction directions[2];
} Blocks;

/* How damaged bytes affect a packet. */
typedef struct
{
  /* total size in bytes of the framing and the headers before the contents of
   * the packet */
  guint64 before;
  /* TRUE if the packet is lost because its framing or its header is damaged */
  gboolean spoilt;
} Damage;

/* Entering the radio */

/* Assigns consecutive radio blocks to the packet that has crossed the serial
 * line. No block begins before its bytes have crossed the line, so the last
 * block begins only after the last byte of the packet has crossed it. No block
 * carries bytes of two packets. */
static void
enter_air (Blocks * blocks, Direction * direction)
{
  LinkSerial *line = &direction->line;
  guint64 payload = blocks->config.block_payload;
  guint64 n = (line->bytes + payload - 1) / payload;
  guint64 last = link_radio_blocks_at (&blocks->radio, line->end);
  guint64 filled = line->begin + link_serial_get_time (line,
      MIN (payload, line->bytes));
  guint64 first = MAX (link_radio_blocks_at (&blocks->radio, filled),
      direction->free_block);
  LinkItem *item = link_serial_take (line);

  first = MAX (first, last + 1 > n ? last + 1 - n : 0);
  direction->free_block = first + n;
  item->begun = first * blocks->config.block_time;
  item->finished = direction->free_block * blocks->config.block_time;
  item->p.attempts = 1;
  item->p.airtime = item->finished - item->begun;
  g_queue_push_tail (&direction->air, item);
}

/* Crossing the radio */

/* Called for a radio block with errors. Decides at random, for each byte of the
 * block, whether the byte is damaged. The probability is the same for all
 * bytes, as in the simulator WSim (Singh, section 5.1). */
static void
hit_block (Blocks * blocks, LinkItem * item, guint64 block, guint64 offset,
    Damage * damage)
{
  SeededChance chance = seeded_chance (blocks->config.corrupt_share);
  guint direction = link_direction (item->p.station);
  guint i;

  for (i = 0; i < blocks->config.block_payload; i++) {
    guint64 byte = offset + i;
    guint64 draw = seeded_draw (blocks->link->config.seed, direction,
        LINK_DRAW_CORRUPT, block, i);

    if (!seeded_draw_hits (draw, chance))
      continue;
    if (byte < damage->before)
      damage->spoilt = TRUE;
    else if (byte - damage->before < item->p.size)
      link_item_add_damage (item, byte - damage->before,
          1 + (draw & G_MAXUINT32) % 255);
    else if (byte - damage->before - item->p.size <
        blocks->config.overhead - blocks->config.overhead_before)
      damage->spoilt |= blocks->config.frame_check;
  }
}

static LinkFate
cross_air (Blocks * blocks, LinkItem * item)
{
  guint direction = link_direction (item->p.station);
  guint64 first = item->begun / blocks->config.block_time;
  guint64 n = item->p.airtime / blocks->config.block_time, i;
  Damage damage = { 0, };

  damage.before = blocks->config.overhead_before +
      blocks->link->config.overhead;
  for (i = 0; i < n; i++) {
    if (link_radio_blocks_send (&blocks->radio, direction, first + i))
      hit_block (blocks, item, first + i, i * blocks->config.block_payload,
          &damage);
  }
  if (damage.spoilt || (item->damage && blocks->config.frame_check))
    return LINK_FATE_CHECK;
  return LINK_FATE_DELIVERED;
}

static void
leave_air (Blocks * blocks, LinkItem * item)
{
  LinkFate fate = cross_air (blocks, item);

  /* The errors of the radio blocks decide whether the packet is delivered,
   * damaged or lost. If a recorded pattern of an earlier run is replayed, this
   * decision is replaced by the result that the packet had in the earlier run.
   */
  if (item->recorded) {
    link_item_replay_damage (item);
    fate = item->recorded->fate;
  }
  if (link_fate_is_lost (fate))
    link_lose (blocks->link, item, fate);
  else
    link_deliver (blocks->link, item, item->finished +
        blocks->config.radio_delay +
        blocks->config.delay[link_direction (item->p.station)]);
}

/* The class */

static void
link_blocks_destroy (gpointer model, GDestroyNotify user_free)
{
  Blocks *blocks = model;
  LinkItem *item;
  guint i;

  for (i = 0; i < 2; i++) {
    Direction *direction = &blocks->directions[i];

    if ((item = link_serial_take (&direction->line)))
      link_item_free (item, user_free);
    while ((item = g_queue_pop_head (&direction->air)))
      link_item_free (item, user_free);
  }
  link_radio_blocks_clear (&blocks->radio);
  g_free (blocks);
}

static gpointer
link_blocks_create (Link * link, GError ** error)
{
  Blocks *blocks = g_new0 (Blocks, 1);
  guint i;

  blocks->link = link;
  blocks->config = link->config.blocks;
  for (i = 0; i < 2; i++)
    link_serial_init (&blocks->directions[i].line, link, i);
  if (!link_radio_blocks_init (&blocks->radio, link, error)) {
    link_blocks_destroy (blocks, NULL);
    return NULL;
  }
  return blocks;
}

static void
link_blocks_arrived (gpointer model, guint station)
{
  Blocks *blocks = model;
  guint direction = link_direction (station);

  link_radio_blocks_use (&blocks->radio, direction);
  link_serial_start (&blocks->directions[direction].line);
}

static guint64
link_blocks_next (gpointer model)
{
  Blocks *blocks = model;
  guint64 next = blocks->radio.change;
  guint i;

  for (i = 0; i < 2; i++) {
    Direction *direction = &blocks->directions[i];
    LinkItem *item = g_queue_peek_head (&direction->air);

    next = MIN (next, link_serial_next (&direction->line));
    if (item)
      next = MIN (next, item->finished);
  }
  return next;
}

static void
advance_direction (Blocks * blocks, Direction * direction)
{
  guint64 now = blocks->link->now;
  LinkItem *item;

  while ((item = g_queue_peek_head (&direction->air)) && item->finished <= now)
    leave_air (blocks, g_queue_pop_head (&direction->air));
  if (link_serial_next (&direction->line) <= now) {
    enter_air (blocks, direction);
    link_serial_start (&direction->line);
  }
}

static void
link_blocks_advance (gpointer model)
{
  Blocks *blocks = model;
  guint i;

  link_radio_blocks_tell (&blocks->radio);
  for (i = 0; i < 2; i++)
    advance_direction (blocks, &blocks->directions[i]);
}

static void
link_blocks_call_changed (gpointer model, gboolean connected)
{
  Blocks *blocks = model;
  LinkItem *item;
  guint i;

  for (i = 0; i < 2; i++) {
    Direction *direction = &blocks->directions[i];

    if (connected) {
      link_serial_start (&direction->line);
      continue;
    }
    while ((item = g_queue_pop_head (&direction->air)))
      link_lose (blocks->link, item, LINK_FATE_CALL);
    if ((item = link_serial_take (&direction->line)))
      link_lose (blocks->link, item, LINK_FATE_CALL);
  }
}

static gdouble
link_blocks_quality (gpointer model, guint station)
{
  Blocks *blocks = model;

  return link_radio_blocks_quality (&blocks->radio, link_direction (station));
}

const LinkModelClass link_blocks_class = {
  link_blocks_create,
  link_blocks_destroy,
  link_blocks_arrived,
  link_blocks_next,
  link_blocks_advance,
  link_blocks_call_changed,
  link_blocks_quality
};
