/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the reading of DCCP packets. The target checks four properties:
 * - Arbitrary bytes are either refused for the correct reason, or parsed. The
 *   parser reads no bytes beyond their end.
 * - If a parsed packet and its options are written again, the result has the
 *   same bytes, except for reserved bits.
 * - Feature negotiation with arbitrary options sends only valid answers, and
 *   the values of all features stay valid.
 * - Two correct endpoints agree on the features even if packets between them
 *   are lost, duplicated and delayed.
 *
 * Input: one byte that selects the action, then the data of the action. The
 * data depend on the action:
 * - Action 0 (parse): one byte, then the packet. Bits 0 and 1 of the byte
 *   select the path (0 IPv4, 1 IPv6, 2 UDP). If bit 2 is set, the target
 *   inserts the correct checksum.
 * - Action 1 (options): the type of the packet, then the options.
 * - Action 2 (forged features): the role of the endpoint and its checksum
 *   coverages, then packets. Each packet has a type, a sequence number, an
 *   acknowledgement number, a time since the previous packet, a size and
 *   options.
 * - Action 3 (agree): the checksum coverages of each of the two endpoints, then
 *   the commands of a simulation. A command says, for example, that an endpoint
 *   sends a packet which arrives, or which is lost (see the enum Order). */

#include "fuzz.h"
#include "ccid3options.h"
#include "dccpfeatures.h"

#define SECONDS G_GUINT64_CONSTANT (1000000000)
#define ISS G_GUINT64_CONSTANT (0xfffffffffff0)
#define ISR G_GUINT64_CONSTANT (5000)
#define MAX_HELD 8

typedef enum
{
  PARSE,
  OPTIONS,
  RECEIVE_FORGED,
  AGREE,
  ACTION_LAST
} Action;

/* --- packets -------------------------------------------------------------- */

#define PUT_CHECKSUM 4

static const DatagramPath paths[] = {
  {{198, 51, 100, 7}, 0, 4, 0, {192, 0, 2, 1}, 0},
  {{0xfe, 0x80, 9}, 2, 16, 0, {0x20, 1, 0xd, 0xb8, 0xff}, 0},
  {{198, 51, 100, 7}, 0, 4, DCCP_ENCAPSULATION_PORT, {192, 0, 2, 1}, 7000},
};

