/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the arena streams: the frames of a clip, or packets of one size. Each
 * has its type, its size and the time at which it is due. Here is also the rule
 * by which a frame can be decoded.
 */

#ifndef __ARENA_CLIP_H__
#define __ARENA_CLIP_H__

#include <glib.h>

G_BEGIN_DECLS

/* rfc2250pay with an mtu of 1400 bytes: the headers of RTP (RFC 3550 section
 * 5.1) and of MPEG video (RFC 2250 section 3.4) leave this much of a frame in
 * each packet. */
#define ARENA_RTP_HEADERS (12 + 4)
#define ARENA_PACKET_PAYLOAD (1400 - ARENA_RTP_HEADERS)

#define ARENA_MAX_REFERENCES 2

typedef enum
{
  ARENA_TYPE_I,                 /* refers to nothing, as single packets do */
  ARENA_TYPE_P,
  ARENA_TYPE_B
} ArenaType;

typedef struct
{
  ArenaType type;
  guint32 size;                 /* bytes of the elementary stream */
  guint64 due;                  /* ns since the first frame was due */
  guint n_references;
  guint references[ARENA_MAX_REFERENCES];       /* numbers of earlier frames */
} ArenaFrame;

/* A clip file has one frame on each line, in coding order: its type and its
 * size. Lines that begin with # are comments. Free the array of ArenaFrame with
 * g_array_unref (). NULL with an error: the file cannot be read. */
GArray *arena_clip_load (const gchar * path, GError ** error);

/* The frames of a clip for `duration`, from the first I frame at or behind the
 * share `shift` (0 to 1) of it; the clip repeats. Sizes are scaled. Returns an
 * array of ArenaFrame. */
GArray *arena_clip_get_frames (const GArray * clip, gdouble shift,
    gdouble scale, guint64 period, guint64 duration);
/* Packets of one size, none of which needs another */
GArray *arena_make_packets (guint32 size, guint64 period, guint64 duration);

/* Fills in the references: a P frame refers to the last frame that is no B
 * frame, a B frame to the last two of these in coding order. So the B frames
 * right behind an I frame refer to the frame before it: GOPs are open. */
void arena_frames_set_references (GArray * frames);

/* In how many packets a frame is sent, and the payload of one of them, with
 * ARENA_RTP_HEADERS */
guint arena_frame_count_packets (const ArenaFrame * frame);
guint32 arena_frame_get_packet_size (const ArenaFrame * frame, guint packet);
/* Bytes of a frame on the wire, with `overhead` more for each packet */
guint64 arena_frame_get_wire_size (const ArenaFrame * frame, guint overhead);
/* Mean bit rate of frames that span `duration` on the wire */
gdouble arena_frames_get_wire_rate (const GArray * frames, guint64 duration,
    guint overhead);

/* Which frames can be decoded of those that arrived in time: those whose
 * references can be decoded, too. Returns their number; `decodable` has one
 * entry for each frame. */
guint arena_frames_decode (const GArray * frames, const gboolean * in_time,
    gboolean * decodable);

G_END_DECLS

#endif /* __ARENA_CLIP_H__ */
