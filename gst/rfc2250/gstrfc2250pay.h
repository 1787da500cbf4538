/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element rfc2250pay. */

#pragma once

#include <gst/rtp/gstrtpbasepayload.h>

#define GST_TYPE_RFC2250_PAY (gst_rfc2250_pay_get_type ())
G_DECLARE_FINAL_TYPE (GstRfc2250Pay, gst_rfc2250_pay, GST, RFC2250_PAY,
    GstRTPBasePayload)
GST_ELEMENT_REGISTER_DECLARE (rfc2250pay);
