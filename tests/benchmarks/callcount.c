/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A library for LD_PRELOAD that counts how often the program bondflood
 * allocates memory, uses locks and reads clocks (see calls.py). For this
 * purpose, it replaces functions of the C library and of GLib.
 *
 * If a library calls one of its own functions, the call is not counted, because
 * the linker has already bound it to the library's own function. An example is
 * a mutex that GLib itself locks. With G_SLICE=always-malloc, the slices of
 * GLib are counted as allocations.
 */

#define _GNU_SOURCE
#include "callcount.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

/* The original functions of the allocator. This library replaces them, but
 * still has to call them. glibc also exports them with the prefix __libc_. The
 * library cannot find them with dlsym (), because dlsym () itself allocates
 * memory. */
extern void *__libc_malloc (size_t size);
extern void *__libc_calloc (size_t n, size_t size);
extern void *__libc_realloc (void *memory, size_t size);
extern void *__libc_memalign (size_t alignment, size_t size);

typedef uint64_t Counters[2][CALLCOUNT_FUNCTIONS];

/* These counters are used until the shared memory is mapped. After that, the
 * counters in the shared memory are used instead. Each of the two processes,
 * the sink and the source, has its own set of counters. */
static Counters early;
static Counters *counters = &early;
static unsigned own;

__attribute__((constructor))
     static void
     map_counters (void)
{
  void *mapped = mmap (NULL, sizeof (Counters), PROT_READ | PROT_WRITE,
      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

  if (mapped != MAP_FAILED)
    counters = mapped;
}

void
callcount_select (unsigned process)
{
  own = process;
}

uint64_t
callcount_get (unsigned process, CallcountFunction function)
{
  return __atomic_load_n (&(*counters)[process][function], __ATOMIC_RELAXED);
}

static void
count (CallcountFunction function)
{
  __atomic_fetch_add (&(*counters)[own][function], 1, __ATOMIC_RELAXED);
}

/* --- allocations ---------------------------------------------------------- */

void *
malloc (size_t size)
{
  count (CALLCOUNT_MALLOC);
  return __libc_malloc (size);
}

void *
calloc (size_t n, size_t size)
{
  count (CALLCOUNT_MALLOC);
  return __libc_calloc (n, size);
}

void *
realloc (void *memory, size_t size)
{
  count (CALLCOUNT_MALLOC);
  return __libc_realloc (memory, size);
}

void *
memalign (size_t alignment, size_t size)
{
  count (CALLCOUNT_MALLOC);
  return __libc_memalign (alignment, size);
}

void *
aligned_alloc (size_t alignment, size_t size)
{
  return memalign (alignment, size);
}

int
posix_memalign (void **memory, size_t alignment, size_t size)
{
  *memory = memalign (alignment, size);
  return *memory ? 0 : 12;      /* ENOMEM */
}

/* --- locks and clocks ----------------------------------------------------- */

#define NEXT(function) \
  static __typeof__ (&function) next; \
  if (!next) \
    next = (__typeof__ (&function)) dlsym (RTLD_NEXT, #function)

int
pthread_mutex_lock (pthread_mutex_t * mutex)
{
  NEXT (pthread_mutex_lock);

  count (CALLCOUNT_LOCK);
  return next (mutex);
}

/* The argument is a GMutex. */
void g_mutex_lock (void *mutex);

void
g_mutex_lock (void *mutex)
{
  NEXT (g_mutex_lock);

  count (CALLCOUNT_LOCK);
  next (mutex);
}

int
clock_gettime (clockid_t clock, struct timespec *time)
{
  NEXT (clock_gettime);

  count (CALLCOUNT_CLOCK);
  return next (clock, time);
}
