/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes traces of delivery opportunities, which are the only times at which a
 * link can send. The text of a trace must be accepted, or refused with a
 * reason. Packets must leave the link at the times that a simple model
 * computes. No packet may leave earlier than the previous one.
 *
 * The input consists of:
 * - the mean time between two outages (one byte)
 * - the mean duration of an outage (one byte)
 * - N_SENDS entries of three bytes each. An entry describes one packet: the
 *   pause before the packet is sent (one byte), and its size (two bytes).
 * - the text of the trace
 *
 * A byte that contains a time consists of a mantissa and a power of ten.
 */

#include "fuzz.h"
#include "linkdelivery.h"

#define N_SENDS 32
#define CONTROL_SIZE (2 + 3 * N_SENDS)
/* Maximum packet size in bytes. LinkDelivery accepts packets of up to 4 GB, but
 * for such a packet the model would have to simulate 3 million delivery
 * opportunities. */
#define MAX_BYTES 65535
/* 30 years in ns; no run of a link takes so long. */
#define MAX_TIME G_GUINT64_CONSTANT (1000000000000000000)
/* Maximum number of delivery opportunities that the model simulates. It is
 * limited because the model simulates them one by one. */
#define MAX_MODEL_STEPS 20000

/* A simple model of a link that can send only at certain times, its delivery
 * opportunities. It simulates these opportunities one after the other. */
typedef struct
{
  GArray *times;                /* Items are guint64, in ms. */
  LinkOnOff outage;
  /* The link can send only at certain times, its delivery opportunities. This
   * is the number of the current opportunity, counted from 1. */
  guint64 number;
  guint left;
  guint steps;
} Model;

static gboolean
model_init (Model * model, const gchar * text)
{
  gchar **lines = g_strsplit_set (text, "\r\n", -1);
  guint i;

  memset (model, 0, sizeof (*model));
  model->times = g_array_new (FALSE, FALSE, sizeof (guint64));
  for (i = 0; lines[i]; i++) {
    guint64 time;
    gchar *comment = strchr (lines[i], '#');

    if (comment)
      *comment = '\0';
    g_strstrip (lines[i]);
    if (*lines[i] == '\0')
      continue;
    if (!g_ascii_string_to_unsigned (lines[i], 10, 0, G_MAXUINT32, &time, NULL))
      break;
    g_array_append_val (model->times, time);
  }
  i = g_strv_length (lines) - i;
  g_strfreev (lines);
  return i == 0 && model->times->len > 0;
}

static guint64
model_get (const Model * model, guint64 number)
{
  guint64 n = model->times->len, i = number - 1;

  return (i / n * g_array_index (model->times, guint64, n - 1) +
      g_array_index (model->times, guint64, i % n)) * LINK_MS;
}

/* Simulates that `bytes` bytes are sent at the time `time`. Sets `end` to the
 * time at which the transmission ends. Returns FALSE if the model needs more
 * than MAX_MODEL_STEPS delivery opportunities. */
static gboolean
model_send (Model * model, guint64 time, guint64 bytes, guint64 * end)
{
  *end = time;
  if (model->number > 0 && time <= model_get (model, model->number))
    *end = model_get (model, model->number);
  else
    model->left = 0;
  while (bytes > model->left) {
    bytes -= model->left;
    do {
      model->number++;
      if (++model->steps > MAX_MODEL_STEPS)
        return FALSE;
    } while (model_get (model, model->number) < time
        || link_on_off_is_bad (&model->outage,
            model_get (model, model->number)));
    model->left = LINK_DELIVERY_BYTES;
    *end = model_get (model, model->number);
  }
  model->left -= bytes;
  return TRUE;
}

/* Returns a time in ns: a number from 0 to 15, multiplied by a power of ten.
 * The power of ten is at most 10^15 ns, which is more than a week. */
static guint64
take_time (FuzzInput * input)
{
  guint choice = fuzz_take_u8 (input), exponent = choice >> 4;
  guint64 time = choice & 15;

  while (exponent-- > 0)
    time *= 10;
  return time;
}

/* Reads the outages from the input, and limits their lengths. During an outage,
 * the link sends nothing. Outside the outages, the link can send only at
 * certain times, its delivery opportunities. The limits avoid two cases in
 * which the test would take too much time:
 *
 * - If outages were very long, nearly all opportunities could be in outages. To
 *   find an opportunity outside the outages, the model would have to go through
 *   the opportunities of years.
 * - If outages were very short, very many outages would end before the next
 *   opportunity. The link simulates each of them. */
static void
take_outage (FuzzInput * input, LinkOnOff * outage)
{
  guint64 good = take_time (input), bad = take_time (input);
  LinkOnOffConfig config = { 0, 0 };

  if (good > 0 && bad > 0) {
    config.mean_good = CLAMP (good, 1000 * LINK_SECOND, MAX_TIME / 1000);
    config.mean_bad = CLAMP (bad, LINK_MS, 1000 * LINK_SECOND);
  }
  link_on_off_init (outage, &config, 0, good, 0, 0);
}

/* Returns the time at which the simulation ends. With outages, it ends after
 * little more than an hour. The link simulates outages one by one, so a longer
 * simulation would take too much time. */
static guint64
get_end (const LinkOnOff * outage)
{
  return outage->mean[1] ? 4000 * LINK_SECOND : MAX_TIME;
}

static void
check_sends (LinkDelivery * delivery, Model * model, FuzzInput * input)
{
  guint64 now = 0, last = 0, expected;
  gboolean known = TRUE;
  LinkOnOff outage;
  guint i;

  take_outage (input, &outage);
  model->outage = outage;
  for (i = 0; i < N_SENDS; i++) {
    guint64 end, bytes, pause = take_time (input);

    now = MIN (now + pause, get_end (&outage));
    /* Before the transmission of a packet with an odd index, the test waits
     * until the transmission of the previous packet has ended. The transmitter
     * of a real link does this for all packets. */
    if (i & 1)
      now = MIN (MAX (now, last), get_end (&outage));
    bytes = fuzz_take_u16 (input);
    g_assert (bytes <= MAX_BYTES);
    end = link_delivery_send (delivery, &outage, now, bytes);
    fuzz_check (end >= now && end >= last);
    known = known && model_send (model, now, bytes, &expected);
    if (known && bytes > 0)
      fuzz_check (end == expected);
    last = end;
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  GError *error = NULL;
  LinkDelivery *delivery;
  gboolean right;
  gchar *text;
  Model model;

  if (size < CONTROL_SIZE)
    return 0;
  text = g_strndup ((const gchar *) data + CONTROL_SIZE, size - CONTROL_SIZE);
  delivery = link_delivery_parse (text, &error);
  fuzz_check (!delivery == !!error);
  right = model_init (&model, text);
  if (delivery) {
    fuzz_check (right);
    check_sends (delivery, &model, &input);
    link_delivery_free (delivery);
  } else {
    fuzz_check (error->domain == LINK_ERROR && *error->message);
  }
  g_clear_error (&error);
  g_array_unref (model.times);
  g_free (text);
  return 0;
}
