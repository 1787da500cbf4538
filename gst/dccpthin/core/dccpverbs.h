/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the driver runs DCCP: an endpoint as a core with the interface of all
 * cores.
 */

#ifndef __DCCP_VERBS_H__
#define __DCCP_VERBS_H__

#include "driververbs.h"

G_BEGIN_DECLS

/* Of DccpEndpoint, which has one path, number 0 */
extern const DriverVerbs dccp_endpoint_verbs;

G_END_DECLS

#endif /* __DCCP_VERBS_H__ */
