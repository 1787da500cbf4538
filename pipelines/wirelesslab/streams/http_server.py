# SPDX-License-Identifier: LGPL-2.1-or-later
"""A web server for one live stream, similar to an internet radio. When a
client requests the stream, the server starts a pipeline, and sends the
standard output of the pipeline to this client.

    streams.http_server HOST PORT gst-launch-1.0 -q ... ! fdsink

The pipeline runs at its own pace and never has to wait for the network,
because the server buffers the bytes that the network has not accepted yet. The
server ends when the stream ends. If the pipeline has failed, the server fails,
too.
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
    """The TCP server. It is not based on http.server.HTTPServer, because that
    class asks a name server for the name of the machine.
    """
    allow_reuse_address = True
    # The exit status of the pipeline, or None while the pipeline runs.
    status = None
    command = ()


class Live(http.server.BaseHTTPRequestHandler):
    # Disables Nagle's algorithm, which would hold back the last, small part of
    # a frame until TCP has more data or an acknowledgement. Without this
    # algorithm, TCP sends the part immediately.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        # processes.start() asks the kernel to kill the child process when the
        # thread that started the child ends. In this program, the main thread
        # starts the child, and the main thread lives as long as the server.
        # The child is the pipeline, so the pipeline ends when the server ends.
        child = processes.start(self.server.command, stdout=subprocess.PIPE)
        self.send_response(200)
        self.send_header("Content-Type", "video/mpeg")
        self.end_headers()
        # The length of the stream is not known, so the response has no
        # Content-Length. The client recognises the end of the stream by the
        # end of the connection.
        for piece in produced(child.stdout):
            self.wfile.write(piece)
        self.server.status = processes.finish(child)

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError as error:
            sys.exit(f"the client closed the connection: {error.strerror}")


def produced(stream: io.BufferedReader) -> Iterator[bytes]:
    """Returns an iterator over the data that arrive from `stream`. A thread
    reads the data as soon as they arrive and buffers them. The program that
    writes into the stream therefore never has to wait.
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
