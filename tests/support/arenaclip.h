/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The streams of the arena (the benchmark mmtparena). A stream consists of the
 * frames of a clip, or of packets of one size. Each frame has a type, a size
 * and a due time. A receiver can decode a frame only if it has also received
 * the frames to which this frame refers. arena_frames_decode () checks this. */

#ifndef __ARENA_CLIP_H__
#define __ARENA_CLIP_H__

#include <glib.h>

G_BEGIN_DECLS

/* Two sizes for packets that carry MPEG video, in bytes. ARENA_RTP_HEADERS is
 * the size of the RTP header (RFC 3550 section 5.1) together with the header
 * for MPEG video (RFC 2250 section 3.4). ARENA_PACKET_PAYLOAD is the maximum
 * number of bytes of a frame in one packet. It applies to the element
 * rfc2250pay if its property mtu is 1400. */
#define ARENA_RTP_HEADERS (12 + 4)
#define ARENA_PACKET_PAYLOAD (1400 - ARENA_RTP_HEADERS)

#define ARENA_MAX_REFERENCES 2

typedef enum
{
  /* A frame that refers to no other frame. If the stream consists of packets of
   * equal size instead of frames, each packet has this type.
   */
  ARENA_TYPE_I,
  ARENA_TYPE_P,
  ARENA_TYPE_B
} ArenaType;

typedef struct
{
  ArenaType type;
  guint32 size;                 /* Bytes of the elementary stream. */
  /* Time in ns from the due time of the first frame of the stream to the due
   * time of this frame. */
  guint64 due;
  guint n_references;
  guint references[ARENA_MAX_REFERENCES];       /* Numbers of earlier frames. */
} ArenaFrame;

/* Loads a clip file. The file has one line for each frame, in coding order,
 * with the type and the size of the frame. Lines that begin with # are
 * comments. Returns an array of ArenaFrame, which the caller frees with
 * g_array_unref (). Returns NULL with `error` set if the file cannot be read.
 */
GArray *arena_clip_load (const gchar * path, GError ** error);

/* Returns an array of ArenaFrame: the frames that a clip yields in `duration`
 * ns, with one frame in each `period` ns. They begin with the first I-frame at
 * or after the position `shift`, which is a fraction (0 to 1) of the length of
 * the clip. After the end of the clip, they continue with its beginning. The
 * frame sizes are multiplied by `scale`. */
GArray *arena_clip_get_frames (const GArray * clip, gdouble shift,
    gdouble scale, guint64 period, guint64 duration);
/* Returns a stream that consists of packets of `size` bytes, one in each
 * `period`. No packet refers to another packet. */
GArray *arena_make_packets (guint32 size, guint64 period, guint64 duration);

/* Sets the references of all frames. A P-frame refers to the last I-frame or
 * P-frame. A B-frame refers to the last two I-frames or P-frames in coding
 * order. Thus the B-frames directly after an I-frame refer to the previous GOP:
 * the GOPs are open. */
void arena_frames_set_references (GArray * frames);

/* arena_frame_count_packets () returns the number of packets in which a frame
 * is sent. arena_frame_get_packet_size () returns the size of one of these
 * packets in bytes, including ARENA_RTP_HEADERS. */
guint arena_frame_count_packets (const ArenaFrame * frame);
guint32 arena_frame_get_packet_size (const ArenaFrame * frame, guint packet);
/* Returns the total size in bytes of all packets of a frame. Each packet has
 * ARENA_RTP_HEADERS bytes of RTP headers, and `overhead` bytes of other
 * headers. */
guint64 arena_frame_get_wire_size (const ArenaFrame * frame, guint overhead);
/* Returns the mean bitrate of the frames in bit/s, including the headers of
 * their packets. `duration` is the time in ns that all frames together last.
 * Each packet has ARENA_RTP_HEADERS bytes of RTP headers, and `overhead` bytes
 * of other headers. */
gdouble arena_frames_get_wire_rate (const GArray * frames, guint64 duration,
    guint overhead);

/* Determines which frames can be decoded in time. Such a frame arrived in time
 * itself, and all its references can be decoded in time, too. Returns the
 * number of these frames. `decodable` has one entry for each frame. */
guint arena_frames_decode (const GArray * frames, const gboolean * in_time,
    gboolean * decodable);

G_END_DECLS

#endif /* __ARENA_CLIP_H__ */