/* A simple implementation of the checksum of RFC 1071. */
static guint16
sum_plainly (const DatagramPath * path, const guint8 * bytes, gsize covered,
    gsize size)
{
  guint32 sum = DCCP_PROTOCOL + size;
  gsize i;

  for (i = 0; i < path->address_size; i++)
    sum += (path->local[i] + path->remote[i]) << (i % 2 ? 0 : 8);
  for (i = 0; i < covered; i++)
    sum += bytes[i] << (i % 2 ? 0 : 8);
  while (sum >> 16)
    sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

/* Returns the size of the header of a packet of the type `type`. RFC 4340
 * section 5.1: the generic header has 12 or 16 bytes. The fields of the packet
 * type follow. */
static gsize
get_header_size (guint type, gboolean extended)
{
  gsize size = extended ? 16 : 12;

  if (type != DCCP_REQUEST && type != DCCP_DATA && type != DCCP_LISTEN)
    size += extended ? 8 : 4;
  if (type == DCCP_REQUEST || type == DCCP_RESPONSE || type == DCCP_RESET
      || type == DCCP_LISTEN)
    size += 4;
  return size;
}

static gsize
get_covered (const guint8 * bytes, gsize size)
{
  const guint coverage = bytes[5] & 0x0f;

  return coverage ? bytes[4] * 4 + (coverage - 1) * 4 : size;
}

/* A simple parser of DCCP packets. Returns the reason for which a correct
 * parser must refuse the packet, or DCCP_ACCEPTED if the packet is valid. The
 * checksum is not verified. */
static DccpRefusal
find_fault (const guint8 * bytes, gsize size)
{
  guint type;
  gboolean extended;

  if (size < 12)
    return DCCP_REFUSED_SHORT;
  type = bytes[8] >> 1 & 0x0f;
  extended = bytes[8] & 1;
  if (type > DCCP_LISTEN)
    return DCCP_REFUSED_TYPE;
  if (!extended && (type < DCCP_DATA || type > DCCP_DATA_ACK))
    return DCCP_REFUSED_SHORT_SEQUENCE;
  if (size < get_header_size (type, extended))
    return DCCP_REFUSED_SHORT;
  if (bytes[4] * 4u < get_header_size (type, extended)
      || bytes[4] * 4u > size)
    return DCCP_REFUSED_OFFSET;
  if (get_covered (bytes, size) > size)
    return DCCP_REFUSED_COVERAGE;
  return DCCP_ACCEPTED;
}

static void
put_checksum (const DatagramPath * path, guint8 * bytes, gsize size)
{
  guint16 checksum;

  bytes[6] = bytes[7] = 0;
  checksum = ~sum_plainly (path, bytes, get_covered (bytes, size), size);
  bytes[6] = checksum >> 8;
  bytes[7] = checksum;
}

/* Returns the bits of byte `i` that a comparison must ignore: the reserved bits
 * (RFC 4340 section 5.1) and, if DCCP is encapsulated in UDP, the bits of the
 * checksum. */
static guint8
get_ignored_bits (const DccpPacket * packet, const DatagramPath * path, gsize i)
{
  const gsize acknowledgement = packet->extended ? 16 : 12;

  if (i == 6 || i == 7)
    return path->remote_port ? 0xff : 0;
  if (i == 8)
    return 0xe0;
  if (packet->extended && i == 9)
    return 0xff;
  if (dccp_type_has_acknowledgement (packet->type)
      && (i == acknowledgement
          || (packet->extended && i == acknowledgement + 1)))
    return 0xff;
  return 0;
}

/* Returns whether a reserved bit is set in the received header. The codec
 * always writes reserved bits as 0. The checksum covers the reserved bits. If a
 * reserved bit is set in the received header, the checksum of the written
 * header therefore differs from the received checksum. */
static gboolean
has_reserved (const DccpPacket * packet, const guint8 * bytes)
{
  gsize i;

  for (i = 8; i < (gsize) (packet->options - bytes); i++)
    if (bytes[i] & get_ignored_bits (packet, &paths[0], i))
      return TRUE;
  return FALSE;
}

static void
check_written (const DccpPacket * packet, const DatagramPath * path,
    const guint8 * bytes)
{
  const gsize size = packet->payload - bytes;
  guint8 written[DCCP_MAX_HEADER];
  gsize i;

  fuzz_check (dccp_packet_write (packet, path, written) == size);
  if (bytes[6] == 0xff && bytes[7] == 0xff && written[6] == 0)
    /* In one's complement, 0xffff and 0 are the same number. A checksum of
     * 0xffff may therefore become 0 when the packet is written again. Both are
     * correct. */
    written[6] = written[7] = 0xff;
  for (i = 0; i < size; i++) {
    if ((i == 6 || i == 7) && has_reserved (packet, bytes))
      continue;
    fuzz_check (((written[i] ^ bytes[i]) &
            ~get_ignored_bits (packet, path, i)) == 0);
  }
}

static void
check_accepted (const DccpPacket * packet, const DatagramPath * path,
    const guint8 * bytes, gsize size)
{
  fuzz_check (packet->options == bytes +
      get_header_size (packet->type, packet->extended));
  fuzz_check (packet->options + packet->options_size == packet->payload);
  fuzz_check (packet->payload + packet->payload_size == bytes + size);
  fuzz_check (packet->sequence <= DCCP_SEQUENCE_MASK);
  fuzz_check (packet->acknowledgement <= DCCP_SEQUENCE_MASK);
  fuzz_check (dccp_type_get_name (packet->type) != NULL);
  fuzz_check (dccp_reset_code_get_name (packet->reset_code) != NULL);
  check_written (packet, path, bytes);
}

/* --- options -------------------------------------------------------------- */

static void
check_same (const DccpOptionWriter * writer, const DccpOption * option)
{
  fuzz_check (writer->size == option->size + 2u);
  fuzz_check (writer->bytes[0] == option->type);
  fuzz_check (writer->bytes[1] == writer->size);
  fuzz_check (!memcmp (writer->bytes + 2, option->value, option->size));
}

static void
check_number (const DccpOption * option)
{
  DccpOptionWriter writer;
  guint64 number;

  if (option->type < 32 || !dccp_option_read_number (option, &number))
    return;
  dccp_option_writer_init (&writer);
  fuzz_check (dccp_option_write_number (&writer, option->type, number,
          option->size));
  check_same (&writer, option);
}

/* The option that was read may contain a time in more bytes than necessary. The
 * writer uses as few bytes as possible, so only the times are compared, and not
 * the bytes. */
static void
check_times (const DccpOption * option)
{
  DccpOption again = *option;
  DccpOptionWriter writer;
  guint64 time, reread = 0;
  guint32 stamp, restamp;

  dccp_option_writer_init (&writer);
  again.value = writer.bytes + 2;
  if (dccp_option_read_elapsed_time (option, &time)) {
    fuzz_check (dccp_option_write_elapsed_time (&writer, time));
    again.size = writer.bytes[1] - 2;
    fuzz_check (again.size <= option->size);
    fuzz_check (dccp_option_read_elapsed_time (&again, &reread));
    fuzz_check (reread == time);
  }
  dccp_option_writer_init (&writer);
  if (dccp_option_read_timestamp_echo (option, &stamp, &time)) {
    fuzz_check (dccp_option_write_timestamp_echo (&writer, stamp, time));
    again.size = writer.bytes[1] - 2;
    fuzz_check (again.size <= option->size);
    fuzz_check (dccp_option_read_timestamp_echo (&again, &restamp, &reread));
    fuzz_check (reread == time && restamp == stamp);
  }
  dccp_option_writer_init (&writer);
  if (ccid3_option_read_rtt_estimate (option, &time)) {
    fuzz_check (ccid3_option_write_rtt_estimate (&writer, time));
    again.size = writer.bytes[1] - 2;
    fuzz_check (again.size <= option->size);
    fuzz_check (ccid3_option_read_rtt_estimate (&again, &reread));
    fuzz_check (reread == time);
  }
  if (dccp_option_read_timestamp (option, &stamp))
    fuzz_check (option->size == 4);
}

static void
check_loss_intervals (const DccpOption * option)
{
  TfrcIntervals intervals;
  DccpOptionWriter writer;
  gsize i;

  if (!ccid3_option_read_loss_intervals (option, &intervals))
    return;
  fuzz_check (intervals.n >= 1 && intervals.n <= TFRC_MAX_INTERVALS);
  fuzz_check (option->size == 1 + 9 * intervals.n);
  dccp_option_writer_init (&writer);
  fuzz_check (ccid3_option_write_loss_intervals (&writer, &intervals));
  /* `writer` contains the option that was read before and is written again
   * here. The bytes must be the same as in the option that was read, except for
   * the bit E (ECN nonce echo) of each loss interval. */
  for (i = 0; i < option->size; i++)
    fuzz_check (((writer.bytes[2 + i] ^ option->value[i]) &
            (i % 9 == 4 ? 0x7f : 0xff)) == 0);
}

static void
check_drop_blocks (const DccpOption * option)
{
  guint offset = 0, run, n = 0;
  DccpDropCode code;

  while (dccp_option_next_drop_block (option, &offset, &code, &run)) {
    fuzz_check (code <= DCCP_DROP_NONE);
    fuzz_check (run >= 1 && run <= (code == DCCP_DROP_NONE ? 128u : 16u));
    n++;
  }
  fuzz_check (n == option->size);
}

/* Writes `option` once more after it was read from a packet. The written bytes
 * must equal the bytes of the option in the packet. If `option` is mandatory,
 * these bytes include the Mandatory option in front of it. `begin` is the
 * address in the packet where the previous option ends. The bytes of `option`
 * must not begin before this address. */
static void
check_rewritten (const DccpOption * option, const guint8 * begin)
{
  const gsize head = (option->type < 32 ? 1 : 2) + (option->mandatory ? 1 : 0);
  DccpOptionWriter writer;

  fuzz_check (option->value >= begin + head);
  dccp_option_writer_init (&writer);
  fuzz_check (dccp_option_write (&writer, option->mandatory, option->type,
          option->value, option->size));
  fuzz_check (writer.size == head + option->size);
  fuzz_check (!memcmp (writer.bytes, option->value - head, writer.size));
}

static void
check_options (const DccpPacket * packet)
{
  const guint8 *next = packet->options;
  const guint8 *end = packet->options + packet->options_size;
  DccpOptionReader reader;
  DccpOption option;

  dccp_option_reader_init (&reader, packet);
  while (dccp_option_reader_next (&reader, &option)) {
    fuzz_check (packet->type != DCCP_LISTEN);
    fuzz_check (option.type != DCCP_OPTION_PADDING);
    fuzz_check (option.value >= next && option.value + option.size <= end);
    fuzz_check (option.type >= 32 || option.size == 0);
    if (option.type != DCCP_OPTION_MANDATORY && !reader.broken)
      check_rewritten (&option, next);
    next = option.value + option.size;
    check_number (&option);
    check_times (&option);
    check_loss_intervals (&option);
    check_drop_blocks (&option);
  }
  fuzz_check (!dccp_option_reader_next (&reader, &option));
}

static void
parse (FuzzInput * input)
{
  const guint choice = fuzz_take_u8 (input);
  const DatagramPath *path = &paths[(choice & 3) % G_N_ELEMENTS (paths)];
  const gsize size = input->size;
  guint8 *bytes = fuzz_take_copy (input, size);
  DccpRefusal fault = find_fault (bytes, size), refusal;
  DccpPacket packet;

  if (fault == DCCP_ACCEPTED && (choice & PUT_CHECKSUM))
    put_checksum (path, bytes, size);
  if (fault == DCCP_ACCEPTED && !path->remote_port
      && sum_plainly (path, bytes, get_covered (bytes, size), size) != 0xffff)
    fault = DCCP_REFUSED_CHECKSUM;
  refusal = dccp_packet_parse (&packet, path, bytes, size);
  fuzz_check (refusal == fault);
  fuzz_check (dccp_refusal_get_name (refusal) != NULL);
  if (refusal == DCCP_ACCEPTED) {
    check_accepted (&packet, path, bytes, size);
    check_options (&packet);
  }
  g_free (bytes);
}

static void
read_options (FuzzInput * input)
{
  DccpPacket packet = { 0, };
  guint8 *bytes;

  packet.type = fuzz_take_u8 (input) % DCCP_LAST_TYPE;
  packet.options_size = input->size;
  packet.options = bytes = fuzz_take_copy (input, input->size);
  check_options (&packet);
  g_free (bytes);
}

/* --- features from any peer ----------------------------------------------- */

static const DccpFeature features[] = {
  DCCP_FEATURE_CCID, DCCP_FEATURE_SHORT_SEQUENCE, DCCP_FEATURE_SEQUENCE_WINDOW,
  DCCP_FEATURE_ECN_INCAPABLE, DCCP_FEATURE_ACK_RATIO,
  DCCP_FEATURE_SEND_ACK_VECTOR, DCCP_FEATURE_SEND_NDP_COUNT,
  DCCP_FEATURE_MIN_COVERAGE, DCCP_FEATURE_CHECK_DATA_CHECKSUM,
  CCID3_FEATURE_SEND_RTT_ESTIMATE, CCID3_FEATURE_SEND_LOSS_EVENT_RATE
};

/* Returns the maximum value of `feature` that an endpoint accepts. The values
 * are those of Thin, a profile of CCID 3 for small clients (docs/dccp-thin.md).
 */
static guint64
get_max (DccpFeature feature)
{
  switch (feature) {
    case DCCP_FEATURE_CCID:
      return 3;
    case DCCP_FEATURE_SHORT_SEQUENCE:
    case DCCP_FEATURE_SEND_ACK_VECTOR:
    case DCCP_FEATURE_CHECK_DATA_CHECKSUM:
      return 0;
    case DCCP_FEATURE_SEQUENCE_WINDOW:
      return (G_GUINT64_CONSTANT (1) << 46) - 1;
    case DCCP_FEATURE_ACK_RATIO:
      return G_MAXUINT16;
    case DCCP_FEATURE_MIN_COVERAGE:
      return 15;
    default:
      return 1;
  }
}

static void
check_values (DccpFeatures * self)
{
  gboolean local;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (features); i++)
    for (local = FALSE; local <= TRUE; local++) {
      guint64 value = dccp_features_get (self, features[i], local);

      fuzz_check (value <= get_max (features[i]));
      if (features[i] == DCCP_FEATURE_SEQUENCE_WINDOW)
        fuzz_check (value >= 32);
      if (features[i] == DCCP_FEATURE_CCID)
        fuzz_check (value >= 2);
    }
  fuzz_check (dccp_features_are_settled (self) ==
      (dccp_features_get (self, DCCP_FEATURE_CCID, TRUE) == 3
          && dccp_features_get (self, DCCP_FEATURE_CCID, FALSE) == 3));
}

