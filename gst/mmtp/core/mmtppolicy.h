/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy of a bond: which path takes which packet, which path a control
 * message goes on, and what a path is used for. It decides by what is measured of
 * the paths and changes nothing of it. The rule by which one of several paths is
 * taken is mmtpscheduler.h's; the order of the packets is mmtpsendqueue.h's.
 */

#ifndef __MMTP_POLICY_H__
#define __MMTP_POLICY_H__

#include "mmtpsenderprivate.h"

G_BEGIN_DECLS

/* --- what a path may do --------------------------------------------------- */

/* It may carry packets of the stream, as far as the receiver is concerned. */
gboolean mmtp_path_is_usable (const MmtpPath * path);
/* It may carry control messages. */
gboolean mmtp_path_may_speak (const MmtpPath * path);
/* Whether more than one path may carry packets */
gboolean mmtp_policy_has_choice (const MmtpSender * sender);
/* The path may carry a packet now, as far as its window alone is concerned. */
gboolean mmtp_policy_has_room (const MmtpSender * sender,
    const MmtpPath * path);

/* --- how much the paths carry --------------------------------------------- */

/* Bytes, with all headers, that all paths together bring before a deadline,
 * behind what is in flight; at the rates of now or at the best ones */
guint64 mmtp_policy_get_capacity (const MmtpSender * sender, guint64 deadline,
    gboolean at_best, guint percent);
/* The same for a buffer that is put; G_MAXUINT64: unknown, a path carries what
 * it is given until there is evidence against it */
guint64 mmtp_policy_get_put_capacity (const MmtpSender * sender,
    guint64 deadline);
/* What waits, and so many bytes more, are no more than this part of what the
 * paths bring in time: nothing new is late for it. */
gboolean mmtp_policy_has_spare_rate (const MmtpSender * sender, gsize size,
    guint part);

/* --- the stream ----------------------------------------------------------- */

/* The packet that goes next, and its path; NULL: none can go now. The queue is not
 * empty. */
MmtpPacket *mmtp_policy_choose (MmtpSender * sender, MmtpPath ** path);
/* ns at which a path has room or a token that it does not have now; MMTP_NEVER */
guint64 mmtp_policy_get_wakeup (const MmtpSender * sender);

/* --- what was lost, and what waits behind a stall ------------------------- */

/* ns, expected delay of the quickest path; MMTP_NEVER: none delivers */
guint64 mmtp_policy_get_min_delay (const MmtpSender * sender);
/* ns, the same when its queue is gone; 0: unknown */
guint64 mmtp_policy_get_best_delay (const MmtpSender * sender);
/* Some path surely brings the packet in time with its next token; or none is
 * there, and one that comes back may. */
gboolean mmtp_policy_is_sure (const MmtpSender * sender,
    const MmtpPacket * packet);
/* Where the packet comes first when it goes next, as far as one can know;
 * `arrival`: when it does, MMTP_NEVER: nowhere */
MmtpPath *mmtp_policy_find_quickest (const MmtpSender * sender,
    const MmtpPacket * packet, guint64 * arrival);
/* The least expected delay of the other paths that have room, if need be beyond
 * their window: this one has stalled. MMTP_NEVER: no path has room */
guint64 mmtp_policy_get_delay_elsewhere (const MmtpSender * sender,
    const MmtpPath * except);

/* --- control messages ----------------------------------------------------- */

/* The fastest one that delivers, but not the path `except`; then any; NULL */
MmtpPath *mmtp_policy_find_control_path (const MmtpSender * sender,
    guint except);

/* --- what a user is told -------------------------------------------------- */

/* Fills in `use`, `silence`, `share` and `loss`. */
void mmtp_policy_fill_use (const MmtpSender * sender, const MmtpPath * path,
    MmtpSenderPathStats * stats);

G_END_DECLS

#endif /* __MMTP_POLICY_H__ */
