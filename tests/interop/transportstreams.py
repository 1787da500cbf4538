# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes transport streams with video and sound by means of ffmpeg. The module
also checks transport streams in two ways: with other programs, and with a
parser of its own that follows ISO/IEC 13818-1."""

import shlex
import subprocess

import clips
import peers

SECONDS = 4
FPS = 25
FRAMES = SECONDS * FPS
PACKET = 188
MAX_CLOCK_INTERVAL = 0.1        # s, 2.7.2
VIDEO = {
    "mpeg2": "-c:v mpeg2video -g 15 -bf 2 -sc_threshold 1000000000",
    "h264": "-c:v libx264 -preset fast -x264-params "
            "keyint=24:bframes=3:b-pyramid=normal:b-adapt=0:scenecut=0",
    "h264-fields": "-c:v libx264 -preset fast -x264-params "
                   "keyint=24:bframes=2:interlaced=1:open-gop=1",
    "h265": "-c:v libx265 -preset fast -x265-params "
            "keyint=24:bframes=3:b-adapt=0:log-level=error",
}
DROPS = r"mp2t.analysis.drops || mp2t.cc.drop"


SOUND = "-c:a mp2 -b:a 64k"


def _make(path, inputs, options):
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *inputs, "-f",
                    "lavfi", "-i", "sine", "-t", str(SECONDS),
                    *options.split(), *SOUND.split(), "-f", "mpegts",
                    str(path)], check=True)


def _with_sound(name, video):
    return clips._cached(name, lambda path: _make(
        path, ["-i", str(clips.FILM)], "-map 0:v -map 1:a -vf scale=160:96 "
        f"-r {FPS} -pix_fmt yuv420p -b:v 300k {video}"))


def stream(name):
    return _with_sound(f"ifdts-sound-{name}.ts", VIDEO[name])


def closed_fields():
    """Interlaced H.264 with closed GOPs"""
    return _with_sound("fields-closed-sound.ts",
                       VIDEO["h264-fields"].replace("open-gop=1", "open-gop=0"))


def sound_only():
    return clips._cached("sound.ts", lambda path: _make(path, [], ""))


def decode(data):
    """Decodes the video of a transport stream. Returns {PTS: hash of the
    picture}. The PTS is in units of 1/90000 s. Asserts that ffmpeg reports no
    error.
    """
    result = subprocess.run(
        ["ffmpeg", "-v", "error", "-threads", "1", "-f", "mpegts", "-i", "-",
         "-map", "v", "-copyts", "-fps_mode", "passthrough",
         "-enc_time_base", "1/90000", "-f", "framehash", "-hash", "md5", "-"],
        input=data, capture_output=True)
    faults = result.stderr.decode()
    assert result.returncode == 0 and not faults, faults
    lines = [line.split(",") for line in result.stdout.decode().splitlines()
             if not line.startswith("#")]
    pictures = {int(fields[2]): fields[-1].strip() for fields in lines}
    assert len(pictures) == len(lines)
    return pictures


def packets(data):
    assert len(data) % PACKET == 0
    for at in range(0, len(data), PACKET):
        packet = data[at:at + PACKET]
        assert packet[0] == 0x47
        yield (packet[1] << 8 | packet[2]) & 0x1fff, packet


def counter_gaps(data):
    """Returns the number of packets whose continuity counter does not follow
    the counter of the previous packet with the same PID (ISO/IEC 13818-1,
    2.4.3.3).
    """
    last, gaps = {}, 0
    for pid, packet in packets(data):
        if pid == 0x1fff:
            continue
        counter, has_payload = packet[3] & 15, packet[3] & 0x10
        if pid in last:
            gaps += counter != (last[pid] + bool(has_payload)) % 16
        last[pid] = counter
    return gaps


def clocks(data):
    """Returns a list of the program clock references in the stream, in seconds
    (ISO/IEC 13818-1, section 2.4.3.5).
    """
    found = []
    for _, packet in packets(data):
        if packet[3] & 0x20 and packet[4] >= 7 and packet[5] & 0x10:
            base = int.from_bytes(packet[6:10], "big") << 1 | packet[10] >> 7
            found.append((base * 300 + ((packet[10] & 1) << 8 | packet[11]))
                         / 27e6)
    return found


def tshark_gaps(path):
    text, _ = peers.run(["tshark", "-r", path, "-Y", DROPS])
    return len(text.splitlines())


def ffmpeg_gaps(path):
    _, text = peers.run(["ffmpeg", "-v", "debug", "-nostdin", "-i", path,
                         "-map", "0", "-c", "copy", "-f", "null", "-"])
    return text.count("Continuity check failed")


def tsdemux_gaps(path):
    """Returns the number of gaps in the continuity counters that tsdemux
    reports. tsdemux reports gaps only in the streams that it outputs, which
    are the video and the sound.
    """
    _, text = peers.run(
        ["gst-launch-1.0", "-q", "filesrc", f"location={path}", "!",
         "tsdemux", "name=demux", *shlex.split(
             "demux. ! queue ! fakesink async=false sync=false "
             "demux. ! queue ! fakesink async=false sync=false")],
        env={"GST_DEBUG": "tsdemux:6", "GST_DEBUG_NO_COLOR": "1"})
    assert "CONTINUITY: Got expected" in text
    return text.count("CONTINUITY: Mismatch")


PROGRAMS = {"tshark": tshark_gaps, "ffmpeg": ffmpeg_gaps,
            "tsdemux": tsdemux_gaps}


def others(data, video):
    """Returns all packets of the transport stream `data` that do not have the
    PID `video`. Null packets are left out, because tsparse adds some at the
    end to fill its last buffer."""
    return [packet for pid, packet in packets(data)
            if pid not in (video, 0x1fff)]


def video_pid(path):
    text, _ = peers.run(["ffprobe", "-v", "error", "-select_streams", "v",
                         "-show_entries", "stream=id", "-of", "csv=p=0", path])
    return int(text.decode().split()[0].strip(","), 16)