/* Checks the packets that the feature negotiation of one endpoint wants to send
 * after it got arbitrary options. The options in these packets must be valid.
 * The negotiation must stop sending after at most three packets. */
static void
check_output (DccpFeatures * self, guint64 now, guint64 * sent)
{
  DccpPacket packet = { 0, };
  DccpOptionWriter writer;
  DccpOptionReader reader;
  DccpOption option;
  guint n = 0;

  packet.type = DCCP_ACK;
  while (dccp_features_want_packet (self, now)) {
    fuzz_check (n++ < 3);
    *sent = dccp_sequence_add (*sent, 1);
    dccp_option_writer_init (&writer);
    dccp_features_write (self, now, *sent, &writer);
    fuzz_check (writer.size > 0);
    packet.options = writer.bytes;
    packet.options_size = writer.size;
    dccp_option_reader_init (&reader, &packet);
    while (dccp_option_reader_next (&reader, &option))
      fuzz_check (option.type >= DCCP_OPTION_CHANGE_L
          && option.type <= DCCP_OPTION_CONFIRM_R && option.size >= 1);
    fuzz_check (!reader.broken);
  }
  fuzz_check (dccp_features_next_wakeup (self) > now);
}

/* Passes all options of the packet to the feature negotiation `self`. Returns
 * FALSE if one of the options causes a reset of the connection. */
