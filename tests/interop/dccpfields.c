/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads DCCP packets with the project's DCCP codec, so that a test can compare
 * the results with those of tshark. The input has one IPv4 packet per line, in
 * hexadecimal. If the codec accepts a packet, the program prints its fields
 * and options as NAME=VALUE. Otherwise it prints the reason why the codec
 * refuses the packet. Numbers are decimal. If a name has several values, they
 * are separated by commas.
 */

#include <stdio.h>
#include <string.h>

#include "ccid3options.h"
#include "dccpoptions.h"

#define MAX_SIZE 65535
#define IPV4_HEADER 20

typedef struct
{
  GString *types, *features, *numbers[256];
  guint mandatory;
} Options;

static void
add_number (GString * text, guint64 number)
{
  g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, text->len ? "," : "",
      number);
}

static GString *
get_numbers (Options * self, guint type)
{
  if (!self->numbers[type])
    self->numbers[type] = g_string_new (NULL);
  return self->numbers[type];
}

static void
add_bytes (GString * text, const DccpOption * option)
{
  guint i;

  if (text->len)
    g_string_append_c (text, ',');
  for (i = 0; i < option->size; i++)
    g_string_append_printf (text, "%02x", option->value[i]);
}

static void
add_value (Options * self, const DccpOption * option)
{
  GString *text = get_numbers (self, option->type);
  guint64 number = 0;
  guint32 stamp, rate;

  switch (option->type) {
    case DCCP_OPTION_TIMESTAMP:
      if (dccp_option_read_timestamp (option, &stamp))
        add_number (text, stamp);
      break;
    case DCCP_OPTION_TIMESTAMP_ECHO:
      if (!dccp_option_read_timestamp_echo (option, &stamp, &number))
        break;
      add_number (text, stamp);
      if (option->size > 4)
        add_number (get_numbers (self, DCCP_OPTION_ELAPSED_TIME),
            number / 10000);
      break;
    case DCCP_OPTION_ELAPSED_TIME:
      if (dccp_option_read_elapsed_time (option, &number))
        add_number (text, number / 10000);
      break;
    case DCCP_OPTION_NDP_COUNT:
      if (dccp_option_read_number (option, &number))
        add_number (text, number);
      break;
    case CCID3_OPTION_LOSS_EVENT_RATE:
    case CCID3_OPTION_RECEIVE_RATE:
      if (ccid3_option_read_rate (option, &rate))
        add_number (text, rate);
      break;
    default:
      add_bytes (text, option);
  }
}

static void
print_text (const gchar * name, GString * text)
{
  if (!text)
    return;
  if (text->len)
    printf (" %s=%s", name, text->str);
  g_string_free (text, TRUE);
}

static void
print_options (const DccpPacket * packet)
{
  Options options = { g_string_new (NULL), g_string_new (NULL), };
  DccpOptionReader reader;
  DccpOption option;
  gchar name[16];
  guint i;

  dccp_option_reader_init (&reader, packet);
  while (dccp_option_reader_next (&reader, &option)) {
    options.mandatory += option.mandatory;
    add_number (options.types, option.type);
    if (option.type >= DCCP_OPTION_CHANGE_L
        && option.type <= DCCP_OPTION_CONFIRM_R && option.size > 0)
      add_number (options.features, option.value[0]);
    add_value (&options, &option);
  }
  print_text ("options", options.types);
  print_text ("features", options.features);
  printf (" mandatory=%u", options.mandatory);
  for (i = 0; i < 256; i++) {
    g_snprintf (name, sizeof (name), "option%u", i);
    print_text (name, options.numbers[i]);
  }
}

static void
print_packet (const DccpPacket * packet)
{
  printf (" type=%u source=%u destination=%u ccval=%u coverage=%u extended=%u"
      " sequence=%" G_GUINT64_FORMAT " payload=%" G_GSIZE_FORMAT, packet->type,
      packet->source, packet->destination, packet->ccval, packet->coverage,
      packet->extended, packet->sequence, packet->payload_size);
  if (dccp_type_has_acknowledgement (packet->type))
    printf (" acknowledgement=%" G_GUINT64_FORMAT, packet->acknowledgement);
  if (packet->type == DCCP_REQUEST || packet->type == DCCP_RESPONSE)
    printf (" service=%u", packet->service_code);
  if (packet->type == DCCP_RESET)
    printf (" reset=%u data=%u,%u,%u", packet->reset_code,
        packet->reset_data[0], packet->reset_data[1], packet->reset_data[2]);
  print_options (packet);
}

static gboolean
read_packet (const guint8 * ip, gsize size)
{
  DatagramPath path = {.address_size = 4 };
  DccpPacket packet;
  DccpRefusal refusal;

  if (size < IPV4_HEADER || ip[0] != 0x45 || ip[9] != DCCP_PROTOCOL)
    return FALSE;
  memcpy (path.remote, ip + 12, 4);
  memcpy (path.local, ip + 16, 4);
  refusal = dccp_packet_parse (&packet, &path, ip + IPV4_HEADER,
      size - IPV4_HEADER);
  printf ("%s", dccp_refusal_get_name (refusal));
  if (refusal == DCCP_ACCEPTED)
    print_packet (&packet);
  printf ("\n");
  return TRUE;
}

int
main (void)
{
  static gchar line[2 * MAX_SIZE + 2];
  static guint8 ip[MAX_SIZE];
  gsize size, i;

  while (fgets (line, sizeof (line), stdin)) {
    size = strcspn (line, "\n") / 2;
    for (i = 0; i < size; i++)
      ip[i] = g_ascii_xdigit_value (line[2 * i]) << 4
          | g_ascii_xdigit_value (line[2 * i + 1]);
    if (!read_packet (ip, size))
      return 1;
  }
  return 0;
}
