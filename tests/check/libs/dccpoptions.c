/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that the options of DCCP and of its congestion control CCID 3 are read
 * and written with the bytes that RFC 4340, RFC 4342 and RFC 6323 define.
 * Further tests check the rules of RFC 4340 for three cases: an option of an
 * invalid length, the option Mandatory, and an option in a packet type that
 * must not contain it.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "ccid3options.h"
#include "dccpoptions.h"

#define MILLISECONDS G_GUINT64_CONSTANT (1000000)
#define SECONDS (1000 * MILLISECONDS)
#define UNIT G_GUINT64_CONSTANT (10000) /* 10 us */

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

/* Reads the options in `hexadecimal` as those of a packet of the type `type`,
 * and describes them as text. Each option is written as its number. "!" before
 * the number means that the option Mandatory preceded it. "=" and hexadecimal
 * digits after the number are its value. A space separates two options. The
 * text ends with "broken" if an invalid option ended the list.
 */
static gchar *
describe (DccpType type, const gchar * hexadecimal)
{
  GString *text = g_string_new (NULL);
  const gsize size = strlen (hexadecimal) / 2;
  /* The options are in a memory block of exactly their size. AddressSanitizer
   * then detects each read beyond their end. */
  guint8 *bytes = g_malloc (size + (size == 0));
  DccpPacket packet = { 0, };
  DccpOptionReader reader;
  DccpOption option;
  guint i;

  put_bytes (bytes, hexadecimal);
  packet.type = type;
  packet.options = bytes;
  packet.options_size = size;
  dccp_option_reader_init (&reader, &packet);
  while (dccp_option_reader_next (&reader, &option)) {
    g_string_append_printf (text, "%s%u", option.mandatory ? "!" : "",
        option.type);
    for (i = 0; i < option.size; i++)
      g_string_append_printf (text, "%s%02x", i ? "" : "=", option.value[i]);
    g_string_append_c (text, ' ');
  }
  fail_if (dccp_option_reader_next (&reader, &option));
  if (reader.broken)
    g_string_append (text, "broken");
  g_free (bytes);
  return g_strchomp (g_string_free (text, FALSE));
}

static void
assert_options (DccpType type, const gchar * hexadecimal,
    const gchar * expected)
{
  gchar *text = describe (type, hexadecimal);

  fail_unless (g_str_equal (text, expected), "%s of %s: \"%s\", not \"%s\"",
      hexadecimal, dccp_type_get_name (type), text, expected);
  g_free (text);
}

/* --- reading -------------------------------------------------------------- */

GST_START_TEST (options_come_one_by_one)
{
  assert_options (DCCP_ACK, "", "");
  assert_options (DCCP_ACK, "00000000", "");
  assert_options (DCCP_ACK, "02", "2");
  assert_options (DCCP_ACK, "2b0412340002c006ffffffff",
      "43=1234 2 192=ffffffff");
  /* options of one byte (section 5.8) */
  assert_options (DCCP_ACK, "0300061f", "3 6 31");
  /* This option has the type 32 and the length 2, which counts only the type
   * and the length. It must be read as an option without a value. */
  assert_options (DCCP_ACK, "2002", "32");
  assert_options (DCCP_ACK, "2d0501020399020000", "45=010203 153");
}

GST_END_TEST;

/* If the length of an option is invalid, this option and all options after it
 * must be ignored (RFC 4340 section 5.8). */
GST_START_TEST (a_nonsensical_length_ends_them)
{
  assert_options (DCCP_ACK, "20", "broken");
  assert_options (DCCP_ACK, "2000", "broken");
  assert_options (DCCP_ACK, "02200102", "2 broken");
  assert_options (DCCP_ACK, "022004010200", "2 32=0102");
  assert_options (DCCP_ACK, "0220050102", "2 broken");
  assert_options (DCCP_ACK, "c0ff000202020202", "broken");
}

GST_END_TEST;

/* The option Mandatory says that the receiver must understand the option that
 * follows Mandatory (RFC 4340 section 5.8.2). The test checks that Mandatory
 * applies to this following option, but to no later one. */
