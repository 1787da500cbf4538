/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joins the buffers of an MPEG transport stream at the receiver, and makes a
 * valid stream of what arrived. The sender has cut the stream at its pictures
 * (mmtptscutter.h).
 *
 * If a part of a picture is missing, the joiner removes the other video packets
 * of this picture, so that a decoder gets whole pictures only. A removed packet
 * with a program clock reference is replaced by a packet with only this
 * reference. The joiner changes the continuity counter of the video so that it
 * continues without a gap (ISO/IEC 13818-1, 2.4.3.3). Other packets are not
 * changed.
 *
 * If nothing is missing, or if no buffer has MMTP_FLAG_HEADER, the output is
 * the input. The joiner does no I/O and handles invalid input safely.
 */

#pragma once

#include "mmtppacket.h"

typedef struct _MmtpTsJoiner MmtpTsJoiner;

/* Creates a joiner. Each input has a pointer `user`, and each output returns
 * the pointer of its first input. For all other pointers, the joiner calls
 * `free_user`. */
MmtpTsJoiner *mmtp_ts_joiner_new (GDestroyNotify free_user);
void mmtp_ts_joiner_free (MmtpTsJoiner * joiner);
/* Discards the state of the stream and all data that have not been output. */
void mmtp_ts_joiner_reset (MmtpTsJoiner * joiner);

/* Adds the next buffer `data`. If `is_gap` is TRUE, one or more buffers before
 * `data` are missing. `user` is a pointer of the caller. An output can contain
 * several input buffers: mmtp_ts_joiner_poll () returns the output together
 * with the `user` of its first input buffer. */
void mmtp_ts_joiner_input (MmtpTsJoiner * joiner, GBytes * data, guint8 flags,
    gboolean is_gap, gpointer user);
/* Ends the stream. */
void mmtp_ts_joiner_drain (MmtpTsJoiner * joiner);
/* Returns the next piece of output; NULL if there is none. It belongs to the
 * caller. Each input has a pointer `user`. The output may consist of several
 * inputs, and `user` is set to the pointer of the first of them. */
GBytes *mmtp_ts_joiner_poll (MmtpTsJoiner * joiner, gpointer * user);
/* Returns whether the sender has cut the transport stream at the boundaries of
 * its pictures. This is unknown, and the result is FALSE, until the first
 * marked beginning of a picture has arrived. */
gboolean mmtp_ts_joiner_is_cut (const MmtpTsJoiner * joiner);
/* Returns the number of incomplete pictures so far. */
guint64 mmtp_ts_joiner_get_incomplete (const MmtpTsJoiner * joiner);
