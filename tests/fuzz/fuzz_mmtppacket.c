/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes two functions for reading MMTP messages:
 * - The parser must either refuse a message for the correct reason, or parse it
 *   within its bounds. If the parsed message is written again, the bytes must
 *   be the same, except for bits without a meaning.
 * - The function unwrap restores a number whose low bits are in a message. Of
 *   all numbers with these low bits, it must return the one that is nearest to
 *   a given number.
 *
 * Input: one byte that selects the action, 0 (parse) or 1 (unwrap). After a 0,
 * the input has one byte for the endpoint that has sent the message (MMTP
 * sender or MMTP receiver), and then the message. After a 1, it has the number
 * of low bits and two numbers of 64 bits. */

#include "fuzz.h"
#include "mmtppacket.h"

typedef enum
{
  PARSE,
  UNWRAP,
  ACTION_LAST
} Action;

static gboolean
is_handshake (guint type)
{
  return type == MMTP_INIT || type == MMTP_OPEN;
}

static void
check_header (const MmtpMessage * message, MmtpRefusal refusal,
    const guint8 * bytes, gsize size)
{
  guint version = size ? bytes[0] >> 5 : 0, type = size ? bytes[0] & 0x1f : 0;

  fuzz_check (mmtp_refusal_get_name (refusal) != NULL);
  if (size < MMTP_MIN_MESSAGE) {
    fuzz_check (refusal == MMTP_REFUSED_SHORT);
    return;
  }
  fuzz_check (message->version == version && message->type == type);
  fuzz_check (message->channel == bytes[1]);
  fuzz_check (message->number == (bytes[2] << 8 | bytes[3]));
  fuzz_check (message->sent == (bytes[4] << 16 | bytes[5] << 8 | bytes[6]));
  fuzz_check ((refusal == MMTP_REFUSED_VERSION) ==
      (version != MMTP_VERSION && type != MMTP_REFUSE));
  if (type >= MMTP_LAST_TYPE)
    fuzz_check (refusal == MMTP_REFUSED_VERSION
        || refusal == MMTP_REFUSED_TYPE);
}

/* Checks the pointers in a parsed message. They must point to bytes of the
 * message before its trailer. The trailer is the last 8 bytes, which show that
 * the message belongs to the session. */
static void
check_bounds (const MmtpMessage * message, const guint8 * bytes, gsize size)
{
  const guint8 *trailer = bytes + size - MMTP_TRAILER_SIZE;

  if (message->type == MMTP_DATA) {
    fuzz_check (message->data.payload >= bytes + MMTP_DATA_HEADER_SIZE);
    fuzz_check (message->data.payload + message->data.payload_size == trailer);
  } else if (message->type == MMTP_CAPS) {
    fuzz_check (message->caps.piece_size > 0);
    fuzz_check (message->caps.piece + message->caps.piece_size == trailer);
    fuzz_check (message->caps.offset + message->caps.piece_size <=
        message->caps.length);
  } else if (message->type == MMTP_REPAIR) {
    fuzz_check (message->repair.mask & 1);
    fuzz_check (message->repair.content_size >= 6);
    fuzz_check (message->repair.content + message->repair.content_size ==
        trailer);
  } else if (message->type == MMTP_REPORT)
    fuzz_check (message->report.n_records <= MMTP_MAX_RECORDS);
  else if (message->type == MMTP_PROBE)
    fuzz_check (message->probe.size == size);
}

/* Returns the bits that the parser ignores in one byte of a message: a mask for
 * the byte at `offset`. According to docs/wire-mmtp.md, these bits are zero or
 * have no meaning yet. */
static guint8
get_ignored_bits (MmtpType type, gsize offset)
{
  switch (type) {
    case MMTP_DATA:
      return offset == 14 ? 0x02 : 0;
    case MMTP_PROBE:
      return offset >= 7 ? 0xff : 0;
    case MMTP_INIT:
      return offset >= 23 ? 0xff : 0;
    case MMTP_JOIN:
      return offset >= 25 ? 0xff : 0;
    case MMTP_REFUSE:
      return offset == 0 ? 0xe0 : 0;
    case MMTP_OPEN:
      return offset == 91 ? 0xfe : offset >= 108 ? 0xff : 0;
    case MMTP_ACCEPT:
      return offset == 51 ? 0xfe : 0;
    case MMTP_KEEPALIVE:
      return offset == 33 ? 0xfe : 0;
    case MMTP_LEAVE:
      return offset == 8 ? 0xfe : 0;
    default:
      return 0;
  }
}

/* Returns whether mmtp_packet_write () can reproduce the message byte by byte.
 * It cannot reproduce these messages:
 * - an INIT or JOIN that is longer than MMTP_INIT_SIZE,
 * - a DATA message whose prelude (an optional header of a buffer) is empty or
 *   has unknown fields. */
