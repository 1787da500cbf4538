/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Feature negotiation of the Thin profile (docs/dccp-thin.md), as declared in
 * dccpfeatures.h. Sections are those of RFC 4340. Each feature is negotiated
 * separately for the two feature locations: this endpoint and the peer. For
 * each feature and feature location, the table lists the values that we accept,
 * in the order of our preference.
 */

#include "dccpfeatures.h"

#include <string.h>

#define MILLISECONDS G_GUINT64_CONSTANT (1000000)       /* ns */
#define SECONDS (1000 * MILLISECONDS)

#define MIN_SEQUENCE_WINDOW 32  /* section 7.5.2 */
#define MAX_SEQUENCE_WINDOW ((G_GUINT64_CONSTANT (1) << 46) - 1)
#define MAX_COVERAGE 15

/* Minimum and maximum time in ns after which a Change, the request for a
 * feature value, is retransmitted. This time must not be shorter than a round
 * trip (section 6.6.3). As long as the round-trip time is unknown, it is
 * assumed to be 0.2 s (section 3.4). If the round-trip time turns out to be
 * shorter, the minimum is still 0.2 s, in order to send fewer packets. */
#define MIN_RETRANSMISSION (200 * MILLISECONDS)
#define MAX_RETRANSMISSION (64 * SECONDS)

/* Maximum number of values in a preference list. The limit also applies to the
 * list of CCIDs. */
#define MAX_PREFERENCES 16
#define N_NUMBERS 256

enum
{
  /* The feature location, which is the endpoint whose feature is negotiated
   * (RFC 4340 section 6), is the peer. */
  REMOTE,
  LOCAL,
  N_SIDES
};

typedef struct
{
  guint8 n;
  guint8 values[2];
} Preferences;

typedef struct
{
  guint8 number;
  /* TRUE: the feature is non-negotiable (section 6.3.2). FALSE: its value is
   * chosen by the server-priority rule (section 6.3.1). */
  gboolean is_non_negotiable;
  gsize size;                   /* size of a value in bytes */
  /* TRUE if every endpoint must understand the feature (section 6.4) */
  gboolean is_required;
  guint64 initial;
  Preferences preferences[N_SIDES];
} Rule;

#define SERVER_PRIORITY FALSE, 1
#define NON_NEGOTIABLE TRUE

/* The features of section 6.4, table 4. docs/dccp-thin.md explains which values
 * we accept. */
static const Rule base_rules[] = {
  {DCCP_FEATURE_CCID, SERVER_PRIORITY, TRUE, 2,},       /* see below */
  {DCCP_FEATURE_SHORT_SEQUENCE, SERVER_PRIORITY, TRUE, 0,
      {{1, {0}}, {1, {0}}}},
  {DCCP_FEATURE_SEQUENCE_WINDOW, NON_NEGOTIABLE, 6, TRUE, 100,},
  {DCCP_FEATURE_ECN_INCAPABLE, SERVER_PRIORITY, FALSE, 0,
      {{2, {0, 1}}, {1, {1}}}},
  {DCCP_FEATURE_ACK_RATIO, NON_NEGOTIABLE, 2, FALSE, 2,},
  {DCCP_FEATURE_SEND_ACK_VECTOR, SERVER_PRIORITY, FALSE, 0,
      {{1, {0}}, {1, {0}}}},
  {DCCP_FEATURE_SEND_NDP_COUNT, SERVER_PRIORITY, FALSE, 0,
      {{2, {0, 1}}, {2, {0, 1}}}},
  {DCCP_FEATURE_MIN_COVERAGE, SERVER_PRIORITY, FALSE, 0,},      /* see below */
  {DCCP_FEATURE_CHECK_DATA_CHECKSUM, SERVER_PRIORITY, FALSE, 0,
      {{1, {0}}, {1, {0}}}},
};

#define N_BASE_RULES G_N_ELEMENTS (base_rules)
/* Maximum number of features in the table of known features. The table begins
 * with base_rules. The features of the congestion controls (CCIDs) follow. If
 * the table is full, further features are treated as unknown. */
#define MAX_RULES (N_BASE_RULES + 4 * DCCP_CCID_MAX_FEATURES)

