/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internal declarations of a DCCP endpoint. dccpendpoint.c includes this
 * header. Some tests include it too, because they have to set the random values
 * of an endpoint, such as the initial sequence number. */

#pragma once

#include "dccpconnection.h"
#include "dccpended.h"
#include "dccpendpoint.h"
#include "dccplistener.h"
#include "dccpsecrets.h"

/* A data packet that waits to be sent. dccp_endpoint_put () has made it, and
 * dccp_endpoint_poll_output () has not returned it yet. */
typedef struct
{
  guint8 header[DCCP_MAX_HEADER];
  gsize header_size;
  DatagramPath path;
  DatagramPart payload;         /* belongs to the caller */
} DccpPut;

struct _DccpEndpoint
{
  DccpCommon common;
  DccpSecrets secrets;
  /* Latest time in ns that the caller has passed to a function of the endpoint.
   */
  guint64 now;
  /* The two following objects belong to the endpoint. While there is a
   * connection, the listener has no candidates. */
  DccpConnection *connection;   /* NULL: none */
  DccpListener *listener;       /* NULL in a client */
  DccpEnded ended;
  DccpPut *put;                 /* DCCP_MAX_PUT of them */
  guint n_put, n_polled;
};

/* The functions dccp_endpoint_input (), dccp_endpoint_put () and
 * dccp_endpoint_poll_output () call the functions that are declared below.
 * Tests call these functions directly, to look at single packets. */

/* Processes a received packet. If the packet has data for the application,
 * describes the data in `data` and returns TRUE. */
gboolean dccp_endpoint_take (DccpEndpoint * endpoint, guint64 now,
    const DatagramPath * path, const guint8 * bytes, gsize size,
    DccpData * data);
/* Writes the header of a data packet into `header` and returns the size of the
 * header in bytes. Returns 0 if the packet is too long or must not be sent now.
 * The caller sends the header and then the payload in one packet, on the path
 * that dccp_endpoint_get_path () returns. `more` is TRUE if another packet
 * waits to be sent. */
gsize dccp_endpoint_send (DccpEndpoint * endpoint, guint64 now,
    const guint8 * payload, gsize size, gboolean more,
    guint8 header[DCCP_MAX_HEADER]);
/* Writes the next control packet that must be sent into `bytes`, and its path
 * into `path`. A control packet is a packet without application data. Returns
 * the size of the packet in bytes, or 0 if no control packet has to be sent. */
gsize dccp_endpoint_poll_control (DccpEndpoint * endpoint, guint64 now,
    DatagramPath * path, guint8 bytes[DCCP_MAX_CONTROL]);
