/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests feature negotiation in DCCP. The requirements come from RFC 4340
 * section 6, from the errata 974 and 1049 of this RFC, and from the profile of
 * this project (docs/dccp-thin.md). Some tests feed single options to an
 * endpoint. In other tests, two endpoints of this project negotiate, or an
 * endpoint gets options that were recorded from a Linux 6.1 kernel. Time is
 * virtual.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "ccid3options.h"
#include "dccpfeatures.h"

#define MILLISECONDS G_GUINT64_CONSTANT (1000000)
#define SECONDS (1000 * MILLISECONDS)
#define MAX_WINDOW ((G_GUINT64_CONSTANT (1) << 46) - 1)

#define ISS G_GUINT64_CONSTANT (1000)
#define ISR G_GUINT64_CONSTANT (5000)

/* The Change options that each endpoint of this project sends at the start of a
 * connection, as docs/dccp-thin.md requires:
 * - Mandatory Change R (CCID, 3)
 * - Mandatory Change L (CCID, 3)
 * - Change L (Sequence Window, 10000)
 * - Mandatory Change L (ECN Incapable, 1)
 * - Change R (Send RTT Estimate, 1 0)
 * - Change R (Send Loss Event Rate, 1 0)
 */
#define CCIDS "0122040103" "0120040103"
#define WINDOW "200903000000002710"
#define WINDOW_CONFIRMED "230903000000002710"
#define ECN "0120040401"
#define RTT_ESTIMATE "2205800100"
#define LOSS_EVENT_RATE "2205c00100"
#define PROFILE CCIDS WINDOW ECN RTT_ESTIMATE LOSS_EVENT_RATE

/* The constant LINUX_ASKED has the options of a Request. The two constants
 * after it were recorded from a Linux 6.1 kernel: the options of its Response
 * to this Request, and the options of its Response to a Request without
 * options. */
#define LINUX_ASKED "2004010322040103200402002204020020040401"
#define LINUX_RESPONSE \
  "00000029060049e6402105010303230501030321050200002305020000200903" \
  "0000000027100120040401230504010120050500002204060020040600200407" \
  "010122040701012204c001012004c001"
#define LINUX_RESPONSE_TO_NONE \
  "0000002906000b72572004010322040103012004020020090300000000271001" \
  "2004040120050500002204060020040600200407010122040701012204c00101" \
  "2004c001"
/* The options of a Request that was recorded from a Linux 6.1 kernel */
#define LINUX_REQUEST "0029060874b262" "2006010302f8" "2206010302f8" "01" \
  "20040200"

/* One endpoint of a connection: the state of its feature negotiation, and the
 * sequence numbers of the last packets that it sent and received */
typedef struct
{
  DccpFeatures *features;
  guint64 sent, received;
} End;

/* The endpoints in these tests offer only CCID 3, even if the plugin supports
 * other CCIDs, too. */
static const DccpCcid *const ccids[] = { &dccp_ccid_3, NULL };

static const DccpFeaturesConfig client_config =
    { FALSE, 10000, 0, 0, ISS, ccids };
static const DccpFeaturesConfig server_config =
    { TRUE, 10000, 0, 0, ISS, ccids };

static End
new_end (const DccpFeaturesConfig * config)
{
  End end = { dccp_features_new (config), ISS - 1, ISR - 1 };

  dccp_features_set_initial_received (end.features, ISR);
  return end;
}

/* Returns an endpoint that has sent its Change options. The endpoint waits for
 * the answers, and has no other packet to send. */
static End
new_asking_end (const DccpFeaturesConfig * config)
{
  End end = new_end (config);
  DccpOptionWriter writer;

  dccp_option_writer_init (&writer);
  dccp_features_write (end.features, 0, ++end.sent, &writer);
  fail_if (dccp_features_want_packet (end.features, 0));
  return end;
}

static gsize
put_bytes (guint8 * bytes, const gchar * hexadecimal)
{
  const gsize size = strlen (hexadecimal) / 2;
  gsize i;

  for (i = 0; i < size; i++)
    bytes[i] = g_ascii_xdigit_value (hexadecimal[2 * i]) << 4
        | g_ascii_xdigit_value (hexadecimal[2 * i + 1]);
  return size;
}

/* Passes the options of a packet to the endpoint one after the other. Stops at
 * an option that requires a Reset, and returns the code of this Reset. Returns
 * 0 if no option requires a Reset. */
static guint8
input_packet (End * self, DccpType type, guint64 sequence,
    guint64 acknowledgement, const guint8 * options, gsize size)
{
  DccpPacket packet = { 0, };
  DccpOptionReader reader;
  DccpOption option;
  guint8 code = 0;

  packet.type = type;
  packet.sequence = sequence;
  packet.acknowledgement = acknowledgement;
  packet.options = options;
  packet.options_size = size;
  if (dccp_sequence_difference (sequence, self->received) > 0)
    self->received = sequence;
  dccp_option_reader_init (&reader, &packet);
  while (code == 0 && dccp_option_reader_next (&reader, &option))
    code = dccp_features_input (self->features, &option, &packet);
  dccp_features_processed (self->features, self->received, self->sent);
  return code;
}

static guint8
input_hex (End * self, DccpType type, guint64 sequence,
    guint64 acknowledgement, const gchar * hexadecimal)
{
  guint8 bytes[DCCP_MAX_OPTIONS];
  const gsize size = put_bytes (bytes, hexadecimal);

  return input_packet (self, type, sequence, acknowledgement, bytes, size);
}

/* Feeds an Ack of the peer to the endpoint `self`. The Ack has the next
 * sequence number and the options `hexadecimal`. It acknowledges all packets
 * that `self` has sent. */
static guint8
input_next (End * self, const gchar * hexadecimal)
{
  return input_hex (self, DCCP_ACK, dccp_sequence_add (self->received, 1),
      self->sent, hexadecimal);
}

