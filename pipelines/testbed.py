# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hosts on this machine, emulated links between them, commands in them.

A host is a network namespace, a link is a gst-launch-1.0 with a TUN device in
each of its two hosts and a `wirelesslink` between them. Nothing of it outlives
the script, see keeper.py; nothing of it touches the machine's own network.
Where there may be no namespaces, relay.py does what can be done without.

    with Testbed(["wl0=a,b: profile=80211b seed=1"]) as bed:
        server = bed.popen("b", "iperf3 -s -1")
        bed.wait_listening("b", "tcp", 5201)
        bed.run("a", "iperf3 -c $b", check=True)
"""

import argparse
import contextlib
import os
import pathlib
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time

import children
import clips
import keeper
import leftovers
import links as linkage
import namespaces
import relay
import stream

MODES = ("root", "user", "relay")
SECONDS_TO_START = 60  # the first start scans all plugins of the machine
SECONDS_TO_LISTEN = 30
# How commands are asked to end: as Ctrl-C does it, which gst-launch-1.0 -e and
# iperf3 take for "finish what you do"; then, who ignores that.
ASKED = ((signal.SIGINT, 3), (signal.SIGTERM, 1))
SECONDS_BETWEEN_LOOKS = 0.01
IPV6_PREFIX_LENGTH = 64
STATUS_LATE, STATUS_OURS = 124, 125  # as timeout(1) has them
NO_ELEMENT = re.compile(r'no element "(\w+)"')


def split_place(text, what, form="HOST: COMMAND"):
    place, colon, rest = text.partition(":")
    if not colon or not rest.strip():
        raise children.Failed(f"{what} {text!r}: it is '{form}'")
    return place.strip(), rest.strip()


class Testbed:
    """`links` are texts as --link has them. `sysctls` gives for a host a dict
    of sysctls, `devices` words for tunsrc and `buckets` words for tc's tbf for
    a device, WL0 of both ends or HOST.WL0 of one. `logs` is a directory that
    stays; without it they go with the testbed."""

    def __init__(self, links=("wl0=a,b",), mode="auto", build=None, sysctls=(),
                 devices=(), buckets=(), relay_ports=(), logs=None):
        self.links = linkage.parse_all(links)
        self.hosts = linkage.hosts_of(self.links)
        self.mode = mode
        self.left_out = ""  # in relay mode, what that does not do
        self._build = pathlib.Path(build or clips.SOURCE_DIR / "build")
        self._sysctls = {host: {} for host in self.hosts}
        for host, settings in dict(sysctls).items():
            self._sysctls[self._host(host)].update(settings)
        self._devices = self._of_devices(devices, "device")
        self._buckets = self._of_devices(buckets, "token bucket")
        self._relay_ports = list(relay_ports)
        self._logs = logs
        self._stack = contextlib.ExitStack()
        self._commands = []
        self._gst = []  # (link, its process)

    # ------------------------------------------------------- what it is given

    def _host(self, name):
        if name not in self.hosts:
            raise children.Failed(
                f"there is no host {name}; there are: {' '.join(self.hosts)}")
        return name

    def _link(self, name):
        for link in self.links:
            if link.name == name:
                return link
        raise children.Failed(
            f"there is no link {name}; there are: "
            + " ".join(link.name for link in self.links))

    def _of_devices(self, given, what):
        """{(host, link's name): value} out of {"wl0" or "a.wl0": value}."""
        found = {}
        for place, value in dict(given).items():
            host, _, name = place.rpartition(".")
            link = self._link(name)
            if host and host not in link.hosts:
                raise children.Failed(
                    f"{what} {place}: link {name} has no end at {host}")
            for end in [host] if host else link.hosts:
                found[end, name] = value
        return found

    # ------------------------------------------------------------- life cycle

    def __enter__(self):
        try:
            self._open()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def _open(self):
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

    def close(self):
        """Asks everybody to end, for a moment; then nobody is asked. The links
        come last, so they carry what the commands still have to say."""
        for processes in self._commands, self.link_processes():
            for number, seconds in ASKED:
                self._ask_to_end(processes, number, seconds)
        self._commands, self._gst = [], []
        self._stack.close()

    @staticmethod
    def _ask_to_end(processes, number, seconds):
        deadline = time.monotonic() + seconds
        for process in processes:
            if process.poll() is None:
                process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            for process in processes:
                process.wait(max(deadline - time.monotonic(), 0))

    def _make_logs(self):
        if self._logs is not None:
            path = pathlib.Path(self._logs)
            path.mkdir(parents=True, exist_ok=True)
            return path.resolve()
        if not os.access(self._build, os.W_OK):
            return pathlib.Path(self._stack.enter_context(
                tempfile.TemporaryDirectory(prefix="wireless-testbed-")))
        run = leftovers.RunDirectory(self._build / "testbed", "run-")
        self._stack.callback(run.close)
        return run.path.resolve()

    def _gst_environment(self):
        """The plugins of the build, where there is one, else those installed."""
        if not self._build.is_dir():
            return dict(os.environ)
        env = stream.environment(self._build.resolve())
        if not os.access(self._build, os.W_OK):
            env.pop("GST_REGISTRY_1_0")
        return env

    # ------------------------------------------------------------------ hosts

    def _make_place(self):
        """The first of the ways to have hosts that this machine allows."""
        if self.mode == "auto":
            ways = MODES if os.geteuid() == 0 else MODES[1:]
        else:
            ways = [self.mode]
        reasons = []
        for way in ways:
            if way == "relay":
                return self._make_relay(reasons or ["as asked for"])
            try:
                place = namespaces.Namespaces(self._sysctls, way == "user")
            except namespaces.Forbidden as failure:
                reasons.append(f"as {way}: {failure}")
            else:
                self.mode = way
                return place
        raise children.Failed("no hosts here " + "; ".join(reasons))

    def _make_relay(self, reasons):
        if not self._relay_ports:
            raise children.Failed(
                f"no hosts of their own here ({'; '.join(reasons)}), and "
                "--relay-port names no UDP port to relay instead")
        self.mode = "relay"
        self.left_out = relay.LEFT_OUT.format(
            why="; ".join(reasons), ports=", ".join(map(str, self._relay_ports)))
        return relay.Loopback(self.links)

    # ------------------------------------------------------------------ links

    def _flows(self, link):
        if self.mode == "relay":
            return self._place.flows(link, self._relay_ports)
        return linkage.device_flows(
            link, {host: self._devices.get((host, link.name), "").split()
                   for host in link.hosts})

    def _start_links(self, links):
        """Those of one medium are one pipeline."""
        owner = links[0]
        properties = [f"location={self.log(owner.name)}"]
        if self.mode == "relay":
            properties.append(f"overhead={relay.OVERHEAD}")
        flows = [flow for link in links for flow in self._flows(link)]
        with open(self._output_of(owner), "w") as output:
            self._gst.append((owner, self._place.popen(
                namespaces.BETWEEN,
                ["gst-launch-1.0", "-e",
                 *linkage.pipeline(owner, flows, properties)],
                env=self._env, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT)))

    def _output_of(self, link):
        return self.logs / f"{link.name}.out"

    def _wait_for_link(self, link):
        self._wait(lambda: self._is_up(link), SECONDS_TO_START,
                   f"link {link.name} did not come up")

    def _is_up(self, link):
        if self.mode == "relay":
            return self._place.are_ready(link, self._relay_ports)
        return all(self._place.ask("are_up", host, devices=[link.name])
                   for host in link.hosts)

    def _wait(self, condition, seconds, otherwise):
        deadline = time.monotonic() + seconds
        while not condition():
            self.check()
            if time.monotonic() > deadline:
                raise children.Failed(otherwise)
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def _finish_devices(self):
        """What tunsrc leaves to others."""
        for link in self.links:
            for host in link.hosts:
                with contextlib.suppress(children.Failed):  # without IPv6
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
                raise children.Failed(f"the token bucket of {host}.{name} "
                                      f"failed:\n{children.tail(done.stdout)}")

    def check(self):
        """Failed if a link has ended: then nothing that follows is true."""
        for link, process in self._gst:
            status = process.poll()
            if status is None:
                continue
            words = self._output_of(link).read_text(errors="replace")
            missing = NO_ELEMENT.search(words)
            if missing:
                raise children.Failed(
                    f"link {link.name}: GStreamer has no element "
                    f"{missing.group(1)}. If it is one of this project's, "
                    f"build it:\n  meson setup {self._build} "
                    f"{clips.SOURCE_DIR} && ninja -C {self._build}\n"
                    "or name the directory of another build with --build")
            raise children.Failed(
                f"link {link.name} ended ({children.describe(status)}); its "
                f"last words:\n{children.tail(words)}")

    def link_processes(self):
        """For who waits: when one ends, check() fails."""
        return [process for _, process in self._gst]

    def log(self, link):
        """Where its wirelesslink writes what happened."""
        return self.logs / f"{self._link(link).medium}.log"

    # --------------------------------------------------------------- commands

    def _addresses(self, link, own, host):
        if self.mode != "relay":
            return {"": link.address(host), "_ip6": link.address_ip6(host)}
        if own == host:
            return {"": self._place.own_address(link, host)}
        return {"": self._place.relay_address(link, host)}

    def variables(self, host):
        """What the environment of a command has beyond ours."""
        values = linkage.variables(self.links, host, self._addresses)
        values["TESTBED_HOST"] = host
        values["TESTBED_MODE"] = self.mode
        values["LINK_LOG"] = str(self.log(self.links[0].name))
        for link in self.links:
            values[f"LINK_LOG_{link.name}"] = str(self.log(link.name))
        return values

    def popen(self, host, command, **options):
        """A Popen. A text goes to the shell; a list is a program and its
        arguments."""
        self._host(host)
        argv = ["sh", "-c", command] if isinstance(command, str) else command
        env = {**self._env, **self.variables(host), **options.pop("env", {})}
        options.setdefault("stdin", subprocess.DEVNULL)
        child = self._place.popen(host, argv, env=env, **options)
        self._commands.append(child)
        return child

    def run(self, host, command, check=False, timeout=None, **options):
        """As subprocess.run()."""
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

    def is_listening(self, host, kind, port):
        """Whether a socket of the host, "tcp" or "udp", waits at the port."""
        if kind not in keeper.LISTENING:
            raise children.Failed(f"{kind} is none of: "
                                  + " ".join(keeper.LISTENING))
        if self.mode != "relay":
            return self._place.ask("is_listening", self._host(host), kind=kind,
                                   port=port)
        return any(keeper.listening(kind, port, address)
                   for address in ["0.0.0.0", *(
                       self._place.own_address(link, host)
                       for link in self.links if host in link.hosts)])

    def wait_listening(self, host, kind, port, seconds=SECONDS_TO_LISTEN):
        self._wait(lambda: self.is_listening(host, kind, port), seconds,
                   f"nothing listens at {kind} port {port} of host {host}")


# ---------------------------------------------------------------- the command

class Steps(argparse.Action):
    """Options that are steps of a run keep their order."""

    def __call__(self, _parser, options, value, option_string=None):
        options.steps = [*options.steps, (option_string.lstrip("-"), value)]


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="pipelines/testbed",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Sets up hosts with emulated links between them, runs "
        "commands in them, and leaves\nnothing behind.",
        epilog="""\
A command finds in its environment the addresses of all hosts: $b is b's on the
first link to it, $b_wl0 that on link wl0, $b_ip6 and $b_wl0_ip6 likewise.
$LINK_LOG is the first link's log, $LINK_LOG_wl0 that of wl0.

The exit status is that of the command that decides: --main, or the last --run;
124 after --timeout, 125 if the testbed itself failed.

  pipelines/testbed --link 'wl0=a,b: profile=80211b seed=1' \\
      --run 'b: iperf3 -s' --wait 'b: tcp/5201' --run 'a: iperf3 -c $b'
""")
    parser.set_defaults(steps=[])
    parser.add_argument(
        "--link", action="append", metavar="'NAME=HOST,HOST: PROPERTIES'",
        help="a link between two hosts, with properties of wirelesslink; or "
        "`none` for one that only connects, or other elements for each "
        "direction (wl0=a,b)")
    for name, metavar, words in (
            ("--first", "'HOST: COMMAND'",
             "a command that ends, well, before the next step"),
            ("--run", "'HOST: COMMAND'", "a command beside the others"),
            ("--wait", "'HOST: KIND/PORT'",
             "until something listens there, as in 'b: tcp/5201'"),
            ("--main", "'HOST: COMMAND'",
             "the command whose end is that of all")):
        parser.add_argument(name, action=Steps, metavar=metavar, help=words)
    parser.add_argument("--shell", metavar="HOST",
                        help="a shell there, once all others have started; "
                        "without any command, in the first host")
    parser.add_argument("--timeout", type=float, metavar="SECONDS",
                        help="end all after that time")
    parser.add_argument("--sysctl", action="append", default=[],
                        metavar="'HOST: NAME=VALUE'",
                        help="a setting of a host's network")
    parser.add_argument("--device", action="append", default=[],
                        metavar="'[HOST.]LINK: PROPERTIES'",
                        help="properties of tunsrc, such as mtu=576")
    parser.add_argument("--tbf", action="append", default=[],
                        metavar="'[HOST.]LINK: PARAMETERS'",
                        help="a token bucket that makes who sends UDP wait: "
                        "parameters of tc's tbf")
    parser.add_argument("--mode", choices=("auto", *MODES), default="auto",
                        help="as root, as an ordinary user in a user "
                        "namespace, or with relays on the loopback (the first "
                        "that works)")
    parser.add_argument("--relay-port", action="append", type=int, default=[],
                        metavar="PORT", help="a UDP port that relays carry, "
                        "where it comes to them")
    parser.add_argument("--keep-logs", type=pathlib.Path, metavar="DIR",
                        help="write there the logs of the links and what the "
                        "commands print")
    parser.add_argument("--no-prefix", action="store_true",
                        help="leave out the host's name before each line")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR",
                        help="the build directory (build)")
    options = parser.parse_args()
    if options.shell and any(kind == "main" for kind, _ in options.steps):
        parser.error("--shell decides the end, so there is no --main")
    for port in options.relay_port:
        if not 1 <= port <= 65535:
            parser.error("--relay-port is from 1 to 65535")
    return options


