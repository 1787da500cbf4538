/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the functions that parse and write MMTP messages against
 * docs/wire-mmtp.md. For each message type there is an example. Its bytes were
 * written by hand according to the layouts of that page, with different values
 * in all fields. Further cases are messages that are too short, too long or
 * invalid according to that page, and numbers that wrap.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "mmtppacket.h"

#define TRAILER "a1a2a3a4a5a6a7a8"
#define TRAILER_VALUE G_GUINT64_CONSTANT (0xa1a2a3a4a5a6a7a8)
#define NO_TRAILER "0000000000000000"
#define NONCE "101112131415161718191a1b1c1d1e1f"
#define NONCE_R "303132333435363738393a3b3c3d3e3f"
#define COOKIE "404142434445464748494a4b4c4d4e4f" \
  "505152535455565758595a5b5c5d5e5f"
#define MAC "606162636465666768696a6b6c6d6e6f"
#define ZEROS_8 "0000000000000000"
#define ZEROS_33 ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8 "00"
#define NONCE_VALUE {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, \
  0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f}
#define NONCE_R_VALUE {0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, \
  0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f}
#define COOKIE_VALUE {0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, \
  0x48, 0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f, \
  0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, \
  0x58, 0x59, 0x5a, 0x5b, 0x5c, 0x5d, 0x5e, 0x5f}
#define MAC_VALUE {0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, \
  0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f}
#define BOTH (MMTP_SENDER | MMTP_RECEIVER)

#define RECORD "05" "07" "01020304" "05060708" "090a0b0c" "0d0e0f10" \
  "11121314" "f51617" "00000456" "fffffff0" "00000123" "191a1b1c"
#define RECORD_VALUE 5, 7, 0x01020304, 0x05060708, 0x090a0b0c, 0x0d0e0f10, \
  0x11121314, 0xf51617, 0x456, -16, 0x123, 0x191a1b1c

typedef struct
{
  const gchar *name;
  /* The endpoint that sends the message: a value of MmtpRole, or BOTH. */
  guint from;
  gsize min;                    /* Shorter messages are refused as SHORT. */
  /* The test passes the first n bytes of the message to the parser, for each
   * possible n. If n is at least `min_valid`, the result is still VALID. */
  gsize min_valid;
  /* Expected result of the parser if further bytes are appended to the message.
   */
  MmtpRefusal longer;
  /* The bytes of the whole message, in hexadecimal. */
  const gchar *bytes;
  MmtpMessage message;
} Vector;

static const guint8 payload[] = { 0xde, 0xad, 0xbe, 0xef };

static const guint8 repaired[] = {
  0xde, 0xad, 0xbe, 0xef, 0xde, 0xad, 0xbe, 0xef
};

static const guint8 text[] = { 'v', 'i', 'd', 'e', 'o' };

