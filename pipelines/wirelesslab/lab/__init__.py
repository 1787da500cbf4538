# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads a matrix of experiments and runs its cells. A cell is one combination
of a link, a bitrate, a protocol, a seed and a repetition.
"""
