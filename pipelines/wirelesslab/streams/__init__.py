# SPDX-License-Identifier: LGPL-2.1-or-later
"""Video that is streamed, and what the logs of it say."""
