/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interface of callcount.so. These functions exist only if the library is
 * preloaded. Otherwise their addresses are NULL, so a program has to compare
 * them with NULL before it calls the functions.
 */

#pragma once

#include <stdint.h>

typedef enum
{
  /* memory allocation functions, such as malloc and calloc */
  CALLCOUNT_MALLOC,
  CALLCOUNT_LOCK,               /* mutexes of GLib and of POSIX */
  CALLCOUNT_CLOCK,              /* clock_gettime */
  CALLCOUNT_FUNCTIONS
} CallcountFunction;

/* There are two sets of counters, one for each of two processes. This function
 * selects the set that counts the calls of the calling process, 0 or 1. A
 * program starts with the set 0. If it forks, its child may select the set 1.
 */
__attribute__((weak)) void callcount_select (unsigned process);
/* Returns how often the process `process` (0 or 1) has called the function. The
 * counters are in shared memory, so each process can also read the counters of
 * the other process. */
__attribute__((weak)) uint64_t callcount_get (unsigned process,
    CallcountFunction function);
