# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes hosts on this machine with emulated links between them."""
