/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of linkdelivery.h: a link that can send only at certain times.
 * A recorded trace or a model of a cellular link determines these times. */

#include "linkdelivery.h"

#include <string.h>


struct _LinkDelivery
{
  GArray *times;                /* guint64 in ms */
  /* Duration of the trace in ms: the time of its last opportunity to send.
   * After this time, the trace is replayed from its beginning. */
  guint64 period;
  /* how many times the trace has been replayed completely so far */
  guint64 round;
  /* index in `times` of the next time at which the link can send */
  guint next;
  /* Cellular model that determines the times at which the link can send. NULL =
   * a trace determines them. */
  LinkWander *wander;
  /* An opportunity is a time at which the link can send up to 1500 bytes. This
   * field is the time in ns of the last opportunity at which a packet was sent.
   */
  guint64 open_at;
  /* Number of bytes that can still be sent at the opportunity whose time is
   * `open_at`. At each opportunity, the link can send up to 1500 bytes. */
  guint left;
};

static gboolean
parse_line (LinkDelivery * delivery, const gchar * line, guint number,
    GError ** error)
{
  gchar *end;
  guint64 time, last = delivery->period;

  while (g_ascii_isspace (*line))
    line++;
  if (*line == '\0' || *line == '#')
    return TRUE;
  time = g_ascii_strtoull (line, &end, 10);
  while (g_ascii_isspace (*end))
    end++;
  if (end == line || !g_ascii_isdigit (*line) || (*end && *end != '#')) {
    g_set_error (error, LINK_ERROR, LINK_ERROR_SYNTAX, "line %u of the delivery"
        " trace is \"%.40s\", not a time in ms such as 120. Correct the line, "
        "or set another file", number, line);
    return FALSE;
  }
  if (time < last || time > G_MAXUINT32) {
    g_set_error (error, LINK_ERROR, LINK_ERROR_SYNTAX, "line %u of the delivery"
        " trace: %" G_GUINT64_FORMAT " ms is not between %" G_GUINT64_FORMAT
        " and %u. Correct the line, or set another file", number, time, last,
        G_MAXUINT32);
    return FALSE;
  }
  g_array_append_val (delivery->times, time);
  delivery->period = time;
  return TRUE;
}

LinkDelivery *
link_delivery_parse (const gchar * text, GError ** error)
{
  LinkDelivery *delivery = g_new0 (LinkDelivery, 1);
  guint number = 0;

  delivery->times = g_array_new (FALSE, FALSE, sizeof (guint64));
  while (text && *text) {
    gsize length = strcspn (text, "\r\n");
    gchar *line = g_strndup (text, length);
    gboolean right = parse_line (delivery, line, ++number, error);

    g_free (line);
    if (!right) {
      link_delivery_free (delivery);
      return NULL;
    }
    text += length;
    if (*text == '\r' && text[1] == '\n')
      text++;
    if (*text)
      text++;
  }
  if (delivery->period == 0) {
    g_set_error (error, LINK_ERROR, LINK_ERROR_EMPTY,
        "the delivery trace has no time after 0 ms: add a line with a later "
        "time");
    link_delivery_free (delivery);
    return NULL;
  }
  return delivery;
}

LinkDelivery *
link_delivery_new_wander (LinkWander * wander)
{
  LinkDelivery *delivery = g_new0 (LinkDelivery, 1);

  delivery->wander = wander;
  return delivery;
}

void
link_delivery_free (LinkDelivery * delivery)
{
  g_clear_pointer (&delivery->times, g_array_unref);
  g_clear_pointer (&delivery->wander, link_wander_free);
  g_free (delivery);
}

static guint64
get_time (const LinkDelivery * delivery)
{
  if (delivery->wander)
    return link_wander_get_time (delivery->wander);
  return (delivery->round * delivery->period +
      g_array_index (delivery->times, guint64, delivery->next)) * LINK_MS;
}

static void
step (LinkDelivery * delivery)
{
  if (delivery->wander) {
    link_wander_step (delivery->wander);
  } else if (++delivery->next == delivery->times->len) {
    delivery->next = 0;
    delivery->round++;
  }
}

/* Advances `delivery` to its first opportunity to send at or after `time`. The
 * opportunities before `time` stay unused. */
static void
skip_to (LinkDelivery * delivery, guint64 time)
{
  guint64 round;

  if (delivery->wander) {
    link_wander_skip_to (delivery->wander, time);
    return;
  }
  round = time / (delivery->period * LINK_MS);
  if (round > delivery->round + 1) {
    delivery->round = round - 1;
    delivery->next = 0;
  }
  while (get_time (delivery) < time)
    step (delivery);
}

guint64
link_delivery_send (LinkDelivery * delivery, LinkOnOff * outage, guint64 time,
    guint64 bytes)
{
  if (time > delivery->open_at)
    delivery->left = 0;
  while (bytes > delivery->left) {
    bytes -= delivery->left;
    skip_to (delivery, time);
    while (link_on_off_is_bad (outage, get_time (delivery)))
      skip_to (delivery, link_on_off_end (outage, get_time (delivery)));
    delivery->open_at = get_time (delivery);
    delivery->left = LINK_DELIVERY_BYTES;
    step (delivery);
    time = MAX (time, delivery->open_at);
  }
  delivery->left -= bytes;
  return MAX (time, delivery->open_at);
}
