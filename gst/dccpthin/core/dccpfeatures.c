/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpfeatures.h: feature negotiation in the Thin profile
 * (docs/dccp-thin.md). Section numbers refer to RFC 4340. Each feature is
 * negotiated separately for the two feature locations: this endpoint and the
 * peer. For each feature and each feature location, the table `base_rules`
 * lists the values that we accept, in the order of our preference.
 */

#include "dccpfeatures.h"

#include <string.h>

#define MILLISECONDS G_GUINT64_CONSTANT (1000000)       /* ns */
#define SECONDS (1000 * MILLISECONDS)

#define MIN_SEQUENCE_WINDOW 32  /* section 7.5.2 */
#define MAX_SEQUENCE_WINDOW ((G_GUINT64_CONSTANT (1) << 46) - 1)
#define MAX_COVERAGE 15

/* A Change asks the peer for a value of a feature, and the peer answers with a
 * Confirm. If no Confirm arrives, the Change is retransmitted. These constants
 * are the minimum and the maximum time in ns from the sending of a Change to
 * its retransmission. The time must not be shorter than a round trip (RFC 4340
 * section 6.6.3). If the round-trip time is unknown, it is assumed to be 0.2 s
 * (section 3.4). If it is known to be shorter than 0.2 s, the minimum is still
 * 0.2 s, so that fewer packets are sent. */
#define MIN_RETRANSMISSION (200 * MILLISECONDS)
#define MAX_RETRANSMISSION (64 * SECONDS)

/* Maximum number of values in a preference list. A list of congestion controls
 * (CCIDs) is limited to the same number. */
#define MAX_PREFERENCES 16
#define N_NUMBERS 256

enum
{
  /* Each feature belongs to one of the two endpoints. RFC 4340 (section 6)
   * calls this endpoint the feature location. REMOTE and LOCAL are indices of
   * arrays with one element for each endpoint. The element REMOTE is about
   * features whose feature location is the peer. */
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
  /* TRUE if the feature is non-negotiable: one endpoint sets the value alone
   * (RFC 4340 section 6.3.2). FALSE if the value is chosen by the
   * server-priority rule, which uses the preferences of both endpoints (section
   * 6.3.1). */
  gboolean is_non_negotiable;
  gsize size;                   /* size of a value in bytes */
  /* TRUE if every endpoint must support the feature (RFC 4340 section 6.4). */
  gboolean is_required;
  guint64 initial;
  Preferences preferences[N_SIDES];
} Rule;

#define SERVER_PRIORITY FALSE, 1
#define NON_NEGOTIABLE TRUE

/* The features of DCCP with our rules for their negotiation (RFC 4340 section
 * 6.4, table 4). docs/dccp-thin.md explains which values we accept. */
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
/* Maximum number of features that an endpoint knows. Its table of features
 * begins with base_rules. The features of the congestion controls (CCIDs)
 * follow. If the table is full, further features are treated as unknown. */
#define MAX_RULES (N_BASE_RULES + 4 * DCCP_CCID_MAX_FEATURES)

typedef enum
{
  STABLE,
  /* We want to negotiate the feature, but have not sent a Change yet. The next
   * packet that may carry feature options carries the Change. */
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
  /* Value that our Change asks for if the feature is non-negotiable. The owner
   * of such a feature sets the value alone, and the peer can only confirm it
   * (RFC 4340 section 6.3.2). */
  guint64 wanted;
  State state;
  gboolean is_mandatory;        /* Mandatory precedes our Change option. */
  /* Answers to Changes of the peer for this feature. `owed` is the kind of
   * Confirm that has to be sent next, and `said` is the kind of Confirm that
   * was sent last. */
  Owed owed, said;
  /* Used while a Change waits for its Confirm. `due` is the time in ns at which
   * the Change will be retransmitted. `interval` is the time in ns from the
   * last transmission of the Change until `due`. */
  guint64 due, interval;
} Feature;

