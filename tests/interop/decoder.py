# SPDX-License-Identifier: LGPL-2.1-or-later
"""Decodes several elementary streams with one process of ffmpeg, because ffmpeg
needs longer to start than to decode a short stream.
"""

import subprocess

import peers

# The maximum number of streams that are decoded by one process of ffmpeg.
AT_ONCE = 16


def hash_pictures(codec, streams, level, *options):
    """Decodes the elementary streams in the list `streams`. Returns two
    values: a list with the hashes of the pictures of each stream, and the
    messages that ffmpeg has printed at the log level `level`. `options` are
    options of ffmpeg for each input.
    """
    hashes, printed = [], ""
    for first in range(0, len(streams), AT_ONCE):
        with peers.workdir() as work:
            inputs, outputs = [], []
            part = streams[first:first + AT_ONCE]
            for n, data in enumerate(part):
                (work / f"{n}.in").write_bytes(data)
                inputs += ["-threads", "1", *options, "-f", codec, "-i",
                           work / f"{n}.in"]
                outputs += ["-map", str(n), "-fps_mode", "passthrough", "-f",
                            "framehash", "-hash", "md5", work / f"{n}.out"]
            result = subprocess.run(
                ["ffmpeg", "-v", level, "-nostdin", *inputs, *outputs],
                stderr=subprocess.PIPE, check=True)
            printed += result.stderr.decode()
            hashes += [read_hashes(work / f"{n}.out")
                       for n in range(len(part))]
    return hashes, printed


def read_hashes(path):
    return [line.split(",")[-1].strip()
            for line in path.read_text().splitlines()
            if line and not line.startswith("#")]
