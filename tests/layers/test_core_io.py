# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the cores do no input and no output. A core is the part of a
plugin that contains the protocol or the algorithm. It must not use sockets,
files, clocks, threads, or random numbers of the system, and it must not sleep
or print. Its caller passes data and times to the core and sends what the core
returns. The layer gst/common/video follows the same rule.

The test layers looks for calls of clocks and threads in the source code. This
program looks at the compiled code instead: it reads with nm which functions of
other libraries the static library of each core uses. Macros and inline
functions therefore cannot hide a call.

A list of all functions that do input or output could not be complete. This
program therefore has a list of the functions that do none (PURE), and every
other function of another library is a fault. If a core needs another function
that only computes, add it to PURE.

Cores may use the layers gst/common/video and gst/common/net. The latter
contains sockets, too. This program therefore also checks each object file of
these layers that a core uses, directly or through other object files.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import unittest

MATH = (r"(?:a?(?:sin|cos|tan)h?|atan2|cbrt|ceil|copysign|exp|exp2|expm1|fabs|"
        r"floor|fma|fmax|fmin|fmod|frexp|hypot|ldexp|log|log10|log1p|log2|"
        r"l?lrint|l?lround|modf|nearbyint|pow|remainder|rint|round|scalbl?n|"
        r"sqrt|trunc)[fl]?")
# The functions and variables of other libraries that a core may use. None of
# them does input or output, reads a clock, uses threads or sleeps.
PURE = re.compile("|".join([
    # GLib: containers, memory, strings
    r"g_(?:array|byte_array|bytes|hash_table|list|ptr_array|queue|sequence|"
    r"slist|tree)_\w+",
    r"g_(?:direct|int|int64|double|str)_(?:hash|equal)",
    r"g_(?:try_)?(?:malloc|realloc)\w*|g_free\w*|g_memdup2?|g_slice_\w+",
    r"g_(?:ascii|string|unichar|utf8)_\w+|g_str[a-z]\w*|g_str_\w+|"
    r"g_v?snprintf",
    # GLib: errors, and failed assertions, which only a fault of the program
    # causes
    r"g_(?:clear|propagate|set)_\w*error\w*|g_error_\w+|g_quark_\w+",
    r"g_return_if_fail_warning|g_assertion_message\w*",
    # GLib: bits, checksums, atomic counters
    r"g_(?:atomic|bit|checksum|compute|hmac)_\w+",
    # GIO: addresses as values. A name cannot be resolved with them.
    r"g_object_(?:un)?ref|g_inet_\w+|g_hostname_is_ip_address|"
    r"g_socket_address_(?:get_\w+|new_from_native|to_native)",
    # the C library
    r"mem[a-z]+|str[a-z]+|(?:m|c|re)alloc|free|v?snprintf|v?sscanf|qsort|"
    r"bsearch|abort|inet_[np]to[np]|__errno_location|__assert_fail|__ctype_\w+",
    r"__(?:mem|str|stp)\w+_chk|__v?snprintf_chk|__isoc\d+_(?:strto|v?ss)\w+",
    MATH,
    # the library nettle, which computes message authentication codes
    r"nettle_\w+",
    # what compilers add: arithmetic such as __popcountdi2, checks of the stack,
    # position-independent code
    r"__[a-z]+[qhsdtx][cfi](?:[qhsdtx][fi])?\d?|__aeabi_\w+",
    r"__stack_chk_\w+|__cpu_\w+|_GLOBAL_OFFSET_TABLE_|\.TOC\.|__tls_get_addr",
    # what the sanitizers, the fuzzer and the measurement of coverage add
    r"__(?:a|l|m|t|ub)san_\w+|__sancov_\w+|__sanitizer_\w+|__gcov_\w+|"
    r"__llvm_\w+",
]))
# Object files of the layers that use a function that is not in PURE, although
# cores use them: {object file: functions}.
EXCEPTIONS = {
    # Only datagram_path_to_string () calls it; see IMPURE.
    "datagram": re.compile("if_indextoname"),
    # An application may free a buffer, and with it the memory block of a
    # received packet, in any thread.
    "datagramblock": re.compile(r"g_mutex_\w+"),
}
# Functions of the layers that cores must not call, although their object files
# contain other functions that cores call.
IMPURE = {"datagram_path_to_string"}

HEADING = re.compile(r"^(.*)\[(.*)\]:$")
SYMBOL = re.compile(r"^(\S+) (\w)(?: |$)")
# The types that nm prints for a symbol that is not defined in the object file.
UNDEFINED = set("Uwv")