GST_START_TEST (mandatory_is_of_the_option_behind_it)
{
  assert_options (DCCP_ACK, "01200401032004030a", "!32=0103 32=030a");
  assert_options (DCCP_ACK, "013c", "!60 broken");
  assert_options (DCCP_ACK, "013c0202", "!60 2");
  assert_options (DCCP_ACK, "02012b041234", "2 !43=1234");
  assert_options (DCCP_ACK, "01", "1");
  assert_options (DCCP_ACK, "010102", "1 2");
  assert_options (DCCP_ACK, "01000102", "!2");
  assert_options (DCCP_ACK, "01000002", "2");   /* twice Padding */
  assert_options (DCCP_ACK, "01200a", "!32 broken");
  assert_options (DCCP_DATA, "010102", "2");
  assert_options (DCCP_DATA, "02010001", "2");
}

GST_END_TEST;

/* RFC 4340 (table 3), RFC 4342 (section 8) and RFC 6323 (section 3.2) say which
 * options a packet type may contain. For several types, the test reads a packet
 * with all options. The expected text lists the options that this type may
 * contain. All others must be ignored. */
GST_START_TEST (only_some_go_on_data_or_without_acknowledgement)
{
  const gchar *everything = "02" "20030a" "21030a" "22030a" "23030a" "24030a"
      "25030a" "26030a" "27030a" "28030a" "29030a" "2a030a" "2b030a" "2c030a"
      "2d030a" "80030a" "81030a" "c0030a" "c1030a" "c2030a" "c3030a";

  assert_options (DCCP_DATA, everything, "2 37=0a 41=0a 42=0a 44=0a 128=0a");
  assert_options (DCCP_REQUEST, everything,
      "2 32=0a 34=0a 36=0a 37=0a 41=0a 42=0a 44=0a 45=0a 128=0a 129=0a "
      "192=0a 194=0a 195=0a");
  assert_options (DCCP_LISTEN, everything, "");
  assert_options (DCCP_DATA_ACK, everything,
      "2 32=0a 33=0a 34=0a 35=0a 36=0a 37=0a 38=0a 39=0a 40=0a 41=0a 42=0a "
      "43=0a 44=0a 45=0a 128=0a 129=0a 192=0a 193=0a 194=0a 195=0a");
  /* The option Mandatory precedes an option that a Request must not contain.
   * Both options must be ignored. */
  assert_options (DCCP_REQUEST, "01c1030a02", "2");
}

GST_END_TEST;

/* --- values --------------------------------------------------------------- */

/* Reads a packet of the type Ack with a single option and returns this option.
 * `hexadecimal` has the bytes of the option in hexadecimal. They are converted
 * into the memory `bytes`, to which the returned option points. */
static DccpOption
read_one (guint8 * bytes, const gchar * hexadecimal)
{
  DccpPacket packet = { 0, };
  DccpOptionReader reader;
  DccpOption option;

  packet.type = DCCP_ACK;
  packet.options = bytes;
  packet.options_size = put_bytes (bytes, hexadecimal);
  dccp_option_reader_init (&reader, &packet);
  fail_unless (dccp_option_reader_next (&reader, &option), "%s", hexadecimal);
  return option;
}

static void
assert_written (const DccpOptionWriter * writer, const gchar * hexadecimal)
{
  GString *text = g_string_new (NULL);
  gsize i;

  for (i = 0; i < writer->size; i++)
    g_string_append_printf (text, "%02x", writer->bytes[i]);
  fail_unless_equals_string (text->str, hexadecimal);
  g_string_free (text, TRUE);
}

/* Reads an option whose value is a number, and stores the number in `number`.
 * Returns FALSE if the option is invalid. */
static gboolean
read_number (const DccpOption * option, guint64 * number)
{
  guint32 rate;

  if (option->type != CCID3_OPTION_LOSS_EVENT_RATE
      && option->type != CCID3_OPTION_RECEIVE_RATE)
    return dccp_option_read_number (option, number);
  if (!ccid3_option_read_rate (option, &rate))
    return FALSE;
  *number = rate;
  return TRUE;
}

