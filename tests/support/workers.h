/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs independent jobs in several processes. */

#ifndef __WORKERS_H__
#define __WORKERS_H__

#include <glib.h>

G_BEGIN_DECLS

/* Runs the job number `job` and writes its result to `result`, which contains
 * zeros before. The function is called in a process of its own. Only the bytes
 * of `result` reach the process that called workers_run(). */
typedef void (*WorkersJob) (guint job, gpointer result, gpointer data);

gpointer workers_run (guint n_jobs, gsize result_size, guint n_processes,
    WorkersJob run, gpointer data, gboolean * complete);
void workers_free_results (gpointer results, guint n_jobs, gsize result_size);

G_END_DECLS

#endif /* __WORKERS_H__ */
