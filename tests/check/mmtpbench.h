/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mmtpsink and mmtpsrc on the loopback: endbench.h with the two in it */

#ifndef __MMTP_BENCH_H__
#define __MMTP_BENCH_H__

#include "endbench.h"

#define CAPS "application/x-test, framerate=(fraction)25/1"

/* It listens at port_of () of 127.0.0.1, or of the address that is given. */
static inline void
src_init (End * end, const gchar * first_property, ...)
{
  GstElement *element;
  va_list values;

  va_start (values, first_property);
  element = make_element ("mmtpsrc", first_property, values);
  va_end (values);
  g_object_set (element, "port", 0, NULL);
  end_init (end, element, NULL, "src");
}

static inline void
sink_init (End * end, const gchar * first_property, ...)
{
  GstElement *element;
  va_list values;

  va_start (values, first_property);
  element = make_element ("mmtpsink", first_property, values);
  va_end (values);
  g_object_set (element, "sync", FALSE, "async", FALSE, NULL);
  end_init (end, element, "sink", NULL);
}

static inline void
pair_init_src (Pair * pair, const gchar * address)
{
  src_init (&pair->src, "address", address, NULL);
  gst_harness_play (pair->src.harness);
}

/* channels: as the property has it */
static inline void
pair_init_sink (Pair * pair, const gchar * host, const gchar * channels)
{
  sink_init (&pair->sink, "host", host, "port", port_of (&pair->src),
      "channels", channels, NULL);
  gst_harness_set_src_caps_str (pair->sink.harness, CAPS);
}

static inline void
pair_init (Pair * pair, const gchar * channels)
{
  pair_init_src (pair, "127.0.0.1");
  pair_init_sink (pair, "127.0.0.1", channels);
}

#endif /* __MMTP_BENCH_H__ */
