# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the scripts of pipelines/ do, by topic. README.md lists the topics; each
imports only those before it.
"""
