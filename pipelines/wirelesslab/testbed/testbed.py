# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes hosts on this machine with emulated links between them, and runs
commands in the hosts.

A host is a network namespace. A link is a process of gst-launch-1.0. Its
pipeline has a TUN device in each of the two hosts and the element wirelesslink
between the devices. When the script ends, nothing of the testbed remains (see
init_process.py). The machine's own network is never changed.

On machines without namespaces, relays of UDP packets (loopback.py) replace the
hosts. The relays cannot carry every transport.

    with Testbed(["wl0=a,b: profile=80211b seed=1"]) as bed:
        server = bed.popen("b", "iperf3 -s -1")
        bed.wait_listening("b", "tcp", 5201)
        bed.run("a", "iperf3 -c $b", check=True)
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

from wirelesslab import gst_environment, paths, processes
from wirelesslab.errors import LabError
from wirelesslab.testbed import init_process, loopback, namespaces
from wirelesslab.testbed import links as linkage

MODES = ("root", "user", "relay")
# The maximum time in s that a link may take to become ready. The time is long
# because GStreamer scans all plugins when it is started for the first time.
SECONDS_TO_START = 60
SECONDS_TO_LISTEN = 30
# The signals that ask a command to end, as pairs (signal, time in s). They are
# sent one after another. After each signal, the testbed waits until the
# command has ended, but not longer than the given time. SIGINT is the signal
# of Ctrl-C, after which gst-launch-1.0 -e and iperf3 finish their work.
# SIGTERM ends commands that ignore SIGINT.
ASKED = ((signal.SIGINT, 3), (signal.SIGTERM, 1))
SECONDS_BETWEEN_LOOKS = 0.01
IPV6_PREFIX_LENGTH = 64
# Matches the lines that gst-launch-1.0 -m prints for messages on the bus, such
# as the statistics of a link. These lines are removed from the output of
# gst-launch-1.0 before an error message quotes it.
MESSAGE = re.compile(r"^Got message .*\n", re.M)
NO_ELEMENT = re.compile(r'no element "(\w+)"')


def first_place(
        ways: Sequence[str], sysctls: Any
) -> tuple[str | None, namespaces.Namespaces | None, str]:
    """Tries to make hosts that are network namespaces. `ways` has the names of
    the ways to try, one after another: "root" or "user". `sysctls` has the
    sysctls of the hosts. Returns (way, hosts, "") for the first way that
    works. If no way works on this machine, returns (None, None, reasons),
    where `reasons` is a text.
    """
    reasons = []
    for way in ways:
        try:
            return way, namespaces.Namespaces(sysctls, way == "user"), ""
        except namespaces.Forbidden as failure:
            reasons.append(f"as {way}: {failure}")
    return None, None, "; ".join(reasons)


def ways() -> tuple[str, ...]:
    """Returns the ways in which this user can try to make hosts that are
    network namespaces. Root can use the ways "root" and "user". Any other user
    can only use the way "user".
    """
    return MODES[:2] if os.geteuid() == 0 else MODES[1:2]


def why_no_hosts() -> str:
    """Returns the reason why this machine does not allow network namespaces as
    hosts. Returns "" if the machine allows them.
    """
    _, place, why = first_place(ways(), {})
    if place:
        place.close()
    return why