static gboolean
input_options (DccpFeatures * self, const DccpPacket * packet, guint64 gsr,
    guint64 gss)
{
  DccpOptionReader reader;
  DccpOption option;
  guint8 code = 0;

  dccp_option_reader_init (&reader, packet);
  while (code == 0 && dccp_option_reader_next (&reader, &option)) {
    code = dccp_features_input (self, &option, packet);
    fuzz_check (code == 0 || code == DCCP_RESET_OPTION_ERROR
        || code == DCCP_RESET_MANDATORY_ERROR);
    if (code == DCCP_RESET_MANDATORY_ERROR)
      fuzz_check (option.mandatory);
  }
  dccp_features_processed (self, gsr, gss);
  return code == 0;
}

static DccpFeatures *
take_features (FuzzInput * input, gboolean is_server, guint64 iss)
{
  static const DccpCcid *const ccids[] = { &dccp_ccid_3, NULL };
  const guint coverages = fuzz_take_u8 (input);
  DccpFeaturesConfig config = { is_server, 10000 + iss % 7, coverages >> 4,
    coverages & 0x0f, iss, ccids
  };

  return dccp_features_new (&config);
}

static void
receive_forged_packets (FuzzInput * input)
{
  const gboolean is_server = fuzz_take_u8 (input) & 1;
  DccpFeatures *self = take_features (input, is_server, ISS);
  guint64 now = 0, sent = dccp_sequence_add (ISS, -1), received = ISR;
  DccpPacket packet = { 0, };
  gboolean alive = TRUE;
  guint8 *options;
  gsize size;

  dccp_features_set_initial_received (self, ISR);
  while (alive && input->size > 0) {
    check_output (self, now, &sent);
    packet.type = fuzz_take_u8 (input) % DCCP_LISTEN;
    packet.sequence =
        dccp_sequence_add (received, (gint8) fuzz_take_u8 (input));
    packet.acknowledgement =
        dccp_sequence_add (sent, -(gint) fuzz_take_u8 (input) % 8);
    if (dccp_sequence_difference (packet.sequence, received) > 0)
      received = packet.sequence;
    now += SECONDS / 16 * (fuzz_take_u8 (input) & 0x0f);
    size = fuzz_take_u8 (input);
    packet.options_size = MIN (size, input->size);
    packet.options = options = fuzz_take_copy (input, packet.options_size);
    alive = input_options (self, &packet, received, sent);
    check_values (self);
    g_free (options);
  }
  dccp_features_free (self);
}

