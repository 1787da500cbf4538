/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interface of callcount.so. These functions exist only while the library is
 * preloaded, so a program has to compare their addresses with NULL.
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

/* Selects the counters that count the calls of this process: those of process 0
 * or those of process 1. A program starts with the counters of process 0. If it
 * forks, its child may select the counters of process 1. */
__attribute__((weak)) void callcount_select (unsigned process);
/* Returns how often one process has called the function. Both processes share
 * the counters, so each process can read the counters of the other process. */
__attribute__((weak)) uint64_t callcount_get (unsigned process,
    CallcountFunction function);
