# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads MPEG-1 and MPEG-2 video elementary streams, to check other programs.

This module follows ISO/IEC 11172-2 and 13818-2 only and shares no code with
the elements. Positions are byte offsets into the stream. A range is a tuple
(start, end). The byte at the position `end` does not belong to the range.

    stream = Stream(open("clip.m2v", "rb").read())
    for frame in stream.frames: print(frame.display, frame.pictures[0].letter)
"""

import re
from dataclasses import dataclass, field
from fractions import Fraction

PICTURE, USER_DATA, SEQUENCE = 0x00, 0xb2, 0xb3
EXTENSION, SEQUENCE_END, GROUP = 0xb5, 0xb7, 0xb8
SLICES = range(0x01, 0xb0)

# extension_start_code_identifier, 13818-2 table 6-2
SEQUENCE_EXT, QUANT_MATRIX, COPYRIGHT = 1, 3, 4
PICTURE_DISPLAY, PICTURE_CODING = 7, 8
PICTURE_SPATIAL, PICTURE_TEMPORAL = 9, 10

FRAME_PICTURE = 3
LETTERS = {1: "I", 2: "P", 3: "B", 4: "D"}

# frame_rate_code, table 6-4
RATES = {1: Fraction(24000, 1001), 2: Fraction(24), 3: Fraction(25),
         4: Fraction(30000, 1001), 5: Fraction(30), 6: Fraction(50),
         7: Fraction(60000, 1001), 8: Fraction(60)}


class Bits:
    """Reads unsigned integers from `data`, bit by bit. The first bit that is
    read is the most significant one."""

    def __init__(self, data):
        self.value = int.from_bytes(data, "big")
        self.left = 8 * len(data)

    def take(self, count):
        self.left -= count
        return (self.value >> self.left) & ((1 << count) - 1)


@dataclass
class Unit:
    """A unit of the stream: the bytes from the beginning of one start code to
    the beginning of the next start code. Zero bytes (stuffing) before the next
    start code belong to the unit.
    """
    code: int
    start: int
    end: int

    @property
    def is_slice(self):
        return self.code in SLICES


@dataclass
class CodingExtension:
    """A picture coding extension (13818-2 section 6.2.3.1)."""
    f_code: tuple
    intra_dc_precision: int
    picture_structure: int
    top_field_first: int
    frame_pred_frame_dct: int
    concealment_motion_vectors: int
    q_scale_type: int
    intra_vlc_format: int
    alternate_scan: int
    repeat_first_field: int
    chroma_420_type: int
    progressive_frame: int
    composite_display_flag: int
    # The 20 bits of composite display information. They exist only if
    # composite_display_flag is set.
    composite_display: int = 0

    @classmethod
    def parse(cls, body):
        bits = Bits(body[:8])
        bits.take(4)
        f_code = tuple(bits.take(4) for _ in range(4))
        widths = (2, 2) + 10 * (1,)
        ext = cls(f_code, *(bits.take(width) for width in widths))
        if ext.composite_display_flag:
            ext.composite_display = bits.take(20)
        return ext


@dataclass
class Picture:
    temporal_reference: int
    type: int
    # Four fields of the picture header: (full_pel_backward_vector,
    # backward_f_code, full_pel_forward_vector, forward_f_code). A field that
    # the header does not have is 0.
    vectors: tuple
    # Byte range (start, end) of the picture header without the extensions that
    # follow it.
    header: tuple
    # Byte position at which the picture starts. Sequence and GOP headers
    # directly before the picture header belong to the picture, so it starts
    # with the first of them.
    start: int = 0
    # The byte position at which the picture ends. All data that follow the
    # last slice up to the next picture belong to the picture.
    end: int = 0
    # Byte range (start, end) of the sequence header and its extensions; None if
    # the picture has no sequence header.
    sequence: tuple = None
    group: tuple = None
    coding: CodingExtension = None
    # Byte ranges (start, end) of some extensions of the picture. If there are
    # any, a sender of RFC 2250 (section 3.4.1) sets the bit E and sends a copy
    # of these extensions in the header.
    extensions: list = field(default_factory=list)
    slices: list = field(default_factory=list)      # ranges
    frame: "Frame" = None

    @property
    def letter(self):
        return LETTERS.get(self.type, "?")

    @property
    def parameters(self):
        """Returns some fields of the picture header. If these fields are the
        same in two pictures, a receiver can rebuild the lost header of the
        later picture from the header of the earlier picture. If the fields
        differ, it cannot.
        """
        return self.vectors, self.coding


@dataclass
class Group:
    """Group of pictures header, 13818-2 section 6.2.2.6."""
    hours: int
    minutes: int
    seconds: int
    pictures: int
    closed: int
    broken: int
    start: int

    @property
    def time_code(self):
        return "%02d:%02d:%02d:%02d" % (self.hours, self.minutes,
                                        self.seconds, self.pictures)


@dataclass
class Frame:
    """One coded frame, which consists of one frame picture or of two field
    pictures."""
    pictures: list
    # Index of the frame in decoding order, which is the order of the frames in
    # the stream. The first frame has the index 0.
    coding: int
    # Index of the frame in display order. The frame that is shown first has
    # the index 0.
    display: int = 0
    # The presentation time, in seconds after the first displayed frame.
    pts: Fraction = Fraction(0)

    @property
    def start(self):
        return self.pictures[0].start

    @property
    def end(self):
        return self.pictures[-1].end

    @property
    def coded_end(self):
        """Byte position of the end of the last slice of the frame. If a
        sequence end code follows this slice, the position is still the end of
        the slice.
        """
        slices = self.pictures[-1].slices
        return slices[-1][1] if slices else self.end

    @property
    def letter(self):
        return self.pictures[0].letter

    @property
    def is_reference(self):
        return self.letter in "IP"


class Stream:
    """Parser of MPEG video. `data` is a complete elementary stream that begins
    with a sequence header.
    """

    def __init__(self, data):
        self.data = bytes(data)
        self.mpeg2 = False
        self.rate = None
        self.progressive_sequence = 1
        self.units = self._find_units()
        self.pictures = []
        self.groups = []
        # Byte ranges (start, end) of all sequence headers, including their
        # extensions.
        self.sequences = []
        self._read_units()
        self.frames = self._pair_fields()
        self._number_for_display()

    def bytes_of(self, span):
        return self.data[span[0]:span[1]]

    def _find_units(self):
        starts = [m.start() for m in re.finditer(b"\0\0\1", self.data)
                  if m.start() + 3 < len(self.data)]
        ends = starts[1:] + [len(self.data)]
        return [Unit(self.data[a + 3], a, b) for a, b in zip(starts, ends)]

    def _read_units(self):
        # Maps the name of each header that was read since the last picture
        # header to the byte range of this header. The key "start" has the byte
        # position of the first of these headers. The headers belong to the
        # next picture, because headers precede their picture.
        self._pending = {}
        picture = None
        # Kind of the last header that was read. The extensions and user data
        # that follow belong to this header.
        owner = None
        for unit in self.units:
            body = self.data[unit.start + 4:unit.end]
            if unit.code == SEQUENCE:
                self._read_sequence(unit, body)
                owner = "sequence"
            elif unit.code == GROUP:
                self._read_group(unit, body)
                owner = "group"
            elif unit.code == PICTURE:
                picture = self._read_picture(unit, body)
                owner = "picture"
            elif unit.code in (EXTENSION, USER_DATA):
                self._read_attachment(unit, body, owner, picture)
            elif unit.is_slice and picture:
                picture.slices.append((unit.start, unit.end))
                picture.end = unit.end
                self._pending = {}
            elif unit.code == SEQUENCE_END and picture:
                picture.end = unit.end

    def _wait(self, key, unit):
        self._pending.setdefault("start", unit.start)
        self._pending[key] = (unit.start, unit.end)

    def _read_sequence(self, unit, body):
        bits = Bits(body[:8])
        self.width, self.height = bits.take(12), bits.take(12)
        bits.take(4)
        self.rate = RATES.get(bits.take(4), Fraction(25))
        self._wait("sequence", unit)
        self.sequences.append((unit.start, unit.end))

    def _read_group(self, unit, body):
        bits = Bits(body[:4])
        bits.take(1)
        hours, minutes = bits.take(5), bits.take(6)
        bits.take(1)
        self.groups.append(Group(hours, minutes, bits.take(6), bits.take(6),
                                 bits.take(1), bits.take(1), unit.start))
        self._wait("group", unit)

    def _read_picture(self, unit, body):
        bits = Bits(body[:8])
        reference, kind = bits.take(10), bits.take(3)
        bits.take(16)
        vectors = [0, 0, 0, 0]
        if kind in (2, 3):
            vectors[2:] = bits.take(1), bits.take(3)
        if kind == 3:
            vectors[:2] = bits.take(1), bits.take(3)
        picture = Picture(reference, kind, tuple(vectors),
                          header=(unit.start, unit.end),
                          start=self._pending.get("start", unit.start),
                          end=unit.end,
                          sequence=self._pending.get("sequence"),
                          group=self._pending.get("group"))
        self.pictures.append(picture)
        self._pending = {}
        return picture

    def _read_attachment(self, unit, body, owner, picture):
        if owner == "sequence":
            self.sequences[-1] = (self.sequences[-1][0], unit.end)
            if self._pending.get("sequence"):
                self._pending["sequence"] = self.sequences[-1]
            if unit.code == EXTENSION and body[0] >> 4 == SEQUENCE_EXT:
                self.mpeg2 = True
                self._read_sequence_extension(body)
        elif owner == "picture":
            picture.end = unit.end
            if unit.code != EXTENSION:
                return
            kind = body[0] >> 4
            if kind == PICTURE_CODING:
                picture.coding = CodingExtension.parse(body)
            elif kind in (QUANT_MATRIX, COPYRIGHT, PICTURE_DISPLAY,
                          PICTURE_SPATIAL, PICTURE_TEMPORAL):
                picture.extensions.append((unit.start, unit.end))

    def _read_sequence_extension(self, body):
        bits = Bits(body[:6])
        bits.take(4 + 8)
        self.progressive_sequence = bits.take(1)
        bits.take(2 + 2 + 2 + 12 + 1 + 8 + 1)
        self.rate *= Fraction(bits.take(2) + 1, bits.take(5) + 1)

    def _pair_fields(self):
        frames = []
        for picture in self.pictures:
            first = frames[-1].pictures if frames else []
            if len(first) == 1 and _completes(first[0], picture):
                first.append(picture)
            else:
                frames.append(Frame([picture], coding=len(frames)))
            picture.frame = frames[-1]
        return frames

    def _number_for_display(self):
        """Numbers the frames in display order. B-frames are shown at once. A
        reference frame is shown only when the next reference frame arrives
        (ISO/IEC 13818-2, 6.1.1.11).
        """
        order, held = [], None
        for frame in self.frames:
            if frame.is_reference:
                order += [held] if held else []
                held = frame
            else:
                order.append(frame)
        order += [held] if held else []
        pts = Fraction(0)
        for place, frame in enumerate(order):
            frame.display, frame.pts = place, pts
            pts += self._duration(frame)

    def _duration(self, frame):
        """Returns the duration of a frame. The flag repeat_first_field makes
        it longer (ISO/IEC 13818-2, section 6.3.10).
        """
        coding = frame.pictures[0].coding
        if not coding or not coding.repeat_first_field:
            return 1 / self.rate
        if not self.progressive_sequence:
            return Fraction(3, 2) / self.rate
        return (3 if coding.top_field_first else 2) / self.rate


def _completes(first, second):
    """Returns whether the pictures `first` and `second` are the two fields of
    one frame.
    """
    if not first.coding or not second.coding or second.group:
        return False
    return (first.temporal_reference == second.temporal_reference
            and {first.coding.picture_structure,
                 second.coding.picture_structure} == {1, 2})
