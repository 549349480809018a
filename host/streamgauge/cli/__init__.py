"""The command line. A command is a module of this package that defines `command`, a click command.

The module's name is the command's, with `-` for `_`; modules whose name begins with `_` are helpers. A new
command is a new file, and nothing else has to know of it.

Exit codes: 0 well done; 1 the command's own "no" (`parity`: numbers differ); 2 input, options or an engine
that cannot be used, told in one sentence on stderr; 70 an error of streamgauge itself; 130 interrupted.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import io
import os
import pkgutil
import sys
from collections.abc import Sequence

import click

from streamgauge import __version__
from streamgauge.engines import EngineError
from streamgauge.errors import InputError
from streamgauge.firmware import FirmwareError

OWN_ERROR = 70
INTERRUPTED = 130
BROKEN_PIPE = 141

# The order of `--help`; commands that are not listed follow by name.
_FIRST = ("assess", "parity", "example")


class Commands(click.Group):
    """The modules of this package as commands, imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands."""
        found = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
        names = [name.rstrip("_").replace("_", "-") for name in found]
        return sorted(names, key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; None where there is none."""
        if cmd_name not in self.list_commands(ctx):
            return None
        name = cmd_name.replace("-", "_")
        try:
            module = importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
            module = importlib.import_module(f"{__name__}.{name}_")  # a name that Python keeps for itself
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's, with the command that was probably meant."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], known, 1)
            meant = f"Did you mean {near[0]}?" if near else f"Commands are {', '.join(known)}."
            raise click.UsageError(f"no command is named {args[0]!r}. {meant}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`streamgauge COMMAND --help` tells more of a command.",
)
@click.version_option(__version__, prog_name="streamgauge")
def cli() -> None:
    """Assess activity recognition: on a node in fixed memory, and exactly on this host."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; whatever goes wrong is one sentence on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without a sign still gets the rest
    try:
        result = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads any more; what is still buffered must not be flushed at exit.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return result


def _run(arguments: Sequence[str] | None) -> int:
    try:
        result = cli.main(args=arguments, prog_name="streamgauge", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return 2
    except click.UsageError as error:
        at = f" Try `{error.ctx.command_path} --help`." if error.ctx else ""
        text = error.format_message()
        return _complain(text + ("" if text.endswith((".", "?")) else ".") + at)
    except click.ClickException as error:
        return _complain(error.format_message())
    except click.Abort:
        return _complain("interrupted.", INTERRUPTED)
    except (InputError, EngineError, FirmwareError) as error:
        return _complain(str(error))
    except BrokenPipeError:
        raise
    except SystemExit as stop:
        if stop.code == 1:  # click's and rich's answer to a pipe that nobody reads
            raise BrokenPipeError from None
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _complain(f"{where}{(error.strerror or str(error)).rstrip('.')}.")
    except Exception as error:
        if os.environ.get("STREAMGAUGE_DEBUG"):
            raise
        return _complain(
            f"an error of streamgauge itself, {type(error).__name__}: {error}. Please report it, with what "
            "STREAMGAUGE_DEBUG=1 shows.",
            OWN_ERROR,
        )


def _complain(text: str, code: int = 2) -> int:
    print(f"streamgauge: error: {text}", file=sys.stderr)
    return code
