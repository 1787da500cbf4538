/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the algorithms that decide which frames ifdqueue drops. The tests
 * are written as a table. Each line of the table has the input of the
 * algorithm, and the expected fate of each frame.
 *
 * Words of the input:
 *   I P B       A frame arrives. Its size follows (B30), then its flags:
 *               c closed, x broken link, l leading, t trailing, r refresh,
 *               ! incomplete. Its position in display order modulo 16 comes
 *               last (o12).
 *   /           The network has sent its frame and accepts another one.
 *   restart     A new receiver begins.
 *   flush       The stream ends.
 *   paper paper-gop gop1 ... gop9
 *               From here on, another algorithm is used. The digit after gop
 *               is the value of its setting max_frames.
 *
 * Words of the fate, with the number of the frame in the order of input:
 *   +I0         The frame was stored.
 *   -B1:no-room The frame was dropped, for the reason after the colon.
 *   >I0         The frame was sent. A > without a frame means that the queue
 *               contained no frame to send.
 *   ~I0         The frame was flushed. */

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
