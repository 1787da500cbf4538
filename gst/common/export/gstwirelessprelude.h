/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What libgstwireless-1.0 shows to its users, and nothing else, is exported. */

#ifndef __GST_WIRELESS_PRELUDE_H__
#define __GST_WIRELESS_PRELUDE_H__

#if defined(BUILDING_GST_WIRELESS) && defined(__GNUC__)
#define GST_WIRELESS_API extern __attribute__((visibility("default")))
#else
#define GST_WIRELESS_API extern
#endif

#endif /* __GST_WIRELESS_PRELUDE_H__ */
