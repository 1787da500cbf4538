# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hosts on this machine with emulated links between them."""
