# SPDX-License-Identifier: LGPL-2.1-or-later
"""A matrix of experiments, and how its cells are run."""
