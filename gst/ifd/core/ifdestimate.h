/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Estimates what a TCP connection carries, from what its receiver has confirmed. TCP
 * shows that only while there is always something to send: otherwise what is confirmed
 * is what the application sent, which is a lower bound.
 *
 *   ifd_estimate_init (&estimate);
 *   ifd_estimate_input (&estimate, now, delivered, is_full);     now and then
 *   rate = ifd_estimate_get (&estimate, &is_app_limited);
 *
 * Times are ns on one clock of the caller's.
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
  IfdEstimateSample samples[IFD_ESTIMATE_SAMPLES];      /* a ring */
  guint n_samples, next_sample;
  guint64 rate;                 /* bit/s; 0: unknown */
  gboolean is_app_limited;
} IfdEstimate;

/* A new connection */
void ifd_estimate_init (IfdEstimate * estimate);
/* delivered: bytes of the connection that the receiver has confirmed. is_full: data
 * wait for the network. */
void ifd_estimate_input (IfdEstimate * estimate, guint64 now,
    guint64 delivered, gboolean is_full);
/* bit/s, 0: not known yet. is_app_limited: the connection may carry more. */
guint64 ifd_estimate_get (const IfdEstimate * estimate,
    gboolean * is_app_limited);
