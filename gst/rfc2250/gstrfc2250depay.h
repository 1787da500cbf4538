/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element rfc2250depay. */

#ifndef __GST_RFC2250_DEPAY_H__
#define __GST_RFC2250_DEPAY_H__

#include <gst/rtp/gstrtpbasedepayload.h>

G_BEGIN_DECLS

#define GST_TYPE_RFC2250_DEPAY (gst_rfc2250_depay_get_type ())
G_DECLARE_FINAL_TYPE (GstRfc2250Depay, gst_rfc2250_depay, GST, RFC2250_DEPAY,
    GstRTPBaseDepayload)
GST_ELEMENT_REGISTER_DECLARE (rfc2250depay);

G_END_DECLS

#endif /* __GST_RFC2250_DEPAY_H__ */
