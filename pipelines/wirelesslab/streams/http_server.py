# SPDX-License-Identifier: LGPL-2.1-or-later
"""A web server for one stream, live: who asks for it gets what a pipeline
writes to its standard output from then on, as from an internet radio.

    streams.http_server HOST PORT gst-launch-1.0 -q ... ! fdsink

The pipeline is never made to wait: it goes at its own pace, and what the
network has not taken yet is kept here. It ends with the stream, as the
pipeline did.
"""

import http.server
import io
import queue
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator

from wirelesslab import command_line, processes
from wirelesslab.errors import LabError

PIECE = 1 << 16


class Server(socketserver.TCPServer):
    """Not http.server's own, which asks a name server for its name."""
    allow_reuse_address = True
    status = None  # of the pipeline, once it has ended
    command = ()


class Live(http.server.BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # a frame's end waits for no other's

    def do_GET(self) -> None:
        # From the main thread, with which it ends.
        child = processes.start(self.server.command, stdout=subprocess.PIPE)
        self.send_response(200)
        self.send_header("Content-Type", "video/mpeg")
        self.end_headers()
        # No length: the end of the connection is that of the stream.
        for piece in produced(child.stdout):
            self.wfile.write(piece)
        self.server.status = processes.finish(child)

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError as error:
            sys.exit(f"who asked has gone: {error.strerror}")


def produced(stream: io.BufferedReader) -> Iterator[bytes]:
    """What comes, without holding up who writes."""
    pieces = queue.SimpleQueue()

    def read() -> None:
        while piece := stream.read1(PIECE):
            pieces.put(piece)
        pieces.put(b"")

    threading.Thread(target=read, daemon=True).start()
    return iter(pieces.get, b"")


def serve() -> None:
    host, port, *Server.command = sys.argv[1:]
    processes.die_on_signals()
    with Server((host, int(port)), Live) as server:
        while server.status is None:
            server.handle_request()
    if server.status:
        raise LabError(
            f"the pipeline failed ({processes.describe(server.status)})")


def main() -> None:
    command_line.run_main("http_server", serve)
