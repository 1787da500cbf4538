# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends other data than video over a link and measures what arrives."""
