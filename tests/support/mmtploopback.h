/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers for tests of the elements mmtpsink and mmtpsrc on the loopback
 * interface. They use the general functions of loopback.h. */

#ifndef __MMTPLOOPBACK_H__
#define __MMTPLOOPBACK_H__

#include "loopback.h"

#define CAPS "application/x-test, framerate=(fraction)25/1"

#define KEY_DIGITS 64

/* Makes a random key of 64 hexadecimal digits, as `openssl rand -hex 32` does.
 */
void mmtp_loopback_make_key (gchar key[KEY_DIGITS + 1]);
void mmtp_loopback_check_weak_keys (const gchar * factory);
/* Checks that an MMTP element accepts each valid value of its property `key`: a
 * key of 64 hexadecimal digits, a key of half as many digits, and a key in
 * upper case. It must also accept NULL, which means that there is no key. */
void mmtp_loopback_check_strong_keys (const gchar * factory);
/* Makes an mmtpsrc with the given properties. The source listens on a free
 * port, which loopback_port_of () returns. If the property `address` is not
 * set, it listens on all IPv4 addresses, including 127.0.0.1. */
void mmtp_loopback_src_init (LoopbackEnd * end, const gchar * first_property,
    ...);
void mmtp_loopback_sink_init (LoopbackEnd * end, const gchar * first_property,
    ...);
void mmtp_loopback_fixture_init_src (LoopbackFixture * fixture,
    const gchar * address);
/* Makes an mmtpsink that connects to `host`, as the sink of `fixture`.
 * `channels` is the value of the property `channels` of the sink. */
void mmtp_loopback_fixture_init_sink (LoopbackFixture * fixture,
    const gchar * host, const gchar * channels);
void mmtp_loopback_fixture_init (LoopbackFixture * fixture,
    const gchar * channels);

#endif /* __MMTPLOOPBACK_H__ */
