# SPDX-License-Identifier: LGPL-2.1-or-later
"""A virtual machine in QEMU whose kernel implements DCCP. Linux removed DCCP
in version 6.16. The kernel of the virtual machine is Linux 6.1 of Debian 12,
which still has it.

apt downloads the package of this kernel once, into the directory dccp-guest of
the build directory. It installs nothing. The virtual machine has no disk and
runs only the program dccpguest.c, which is in its memory. It has one network
device. dccpnetwork.py reads the packets of this device from a socket. When the
process of the test ends or is killed, the virtual machine ends, too.

The virtual machine needs several seconds of CPU time to boot. It therefore
boots only once, and its state is saved. Every test gets a virtual machine that
continues from this state.
"""

import contextlib
import dataclasses
import io
import json
import os
import pathlib
import platform
import re
import shutil
import socket
import struct
import subprocess
import tarfile
import tempfile

import debians
import udplite

from wirelesslab import processes

TESTS = pathlib.Path(__file__).resolve().parents[1]


BUILD = pathlib.Path(os.environ.get("WIRELESS_BUILD_DIR",
                                    TESTS.parent / "build"))
CACHE = BUILD / "dccp-guest"
INIT = BUILD / "tests" / "interop" / "dccpguest"
QEMU = "qemu-system-x86_64"
# Debian's kernel for cloud machines has fewer drivers than the standard kernel,
# so it boots in 2 s.
KERNEL = "linux-image-cloud-amd64"
# The Debian release whose kernel is used. This kernel has DCCP in the modules
# dccp_ipv4 and dccp_ipv6. The kernels of later releases have no DCCP, or have
# it in other modules.
RELEASE = "bookworm"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
MODULES = ("virtio_pci", "virtio_net", "dccp_ipv4", "dccp_ipv6")
MEGABYTES = 512
HARDWARE_ADDRESS = bytes.fromhex("525400000001")
CONTROL_PORT = 1033  # as in dccpguest.c
SECONDS = udplite.SECONDS
RECORD = struct.Struct("!II")  # time in us, size
SOMETHING_IS_WRONG = re.compile(
    r"BUG|Oops|WARNING:|Call Trace|general protection|init: .*: ")


class Unavailable(Exception):
    """Raised if the virtual machine with DCCP cannot run here. The exception
    gives the reason.
    """


# ------------------------------------------------------------------- the kernel

def fetch_kernel():
    """Returns a directory that contains the kernel (`vmlinuz`) and the kernel
    modules. The names of the module files begin with numbers. These numbers
    say in which order the modules have to be loaded."""
    if not CACHE.exists():
        for program in ("apt-get", "dpkg-deb"):
            if not shutil.which(program):
                raise Unavailable(f"no {program} that fetches a kernel with "
                                  "DCCP")
        BUILD.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=BUILD) as work:
            made = pathlib.Path(work) / "made"
            made.mkdir()
            _unpack(_download(pathlib.Path(work)), made)
            # Another process may have made the directory in the meantime, and
            # rename() then fails. The error is ignored, because the other
            # directory has the same content.
            with contextlib.suppress(OSError):
                made.rename(CACHE)
    return CACHE


def _apt(*words, **options):
    """Runs a program of apt and returns its output. If the program fails,
    raises Unavailable with the program's error message.
    """
    done = subprocess.run(words, stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, **options)
    if done.returncode:
        raise Unavailable(f"{' '.join(words)}: "
                          f"{processes.tail(done.stderr, 3).strip()}")
    return done.stdout


def _options_for_release(work):
    """Returns options for apt. With them, apt finds the packages of the Debian
    release RELEASE, even if this machine has another release.
    """
    if platform.freedesktop_os_release().get("VERSION_CODENAME") == RELEASE:
        return []
    mirror = debians.machine_mirror()
    if not mirror:
        raise Unavailable("apt knows no mirror of Debian")
    (work / "sources.list").write_text(
        f"deb [signed-by={KEYS}] {mirror} {RELEASE} main\n")
    (work / "lists" / "partial").mkdir(parents=True)
    options = [word for setting in (
        f"Dir::Etc::SourceList={work}/sources.list",
        f"Dir::Etc::SourceParts={work}/none",
        f"Dir::State::Lists={work}/lists",
        f"Dir::Cache={work}/cache",
        # By default, apt downloads files as a special user, the sandbox user.
        # This user may not be allowed to write into this directory. With this
        # option, apt downloads as root.
        "APT::Sandbox::User=root") for word in ("-o", setting)]
    _apt("apt-get", *options, "-q", "update")
    return options


def _download(work):
    options = _options_for_release(work)
    names = re.findall(r"^ +Depends: (linux-image-\S+)$",
                       _apt("apt-cache", *options, "depends", KERNEL), re.M)
    if not names:
        raise Unavailable(f"apt knows no {KERNEL}")
    _apt("apt-get", *options, "-q", "download", names[0], cwd=work)
    package, = work.glob("*.deb")
    return package