typedef enum
{
  STABLE,
  /* No negotiation of the feature is running yet, but the next packet has to
   * carry a Change for it. */
  WANTED,
  CHANGING
} State;

typedef enum
{
  OWES_NOTHING,
  OWES_CONFIRM,
  OWES_EMPTY_CONFIRM
} Owed;

typedef struct
{
  guint64 value;
  guint8 preferences[MAX_PREFERENCES];
  gsize n_preferences;
  /* value that we want for a non-negotiable feature */
  guint64 wanted;
  State state;
  gboolean is_mandatory;        /* Mandatory precedes our Change option. */
  /* `owed` is the Confirm that has to be sent next. `said` is the Confirm that
   * was sent last. */
  Owed owed, said;
  /* `due` is the time of the next retransmission of the Change. `interval` is
   * the time between that retransmission and the one after it. Both are in ns.
   */
  guint64 due, interval;
} Feature;

struct _DccpFeatures
{
  gboolean is_server;
  Rule rules[MAX_RULES];
  guint n_rules;
  Feature features[MAX_RULES][N_SIDES];
  /* Bit masks of the feature numbers that the peer has named in a Change and
   * that we do not know. We owe an empty Confirm for each of them. */
  guint32 unknown[N_SIDES][N_NUMBERS / 32];
  gboolean owes_unknown;
  gboolean is_received_known;   /* FGSR is known */
  guint64 fgsr, fgss;           /* section 6.6.4 */
  /* TRUE while a packet with feature options is processed */
  gboolean is_negotiating;
  /* Sequence number of the packet that is being processed. When all its options
   * have been processed, this number becomes FGSR, the greatest sequence number
   * of a received packet with feature options (section 6.6.4). */
  guint64 negotiating;
  guint64 round_trip;           /* ns, 0: unknown */
};

static const guint8 change_types[N_SIDES] = {
  DCCP_OPTION_CHANGE_R, DCCP_OPTION_CHANGE_L
};

static const guint8 confirm_types[N_SIDES] = {
  DCCP_OPTION_CONFIRM_R, DCCP_OPTION_CONFIRM_L
};

static gint
find_rule (const DccpFeatures * self, guint8 number)
{
  guint i;

  for (i = 0; i < self->n_rules; i++)
    if (self->rules[i].number == number)
      return i;
  return -1;
}

/* --- preferences ---------------------------------------------------------- */

static Feature *
get_feature (DccpFeatures * self, guint8 number, gint side)
{
  return &self->features[find_rule (self, number)][side];
}

static void
want (DccpFeatures * self, guint8 number, gint side, gboolean mandatory)
{
  Feature *feature = get_feature (self, number, side);

  feature->state = WANTED;
  feature->is_mandatory = mandatory;
}

/* Adds the values from `first` to `last` to the list of preferences. If `first`
 * is greater than `last`, the values are added in decreasing order (section
 * 9.2.1). */
static void
add_preferences (Feature * self, guint first, guint last)
{
  const gint step = first <= last ? 1 : -1;
  guint value;

  for (value = first;; value += step) {
    self->preferences[self->n_preferences++] = value;
    if (value == last)
      return;
  }
}

/* Sets the preferences of a receiver for the feature Minimum Checksum Coverage.
 * The minimum coverage that we want comes first. The greater coverages follow,
 * in increasing order. The value 0 is last and means that the checksum covers
 * all bytes. */
static void
prefer_received_coverage (Feature * self, guint8 coverage)
{
  if (coverage > 0)
    add_preferences (self, coverage, MAX_COVERAGE);
  add_preferences (self, 0, 0);
}

/* Sets the preferences of a sender for the feature Minimum Checksum Coverage
 * (section 9.2.1). With the values from `coverage` down to 1, the peer allows
 * our coverage, so these values come first. They begin with the greatest one,
 * because the peer most likely accepts it. The value 0 and the values above
 * `coverage` come last, because our checksum must then cover the whole packet.
 */
static void
prefer_sent_coverage (Feature * self, guint8 coverage)
{
  if (coverage > 0)
    add_preferences (self, coverage, 1);
  add_preferences (self, 0, 0);
  if (coverage < MAX_COVERAGE)
    add_preferences (self, coverage + 1, MAX_COVERAGE);
}

