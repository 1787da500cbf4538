/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs independent jobs in several processes. Each process takes the next job
 * that no process has begun, so all of them are busy until the end.
 *
 * The processes store the results in memory that they share. Processes are used
 * and not threads, because the jobs are simulations of code that is made for one
 * thread.
 */

#include "workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Begins the shared memory. The results follow, aligned like the memory that
 * malloc() returns. */
typedef struct
{
  /* Number of the next job that a process has to begin. */
  gint next;
} __attribute__((aligned (16))) Head;

static gsize
get_size (guint n_jobs, gsize result_size)
{
  return sizeof (Head) + n_jobs * result_size;
}

static void
work (Head * head, guint n_jobs, gsize result_size, WorkersJob run,
    gpointer data)
{
  guint8 *results = (guint8 *) (head + 1);
  guint job;

  while ((job = g_atomic_int_add (&head->next, 1)) < n_jobs)
    run (job, results + job * result_size, data);
}

/* Starts the processes. Returns how many were started. */
static guint
start (Head * head, guint n_jobs, gsize result_size, guint n_processes,
    WorkersJob run, gpointer data)
{
  guint i;

  /* Otherwise, each process would print what is still in the buffers. */
  fflush (NULL);
  for (i = 0; i < n_processes; i++) {
    pid_t pid = fork ();

    if (pid < 0)
      return i;
    if (pid > 0)
      continue;
    work (head, n_jobs, result_size, run, data);
    fflush (NULL);
    _exit (0);
  }
  return n_processes;
}

/**
 * workers_run:
 * @n_jobs: number of jobs. They have the numbers 0 to @n_jobs - 1
 * @result_size: size of the result of a job, in bytes
 * @n_processes: number of processes, or 0 for one on each processor core
 * @run: runs a job
 * @data: passed to @run
 * @complete: set to FALSE if a process could not be started or did not end
 *   regularly. A job that it had begun may then have no result
 *
 * Runs all jobs and waits until they have ended.
 *
 * Returns: an array with the result of each job, to be freed with
 *   workers_free_results(). A result that is missing contains zeros. NULL if
 *   there is no memory for the results.
 */
gpointer
workers_run (guint n_jobs, gsize result_size, guint n_processes,
    WorkersJob run, gpointer data, gboolean * complete)
{
  Head *head = mmap (NULL, get_size (n_jobs, result_size),
      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  guint wanted = n_processes ? n_processes : g_get_num_processors ();
  guint ended = 0;
  int status;

  *complete = FALSE;
  if (head == MAP_FAILED) {
    perror ("memory for the results");
    return NULL;
  }
  if (start (head, n_jobs, result_size, wanted, run, data) < wanted)
    perror ("fork");
  while (wait (&status) > 0)
    ended += WIFEXITED (status) && WEXITSTATUS (status) == 0;
  if (ended < wanted)
    fprintf (stderr, "%u of %u processes did not finish their jobs\n",
        wanted - ended, wanted);
  *complete = ended == wanted;
  return head + 1;
}

void
workers_free_results (gpointer results, guint n_jobs, gsize result_size)
{
  munmap ((Head *) results - 1, get_size (n_jobs, result_size));
}
