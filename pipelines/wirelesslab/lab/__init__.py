# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads a matrix of experiments and runs its cells."""