static void
set_preferences (Feature * self, const Preferences * preferences)
{
  guint i;

  for (i = 0; i < preferences->n; i++)
    self->preferences[self->n_preferences++] = preferences->values[i];
}

/* Adds the features of a congestion control to the table of known features.
 * Both endpoints may switch these features on and off. */
static void
add_ccid_rules (DccpFeatures * self, const DccpCcid * ccid)
{
  Rule rule = { 0, SERVER_PRIORITY, FALSE, 0, {{2, {1, 0}}, {2, {1, 0}}} };
  guint i;

  for (i = 0; i < DCCP_CCID_MAX_FEATURES && ccid->features[i] != 0; i++) {
    rule.number = ccid->features[i];
    if (find_rule (self, rule.number) < 0 && self->n_rules < MAX_RULES)
      self->rules[self->n_rules++] = rule;
  }
}

/* Adds the CCIDs to our preferences for the feature CCID, in the order of
 * `ccids` (section 10). The endpoint then sends a Change for the feature CCID
 * and, at the same time, for the features of the first CCID. It does not wait
 * until the peer has accepted the first CCID, because the peer nearly always
 * accepts it. */
static void
prefer_ccids (DccpFeatures * self, const DccpCcid * const *ccids)
{
  Feature *local = get_feature (self, DCCP_FEATURE_CCID, LOCAL);
  Feature *remote = get_feature (self, DCCP_FEATURE_CCID, REMOTE);
  const guint8 *features = ccids[0]->features;
  guint i;

  for (i = 0; i < MAX_PREFERENCES && ccids[i]; i++) {
    add_preferences (local, ccids[i]->number, ccids[i]->number);
    add_preferences (remote, ccids[i]->number, ccids[i]->number);
  }
  want (self, DCCP_FEATURE_CCID, LOCAL, TRUE);
  want (self, DCCP_FEATURE_CCID, REMOTE, TRUE);
  for (i = 0; i < DCCP_CCID_MAX_FEATURES && features[i] != 0; i++)
    want (self, features[i], REMOTE, FALSE);
}

static void
want_profile (DccpFeatures * self, const DccpFeaturesConfig * config)
{
  want (self, DCCP_FEATURE_SEQUENCE_WINDOW, LOCAL, FALSE);
  get_feature (self, DCCP_FEATURE_SEQUENCE_WINDOW, LOCAL)->wanted =
      config->sequence_window;
  /* Section 12.1: an endpoint that cannot read the ECN bits must announce this.
   */
  want (self, DCCP_FEATURE_ECN_INCAPABLE, LOCAL, TRUE);
  if (config->min_coverage > 0)
    want (self, DCCP_FEATURE_MIN_COVERAGE, LOCAL, FALSE);
  if (config->coverage > 0)
    want (self, DCCP_FEATURE_MIN_COVERAGE, REMOTE, FALSE);
}

DccpFeatures *
dccp_features_new (const DccpFeaturesConfig * config)
{
  const DccpCcid *const *ccids = config->ccids ? config->ccids : dccp_ccids;
  DccpFeatures *self;
  guint i, side;

  g_return_val_if_fail (ccids[0] != NULL, NULL);
  g_return_val_if_fail (config->sequence_window >= MIN_SEQUENCE_WINDOW
      && config->sequence_window <= MAX_SEQUENCE_WINDOW, NULL);
  g_return_val_if_fail (config->min_coverage <= MAX_COVERAGE, NULL);
  g_return_val_if_fail (config->coverage <= MAX_COVERAGE, NULL);

  self = g_new0 (DccpFeatures, 1);
  self->is_server = config->is_server;
  self->fgss = config->initial_sequence;
  memcpy (self->rules, base_rules, sizeof (base_rules));
  self->n_rules = N_BASE_RULES;
  for (i = 0; ccids[i]; i++)
    add_ccid_rules (self, ccids[i]);
  for (i = 0; i < self->n_rules; i++)
    for (side = 0; side < N_SIDES; side++) {
      self->features[i][side].value = self->rules[i].initial;
      set_preferences (&self->features[i][side],
          &self->rules[i].preferences[side]);
    }
  prefer_ccids (self, ccids);
  prefer_received_coverage (get_feature (self, DCCP_FEATURE_MIN_COVERAGE,
          LOCAL), config->min_coverage);
  prefer_sent_coverage (get_feature (self, DCCP_FEATURE_MIN_COVERAGE, REMOTE),
      config->coverage);
  want_profile (self, config);
  return self;
}

