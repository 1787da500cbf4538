/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the core of IFD, which chooses the frames that are sent. The input of
 * the fuzzer contains commands. A command passes a frame to IFD, connects a
 * new receiver, ends the stream or changes the configuration, for example. The
 * input also determines the type, flags and size of each frame. A model of the
 * queue of waiting frames (W) and of the references checks the results:
 * - Each frame must leave the queue exactly once, in order, and be counted.
 * - The algorithm gop must send no frame whose reference was not sent.
 * - The algorithm gop must send no I-frame that a decoder would show too early.
 *
 * Format of the input: algorithm, max_frames, then commands. The first byte of
 * a command selects its action. A command with a frame has two more bytes, the
 * flags and the size of the frame. If FLAG_ORDER is among the flags, the size
 * byte also determines the position in display order.
 *
 * A slot is a place in which a decoder stores a reference frame. If FLAG_SLOTS
 * is among the flags, three more bytes follow: the slots that the frame uses,
 * the slots that it updates, and its temporal layer.
 */

#include "fuzz.h"
#include "ifd.h"

/* Maximum number of pictures in a run. IFD normally waits for an I-frame to
 * start a new GOP, but it continues without one when a GOP reaches IFD_MAX_GOP
 * pictures. The model does not simulate this rule, so a run never has so many
 * pictures. */
#define MAX_PICTURES (IFD_MAX_GOP - 1)
#define NONE -1
#define FLAG_ORDER (1 << 6)
#define FLAG_SLOTS (1 << 7)
#define N_SLOTS 8
#define ORDER_RANGE 16

typedef enum
{
  FATE_NONE,
  FATE_WAITING,
  FATE_SENDING,
  FATE_SENT,
  FATE_DROPPED,
  FATE_FLUSHED
} Fate;

/* A frame, and what the model knows about it. The model implements these rules
 * of ifd.h:
 * - A trailing frame refers to the last trailing I-frame or P-frame of its GOP.
 * - A leading frame refers to its I-frame, to the last leading P-frame, and to
 *   the last trailing I-frame or P-frame of the previous GOP.
 * - A receiver may begin with a trailing P-frame at which an intra refresh
 *   begins. */
typedef struct
{
  IfdFrame frame;
  gboolean leading;
  gint references[N_SLOTS];
  guint n_references;
  /* TRUE if the picture refers to a frame that the stream does not contain, for
   * example because the stream began after this frame */
  gboolean misses;
  Fate fate;
  /* Number of the receiver that decoded the frame, counted from 1. 0 if no
   * receiver decoded it. */
  guint decoded_by;
  /* Index in model.pictures of the I-frame or P-frame that arrived last before
   * this picture, or NONE if there was none. */
  gint last_reference;
  /* Number of times that the codec of the stream has changed up to this
   * frame. */
  guint codec;
} Picture;

/* The model's decoder, which receives the frames that were sent. It computes
 * the picture order count as section 8.2.1.1 of H.264 describes it. */
typedef struct
{
  gboolean is_known;
  /* Index in model.pictures of the last I-frame or P-frame that was sent, or
   * NONE. */
  gint last_reference;
  gint prev_msb, prev_lsb;
  /* Maximum picture order count (PicOrderCnt) of the frames that were sent. */
  gint max;
} Decoder;

typedef struct
{
  Ifd *ifd;
  IfdConfig asked;              /* Configuration that was set. */
  IfdConfig config;             /* Configuration in use. */
  /* TRUE if a frame has arrived or a receiver has connected since the last
   * flush. As long as it is TRUE, a change of the algorithm takes effect only
   * at the next I-frame. */
  gboolean begun;
  /* TRUE if the frame that has just arrived is an I-frame that replaces all
   * frames in W, the queue of waiting frames. */
  gboolean w_is_stale;
  /* TRUE if an algorithm other than `gop` was in use at any time since the last
   * flush. Some conditions are guaranteed only by the algorithm `gop`. If
   * `mixed` is TRUE, these conditions are not checked. */
  gboolean mixed;
  Picture pictures[MAX_PICTURES];
  guint n_pictures;
  gint w[IFD_MAX_FRAMES + 1];
  guint n_w;
  gint s;
  /* Indices in `pictures`, or NONE. They belong to the newest GOP, except for
   * `last_before`, which belongs to the previous GOP:
   * - `first` is the first frame of the newest GOP.
   * - `last` is the last I-frame or P-frame of the newest GOP that is not a
   *   leading frame.
   * - `last_leading` is the last leading P-frame of the newest GOP.
   * - `last_before` is the value of `last` at the end of the previous GOP. */
  gint first, last, last_leading, last_before;
  /* Index of the last I-frame or P-frame that arrived, or NONE. */
  gint newest_reference;
  /* A slot is a place in which a decoder stores a reference frame. slots[i] is
   * the index in `pictures` of the last frame that updated slot i, or NONE. */
  gint slots[N_SLOTS];
  /* TRUE if the newest frame has the flag IFD_FRAME_SLOTS */
  gboolean has_slots;
  /* Number of times that the codec of the stream has changed so far. */
  guint codec;
  /* The field Picture.codec (the number of codec changes up to a frame) of the
   * last frame that the decoder has decoded */
  guint began_codec;
  Decoder decoder;
  gboolean behind_p, closed, broken;
  guint receiver;
  guint began;                  /* Newest receiver that decoded a frame. */
  guint64 n_in, n_sent, n_dropped, n_flushed;
} Model;