static const Vector vectors[] = {
  {"data", MMTP_SENDER, 24, 24, MMTP_VALID,
        "40" "05" "1234" "0abcde" "010203" "11121314" "28" "09"
        "deadbeef" TRAILER,
        {MMTP_DATA, 2, 5, 0x1234, 0x0abcde, TRAILER_VALUE,.data = {
              0x010203, 0x11121314, 0x28, 9, {0,}, payload, 4}}},
  {"data-empty", MMTP_SENDER, 24, 24, MMTP_VALID,
        "40" "ff" "ffff" "ffffff" "ffffff" "ffffffff" "fc" "ff" TRAILER,
        {MMTP_DATA, 2, 255, 65535, 0xffffff, TRAILER_VALUE,.data = {
              0xffffff, 0xffffffff, 0xfc, 255, {0,}, NULL, 0}}},
  {"data-prelude", MMTP_SENDER, 24, 50, MMTP_VALID,
        "40" "05" "1234" "0abcde" "010203" "11121314" "c5" "09"
        "1a" "3f" "fffffffe" "00008235" "000061a8" "00000000003d0900"
        "80000000" "deadbeef" TRAILER,
        {MMTP_DATA, 2, 5, 0x1234, 0x0abcde, TRAILER_VALUE,.data = {
                    0x010203, 0x11121314, 0xc5, 9,
              {0x3f, -2, G_MININT32, 0x8235, 25000, 4000000}, payload, 4}}},
  {"data-only-prelude", MMTP_SENDER, 24, 26, MMTP_VALID,
        "40" "05" "1234" "0abcde" "010203" "11121314" "c1" "09"
        "02" "18" TRAILER,
        {MMTP_DATA, 2, 5, 0x1234, 0x0abcde, TRAILER_VALUE,.data = {
              0x010203, 0x11121314, 0xc1, 9, {0x18,}, NULL, 0}}},
  {"probe", MMTP_SENDER, 15, 15, MMTP_VALID,
        "41" "06" "0102" "030405" "0000000000" TRAILER,
      {MMTP_PROBE, 2, 6, 0x0102, 0x030405, TRAILER_VALUE,.probe = {20}}},
  {"init", MMTP_SENDER, 64, 64, MMTP_VALID,
        "42" "07" "0000" "0a0b0c" NONCE ZEROS_33 NO_TRAILER,
      {MMTP_INIT, 2, 7, 0, 0x0a0b0c, 0,.init = {NONCE_VALUE}}},
  {"cookie", MMTP_RECEIVER, 63, 63, MMTP_REFUSED_MALFORMED,
        "43" "07" "0000" "0a0b0c" NONCE COOKIE NO_TRAILER,
      {MMTP_COOKIE, 2, 7, 0, 0x0a0b0c, 0,.init = {NONCE_VALUE, COOKIE_VALUE}}},
  {"open", MMTP_SENDER, 116, 116, MMTP_VALID,
        "44" "07" "0000" "0a0b0c" NONCE COOKIE "7071727374757677" "0007a120"
        "0000000001000002" "00009c40" "05b4" "00c8" "0102030405060708" "01" MAC
        NO_TRAILER,
        {MMTP_OPEN, 2, 7, 0, 0x0a0b0c, 0,.open = {NONCE_VALUE, COOKIE_VALUE,
                    G_GUINT64_CONSTANT (0x7071727374757677), 500000, 0x01000002,
                    40000, 1460, 200, G_GUINT64_CONSTANT (0x0102030405060708),
              TRUE, MAC_VALUE}}},
  {"open-padded", MMTP_SENDER, 116, 116, MMTP_VALID,
        "44" "07" "0000" "0a0b0c" NONCE COOKIE "7071727374757677" "0007a120"
        "0000000001000002" "00009c40" "05b4" "00c8" "0102030405060708" "01" MAC
        ZEROS_33 NO_TRAILER,
        {MMTP_OPEN, 2, 7, 0, 0x0a0b0c, 0,.open = {NONCE_VALUE, COOKIE_VALUE,
                    G_GUINT64_CONSTANT (0x7071727374757677), 500000, 0x01000002,
                    40000, 1460, 200, G_GUINT64_CONSTANT (0x0102030405060708),
              TRUE, MAC_VALUE, 116 + 33}}},
  {"accept", MMTP_RECEIVER, 76, 76, MMTP_REFUSED_MALFORMED,
        "45" "07" "0000" "0a0b0c" NONCE NONCE_R "7071727374757677" "0003d090"
        "01" MAC NO_TRAILER,
        {MMTP_ACCEPT, 2, 7, 0, 0x0a0b0c, 0,.accept =
              {NONCE_VALUE, NONCE_R_VALUE,
                    G_GUINT64_CONSTANT (0x7071727374757677), 250000, TRUE,
              MAC_VALUE}}},
  {"refuse", MMTP_RECEIVER, 32, 32, MMTP_REFUSED_MALFORMED,
        "46" "07" "0000" "0a0b0c" NONCE "02" NO_TRAILER,
      {MMTP_REFUSE, 2, 7, 0, 0x0a0b0c, 0,.refuse = {NONCE_VALUE, 2}}},
  {"join", MMTP_SENDER, 64, 64, MMTP_VALID,
        "47" "08" "0708" "0a0b0c" "0102030405060708" "1112131415161718" "05b4"
        "0000" ZEROS_8 ZEROS_8 ZEROS_8 "0000000000" TRAILER,
        {MMTP_JOIN, 2, 8, 0x0708, 0x0a0b0c, TRAILER_VALUE,.join = {
                    G_GUINT64_CONSTANT (0x0102030405060708),
              G_GUINT64_CONSTANT (0x1112131415161718), 1460}}},
  {"challenge", MMTP_RECEIVER, 31, 31, MMTP_REFUSED_MALFORMED,
        "48" "08" "0708" "0a0b0c" "1112131415161718" "2122232425262728" TRAILER,
        {MMTP_CHALLENGE, 2, 8, 0x0708, 0x0a0b0c, TRAILER_VALUE,.challenge = {
                    G_GUINT64_CONSTANT (0x1112131415161718),
              G_GUINT64_CONSTANT (0x2122232425262728)}}},
  {"response", MMTP_SENDER, 23, 23, MMTP_REFUSED_MALFORMED,
        "49" "08" "0708" "0a0b0c" "2122232425262728" TRAILER,
        {MMTP_RESPONSE, 2, 8, 0x0708, 0x0a0b0c, TRAILER_VALUE,.challenge = {
              0, G_GUINT64_CONSTANT (0x2122232425262728)}}},
  {"keepalive", MMTP_SENDER, 55, 55, MMTP_REFUSED_MALFORMED,
        "4a" "08" "0708" "0a0b0c" "0102030405060708" "0007a120" "11121314"
        "15161718" "191a1b1c" "1d" "1e" "01" "fffffc18" "01" "212223" "242526"
        "2728" TRAILER,
        {MMTP_KEEPALIVE, 2, 8, 0x0708, 0x0a0b0c, TRAILER_VALUE,.keepalive = {
                    G_GUINT64_CONSTANT (0x0102030405060708), 500000, 0x11121314,
                    0x15161718, 0x191a1b1c, 0x1d, 0x1e, TRUE, TRUE, -1000,
              0x212223, 0x242526, 0x2728}}},
  {"report", MMTP_RECEIVER, 39, 174, MMTP_REFUSED_MALFORMED,
        "4b" "08" "0708" "0a0b0c" "0102030405060708" "11121314" "15161718"
        "19" "1a1b1c" "1d1e1f" "03"
        RECORD "00" RECORD "01" "fffe" "ff" RECORD "02" "0001" "01" "1234" "56"
        TRAILER,
        {MMTP_REPORT, 2, 8, 0x0708, 0x0a0b0c, TRAILER_VALUE,.report = {
                    G_GUINT64_CONSTANT (0x0102030405060708), 0x11121314,
                    0x15161718, 0x19, 0x1a1b1c, 0x1d1e1f, 3, {
                          {RECORD_VALUE, 0},
                          {RECORD_VALUE, 1, {{0xfffe, 255}}},
                  {RECORD_VALUE, 2, {{1, 1}, {0x1234, 0x56}}}}}}},
  {"report-empty", MMTP_RECEIVER, 39, 39, MMTP_REFUSED_MALFORMED,
        "4b" "08" "0708" "0a0b0c" "0102030405060708" "00000001" "15161718"
        "19" "000000" "ffffff" "00" TRAILER,
        {MMTP_REPORT, 2, 8, 0x0708, 0x0a0b0c, TRAILER_VALUE,.report = {
                    G_GUINT64_CONSTANT (0x0102030405060708), 1, 0x15161718,
                    0x19,
              0, 0xffffff, 0}}},
  {"query", BOTH, 16, 16, MMTP_REFUSED_MALFORMED,
        "4c" "08" "0708" "0a0b0c" "ff" TRAILER,
      {MMTP_QUERY, 2, 8, 0x0708, 0x0a0b0c, TRAILER_VALUE,.query = {255}}},
  {"leave", BOTH, 22, 22, MMTP_REFUSED_MALFORMED,
        "4e" "08" "0708" "0a0b0c" "11" "01" "02" "13141516" TRAILER,
        {MMTP_LEAVE, 2, 8, 0x0708, 0x0a0b0c, TRAILER_VALUE,.leave = {
              0x11, TRUE, 2, 0x13141516}}},
  {"caps", MMTP_SENDER, 21, 21, MMTP_REFUSED_MALFORMED,
        "4f" "08" "0708" "0a0b0c" "11" "1009" "1004" "766964656f" TRAILER,
        {MMTP_CAPS, 2, 8, 0x0708, 0x0a0b0c, TRAILER_VALUE,.caps = {
              0x11, 0x1009, 0x1004, text, 5}}},
  {"caps-ack", MMTP_RECEIVER, 16, 16, MMTP_REFUSED_MALFORMED,
        "50" "08" "0708" "0a0b0c" "11" TRAILER,
      {MMTP_CAPS_ACK, 2, 8, 0x0708, 0x0a0b0c, TRAILER_VALUE,.caps = {0x11}}},
  {"end", MMTP_SENDER, 19, 19, MMTP_REFUSED_MALFORMED,
        "51" "08" "0708" "0a0b0c" "11121314" TRAILER,
      {MMTP_END, 2, 8, 0x0708, 0x0a0b0c, TRAILER_VALUE,.end = {0x11121314}}},
  {"end-ack", MMTP_RECEIVER, 19, 19, MMTP_REFUSED_MALFORMED,
        "52" "08" "0708" "0a0b0c" "11121314" TRAILER,
      {MMTP_END_ACK, 2, 8, 0x0708, 0x0a0b0c, TRAILER_VALUE,.end =
              {0x11121314}}},
  {"repair", MMTP_SENDER, 30, 30, MMTP_VALID,
        "53" "08" "0708" "0a0b0c" "010203" "80000001" "1415" "deadbeef"
        "deadbeef" TRAILER,
        {MMTP_REPAIR, 2, 8, 0x0708, 0x0a0b0c, TRAILER_VALUE,.repair = {
              0x010203, 0x80000001, 0x1415, repaired, 8}}}
};

