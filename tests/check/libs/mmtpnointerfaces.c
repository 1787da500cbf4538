/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Without the library libmnl, mmtp_interfaces_new() cannot find any interface.
 * It must fail with an error that names libmnl. */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "mmtpinterfaces.h"

GST_START_TEST (nothing_is_found_and_it_says_why)
{
  GSocketAddress *remote = g_inet_socket_address_new_from_string ("127.0.0.1",
      5004);
  GError *error = NULL;

  fail_unless (mmtp_interfaces_new (remote, &error) == NULL);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED);
  fail_unless (strstr (error->message, "libmnl") != NULL);
  g_error_free (error);
  g_object_unref (remote);
}

GST_END_TEST;

static Suite *
mmtpnointerfaces_suite (void)
{
  Suite *suite = suite_create ("mmtpnointerfaces");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, nothing_is_found_and_it_says_why);
  return suite;
}

GST_CHECK_MAIN (mmtpnointerfaces);