struct _DccpFeatures
{
  gboolean is_server;
  Rule rules[MAX_RULES];
  guint n_rules;
  Feature features[MAX_RULES][N_SIDES];
  /* Feature numbers that we do not know, but that the peer has named in a
   * Change. We still have to answer each such Change with an empty Confirm.
   * There is one bit for each feature number and for each side (REMOTE or
   * LOCAL). */
  guint32 unknown[N_SIDES][N_NUMBERS / 32];
  gboolean owes_unknown;
  gboolean is_received_known;   /* FGSR is known */
  guint64 fgsr, fgss;           /* section 6.6.4 */
  /* TRUE while a received packet with feature options (Change or Confirm) is
   * being processed */
  gboolean is_negotiating;
  /* Sequence number of the received packet whose options are being processed.
   * When all its options have been processed, this number becomes FGSR: the
   * greatest sequence number of a received packet with feature options
   * (RFC 4340 section 6.6.4). */
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

/* Appends the values from `first` to `last` to our preference list for the
 * feature. If `first` is greater than `last`, the values are appended in
 * decreasing order. The feature Minimum Checksum Coverage needs this order
 * (RFC 4340 section 9.2.1). */
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

/* Fills our preference list for our own feature Minimum Checksum Coverage,
 * which applies to the packets that we receive. `coverage` is the minimum
 * coverage that we want, so this value comes first in the list. The greater
 * values follow, in increasing order. The value 0, which means that the
 * checksum covers all bytes, comes last. */
static void
prefer_received_coverage (Feature * self, guint8 coverage)
{
  if (coverage > 0)
    add_preferences (self, coverage, MAX_COVERAGE);
  add_preferences (self, 0, 0);
}

/* Fills our preference list for the feature Minimum Checksum Coverage of the
 * peer, to which we send data (RFC 4340 section 9.2.1). The value of the
 * feature is the smallest checksum coverage that the peer accepts. `coverage`
 * is the coverage that we want to use. The list contains all possible values,
 * the most preferred value first:
 * - `coverage` itself is the first value, because the peer most likely agrees
 *   to it.
 * - The values below `coverage`, in descending order to 1, come next. Each of
 *   them allows us to use `coverage`, too.
 * - The value 0 and then the values above `coverage` come last. With each of
 *   them, our checksum must cover the whole packet. */
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

/* Adds the features of the congestion control `ccid` to the table of known
 * features. Each of these features is either on (1) or off (0). We accept both
 * values, but prefer that the feature is on. */
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

/* Fills our preference list for the feature CCID with the numbers of the
 * congestion controls `ccids`, in the same order (RFC 4340 section 10). The
 * endpoint then requests values of several features at the same time. Each
 * request is an option called Change. The endpoint sends a Change for the
 * feature CCID, and a Change for each feature that belongs to the first
 * congestion control in `ccids`. The endpoint does not wait until the peer has
 * accepted this congestion control, because the peer nearly always accepts it.
 */
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
  /* An endpoint that cannot read the ECN bits of the IP header must announce
   * this with the feature ECN Incapable (RFC 4340 section 12.1). */
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

/* Chooses the value of a feature by the server-priority rule (RFC 4340 section
 * 6.3.1): `value` is set to the first value in the server's preference list
 * that is also in the client's list. Returns FALSE if the two lists have no
 * common value. */
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

/* Returns whether `number` is a valid value of the feature to which `rule`
 * belongs. Only the feature Sequence Window has invalid values. For the feature
 * Ack Ratio, every value is valid (RFC 4340 section 6.6.8 with erratum 1049).
 */
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
 * Only the endpoint to which such a feature belongs may change it (RFC 4340
 * section 6.3.2). If the connection must be reset because of the Change,
 * returns the Reset Code. Otherwise returns 0. */
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

/* Processes a Change, which contains the preference list of the peer, and
 * chooses the value of the feature (RFC 4340 section 6.6.6). Both endpoints
 * choose by the same rule. They therefore choose the same value, even if both
 * send a Change at the same time.
 *
 * If the preference lists of the endpoints have no common value, the feature
 * keeps its present value. The Confirm then contains this value. */
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
 * value that the peer has chosen, followed by the peer's preference list. We
 * choose the value again, from this list and our own preference list. The
 * result must be the same value. If the two lists have no common value, the
 * Confirm must contain the present value of the feature.
 *
 * Some implementations omit the list. The Confirm must then contain the present
 * value of the feature or a value of our own preference list. */
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

/* Processes a Confirm. If no Change of ours waits for it, the Confirm is
 * ignored (RFC 4340 section 6.6.7). If it contains a wrong value (section
 * 6.6.8), the connection must be reset, and the Reset Code is returned.
 * Otherwise returns 0. */
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
is_reordered (DccpFeatures * self, const DccpPacket * packet)
{
  return self->is_received_known
      && dccp_sequence_difference (packet->sequence, self->fgsr) <= 0;
}

/* Returns TRUE if a Confirm in `packet` cannot be the answer to our latest
 * Change. This is the case if the packet has no acknowledgement number, or if
 * it acknowledges only packets that we sent before this Change. */
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
  if (!dccp_option_is_negotiation (option) || is_reordered (features, packet))
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

/* Called after all options of a received packet were processed. If the packet
 * had feature options, its sequence number is stored as FGSR. The function also
 * keeps two numbers, FGSR and FGSS, within their limits:
 * - FGSR is the greatest sequence number of a received packet with feature
 *   options. It must not be greater than GSR, the greatest sequence number
 *   received.
 * - FGSS is the sequence number of the packet with our latest new Change. It
 *   must not be greater than GSS, the greatest sequence number sent.
 *
 * Sequence numbers wrap around, so a very old FGSR could seem to be greater
 * than GSR. The function then replaces FGSR by a smaller number (RFC 4340
 * erratum 974). In the same way, it replaces an FGSS that seems to be greater
 * than GSS. */
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

/* The value of a feature option (Change or Confirm). It begins with the feature
 * number. A value of the feature, a preference list, or both may follow. An
 * empty Confirm contains the feature number only. */
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

/* Writes the Change option of a feature (RFC 4340 section 6.6.3) into the
 * packet with the number `sequence`. The option is either new or a
 * retransmission. FGSS is the number of the packet that carried the latest new
 * Change of this endpoint.
 *
 * If the written Change is new, FGSS is set to `sequence`. If the written
 * Change is a retransmission, it has the same contents as the first
 * transmission, and FGSS does not change (section 6.6.4). */
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
