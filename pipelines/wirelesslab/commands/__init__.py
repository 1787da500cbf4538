# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands of pipelines/ that a user starts, one module for each."""
