# SPDX-License-Identifier: LGPL-2.1-or-later
"""A web server for one live stream, in the manner of an internet radio. The
server starts a pipeline when a client requests the stream, and sends the
standard output of the pipeline to this client.

    streams.http_server HOST PORT gst-launch-1.0 -q ... ! fdsink

The pipeline never has to wait. It runs at its own pace, and the server buffers
the bytes that the network has not accepted yet. The server ends when the stream
ends. It fails if the pipeline failed.
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
    # Nagle's algorithm is disabled. TCP then sends the last part of a frame
    # without waiting for more data.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        # The kernel ends a child process when the thread that started it ends.
        # This function runs in the main thread, so the pipeline ends when the
        # server ends.
        child = processes.start(self.server.command, stdout=subprocess.PIPE)
        self.send_response(200)
        self.send_header("Content-Type", "video/mpeg")
        self.end_headers()
        # The response has no Content-Length. The client recognises the end of
        # the stream by the end of the connection.
        for piece in produced(child.stdout):
            self.wfile.write(piece)
        self.server.status = processes.finish(child)

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError as error:
            sys.exit(f"the client closed the connection: {error.strerror}")


def produced(stream: io.BufferedReader) -> Iterator[bytes]:
    """Returns an iterator over the pieces of data that arrive from `stream`. A
    thread reads them. Therefore the program that writes into the stream never
    has to wait.
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
