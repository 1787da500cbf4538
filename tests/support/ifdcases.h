/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the choice of frames, written as lines of a table. Each line has the
 * input of the algorithm and the fate of each frame. Words of the input:
 *   I P B       a frame that arrives, with its size (B30) and flags: c closed,
 *               x broken link, l leading, t trailing, r refresh, ! incomplete;
 *               at the end its position in display order modulo 16 (o12)
 *   /           the channel has sent its frame and accepts the next one
 *   restart     a new receiver
 *   flush       the stream ends
 *   paper paper-gop gop1 ... gop9   another algorithm, max_frames
 * The fates of the frames, with their numbers in the order of input:
 *   +I0 stored   -B1:no-room dropped   >I0 sent (> none)   ~I0 flushed
 */

#ifndef __IFDCASES_H__
#define __IFDCASES_H__

#include <gst/check/gstcheck.h>
#include <string.h>

#include "ifd.h"

typedef struct
{
  const gchar *name;
  const gchar *input;
  const gchar *expected;
} IfdCase;

IfdFrame ifd_case_make_frame (const gchar * word);
void ifd_case_do_word (Ifd * ifd, const gchar * word, gboolean * sending,
    GString * log);
Ifd *ifd_case_play (const IfdConfig * config, const gchar * input,
    GString * log);
void ifd_case_expect_all (const IfdConfig * config, const IfdCase * cases,
    guint n);

#define IFD_EXPECT_ALL(config, cases) \
    ifd_case_expect_all (config, cases, G_N_ELEMENTS (cases))

#endif /* __IFDCASES_H__ */
