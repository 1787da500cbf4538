# SPDX-License-Identifier: LGPL-2.1-or-later
"""A web server for one live stream, in the manner of an internet radio. A
client that asks for it gets what a pipeline writes to its standard output from
then on.

    streams.http_server HOST PORT gst-launch-1.0 -q ... ! fdsink

The pipeline never has to wait. It runs at its own pace, and the server buffers
what the network has not taken yet. The server ends with the stream, and
fails if the pipeline failed.
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
    """The TCP server. http.server.HTTPServer is not used, because it asks a
    name server for its own name.
    """
    allow_reuse_address = True
    status = None  # The exit status of the pipeline; None while it runs.
    command = ()


class Live(http.server.BaseHTTPRequestHandler):
    # The last part of a frame is sent without waiting for more data.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        # This runs in the main thread, so the pipeline ends with the server.
        child = processes.start(self.server.command, stdout=subprocess.PIPE)
        self.send_response(200)
        self.send_header("Content-Type", "video/mpeg")
        self.end_headers()
        # There is no Content-Length: the end of the connection ends the stream.
        for piece in produced(child.stdout):
            self.wfile.write(piece)
        self.server.status = processes.finish(child)

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError as error:
            sys.exit(f"the client closed the connection: {error.strerror}")


def produced(stream: io.BufferedReader) -> Iterator[bytes]:
    """Returns an iterator over what the stream yields. A thread reads the
    stream, so that the program that writes it never has to wait.
    """
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
