/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines how important the pictures of an MPEG transport stream are, and to
 * which other pictures each picture refers. tspictures.h finds the pictures.
 * The classifier does no I/O and handles invalid input safely.
 */

#pragma once

#include "ifdclassifier.h"
#include "tspictures.h"

typedef struct _TsClassifier TsClassifier;

TsClassifier *ts_classifier_new (void);
void ts_classifier_free (TsClassifier * classifier);
/* Discards the state of the stream after a flush. */
void ts_classifier_reset (TsClassifier * classifier);

/* Classifies the picture in `unit`, which must contain a picture: sets the
 * type, flags and layer of `frame`. Returns whether the picture is a whole
 * frame, a first field or a second field. */
IfdField ts_classifier_input (TsClassifier * classifier, const TsUnit * unit,
    IfdFrame * frame);