void
dccp_features_free (DccpFeatures * features)
{
  g_free (features);
}

void
dccp_features_set_initial_received (DccpFeatures * features, guint64 sequence)
{
  features->fgsr = dccp_sequence_add (sequence, -1);
  features->is_received_known = TRUE;
}

void
dccp_features_set_round_trip (DccpFeatures * features, guint64 round_trip)
{
  features->round_trip = round_trip;
}

/* --- reconciliation ------------------------------------------------------- */

static gboolean
has_value (const guint8 * values, gsize n, guint8 value)
{
  return n > 0 && memchr (values, value, n) != NULL;
}

/* Returns TRUE if a value of the feature has been negotiated, and if this value
 * is in our list of preferences. */
static gboolean
is_agreed (const Feature * self)
{
  return self->state == STABLE
      && has_value (self->preferences, self->n_preferences, self->value);
}

/* Chooses the value of a feature by the server-priority rule (section 6.3.1 of
 * RFC 4340). `value` is set to the first value of the server's list that is
 * also in the client's list. Returns FALSE if there is none. */
static gboolean
reconcile (DccpFeatures * self, const Feature * feature,
    const guint8 * theirs, gsize n_theirs, guint8 * value)
{
  const guint8 *server = self->is_server ? feature->preferences : theirs;
  const guint8 *client = self->is_server ? theirs : feature->preferences;
  const gsize n_server = self->is_server ? feature->n_preferences : n_theirs;
  const gsize n_client = self->is_server ? n_theirs : feature->n_preferences;
  gsize i;

  for (i = 0; i < n_server; i++)
    if (has_value (client, n_client, server[i])) {
      *value = server[i];
      return TRUE;
    }
  return FALSE;
}

/* Returns whether `number` is a valid value of the feature. For the feature Ack
 * Ratio, every value is valid (section 6.6.8 with erratum 1049). */
static gboolean
is_valid_number (const Rule * rule, guint64 number)
{
  return rule->number != DCCP_FEATURE_SEQUENCE_WINDOW
      || (number >= MIN_SEQUENCE_WINDOW && number <= MAX_SEQUENCE_WINDOW);
}

/* --- their Changes -------------------------------------------------------- */

/* Sections 6.6.8 and 6.6.9 */
static guint8
refuse_change (Feature * self, gboolean mandatory)
{
  if (mandatory)
    return DCCP_RESET_MANDATORY_ERROR;
  self->owed = OWES_EMPTY_CONFIRM;
  return 0;
}

/* Processes a Change of a non-negotiable feature, whose new value is `value`.
 * Only the feature location may change such a feature (section 6.3.2). If the
 * Change ends the connection, returns the Reset Code. Otherwise returns 0. */
static guint8
input_number (Feature * self, const Rule * rule, gint side,
    gboolean mandatory, const guint8 * value, gsize size)
{
  if (side == LOCAL || size != rule->size
      || !is_valid_number (rule, wire_read (value, size)))
    return refuse_change (self, mandatory);
  self->value = wire_read (value, size);
  self->owed = OWES_CONFIRM;
  return 0;
}

/* Processes the preferences of the peer and chooses the value of a feature
 * (section 6.6.6). Both endpoints choose the same value, even if both send a
 * Change at the same time.
 *
 * If the lists of preferences have no common value, the feature keeps its
 * value. The Confirm then contains this value. */