/* Checks that the next packet of the endpoint carries exactly the options
 * `expected`, which are in hexadecimal. If `expected` is empty, the endpoint
 * must have no packet to send. */
static void
assert_output (End * self, guint64 now, const gchar * expected)
{
  GString *text = g_string_new (NULL);
  DccpOptionWriter writer;
  gsize i;

  fail_unless_equals_int (dccp_features_want_packet (self->features, now),
      expected[0] != '\0');
  dccp_option_writer_init (&writer);
  dccp_features_write (self->features, now, ++self->sent, &writer);
  for (i = 0; i < writer.size; i++)
    g_string_append_printf (text, "%02x", writer.bytes[i]);
  fail_unless_equals_string (text->str, expected);
  fail_if (writer.is_full);
  fail_if (dccp_features_want_packet (self->features, now));
  g_string_free (text, TRUE);
}

static void
assert_feature (End * self, DccpFeature feature, gboolean local,
    guint64 expected)
{
  const guint64 value = dccp_features_get (self->features, feature, local);

  fail_unless (value == expected, "feature %d (%s) is %" G_GUINT64_FORMAT
      ", not %" G_GUINT64_FORMAT, feature, local ? "local" : "remote", value,
      expected);
}

/* --- Changes of this endpoint --------------------------------------------- */

GST_START_TEST (first_packet_asks_for_the_profile)
{
  End client = new_end (&client_config);
  End server = new_end (&server_config);

  assert_output (&client, 0, PROFILE);
  assert_output (&client, 0, "");
  fail_unless_equals_int (input_hex (&server, DCCP_REQUEST, ISR, 0, ""), 0);
  assert_output (&server, 0, PROFILE);
  fail_if (dccp_features_are_settled (client.features));
  fail_if (dccp_features_are_settled (server.features));
  dccp_features_free (client.features);
  dccp_features_free (server.features);
}

GST_END_TEST;

GST_START_TEST (features_begin_with_their_initial_values)
{
  End end = new_end (&client_config);
  const struct
  {
    DccpFeature feature;
    guint64 value;
  } cases[] = {
    {DCCP_FEATURE_CCID, 2}, {DCCP_FEATURE_SHORT_SEQUENCE, 0},
    {DCCP_FEATURE_SEQUENCE_WINDOW, 100}, {DCCP_FEATURE_ECN_INCAPABLE, 0},
    {DCCP_FEATURE_ACK_RATIO, 2}, {DCCP_FEATURE_SEND_ACK_VECTOR, 0},
    {DCCP_FEATURE_SEND_NDP_COUNT, 0}, {DCCP_FEATURE_MIN_COVERAGE, 0},
    {DCCP_FEATURE_CHECK_DATA_CHECKSUM, 0}, {CCID3_FEATURE_SEND_RTT_ESTIMATE, 0},
    {CCID3_FEATURE_SEND_LOSS_EVENT_RATE, 0}
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    assert_feature (&end, cases[i].feature, TRUE, cases[i].value);
    assert_feature (&end, cases[i].feature, FALSE, cases[i].value);
  }
  dccp_features_free (end.features);
}

GST_END_TEST;

/* --- two endpoints of this project ---------------------------------------- */

/* Sends one packet from endpoint `from` to endpoint `to`. The packet has the
 * type `type`, and carries the options that `from` has to send. */
static void
carry (End * from, End * to, guint64 now, DccpType type)
{
  DccpOptionWriter writer;

  dccp_option_writer_init (&writer);
  dccp_features_write (from->features, now, ++from->sent, &writer);
  fail_unless_equals_int (input_packet (to, type, from->sent, from->received,
          writer.bytes, writer.size), 0);
}

/* Performs a handshake between two endpoints. Afterwards neither of them has
 * any option left to send. */
static void
shake_hands (End * client, End * server, const DccpFeaturesConfig * asks,
    const DccpFeaturesConfig * answers)
{
  DccpFeaturesConfig config = *answers;

  *client = new_end (asks);
  config.is_server = TRUE;
  config.initial_sequence = ISR;
  *server = new_end (&config);
  server->sent = ISR - 1;
  server->received = ISS - 1;
  dccp_features_set_initial_received (server->features, ISS);
  carry (client, server, 0, DCCP_REQUEST);
  carry (server, client, 0, DCCP_RESPONSE);
  carry (client, server, 0, DCCP_ACK);
  fail_if (dccp_features_want_packet (client->features, 0));
  fail_if (dccp_features_want_packet (server->features, 0));
  fail_unless (dccp_features_next_wakeup (client->features) == G_MAXUINT64);
  fail_unless (dccp_features_next_wakeup (server->features) == G_MAXUINT64);
}

GST_START_TEST (two_of_us_agree_in_a_handshake)
{
  const DccpFeaturesConfig asks = { FALSE, 32, 0, 0, ISS, ccids };
  const DccpFeaturesConfig answers = { TRUE, MAX_WINDOW, 0, 0, ISR, ccids };
  End client, server;

  shake_hands (&client, &server, &asks, &answers);
  fail_unless (dccp_features_are_settled (client.features));
  fail_unless (dccp_features_are_settled (server.features));
  assert_feature (&client, DCCP_FEATURE_SEQUENCE_WINDOW, TRUE, 32);
  assert_feature (&server, DCCP_FEATURE_SEQUENCE_WINDOW, FALSE, 32);
  assert_feature (&client, DCCP_FEATURE_SEQUENCE_WINDOW, FALSE, MAX_WINDOW);
  assert_feature (&server, DCCP_FEATURE_SEQUENCE_WINDOW, TRUE, MAX_WINDOW);
  assert_feature (&client, DCCP_FEATURE_ECN_INCAPABLE, TRUE, 1);
  assert_feature (&client, DCCP_FEATURE_ECN_INCAPABLE, FALSE, 1);
  assert_feature (&server, DCCP_FEATURE_ECN_INCAPABLE, TRUE, 1);
  assert_feature (&server, DCCP_FEATURE_ECN_INCAPABLE, FALSE, 1);
  assert_feature (&client, CCID3_FEATURE_SEND_LOSS_EVENT_RATE, TRUE, 1);
  assert_feature (&client, CCID3_FEATURE_SEND_LOSS_EVENT_RATE, FALSE, 1);
  assert_feature (&server, CCID3_FEATURE_SEND_LOSS_EVENT_RATE, TRUE, 1);
  assert_feature (&server, CCID3_FEATURE_SEND_LOSS_EVENT_RATE, FALSE, 1);
  dccp_features_free (client.features);
  dccp_features_free (server.features);
}