static Model model;

static void
begin_stream (void)
{
  guint i;

  for (i = 0; i < N_SLOTS; i++)
    model.slots[i] = NONE;
  model.first = model.last = model.last_leading = model.last_before = NONE;
  model.newest_reference = NONE;
  model.decoder.is_known = FALSE;
  model.behind_p = model.closed = model.broken = FALSE;
}

static void
refer (Picture * picture, gint to)
{
  if (to == NONE)
    picture->misses = TRUE;
  else
    picture->references[picture->n_references++] = to;
}

static void
refer_leading (Picture * picture)
{
  refer (picture, model.first);
  if (model.last_leading != NONE)
    refer (picture, model.last_leading);
  if (model.broken)
    picture->misses = TRUE;
  else if (!model.closed)
    refer (picture, model.last_before);
}

static void
begin_gop (const Picture * picture, gint number)
{
  model.last_before = model.last;
  model.first = model.last = number;
  model.last_leading = NONE;
  model.behind_p = FALSE;
  model.closed = (picture->frame.flags & IFD_FRAME_CLOSED) != 0;
  model.broken = (picture->frame.flags & IFD_FRAME_BROKEN) != 0;
}

static void
place_by_slots (Picture * picture, gint number)
{
  guint i;

  for (i = 0; i < N_SLOTS; i++) {
    if (picture->frame.uses >> i & 1)
      refer (picture, model.slots[i]);
  }
  for (i = 0; i < N_SLOTS; i++) {
    if (picture->frame.updates >> i & 1)
      model.slots[i] = number;
  }
}

static void
place (Picture * picture, gint number)
{
  guint flags = picture->frame.flags;
  const gboolean has_slots = (flags & IFD_FRAME_SLOTS) != 0;

  /* A slot is a place in which a decoder stores a reference frame. A frame with
   * the flag IFD_FRAME_SLOTS says which slots it uses. If one frame has this
   * flag and the next frame has not, or the other way round, the codec has
   * changed. The decoder then has no reference frames any more. */
  if (has_slots != model.has_slots) {
    gint newest = model.newest_reference;

    begin_stream ();
    model.newest_reference = newest;
    model.codec++;
  }
  picture->codec = model.codec;
  model.has_slots = has_slots;
  if (has_slots) {
    place_by_slots (picture, number);
    return;
  }
  if (picture->frame.type == IFD_FRAME_I) {
    begin_gop (picture, number);
    return;
  }
  picture->leading = (flags & IFD_FRAME_LEADING)
      || (!(flags & IFD_FRAME_TRAILING) && picture->frame.type == IFD_FRAME_B
      && !model.behind_p);
  if (picture->leading)
    refer_leading (picture);
  else
    refer (picture, model.last);
  if (picture->frame.type != IFD_FRAME_P)
    return;
  if (picture->leading) {
    model.last_leading = number;
  } else {
    model.last = number;
    model.behind_p = TRUE;
  }
}

static gboolean
is_decodable (const Picture * picture)
{
  guint i;

  if ((model.began != model.receiver || model.began_codec != picture->codec)
      && picture->frame.type == IFD_FRAME_P
      && !picture->leading && (picture->frame.flags & IFD_FRAME_REFRESH))
    return TRUE;
  for (i = 0; i < picture->n_references; i++) {
    if (model.pictures[picture->references[i]].decoded_by != model.receiver)
      return FALSE;
  }
  return !picture->misses;
}

static void
remove_waiting (gint number)
{
  guint i;

  for (i = 0; i < model.n_w && model.w[i] != number; i++);
  fuzz_check (i < model.n_w);
  memmove (model.w + i, model.w + i + 1,
      (model.n_w - i - 1) * sizeof (model.w[0]));
  model.n_w--;
}

