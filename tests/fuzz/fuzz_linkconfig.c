/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the configuration of a link: the text of `interference`, traces of
 * radio blocks, and the values of numeric fields. A configuration must either
 * be refused with a reason or work.
 *
 * The first byte of the input selects what is tested. For `interference` and
 * for traces, the rest of the input is the text. For numeric fields, the next
 * two bytes select a profile and a quality. Then pairs follow until the input
 * ends. Each pair is the index of a field and its new value. The value has
 * eight bytes, or it is a small number multiplied by a power of ten. */

#include "fuzzlink.h"

typedef enum
{
  INPUT_INTERFERENCE,
  INPUT_BLOCKS,
  INPUT_NUMBERS,
  INPUT_LAST
} InputType;

#define N_PACKETS 12
#define MAX_WAKEUPS 2000

static void
check_error (GError * error)
{
  fuzz_check (error && error->domain == LINK_ERROR && *error->message);
  g_error_free (error);
}

static gchar *
take_text (const FuzzInput * input)
{
  return g_strndup ((const gchar *) input->data, input->size);
}

/* Simulates a link with the configuration `config`, and sends N_PACKETS packets
 * over it, alternately in both directions. Handles at most MAX_WAKEUPS wakeups
 * of the link, so that the run stays short. */
static void
run_shortly (const LinkConfig * config)
{
  GError *error = NULL;
  FuzzRun *run = fuzz_run_new (config, &error);
  guint64 wakeup;
  guint i;

  fuzz_check (!run == !!error);
  if (!run) {
    check_error (error);
    return;
  }
  fuzz_run_add_flow (run, 0);
  fuzz_run_add_flow (run, 1);
  for (i = 0; i < N_PACKETS; i++)
    fuzz_run_input (run, i * LINK_MS, i & 1, i * 130);
  for (i = 0; i < MAX_WAKEUPS; i++) {
    wakeup = link_next_wakeup (run->link);
    if (wakeup == LINK_NEVER || fuzz_run_count_inside (run) == 0)
      break;
    fuzz_run_advance (run, wakeup);
    fuzz_run_poll (run);
  }
  fuzz_run_free (run);
}

/* --- interference --------------------------------------------------------- */

static gboolean
same_oven (const LinkOvenConfig * a, const LinkOvenConfig * b)
{
  return a->always == b->always && a->n_windows == b->n_windows
      && memcmp (a->windows, b->windows, a->n_windows * sizeof (LinkWindow))
      == 0;
}

/* Writes the periods in which interference disturbs the link as text, in the
 * format in which the user configures them. The times have a precision of 1
 * ns. */
static gchar *
write_windows (const LinkOvenConfig * oven)
{
  GString *text = g_string_new (NULL);
  guint i;

  for (i = 0; i < oven->n_windows; i++) {
    const LinkWindow *window = &oven->windows[i];

    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT ".%09u-%"
        G_GUINT64_FORMAT ".%09u", i ? "," : "", window->begin / LINK_SECOND,
        (guint) (window->begin % LINK_SECOND), window->end / LINK_SECOND,
        (guint) (window->end % LINK_SECOND));
  }
  return g_string_free (text, FALSE);
}

/* Returns whether the times of all periods of interference stay the same if
 * they are written as text and parsed again. This is the case if they are below
 * 10^15 ns. The parser reads times as doubles, which are exact to 1 ns only
 * below this limit. */
static gboolean
is_exact (const LinkOvenConfig * oven)
{
  return oven->n_windows == 0 || oven->windows[oven->n_windows - 1].end <
      G_GUINT64_CONSTANT (1000000000000000);
}

static void
check_windows (const LinkOvenConfig * oven)
{
  guint i;

  fuzz_check (!oven->always || oven->n_windows == 0);
  fuzz_check (oven->n_windows <= LINK_MAX_WINDOWS);
  for (i = 0; i < oven->n_windows; i++) {
    fuzz_check (oven->windows[i].begin < oven->windows[i].end);
    fuzz_check (i == 0 || oven->windows[i - 1].end <= oven->windows[i].begin);
  }
}