SYSCTL_FORM = "HOST: net.NAME=VALUE"
DEVICE_FORM = "[HOST.]LINK: "


def sysctls_of(texts):
    found = {}
    for text in texts:
        host, setting = split_place(text, "--sysctl", SYSCTL_FORM)
        name, equals, value = setting.partition("=")
        # The others are the machine's.
        if not equals or not name.startswith(("net.", "net/")):
            raise children.Failed(f"--sysctl {text!r}: it is '{SYSCTL_FORM}'")
        found.setdefault(host, {})[name.strip()] = value.strip()
    return found


class Stream:
    """One output of a command on its way to ours, line by line."""

    def __init__(self, pipe, target, prefix, log):
        self.pipe = pipe
        self._target = target
        self._prefix = prefix.encode()
        self._log = log
        self._rest = b""

    def pass_on(self):
        """Returns whether there may be more."""
        data = os.read(self.pipe.fileno(), 1 << 16)
        if self._log:
            self._log.write(data)
            self._log.flush()
        *lines, self._rest = (self._rest + data).split(b"\n")
        if not data and self._rest:
            lines, self._rest = [self._rest], b""
        for line in lines:
            self._target.write(self._prefix + line + b"\n")
        self._target.flush()
        return bool(data)


class Session:
    """The steps of one command line, in an open testbed."""

    def __init__(self, bed, options):
        self._bed = bed
        self._options = options
        self._selector = selectors.DefaultSelector()
        self._files = contextlib.ExitStack()
        self._deadline = None
        if options.timeout is not None:
            self._deadline = time.monotonic() + options.timeout
        commands = [kind for kind, _ in options.steps if kind != "wait"]
        self._direct = (len(commands) == 1 and not options.shell
                        and options.keep_logs is None)
        self._prefixed = not options.no_prefix and (len(commands) > 1
                                                    or options.shell)
        self._started = []  # (host, command, process)

    def run(self):
        """Returns the exit status of the command that decides."""
        for process in self._bed.link_processes():
            self._watch(process)
        decides = self._run_steps()
        if self._options.shell:
            decides = self._start_shell(self._options.shell)
        self._until(lambda: decides.poll() is not None)
        return decides.returncode

    def _run_steps(self):
        main = last = None
        for kind, text in self._options.steps:
            if kind == "wait":
                self._wait(*split_place(text, "--wait", "HOST: KIND/PORT"))
                continue
            host, command = split_place(text, f"--{kind}")
            last = self._start(host, command)
            if kind == "main":
                main = last
            if kind == "first":
                self._finish_first(last, text)
        return main or last

    def _finish_first(self, child, text):
        self._until(lambda: child.poll() is not None)
        if child.returncode != 0:
            raise children.Failed(f"--first {text!r} failed "
                                  f"({children.describe(child.returncode)})")

    def _wait(self, host, place):
        kind, _, port = place.partition("/")
        if not port.isdigit():
            raise children.Failed(f"--wait {place!r}: it is KIND/PORT")
        deadline = time.monotonic() + SECONDS_TO_LISTEN
        while not self._bed.is_listening(host, kind, int(port)):
            self._check_commands(host, place)
            if time.monotonic() > deadline:
                raise children.Failed(f"nothing listens at {place} of {host}")
            self._look(SECONDS_BETWEEN_LOOKS)

    def _check_commands(self, host, place):
        """What has failed there was to listen, most likely."""
        for place_of, command, process in self._started:
            if place_of == host and process.poll():
                raise children.Failed(
                    f"nothing listens at {place} of {host}: {command!r} ended "
                    f"there ({children.describe(process.returncode)})")

    def _start(self, host, command):
        if self._direct:
            child = self._bed.popen(host, command)
        else:
            child = self._bed.popen(host, command, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE)
            self._follow(child.stdout, sys.stdout.buffer, host, "out")
            self._follow(child.stderr, sys.stderr.buffer, host, "err")
        self._watch(child)
        self._started.append((host, command, child))
        return child

    def _start_shell(self, host):
        shell = os.environ.get("SHELL", "sh")
        print(f"testbed: {shell} in host {host}; its end is that of all",
              file=sys.stderr)
        # The terminal's signals are for the shell.
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
            signal.signal(number, signal.SIG_IGN)
        child = self._bed.popen(host, [shell], stdin=None, foreground=True)
        self._watch(child)
        return child

    def _follow(self, pipe, target, host, kind):
        log = None
        if self._options.keep_logs is not None:
            log = self._files.enter_context(open(
                self._bed.logs / f"{len(self._started) + 1}-{host}.{kind}", "wb"))
        prefix = f"{host}| " if self._prefixed else ""
        self._selector.register(pipe, selectors.EVENT_READ,
                                Stream(pipe, target, prefix, log))

    def _watch(self, process):
        descriptor = os.pidfd_open(process.pid)
        self._files.callback(os.close, descriptor)
        self._selector.register(descriptor, selectors.EVENT_READ)

    def _until(self, condition):
        """Passes on what the commands print until the condition holds, which
        changes only as one of the processes ends."""
        while not condition():
            self._look()

    def _look(self, seconds=None):
        """Until something happens, `seconds` at most."""
        if self._deadline is not None:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise Late()
            seconds = left if seconds is None else min(left, seconds)
        for key, _ in self._selector.select(seconds):
            if key.data is None or not key.data.pass_on():
                self._selector.unregister(key.fileobj)
        self._bed.check()

    def close(self):
        """What they still had to say, once all have ended."""
        with self._files:
            for key in list(self._selector.get_map().values()):
                if key.data is not None:
                    while key.data.pass_on():
                        pass
        self._selector.close()


class Late(Exception):
    """--timeout is over."""


def run(options):
    bed = Testbed(
        options.link or ["wl0=a,b"], options.mode, options.build,
        sysctls_of(options.sysctl),
        [split_place(text, "--device", DEVICE_FORM + "PROPERTIES")
         for text in options.device],
        [split_place(text, "--tbf", DEVICE_FORM + "PARAMETERS")
         for text in options.tbf],
        options.relay_port, options.keep_logs)
    if not options.shell and not any(kind != "wait"
                                     for kind, _ in options.steps):
        options.shell = bed.hosts[0]
    session = None
    try:
        with bed:
            if bed.left_out:
                print("testbed:", bed.left_out, file=sys.stderr)
            session = Session(bed, options)
            return session.run()
    finally:
        if session:
            session.close()


def main():
    options = parse_arguments()
    children.die_on_signals()
    try:
        status = run(options)
    except Late:
        print(f"testbed: not done after {options.timeout:g} s",
              file=sys.stderr)
        status = STATUS_LATE
    except BrokenPipeError:
        raise
    except (children.Failed, OSError) as failure:
        print(f"testbed: {failure}", file=sys.stderr)
        status = STATUS_OURS
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    children.run_main("pipelines/testbed", main)