static guint8 *
new_bytes (const gchar * hexadecimal, gsize * size)
{
  guint8 *bytes;
  gsize i;

  *size = strlen (hexadecimal) / 2;
  bytes = g_malloc (*size);
  for (i = 0; i < *size; i++)
    bytes[i] = g_ascii_xdigit_value (hexadecimal[2 * i]) << 4
        | g_ascii_xdigit_value (hexadecimal[2 * i + 1]);
  return bytes;
}

static const Vector *
find_vector (const gchar * name)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (vectors); i++)
    if (g_str_equal (vectors[i].name, name))
      return &vectors[i];
  g_assert_not_reached ();
}

/* Parses `bytes` into `message`. Before that, `message` is filled with a value
 * that no field has, so that the test notices a field that is not read. */
static MmtpRefusal
parse (MmtpMessage * message, const guint8 * bytes, gsize size, guint from)
{
  MmtpRefusal refusal;

  memset (message, 0x5a, sizeof (*message));
  refusal = mmtp_packet_parse_header (message, bytes, size, from);
  return refusal ? refusal : mmtp_packet_parse_body (message, bytes, size);
}

/* Parses a copy of exactly `size` bytes, so that AddressSanitizer finds any
 * access beyond them. */
static MmtpRefusal
parse_copy (const guint8 * bytes, gsize size, guint from)
{
  guint8 *copy = size ? g_memdup2 (bytes, size) : g_malloc (1);
  MmtpMessage message;
  MmtpRefusal refusal = parse (&message, copy, size, from);

  g_free (copy);
  return refusal;
}

static void
assert_refusal (MmtpRefusal refusal, MmtpRefusal expected, const gchar * name,
    guint64 detail)
{
  fail_unless (refusal == expected,
      "%s (%" G_GUINT64_FORMAT "): %s instead of %s", name, detail,
      mmtp_refusal_get_name (refusal), mmtp_refusal_get_name (expected));
}

static void
assert_written (const MmtpMessage * message, const guint8 * expected,
    gsize size, const gchar * name)
{
  guint8 *bytes = g_malloc0 (size);
  gsize written = mmtp_packet_write (message, bytes, size), i;

  fail_unless (written == size, "%s: %zu bytes instead of %zu", name, written,
      size);
  for (i = 0; i < size; i++)
    fail_unless (bytes[i] == expected[i], "%s: byte %zu is %02x, not %02x",
        name, i, bytes[i], expected[i]);
  g_free (bytes);
}

/* --- every type ----------------------------------------------------------- */

GST_START_TEST (every_type_is_written_as_drawn)
{
  const Vector *vector = &vectors[__i__];
  gsize size;
  guint8 *bytes = new_bytes (vector->bytes, &size);

  assert_written (&vector->message, bytes, size, vector->name);
  g_free (bytes);
}

GST_END_TEST;

/* Parses a message and writes it again. The result must be the same bytes. Each
 * field has a different value, so the bytes change if the parser reads a field
 * from a wrong place. */
GST_START_TEST (every_type_is_read_as_drawn)
{
  const Vector *vector = &vectors[__i__];
  gsize size;
  guint8 *bytes = new_bytes (vector->bytes, &size);
  MmtpMessage message;

  assert_refusal (parse (&message, bytes, size, vector->from), MMTP_VALID,
      vector->name, 0);
  assert_equals_int (message.version, MMTP_VERSION);
  assert_equals_int (message.type, vector->message.type);
  assert_equals_int (message.channel, vector->message.channel);
  assert_equals_int (message.number, vector->message.number);
  assert_equals_int (message.sent, vector->message.sent);
  assert_equals_uint64 (message.trailer, vector->message.trailer);
  assert_written (&message, bytes, size, vector->name);
  g_free (bytes);
}

GST_END_TEST;

GST_START_TEST (truncated_packet_is_refused)
{
  const Vector *vector = &vectors[__i__];
  gsize size, i;
  guint8 *bytes = new_bytes (vector->bytes, &size);

  for (i = 0; i < size; i++)
    assert_refusal (parse_copy (bytes, i, vector->from),
        i < vector->min ? MMTP_REFUSED_SHORT :
        i < vector->min_valid ? MMTP_REFUSED_MALFORMED : MMTP_VALID,
        vector->name, i);
  g_free (bytes);
}

GST_END_TEST;

