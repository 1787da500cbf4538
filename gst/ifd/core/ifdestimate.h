/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Estimates the rate that a TCP connection can carry. The estimate is computed
 * from the amount of data that the receiver of the connection has acknowledged.
 * If data are always waiting to be sent, they are acknowledged at the rate that
 * the connection can carry. Otherwise they are acknowledged at the rate at
 * which the application sends, and the connection may be able to carry more.
 *
 *   ifd_estimate_init (&estimate);
 *   ifd_estimate_input (&estimate, now, delivered, is_full);
 *   rate = ifd_estimate_get (&estimate, &is_app_limited);
 *
 * ifd_estimate_input () is called repeatedly while the connection is open.
 * Times are in ns. The caller chooses the clock.
 */

#pragma once

#include <glib.h>

#define IFD_ESTIMATE_SAMPLES 64

typedef struct
{
  guint64 time;
  guint64 delivered;
  gboolean is_full;
} IfdEstimateSample;

typedef struct
{
  IfdEstimateSample samples[IFD_ESTIMATE_SAMPLES];      /* ring buffer */
  guint n_samples, next_sample;
  guint64 rate;                 /* in bit/s; 0 if unknown */
  gboolean is_app_limited;
} IfdEstimate;

/* Initialises the estimate of a connection's rate. Call this function for each
 * new connection. */
void ifd_estimate_init (IfdEstimate * estimate);
/* Returns FALSE if ifd_estimate_input () would ignore a sample now, because the
 * last sample is less than 10 ms old. */
gboolean ifd_estimate_is_due (const IfdEstimate * estimate, guint64 now);
/* Adds a sample. `delivered` is the number of bytes of this connection that the
 * receiver has acknowledged so far. `is_full` is TRUE if more data are waiting
 * to be sent. */
void ifd_estimate_input (IfdEstimate * estimate, guint64 now,
    guint64 delivered, gboolean is_full);
/* Returns the estimated rate of the connection in bit/s, or 0 if the rate is
 * not known yet. `is_app_limited` is set to TRUE if the application has sent
 * too little to use the connection fully. The connection may then be able to
 * carry more than the returned rate. */
guint64 ifd_estimate_get (const IfdEstimate * estimate,
    gboolean * is_app_limited);