GST_END_TEST;

/* Performs a handshake between a sender and a receiver. The sender wants to
 * send packets with the checksum coverage (CsCov) `wanted`. The receiver
 * accepts a CsCov of at least `allowed`. Checks the resulting value of the
 * feature Minimum Checksum Coverage. If this value is not 0, the sender may use
 * any CsCov that is at least this value (RFC 4340 section 9.2.1). */
static void
check_coverage (guint8 wanted, guint8 allowed, gboolean sender_is_server)
{
  DccpFeaturesConfig sender = { FALSE, 100, 0, wanted, ISS, ccids };
  DccpFeaturesConfig receiver = { FALSE, 100, allowed, 0, ISS, ccids };
  End client, server, *a, *b;
  guint64 value;

  if (sender_is_server)
    shake_hands (&client, &server, &receiver, &sender);
  else
    shake_hands (&client, &server, &sender, &receiver);
  a = sender_is_server ? &server : &client;
  b = sender_is_server ? &client : &server;
  value = dccp_features_get (a->features, DCCP_FEATURE_MIN_COVERAGE, FALSE);
  assert_feature (b, DCCP_FEATURE_MIN_COVERAGE, TRUE, value);
  if (allowed == 0 || wanted < allowed)
    fail_unless (value == 0 || value > wanted, "wanted %u, allowed %u",
        wanted, allowed);
  else
    fail_unless (value >= allowed && value <= wanted, "wanted %u, allowed %u",
        wanted, allowed);
  assert_feature (a, DCCP_FEATURE_MIN_COVERAGE, TRUE, 0);
  dccp_features_free (client.features);
  dccp_features_free (server.features);
}

GST_START_TEST (coverage_is_what_both_want)
{
  guint allowed;

  for (allowed = 0; allowed <= 15; allowed++) {
    check_coverage (__i__, allowed, FALSE);
    check_coverage (__i__, allowed, TRUE);
  }
}

GST_END_TEST;

/* --- a Linux peer --------------------------------------------------------- */

/* The client gets the Response of a Linux 6.1 kernel. The Response confirms the
 * options of the client's Request. It also contains Change options, with which
 * Linux asks for values of other features, among them:
 * - Mandatory, Change L(ECN Incapable, 1)
 * - Change L(Ack Ratio, 0)
 * - Change R(Send Ack Vector, 0), Change L(Send Ack Vector, 0)
 * - Change L(Send NDP Count, 1)
 * - Mandatory, Change R(Send NDP Count, 1)
 * - Mandatory, Change R(Send Loss Event Rate, 1)
 * - Mandatory, Change L(Send Loss Event Rate, 1)
 *
 * The client must confirm all these values. If it did not confirm Send Loss
 * Event Rate with the value 1, Linux would reset the connection.
 */
GST_START_TEST (linux_answers)
{
  End client = new_asking_end (&client_config);

  fail_unless_equals_int (input_hex (&client, DCCP_RESPONSE, ISR, ISS,
          LINUX_RESPONSE), 0);
  fail_unless (dccp_features_are_settled (client.features));
  assert_feature (&client, DCCP_FEATURE_SEQUENCE_WINDOW, FALSE, 10000);
  assert_feature (&client, DCCP_FEATURE_SEQUENCE_WINDOW, TRUE, 100);
  assert_feature (&client, DCCP_FEATURE_ACK_RATIO, FALSE, 0);
  assert_feature (&client, DCCP_FEATURE_ECN_INCAPABLE, FALSE, 1);
  assert_feature (&client, DCCP_FEATURE_ECN_INCAPABLE, TRUE, 1);
  assert_feature (&client, DCCP_FEATURE_SEND_NDP_COUNT, TRUE, 1);
  assert_feature (&client, DCCP_FEATURE_SEND_NDP_COUNT, FALSE, 1);
  assert_feature (&client, CCID3_FEATURE_SEND_LOSS_EVENT_RATE, TRUE, 1);
  assert_feature (&client, CCID3_FEATURE_SEND_LOSS_EVENT_RATE, FALSE, 1);
  assert_output (&client, 0, WINDOW_CONFIRMED "230604010001" "2305050000"
      "2305060000" "2105060000" "230607010001" "210607010001"
      "2306c0010100" "2106c0010100");
  dccp_features_free (client.features);
}

GST_END_TEST;

GST_START_TEST (linux_answers_to_nothing)
{
  End client = new_asking_end (&client_config);

  fail_unless_equals_int (input_hex (&client, DCCP_RESPONSE, ISR, ISS,
          LINUX_RESPONSE_TO_NONE), 0);
  fail_unless (dccp_features_are_settled (client.features));
  dccp_features_free (client.features);
}

GST_END_TEST;