def _unpack(package, made):
    data = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True,
                          stdout=subprocess.PIPE).stdout
    modules = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as files:
        for member in files:
            name = pathlib.PurePath(member.name)
            if name.name.startswith("vmlinuz-"):
                (made / "vmlinuz").write_bytes(
                    files.extractfile(member).read())
            elif name.suffix == ".ko":
                modules[_module_name(name.stem)] = files.extractfile(
                    member).read()
    for number, name in enumerate(_with_dependencies(modules)):
        (made / f"{number:02}-{name}.ko").write_bytes(modules[name])


def _module_name(name):
    return name.replace("-", "_")


def _with_dependencies(modules):
    """Returns the names in MODULES, together with the names of all modules
    that are needed by them. In the result, each module comes after the modules
    that it needs. `modules` maps the name of each module of the kernel to its
    content.
    """
    order = []

    def add(name):
        if name not in modules:
            raise Unavailable(f"{KERNEL} has no module {name} any more")
        needs = re.search(rb"\0depends=([^\0]*)\0", modules[name])[1]
        for needed in filter(None, needs.decode().split(",")):
            add(_module_name(needed))
        if name not in order:
            order.append(name)

    for name in MODULES:
        add(name)
    return order


# --------------------------------------------------------- its files, in memory

def _cpio(files):
    """Returns a cpio archive, which Linux unpacks as its initial file system
    (initramfs). `files` contains a tuple (name, mode, device number, content)
    for each file of the archive."""
    out = bytearray()
    for inode, (name, mode, device, data) in enumerate(
            [*files, ("TRAILER!!!", 0, (0, 0), b"")], 1):
        numbers = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device,
                   len(name) + 1, 0)
        out += b"070701" + b"".join(b"%08X" % each for each in numbers)
        out += name.encode() + b"\0"
        out += bytes(-len(out) % 4)
        out += data
        out += bytes(-len(out) % 4)
    return bytes(out)


def _initial_files(modules):
    none = (0, 0)
    return _cpio([("dev", 0o40755, none, b""),
                  ("dev/console", 0o20600, (5, 1), b""),
                  ("init", 0o100755, none, INIT.read_bytes()),
                  *((path.name, 0o100644, none, path.read_bytes())
                    for path in modules)])


# ------------------------------------------------------------------ the machine

class Monitor:
    """A connection to QEMU. This program uses it to control QEMU with commands
    in JSON.
    """

    def __init__(self, own):
        own.settimeout(SECONDS)
        self._own = own
        self._answers = own.makefile("rb")

    def execute(self, command, **arguments):
        """Returns what the command returned."""
        self._own.sendall(json.dumps(
            {"execute": command, "arguments": arguments}).encode())
        for line in self._answers:
            answer = json.loads(line)
            if "error" in answer:
                raise AssertionError(f"{QEMU}: {command}: {answer['error']}")
            if "return" in answer:
                return answer["return"]
        raise AssertionError(f"{QEMU} ended during {command}")

    def wait_until(self, command, status):
        """Sends the command `command` to QEMU repeatedly, until the field
        "status" of the answer is `status`.
        """
        udplite.wait_until(
            lambda: self.execute(command).get("status") == status,
            f"for the machine to be {status}")

    def close(self):
        self._answers.close()
        self._own.close()


class Machine:
    """A QEMU process that runs a virtual machine. `states` is the directory
    for the files of all virtual machines: initramfs, console output and saved
    state.
    """

    def __init__(self, states, addresses, console, *options):
        self._console = console
        modules = sorted(fetch_kernel().glob("*.ko"))
        memory = states / f"{addresses[0]}.cpio"
        if not memory.exists():
            memory.write_bytes(_initial_files(modules))
        words = " ".join([*(f"/{path.name}" for path in modules), *addresses])
        self.link_socket, link = socket.socketpair(socket.AF_UNIX,
                                                   socket.SOCK_DGRAM)
        control, answers = socket.socketpair()
        with link, answers, open(console, "wb") as output:
            self._process = processes.start(
                [QEMU, "-nodefaults", "-no-user-config", "-display", "none",
                 "-machine", "q35", "-accel", "tcg", "-cpu", "max",
                 "-m", str(MEGABYTES), "-no-reboot", "-serial", "stdio",
                 "-netdev", "dgram,id=net0,local.type=fd,"
                 f"local.str={link.fileno()}",
                 "-device", "virtio-net-pci,netdev=net0,mac="
                 + HARDWARE_ADDRESS.hex(":"),
                 "-chardev", f"socket,id=monitor,fd={answers.fileno()}",
                 "-mon", "chardev=monitor,mode=control",
                 "-kernel", str(CACHE / "vmlinuz"), "-initrd", str(memory),
                 "-append", "console=ttyS0 loglevel=5 panic=-1 reboot=t "
                 f"-- {words}", *options],
                stdout=output, stderr=subprocess.STDOUT, cwd=states,
                pass_fds=[link.fileno(), answers.fileno()])
        self._monitor = Monitor(control)
        self._monitor.execute("qmp_capabilities")

    @property
    def console(self):
        return self._console.read_text(errors="replace")

    def check(self):
        """Raises AssertionError if the kernel of the virtual machine has
        reported a problem on its console.
        """
        if SOMETHING_IS_WRONG.search(self.console):
            raise AssertionError(self.console)

    def _is_ready(self):
        if self._process.poll() is not None:
            raise AssertionError(f"{QEMU} ended:\n"
                                 + processes.tail(self.console))
        return "init: ready" in self.console

    def save(self, name):
        """Waits until the virtual machine has booted. Then saves the state of
        the machine in the file `name`.
        """
        udplite.wait_until(self._is_ready, "for the machine with DCCP")
        self.check()
        self._monitor.execute("migrate", uri=f"exec:cat >{name}")
        self._monitor.wait_until("query-migrate", "completed")

    def wait_until_restored(self):
        self._monitor.wait_until("query-status", "running")

    def end(self):
        processes.kill(self._process)
        self._monitor.close()