/* --- features between two endpoints --------------------------------------- */

typedef struct
{
  DccpFeatures *features;
  guint64 sent, received;
  gboolean has_received;
} End;

typedef struct
{
  gboolean to_server;
  guint64 sequence, acknowledgement;
  gboolean has_acknowledgement;
  DccpOptionWriter options;
} Letter;

typedef enum
{
  /* The endpoint sends a packet, which the peer receives immediately. */
  SEND,
  LOSE,
  HOLD,                         /* The packet arrives later. */
  /* A packet that the command HOLD has stored arrives at the peer. The packet
   * stays stored and may arrive again. */
  DELIVER,
  WAIT,
  ORDER_LAST
} Order;

static void
write_letter (End * from, Letter * letter, guint64 now, gboolean to_server)
{
  letter->to_server = to_server;
  from->sent = dccp_sequence_add (from->sent, 1);
  letter->sequence = from->sent;
  letter->acknowledgement = from->received;
  letter->has_acknowledgement = from->has_received;
  dccp_option_writer_init (&letter->options);
  dccp_features_write (from->features, now, from->sent, &letter->options);
  fuzz_check (!letter->options.is_full);
}

static void
read_letter (End * to, const Letter * letter)
{
  DccpPacket packet = { 0, };

  if (!to->has_received) {
    dccp_features_set_initial_received (to->features, letter->sequence);
    to->received = letter->sequence;
    to->has_received = TRUE;
  }
  if (dccp_sequence_difference (letter->sequence, to->received) > 0)
    to->received = letter->sequence;
  packet.type = letter->has_acknowledgement ? DCCP_ACK : DCCP_REQUEST;
  packet.sequence = letter->sequence;
  packet.acknowledgement = letter->acknowledgement;
  packet.options = letter->options.bytes;
  packet.options_size = letter->options.size;
  fuzz_check (input_options (to->features, &packet, to->received, to->sent));
}

