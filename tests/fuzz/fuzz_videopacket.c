/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the readers of video packets. A packet has any size and any content,
 * and bytes may be missing at its end. A reader must not access any byte beyond
 * those that it gets. If a reader accepts the packet, the description that it
 * returns must match the bytes of the packet. The description must depend only
 * on the first bytes of the packet.
 *
 * Input:
 * - one byte that selects the reader (0 IP, 1 RTP of payload type 32, 2 RTP of
 *   any type, 3 a frame)
 * - one byte that is the number of bytes that are missing at the end of the
 *   packet
 * - the bytes of the packet, without the missing bytes, up to the end of the
 *   input
 */

#include "fuzz.h"
#include "rtpheader.h"
#include "videopacket.h"

typedef enum
{
  READ_IP,
  READ_RTP,
  READ_ANY_RTP,
  READ_FRAME,
  READ_LAST
} Reading;

static gboolean
read_packet (Reading reading, VideoPacket * packet, const guint8 * data,
    gsize size, gsize full_size)
{
  switch (reading) {
    case READ_IP:
      return video_packet_parse_ip (packet, data, size, full_size);
    case READ_RTP:
      return video_packet_parse_rtp (packet, data, size, full_size,
          RTP_PAYLOAD_MPV);
    case READ_ANY_RTP:
      return video_packet_parse_rtp (packet, data, size, full_size,
          VIDEO_PACKET_ANY_TYPE);
    default:
      return video_packet_parse_frame (packet, data, size);
  }
}

static void
check_packet (Reading reading, const VideoPacket * packet, gsize size)
{
  fuzz_check (packet->type < MPEG_VIDEO_PICTURE_LAST);
  fuzz_check (packet->temporal_reference < 1024);
  fuzz_check (packet->begins == TRUE || packet->begins == FALSE);
  fuzz_check (packet->ends == TRUE || packet->ends == FALSE);
  fuzz_check (packet->begins || !(packet->closed_gop || packet->broken_link));
  fuzz_check (size >= (reading == READ_IP ? 20 + 8 + 12 + 4 :
          reading == READ_FRAME ? 8 : 12 + 4));
  if (reading == READ_FRAME)
    fuzz_check (packet->begins && packet->ends && packet->type);
}

/* Called after the reader has refused a packet. Checks that the reader has not
 * changed the result `packet`. */
static void
check_untouched (const VideoPacket * packet)
{
  guint i;

  for (i = 0; i < sizeof (*packet); i++)
    fuzz_check (((const guint8 *) packet)[i] == 0xa5);
}

static gboolean
is_same (const VideoPacket * a, const VideoPacket * b)
{
  return a->stream == b->stream && a->timestamp == b->timestamp
      && a->sequence == b->sequence && a->type == b->type
      && a->temporal_reference == b->temporal_reference
      && a->begins == b->begins && a->ends == b->ends
      && a->closed_gop == b->closed_gop && a->broken_link == b->broken_link;
}

/* Checks two readers of RTP packets: the one that accepts only the payload type
 * 32, and the one that accepts any payload type. `packet` is the result of the
 * first reader for `data`. The second reader must return the same result. */
static void
check_types (const VideoPacket * packet, const guint8 * data, gsize size,
    gsize full_size)
{
  VideoPacket any;

  fuzz_check (read_packet (READ_ANY_RTP, &any, data, size, full_size));
  fuzz_check (is_same (packet, &any));
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  Reading reading = fuzz_take_u8 (&input) % READ_LAST;
  gsize more = fuzz_take_u8 (&input), length = input.size;
  guint8 *bytes = fuzz_take_copy (&input, length);
  VideoPacket packet;

  memset (&packet, 0xa5, sizeof (packet));
  if (!read_packet (reading, &packet, bytes, length, length + more)) {
    check_untouched (&packet);
  } else {
    check_packet (reading, &packet, length);
    if (reading == READ_RTP)
      check_types (&packet, bytes, length, length + more);
  }
  g_free (bytes);
  return 0;
}