GST_START_TEST (linux_asks)
{
  End server = new_end (&server_config);

  fail_unless_equals_int (input_hex (&server, DCCP_REQUEST, ISR, 0,
          LINUX_REQUEST), 0);
  fail_unless (dccp_features_are_settled (server.features));
  assert_output (&server, 0, "2305010303" "2105010303" "2305020000" WINDOW ECN
      RTT_ESTIMATE LOSS_EVENT_RATE);
  dccp_features_free (server.features);

  server = new_end (&server_config);
  fail_unless_equals_int (input_hex (&server, DCCP_REQUEST, ISR, 0,
          LINUX_ASKED), 0);
  assert_output (&server, 0, "2305010303" "2105010303" "2305020000"
      "2105020000" "230604010001" WINDOW ECN RTT_ESTIMATE LOSS_EVENT_RATE);
  dccp_features_free (server.features);
}

GST_END_TEST;

/* --- Changes of the peer -------------------------------------------------- */

typedef struct
{
  const gchar *change;
  guint8 reset;
  const gchar *confirm;
} Exchange;

/* Options that the server receives, and its answers. Each entry consists of:
 *
 * - the options of the first packet of the peer
 * - the code of the Reset that the server must send (0 = no Reset)
 * - the Confirm options that the server must send
 *
 * The server is configured as in the profile of this project
 * (docs/dccp-thin.md). Before the packet arrives, the server has already sent
 * the Change options of the profile.
 */
static const Exchange exchanges[] = {
  /* RFC 4340 section 6.3.1: the peer's Change has a preference list that shares
   * no entry with the server's list. The feature then keeps its value. The
   * server must answer with a Confirm that has this value and the server's
   * list. If Mandatory precedes the Change, the server must answer with a Reset
   * with code 6 instead (section 6.6.9). */
  {"20040201", 0, "2305020000"},
  {"22040201", 0, "2105020000"},
  {"0120040201", DCCP_RESET_MANDATORY_ERROR, ""},
  {"0122040201", DCCP_RESET_MANDATORY_ERROR, ""},
  {"20040601", 0, "2305060000"},
  {"22040601", 0, "2105060000"},
  {"20040901", 0, "2305090000"},
  {"0122040901", DCCP_RESET_MANDATORY_ERROR, ""},
  /* The feature ECN Incapable has the value 1 if an endpoint cannot read the
   * ECN bits of received packets. The server cannot read them. If the peer asks
   * for the value 0, the server must refuse this. */
  {"22040400", 0, "2105040001"},
  {"0122040400", DCCP_RESET_MANDATORY_ERROR, ""},
  /* CCID: only 3 is accepted */
  {"2005010203", 0, "2305010303"},
  {"22050103fe", 0, "2105010303"},
  {"20040102", DCCP_RESET_OPTION_ERROR, ""},
  {"22040102", DCCP_RESET_OPTION_ERROR, ""},
  {"0120040102", DCCP_RESET_MANDATORY_ERROR, ""},
  /* The entries from here on test which values of features the server accepts.
   * The profile of this project (docs/dccp-thin.md) defines these values. */
  {"01200503" "0064", DCCP_RESET_MANDATORY_ERROR, ""},
  {"20040400", 0, "230604000001"},
  {"20040401", 0, "230604010001"},
  {"20040701", 0, "230607010001"},
  {"22040700", 0, "210607000001"},
  {"22048001", 0, "210680010100"},
  {"20048001", 0, "230680010100"},
  {"2204c000", 0, "2106c0000100"},
  {"2204c001", 0, "2106c0010100"},
  {"2004c000", 0, "2306c0000100"},
  /* The next two rows test the feature Minimum Checksum Coverage, which says
   * which checksum coverage (CsCov) an endpoint accepts. In the first row, the
   * client asks by a Change R whether the server accepts a CsCov of 2 or more.
   * The server accepts only packets whose checksum covers all bytes. It must
   * therefore answer with the value 0, which stands for all bytes.
   *
   * In the second row, the client announces by a Change L that it accepts a
   * CsCov of 3 or more. The server must confirm the value 3. */
  {"22040802", 0, "2105080000"},
  {"20040803", 0, "23140803000102030405060708090a0b0c0d0e0f"},
  /* The client asks for the value 255 of the feature Send NDP Count. This value
   * is reserved, and the preference list of the server does not contain it. The
   * feature must therefore keep the value 0. */
  {"200407ff", 0, "230607000001"},
  /* The client sends a Change with several values. The server must choose the
   * first value in its own preference list that the client's list also
   * contains. */
  {"2005070100", 0, "230607000001"},
  {"2205c00001", 0, "2106c0010100"},
  /* A Change with an empty preference list is invalid (RFC 4340 section 6.6.8).
   * The server must answer with an empty Confirm, or with a Reset if Mandatory
   * precedes the Change. */
  {"200307", 0, "230307"},
  {"220301", 0, "210301"},
  {"01200307", DCCP_RESET_MANDATORY_ERROR, ""},
  /* A Change without a feature number is ignored. If a Mandatory option
   * precedes such a Change, the connection is reset. */
  {"2002", 0, ""},
  {"012002", DCCP_RESET_MANDATORY_ERROR, ""},
  /* Sequence Window (section 7.5.2) */
  {"200903000000000020", 0, "230903000000000020"},
  {"200903" "3fffffffffff", 0, "230903" "3fffffffffff"},
  {"20090300000000001f", 0, "230303"},
  {"200903" "400000000000", 0, "230303"},
  {"0120090300000000001f", DCCP_RESET_MANDATORY_ERROR, ""},
  {"200803" "0000002710", 0, "230303"},
  {"200a03" "00000000002710", 0, "230303"},
  /* The peer asks for another value of the server's own Sequence Window. Only
   * the server may choose this value, so it must refuse the Change by an empty
   * Confirm. */
  {"220903000000002710", 0, "210303"},
  {"01220903000000002710", DCCP_RESET_MANDATORY_ERROR, ""},
  /* Ack Ratio, erratum 1049 */
  {"2005050000", 0, "2305050000"},
  {"200505ffff", 0, "230505ffff"},
  {"20040500", 0, "230305"},
  {"22050500ff", 0, "210305"},
  /* unknown, 6.6.7 */
  {"20047e01", 0, "23037e"},
  {"22037e", 0, "21037e"},
  {"200400aa", 0, "230300"},
  {"2209ff010203040506", 0, "2103ff"},
  {"0120047e01", DCCP_RESET_MANDATORY_ERROR, ""},
  {"0122047e01", DCCP_RESET_MANDATORY_ERROR, ""},
  /* If a packet contains several Changes of one feature, the server must
   * confirm only the last one of them. */
  {"20040701" "20040700", 0, "230607000001"},
  {"20047e01" "22047e01" "2004ff01", 0, "23037e" "2303ff" "21037e"},
  /* A packet has only options that do not belong to feature negotiation. The
   * server must neither confirm them nor reset the connection. */
  {"02" "2b040001" "c006ffffffff", 0, ""},
};

