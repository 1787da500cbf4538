# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows pages in a headless Chromium, which is controlled by the Chrome
DevTools Protocol over two pipes (--remote-debugging-pipe). No other program is
needed."""

import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SECONDS_TO_WAIT = 30
# Python program that starts the browser. The browser reads commands from file
# descriptor 3 and writes replies to file descriptor 4, so the ends of two
# pipes must get these numbers. One of the ends may already have the number 3
# or 4. If os.dup2() assigned this number to the other end, it would close a
# pipe that is still needed. Both ends are therefore first duplicated to file
# descriptors of 20 and above.
LAUNCHER = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 20) for end in sys.argv[1:3]]
for end, number in zip(ends, (3, 4)):
    os.dup2(end, number)
os.execvp(sys.argv[3], sys.argv[3:])
"""


def program():
    """Returns the path of the browser; None if it is not installed."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """A browser with one page. Use it in a `with` statement."""

    def __enter__(self):
        self.home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands, self.commands = os.pipe()
        self.replies, replies = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, str(commands), str(replies),
             program(), "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update",
             f"--user-data-dir={self.home.name}", "--remote-debugging-pipe",
             "about:blank"],
            pass_fds=(commands, replies), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        os.close(commands)
        os.close(replies)
        self.number, self.buffer, self.session = 0, b"", None
        self.events = []
        try:
            (page,) = (target["targetId"] for target in self.call(
                "Target.getTargets")["targetInfos"]
                if target["type"] == "page")
            self.session = self.call("Target.attachToTarget", targetId=page,
                                     flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        """Ends all processes of the browser."""
        for end in (self.commands, self.replies):
            os.close(end)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.home.cleanup()

    def _read(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.replies], [], [],
                                        max(deadline - time.monotonic(), 0))
            data = os.read(self.replies, 1 << 20) if ready else b""
            if not data:
                raise RuntimeError("the browser ended" if ready
                                   else "the browser does not answer")
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        """Sends a command and returns its result. Events of the browser that
        arrive in the meantime are appended to self.events."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data):]
        deadline = time.monotonic() + SECONDS_TO_WAIT
        while True:
            found = self._read(deadline)
            if found.get("id") == self.number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                return found["result"]
            if "method" in found:
                self.events.append(found)

    def wait_for(self, method):
        deadline = time.monotonic() + SECONDS_TO_WAIT
        while not any(event["method"] == method for event in self.events):
            found = self._read(deadline)
            if "method" in found:
                self.events.append(found)

    def show(self, page, width, is_dark=False):
        """Loads the file `page` in a window that is `width` pixels wide. If
        `is_dark` is True, the browser tells the page that the user prefers
        dark colours.
        """
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if is_dark else "light"}])
        self.events.clear()
        self.call("Page.navigate", url=pathlib.Path(page).resolve().as_uri())
        self.wait_for("Page.loadEventFired")

    def evaluate(self, expression):
        """Evaluates the JavaScript expression `expression` in the page.
        Returns its value.
        """
        found = self.call("Runtime.evaluate", expression=expression,
                          returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(str(found["exceptionDetails"]))
        return found["result"].get("value")

    def errors(self):
        """Returns all errors since the page was shown. These are the errors
        and warnings that the page has written to the console, and the failures
        to load a file.
        """
        found = []
        for event in self.events:
            values = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(values["exceptionDetails"]["text"])
            elif event["method"] == "Log.entryAdded":
                if values["entry"]["level"] in ("error", "warning"):
                    found.append(values["entry"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled":
                if values["type"] in ("error", "warning", "assert"):
                    found.append(str(values["args"]))
            elif event["method"] == "Network.loadingFailed":
                found.append(values["errorText"])
        return found

    def screenshot(self, path):
        """Saves the whole page as a PNG."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        pathlib.Path(path).write_bytes(base64.b64decode(data["data"]))

    def pdf(self):
        data = self.call("Page.printToPDF", printBackground=False)
        return base64.b64decode(data["data"])
