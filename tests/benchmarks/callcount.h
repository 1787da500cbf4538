/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interface of the library callcount.so, which counts calls of functions. The
 * functions below exist only if the library was loaded with LD_PRELOAD.
 * Otherwise their addresses are NULL. A program therefore has to compare an
 * address with NULL before it calls the function.
 */

#pragma once

#include <stdint.h>

typedef enum
{
  /* functions that allocate memory, such as malloc and calloc */
  CALLCOUNT_MALLOC,
  CALLCOUNT_LOCK,               /* mutexes of GLib and of POSIX */
  CALLCOUNT_CLOCK,              /* clock_gettime */
  CALLCOUNT_FUNCTIONS
} CallcountFunction;

/* Selects the set of counters that counts the calls of the calling process.
 * There are two sets, with the numbers 0 and 1. A program starts with the set
 * 0. If it forks, the child process may select the set 1, so that its calls are
 * counted separately. */
__attribute__((weak)) void callcount_select (unsigned process);
/* Returns how often a process has called `function`. `process` (0 or 1) is the
 * number of the set of counters that this process has selected. The counters
 * are in shared memory, so each of two processes can also read the counters of
 * the other process. */
__attribute__((weak)) uint64_t callcount_get (unsigned process,
    CallcountFunction function);