GST_START_TEST (changes_are_answered)
{
  const Exchange *exchange = &exchanges[__i__];
  End end = new_asking_end (&server_config);
  guint8 reset = input_hex (&end, DCCP_ACK, ISR, ISS, exchange->change);

  fail_unless (reset == exchange->reset, "%s: Reset %u", exchange->change,
      reset);
  if (reset == 0)
    assert_output (&end, 0, exchange->confirm);
  assert_output (&end, 0, "");  /* Confirms go once */
  dccp_features_free (end.features);
}

GST_END_TEST;

/* RFC 4340 section 6.3.1: both endpoints have a preference list for a feature.
 * The chosen value is the first entry in the server's list that is also in the
 * client's list. In this test, the list of the tested endpoint is 4 to 15 and
 * then 0. The list of its peer is 3, 9, 5, 0. The value must be 9 if the peer
 * is the server, and 5 if the tested endpoint is the server. */
GST_START_TEST (the_list_of_the_server_rules)
{
  DccpFeaturesConfig config = { FALSE, 100, 4, 0, ISS, ccids };
  End end = new_asking_end (&config);

  fail_unless_equals_int (input_next (&end, "2206080309" "0500"), 0);
  assert_feature (&end, DCCP_FEATURE_MIN_COVERAGE, TRUE, 9);
  dccp_features_free (end.features);

  config.is_server = TRUE;
  end = new_asking_end (&config);
  fail_unless_equals_int (input_next (&end, "2206080309" "0500"), 0);
  assert_feature (&end, DCCP_FEATURE_MIN_COVERAGE, TRUE, 5);
  dccp_features_free (end.features);
}

GST_END_TEST;

/* RFC 4340 section 6.6.6: both endpoints send a Change of the same feature at
 * the same time. The tested endpoint must treat the peer's Change as the answer
 * to its own Change. */
GST_START_TEST (simultaneous_changes_answer_each_other)
{
  End end = new_asking_end (&server_config);

  fail_unless_equals_int (input_next (&end, "20040103" "22040103"), 0);
  fail_unless (dccp_features_are_settled (end.features));
  assert_output (&end, 0, "2305010303" "2105010303");
  assert_output (&end, SECONDS, WINDOW ECN RTT_ESTIMATE LOSS_EVENT_RATE);
  dccp_features_free (end.features);
}

GST_END_TEST;

/* The client asks the server for the value 0 of the feature ECN Incapable. The
 * server refuses this, because it supports only the value 1. It must
 * nevertheless send its own Change, which announces the value 1. */
GST_START_TEST (we_say_that_we_are_ecn_incapable)
{
  End end = new_end (&server_config);

  fail_unless_equals_int (input_hex (&end, DCCP_REQUEST, ISR, 0, "22040400"),
      0);
  assert_output (&end, 0, "2105040001" PROFILE);
  fail_unless_equals_int (input_next (&end, "2305040101"), 0);
  assert_feature (&end, DCCP_FEATURE_ECN_INCAPABLE, TRUE, 1);
  dccp_features_free (end.features);
}

GST_END_TEST;

/* The peer sends Changes of all features that the endpoint does not know. The
 * endpoint must answer each of these Changes exactly once, although the answers
 * need several packets. */
GST_START_TEST (unknown_features_are_all_answered)
{
  End end = new_asking_end (&server_config);
  guint8 change[4] = { DCCP_OPTION_CHANGE_L, 4, 0, 1 };
  DccpOptionWriter writer;
  guint number, known = 0, answered = 0;

  for (number = 0; number < 256; number++) {
    change[2] = number;
    change[0] = DCCP_OPTION_CHANGE_L;
    if (number == 0 || (number > 9 && number != 128 && number != 192)) {
      input_packet (&end, DCCP_ACK, end.received + 1, end.sent, change, 4);
      change[0] = DCCP_OPTION_CHANGE_R;
      input_packet (&end, DCCP_ACK, end.received + 1, end.sent, change, 4);
    } else
      known++;
  }
  fail_unless_equals_int (known, 11);
  while (dccp_features_want_packet (end.features, 0)) {
    dccp_option_writer_init (&writer);
    dccp_features_write (end.features, 0, ++end.sent, &writer);
    fail_unless (writer.size > 0 && writer.size % 3 == 0);
    answered += writer.size / 3;
  }
  fail_unless_equals_int (answered, 2 * (256 - known));
  dccp_features_free (end.features);
}

GST_END_TEST;

/* If a packet has no room for an option, the endpoint must send the option in a
 * later packet. If the option is a Change, the later packet counts as the first
 * transmission of the Change. */