static gboolean
is_as_we_write (const MmtpMessage * message, const guint8 * bytes, gsize size)
{
  if (message->type == MMTP_INIT || message->type == MMTP_JOIN)
    return size == MMTP_INIT_SIZE;
  if (message->type != MMTP_DATA || !(bytes[14] & MMTP_FLAG_PRELUDE))
    return TRUE;
  return bytes[17] != 0 && bytes[17] == message->data.prelude.mask
      && bytes[16] == mmtp_prelude_get_size (&message->data.prelude);
}

static void
check_same (MmtpType type, const guint8 * written, const guint8 * bytes,
    gsize size)
{
  const gsize end = size - MMTP_TRAILER_SIZE;
  gsize i;

  for (i = 0; i < end; i++)
    fuzz_check (((written[i] ^ bytes[i]) & ~get_ignored_bits (type, i)) == 0);
  fuzz_check (memcmp (written + end, bytes + end, MMTP_TRAILER_SIZE) == 0);
}

/* A message that is written, read and written again must have the same bytes,
 * and writing must fail if the buffer is one byte too small. */
static void
check_written (const MmtpMessage * message, MmtpRole role,
    const guint8 * bytes, gsize size)
{
  guint8 *written = g_malloc (size), *again, *small;
  gsize length = mmtp_packet_write (message, written, size);
  MmtpMessage reread;

  fuzz_check (length >= MMTP_MIN_MESSAGE && length <= size);
  if (is_as_we_write (message, bytes, size)) {
    fuzz_check (length == size);
    check_same (message->type, written, bytes, size);
  }

  fuzz_check (!mmtp_packet_parse_header (&reread, written, length, role));
  fuzz_check (!mmtp_packet_parse_body (&reread, written, length));
  again = g_malloc (length);
  fuzz_check (mmtp_packet_write (&reread, again, length) == length);
  fuzz_check (memcmp (again, written, length) == 0);

  small = g_malloc (length - 1);
  fuzz_check (mmtp_packet_write (message, small, length - 1) == 0);
  g_free (small);
  g_free (again);
  g_free (written);
}

static void
parse (const guint8 * bytes, gsize size, MmtpRole role)
{
  MmtpMessage message;
  MmtpRefusal refusal = mmtp_packet_parse_header (&message, bytes, size, role);

  check_header (&message, refusal, bytes, size);
  if (refusal == MMTP_REFUSED_VERSION && is_handshake (message.type)) {
    refusal = mmtp_packet_parse_body (&message, bytes, size);
    fuzz_check ((refusal == MMTP_VALID) == (size >= MMTP_INIT_SIZE));
    if (refusal == MMTP_VALID)
      fuzz_check (!memcmp (message.init.nonce, bytes + 7, MMTP_NONCE_SIZE));
    return;
  }
  if (refusal != MMTP_VALID)
    return;

  refusal = mmtp_packet_parse_body (&message, bytes, size);
  fuzz_check (refusal == MMTP_VALID || refusal == MMTP_REFUSED_MALFORMED);
  if (refusal == MMTP_REFUSED_MALFORMED)
    return;
  check_bounds (&message, bytes, size);
  check_written (&message, role, bytes, size);
}

static void
unwrap (guint bits, guint64 low, guint64 near)
{
  guint64 mask = G_MAXUINT64 >> (64 - bits), value, distance;

  value = mmtp_unwrap (low & mask, bits, near);
  distance = value > near ? value - near : near - value;
  fuzz_check ((value & mask) == (low & mask));
  /* mmtp_unwrap () must return the 64-bit number that is nearest to `near`,
   * among all numbers whose low bits are `low`. The distance between this
   * number and `near` is usually at most half of the range of the low bits.
   * There is one exception: the distance may be longer if the nearest candidate
   * would be negative or would need more than 64 bits. */
  if (distance > mask / 2 + 1)
    fuzz_check (value > near ? value <= mask : ~value <= mask);
}

static guint64
take_u64 (FuzzInput * input)
{
  guint64 high = fuzz_take_u32 (input);

  return high << 32 | fuzz_take_u32 (input);
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  Action action = fuzz_take_u8 (&input) % ACTION_LAST;
  guint choice = fuzz_take_u8 (&input);
  gsize length;
  guint8 *bytes;

  if (action == UNWRAP) {
    guint64 low = take_u64 (&input);

    unwrap (choice % 64 + 1, low, take_u64 (&input));
    return 0;
  }
  length = input.size;
  bytes = fuzz_take_copy (&input, length);
  parse (bytes, length, choice & 1 ? MMTP_RECEIVER : MMTP_SENDER);
  g_free (bytes);
  return 0;
}