/* Ends the simulation. From now on, no packet is lost. Both endpoints must
 * therefore finish the negotiation, and must then have the same value of each
 * feature. */
static void
come_to_an_end (End ends[2], guint64 now)
{
  Letter letter;
  guint i, side;

  for (i = 0; i < 4; i++, now += 65 * SECONDS)
    for (side = 0; side < 2; side++) {
      write_letter (&ends[side], &letter, now, side == 0);
      read_letter (&ends[1 - side], &letter);
    }
  for (side = 0; side < 2; side++) {
    fuzz_check (!dccp_features_want_packet (ends[side].features, now));
    fuzz_check (dccp_features_next_wakeup (ends[side].features) == G_MAXUINT64);
    fuzz_check (dccp_features_are_settled (ends[side].features));
    for (i = 0; i < G_N_ELEMENTS (features); i++)
      fuzz_check (dccp_features_get (ends[side].features, features[i], TRUE) ==
          dccp_features_get (ends[1 - side].features, features[i], FALSE));
    fuzz_check (dccp_features_get (ends[side].features,
            DCCP_FEATURE_SEQUENCE_WINDOW, TRUE) >= 10000);
  }
}

/* Sends a packet from endpoint `side` (0 client, 1 server). The command `order`
 * decides whether the packet is received, lost or stored for later. */
static void
exchange (End ends[2], guint side, Order order, guint64 now,
    Letter held[MAX_HELD], guint * n_held)
{
  Letter letter;

  if (side == 1 && !ends[1].has_received)
    /* A DCCP server does not send before it has received a packet of the
     * client. */
    return;
  write_letter (&ends[side], &letter, now, side == 0);
  if (order == SEND)
    read_letter (&ends[1 - side], &letter);
  else if (order == HOLD && *n_held < MAX_HELD)
    held[(*n_held)++] = letter;
}

static void
agree (FuzzInput * input)
{
  End ends[2] = {
    {take_features (input, FALSE, ISS), ISS - 1,},
    {take_features (input, TRUE, ISR), ISR - 1,}
  };
  Letter held[MAX_HELD];
  guint64 now = 0;
  guint n_held = 0;

  while (input->size > 0) {
    const guint choice = fuzz_take_u8 (input);
    const Order order = (choice & 0x7f) % ORDER_LAST;

    if (order == WAIT)
      now += SECONDS / 8;
    else if (order != DELIVER)
      exchange (ends, choice >> 7, order, now, held, &n_held);
    else if (n_held > 0) {
      const Letter *letter = &held[fuzz_take_u8 (input) % n_held];

      read_letter (&ends[letter->to_server ? 1 : 0], letter);
    }
    check_values (ends[0].features);
    check_values (ends[1].features);
  }
  come_to_an_end (ends, now);
  dccp_features_free (ends[0].features);
  dccp_features_free (ends[1].features);
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };

  switch ((Action) (fuzz_take_u8 (&input) % ACTION_LAST)) {
    case PARSE:
      parse (&input);
      break;
    case OPTIONS:
      read_options (&input);
      break;
    case RECEIVE_FORGED:
      receive_forged_packets (&input);
      break;
    default:
      agree (&input);
  }
  return 0;
}