GST_START_TEST (option_without_room_is_sent_later)
{
  End end = new_end (&server_config);
  DccpOptionWriter writer;

  input_hex (&end, DCCP_REQUEST, ISR, 0, "20047e01" "20040701");
  dccp_option_writer_init (&writer);
  writer.size = sizeof (writer.bytes) - 5;
  dccp_features_write (end.features, 0, ++end.sent, &writer);
  fail_unless (writer.is_full);
  fail_unless (dccp_features_want_packet (end.features, 0));
  fail_unless (writer.size > sizeof (writer.bytes) - 5);
  assert_output (&end, 0, "230607010001" "0120040103" WINDOW ECN
      RTT_ESTIMATE LOSS_EVENT_RATE "23037e");
  dccp_features_free (end.features);
}

GST_END_TEST;

/* --- Confirms of the peer ------------------------------------------------- */

/* The client sends the Change options of the profile of this project
 * (docs/dccp-thin.md), and receives Confirm options in return. Each entry of
 * this table contains Confirm options that the client receives (`confirm`), and
 * a Reset code (`reset`). The client must answer the Confirm options by a Reset
 * with this code. If the code is 0, the client must send no Reset. */
static const struct
{
  const gchar *confirm;
  guint8 reset;
  /* TRUE if the Confirm answers a Change of the client. The client then no
   * longer sends this Change.
   */
  gboolean is_answer;
} confirms[] = {
  {"2105010303", 0, TRUE},
  {"2305010303", 0, TRUE},
  /* A Confirm option usually contains a value and a preference list. This one
   * contains the value, but no list. The client must accept it. */
  {"230401" "03", 0, TRUE},
  /* A Confirm option consists of the chosen value and the peer's preference
   * list. Here the value is 3, but the list contains only 2. The Confirm is
   * therefore invalid. */
  {"230501" "0302", DCCP_RESET_OPTION_ERROR, TRUE},
  /* The CCID is not the client's. */
  {"23050102" "02", DCCP_RESET_OPTION_ERROR, TRUE},
  /* This Confirm chooses the value 2, but the first common entry of the two
   * preference lists is 3. The client must reset the connection. */
  {"23050102" "03", DCCP_RESET_OPTION_ERROR, TRUE},
  {"23040102", DCCP_RESET_OPTION_ERROR, TRUE},
  {"23040104", DCCP_RESET_OPTION_ERROR, TRUE},
  /* An empty Confirm says that the peer does not know the feature of a Change.
   * Here empty Confirms answer the Changes of CCID and of Sequence Window. The
   * client cannot work without these features, so it must reset the connection
   * (RFC 4340 section 6.6.7). */
  {"210301", DCCP_RESET_OPTION_ERROR, TRUE},
  {"230303", DCCP_RESET_OPTION_ERROR, TRUE},
  {"230304", 0, TRUE},          /* ECN Incapable is optional. */
  /* An empty Confirm says that the peer does not know the feature Send Loss
   * Event Rate. The client can work without this feature, so it must not reset
   * the connection. */
  {"2103c0", 0, TRUE},
  {"210380", 0, TRUE},          /* Send RTT Estimate is optional (RFC 6323). */
  {"2105c0" "0101", 0, TRUE},
  {"2105c0" "0000", 0, TRUE},   /* the server refuses */
  /* The next two entries are Confirms of the feature Send Loss Event Rate in
   * which the server's preference list is 0, 1. The client accepts both values.
   * The chosen value must be the first entry of the server's list that the
   * client accepts, which is 0. If it is 1, the client must reset the
   * connection. */
  {"2106c0" "000001", 0, TRUE},
  {"2106c0" "010001", DCCP_RESET_OPTION_ERROR, TRUE},
  {WINDOW_CONFIRMED, 0, TRUE},
  {"230903000000002711", DCCP_RESET_OPTION_ERROR, TRUE},
  {"230803" "0000002710", DCCP_RESET_OPTION_ERROR, TRUE},
  /* Mandatory makes no difference (section 6.6.9). */
  {"01230304", 0, TRUE},
  /* A Confirm that answers no Change of the client is ignored (RFC 4340 section
   * 6.6.8). */
  {"210903000000002710", 0, FALSE},
  {"2305020101", 0, FALSE},
  {"2304077f", 0, FALSE},
  {"23037e", 0, FALSE},
  {"2302", 0, FALSE},
};

GST_START_TEST (confirms_are_checked)
{
  End end = new_asking_end (&client_config);
  guint8 reset = input_next (&end, confirms[__i__].confirm);
  DccpOptionWriter writer;

  fail_unless (reset == confirms[__i__].reset, "%s: Reset %u",
      confirms[__i__].confirm, reset);
  if (reset == 0) {
    dccp_option_writer_init (&writer);
    dccp_features_write (end.features, SECONDS, ++end.sent, &writer);
    fail_unless_equals_int (writer.size < strlen (PROFILE) / 2,
        confirms[__i__].is_answer);
  }
  dccp_features_free (end.features);
}

GST_END_TEST;

GST_START_TEST (confirms_set_the_values)
{
  End end = new_asking_end (&client_config);

  fail_unless_equals_int (input_next (&end, "2105010303"), 0);
  assert_feature (&end, DCCP_FEATURE_CCID, FALSE, 3);
  fail_if (dccp_features_are_settled (end.features));
  fail_unless_equals_int (input_next (&end, "2305010303"
          WINDOW_CONFIRMED "2305040101" "2105800101" "2105c00000"), 0);
  fail_unless (dccp_features_are_settled (end.features));
  assert_feature (&end, DCCP_FEATURE_SEQUENCE_WINDOW, TRUE, 10000);
  assert_feature (&end, DCCP_FEATURE_ECN_INCAPABLE, TRUE, 1);
  assert_feature (&end, CCID3_FEATURE_SEND_LOSS_EVENT_RATE, FALSE, 0);
  fail_unless (dccp_features_next_wakeup (end.features) == G_MAXUINT64);
  assert_output (&end, 100 * SECONDS, "");
  dccp_features_free (end.features);
}

