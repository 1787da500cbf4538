# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes an H.265 stream with three temporal layers. It is made from a stream
of x265 with a B-pyramid, because no available encoder makes more than two
layers.

The P-frames become layer 0. The B-frames to which other frames refer become
layer 1, and all other B-frames layer 2.

No picture may depend on a picture of a higher layer. In the stream of x265,
however, the reference picture set of a picture may list pictures of higher
layers, although the picture does not use them. This module therefore removes
these pictures from the set. Only the pictures in the reference lists are used,
so they must stay in the set. x265 runs with ref=1, so each reference list has
only one entry, the nearest picture. The decoded pictures do not change.

The positions of the header fields in the stream are found with ffmpeg's filter
trace_headers.
"""

import re
import subprocess

VPS, SPS = 32, 33
IDR_LAST = 20
FIELD = re.compile(r"\] (\d+) +([\w\[\]]+) +[01]+ = (-?\d+)$")
# Positions in an SPS (sequence parameter set) of H.265, in bits from its
# start. At SPS_LAYERS, the field with the number of sub-layers begins. At
# SPS_PROFILE_END, the field general_level_idc ends and the data of the
# sub-layers begin (section 7.3.3).
SPS_PROFILE_END, SPS_LAYERS = 120, 20
SUB_LAYERS = 3


def _trace(path):
    """Returns a list with one item for each NAL unit of the stream. Each item
    is a list of the header fields of the unit, as tuples (name, position in
    bits, value).
    """
    text = subprocess.run(
        ["ffmpeg", "-hide_banner", "-nostats", "-i", str(path), "-c", "copy",
         "-bsf:v", "trace_headers", "-f", "null", "-"], check=True,
        stderr=subprocess.PIPE).stderr.decode()
    units = []
    for line in text[text.index("] Packet:"):].splitlines():
        field = FIELD.search(line)
        if not field:
            continue
        if field[2] == "forbidden_zero_bit":
            units.append([])
        units[-1].append((field[2], int(field[1]), int(field[3])))
    return units


def _to_bits(unit):
    data = unit.replace(b"\0\0\3", b"\0\0")
    return "".join(f"{byte:08b}" for byte in data)


def _to_unit(bits):
    data = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
    return re.sub(rb"\0\0(?=[\0-\3])", b"\0\0\3", data)


def _ue(value):
    digits = f"{value + 1:b}"
    return "0" * (len(digits) - 1) + digits


def _write_set(deltas):
    """Returns the syntax structure st_ref_pic_set () (H.265, 7.3.7) as bits.
    It describes a set of reference pictures. `deltas` contains the distance of
    each of these pictures from the current picture. The set is not predicted
    from another set, and each picture in it is marked as used.
    """
    earlier = sorted(-d for d in deltas if d < 0)
    later = sorted(d for d in deltas if d > 0)
    bits = _ue(len(earlier)) + _ue(len(later))
    for side in earlier, later:
        last = 0
        for delta in side:
            bits += _ue(delta - last - 1) + "1"
            last = delta
    return bits


def _align(bits, data):
    """A slice header ends with alignment bits (byte_alignment ()). Appends
    these bits and then the slice data `data` to the header `bits`."""
    bits += "1"
    return bits + "0" * (-len(bits) % 8) + data


class _Layers:

    def __init__(self):
        self.kept = set()

    def sps(self, bits):
        """Sets the number of sub-layers in an SPS (sequence parameter set) of
        H.265. Two other parts of the SPS have to change, too:

        - profile_tier_level () gets 16 more bits, because it has flags for
          each sub-layer.
        - sps_sub_layer_ordering_info_present_flag becomes 0, so that one set
          of buffer sizes holds for all sub-layers."""
        at = self.at["sps_sub_layer_ordering_info_present_flag"]
        return bits[:SPS_LAYERS] + f"{SUB_LAYERS - 1:03b}" + \
            bits[SPS_LAYERS + 3:SPS_PROFILE_END] + 16 * "0" + \
            bits[SPS_PROFILE_END:at] + "0" + bits[at + 1:]

    def deltas(self, fields):
        """Reads the reference picture set of a slice. Returns two lists. The
        first list is for the pictures that are shown before the current
        picture, and the second list for the pictures that are shown after it.
        Each picture is represented by its picture order count minus that of
        the current picture. Both lists begin with the picture that is nearest
        to the current one.
        """
        found = [], []
        for side, deltas in enumerate(found):
            last = 0
            for name, _, value in fields:
                if name.startswith(f"delta_poc_s{side}_minus1"):
                    last += value + 1
                    deltas.append(last if side else -last)
        return found

    def slice(self, bits, fields, kind):
        order = dict((n, v) for n, _, v in fields).get(
            "slice_pic_order_cnt_lsb", 0)
        earlier, later = self.deltas(fields)
        layer = 2 if kind == 0 else 1 if later else 0
        if layer < 2:
            earlier, later = earlier[:1], later[:1]
        deltas = [d for d in earlier + later if order + d in self.kept]
        self.kept = {order + d for d in deltas}
        if layer < 2:
            self.kept.add(order)
        begin = self.at["short_term_ref_pic_set_sps_flag"] + 1
        end = self.at["slice_temporal_mvp_enabled_flag"]
        align = self.at["alignment_bit_equal_to_one"]
        data = -(-(align + 1) // 8) * 8
        header = bits[:13] + f"{layer + 1:03b}" + bits[16:begin] + \
            _write_set(deltas) + bits[end:align]
        return _align(header, bits[data:])

    def rewrite(self, unit, fields):
        self.at = {name: at for name, at, _ in fields}
        kind = unit[0] >> 1
        if kind == SPS:
            return _to_unit(self.sps(_to_bits(unit)))
        if kind > 15:
            if 16 <= kind <= IDR_LAST:
                self.kept = {0}
            return unit
        return _to_unit(self.slice(_to_bits(unit), fields, kind))


def add_layers(path, units):
    """Adds temporal layers to the H.265 stream in the file `path`. `units` is
    a list of the access units of the stream, each as a tuple (offset, size,
    time). Returns the new stream and the list of its access units."""
    data, layers, out, places = path.read_bytes(), _Layers(), b"", []
    traced = iter(_trace(path))
    for offset, size, time in units:
        begin = len(out)
        for unit in re.split(b"\0*\0\0\1", data[offset:offset + size])[1:]:
            fields = next(traced)
            assert fields[1][2] == unit[0] >> 1, (fields[1], unit[0] >> 1)
            out += b"\0\0\0\1" + layers.rewrite(unit, fields)
        places.append((begin, len(out) - begin, time))
    return out, places
