# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams a clip over a transport and measures what arrives."""