/* Copies the requested configuration `asked` to `config`, the configuration
 * that the model uses. Copies the algorithm only if `algorithm_too` is TRUE.
 * The caller passes TRUE when the core changes its algorithm: at a new I-frame,
 * or at any time as long as no frame has arrived and no receiver has connected
 * since the last flush. */
static void
set_force (gboolean algorithm_too)
{
  if (algorithm_too)
    model.config.algorithm = model.asked.algorithm;
  model.config.max_frames = 1;
  if (model.config.algorithm == IFD_ALGORITHM_GOP)
    model.config.max_frames = CLAMP (model.asked.max_frames, 1, IFD_MAX_FRAMES);
  model.mixed |= model.config.algorithm != IFD_ALGORITHM_GOP;
}

/* Returns whether the new frame `c` is an I-frame that replaces all frames in
 * W, the queue of waiting frames. This is the case if W is full and holds no
 * B-frame, and if a frame between the first and the last frame in W was
 * dropped. The dropped frame shows that the channel is too slow, so the frames
 * in W are late (see is_stale() in ifd.c). */
static gboolean
w_is_stale (const Picture * c)
{
  guint i;

  if (model.config.algorithm != IFD_ALGORITHM_GOP
      || c->frame.type != IFD_FRAME_I || model.n_w == 0
      || (c->frame.flags & IFD_FRAME_INCOMPLETE)
      || model.n_w < model.config.max_frames)
    return FALSE;
  for (i = 0; i < model.n_w; i++) {
    if (model.pictures[model.w[i]].frame.type == IFD_FRAME_B)
      return FALSE;
  }
  return model.w[model.n_w - 1] - model.w[0] + 1 > (gint) model.n_w;
}

static void
check_overwritten (const Picture * victim, const Picture * c)
{
  guint i;

  fuzz_check (c && victim != c);
  if (model.config.algorithm != IFD_ALGORITHM_GOP || model.w_is_stale
      || (c->frame.flags & IFD_FRAME_SLOTS))
    return;
  if (victim->frame.type == IFD_FRAME_I)
    fuzz_check (c->frame.type == IFD_FRAME_I);
  if (victim->frame.type == IFD_FRAME_P)
    fuzz_check (c->frame.type != IFD_FRAME_B);
  /* B-frames must be dropped before P-frames, and P-frames before I-frames.
   * Among B-frames, the largest must be dropped first. */
  for (i = 0; i < model.n_w; i++) {
    const IfdFrame *other = &model.pictures[model.w[i]].frame;

    fuzz_check (other->type <= victim->frame.type);
    if (victim->frame.type == IFD_FRAME_B && other->type == IFD_FRAME_B)
      fuzz_check (other->size <= victim->frame.size);
  }
}

/* Takes all events from IFD and checks them with the model. `c` is the index in
 * model.pictures of the frame whose arrival has caused the events. If no frame
 * has arrived, `c` is NONE. */
static void
take_events (gint c)
{
  IfdEvent event;

  while (ifd_poll_event (model.ifd, &event)) {
    gint number = GPOINTER_TO_INT (event.frame.user);
    Picture *picture = &model.pictures[number];

    fuzz_check (event.cause + 1 == model.n_in || model.n_in == 0);
    if (event.type == IFD_EVENT_STORED) {
      fuzz_check (number == c && picture->fate == FATE_NONE);
      picture->fate = FATE_WAITING;
      model.w[model.n_w++] = number;
      continue;
    }
    fuzz_check (picture->fate == (number == c ? FATE_NONE : FATE_WAITING));
    fuzz_check (event.reason < IFD_DROP_LAST);
    if (event.reason == IFD_DROP_OVERWRITTEN)
      check_overwritten (picture, c == NONE ? NULL : &model.pictures[c]);
    if (number != c)
      remove_waiting (number);
    picture->fate = FATE_DROPPED;
    model.n_dropped++;
  }
}

/* Makes `frame` a frame with slots: sets the flag IFD_FRAME_SLOTS, and reads
 * from the input which slots the frame uses and which it updates. (A slot
 * stores a reference frame in a decoder.) As slotuse.h requires, an I-frame
 * uses no slot, because it refers to no frame, and updates all slots. */