static void
check_interference (const gchar * text)
{
  LinkConfig config, again;
  GError *error = NULL;
  gchar *written;

  link_config_init (&config, LINK_PROFILE_80211B, LINK_QUALITY_GOOD);
  if (!link_config_parse_interference (&config, text, &error)) {
    check_error (error);
    return;
  }
  fuzz_check (!error);
  check_windows (&config.oven);
  fuzz_check (link_config_check (&config, NULL));
  written = config.oven.always ? g_strdup ("always") :
      write_windows (&config.oven);
  again = config;
  fuzz_check (link_config_parse_interference (&again, written, NULL));
  fuzz_check (!is_exact (&config.oven)
      || same_oven (&config.oven, &again.oven));
  g_free (written);
  run_shortly (&config);
}

/* --- traces of blocks ----------------------------------------------------- */

/* Returns whether the text is a valid trace of radio blocks. A valid trace
 * contains at least one block. A block is '0' if it comes through, or '1' if it
 * is damaged. All other characters are white space or belong to comments. */
static gboolean
is_trace (const gchar * text)
{
  guint blocks = 0;

  for (; *text; text++) {
    if (*text == '#')
      text += strcspn (text, "\n");
    if (*text == '\0')
      break;
    if (!strchr ("01 \t\n\r\f", *text))
      return FALSE;
    blocks += *text == '0' || *text == '1';
  }
  return blocks > 0;
}

static void
check_trace (const gchar * text, guint profile, gboolean down)
{
  GError *error = NULL;
  LinkConfig config;
  Link *link;

  link_config_init (&config, profile & 1 ? LINK_PROFILE_GSM :
      LINK_PROFILE_GSM_TRANSPARENT, LINK_QUALITY_GOOD);
  config.blocks.trace = down ? "0" : text;
  config.blocks.trace_down = down ? text : NULL;
  link = link_new (&config, &error);
  fuzz_check (!link == !is_trace (text));
  fuzz_check (!link == !!error);
  if (!link) {
    check_error (error);
    return;
  }
  link_free (link, NULL);
  run_shortly (&config);
}

/* --- numbers -------------------------------------------------------------- */

static void
take_field (FuzzInput * input, LinkConfig * config)
{
  guint which = fuzz_take_u8 (input);
  guint64 number;
  gdouble chance;

  if (which & 128) {
    number = fuzz_take_magnitude (input);
    chance = number / (gdouble) G_GUINT64_CONSTANT (1000000000000);
  } else {
    number = (guint64) fuzz_take_u32 (input) << 32;
    number |= fuzz_take_u32 (input);
    memcpy (&chance, &number, sizeof (chance));
  }
  fuzz_set_field (config, &fuzz_fields[(which & 127) %
          fuzz_n_fields], number, chance);
}

static void
check_numbers (FuzzInput * input)
{
  guint profile = fuzz_take_u8 (input) % link_profile_get_number ();
  LinkQuality quality = fuzz_take_u8 (input) % 3;
  GError *error = NULL;
  LinkConfig config;

  link_config_init (&config, profile, quality);
  while (input->size > 0)
    take_field (input, &config);
  /* The rate is at least 1000 bit/s. At a lower rate, a link could need days to
   * send a packet. Some links also wake up every ms during this time, so the
   * run would take too long. */
  config.pipe.rate[0] = MAX (config.pipe.rate[0], 1000);
  config.pipe.rate[1] = MAX (config.pipe.rate[1], 1000);
  if (link_config_check (&config, &error)) {
    fuzz_check (!error);
    run_shortly (&config);
    return;
  }
  check_error (error);
  fuzz_check (!link_new (&config, NULL));
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  guint choice = fuzz_take_u8 (&input);
  gchar *text;

  if (choice % INPUT_LAST == INPUT_NUMBERS) {
    check_numbers (&input);
    return 0;
  }
  text = take_text (&input);
  if (choice % INPUT_LAST == INPUT_INTERFERENCE)
    check_interference (text);
  else
    check_trace (text, choice >> 4, choice >> 5 & 1);
  g_free (text);
  return 0;
}