GST_START_TEST (overlong_message_is_malformed)
{
  const Vector *vector = &vectors[__i__];
  gsize size, i;
  guint8 *bytes = new_bytes (vector->bytes, &size);

  bytes = g_realloc (bytes, 65600);
  memset (bytes + size, 1, 65600 - size);
  for (i = size + 1; i < size + 200; i++)
    assert_refusal (parse_copy (bytes, i, vector->from), vector->longer,
        vector->name, i);
  assert_refusal (parse_copy (bytes, 65507, vector->from), vector->longer,
      vector->name, 65507);
  assert_refusal (parse_copy (bytes, 65508, vector->from),
      MMTP_REFUSED_MALFORMED, vector->name, 65508);
  g_free (bytes);
}

GST_END_TEST;

GST_START_TEST (only_whose_role_it_is_sends_a_type)
{
  const Vector *vector = &vectors[__i__];
  guint other = vector->from == MMTP_SENDER ? MMTP_RECEIVER : MMTP_SENDER;
  gsize size;
  guint8 *bytes = new_bytes (vector->bytes, &size);

  assert_refusal (parse_copy (bytes, size, other),
      vector->from == BOTH ? MMTP_VALID : MMTP_REFUSED_TYPE, vector->name, 0);
  g_free (bytes);
}

GST_END_TEST;

/* docs/wire-mmtp.md, section 4: the parser must refuse a message of another
 * version of MMTP. The only exception is a REFUSE. With it, the receiver tells
 * the sender which version it supports, so the sender must be able to read it.
 */
GST_START_TEST (another_version_is_refused_but_in_a_refuse)
{
  const Vector *vector = &vectors[__i__];
  const gboolean refuse = vector->message.type == MMTP_REFUSE;
  MmtpMessage message;
  gsize size;
  guint8 *bytes = new_bytes (vector->bytes, &size);
  guint version;

  for (version = 0; version < 8; version++) {
    bytes[0] = version << 5 | vector->message.type;
    assert_refusal (parse (&message, bytes, size, vector->from),
        version == 2 || refuse ? MMTP_VALID : MMTP_REFUSED_VERSION,
        vector->name, version);
    assert_equals_int (message.version, version);
    assert_equals_int (message.type, vector->message.type);
  }
  g_free (bytes);
}

GST_END_TEST;

GST_START_TEST (nothing_is_written_beyond_the_room)
{
  const Vector *vector = &vectors[__i__];
  gsize size, room;
  guint8 *expected = new_bytes (vector->bytes, &size), *bytes;

  g_free (expected);
  for (room = 0; room < size; room++) {
    bytes = g_malloc (room + (room == 0));
    assert_equals_int (mmtp_packet_write (&vector->message, bytes, room), 0);
    g_free (bytes);
  }
}

GST_END_TEST;

GST_START_TEST (types_without_a_name_are_refused)
{
  guint8 bytes[64] = { 0, };
  MmtpMessage message;
  guint type;

  for (type = MMTP_LAST_TYPE; type < 32; type++) {
    bytes[0] = MMTP_VERSION << 5 | type;
    assert_refusal (parse (&message, bytes, sizeof (bytes), BOTH),
        MMTP_REFUSED_TYPE, "type", type);
  }
  /* DECREASE of version 1 */
  bytes[0] = MMTP_VERSION << 5 | 13;
  assert_refusal (parse (&message, bytes, sizeof (bytes), BOTH),
      MMTP_REFUSED_TYPE, "type", 13);
}

GST_END_TEST;

/* docs/wire-mmtp.md, section 4: the receiver answers an INIT or OPEN of another
 * version of MMTP with a REFUSE, which repeats the nonce of the INIT or OPEN.
 * The parser must therefore read the nonce, even if the INIT or OPEN has the
 * previous or the next version. The parser must refuse all other messages of
 * these versions. */
GST_START_TEST (nonce_of_another_version_is_read)
{
  static const guint8 nonce[] = NONCE_VALUE;
  static const gchar *const names[] = { "init", "open", "join" };
  const guint version = __i__ ? MMTP_VERSION + 1 : MMTP_VERSION - 1;
  MmtpMessage message;
  gsize size;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (names); i++) {
    guint8 *bytes = new_bytes (find_vector (names[i])->bytes, &size);

    bytes[0] = version << 5 | (bytes[0] & 0x1f);
    size = MAX (size, 64);
    fail_unless_equals_int (parse (&message, bytes, size, MMTP_SENDER),
        MMTP_REFUSED_VERSION);
    fail_unless_equals_int (mmtp_packet_parse_body (&message, bytes, size),
        i < 2 ? MMTP_VALID : MMTP_REFUSED_VERSION);
    if (i < 2) {
      fail_unless (memcmp (message.init.nonce, nonce, sizeof (nonce)) == 0);
      fail_unless_equals_int (mmtp_packet_parse_body (&message, bytes, 63),
          MMTP_REFUSED_SHORT);
    }
    g_free (bytes);
  }
}

GST_END_TEST;

/* --- values --------------------------------------------------------------- */

typedef struct
{
  const gchar *vector;
  gsize offset;
  /* New bytes, in hexadecimal, for the example message. They replace its bytes
   * from `offset` on. */
  const gchar *bytes;
  MmtpRefusal expected;
} Change;

