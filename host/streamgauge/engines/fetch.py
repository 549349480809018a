"""Fetch MicroPython builds and qemu-arm from a Debian archive into a private folder.

Debian 13 and later package MicroPython for 32-bit ARM and for x86-64. apt downloads those packages
with a configuration of its own (own source list, own lists, own cache, an empty package status) and
they are unpacked: nothing is installed, nothing of the system's configuration is changed, and no root
is needed. Of that configuration only the archive's address and key are taken. qemu-user comes from the
machine's own suite, so that it runs with the machine's own C library, and only where no `qemu-arm` is
on PATH.

Uses only the standard library, so that `make engines` can run before anything is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..places import engines_root

MIRROR_VARIABLE = "STREAMGAUGE_DEBIAN_MIRROR"
# The first Debian release with a MicroPython whose .mpy format is 6.3, then whatever release is current.
SUITES = ("trixie", "stable")
DEBIAN_SUITES = {"bookworm", "trixie", "forky", "duke", "sid", "oldstable", "stable", "testing", "unstable"}
STAMP = "engine.json"
_KEPT_OPTIONS = ("signed-by", "trusted", "check-valid-until", "check-date")


class FetchError(Exception):
    """An engine cannot be had here; the message says why and what to do."""


@dataclass
class Source:
    """One archive entry of apt's source lists."""

    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    options: dict[str, str] = field(default_factory=dict)

    def is_debian_archive(self) -> bool:
        """Whether this is Debian's main archive rather than its security archive or another vendor's."""
        of_debian = any(suite in DEBIAN_SUITES for suite in self.suites)
        return of_debian and "main" in self.components and "security" not in self.uri


def parse_list(text: str) -> Iterator[Source]:
    """Entries of a one-line-style `.list` file: `deb [option=value ...] uri suite component ...`."""
    for line in text.splitlines():
        words = line.split("#", 1)[0].split()
        if not words or words[0] != "deb":
            continue
        rest = words[1:]
        options: dict[str, str] = {}
        if rest and rest[0].startswith("["):
            end = next((i for i, word in enumerate(rest) if word.endswith("]")), None)
            if end is None:
                continue
            for pair in " ".join(rest[: end + 1]).strip("[] ").split():
                key, _, value = pair.partition("=")
                options[key.lower()] = value
            rest = rest[end + 1 :]
        if len(rest) >= 3:
            yield Source(rest[0], (rest[1],), tuple(rest[2:]), _kept(options))


def parse_deb822(text: str) -> Iterator[Source]:
    """Entries of a deb822-style `.sources` file, one per URI of each enabled `deb` stanza."""
    stanza: dict[str, str] = {}
    key = ""
    for line in [*text.splitlines(), ""]:
        if line.startswith("#"):
            continue
        if not line.strip():
            yield from _of_stanza(stanza)
            stanza, key = {}, ""
        elif line[0] in " \t":
            if key:
                stanza[key] += "\n" + line
        else:
            name, _, value = line.partition(":")
            key = name.strip().lower()
            stanza[key] = value.strip()


def _of_stanza(stanza: dict[str, str]) -> Iterator[Source]:
    if "deb" not in stanza.get("types", "").split() or stanza.get("enabled", "yes").lower() in (
        "no",
        "false",
    ):
        return
    suites, components = tuple(stanza.get("suites", "").split()), tuple(stanza.get("components", "").split())
    for uri in stanza.get("uris", "").split():
        yield Source(uri, suites, components, _kept(stanza))


def _kept(options: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in options.items() if key in _KEPT_OPTIONS and value}


def apt_sources(etc: Path = Path("/etc/apt")) -> list[Source]:
    """Every enabled binary archive that apt is configured with."""
    found: list[Source] = []
    parts = etc / "sources.list.d"
    for path in [etc / "sources.list", *sorted(parts.glob("*.list") if parts.is_dir() else [])]:
        if path.is_file():
            found += parse_list(path.read_text(errors="replace"))
    for path in sorted(parts.glob("*.sources") if parts.is_dir() else []):
        found += parse_deb822(path.read_text(errors="replace"))
    return found


