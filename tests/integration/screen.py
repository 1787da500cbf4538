# SPDX-License-Identifier: LGPL-2.1-or-later
"""A virtual X server, and the actions of a user with a mouse, for tests of
programs that show video."""

import contextlib
import ctypes
import os
import subprocess
import sys

# The number that the header X.h gives to the event ClientMessage.
CLIENT_MESSAGE = 33
# The field `format` of a ClientMessage: the size of each data item in bits.
FORMAT = 32


class ClientMessage(ctypes.Structure):
    """The struct XClientMessageEvent of Xlib.h. It is padded to the size of
    the union XEvent, because Xlib reads and writes whole unions."""
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong),
                ("send_event", ctypes.c_int), ("display", ctypes.c_void_p),
                ("window", ctypes.c_ulong), ("message_type", ctypes.c_ulong),
                ("format", ctypes.c_int), ("data", ctypes.c_long * 5),
                ("rest", ctypes.c_long * 24)]


@contextlib.contextmanager
def screen():
    """Starts an X server. Yields the environment for programs that show windows
    on it.
    """
    # Without the option -noreset, the X server would reset when its last
    # client leaves, and would refuse connections during the reset. The next
    # client could then fail.
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-noreset", "-screen", "0",
         "800x600x24"],
        pass_fds=[writing], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        with open(reading) as number:
            yield {**os.environ, "DISPLAY": ":" + number.readline().strip()}
    finally:
        server.terminate()
        server.wait()


def window(name, environment, seconds):
    """Waits for the window with this title. Returns its window ID."""
    found = subprocess.run(
        ["timeout", str(seconds), "xdotool", "search", "--sync",
         "--onlyvisible", "--name", name], env=environment,
        stdout=subprocess.PIPE, text=True, check=True).stdout
    return int(found.split()[0])


def close(number, environment):
    """Asks a window to close. Sends it the message that a window manager sends
    when the user clicks on the close button.
    """
    subprocess.run([sys.executable, __file__, str(number)], env=environment,
                   check=True)


def ask_to_close(number):
    xlib = ctypes.CDLL("libX11.so.6")
    xlib.XOpenDisplay.restype = ctypes.c_void_p
    xlib.XInternAtom.restype = ctypes.c_ulong
    display = ctypes.c_void_p(xlib.XOpenDisplay(None))
    message = ClientMessage(
        type=CLIENT_MESSAGE, window=number, format=FORMAT,
        message_type=xlib.XInternAtom(display, b"WM_PROTOCOLS", 0))
    message.data[0] = xlib.XInternAtom(display, b"WM_DELETE_WINDOW", 0)
    xlib.XSendEvent(display, ctypes.c_ulong(number), 0, ctypes.c_long(0),
                    ctypes.byref(message))
    xlib.XCloseDisplay(display)


if __name__ == "__main__":
    ask_to_close(int(sys.argv[1]))