GST_END_TEST;

/* --- retransmission, section 6.6.3 ---------------------------------------- */

GST_START_TEST (changes_go_out_again_at_growing_intervals)
{
  End end = new_end (&client_config);
  guint64 now = 7 * SECONDS, interval = 200 * MILLISECONDS;
  guint i;

  assert_output (&end, now, PROFILE);
  for (i = 0; i < 12; i++) {
    fail_unless_equals_uint64 (dccp_features_next_wakeup (end.features),
        now + interval);
    assert_output (&end, now + interval - 1, "");
    now += interval;
    /* A retransmission must have the same options as the first transmission
     * (RFC 4340 section 6.6.4). */
    assert_output (&end, now, PROFILE);
    interval = MIN (2 * interval, 64 * SECONDS);
  }
  fail_unless_equals_uint64 (interval, 64 * SECONDS);
  dccp_features_free (end.features);
}

GST_END_TEST;

GST_START_TEST (the_first_interval_is_a_round_trip)
{
  End end = new_end (&client_config);

  dccp_features_set_round_trip (end.features, 3 * SECONDS);
  assert_output (&end, 0, PROFILE);
  fail_unless_equals_uint64 (dccp_features_next_wakeup (end.features),
      3 * SECONDS);
  dccp_features_free (end.features);

  end = new_end (&client_config);
  dccp_features_set_round_trip (end.features, MILLISECONDS);
  assert_output (&end, 0, PROFILE);
  fail_unless_equals_uint64 (dccp_features_next_wakeup (end.features),
      200 * MILLISECONDS);
  dccp_features_free (end.features);
}

GST_END_TEST;

/* The endpoint sends its Change options twice, in two packets. The peer's
 * answer acknowledges only the first of these packets. The endpoint must
 * nevertheless accept the Confirm options in the answer. */
GST_START_TEST (an_answer_to_the_first_of_them_will_do)
{
  End end = new_end (&client_config);

  assert_output (&end, 0, PROFILE);
  assert_output (&end, SECONDS, PROFILE);
  fail_unless_equals_int (input_hex (&end, DCCP_RESPONSE, ISR, ISS,
          "2305010303" "2105010303"), 0);
  fail_unless (dccp_features_are_settled (end.features));
  assert_output (&end, 2 * SECONDS, WINDOW ECN RTT_ESTIMATE LOSS_EVENT_RATE);
  dccp_features_free (end.features);
}

GST_END_TEST;

/* --- reordering, section 6.6.4 -------------------------------------------- */

GST_START_TEST (options_out_of_order_are_ignored)
{
  End end = new_asking_end (&client_config);

  fail_unless_equals_int (input_hex (&end, DCCP_ACK, ISR + 10, ISS,
          "20040701"), 0);
  assert_output (&end, 0, "230607010001");
  /* ISR is the sequence number of the peer's first packet. The endpoint has
   * just processed the options of the packet with the number ISR + 10. Now four
   * packets arrive that contain Change options. Their sequence numbers are ISR
   * + 10 or lower. These packets are duplicates or late, so the endpoint must
   * ignore their options. */
  fail_unless_equals_int (input_hex (&end, DCCP_ACK, ISR + 10, ISS,
          "20040700"), 0);
  fail_unless_equals_int (input_hex (&end, DCCP_ACK, ISR + 9, ISS,
          "20040700" "2305010303" "20047e00"), 0);
  fail_unless_equals_int (input_hex (&end, DCCP_ACK, ISR, ISS,
          "0120047e00"), 0);
  fail_unless_equals_int (input_hex (&end, DCCP_ACK, ISR - 1, ISS,
          "20040700"), 0);
  assert_output (&end, 0, "");
  assert_feature (&end, DCCP_FEATURE_SEND_NDP_COUNT, FALSE, 1);
  assert_feature (&end, DCCP_FEATURE_CCID, TRUE, 2);
  /* The latest packet whose options the endpoint has processed is ISR + 10. Now
   * the packet ISR + 20 arrives, but it has no options for feature negotiation.
   * Then the packet ISR + 11 arrives, which has such options. The endpoint must
   * accept these options, because the packet ISR + 20 does not make them old.
   */
  fail_unless_equals_int (input_hex (&end, DCCP_ACK, ISR + 20, ISS, "02"), 0);
  fail_unless_equals_int (input_hex (&end, DCCP_ACK, ISR + 11, ISS,
          "20040700"), 0);
  assert_output (&end, 0, "230607000001");
  dccp_features_free (end.features);
}

GST_END_TEST;

/* ISR is the sequence number of the peer's first packet. A packet with the
 * number ISR - 1 contains a Change option. The endpoint must ignore this
 * option. The packet with the number ISR contains two Change options. The
 * endpoint must confirm both. */
GST_START_TEST (options_before_the_first_packet_are_ignored)
{
  End end = new_asking_end (&client_config);

  fail_unless_equals_int (input_hex (&end, DCCP_ACK, ISR - 1, ISS,
          "20040701"), 0);
  assert_output (&end, 0, "");
  fail_unless_equals_int (input_hex (&end, DCCP_ACK, ISR, ISS,
          "20040701" "22040701"), 0);
  assert_output (&end, 0, "230607010001" "210607010001");
  dccp_features_free (end.features);
}

GST_END_TEST;