def debian_archive(sources: list[Source]) -> Source:
    """The Debian archive to fetch from: $STREAMGAUGE_DEBIAN_MIRROR, else the first one apt knows."""
    named = os.environ.get(MIRROR_VARIABLE)
    if named:
        keyring = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
        return Source(named, (), ("main",), {"signed-by": str(keyring)} if keyring.is_file() else {})
    for source in sources:
        if source.is_debian_archive():
            return source
    raise FetchError(
        "apt on this machine knows no Debian archive, and the engines are Debian packages. Install the "
        f"package debian-archive-keyring, set {MIRROR_VARIABLE} to the address of a Debian archive and run "
        "`make engines`."
    )


class Apt:
    """apt-get with a configuration of its own inside one folder."""

    def __init__(
        self, home: Path, sources: str | None, architectures: list[str], status: Path | None
    ) -> None:
        for name in ("lists/partial", "archives/partial", "sources", "none"):
            (home / name).mkdir(parents=True, exist_ok=True)
        if status is None:
            status = home / "status"
            status.touch()
        config = [
            'APT::Sandbox::User "";',
            # Nothing is installed, and the package manager's own lock needs root.
            'Debug::NoLocking "true";',
            f'Dir::State "{home}";',
            f'Dir::State::Lists "{home}/lists";',
            f'Dir::State::status "{status}";',
            f'Dir::Cache "{home}";',
            f'Dir::Cache::archives "{home}/archives";',
            f'Dir::Etc::preferences "{home}/none/preferences";',
            f'Dir::Etc::preferencesparts "{home}/none";',
            'Acquire::Languages "none";',
            'Acquire::Retries "3";',
            'APT::Install-Recommends "false";',
            "#clear APT::Update::Pre-Invoke;",
            "#clear APT::Update::Post-Invoke;",
            "#clear APT::Update::Post-Invoke-Success;",
            "#clear DPkg::Post-Invoke;",
            "#clear DPkg::Pre-Install-Pkgs;",
        ]
        if architectures:
            config.append(f'APT::Architecture "{architectures[0]}";')
            config.append("#clear APT::Architectures;")
            config.append("APT::Architectures { " + " ".join(f'"{name}";' for name in architectures) + " };")
        if sources is not None:
            (home / "sources" / "debian.sources").write_text(sources)
            config.append('Dir::Etc::sourcelist "/dev/null";')
            config.append(f'Dir::Etc::sourceparts "{home}/sources";')
        self.home = home
        self._config = home / "apt.conf"
        self._config.write_text("\n".join(config) + "\n")

    def _run(self, *arguments: str) -> None:
        command = ["apt-get", "-q", "-y", "-c", str(self._config), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
        if done.returncode:
            words = [line for line in (done.stderr + done.stdout).splitlines() if line[:2] in ("E:", "W:")]
            raise FetchError(
                "apt-get " + arguments[0] + " failed: " + " ".join(words or ["no reason given"])[:600]
            )

    def update(self, strict: bool = True) -> None:
        """Download the package lists; when strict, an archive that cannot be read is an error."""
        self._run("update", *(("-o", "APT::Update::Error-Mode=any") if strict else ()))

    def download(self, package: str) -> list[Path]:
        """Download one package with what it depends on and the status lacks."""
        archives = self.home / "archives"
        for old in archives.glob("*.deb"):
            old.unlink()
        self._run("install", "--download-only", package)
        return sorted(archives.glob("*.deb"))


def unpack(packages: list[Path], root: Path) -> list[str]:
    """Unpack packages into one root; returns their file names."""
    for name in ("usr/lib", "usr/bin", "usr/sbin"):
        (root / name).mkdir(parents=True, exist_ok=True)
        top = root / name.split("/")[1]
        if not top.exists():
            # Packages that still ship /lib must land in /usr/lib, where the others look for it.
            top.symlink_to(name)
    if platform.machine() == "x86_64" and not (root / "lib64").exists():
        (root / "lib64").symlink_to("usr/lib64")
    for package in packages:
        # tar keeps a directory symlink only when told so; dpkg-deb -x does not say it.
        stream = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE)
        tar = ["tar", "-x", "-C", str(root), "--keep-directory-symlink", "--no-same-owner", "-f", "-"]
        done = subprocess.run(tar, stdin=stream.stdout, capture_output=True, text=True)
        if done.returncode or stream.wait():
            raise FetchError(f"{package.name} cannot be unpacked: {done.stderr.strip()[:300]}")
    return [package.name for package in packages]