class Testbed:
    """Hosts with emulated links between them. The arguments are:
    - `links` describes the links. Each text has the form of the option --link.
    - `sysctls` has a dictionary of sysctls for each host.
    - `devices` maps network devices to properties of the element tunsrc, which
      makes the devices.
    - `buckets` maps network devices to parameters of tc's token bucket filter
      (tbf).
    - `logs` is the directory for the logs. Without `logs`, the logs are
      removed together with the testbed.

    The keys of `devices` and `buckets` name network devices. For example, the
    key "wl0" means the devices at both ends of the link wl0. The key "a.wl0"
    means only the device at host a.
    """

    def __init__(self, links: Sequence[str] = ("wl0=a,b",), mode: str = "auto",
                 build: pathlib.Path | None = None, sysctls: Any = (),
                 devices: Any = (), buckets: Any = (),
                 relay_ports: Iterable[int] = (),
                 logs: pathlib.Path | None = None) -> None:
        self.links = linkage.parse_all(links)
        self.hosts = linkage.hosts_of(self.links)
        self.mode = mode
        # A text that says what the testbed does not support because relays
        # replace its hosts. The text is empty if the hosts are network
        # namespaces.
        self.left_out = ""
        self._build = pathlib.Path(build or paths.BUILD_DIR)
        self._sysctls = {host: {} for host in self.hosts}
        for host, settings in dict(sysctls).items():
            for name in settings:
                self._check_sysctl(name)
            self._sysctls[self._host(host)].update(settings)
        self._devices = self._of_devices(devices, "device")
        self._buckets = self._of_devices(buckets, "token bucket")
        self._relay_ports = list(relay_ports)
        self._logs = logs
        self._stack = contextlib.ExitStack()
        self._commands = []
        self._gst = []  # (link, its process)

    # ---------------------------------------------------------------- arguments

    def _host(self, name: str) -> str:
        if name not in self.hosts:
            raise LabError(
                f"there is no host {name}; there are: {' '.join(self.hosts)}")
        return name

    @staticmethod
    def _check_sysctl(name: str) -> None:
        """Raises LabError if `name` is not a network sysctl (net.*). Each
        network namespace has its own values of these sysctls, so they can be
        set for a single host. Any other sysctl would change the whole machine.
        """
        if not name.startswith(("net.", "net/")) or "../" in name:
            raise LabError(
                f"sysctl {name}: only sysctls of the network, net.NAME, can be "
                "set for a host")

    def _link(self, name: str) -> linkage.Link:
        for link in self.links:
            if link.name == name:
                return link
        raise LabError(
            f"there is no link {name}; there are: "
            + " ".join(link.name for link in self.links))

    def _of_devices(self, given: Mapping[str, str] | Iterable[tuple[str, str]],
                    what: str) -> dict[tuple[str, str], str]:
        """Returns {(host, name of the link): value} with an entry for each
        network device in `given`. A key of `given` is a link, such as "wl0",
        or a host and a link, such as "a.wl0". If a key has no host, its value
        applies to the devices at both ends of the link.
        """
        found = {}
        for place, value in dict(given).items():
            host, _, name = place.rpartition(".")
            link = self._link(name)
            if host and host not in link.hosts:
                raise LabError(
                    f"{what} {place}: link {name} has no end at host {host}")
            for end in [host] if host else link.hosts:
                found[end, name] = value
        return found

    # --------------------------------------------------------------- life cycle

    def __enter__(self) -> Self:
        try:
            self._open()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _open(self) -> None:
        self.logs = self._make_logs()
        self._env = self._gst_environment()
        self._place = self._make_place()
        self._stack.callback(self._place.close)
        for links in linkage.by_medium(self.links):
            self._start_links(links)
        for link in self.links:
            self._wait_for_link(link)
        if self.mode != "relay":
            self._finish_devices()

    def close(self) -> None:
        """Ends the testbed: asks all commands to end, then asks all links to
        end, and kills all processes that are still running. The links are
        ended last, because they have to carry the last packets of the
        commands.
        """
        for started in self._commands, self.link_processes():
            for number, seconds in ASKED:
                self._ask_to_end(started, number, seconds)
        self._commands, self._gst = [], []
        self._stack.close()

    @staticmethod
    def _ask_to_end(started: Sequence[subprocess.Popen[Any]], number: int,
                    seconds: float) -> None:
        deadline = time.monotonic() + seconds
        for process in started:
            if process.poll() is None:
                process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            for process in started:
                process.wait(max(deadline - time.monotonic(), 0))

    def _make_logs(self) -> pathlib.Path:
        if self._logs is not None:
            path = pathlib.Path(self._logs)
            path.mkdir(parents=True, exist_ok=True)
            return path.resolve()
        return pathlib.Path(self._stack.enter_context(
            tempfile.TemporaryDirectory(prefix="wireless-testbed-")))

    def _gst_environment(self) -> dict[str, str]:
        """Returns the environment variables for GStreamer. With them, it uses
        the plugins in the build directory. If there is no build directory, it
        uses the installed plugins.
        """
        if not self._build.is_dir():
            return dict(os.environ)
        env = gst_environment.environment(self._build.resolve())
        if not os.access(self._build, os.W_OK):
            env.pop("GST_REGISTRY_1_0")
        return env

    # -------------------------------------------------------------------- hosts

    def _make_place(self) -> namespaces.Namespaces | loopback.Loopback:
        """Creates the hosts and returns the object that controls them. In the
        mode "auto", tries several kinds of hosts: first network namespaces
        with the rights of root, then network namespaces with the rights of a
        user, and finally relays, which need no namespaces.
        """
        if self.mode == "relay":
            return self._make_relay("as asked for")
        way, place, why = first_place(
            ways() if self.mode == "auto" else [self.mode], self._sysctls)
        if place:
            self.mode = way
            return place
        if self.mode == "auto":
            return self._make_relay(why)
        raise LabError(f"this machine allows no hosts {why}")

    def _make_relay(self, why: str) -> loopback.Loopback:
        if not self._relay_ports:
            raise LabError(
                f"no network namespaces for hosts here ({why}). Use "
                "--relay-port to name a UDP port that relays carry instead")
        self.mode = "relay"
        self.left_out = loopback.LEFT_OUT.format(
            why=why, ports=", ".join(map(str, self._relay_ports)))
        return loopback.Loopback(self.links, self._relay_ports)

    # -------------------------------------------------------------------- links

    def _flows(self, link: linkage.Link) -> list[linkage.Flow]:
        if self.mode == "relay":
            return self._place.flows(link, self._relay_ports)
        return linkage.device_flows(
            link, {host: self._devices.get((host, link.name), "").split()
                   for host in link.hosts})

    def _start_links(self, links: list[linkage.Link]) -> None:
        """Starts one pipeline for all `links`. These links share one radio
        medium, so one element wirelesslink has to emulate all of them.
        """
        owner = links[0]
        properties = [f"location={self.log(owner.name)}"]
        if self.mode == "relay":
            properties.append(f"overhead={loopback.OVERHEAD}")
        flows = [flow for link in links for flow in self._flows(link)]
        with open(self._output_of(owner), "w") as output:
            self._gst.append((owner, self._place.popen(
                namespaces.BETWEEN,
                ["gst-launch-1.0", "-e", "-m",
                 *linkage.pipeline(owner, flows, properties)],
                env=self._env, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT)))

    def _output_of(self, link: linkage.Link) -> pathlib.Path:
        return self.logs / f"{link.name}.out"

    def _wait_for_link(self, link: linkage.Link) -> None:
        self._wait(lambda: self._is_up(link), SECONDS_TO_START,
                   f"link {link.name} did not come up")

    def _is_up(self, link: linkage.Link) -> bool:
        if self.mode == "relay":
            return self._place.are_ready(link, self._relay_ports)
        return all(self._place.ask("are_up", host, devices=[link.name])
                   for host in link.hosts)

    def _wait(self, condition: Callable[[], bool], seconds: float,
              otherwise: str) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            self.check()
            if time.monotonic() > deadline:
                raise LabError(otherwise)
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def _finish_devices(self) -> None:
        """Adds the IPv6 addresses and the token buckets to the network devices
        of the links. The devices were made by the element tunsrc, which cannot
        add these.
        """
        for link in self.links:
            for host in link.hosts:
                with contextlib.suppress(LabError):  # The kernel has no IPv6.
                    self._place.ask(
                        "add_address", host, device=link.name,
                        address=link.address_ip6(host),
                        prefix_length=IPV6_PREFIX_LENGTH)
        for (host, name), words in self._buckets.items():
            done = self.run(
                host, ["tc", "qdisc", "add", "dev", name, "root", "tbf",
                       *words.split()],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                raise LabError(f"the token bucket of {host}.{name} "
                               f"failed:\n{processes.tail(done.stdout)}")

    def check(self) -> None:
        """Raises LabError if a link is no longer running, because all later
        results would then be wrong.
        """
        if self.mode == "relay":
            self._place.check()
        for link, process in self._gst:
            status = process.poll()
            if status is None:
                continue
            words = MESSAGE.sub(
                "", self._output_of(link).read_text(errors="replace"))
            missing = NO_ELEMENT.search(words)
            if missing:
                raise LabError(
                    f"link {link.name}: GStreamer has no element "
                    f"{missing.group(1)}. If it is one of this project's, "
                    f"build it:\n  meson setup {self._build} "
                    f"{paths.SOURCE_DIR} && ninja -C {self._build}\n"
                    "or name the directory of another build with --build")
            raise LabError(
                f"link {link.name} ended ({processes.describe(status)}). The "
                f"end of its output:\n{processes.tail(words)}")

    def link_processes(self) -> list[namespaces.Command]:
        """Returns the processes of the links, so that a caller can wait for
        their end. When one of the processes has ended, check() raises
        LabError.
        """
        return [process for _, process in self._gst]

    def log(self, link: str) -> pathlib.Path:
        """Returns the path of the log that contains the packets of `link`. All
        links that share one medium have the same log.
        """
        return self.logs / f"{self._link(link).medium}.log"

    # ----------------------------------------------------------------- commands

    def _addresses(self, link: linkage.Link, own: str,
                   host: str) -> dict[str, str]:
        if self.mode != "relay":
            return {"": link.address(host), "_ip6": link.address_ip6(host)}
        if own == host:
            return {"": self._place.own_address(link, host)}
        return {"": self._place.relay_address(link, host)}

    def variables(self, host: str) -> dict[str, str]:
        """Returns the environment variables of a command on `host`. The
        command gets them in addition to the environment variables of this
        process.
        """
        values = linkage.variables(self.links, host, self._addresses)
        values["TESTBED_HOST"] = host
        values["TESTBED_MODE"] = self.mode
        values["LINK_LOG"] = str(self.log(self.links[0].name))
        for link in self.links:
            values[f"LINK_LOG_{link.name}"] = str(self.log(link.name))
        return values

    def popen(self, host: str, command: str | Sequence[Any],
              **options: Any) -> namespaces.Command:
        """Starts a command in a host and returns the Popen object of the
        command. If `command` is a text, it is a shell command. If it is a
        list, it is a program with its arguments.
        """
        self._host(host)
        argv = ["sh", "-c", command] if isinstance(command, str) else command
        env = {**self._env, **self.variables(host), **options.pop("env", {})}
        options.setdefault("stdin", subprocess.DEVNULL)
        child = self._place.popen(host, argv, env=env, **options)
        self._commands.append(child)
        return child

    def run(self, host: str, command: str | Sequence[Any], check: bool = False,
            timeout: float | None = None,
            **options: Any) -> subprocess.CompletedProcess:
        """Runs a command in a host and waits until the command ends. Returns a
        CompletedProcess, as subprocess.run() does.
        """
        child = self.popen(host, command, **options)
        try:
            out, err = child.communicate(timeout=timeout)
        except BaseException:
            child.kill()
            child.wait()
            raise
        done = subprocess.CompletedProcess(command, child.returncode, out, err)
        if check:
            done.check_returncode()
        return done

    def is_listening(self, host: str, kind: str, port: int) -> bool:
        """Returns whether a socket in the host `host` listens at the port
        `port`. `kind` is the kind of the socket, such as "tcp" or "udp".
        """
        if kind not in init_process.LISTENING:
            raise LabError(f"unknown kind of socket {kind}; the kinds are: "
                           + " ".join(init_process.LISTENING))
        self._host(host)
        if self.mode != "relay":
            return self._place.ask("is_listening", host, kind=kind, port=port)
        return any(init_process.listening(kind, port, address)
                   for address in ["0.0.0.0", *(
                       self._place.own_address(link, host)
                       for link in self.links if host in link.hosts)])

    def wait_listening(self, host: str, kind: str, port: int,
                       seconds: float = SECONDS_TO_LISTEN) -> None:
        self._wait(lambda: self.is_listening(host, kind, port), seconds,
                   f"nothing listens at {kind} port {port} of host {host}")