static const Change changes[] = {
  /* In a DATA message, the flag PRELUDE is valid only together with the flag
   * FIRST (docs/wire-mmtp.md, section 3). */
  {"data", 14, "29", MMTP_REFUSED_MALFORMED},
  {"data-prelude", 14, "45", MMTP_REFUSED_MALFORMED},
  {"data-only-prelude", 14, "81", MMTP_VALID},
  /* The prelude is an optional header at the beginning of the payload. If the
   * payload is empty, there can be no prelude, so the flag PRELUDE is invalid.
   */
  {"data-empty", 14, "ff", MMTP_REFUSED_MALFORMED},
  /* The prelude is an optional header at the beginning of the payload. Its
   * first byte is its length, which must be 2 to 64. The prelude must fit into
   * the payload, and must be long enough for the fields that its mask
   * announces. */
  {"data-prelude", 16, "00", MMTP_REFUSED_MALFORMED},
  {"data-prelude", 16, "01", MMTP_REFUSED_MALFORMED},
  {"data-prelude", 16, "19", MMTP_REFUSED_MALFORMED},
  {"data-prelude", 16, "1e", MMTP_VALID},
  {"data-prelude", 16, "1f", MMTP_REFUSED_MALFORMED},
  {"data-prelude", 16, "41", MMTP_REFUSED_MALFORMED},
  {"data-prelude", 16, "ff", MMTP_REFUSED_MALFORMED},
  {"data-only-prelude", 17, "19", MMTP_REFUSED_MALFORMED},
  {"data-only-prelude", 17, "c0", MMTP_VALID},
  /* zeros are ignored */
  {"data", 14, "2a", MMTP_VALID},
  {"probe", 7, "ffffffffff", MMTP_VALID},
  {"init", 23, "ff", MMTP_VALID},
  {"init", 56, "ffffffffffffffff", MMTP_VALID},
  {"open-padded", 108, "ffffffff", MMTP_VALID},
  {"join", 25, "ffffff", MMTP_VALID},
  /* OPEN: D0 at most 60 s */
  {"open", 63, "03938700", MMTP_VALID},
  {"open", 63, "03938701", MMTP_REFUSED_MALFORMED},
  {"open", 63, "ffffffff", MMTP_REFUSED_MALFORMED},
  /* The field "longest message" of OPEN and JOIN must be 128 to 65507 bytes. */
  {"open", 79, "0080", MMTP_VALID},
  {"open", 79, "007f", MMTP_REFUSED_MALFORMED},
  {"open", 79, "ffe3", MMTP_VALID},
  {"open", 79, "ffe4", MMTP_REFUSED_MALFORMED},
  {"join", 23, "0080", MMTP_VALID},
  {"join", 23, "007f", MMTP_REFUSED_MALFORMED},
  {"join", 23, "ffe3", MMTP_VALID},
  {"join", 23, "ffe4", MMTP_REFUSED_MALFORMED},
  /* The keep-alive period in an OPEN must be 10 to 10000 ms. */
  {"open", 81, "000a", MMTP_VALID},
  {"open", 81, "0009", MMTP_REFUSED_MALFORMED},
  {"open", 81, "2710", MMTP_VALID},
  {"open", 81, "2711", MMTP_REFUSED_MALFORMED},
  /* A flag or a reason code that this version of MMTP does not define is valid,
   * because a future version may define it. */
  {"open", 91, "fe", MMTP_VALID},
  {"accept", 51, "fe", MMTP_VALID},
  {"refuse", 23, "ff", MMTP_VALID},
  {"leave", 8, "fe", MMTP_VALID},
  {"leave", 9, "ff", MMTP_VALID},
  {"keepalive", 33, "fe", MMTP_VALID},
  /* Some messages contain all 64 bits of their channel number, the sequence
   * number of the message on its path. The low 16 bits must match bytes 2 and 3
   * of the message (section 2 of docs/wire-mmtp.md). */
  {"join", 2, "0709", MMTP_REFUSED_MALFORMED},
  {"join", 7, "ffffffffffff0708", MMTP_VALID},
  {"join", 14, "18", MMTP_REFUSED_MALFORMED},
  {"keepalive", 2, "0808", MMTP_REFUSED_MALFORMED},
  {"keepalive", 13, "17", MMTP_REFUSED_MALFORMED},
  {"report", 2, "0809", MMTP_REFUSED_MALFORMED},
  {"report", 14, "18", MMTP_REFUSED_MALFORMED},
  /* Byte 38 of KEEPALIVE is 1 if the offset of the clocks is known, and 0 if it
   * is unknown. Any other value is invalid. */
  {"keepalive", 38, "00", MMTP_VALID},
  {"keepalive", 38, "02", MMTP_REFUSED_MALFORMED},
  /* The first report of a session has the number 1, so the report number 0 is
   * invalid. The number of records in a report, and the number of ranges in
   * each record, must match the size of the report. */
  {"report", 15, "00000000", MMTP_REFUSED_MALFORMED},
  {"report", 30, "02", MMTP_REFUSED_MALFORMED},
  {"report", 30, "04", MMTP_REFUSED_MALFORMED},
  {"report", 30, "ff", MMTP_REFUSED_MALFORMED},
  {"report", 31 + 41, "01", MMTP_REFUSED_MALFORMED},
  {"report", 31 + 41, "11", MMTP_REFUSED_MALFORMED},
  {"report", 31 + 41, "ff", MMTP_REFUSED_MALFORMED},
  {"report-empty", 30, "01", MMTP_REFUSED_MALFORMED},
  /* A report consists of records, and each record has ranges of lost messages.
   * An empty range is invalid. Two cases are tested: a range of the second
   * record is empty, and the last range of the report is empty. */
  {"report", 31 + 42 + 44, "00", MMTP_REFUSED_MALFORMED},
  {"report", 174 - 8 - 1, "00", MMTP_REFUSED_MALFORMED},
  /* The stream's caps have a version number, which is at least 1. Messages with
   * the version 0 must be refused. */
  {"caps", 7, "00", MMTP_REFUSED_MALFORMED},
  {"caps-ack", 7, "00", MMTP_REFUSED_MALFORMED},
  {"caps-ack", 7, "ff", MMTP_VALID},
  /* A CAPS message contains a piece of the text of the stream's caps. The whole
   * text may have at most 8192 bytes, and the piece must lie within the text.
   */
  {"caps", 8, "2000", MMTP_VALID},
  {"caps", 8, "2001", MMTP_REFUSED_MALFORMED},
  {"caps", 8, "1008", MMTP_REFUSED_MALFORMED},
  {"caps", 8, "0000", MMTP_REFUSED_MALFORMED},
  {"caps", 10, "0000", MMTP_VALID},
  {"caps", 10, "1005", MMTP_REFUSED_MALFORMED},
  {"caps", 10, "1009", MMTP_REFUSED_MALFORMED},
  {"caps", 10, "ffff", MMTP_REFUSED_MALFORMED},
  {"caps", 8, "00050000", MMTP_VALID},
  {"caps", 8, "00040000", MMTP_REFUSED_MALFORMED},
  /* The mask of a REPAIR has one bit for each packet that the REPAIR covers.
   * Bit 0 stands for the first packet and must always be set. */
  {"repair", 10, "00000001", MMTP_VALID},
  {"repair", 10, "80000002", MMTP_REFUSED_MALFORMED},
};

