/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines how important each picture of an MPEG transport stream is, and to
 * which other pictures it refers. The pictures themselves are found by the
 * parser in tspictures.h. The classifier does no I/O and handles invalid input
 * safely. */

#pragma once

#include "ifdclassifier.h"
#include "tspictures.h"

typedef struct _TsClassifier TsClassifier;

TsClassifier *ts_classifier_new (void);
void ts_classifier_free (TsClassifier * classifier);
/* Discards what is known about the stream, for example after a flush. */
void ts_classifier_reset (TsClassifier * classifier);

/* Classifies the picture in `unit`, and sets the type, flags and layer of
 * `frame`. `unit` must contain a picture. Returns whether the picture is a
 * whole frame, a first field or a second field. */
IfdField ts_classifier_input (TsClassifier * classifier, const TsUnit * unit,
    IfdFrame * frame);