static void
take_slots (FuzzInput * orders, IfdFrame * frame)
{
  frame->flags &= ~(IFD_FRAME_LEADING | IFD_FRAME_TRAILING | IFD_FRAME_REFRESH);
  frame->flags |= IFD_FRAME_SLOTS;
  frame->order_range = frame->order = 0;
  frame->uses = fuzz_take_u8 (orders);
  frame->updates = fuzz_take_u8 (orders);
  frame->layer = fuzz_take_u8 (orders) % 4 - 1;
  if (frame->type == IFD_FRAME_I) {
    frame->uses = 0;
    frame->updates = G_MAXUINT32;
  } else if (frame->uses == 0) {
    frame->uses = 1;
  }
}

static void
input (FuzzInput * orders, guint what)
{
  gint number = model.n_pictures;
  guint before = model.n_w, flags;
  Picture *c = &model.pictures[number];

  if (model.n_pictures == MAX_PICTURES)
    return;
  memset (c, 0, sizeof (*c));
  c->frame.type = (what >> 3) % IFD_FRAME_LAST;
  flags = fuzz_take_u8 (orders);
  c->frame.flags = flags & 63;
  c->frame.size = fuzz_take_u8 (orders);
  c->frame.user = GINT_TO_POINTER (number);
  if (flags & FLAG_ORDER) {
    c->frame.order = c->frame.size % ORDER_RANGE;
    c->frame.order_range = ORDER_RANGE;
  }
  if (flags & FLAG_SLOTS)
    take_slots (orders, &c->frame);
  c->last_reference = model.newest_reference;
  if (c->frame.type != IFD_FRAME_B)
    model.newest_reference = number;
  place (c, number);
  model.n_pictures++;
  model.n_in++;
  model.begun = TRUE;
  set_force (c->frame.type == IFD_FRAME_I);
  model.w_is_stale = w_is_stale (c);
  ifd_input (model.ifd, model.n_in, &c->frame);
  take_events (number);
  fuzz_check (c->fate == FATE_WAITING || c->fate == FATE_DROPPED);
  fuzz_check (c->fate == FATE_DROPPED
      || !(c->frame.flags & IFD_FRAME_INCOMPLETE));
  fuzz_check (model.n_w <= MAX (before, model.config.max_frames));
}

static gint
get_msb (gint lsb)
{
  const Decoder *decoder = &model.decoder;

  if (lsb < decoder->prev_lsb && decoder->prev_lsb - lsb >= ORDER_RANGE / 2)
    return decoder->prev_msb + ORDER_RANGE;
  if (lsb > decoder->prev_lsb && lsb - decoder->prev_lsb > ORDER_RANGE / 2)
    return decoder->prev_msb - ORDER_RANGE;
  return decoder->prev_msb;
}

/* Checks that IFD sends an I-frame at the right time. In display order, an
 * I-frame usually follows all pictures that were sent before it. An I-frame is
 * misordered if it precedes, in display order, a picture that was sent before
 * it. A decoder would then show the I-frame too early. The algorithm `gop`
 * sends a misordered I-frame X in two cases only:
 * - The algorithm has also sent the latest I-frame or P-frame that arrived
 *   before X.
 * - Before X arrived, the algorithm dropped other misordered I-frames, and
 *   waited in vain for an I-frame in the right order. The field `order` of a
 *   frame contains the lower bits of its position in display order. The wait
 *   ends when an I-frame has the same value in `order` as the first dropped
 *   I-frame, but at the latest after IFD_MAX_ORDER_WAIT frames. If X is the
 *   I-frame that ends the wait, the algorithm sends X and counts it in
 *   gops_misordered.
 *
 * Other algorithms do not guarantee this. The check is left out if another
 * algorithm was in use since the last flush. */
static void
check_order (const Picture * picture, gint order)
{
  const IfdFrame *frame = &picture->frame;
  IfdStats stats;

  if (frame->type != IFD_FRAME_I || order > model.decoder.max
      || picture->last_reference == model.decoder.last_reference)
    return;
  ifd_get_stats (model.ifd, &stats);
  fuzz_check (model.mixed || stats.gops_misordered > 0);
}

static void
decode_order (const Picture * picture, gint number)
{
  Decoder *decoder = &model.decoder;
  const IfdFrame *frame = &picture->frame;
  gboolean is_reference = frame->type != IFD_FRAME_B;
  gboolean begins = is_reference && (!decoder->is_known
      || (frame->flags & IFD_FRAME_CLOSED));
  gint lsb = frame->order, msb = 0;

  if (frame->order_range == 0) {
    decoder->is_known &= !is_reference;
  } else if (begins) {
    decoder->max = lsb;
    decoder->is_known = TRUE;
  } else if (decoder->is_known) {
    msb = get_msb (lsb);
    check_order (picture, msb + lsb);
    decoder->max = MAX (decoder->max, msb + lsb);
  }
  if (!is_reference)
    return;
  decoder->last_reference = number;
  decoder->prev_msb = msb;
  decoder->prev_lsb = lsb;
}