class Guest:
    """A running virtual machine whose kernel has DCCP. It continues from the
    state that was saved after the boot. At the end of the test `case`, it is
    ended.
    """

    def __init__(self, case, states, network, ipv4, ipv6):
        self.addresses = {"IPv4": ipv4, "IPv6": ipv6}
        state = f"{ipv4}.state"
        if not (states / state).exists():
            machine = Machine(states, (ipv4, ipv6), states / f"{ipv4}.console")
            try:
                machine.save(state)
            finally:
                machine.end()
                machine.link_socket.close()
        self._machine = Machine(states, (ipv4, ipv6),
                                states / f"{ipv4}.console",
                                "-incoming", f"exec:cat {state}")
        case.addCleanup(self._machine.end)
        network.attach(self._machine.link_socket, HARDWARE_ADDRESS,
                       self.addresses.values())
        self._machine.wait_until_restored()

    def check(self):
        self._machine.check()

    def open(self, case, role, address, port, packets=(), **options):
        return GuestSocket(case, self, role, address, port, packets, **options)


@dataclasses.dataclass
class Outcome:
    # The errno value with which the connection failed. It is 0 if the
    # connection was closed normally.
    error: int
    # The number of times that the socket could not take a packet because its
    # send queue was full.
    queue_was_full: int
    # The received packets, as pairs (time in s since the connection was
    # opened, payload).
    received: list


class GuestSocket:
    """Represents a DCCP socket in the virtual machine. The socket sends the
    packets in the list `packets`. Each entry of the list is a pair (time in s,
    payload): the payload is sent at this time after the connection was opened.
    If the list is empty, the socket only receives.
    """

    def __init__(self, case, guest, role, address, port, packets=(),
                 service="RTPV", coverage=0, min_coverage=0):
        self._control = socket.create_connection(
            (guest.addresses["IPv4"], CONTROL_PORT), SECONDS)
        case.addCleanup(self._control.close)
        self._answers = self._control.makefile("rb")
        case.addCleanup(self._answers.close)
        code = int.from_bytes(service.encode(), "big")
        self._control.sendall(
            f"{role} {address} {port} {code} {coverage} {min_coverage} "
            f"{len(packets)}\n".encode()
            + b"".join(RECORD.pack(round(at * 1e6), len(data)) + data
                       for at, data in packets))

    def wait_for(self, word, seconds=SECONDS):
        """Reads the answers of the program in the virtual machine until one of
        them is `word`. All other answers before it are ignored. Raises
        AssertionError if the program answers "closed" or sends no more
        answers.
        """
        self._control.settimeout(seconds)
        while (words := self._answers.readline().decode().split()) != [word]:
            if not words or words[0] == "closed":
                raise AssertionError(f"the machine said {words}, not {word}")

    def close(self):
        """Asks the program in the virtual machine to close the connection
        immediately."""
        self._control.shutdown(socket.SHUT_WR)

    def outcome(self, seconds=SECONDS):
        self._control.settimeout(seconds)
        while not (line := self._answers.readline()).startswith(b"closed"):
            if not line:
                raise AssertionError("the machine said no more")
        error, full, count = map(int, line.split()[1:])
        received = []
        for _ in range(count):
            time, size = RECORD.unpack(self._answers.read(RECORD.size))
            received.append((time / 1e6, self._answers.read(size)))
        return Outcome(error, full, received)


def why_none():
    """Returns the reason why a virtual machine with DCCP cannot run on this
    machine, or None if it can run.
    """
    if not shutil.which(QEMU):
        return f"no {QEMU} (pipelines/setup test)"
    if not INIT.exists():
        return "no init for it: that takes x86-64 and a static C library"
    try:
        fetch_kernel()
    except Unavailable as reason:
        return str(reason)
    return None