GST_START_TEST (numbers_of_every_size)
{
  const struct
  {
    const gchar *bytes;
    guint64 number;
  } cases[] = {
    {"250300", 0}, {"25037f", 127}, {"25040100", 256},
    {"2508ffffffffffff", DCCP_SEQUENCE_MASK},
    {"c00600000064", 100}, {"c006ffffffff", G_MAXUINT32},
    {"c20600000000", 0}, {"c20601020304", 0x01020304},
    {"2c06deadbeef", 0xdeadbeef},
    {"880affffffffffffffff", G_MAXUINT64},
  };
  guint8 bytes[16];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    DccpOption option = read_one (bytes, cases[i].bytes);
    DccpOptionWriter writer;
    guint64 number;

    fail_unless (read_number (&option, &number));
    fail_unless_equals_uint64 (number, cases[i].number);
    dccp_option_writer_init (&writer);
    fail_unless (dccp_option_write_number (&writer, option.type, number,
            option.size));
    assert_written (&writer, cases[i].bytes);
  }
}

GST_END_TEST;

GST_START_TEST (numbers_of_a_wrong_size_are_none)
{
  const gchar *cases[] = { "2502", "250901020304050607", "c002", "c005010203",
    "c0070102030405", "c205010203", "c2070102030405", "2c050a0b0c", "8802",
    "880b010203040506070809"
  };
  guint8 bytes[16];
  guint64 number;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    DccpOption option = read_one (bytes, cases[i]);

    fail_if (read_number (&option, &number), "%s", cases[i]);
  }
}

GST_END_TEST;

/* An elapsed time can be written in two or in four bytes. RFC 4340 (sections
 * 13.2 and 13.3) demands two bytes for times of less than half a second. The
 * writer must use two bytes whenever the time fits into them. */
GST_START_TEST (times_are_in_as_few_bytes_as_they_need)
{
  const struct
  {
    guint64 elapsed;
    const gchar *elapsed_time, *echo;
    guint64 read;
  } cases[] = {
    {0, "2b040000", "2a0601020304", 0},
    {UNIT - 1, "2b040000", "2a0601020304", 0},
    {UNIT, "2b040001", "2a08010203040001", UNIT},
    {8 * MILLISECONDS, "2b040320", "2a08010203040320", 8 * MILLISECONDS},
    {SECONDS / 2, "2b04c350", "2a0801020304c350", SECONDS / 2},
    {65535 * UNIT, "2b04ffff", "2a0801020304ffff", 65535 * UNIT},
    {65536 * UNIT, "2b0600010000", "2a0a0102030400010000", 65536 * UNIT},
    {G_MAXUINT32 * UNIT, "2b06ffffffff", "2a0a01020304ffffffff",
        G_MAXUINT32 * UNIT},
    {G_MAXUINT64, "2b06ffffffff", "2a0a01020304ffffffff",
        G_MAXUINT32 * UNIT},
  };
  guint8 bytes[16];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    DccpOption option = read_one (bytes, cases[i].elapsed_time);
    DccpOptionWriter writer;
    guint64 elapsed = 1;
    guint32 stamp;

    fail_unless (dccp_option_read_elapsed_time (&option, &elapsed));
    fail_unless_equals_uint64 (elapsed, cases[i].read);
    dccp_option_writer_init (&writer);
    fail_unless (dccp_option_write_elapsed_time (&writer, cases[i].elapsed));
    assert_written (&writer, cases[i].elapsed_time);

    option = read_one (bytes, cases[i].echo);
    elapsed = 1;
    fail_unless (dccp_option_read_timestamp_echo (&option, &stamp, &elapsed));
    fail_unless_equals_uint64 (elapsed, cases[i].read);
    fail_unless_equals_int_hex (stamp, 0x01020304);
    dccp_option_writer_init (&writer);
    fail_unless (dccp_option_write_timestamp_echo (&writer, 0x01020304,
            cases[i].elapsed));
    assert_written (&writer, cases[i].echo);
  }
}

GST_END_TEST;

/* A timestamp has 32 bits (RFC 4340 section 13.1). If the number that is
 * written has more bits, only the lowest 32 bits must be written. */
GST_START_TEST (timestamps_have_32_bits)
{
  const guint64 turn = G_GUINT64_CONSTANT (1) << 32;
  DccpOptionWriter writer;
  guint8 bytes[16];
  DccpOption option = read_one (bytes, "2906deadbeef");
  guint32 stamp;

  dccp_option_writer_init (&writer);
  fail_unless (dccp_option_write_number (&writer, DCCP_OPTION_TIMESTAMP,
          3 * turn + 258, 4));
  assert_written (&writer, "290600000102");
  fail_unless (dccp_option_read_timestamp (&option, &stamp));
  fail_unless_equals_int_hex (stamp, 0xdeadbeef);
}

