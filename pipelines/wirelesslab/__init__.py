# SPDX-License-Identifier: LGPL-2.1-or-later
"""The scripts in pipelines/ start the commands of this package. The package is
divided into topics, which pipelines/README.md lists. The modules of a topic
import only modules of topics that stand above their own topic in that list.
"""