static guint8
input_preferences (DccpFeatures * self, Feature * feature, const Rule * rule,
    gboolean mandatory, const guint8 * theirs, gsize n_theirs)
{
  guint8 value;

  if (n_theirs == 0)
    return refuse_change (feature, mandatory);
  if (reconcile (self, feature, theirs, n_theirs, &value)) {
    feature->value = value;
    feature->state = STABLE;
  } else if (mandatory)
    return DCCP_RESET_MANDATORY_ERROR;
  else if (rule->number == DCCP_FEATURE_CCID)
    /* The peer supports none of our congestion controls (CCIDs), so the
     * connection is reset. */
    return DCCP_RESET_OPTION_ERROR;
  else if (feature->state == CHANGING)
    feature->state = STABLE;
  feature->owed = OWES_CONFIRM;
  return 0;
}

/* Section 6.6.7 */
static guint8
input_unknown (DccpFeatures * self, gint side, gboolean mandatory,
    guint8 number)
{
  if (mandatory)
    return DCCP_RESET_MANDATORY_ERROR;
  self->unknown[side][number / 32] |= 1u << number % 32;
  self->owes_unknown = TRUE;
  return 0;
}

static guint8
input_change (DccpFeatures * self, const DccpOption * option, gint side)
{
  const guint8 *value = option->value + 1;
  gint i;

  /* A Change without a feature number is ignored. However, if a Mandatory
   * option precedes it, the connection is reset. */
  if (option->size == 0)
    return option->mandatory ? DCCP_RESET_MANDATORY_ERROR : 0;
  i = find_rule (self, option->value[0]);
  if (i < 0)
    return input_unknown (self, side, option->mandatory, option->value[0]);
  if (self->rules[i].is_non_negotiable)
    return input_number (&self->features[i][side], &self->rules[i], side,
        option->mandatory, value, option->size - 1);
  return input_preferences (self, &self->features[i][side], &self->rules[i],
      option->mandatory, value, option->size - 1);
}

/* --- their Confirms ------------------------------------------------------- */

static gboolean
is_confirmed_number (const Feature * self, const Rule * rule,
    const guint8 * value, gsize size)
{
  return size == rule->size && wire_read (value, size) == self->wanted;
}

/* Returns whether a Confirm of the peer is valid. The Confirm contains the
 * chosen value, followed by the list of the peer's preferences. From this list
 * and our own preferences, we compute the value again, and the result must be
 * the chosen value. If the two lists have no common value, the chosen value
 * must be the present value of the feature.
 *
 * Some implementations omit the list. The chosen value must then be the present
 * value of the feature or one of our own preferences. */
static gboolean
is_confirmed_preference (DccpFeatures * self, const Feature * feature,
    const guint8 * value, gsize size)
{
  guint8 reconciled;

  if (size == 1)
    return *value == feature->value
        || has_value (feature->preferences, feature->n_preferences, *value);
  if (reconcile (self, feature, value + 1, size - 1, &reconciled))
    return *value == reconciled;
  return *value == feature->value;
}

static guint8
input_empty_confirm (Feature * self, const Rule * rule)
{
  self->state = STABLE;
  return rule->is_required ? DCCP_RESET_OPTION_ERROR : 0;
}

/* Processes a Confirm. A Confirm that we do not expect is ignored (section
 * 6.6.7). If the Confirm of our Change is wrong (section 6.6.8), the connection
 * is reset. Returns the Reset Code, or 0. */
static guint8
input_confirm (DccpFeatures * self, const DccpOption * option, gint side)
{
  const gint i = option->size > 0 ? find_rule (self, option->value[0]) : -1;
  const guint8 *value = option->value + 1;
  Feature *feature;
  const Rule *rule;
  gboolean valid;

  if (i < 0 || self->features[i][side].state != CHANGING)
    return 0;
  feature = &self->features[i][side];
  rule = &self->rules[i];
  if (option->size == 1)
    return input_empty_confirm (feature, rule);
  if (rule->is_non_negotiable)
    valid = is_confirmed_number (feature, rule, value, option->size - 1);
  else
    valid = is_confirmed_preference (self, feature, value, option->size - 1);
  if (!valid)
    return DCCP_RESET_OPTION_ERROR;
  feature->value = wire_read (value, rule->size);
  feature->state = STABLE;
  if (rule->number == DCCP_FEATURE_CCID && !is_agreed (feature))
    return DCCP_RESET_OPTION_ERROR;
  return 0;
}

/* --- order of packets, section 6.6.4 -------------------------------------- */

