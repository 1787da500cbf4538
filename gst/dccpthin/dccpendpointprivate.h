/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An endpoint: dccpendpoint.c, and tests that choose what else is drawn. */

#ifndef __DCCP_ENDPOINT_PRIVATE_H__
#define __DCCP_ENDPOINT_PRIVATE_H__

#include "dccpconnection.h"

G_BEGIN_DECLS

/* Requests whose Response was not acknowledged yet: the first one that is becomes
 * the connection, so that nobody keeps others out with a forged Request. */
#define DCCP_MAX_CANDIDATES 16
#define DCCP_MAX_GONE 16

/* A connection that was: while it is known, so is its other end */
typedef struct
{
  DccpPath path;
  guint16 local_port, remote_port;
  gboolean in_time_wait;        /* else its ports may be used again at once */
  guint64 until;                /* ns */
} DccpGone;

struct _DccpEndpoint
{
  DccpCommon common;
  guint8 entropy[DCCP_ENTROPY_SIZE];
  guint64 n_drawn;
  guint64 next_iss;             /* of the connection that begins next */
  guint64 now;                  /* ns, the latest seen */
  DccpConnection *connection;   /* NULL: none */
  DccpConnection *candidates[DCCP_MAX_CANDIDATES];      /* the oldest first */
  guint n_candidates;
  DccpGone gone[DCCP_MAX_GONE];
  guint n_gone;                 /* ever; the oldest are overwritten */
};

G_END_DECLS

#endif /* __DCCP_ENDPOINT_PRIVATE_H__ */