GST_START_TEST (values_that_the_text_excludes_are_malformed)
{
  const Change *change = &changes[__i__];
  const Vector *vector = find_vector (change->vector);
  gsize size, changed_size;
  guint8 *bytes = new_bytes (vector->bytes, &size);
  guint8 *changed = new_bytes (change->bytes, &changed_size);

  g_assert (change->offset + changed_size <= size);
  memcpy (bytes + change->offset, changed, changed_size);
  assert_refusal (parse_copy (bytes, size, vector->from), change->expected,
      vector->name, change->offset);
  g_free (changed);
  g_free (bytes);
}

GST_END_TEST;

static const MmtpMessage excluded[] = {
  {MMTP_LAST_TYPE},
  {MMTP_DATA,.data = {0, 0, 0, 0, {MMTP_PRELUDE_DISCONT}}},
  {MMTP_DATA,.data = {0, 0, MMTP_FLAG_FIRST, 0, {0x40}}},
  {MMTP_PROBE,.probe = {14}},
  {MMTP_OPEN},
  {MMTP_JOIN,.join = {0, 0, 127}},
  {MMTP_JOIN,.join = {1, 0, 1000}},
  {MMTP_KEEPALIVE,.keepalive = {1}},
  {MMTP_REPORT},
  {MMTP_REPORT,.report = {0, 1,.n_records = 17}},
  {MMTP_REPORT,.report = {0, 1,.n_records = 1,.records = {{.n_ranges = 1}}}},
  {MMTP_REPORT,.report = {0, 1,.n_records = 1,.records = {{.n_ranges = 17}}}},
  {MMTP_RESERVED_13},
  {MMTP_CAPS,.caps = {1, 1, 0, text, 2}},
  {MMTP_CAPS_ACK},
  {MMTP_REPAIR}
};

static void
count_message (const gchar * domain, GLogLevelFlags level,
    const gchar * message, gpointer n)
{
  (*(guint *) n)++;
}

/* mmtp_packet_write () must refuse to write an invalid message. It must also
 * log a critical message, because only an error in MMTP itself can be the
 * cause. */
GST_START_TEST (invalid_message_is_not_written)
{
  guint8 bytes[2000];
  guint n = 0;
  guint handler = g_log_set_handler (G_LOG_DOMAIN, G_LOG_LEVEL_CRITICAL,
      count_message, &n);

  assert_equals_int (mmtp_packet_write (&excluded[__i__], bytes,
          sizeof (bytes)), 0);
  g_log_remove_handler (G_LOG_DOMAIN, handler);
  assert_equals_int (n, 1);
}

GST_END_TEST;

GST_START_TEST (a_flag_is_one_bit)
{
  MmtpMessage message;
  gsize size;
  guint8 *bytes = new_bytes (find_vector ("leave")->bytes, &size);

  bytes[8] = 0xfe;
  parse (&message, bytes, size, MMTP_SENDER);
  fail_if (message.leave.is_ack);
  bytes[8] = 0xff;
  parse (&message, bytes, size, MMTP_SENDER);
  assert_equals_int (message.leave.is_ack, TRUE);
  g_free (bytes);
}

GST_END_TEST;

GST_START_TEST (a_probe_has_its_whole_size)
{
  MmtpMessage message;
  gsize size;
  guint8 *bytes = new_bytes (find_vector ("probe")->bytes, &size);

  assert_refusal (parse (&message, bytes, size, MMTP_SENDER), MMTP_VALID,
      "probe", 0);
  assert_equals_int (message.probe.size, size);
  g_free (bytes);
}

GST_END_TEST;

/* The bit 0x02 in the flags of a DATA message is not used any more; in version
 * 1 it was the flag PAIR. The parser must ignore this bit, and the writer must
 * set it to 0. */
GST_START_TEST (a_flag_of_data_that_is_zero_is_neither_read_nor_written)
{
  MmtpMessage message;
  gsize size;
  guint8 *bytes = new_bytes (find_vector ("data")->bytes, &size);

  bytes[14] |= 0x02;
  parse (&message, bytes, size, MMTP_SENDER);
  assert_equals_int (message.data.flags, 0x28);
  message.data.flags |= 0x02;
  bytes[14] = 0x28;
  assert_written (&message, bytes, size, "data");
  g_free (bytes);
}

GST_END_TEST;

/* The largest valid report has 1479 bytes. It contains 16 records with 16
 * ranges each. */
GST_START_TEST (a_report_has_sixteen_records_of_sixteen_ranges)
{
  const gsize size = 31 + 16 * (42 + 16 * 3) + 8;
  guint8 *bytes = g_malloc (size + 90);
  MmtpMessage message;
  guint i, j;

  memset (bytes, 1, size + 90);
  bytes[0] = 0x4b;
  bytes[30] = 16;
  for (i = 0; i < 17; i++)
    bytes[31 + i * 90 + 41] = 16;
  assert_refusal (parse (&message, bytes, size, MMTP_RECEIVER), MMTP_VALID,
      "report", size);
  assert_equals_int (message.report.n_records, 16);
  for (i = 0; i < 16; i++) {
    assert_equals_int (message.report.records[i].n_ranges, 16);
    for (j = 0; j < 16; j++)
      assert_equals_int (message.report.records[i].ranges[j].first, 0x0101);
  }
  assert_written (&message, bytes, size, "report");
  assert_refusal (parse_copy (bytes, size - 1, MMTP_RECEIVER),
      MMTP_REFUSED_MALFORMED, "report", size - 1);

  bytes[30] = 17;
  assert_refusal (parse_copy (bytes, size + 90, MMTP_RECEIVER),
      MMTP_REFUSED_MALFORMED, "report", size + 90);
  g_free (bytes);
}

GST_END_TEST;

/* --- the prelude ---------------------------------------------------------- */

/* Example values for the fields of the prelude (an optional header of a
 * buffer), in the order of docs/wire-mmtp.md. `bit` is the bit in the mask of
 * the prelude that announces the field, and `bytes` is the value. The bits that
 * announce no bytes are omitted. */