static gboolean
is_negotiation (guint8 type)
{
  return type >= DCCP_OPTION_CHANGE_L && type <= DCCP_OPTION_CONFIRM_R;
}

static gboolean
is_reordered (DccpFeatures * self, const DccpPacket * packet)
{
  return self->is_received_known
      && dccp_sequence_difference (packet->sequence, self->fgsr) <= 0;
}

/* Returns TRUE if the packet with the Confirm acknowledges no packet, or only
 * packets before our latest Change. Such a Confirm is not the answer to this
 * Change. */
static gboolean
is_late_confirm (DccpFeatures * self, const DccpPacket * packet)
{
  return !dccp_type_has_acknowledgement (packet->type)
      || dccp_sequence_difference (packet->acknowledgement, self->fgss) < 0;
}

guint8
dccp_features_input (DccpFeatures * features, const DccpOption * option,
    const DccpPacket * packet)
{
  if (!is_negotiation (option->type) || is_reordered (features, packet))
    return 0;
  features->is_negotiating = TRUE;
  features->negotiating = packet->sequence;
  switch (option->type) {
    case DCCP_OPTION_CHANGE_L:
      return input_change (features, option, REMOTE);
    case DCCP_OPTION_CHANGE_R:
      return input_change (features, option, LOCAL);
    case DCCP_OPTION_CONFIRM_L:
      return is_late_confirm (features, packet) ? 0 :
          input_confirm (features, option, REMOTE);
    default:                   /* DCCP_OPTION_CONFIRM_R */
      return is_late_confirm (features, packet) ? 0 :
          input_confirm (features, option, LOCAL);
  }
}

/* Called after all options of a packet were processed. Stores the number of the
 * packet as FGSR if the packet had feature options.
 *
 * FGSR is the greatest sequence number of a received packet with feature
 * options, and FGSS is the sequence number of the packet with our latest new
 * Change. They must not be greater than the greatest sequence number received
 * (GSR) and sent (GSS), respectively. After the sequence numbers have wrapped
 * around, an old FGSR or FGSS would seem to be greater. This function then
 * replaces it by a smaller number (RFC 4340 erratum 974). */
void
dccp_features_processed (DccpFeatures * features, guint64 gsr, guint64 gss)
{
  if (features->is_negotiating)
    features->fgsr = features->negotiating;
  features->is_negotiating = FALSE;
  if (dccp_sequence_difference (features->fgsr, gsr) > 0)
    features->fgsr = dccp_sequence_add (gsr, -(gint64) MAX_SEQUENCE_WINDOW);
  if (dccp_sequence_difference (features->fgss, gss) > 0)
    features->fgss = dccp_sequence_add (gss, -(gint64) MAX_SEQUENCE_WINDOW);
}

/* --- options that we send ------------------------------------------------- */

/* The value of a feature option: the feature number, followed by a value, by
 * preferences, or by both. */
typedef struct
{
  guint8 bytes[2 + MAX_PREFERENCES];
  gsize size;
} Content;

static void
put_number (Content * self, guint64 number, gsize size)
{
  wire_write (self->bytes + self->size, size, number);
  self->size += size;
}

static void
put_preferences (Content * self, const Feature * feature)
{
  memcpy (self->bytes + self->size, feature->preferences,
      feature->n_preferences);
  self->size += feature->n_preferences;
}

static gboolean
write_confirm (const Feature * self, const Rule * rule, gint side,
    Owed confirm, DccpOptionWriter * writer)
{
  Content content = { {rule->number}, 1 };

  if (confirm == OWES_CONFIRM) {
    put_number (&content, self->value, rule->size);
    put_preferences (&content, self);
  }
  return dccp_option_write (writer, FALSE, confirm_types[side], content.bytes,
      content.size);
}

static void
write_owed (Feature * self, const Rule * rule, gint side,
    DccpOptionWriter * writer)
{
  if (!write_confirm (self, rule, side, self->owed, writer))
    return;
  self->said = self->owed;
  self->owed = OWES_NOTHING;
}

