# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends data other than video over a link and measures what arrives."""
