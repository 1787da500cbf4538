/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks that an open DCCP connection allocates no memory, neither when it
 * sends nor when it receives. In the test, the connection sends data packets
 * and feedback, loses packets, and reports the losses as events.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "dccpnetwork.h"

static gboolean counting;
static guint allocations;

/* To count allocations, this file hooks into malloc. With the address
 * sanitizer, which has its own malloc, the file defines the hook that the
 * sanitizer calls for each allocation. Without the sanitizer, the file replaces
 * malloc by a function that counts and then calls the malloc of libc. */
#if defined (__has_feature)
#if __has_feature (address_sanitizer)
#define SANITIZED
#endif
#elif defined (__SANITIZE_ADDRESS__)
#define SANITIZED
#endif

#ifdef SANITIZED
void __sanitizer_malloc_hook (const volatile void *address, size_t size);

void
__sanitizer_malloc_hook (const volatile void *address, size_t size)
{
  allocations += counting;
}
#elif defined (__GLIBC__)
void *__libc_malloc (size_t size);
void *__libc_calloc (size_t n, size_t size);
void *__libc_realloc (void *address, size_t size);

void *
malloc (size_t size)
{
  allocations += counting;
  return __libc_malloc (size);
}

void *
calloc (size_t n, size_t size)
{
  allocations += counting;
  return __libc_calloc (n, size);
}

void *
realloc (void *address, size_t size)
{
  allocations += counting;
  return __libc_realloc (address, size);
}
#else
#error "How are allocations counted here?"
#endif

#define PACKETS 5000

static DccpNetwork network;

/* Delivers the waiting control packets of endpoint `from` to the other
 * endpoint, and discards the events of `from`. */
static void
exchange (DccpEnd from)
{
  guint8 bytes[DCCP_MAX_CONTROL];
  DccpEvent event;
  DatagramPath path;
  DccpData data;
  gsize size;

  while ((size =
          dccp_endpoint_poll_control (network.ends[from], network.now, &path,
              bytes)) > 0)
    dccp_endpoint_take (network.ends[OTHER (from)], network.now,
        &network.paths[OTHER (from)], bytes, size, &data);
  while (dccp_endpoint_poll_event (network.ends[from], &event));
}

static gboolean
send_one (DccpEnd from, gboolean lost)
{
  guint8 bytes[DCCP_MAX_HEADER + 100] = { 0 }, payload[100] = { 0 };
  const DccpEnd to = OTHER (from);
  DccpData data;
  gsize size;

  network.now = MAX (network.now, dccp_endpoint_next_send (network.ends[from],
          network.now));
  size =
      dccp_endpoint_send (network.ends[from], network.now, payload, 100, TRUE,
      bytes);
  if (size == 0 || lost)
    return FALSE;
  memcpy (bytes + size, payload, 100);
  return dccp_endpoint_take (network.ends[to], network.now, &network.paths[to],
      bytes, size + 100, &data);
}

GST_START_TEST (counter_counts)
{
  counting = TRUE;
  g_free (g_malloc (10));
  counting = FALSE;
  assert_equals_int (allocations, 1);
}

GST_END_TEST;

GST_START_TEST (nothing_is_allocated_for_packets)
{
  guint i, n = 0;

  dccp_network_init (&network);
  dccp_network_begin (&network);
  dccp_network_open (&network);
  allocations = 0;
  counting = TRUE;
  for (i = 0; i < PACKETS; i++) {
    n += send_one (i % 2 ? CLIENT : SERVER, i % 100 == 99);
    if (i % 10 == 0)
      dccp_endpoint_dropped (network.ends[SERVER], network.now,
          network.ends[SERVER]->connection->numbers.gsr,
          DCCP_DROP_RECEIVE_BUFFER);
    exchange (CLIENT);
    exchange (SERVER);
    if (dccp_endpoint_next_wakeup (network.ends[CLIENT]) <= network.now)
      dccp_endpoint_timeout (network.ends[CLIENT], network.now);
  }
  counting = FALSE;
  assert_equals_int (n, PACKETS - PACKETS / 100);
  fail_unless (dccp_network_get_stats (&network,
          CLIENT)->feedback_received > 10);
  fail_unless (dccp_network_get_stats (&network,
          CLIENT)->dropped_received > 10);
  assert_equals_int (allocations, 0);
  dccp_network_clear (&network);
}

GST_END_TEST;

static Suite *
dccpallocations_suite (void)
{
  Suite *suite = suite_create ("dccpallocations");
  TCase *general = tcase_create ("general");

  suite_add_tcase (suite, general);
  tcase_add_test (general, counter_counts);
  tcase_add_test (general, nothing_is_allocated_for_packets);
  return suite;
}

GST_CHECK_MAIN (dccpallocations);