GST_END_TEST;

/* The option RTT Estimate (RFC 6323) contains a round-trip time in
 * microseconds, which is rounded up. 0 means that there is no estimate.
 * 0xffffff means that the time is at least 0xffffff microseconds; the reader
 * then reports no estimate. */
GST_START_TEST (round_trips_are_in_microseconds)
{
  const struct
  {
    guint64 round_trip;
    const gchar *bytes;
    guint64 read;
  } cases[] = {
    {0, "800300", 0}, {1, "800301", 1000}, {254001, "8003ff", 255000},
    {255001, "80040100", 256000}, {65535000, "8004ffff", 65535000},
    {100 * MILLISECONDS, "80050186a0", 100 * MILLISECONDS},
    {20 * SECONDS, "8005ffffff", 0},
  };
  guint8 bytes[16];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    DccpOption option = read_one (bytes, cases[i].bytes);
    DccpOptionWriter writer;
    guint64 round_trip;

    fail_unless (ccid3_option_read_rtt_estimate (&option, &round_trip));
    fail_unless_equals_uint64 (round_trip, cases[i].read);
    dccp_option_writer_init (&writer);
    fail_unless (ccid3_option_write_rtt_estimate (&writer,
            cases[i].round_trip));
    assert_written (&writer, cases[i].bytes);
  }
}

GST_END_TEST;

GST_START_TEST (times_of_a_wrong_size_are_none)
{
  guint8 bytes[16] = { 0, };
  DccpOption option = { 0, FALSE, bytes, 0 };
  guint64 time;
  guint32 stamp;

  for (option.size = 0; option.size < 16; option.size++) {
    const guint size = option.size;

    fail_unless_equals_int (dccp_option_read_timestamp (&option, &stamp),
        size == 4);
    fail_unless_equals_int (dccp_option_read_timestamp_echo (&option, &stamp,
            &time), size == 4 || size == 6 || size == 8);
    fail_unless_equals_int (dccp_option_read_elapsed_time (&option, &time),
        size == 2 || size == 4);
    fail_unless_equals_int (ccid3_option_read_rtt_estimate (&option, &time),
        size >= 1 && size <= 3);
  }
}

GST_END_TEST;

/* --- loss intervals ------------------------------------------------------- */

/* The option Loss Intervals of the example in RFC 4342, section 8.6.2. `e` is
 * the byte with the ECN nonce echo E. It is "80" in the RFC. The writer of this
 * project does not use ECN and writes "00". */
#define EXAMPLE(e) "c12702" "00000a" e "0001" "00000a" \
  "000008" "000005" "00000a" "000008" "000001" "000008" \
  "00000a" e "0000" "00000f"

GST_START_TEST (loss_intervals_of_the_example)
{
  const TfrcIntervals expected = { 2, 4, {
          {10, 1, 10, TRUE}, {8, 5, 10, FALSE}, {8, 1, 8, FALSE},
      {10, 0, 15, TRUE}}
  };
  guint8 bytes[64];
  DccpOption option = read_one (bytes, EXAMPLE ("80"));
  TfrcIntervals intervals;
  DccpOptionWriter writer;
  guint i;

  memset (&intervals, 0x5a, sizeof (intervals));
  fail_unless (ccid3_option_read_loss_intervals (&option, &intervals));
  fail_unless_equals_int (intervals.skip, expected.skip);
  fail_unless_equals_int (intervals.n, expected.n);
  for (i = 0; i < expected.n; i++) {
    const TfrcInterval *a = &intervals.intervals[i];
    const TfrcInterval *b = &expected.intervals[i];

    fail_unless_equals_int (a->lossless, b->lossless);
    fail_unless_equals_int (a->loss, b->loss);
    fail_unless_equals_int (a->data, b->data);
    fail_unless_equals_int (a->ecn_nonce, b->ecn_nonce);
  }
  dccp_option_writer_init (&writer);
  fail_unless (ccid3_option_write_loss_intervals (&writer, &intervals));
  assert_written (&writer, EXAMPLE ("00"));
}

