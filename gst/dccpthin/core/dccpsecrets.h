/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The secrets and the random numbers of a DCCP endpoint, among them its initial
 * sequence numbers. All of them are MACs (HMAC-SHA-256) whose key consists of
 * the random bytes that the caller supplied when the endpoint was created. Only
 * somebody who knows these bytes can compute the secrets and the numbers.
 */

#pragma once

#include "dccptypes.h"

#define DCCP_SECRET_SIZE 32

typedef struct
{
  guint8 entropy[DCCP_ENTROPY_SIZE];    /* random bytes from the caller */
  guint64 n_drawn;              /* calls of dccp_secrets_draw () so far */
  /* Random number from which the first sequence number of a connection is
   * computed. For a client, the random number itself is the first sequence
   * number of its next connection. A listener computes another number from the
   * addresses and ports of a client, and adds the random number to it. The sum
   * is the first sequence number of the connection with this client. */
  guint64 next_iss;
} DccpSecrets;

/* Copies `entropy`, and draws the first value of `next_iss`. */
void dccp_secrets_init (DccpSecrets * secrets,
    const guint8 entropy[DCCP_ENTROPY_SIZE]);
/* Returns a random number of 64 bits. Each call returns another number. */
guint64 dccp_secrets_draw (DccpSecrets * secrets);
/* Makes the secret for the purpose `purpose`, a short name. The same name
 * always gives the same secret. */
void dccp_secrets_make (const DccpSecrets * secrets, const gchar * purpose,
    guint8 secret[DCCP_SECRET_SIZE]);

/* Returns the first sequence number of the next connection of a client. The
 * number is random, so nobody can guess it (RFC 4340 section 7.2). Each call
 * returns another number. */
guint64 dccp_secrets_take_iss (DccpSecrets * secrets);
/* Returns the first sequence number that a listener with the DCCP port
 * `local_port` uses in a connection with the client at `path` and
 * `remote_port`. If the client repeats its Request, the number stays the same,
 * because the client accepts only one number. For the same reason, the number
 * does not depend on whether the Response has a cookie. Other hosts cannot
 * guess the number. `epoch` is the number of connections that the listener has
 * opened so far, so the number changes after each connection. */
guint64 dccp_secrets_make_iss (const DccpSecrets * secrets, guint64 epoch,
    const DatagramPath * path, guint16 local_port, guint16 remote_port);
