# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends traffic other than video over a link, and measures what arrives."""