GST_END_TEST;

GST_START_TEST (loss_intervals_hold_their_bounds)
{
  guint8 value[255] = { 0, };
  DccpOption option = { CCID3_OPTION_LOSS_INTERVALS, FALSE, value, 0 };
  TfrcIntervals intervals;
  guint size;

  for (size = 0; size <= 253; size++) {
    option.size = size;
    fail_unless_equals_int (ccid3_option_read_loss_intervals (&option,
            &intervals), size > 1 && size % 9 == 1);
  }
  option.size = 253;
  fail_unless (ccid3_option_read_loss_intervals (&option, &intervals));
  fail_unless_equals_int (intervals.n, TFRC_MAX_INTERVALS);
  value[0] = 3;
  fail_unless (ccid3_option_read_loss_intervals (&option, &intervals));
  value[0] = 4;                 /* NDUPACK is 3 */
  fail_if (ccid3_option_read_loss_intervals (&option, &intervals));
}

GST_END_TEST;

GST_START_TEST (as_many_loss_intervals_as_there_may_be)
{
  TfrcIntervals intervals = { 3, TFRC_MAX_INTERVALS, {{0,},}
  };
  DccpOptionWriter writer;

  /* These values are too large for their fields. The writer must write the
   * maximum of each field instead. */
  intervals.intervals[0].lossless = G_MAXUINT32;
  intervals.intervals[0].loss = G_MAXUINT32;
  intervals.intervals[0].data = 0x1000000;
  dccp_option_writer_init (&writer);
  fail_unless (ccid3_option_write_loss_intervals (&writer, &intervals));
  fail_unless_equals_uint64 (writer.size, 255);
  fail_unless (!memcmp (writer.bytes, "\xc1\xff\3\xff\xff\xff\x7f\xff\xff"
          "\xff\xff\xff", 12));
}

GST_END_TEST;

/* --- data dropped --------------------------------------------------------- */

/* The example 0, 160, 3, 162 of RFC 4340 section 11.7 */
GST_START_TEST (blocks_of_data_dropped)
{
  const struct
  {
    DccpDropCode code;
    guint run;
  } expected[] = {
    {DCCP_DROP_NONE, 1}, {DCCP_DROP_RECEIVE_BUFFER, 1}, {DCCP_DROP_NONE, 4},
    {DCCP_DROP_RECEIVE_BUFFER, 3}, {DCCP_DROP_NONE, 128},
    {DCCP_DROP_DELIVERED_CORRUPT, 16}, {DCCP_DROP_PROTOCOL, 1},
    {DCCP_DROP_CORRUPT, 2}, {DCCP_DROP_NOT_LISTENING, 16}
  };
  const gchar *hexadecimal = "280b00a003a27fff80b19f";
  guint8 bytes[16];
  DccpOption option = read_one (bytes, hexadecimal);
  DccpOptionWriter writer;
  DccpDropCode code;
  guint offset = 0, run, i;

  for (i = 0; i < G_N_ELEMENTS (expected); i++) {
    fail_unless (dccp_option_next_drop_block (&option, &offset, &code, &run));
    fail_unless_equals_int (code, expected[i].code);
    fail_unless_equals_int (run, expected[i].run);
  }
  fail_if (dccp_option_next_drop_block (&option, &offset, &code, &run));
  dccp_option_writer_init (&writer);
  fail_unless (dccp_option_write_data_dropped (&writer, option.value,
          option.size));
  assert_written (&writer, hexadecimal);
}

GST_END_TEST;

/* --- writing -------------------------------------------------------------- */