Object = collections.namedtuple("Object", "archive name defined undefined")


def get_stem(path):
    """Returns the name of a source file or library from the path of its object
    file or archive: "datagram" for "lib.a.p/datagram.c.o"."""
    return pathlib.Path(path).name.split(".", 1)[0]


def read_objects(text):
    """Reads the output of `nm -P` for static libraries. Returns a list of the
    object files, in which `defined` and `undefined` are sets of symbols."""
    objects = []
    for line in text.splitlines():
        heading = HEADING.match(line)
        symbol = SYMBOL.match(line)
        if heading:
            objects.append(Object(get_stem(heading[1]), get_stem(heading[2]),
                                  set(), set()))
        elif symbol and symbol[2] in UNDEFINED:
            objects[-1].undefined.add(symbol[1])
        elif symbol and symbol[2].isupper():
            objects[-1].defined.add(symbol[1])
    return objects


def find_faults(objects, archive):
    """Returns a sorted list of the forbidden functions that the object files
    of the static library `archive` use. Follows the calls into other object
    files of `objects`. The steps are whole object files, because nm does not
    tell which function of a file calls which other function.
    """
    definers = {symbol: number for number, item in enumerate(objects)
                for symbol in item.defined}
    waiting = [number for number, item in enumerate(objects)
               if item.archive == archive]
    # Maps the number of each object file that was reached to the reason.
    reached = dict.fromkeys(waiting, "")
    faults = []
    while waiting:
        number = waiting.pop()
        item = objects[number]
        for symbol in sorted(item.undefined):
            fault = f"{item.name} uses {symbol}{reached[number]}"
            if symbol in IMPURE:
                faults.append(fault)
            elif symbol in definers:
                if definers[symbol] not in reached:
                    reached[definers[symbol]] = (
                        f"; it is reached because {fault}")
                    waiting.append(definers[symbol])
            elif not (PURE.fullmatch(symbol) or item.name in EXCEPTIONS
                      and EXCEPTIONS[item.name].fullmatch(symbol)):
                faults.append(fault)
    return sorted(faults)