static void
write_unknown (DccpFeatures * self, DccpOptionWriter * writer)
{
  guint side, number;

  for (side = 0; side < N_SIDES; side++)
    for (number = 0; number < N_NUMBERS; number++) {
      const guint8 value = number;

      if (!(self->unknown[side][number / 32] & 1u << number % 32))
        continue;
      if (!dccp_option_write (writer, FALSE, confirm_types[side], &value, 1))
        return;
      self->unknown[side][number / 32] &= ~(1u << number % 32);
    }
  self->owes_unknown = FALSE;
}

static gboolean
is_due (const Feature * self, guint64 now)
{
  return self->state == WANTED || (self->state == CHANGING && now >= self->due);
}

/* Writes the Change of a feature (section 6.6.3). FGSS is the sequence number
 * of the packet that carries a new Change. A retransmitted Change has the same
 * contents and does not set FGSS (section 6.6.4). */
static void
write_change (DccpFeatures * self, Feature * feature, const Rule * rule,
    gint side, guint64 now, guint64 sequence, DccpOptionWriter * writer)
{
  Content content = { {rule->number}, 1 };

  if (rule->is_non_negotiable)
    put_number (&content, feature->wanted, rule->size);
  else
    put_preferences (&content, feature);
  if (!dccp_option_write (writer, feature->is_mandatory, change_types[side],
          content.bytes, content.size))
    return;
  if (feature->state == WANTED) {
    feature->state = CHANGING;
    feature->interval = CLAMP (self->round_trip, MIN_RETRANSMISSION,
        MAX_RETRANSMISSION);
    self->fgss = sequence;
  } else
    feature->interval = MIN (2 * feature->interval, MAX_RETRANSMISSION);
  feature->due = now + feature->interval;
}

void
dccp_features_write (DccpFeatures * features, guint64 now, guint64 sequence,
    DccpOptionWriter * writer)
{
  guint i, side;

  for (i = 0; i < features->n_rules; i++)
    for (side = 0; side < N_SIDES; side++)
      if (features->features[i][side].owed != OWES_NOTHING)
        write_owed (&features->features[i][side], &features->rules[i], side,
            writer);
  for (i = 0; i < features->n_rules; i++)
    for (side = 0; side < N_SIDES; side++)
      if (is_due (&features->features[i][side], now))
        write_change (features, &features->features[i][side],
            &features->rules[i], side, now, sequence, writer);
  if (features->owes_unknown)
    write_unknown (features, writer);
}

void
dccp_features_write_again (DccpFeatures * features, DccpOptionWriter * writer)
{
  guint i, side;

  for (i = 0; i < features->n_rules; i++)
    for (side = 0; side < N_SIDES; side++) {
      const Feature *feature = &features->features[i][side];

      if (feature->said != OWES_NOTHING && feature->owed == OWES_NOTHING)
        write_confirm (feature, &features->rules[i], side, feature->said,
            writer);
    }
}

gboolean
dccp_features_want_packet (DccpFeatures * features, guint64 now)
{
  guint i, side;

  if (features->owes_unknown)
    return TRUE;
  for (i = 0; i < features->n_rules; i++)
    for (side = 0; side < N_SIDES; side++)
      if (features->features[i][side].owed != OWES_NOTHING
          || is_due (&features->features[i][side], now))
        return TRUE;
  return FALSE;
}

guint64
dccp_features_next_wakeup (DccpFeatures * features)
{
  guint64 wakeup = G_MAXUINT64;
  guint i, side;

  for (i = 0; i < features->n_rules; i++)
    for (side = 0; side < N_SIDES; side++) {
      const Feature *feature = &features->features[i][side];

      if (feature->state == CHANGING)
        wakeup = MIN (wakeup, feature->due);
    }
  return wakeup;
}

/* --- results -------------------------------------------------------------- */

guint64
dccp_features_get (DccpFeatures * features, guint feature, gboolean local)
{
  const gint i = find_rule (features, feature);

  g_return_val_if_fail (i >= 0, 0);
  return features->features[i][local ? LOCAL : REMOTE].value;
}

gboolean
dccp_features_are_settled (DccpFeatures * features)
{
  return is_agreed (get_feature (features, DCCP_FEATURE_CCID, LOCAL))
      && is_agreed (get_feature (features, DCCP_FEATURE_CCID, REMOTE));
}
