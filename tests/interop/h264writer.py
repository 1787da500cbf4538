# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes H.264 streams with features that no available encoder supports, such
as field pictures. The code writes the streams bit by bit, as the standard
defines them (ITU-T H.264, 7.3).

A picture has 32x32 samples. The left macroblocks of a picture have a random
pattern (type I_PCM). The right macroblocks of a picture are copies of the left
macroblocks of its reference pictures. A decoded picture is therefore only
correct if the decoder has used the correct references. The streams use CAVLC,
no residual and no deblocking.
"""

import random

FPS = 25
FRAME, TOP, BOTTOM = range(3)
LOG2_FRAME_NUM = 8
LOG2_ORDER = 8
SLICE_TYPES = {"P": 5, "B": 6, "I": 7}
# An SEI message of the type recovery point, with recovery_frame_cnt 0 and
# exact_match_flag 1. A decoder can begin with the picture that follows this
# message.
RECOVERY_POINT = b"\x06\x06\x01\xc4\x80"


class Bits:
    def __init__(self):
        self.text = ""

    def u(self, width, value):
        self.text += format(value, "0%db" % width) if width else ""
        return self

    def ue(self, *values):
        for value in values:
            code = format(value + 1, "b")
            self.text += "0" * (len(code) - 1) + code
        return self

    def se(self, *values):
        return self.ue(*(2 * v - 1 if v > 0 else -2 * v for v in values))

    def pcm(self, seed):
        """Appends zero bits up to the next byte (pcm_alignment_zero_bits), and
        the samples of a macroblock of type I_PCM, which are random.
        """
        self.text += "0" * (-len(self.text) % 8)
        samples = random.Random(str(seed)).randbytes(384)
        self.text += "".join(format(sample, "08b") for sample in samples)
        return self

    def unit(self, head):
        """Returns a NAL unit with the header byte `head` and the bits of this
        object. Adds the trailing bits, and inserts bytes that prevent a start
        code inside the unit."""
        text = self.text + "1"
        text += "0" * (-len(text) % 8)
        out, zeros = bytearray([head]), 0
        for byte in int(text, 2).to_bytes(len(text) // 8, "big"):
            if zeros >= 2 and byte < 4:
                out.append(3)
                zeros = 0
            zeros = zeros + 1 if byte == 0 else 0
            out.append(byte)
        return b"\0\0\0\1" + bytes(out)


def sps(fields):
    """Returns a sequence parameter set of H.264 (7.3.2.1.1): Main profile,
    level 3, pic_order_cnt_type 0, four reference frames.
    """
    bits = Bits().u(8, 77).u(16, 30).ue(0, LOG2_FRAME_NUM - 4, 0,
                                        LOG2_ORDER - 4, 4)
    # The SPS (sequence parameter set) does not allow gaps in frame_num. The
    # picture is two macroblocks wide and two macroblocks high.
    bits.u(1, 0).ue(1, 0 if fields else 1).u(1, not fields)
    if fields:
        bits.u(1, 0)
    # The flag direct_8x8_inference_flag is set, and frame_cropping_flag is not
    # set. After these flags comes the VUI (H.264, E.1.1). It specifies a frame
    # rate of 25 frames per second, and the maximum number of reordered frames.
    bits.u(3, 0b101).u(4, 0).u(1, 1).u(32, 1).u(32, 2 * FPS).u(1, 1)
    return bits.u(3, 0).u(2, 0b11).ue(0, 0, 10, 10, 2, 4).unit(0x67)


def pps():
    """Returns a picture parameter set of H.264 (7.3.2.2). The entropy coding
    is CAVLC, the default number of references is one, and slice headers have
    fields for deblocking control.
    """
    return Bits().ue(0, 0).u(2, 0).ue(0, 0, 0).u(3, 0).se(0, 0, 0).u(
        3, 0b100).unit(0x68)


class Picture:
    """A coded picture, which is a frame or a field. The constructor has these
    parameters, among others:

    - `n_refs`: the size of each reference list
    - `refs`: the ref_idx of the reference picture from which macroblocks are
      copied
    - `marks`: the memory management operations of H.264, 7.3.3.3. The 0 that
      ends them is not included
    - `long_term`: if true, this picture, which must be an IDR picture, is kept
      as a long-term reference
    """

    def __init__(self, letter, frame_num, order, structure=FRAME, idr=False,
                 recovery=False, reference=True, refs=0, n_refs=1, marks=(),
                 long_term=False):
        self.__dict__.update(locals())

    def _header(self, fields):
        bits = Bits().ue(0, SLICE_TYPES[self.letter], 0)
        bits.u(LOG2_FRAME_NUM, self.frame_num % 2 ** LOG2_FRAME_NUM)
        if fields:
            bits.u(1, self.structure != FRAME)
        if self.structure != FRAME:
            bits.u(1, self.structure == BOTTOM)
        if self.idr:
            bits.ue(0)
        bits.u(LOG2_ORDER, self.order % 2 ** LOG2_ORDER)
        if self.letter == "B":
            bits.u(1, 1)                # direct_spatial_mv_pred_flag
        if self.letter != "I":
            lists = 2 if self.letter == "B" else 1
            bits.u(1, 1).ue(*[self.n_refs - 1] * lists).u(lists, 0)
        if self.reference:
            self._marks(bits)
        return bits.se(0).ue(1)         # slice_qp_delta, no deblocking

    def _marks(self, bits):
        if self.idr:
            bits.u(1, 0).u(1, self.long_term)
        elif self.marks:
            bits.u(1, 1)
            for mark in self.marks:
                bits.ue(*mark)
            bits.ue(0)
        else:
            bits.u(1, 0)

    def _copy(self, bits, first):
        """Appends a 16x16 macroblock that is copied from reference pictures. A
        P-macroblock is copied from a picture in its one reference list. A
        B-macroblock is predicted from both reference lists.

        In the reference picture, the copied samples are 16 samples to the left
        of this macroblock. Motion vectors are in quarters of a sample, so the
        horizontal part of the vector is -64.
        """
        lists = 2 if self.letter == "B" else 1
        bits.ue(0, 3 if self.letter == "B" else 0)
        for _ in range(lists if self.n_refs > 1 else 0):
            if self.n_refs == 2:
                bits.u(1, 1 - self.refs)
            else:
                bits.ue(self.refs)
        for _ in range(lists):
            # Only the difference between a motion vector and its prediction is
            # coded. The macroblock in the second row is predicted from the
            # macroblock above it, which has the same vector. Its coded
            # difference is therefore 0.
            bits.se(-64 if first else 0, 0)
        bits.ue(0)                      # coded_block_pattern

    def pack(self, fields, seed):
        bits = self._header(fields)
        skip = 0 if self.letter == "I" else 1
        pcm = {"I": 25, "P": 30, "B": 48}[self.letter]
        for row in range(2 if self.structure == FRAME else 1):
            for column in range(2):
                if column and self.letter != "I":
                    self._copy(bits, row == 0)
                else:
                    bits.ue(*[0] * skip, pcm).pcm((seed, row, column))
        head = (self.reference << 6) | (5 if self.idr else 1)
        sets = sps(fields) + pps() if self.letter == "I" else b""
        message = b"\0\0\0\1" + RECOVERY_POINT if self.recovery else b""
        return sets + message + bits.unit(head)


class Stream:
    """A stream of frames. A frame consists of one coded picture or of two
    fields. `units` is a list with one pair for each coded picture or field:
    its bytes, and the index of its frame.
    """

    def __init__(self, frames, fields):
        self.units = [(picture.pack(fields, (number, picture.structure)),
                       number)
                      for number, pictures in enumerate(frames)
                      for picture in pictures]
        self.order = [base + pictures[0].order for base, pictures in
                      zip(self._bases(frames), frames)]

    @staticmethod
    def _bases(frames):
        """Yields a number for each frame, its base. The base plus the picture
        order count of the frame is the position of the frame in display order.

        The picture order count begins again at each IDR picture. An IDR
        picture therefore gets a base that is higher than the positions of all
        earlier frames. All frames up to the next IDR picture have the same
        base.
        """
        base = highest = 0
        for pictures in frames:
            if pictures[0].idr:
                base, highest = highest + 2, highest + 2
            highest = max(highest, base + pictures[0].order)
            yield base

    def shown(self, numbers):
        return sorted(numbers, key=lambda n: self.order[n])


def fields_of(letters, frame_num, order, **options):
    """Returns a frame that consists of two fields. `options` are arguments of
    Picture for both fields. If the second field is a P-field, it refers to one
    of these pictures:
    - the first field of the same frame, if `options` has n_refs=2 and refs=1,
      or if the frame is an IDR frame, which has no previous frame
    - otherwise the previous frame"""
    first = Picture(letters[0], frame_num, order, TOP, **options)
    options.update(idr=False, recovery=False)
    return [first, Picture(letters[1], frame_num, order + 1, BOTTOM, **options)]


def paff(gops, is_open, always_fields):
    """Returns a stream of field pictures. In display order, each GOP has the
    frames I B B P B B P B B P. In an open GOP, two more B-frames follow the
    I-frame in the stream, but are shown before it. If `always_fields` is
    false, every second P-frame is coded as a frame picture."""
    frames, frame_num, base = [], 0, 0
    for gop in range(gops):
        idr = gop == 0 or not is_open
        if idr:
            frame_num, base = 0, 0
        lead = 0 if idr else 2
        frames.append(fields_of("IP", frame_num, 2 * (base + lead), idr=idr,
                                recovery=not idr))
        frame_num += 1
        for b in range(lead):
            frames.append(fields_of("BB", frame_num, 2 * (base + b),
                                    reference=False))
        for p in range(3):
            at = base + lead + 3 * p + 3
            if p % 2 and not always_fields:
                frames.append([Picture("P", frame_num, 2 * at)])
            else:
                # This P-frame has two fields. The first field refers to the
                # previous frame. The second field refers to the previous frame
                # if `p` is even. If `p` is odd, the second field refers to the
                # first field.
                frames.append(fields_of("PP", frame_num, 2 * at, n_refs=2,
                                        refs=p % 2))
            frame_num += 1
            for b in range(2):
                frames.append(fields_of("BB", frame_num, 2 * (at - 2 + b),
                                        reference=False))
        base += lead + 10
    return Stream(frames, True)


def long_term(gops):
    """Returns a stream of `gops` GOPs of the form IDR P P ... . In each GOP,
    the IDR picture is the first long-term reference, and the fifth P-frame
    becomes the second long-term reference. Every third P-frame refers to the
    last picture of its reference list, which is a long-term reference. Every
    fourth P-frame is a frame to which no other frame refers."""
    frames = []
    for _ in range(gops):
        frames.append([Picture("I", 0, 0, idr=True, long_term=True)])
        frame_num, n_short, n_long = 1, 0, 1
        for n in range(1, 14):
            marks, total = (), n_short + n_long
            reference = n % 4 != 3
            if n == 5:
                # The memory management operations of this picture do three
                # things: they remove the oldest short-term reference, allow
                # two long-term references, and make this picture the second
                # long-term reference.
                marks = (1, n_short - 1), (4, 2), (6, 1)
            frames.append([Picture(
                "P", frame_num, 2 * n, refs=total - 1 if n % 3 == 0 else 0,
                n_refs=total, marks=marks, reference=reference)])
            frame_num += reference
            if n == 5:
                n_short, n_long = n_short - 1, 2
            elif reference:
                n_short = min(n_short + 1, 4 - n_long)
    return Stream(frames, False)
