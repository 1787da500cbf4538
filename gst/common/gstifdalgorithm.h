/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The enumeration type of the algorithms in ifd.h, for properties of any
 * element.
 */

#ifndef __GST_IFD_ALGORITHM_H__
#define __GST_IFD_ALGORITHM_H__

#include <gst/gst.h>

#include "ifd.h"

G_BEGIN_DECLS

#define GST_TYPE_IFD_ALGORITHM (gst_ifd_algorithm_get_type ())
GST_WIRELESS_API
GType gst_ifd_algorithm_get_type (void);

G_END_DECLS

#endif /* __GST_IFD_ALGORITHM_H__ */
