/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mmtpsink and mmtpsrc on the loopback: loopback.h with the two in it */

#ifndef __MMTPLOOPBACK_H__
#define __MMTPLOOPBACK_H__

#include "loopback.h"

#define CAPS "application/x-test, framerate=(fraction)25/1"

#define KEY_DIGITS 64

/* Random, as openssl rand -hex 32 makes it */
void mmtp_loopback_make_key (gchar key[KEY_DIGITS + 1]);
void mmtp_loopback_check_weak_keys (const gchar * factory);
/* Half of the digits are enough, in either case; NULL is no key. */
void mmtp_loopback_check_strong_keys (const gchar * factory);
/* It listens at loopback_port_of () of 127.0.0.1, or of the address that is
 * given. */
void mmtp_loopback_src_init (LoopbackEnd * end, const gchar * first_property,
    ...);
void mmtp_loopback_sink_init (LoopbackEnd * end, const gchar * first_property,
    ...);
void mmtp_loopback_fixture_init_src (LoopbackFixture * fixture,
    const gchar * address);
/* channels: as the property has it */
void mmtp_loopback_fixture_init_sink (LoopbackFixture * fixture,
    const gchar * host, const gchar * channels);
void mmtp_loopback_fixture_init (LoopbackFixture * fixture,
    const gchar * channels);

#endif /* __MMTPLOOPBACK_H__ */