static const struct
{
  guint8 bit;
  const gchar *bytes;
} prelude_fields[] = {
  {0x01, "ffff8235"}, {0x02, "00009c40"}, {0x04, "00007530" "00000001fffffffe"},
  {0x20, "00001234"}
};

static GByteArray *
new_prelude_message (guint8 mask, gsize padding)
{
  GByteArray *message = g_byte_array_new ();
  const guint8 zeros[64] = { 0, };
  gsize size, length_at;
  guint8 *bytes = new_bytes ("4005123400000001020311121314c1010002", &size);
  guint i;

  g_byte_array_append (message, bytes, size);
  g_free (bytes);
  length_at = size - 2;
  message->data[length_at + 1] = mask;
  for (i = 0; i < G_N_ELEMENTS (prelude_fields); i++)
    if (mask & prelude_fields[i].bit) {
      bytes = new_bytes (prelude_fields[i].bytes, &size);
      g_byte_array_append (message, bytes, size);
      g_free (bytes);
    }
  g_byte_array_append (message, zeros, padding);
  message->data[length_at] = message->len - length_at;
  g_byte_array_append (message, payload, sizeof (payload));
  g_byte_array_append (message, zeros, MMTP_TRAILER_SIZE);
  return message;
}

static void
check_prelude (const MmtpPrelude * prelude, guint8 mask)
{
  assert_equals_int (prelude->mask, mask & 0x3f);
  assert_equals_int (prelude->pts, mask & 0x01 ? -32203 : 0);
  assert_equals_int (prelude->duration, mask & 0x02 ? 40000 : 0);
  assert_equals_int (prelude->frame_rate, mask & 0x04 ? 30000 : 0);
  assert_equals_uint64 (prelude->bit_rate,
      mask & 0x04 ? G_GUINT64_CONSTANT (8589934590) : 0);
  assert_equals_int (prelude->dts, mask & 0x20 ? 0x1234 : 0);
}

/* The prelude is an optional header of a buffer. Its mask says which fields it
 * has. A later version of MMTP may define more bits of the mask, and append the
 * new fields to the prelude. The parser must skip these fields; the length of
 * the prelude says how many bytes they have. */
GST_START_TEST (a_prelude_has_what_its_mask_says)
{
  MmtpMessage message;
  guint mask;
  gsize padding;

  for (mask = 0; mask < 256; mask++)
    for (padding = 0; padding < 3; padding++) {
      GByteArray *bytes = new_prelude_message (mask, padding);

      assert_refusal (parse (&message, bytes->data, bytes->len, MMTP_SENDER),
          MMTP_VALID, "prelude", mask);
      check_prelude (&message.data.prelude, mask);
      assert_equals_int (message.data.payload_size, sizeof (payload));
      fail_unless (message.data.payload ==
          bytes->data + bytes->len - MMTP_TRAILER_SIZE - sizeof (payload));
      if (mask && mask < 0x40 && padding == 0) {
        assert_equals_int (mmtp_prelude_get_size (&message.data.prelude),
            bytes->data[16]);
        assert_written (&message, bytes->data, bytes->len, "prelude");
      }
      g_byte_array_unref (bytes);
    }
}

GST_END_TEST;

GST_START_TEST (a_prelude_is_as_long_as_its_mask_and_at_most_64)
{
  guint mask, length;

  for (mask = 0; mask < 256; mask++)
    for (length = 0; length < 256; length++) {
      GByteArray *bytes = new_prelude_message (mask, 0);
      guint needed = bytes->data[16];

      g_byte_array_set_size (bytes, 300);
      bytes->data[16] = length;
      assert_refusal (parse_copy (bytes->data, bytes->len, MMTP_SENDER),
          length >= needed && length <= 64 ? MMTP_VALID :
          MMTP_REFUSED_MALFORMED, "prelude", mask << 8 | length);
      g_byte_array_unref (bytes);
    }
}

GST_END_TEST;

GST_START_TEST (a_prelude_without_a_mask_is_none)
{
  MmtpMessage message = find_vector ("data-prelude")->message;
  guint8 bytes[64];

  message.data.prelude.mask = 0;
  assert_equals_int (mmtp_prelude_get_size (&message.data.prelude), 0);
  assert_equals_int (mmtp_packet_write (&message, bytes, sizeof (bytes)), 28);
  assert_equals_int (bytes[14], 0xc4);
  assert_equals_int (bytes[16], 0xde);

  message.data.flags = MMTP_FLAG_FIRST;
  message.data.prelude.mask = MMTP_PRELUDE_DISCONT;
  assert_equals_int (mmtp_packet_write (&message, bytes, sizeof (bytes)), 30);
  assert_equals_int (bytes[14], 0x81);
  assert_equals_int (bytes[16], 2);
  assert_equals_int (bytes[17], 8);
}

GST_END_TEST;

/* --- numbers -------------------------------------------------------------- */

static guint64
get_distance (guint64 a, guint64 b)
{
  return a > b ? a - b : b - a;
}

/* Returns the number that is nearest to `near` among all numbers whose low
 * `bits` bits are `low`. If two numbers are equally near, returns the larger
 * one. The function tries the candidates one by one, so it is a simple
 * reference for mmtp_unwrap (). */
static guint64
unwrap_slowly (guint64 low, guint bits, guint64 near)
{
  const guint64 period = G_GUINT64_CONSTANT (1) << bits;
  guint64 value = near - near % period + low, best;

  best = value;
  if (value >= period
      && get_distance (value - period, near) < get_distance (best, near))
    best = value - period;
  if (value <= G_MAXUINT64 - period
      && get_distance (value + period, near) <= get_distance (best, near))
    best = value + period;
  return best;
}

static void
check_unwrap (guint64 low, guint bits, guint64 near)
{
  guint64 value = mmtp_unwrap (low, bits, near);
  guint64 expected = unwrap_slowly (low, bits, near);

  fail_unless (value == expected, "%" G_GUINT64_FORMAT " of %u bits near %"
      G_GUINT64_FORMAT ": %" G_GUINT64_FORMAT " instead of %" G_GUINT64_FORMAT,
      low, bits, near, value, expected);
}

