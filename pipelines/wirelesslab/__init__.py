# SPDX-License-Identifier: LGPL-2.1-or-later
"""The package that the scripts of pipelines/ start, divided by topic. README.md
lists the topics. A topic imports only topics that stand above it in that list.
"""