/* The examples of RFC 4340 section 6.5 */
GST_START_TEST (features_are_written_as_in_the_examples)
{
  const struct
  {
    guint8 type;
    const gchar *value, *written;
  } cases[] = {
    {DCCP_OPTION_CHANGE_L, "010203", "2005010203"},
    {DCCP_OPTION_CHANGE_L, "03000000000400", "200903000000000400"},
    {DCCP_OPTION_CONFIRM_L, "01020203", "210601020203"},
    {DCCP_OPTION_CONFIRM_L, "7e", "21037e"},
    {DCCP_OPTION_CHANGE_R, "010302", "2205010302"},
    {DCCP_OPTION_CONFIRM_R, "01020302", "230601020302"},
    {DCCP_OPTION_CONFIRM_R, "03000000000400", "230903000000000400"},
    {DCCP_OPTION_CONFIRM_R, "7e", "23037e"},
    {DCCP_OPTION_SLOW_RECEIVER, "", "02"},
  };
  DccpOptionWriter writer;
  guint8 value[8];
  gsize size;
  gchar *text;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    size = put_bytes (value, cases[i].value);
    dccp_option_writer_init (&writer);
    fail_unless (dccp_option_write (&writer, FALSE, cases[i].type, value,
            size));
    assert_written (&writer, cases[i].written);
    dccp_option_writer_init (&writer);
    fail_unless (dccp_option_write (&writer, TRUE, cases[i].type, value, size));
    text = g_strconcat ("01", cases[i].written, NULL);
    assert_written (&writer, text);
    g_free (text);
  }
}

GST_END_TEST;

/* An option that does not fit completely must not be written at all. A shorter
 * option that fits must still be written after that. */
GST_START_TEST (option_without_room_is_not_written)
{
  const guint8 value[253] = { 0, };
  DccpOptionWriter writer;

  dccp_option_writer_init (&writer);
  fail_unless (dccp_option_write (&writer, FALSE, 99, value, 253));
  fail_unless (dccp_option_write (&writer, FALSE, 99, value, 253));
  fail_unless (dccp_option_write (&writer, FALSE, 99, value, 253));
  fail_unless_equals_uint64 (writer.size, 765);
  fail_unless (dccp_option_write (&writer, FALSE, 99, value,
          DCCP_MAX_OPTIONS - 765 - 2 - 4));
  fail_if (writer.is_full);
  fail_if (dccp_option_write (&writer, TRUE, 99, value, 2));
  fail_unless (writer.is_full);
  fail_unless_equals_uint64 (writer.size, DCCP_MAX_OPTIONS - 4);
  fail_unless (dccp_option_write (&writer, FALSE, 99, value, 2));
  fail_if (dccp_option_write (&writer, FALSE, 2, NULL, 0));
  fail_if (dccp_option_write_number (&writer, DCCP_OPTION_TIMESTAMP, 0, 4));
  fail_unless_equals_uint64 (writer.size, DCCP_MAX_OPTIONS);
}

GST_END_TEST;

GST_START_TEST (a_value_is_no_longer_than_its_length_says)
{
  const guint8 value[254] = { 0, };
  DccpOptionWriter writer;

  dccp_option_writer_init (&writer);
  fail_if (dccp_option_write_data_dropped (&writer, value, 254));
  fail_unless (writer.is_full);
  fail_unless_equals_uint64 (writer.size, 0);
  fail_unless (dccp_option_write_data_dropped (&writer, value, 253));
  fail_unless_equals_int (writer.bytes[1], 255);
}

GST_END_TEST;

static Suite *
dccpoptions_suite (void)
{
  Suite *s = suite_create ("dccpoptions");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, options_come_one_by_one);
  tcase_add_test (tc, a_nonsensical_length_ends_them);
  tcase_add_test (tc, mandatory_is_of_the_option_behind_it);
  tcase_add_test (tc, only_some_go_on_data_or_without_acknowledgement);
  tcase_add_test (tc, numbers_of_every_size);
  tcase_add_test (tc, numbers_of_a_wrong_size_are_none);
  tcase_add_test (tc, times_are_in_as_few_bytes_as_they_need);
  tcase_add_test (tc, timestamps_have_32_bits);
  tcase_add_test (tc, round_trips_are_in_microseconds);
  tcase_add_test (tc, times_of_a_wrong_size_are_none);
  tcase_add_test (tc, loss_intervals_of_the_example);
  tcase_add_test (tc, loss_intervals_hold_their_bounds);
  tcase_add_test (tc, as_many_loss_intervals_as_there_may_be);
  tcase_add_test (tc, blocks_of_data_dropped);
  tcase_add_test (tc, features_are_written_as_in_the_examples);
  tcase_add_test (tc, option_without_room_is_not_written);
  tcase_add_test (tc, a_value_is_no_longer_than_its_length_says);
  return s;
}

GST_CHECK_MAIN (dccpoptions);