static void
send (void)
{
  IfdFrame frame;
  Picture *picture;
  gint next = model.n_w > 0 ? model.w[0] : NONE;

  if (model.s != NONE) {
    fuzz_check (!ifd_poll_output (model.ifd, model.n_in, &frame));
    ifd_sent (model.ifd, model.n_in);
    model.pictures[model.s].fate = FATE_SENT;
    model.n_sent++;
    model.s = NONE;
  }
  fuzz_check (ifd_peek_output (model.ifd, &frame) == (next != NONE));
  fuzz_check (ifd_poll_output (model.ifd, model.n_in, &frame)
      == (next != NONE));
  if (next == NONE)
    return;
  fuzz_check (GPOINTER_TO_INT (frame.user) == next);
  remove_waiting (next);
  picture = &model.pictures[next];
  picture->fate = FATE_SENDING;
  model.s = next;
  decode_order (picture, next);
  if (is_decodable (picture)) {
    picture->decoded_by = model.began = model.receiver;
    model.began_codec = picture->codec;
  } else {
    fuzz_check (model.mixed);
  }
}

static void
flush (void)
{
  IfdFrame frame;

  while (ifd_flush (model.ifd, &frame)) {
    gint number = GPOINTER_TO_INT (frame.user);

    fuzz_check (model.n_w > 0 && model.w[0] == number);
    remove_waiting (number);
    model.pictures[number].fate = FATE_FLUSHED;
    model.n_flushed++;
  }
  fuzz_check (model.n_w == 0);
  model.n_flushed += model.s != NONE;
  if (model.s != NONE)
    model.pictures[model.s].fate = FATE_FLUSHED;
  model.s = NONE;
  model.receiver++;
  model.begun = model.mixed = FALSE;
  set_force (TRUE);
  begin_stream ();
  take_events (NONE);
}

static void
configure (guint algorithm, guint max_frames)
{
  model.asked.algorithm = algorithm % (IFD_ALGORITHM_GOP + 1);
  model.asked.max_frames = max_frames;
  if (model.ifd)
    ifd_set_config (model.ifd, &model.asked);
  else
    model.ifd = ifd_new (&model.asked);
  set_force (!model.begun);
}

static void
check_counters (void)
{
  guint64 in = 0, sent = 0, dropped = 0;
  guint type, reason;
  IfdStats stats;

  ifd_get_stats (model.ifd, &stats);
  for (type = 0; type < IFD_FRAME_LAST; type++) {
    in += stats.in[type];
    sent += stats.sent[type];
    for (reason = 0; reason < IFD_DROP_LAST; reason++)
      dropped += stats.dropped[type][reason];
  }
  fuzz_check (in == model.n_in && sent == model.n_sent);
  fuzz_check (dropped == model.n_dropped && stats.flushed == model.n_flushed);
  fuzz_check (stats.waiting == model.n_w);
  fuzz_check (in == sent + dropped + stats.flushed + stats.waiting
      + (model.s != NONE));
  fuzz_check (stats.gops_disturbed <= stats.gops);
}

static void
do_order (FuzzInput * orders)
{
  guint what = fuzz_take_u8 (orders);

  switch (what & 7) {
    case 4:
    case 5:
      send ();
      break;
    case 6:
      configure (what >> 5, fuzz_take_u8 (orders));
      break;
    case 7:
      if (what & 8) {
        flush ();
      } else {
        model.receiver++;
        model.decoder.is_known = FALSE;
        model.begun = TRUE;
        ifd_restart (model.ifd);
        take_events (NONE);
      }
      break;
    default:
      input (orders, what);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput orders = { data, size };
  guint algorithm = fuzz_take_u8 (&orders);

  model.ifd = NULL;
  model.n_pictures = model.n_w = 0;
  model.has_slots = FALSE;
  model.codec = model.began_codec = 0;
  model.n_in = model.n_sent = model.n_dropped = model.n_flushed = 0;
  model.s = NONE;
  model.mixed = FALSE;
  model.receiver = 1;
  model.began = 0;
  begin_stream ();
  configure (algorithm, fuzz_take_u8 (&orders));
  while (orders.size > 0)
    do_order (&orders);
  check_counters ();
  flush ();
  check_counters ();
  ifd_free (model.ifd);
  return 0;
}