GST_START_TEST (confirms_of_earlier_changes_are_ignored)
{
  End end = new_end (&client_config);

  end.sent = ISS + 4;
  assert_output (&end, 0, PROFILE);     /* on ISS + 5 */
  fail_unless_equals_int (input_hex (&end, DCCP_ACK, ISR, ISS + 4,
          "2305010303" "2105010303"), 0);
  fail_if (dccp_features_are_settled (end.features));
  /* A Confirm is an answer only if its packet acknowledges a packet that
   * contained the Change. A packet without an acknowledgement number, such as a
   * Request, acknowledges nothing. The endpoint must therefore ignore the
   * Confirm options in such a packet. */
  fail_unless_equals_int (input_hex (&end, DCCP_REQUEST, ISR + 1, ISS + 5,
          "2305010303" "2105010303"), 0);
  fail_if (dccp_features_are_settled (end.features));
  fail_unless_equals_int (input_hex (&end, DCCP_ACK, ISR + 2, ISS + 5,
          "2305010303" "2105010303"), 0);
  fail_unless (dccp_features_are_settled (end.features));
  dccp_features_free (end.features);
}

GST_END_TEST;

GST_START_TEST (order_goes_on_where_numbers_turn_round)
{
  End end = new_asking_end (&client_config);

  dccp_features_set_initial_received (end.features, DCCP_SEQUENCE_MASK);
  end.received = DCCP_SEQUENCE_MASK - 1;
  fail_unless_equals_int (input_next (&end, "20040701"), 0);
  assert_output (&end, 0, "230607010001");
  fail_unless_equals_int (input_next (&end, "20040700"), 0);
  fail_unless_equals_uint64 (end.received, 0);
  assert_output (&end, 0, "230607000001");
  fail_unless_equals_int (input_hex (&end, DCCP_ACK, DCCP_SEQUENCE_MASK, ISS,
          "20040701"), 0);
  assert_output (&end, 0, "");
  dccp_features_free (end.features);
}

GST_END_TEST;

/* FGSR is the number of the last received packet that had options for feature
 * negotiation. A packet with a number before FGSR is old, and its options are
 * ignored. Sequence numbers are circular, so a number that is ahead of FGSR by
 * more than half of the number space seems to be before FGSR.
 *
 * In this test, packets without such options move the sequence numbers ahead by
 * three quarters of the number space. Then a packet with a Change arrives. The
 * endpoint must accept this Change (RFC 4340 erratum 974). */
GST_START_TEST (half_a_turn_without_options_is_no_reordering)
{
  const guint64 quarter = G_GUINT64_CONSTANT (1) << 46;
  End end = new_asking_end (&client_config);
  guint i;

  fail_unless_equals_int (input_hex (&end, DCCP_ACK, ISR, ISS, "20040701"), 0);
  assert_output (&end, 0, "230607010001");
  for (i = 1; i <= 3; i++)
    fail_unless_equals_int (input_hex (&end, DCCP_ACK, ISR + i * quarter, ISS,
            "02"), 0);
  fail_unless_equals_int (input_next (&end, "20040700"), 0);
  assert_output (&end, 0, "230607000001");
  dccp_features_free (end.features);
}

GST_END_TEST;

/* FGSS is the number of the first packet in which the endpoint sent its Change
 * options. In this test, the endpoint's newest packet is ahead of FGSS by three
 * quarters of the number space. Sequence numbers are circular, so the newest
 * packet seems to be older than FGSS. The peer sends a Confirm that
 * acknowledges the newest packet. The endpoint must nevertheless accept this
 * Confirm (RFC 4340 erratum 974). */
GST_START_TEST (half_a_turn_of_our_own_makes_no_confirm_late)
{
  const guint64 quarter = G_GUINT64_CONSTANT (1) << 46;
  End end = new_asking_end (&client_config);
  guint i;

  for (i = 1; i <= 3; i++) {
    end.sent = ISS + i * quarter;
    fail_unless_equals_int (input_next (&end, "02"), 0);
  }
  fail_unless_equals_int (input_next (&end, "2305010303" "2105010303"), 0);
  fail_unless (dccp_features_are_settled (end.features));
  dccp_features_free (end.features);
}

GST_END_TEST;

static Suite *
dccpfeatures_suite (void)
{
  Suite *s = suite_create ("dccpfeatures");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, first_packet_asks_for_the_profile);
  tcase_add_test (tc, features_begin_with_their_initial_values);
  tcase_add_test (tc, two_of_us_agree_in_a_handshake);
  tcase_add_loop_test (tc, coverage_is_what_both_want, 1, 16);
  tcase_add_test (tc, linux_answers);
  tcase_add_test (tc, linux_answers_to_nothing);
  tcase_add_test (tc, linux_asks);
  tcase_add_loop_test (tc, changes_are_answered, 0, G_N_ELEMENTS (exchanges));
  tcase_add_test (tc, the_list_of_the_server_rules);
  tcase_add_test (tc, simultaneous_changes_answer_each_other);
  tcase_add_test (tc, we_say_that_we_are_ecn_incapable);
  tcase_add_test (tc, unknown_features_are_all_answered);
  tcase_add_test (tc, option_without_room_is_sent_later);
  tcase_add_loop_test (tc, confirms_are_checked, 0, G_N_ELEMENTS (confirms));
  tcase_add_test (tc, confirms_set_the_values);
  tcase_add_test (tc, changes_go_out_again_at_growing_intervals);
  tcase_add_test (tc, the_first_interval_is_a_round_trip);
  tcase_add_test (tc, an_answer_to_the_first_of_them_will_do);
  tcase_add_test (tc, options_out_of_order_are_ignored);
  tcase_add_test (tc, options_before_the_first_packet_are_ignored);
  tcase_add_test (tc, confirms_of_earlier_changes_are_ignored);
  tcase_add_test (tc, order_goes_on_where_numbers_turn_round);
  tcase_add_test (tc, half_a_turn_without_options_is_no_reordering);
  tcase_add_test (tc, half_a_turn_of_our_own_makes_no_confirm_late);
  return s;
}

GST_CHECK_MAIN (dccpfeatures);
