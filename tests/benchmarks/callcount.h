/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interface of callcount.so. These functions exist only while the library is
 * preloaded, so a program has to compare their addresses with NULL.
 */

#pragma once

#include <stdint.h>

typedef enum
{
  CALLCOUNT_MALLOC,             /* and its relatives, such as calloc */
  CALLCOUNT_LOCK,               /* mutexes of GLib and of POSIX */
  CALLCOUNT_CLOCK,              /* clock_gettime */
  CALLCOUNT_FUNCTIONS
} CallcountFunction;

/* Selects the counters of this process. The counters of process 0 are selected
 * at first. A process of index 1 may be forked. */
__attribute__((weak)) void callcount_select (unsigned process);
/* Returns the calls of both processes, which share the counters. */
__attribute__((weak)) uint64_t callcount_get (unsigned process,
    CallcountFunction function);