class CoresTest(unittest.TestCase):
    nm = "nm"
    # The static libraries of the cores and of gst/common/video
    checked: list[str] = []
    # Other static libraries whose functions the cores may call
    others: list[str] = []

    def test_cores_use_only_functions_that_compute(self):
        text = subprocess.run([self.nm, "-P", *self.checked, *self.others],
                              check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        objects = read_objects(text)
        for path in self.checked:
            archive = get_stem(path)
            with self.subTest(archive):
                self.assertTrue(any(item.defined for item in objects
                                    if item.archive == archive),
                                "nm found no symbols")
                self.assertEqual(find_faults(objects, archive), [])


class FaultsTest(unittest.TestCase):
    """Tests the checks of this file themselves. Each test adds a call to a
    small core that has no fault.
    """

    LIBRARIES = """\
gst/one/core/libone-core.a[gst/one/core/libone-core.a.p/one.c.o]:
g_malloc0 U
one_new T 0 10
one_helper t 10 8
one_parse U
frame_parse U
CALL U
gst/one/core/libone-core.a[oneparse.c.o]:
one_parse T 0 1c
table R 0 40
memcpy U
gst/common/video/libvideo.a[frames.c.o]:
frame_parse T 0 10
gst/common/net/libnet.a[datagram.c.o]:
datagram_init T 0 10
datagram_path_to_string T 0 10
if_indextoname U
gst/common/net/libnet.a[driver.c.o]:
driver_flush T 0 10
driver_send U
gst/common/net/libnet.a[sockets.c.o]:
driver_send T 0 10
sendmmsg U
"""

    def find_faults(self, call, symbol_type="U"):
        return find_faults(read_objects(self.LIBRARIES.replace(
            "CALL U", f"{call} {symbol_type}")), "libone-core")

    def test_objects_are_read(self):
        objects = read_objects(self.LIBRARIES)
        self.assertEqual(objects[:2], [
            Object("libone-core", "one", {"one_new"},
                   {"g_malloc0", "one_parse", "frame_parse", "CALL"}),
            Object("libone-core", "oneparse", {"one_parse", "table"},
                   {"memcpy"})])
        self.assertEqual([item.archive for item in objects[2:]],
                         ["libvideo"] + 3 * ["libnet"])

    def test_functions_that_compute_are_allowed(self):
        for call in ("memmove", "memcpy", "strlen", "__memcpy_chk",
                     "__strncpy_chk", "__vsnprintf_chk", "snprintf",
                     "__isoc23_strtoul", "sqrt", "log2f", "pow", "ldexp",
                     "inet_pton", "g_string_append_printf", "g_strdup_printf",
                     "g_str_equal", "g_hash_table_lookup", "g_queue_push_tail",
                     "g_free_sized", "g_malloc0_n", "g_set_error_literal",
                     "g_hmac_new", "g_inet_socket_address_new",
                     "g_object_unref", "nettle_hmac_sha256_digest",
                     "__popcountdi2", "__udivdi3", "__floatundidf",
                     "__aeabi_uldivmod", "__asan_report_load8", "__gcov_init",
                     "__ubsan_handle_type_mismatch_v1", "__stack_chk_fail"):
            with self.subTest(call):
                self.assertEqual(self.find_faults(call), [])

    def test_a_core_does_input_or_output(self):
        for call in (
                # sockets, name resolution
                "socket", "bind", "connect", "send", "sendto", "sendmsg",
                "sendmmsg", "recv", "recvfrom", "__recv_chk", "recvmmsg",
                "setsockopt", "getaddrinfo", "getifaddrs", "if_nametoindex",
                "g_socket_new", "g_socket_send_message", "g_socket_receive",
                "g_socket_connection_factory_create_connection",
                "g_socket_address_enumerator_next", "g_socket_client_new",
                "g_resolver_lookup_by_name", "g_network_monitor_get_default",
                # waiting
                "poll", "__poll_chk", "ppoll", "__ppoll_chk", "select",
                "pselect", "epoll_wait", "g_poll", "g_main_context_iteration",
                # files, pipes, standard output
                "open", "open64", "__open_2", "__open64_2", "openat", "creat",
                "read", "__read_chk", "pread64", "readv", "write", "writev",
                "close", "fopen", "fopen64", "fread", "__fread_chk", "fgets",
                "fwrite", "fputs", "fputc", "puts", "putchar", "printf",
                "__printf_chk", "fprintf", "__fprintf_chk", "__vfprintf_chk",
                "perror", "stdout", "stderr", "stat", "unlink", "mmap",
                "ioctl", "fcntl", "syscall", "pipe", "popen", "system",
                "g_open", "g_close", "g_fopen", "g_unlink", "g_print",
                "g_printerr", "g_log", "g_log_structured_standard",
                "g_file_get_contents", "g_file_set_contents", "g_file_test",
                "g_file_new_for_path", "g_io_channel_unix_new",
                "g_output_stream_write", "g_spawn_sync", "g_dir_open",
                # the environment
                "getenv", "secure_getenv", "g_getenv", "environ",
                # clocks and sleeping
                "clock_gettime", "gettimeofday", "time", "clock",
                "g_get_monotonic_time", "g_get_real_time",
                "g_date_time_new_now_utc", "g_timeout_add", "g_timer_new",
                "sleep", "usleep", "nanosleep", "clock_nanosleep", "g_usleep",
                # threads
                "g_thread_new", "g_mutex_lock", "g_cond_wait", "g_once_impl",
                "pthread_create", "pthread_mutex_lock", "fork",
                # random numbers of the system
                "rand", "random", "getrandom", "getentropy", "g_random_int",
                "g_uuid_string_random",
                # loading of other code
                "dlopen", "dlsym", "g_module_open", "gst_element_post_message"):
            with self.subTest(call):
                self.assertEqual(self.find_faults(call), [f"one uses {call}"])

    def test_a_weak_symbol_counts(self):
        self.assertEqual(self.find_faults("write", "w"), ["one uses write"])

    def test_the_fault_is_in_the_layer_below(self):
        self.assertEqual(self.find_faults("driver_flush"), [
            "sockets uses sendmmsg; it is reached because driver uses "
            "driver_send; it is reached because one uses driver_flush"])

    def test_an_exception_is_only_for_one_object_file(self):
        self.assertEqual(self.find_faults("datagram_init"), [])
        self.assertEqual(self.find_faults("if_indextoname"),
                         ["one uses if_indextoname"])
        self.assertEqual(self.find_faults("datagram_path_to_string"),
                         ["one uses datagram_path_to_string"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--nm", required=True)
    parser.add_argument("--other", action="append", default=[])
    parser.add_argument("archive", nargs="+")
    options = parser.parse_args()
    CoresTest.nm = options.nm
    CoresTest.checked = options.archive
    CoresTest.others = options.other
    unittest.main(argv=sys.argv[:1])
