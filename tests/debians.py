# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a minimal Debian in a directory and runs commands in it.

The caller chooses the Debian mirror. machine_mirror() returns the mirror that
apt uses on this machine. In the new Debian, apt uses the proxies of this
machine.
"""

import os
import pathlib
import shutil
import subprocess

from wirelesslab import processes

SOURCE = pathlib.Path(__file__).resolve().parent.parent

ENTER = SOURCE / "tests" / "enter-debian"
PACKAGES = "git,ca-certificates"
# These options of apt are copied from this machine to the new Debian system,
# because both systems use the same mirror.
APT_OPTIONS = ("Acquire::http::Proxy", "Acquire::https::Proxy",
               "Acquire::Check-Date", "Acquire::Check-Valid-Until")
# This prefix runs debootstrap in namespaces of its own. When debootstrap ends,
# its mounts and its processes disappear.
ALONE = ["unshare", "--mount", "--pid", "--fork", "--kill-child",
         "--mount-proc"]


def why_not():
    """Returns the reason why no Debian system can be installed on this machine.
    Returns "" if the installation is possible.
    """
    if os.geteuid() != 0:
        return "only root can make a Debian"
    for program in ("apt-get", "debootstrap", "git", "unshare"):
        if shutil.which(program) is None:
            return f"{program} is missing (pipelines/setup fresh installs it)"
    if not (SOURCE / ".git").exists():
        return f"{SOURCE} is no git repository"
    return ""


def machine_mirror():
    """Returns the Debian mirror that apt's configuration names, or None if it
    names none.
    """
    done = subprocess.run(
        ["apt-get", "indextargets", "--format",
         "$(ORIGIN) $(LABEL) $(REPO_URI)"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    for line in done.stdout.splitlines():
        if line.startswith("Debian Debian "):
            return line.split(maxsplit=2)[2].rstrip("/")
    return None


def machine_options():
    """Returns those apt options of this machine that the new Debian needs, as
    lines for a file in apt.conf.d.
    """
    dump = subprocess.run(["apt-config", "dump"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, check=True)
    return "".join(f"{line}\n" for line in dump.stdout.splitlines()
                   if line.startswith(APT_OPTIONS))


def make(suite, root, mirror):
    """Installs the Debian release `suite` from `mirror` in the directory
    `root`. Creates the directory if it does not exist.
    """
    processes.run(
        [*ALONE, "debootstrap", "--variant=minbase", f"--include={PACKAGES}",
         suite, root, mirror], f"debootstrap of {suite} from {mirror}")
    (root / "etc/apt/apt.conf.d/50machine").write_text(machine_options())
    # This installation of Debian need not survive a power failure, so dpkg need
    # not wait for the disk.
    (root / "etc/dpkg/dpkg.cfg.d/fast").write_text("force-unsafe-io\n")


def is_made(root):
    return (root / "etc/dpkg/dpkg.cfg.d/fast").exists()


def entering(root, *command, tun="666", way="pivot", shown=SOURCE):
    """Returns a command line that runs `command` in the Debian system in the
    directory `root`. tests/enter-debian describes the other parameters.
    """
    return [ENTER, root, tun, way, shown, *command]