def _loader(root: Path, pattern: str) -> str:
    found = sorted(root.glob(pattern))
    if not found:
        raise FetchError(f"no dynamic loader {pattern} under {root}")
    return str(found[0].relative_to(root))


def commands(name: str, root: Path) -> list[str]:
    """The command line that runs an unpacked engine, up to the program's own arguments."""
    if name == "x64":
        library = f"{root}/usr/lib/x86_64-linux-gnu"
        loader = root / _loader(root, "usr/lib64/ld-linux-x86-64.so.2")
        return [str(loader), "--library-path", library, f"{root}/usr/bin/micropython"]
    if name == "arm":
        return [*qemu_arm(root.parent), "-L", str(root), f"{root}/usr/bin/micropython"]
    raise ValueError(f"no engine is named {name}")


def qemu_arm(engines: Path) -> list[str]:
    """The command that starts qemu-arm: on PATH, else unpacked; raises FetchError where neither is."""
    for program in ("qemu-arm", "qemu-arm-static"):
        found = shutil.which(program)
        if found:
            return [found]
    unpacked = engines / "qemu"
    if (unpacked / STAMP).is_file():
        # `env` sets the library path for qemu alone: a variable of ours would reach the guest program too.
        libraries = sorted({str(path.parent) for path in unpacked.glob("usr/lib/**/*.so*")})
        program = str(unpacked / "usr/bin/qemu-arm")
        if libraries:
            return ["env", "LD_LIBRARY_PATH=" + ":".join(libraries), program, "-U", "LD_LIBRARY_PATH"]
        return [program]
    raise FetchError(
        "there is no qemu-arm on PATH or unpacked: install the package qemu-user, or run `make engines`."
    )


def _sources_text(source: Source, suite: str) -> str:
    lines = ["Types: deb", f"URIs: {source.uri}", f"Suites: {suite}", "Components: main"]
    lines += [f"{key.title()}: {value}" for key, value in source.options.items()]
    return "\n".join(lines) + "\n"


