/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes HMAC-SHA-256 over messages. It uses nettle if nettle was found when
 * the project was built, and GLib otherwise. nettle uses the SHA instructions
 * of the CPU, and needs no heap memory per message. */

#pragma once

#include <glib.h>

#define MMTP_HMAC_SIZE 32       /* SHA-256, in bytes */

typedef struct _MmtpHmac MmtpHmac;

MmtpHmac *mmtp_hmac_new (const guint8 * key, gsize size);
void mmtp_hmac_free (MmtpHmac * hmac);
/* Computes the HMAC of `number` and of the `size` bytes at `bytes`, and stores
 * it in `digest`. `number` is included as 8 bytes in network byte order before
 * the other bytes. Does not change `hmac`. */
void mmtp_hmac_compute (const MmtpHmac * hmac, guint64 number,
    const guint8 * bytes, gsize size, guint8 digest[MMTP_HMAC_SIZE]);
