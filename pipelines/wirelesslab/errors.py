# SPDX-License-Identifier: LGPL-2.1-or-later
"""Defines the exception that this package raises for errors whose message is
meant for the user.
"""


class LabError(Exception):
    """An error whose text is a message for the person at the terminal."""
