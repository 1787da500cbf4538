/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element rfc2250depay. */

#pragma once

#include <gst/rtp/gstrtpbasedepayload.h>

#define GST_TYPE_RFC2250_DEPAY (gst_rfc2250_depay_get_type ())
G_DECLARE_FINAL_TYPE (GstRfc2250Depay, gst_rfc2250_depay, GST, RFC2250_DEPAY,
    GstRTPBaseDepayload)
GST_ELEMENT_REGISTER_DECLARE (rfc2250depay);