def _check(name: str, root: Path) -> str:
    """Run the engine once; returns its `sys.implementation`."""
    with tempfile.TemporaryDirectory() as folder:
        probe = Path(folder) / "probe.py"
        probe.write_text("import sys\nprint(sys.implementation)\n")
        done = subprocess.run([*commands(name, root), str(probe)], capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise FetchError(f"{name} was unpacked but does not run: {done.stderr.strip()[-300:]}")
    return done.stdout.strip()


def _say(text: str) -> None:
    print("engines: " + text, flush=True)


def _settle(staged: Path, final: Path, facts: dict[str, object]) -> None:
    (staged / STAMP).write_text(json.dumps(facts, indent=1) + "\n")
    if final.exists():
        shutil.rmtree(final)
    staged.rename(final)


def fetch_qemu(engines: Path) -> None:
    """Unpack qemu-user of the machine's own suite, unless a qemu-arm is there already."""
    try:
        qemu_arm(engines)
        return
    except FetchError:
        pass
    _say("qemu-arm is not on PATH; unpacking qemu-user from this machine's own suite")
    with tempfile.TemporaryDirectory(dir=engines) as folder:
        home = Path(folder)
        # With the machine's own status, apt downloads only the libraries the machine lacks.
        apt = Apt(home / "apt", None, [], Path("/var/lib/dpkg/status"))
        # All of the machine's archives are asked, and another vendor's may well be out of reach.
        apt.update(strict=False)
        packages = apt.download("qemu-user")
        names = unpack(packages, home / "root")
        _settle(home / "root", engines / "qemu", {"packages": names})


def fetch_micropython(engines: Path, name: str, archive: Source) -> None:
    """Unpack MicroPython of a Debian archive as the engine `name` (`arm` or `x64`)."""
    architecture = {"arm": "armhf", "x64": "amd64"}[name]
    native = subprocess.run(
        ["dpkg", "--print-architecture"], capture_output=True, text=True, check=True
    ).stdout.strip()
    architectures = [native] if native == architecture else [native, architecture]
    troubles: list[str] = []
    for suite in SUITES:
        with tempfile.TemporaryDirectory(dir=engines) as folder:
            home = Path(folder)
            try:
                apt = Apt(home / "apt", _sources_text(archive, suite), architectures, None)
                apt.update()
                packages = apt.download(f"micropython:{architecture}")
                names = unpack(packages, home / "root")
                # The check runs beside the final place, so that relative paths to qemu hold.
                staged = engines / f".{name}.new"
                if staged.exists():
                    shutil.rmtree(staged)
                (home / "root").rename(staged)
                implementation = _check(name, staged)
            except FetchError as trouble:
                troubles.append(f"{suite}: {trouble}")
                continue
            _settle(
                staged, engines / name, {"suite": suite, "packages": names, "implementation": implementation}
            )
            _say(f"{name} is ready: {implementation}")
            return
    raise FetchError(
        f"Debian's micropython:{architecture} cannot be had from {archive.uri}. " + " ".join(troubles)
    )


def fetch(engines: Path, wanted: list[str]) -> list[str]:
    """Fetch what is missing of `wanted`; returns one sentence for each engine that cannot be had."""
    engines.mkdir(parents=True, exist_ok=True)
    missing = [name for name in wanted if not (engines / name / STAMP).is_file()]
    troubles: list[str] = []
    lacking = [tool for tool in ("apt-get", "dpkg", "dpkg-deb", "tar") if not shutil.which(tool)]
    for name in missing:
        try:
            if lacking:
                raise FetchError(
                    f"this machine has no {' and no '.join(lacking)}, and the engines are Debian packages. "
                    "Use a Debian machine or container, or --node with a board or a `micropython` on PATH."
                )
            if name == "x64" and platform.machine() not in ("x86_64", "AMD64"):
                raise FetchError(
                    "an x86-64 program does not run on this processor; put a `micropython` on PATH."
                )
            archive = debian_archive(apt_sources())
            if name == "arm":
                fetch_qemu(engines)
            fetch_micropython(engines, name, archive)
        except (FetchError, OSError, subprocess.SubprocessError) as trouble:
            troubles.append(f"{name} cannot be had: {trouble}")
    if "arm" in wanted and "arm" not in missing:
        try:
            if not lacking:
                fetch_qemu(engines)
        except (FetchError, OSError) as trouble:
            troubles.append(f"qemu-arm cannot be had: {trouble}")
    return troubles


def main(arguments: list[str] | None = None) -> int:
    """Command line of `make engines`."""
    parser = argparse.ArgumentParser(
        prog="fetch_engines", description="Fetch the node engines into a private folder."
    )
    parser.add_argument("engine", nargs="*", default=["arm", "x64"], help="arm, x64 (default: both)")
    parser.add_argument(
        "--root", type=Path, default=engines_root(), help="folder to unpack into (default: %(default)s)"
    )
    parser.add_argument("--optional", action="store_true", help="exit 0 even when an engine cannot be had")
    options = parser.parse_args(arguments)
    for name in options.engine:
        if name not in ("arm", "x64"):
            parser.error(f"no engine is named {name}; choose from arm, x64")
    troubles = fetch(options.root.absolute(), options.engine)
    for trouble in troubles:
        print("engines: " + trouble, file=sys.stderr)
    return 0 if options.optional or not troubles else 1


if __name__ == "__main__":
    sys.exit(main())
