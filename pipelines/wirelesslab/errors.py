# SPDX-License-Identifier: LGPL-2.1-or-later
"""The exception of everything here."""


class LabError(Exception):
    """What went wrong, in words for the person at the terminal."""