GST_START_TEST (every_number_of_eight_bits_is_unwrapped_to_the_nearest)
{
  guint64 low, i;

  for (low = 0; low < 256; low++)
    for (i = 0; i < 1024; i++) {
      check_unwrap (low, 8, i);
      check_unwrap (low, 8, G_MAXUINT64 - i);
      check_unwrap (low, 8, G_GUINT64_CONSTANT (0xfffffe00) + i);
    }
}

GST_END_TEST;

GST_START_TEST (numbers_are_unwrapped_at_every_wrap)
{
  static const guint widths[] = { 16, 24, 32 };
  const guint64 wraps[] = { 0, 1, 2, 3, 255, 256, 65535, 65536 };
  guint width, wrap, half;
  gint64 at, ahead;

  for (width = 0; width < G_N_ELEMENTS (widths); width++)
    for (wrap = 0; wrap < G_N_ELEMENTS (wraps); wrap++)
      for (half = 0; half < 3; half++)
        for (at = -2; at <= 2; at++)
          for (ahead = -2; ahead <= 2; ahead++) {
            const guint bits = widths[width];
            const guint64 period = G_GUINT64_CONSTANT (1) << bits;
            guint64 near = wraps[wrap] * period + at;
            guint64 value = near + half * (period / 2) + ahead;

            check_unwrap (value & (period - 1), bits, near);
          }
}

GST_END_TEST;

GST_START_TEST (numbers_are_unwrapped_as_the_page_says)
{
  /* A message contains only the low 16 bits of a number. The other bits follow
   * from the previous number, here 65535. The low bits are 0, so the number
   * must be a multiple of 65536. The multiple that is nearest to 65535 is
   * 65536. */
  assert_equals_uint64 (mmtp_unwrap (0, 16, 65535), 65536);
  assert_equals_uint64 (mmtp_unwrap (0xffff, 16, 65536), 65535);
  assert_equals_uint64 (mmtp_unwrap (0, 16, 98303), 65536);
  /* The result is never below 0. */
  assert_equals_uint64 (mmtp_unwrap (0xffff, 16, 0), 0xffff);
  assert_equals_uint64 (mmtp_unwrap (0xffffffff, 32, 5), 0xffffffff);
  /* The sending time wraps after 167.77216 s. */
  assert_equals_uint64 (mmtp_unwrap (3, 24, 16777215), 16777219);
  /* A number of 64 bits needs no unwrapping, so it is returned unchanged. */
  assert_equals_uint64 (mmtp_unwrap (7, 64, G_MAXUINT64), 7);
  assert_equals_uint64 (mmtp_unwrap (G_MAXUINT64, 64, 7), G_MAXUINT64);
}

GST_END_TEST;

/* --- names ---------------------------------------------------------------- */

GST_START_TEST (names_are_those_of_the_page)
{
  assert_equals_string (mmtp_refusal_get_name (MMTP_VALID), "valid");
  assert_equals_string (mmtp_refusal_get_name (MMTP_REFUSED_SHORT), "short");
  assert_equals_string (mmtp_refusal_get_name (MMTP_REFUSED_VERSION),
      "version");
  assert_equals_string (mmtp_refusal_get_name (MMTP_REFUSED_TYPE), "type");
  assert_equals_string (mmtp_refusal_get_name (MMTP_REFUSED_TRAILER),
      "trailer");
  assert_equals_string (mmtp_refusal_get_name (MMTP_REFUSED_REPLAY), "replay");
  assert_equals_string (mmtp_refusal_get_name (MMTP_REFUSED_CHANNEL),
      "channel");
  assert_equals_string (mmtp_refusal_get_name (MMTP_REFUSED_MALFORMED),
      "malformed");
  assert_equals_string (mmtp_refusal_get_name (MMTP_REFUSED_SESSION),
      "session");
  assert_equals_string (mmtp_refusal_get_name (MMTP_REFUSED_ADDRESS),
      "address");
}

GST_END_TEST;

static Suite *
mmtppacket_suite (void)
{
  const int n = G_N_ELEMENTS (vectors);
  Suite *suite = suite_create ("mmtppacket");
  TCase *tcase = tcase_create ("messages");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, every_type_is_written_as_drawn, 0, n);
  tcase_add_loop_test (tcase, every_type_is_read_as_drawn, 0, n);
  tcase_add_loop_test (tcase, truncated_packet_is_refused, 0, n);
  tcase_add_loop_test (tcase, overlong_message_is_malformed, 0, n);
  tcase_add_loop_test (tcase, only_whose_role_it_is_sends_a_type, 0, n);
  tcase_add_loop_test (tcase, another_version_is_refused_but_in_a_refuse, 0, n);
  tcase_add_loop_test (tcase, nothing_is_written_beyond_the_room, 0, n);
  tcase_add_test (tcase, types_without_a_name_are_refused);
  tcase_add_loop_test (tcase, nonce_of_another_version_is_read, 0, 2);

  tcase = tcase_create ("values");
  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, values_that_the_text_excludes_are_malformed, 0,
      G_N_ELEMENTS (changes));
  tcase_add_loop_test (tcase, invalid_message_is_not_written, 0,
      G_N_ELEMENTS (excluded));
  tcase_add_test (tcase, a_flag_is_one_bit);
  tcase_add_test (tcase, a_probe_has_its_whole_size);
  tcase_add_test (tcase,
      a_flag_of_data_that_is_zero_is_neither_read_nor_written);
  tcase_add_test (tcase, a_report_has_sixteen_records_of_sixteen_ranges);
  tcase_add_test (tcase, a_prelude_has_what_its_mask_says);
  tcase_add_test (tcase, a_prelude_is_as_long_as_its_mask_and_at_most_64);
  tcase_add_test (tcase, a_prelude_without_a_mask_is_none);

  tcase = tcase_create ("numbers");
  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase,
      every_number_of_eight_bits_is_unwrapped_to_the_nearest);
  tcase_add_test (tcase, numbers_are_unwrapped_at_every_wrap);
  tcase_add_test (tcase, numbers_are_unwrapped_as_the_page_says);
  tcase_add_test (tcase, names_are_those_of_the_page);
  return suite;
}

GST_CHECK_MAIN (mmtppacket);
