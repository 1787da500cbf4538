/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joins the buffers of an MPEG transport stream at the receiver, and makes a
 * valid stream of the buffers that arrived. The sender has cut the stream at
 * the pictures of its video (mmtptscutter.h).
 *
 * If a part of a picture is missing, the joiner removes the other video packets
 * of this picture, so that a decoder gets whole pictures only. If a removed
 * packet has a program clock reference, a packet with only this reference takes
 * its place. The joiner changes the continuity counters of the video packets so
 * that they have no gap (ISO/IEC 13818-1, 2.4.3.3). Other packets are not
 * changed.
 *
 * MMTP_FLAG_HEADER marks the beginning of a picture. If no buffer has this
 * flag, or if nothing is missing, the joiner does not change the stream. The
 * joiner does no I/O and handles invalid input safely.
 */

#pragma once

#include "mmtppacket.h"

typedef struct _MmtpTsJoiner MmtpTsJoiner;

/* Creates a joiner. The caller passes a pointer `user` with each input. For
 * each output, the joiner returns the pointer of the first input that the
 * output contains. It frees the pointers of all other inputs with `free_user`.
 */
MmtpTsJoiner *mmtp_ts_joiner_new (GDestroyNotify free_user);
void mmtp_ts_joiner_free (MmtpTsJoiner * joiner);
/* Discards the state of the stream and all data that have not been output. */
void mmtp_ts_joiner_reset (MmtpTsJoiner * joiner);

/* Adds the next buffer `data`. If `is_gap` is TRUE, one or more buffers before
 * `data` are missing. `user` is any pointer that the caller chooses. The joiner
 * can join several input buffers to one output. mmtp_ts_joiner_poll () returns
 * the output together with the `user` of its first input buffer. */
void mmtp_ts_joiner_input (MmtpTsJoiner * joiner, GBytes * data, guint8 flags,
    gboolean is_gap, gpointer user);
/* Ends the stream. */
void mmtp_ts_joiner_drain (MmtpTsJoiner * joiner);
/* Returns the next piece of output; NULL if there is none. The caller becomes
 * the owner of the piece. A piece may consist of several inputs. `user` is set
 * to the pointer that the caller passed with the first of these inputs. */
GBytes *mmtp_ts_joiner_poll (MmtpTsJoiner * joiner, gpointer * user);
/* Returns TRUE if the sender has cut the transport stream at the boundaries of
 * its pictures. The joiner learns this from the first buffer that marks the
 * beginning of a picture. Before this buffer has arrived, the result is FALSE.
 */
gboolean mmtp_ts_joiner_is_cut (const MmtpTsJoiner * joiner);
/* Returns the number of incomplete pictures so far. A picture is incomplete if
 * a part of it was missing. */
guint64 mmtp_ts_joiner_get_incomplete (const MmtpTsJoiner * joiner);
