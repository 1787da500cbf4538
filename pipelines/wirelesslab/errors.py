# SPDX-License-Identifier: LGPL-2.1-or-later
"""The exception that this package raises for errors that a user can understand.
"""


class LabError(Exception):
    """An error whose text is a message for the person at the terminal."""
