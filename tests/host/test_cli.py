"""The command line: what it prints, and that whatever goes wrong is one sentence and an exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streamgauge import cli
from streamgauge.cli import main
from streamgauge.cli._options import byte_count, label_weights
from streamgauge.engines import Engine, EngineMissing
from streamgauge.errors import InputError

GOOD = "start,end,label\n0,5,a\n5,9,b\n"


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "good.csv"
    path.write_text(GOOD)
    return str(path)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 2) -> str:
    """The sentence on stderr of a command that ends with `code` and prints nothing else."""
    assert main(list(arguments)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("streamgauge: error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err.removeprefix("streamgauge: error: ").rstrip("\n")


def run(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "import sys; from streamgauge.cli import main; sys.exit(main())", *arguments],
        env={**os.environ, **changes},
        capture_output=True,
        text=True,
        timeout=120,
    )


# What it does


def test_without_a_command_it_says_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    err = capsys.readouterr().err
    assert "Usage: streamgauge" in err
    assert err.index("assess") < err.index("parity") < err.index("example")
    assert "error" not in err


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    commands = cli.cli.list_commands(None)  # type: ignore[arg-type]
    assert {"assess", "parity", "example"} <= set(commands)
    for command in commands:
        assert main([command, "--help"]) == 0
        out = capsys.readouterr().out
        assert out.startswith(f"Usage: streamgauge {command}")
        assert "--help" in out


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    from streamgauge import __version__

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"streamgauge, version {__version__}\n"


def test_assess_reports_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assess", "--example"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for section in ("Alignment", "Slices", "Prequential error"):
        assert section in out
    assert "Parity" not in out


def test_brief_leaves_out_the_tables_by_label(capsys: pytest.CaptureFixture[str]) -> None:
    main(["assess", "--example"])
    whole = capsys.readouterr().out.splitlines()
    main(["assess", "--example", "--brief"])
    brief = capsys.readouterr().out.splitlines()
    assert len(brief) < len(whole) / 1.5
    assert set(brief) <= set(whole)


def test_an_example_of_another_seed_can_be_written_and_assessed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["example", "--seed", "5", "--days", "3", "--out", str(tmp_path)]) == 0
    truth, prediction, hint = capsys.readouterr().out.splitlines()
    assert [Path(truth).name, Path(prediction).name] == ["truth.csv", "prediction.csv"]
    assert hint.endswith(f"streamgauge assess {truth} {prediction} --slice 60s")
    assert main(hint.split("streamgauge ")[1].split()) == 0
    assert "Alignment" in capsys.readouterr().out


def test_window_alpha_and_delta_override_the_profile(capsys: pytest.CaptureFixture[str], good: str) -> None:
    document = json_of(capsys, good, good, "--window", "7", "--alpha", "1", "--delta", "0.1")
    assert document["prequential"]["window"]["size"] == 7
    assert document["prequential"]["fading"]["alpha"] == 1
    assert document["prequential"]["delta"] == 0.1


def json_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:  # type: ignore[type-arg]
    assert main(["assess", *arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)  # type: ignore[no-any-return]


def test_weights_and_null_change_the_averages(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    truth, prediction = tmp_path / "t.csv", tmp_path / "p.csv"
    truth.write_text("0,4,a\n4,8,b\n")
    prediction.write_text("0,4,a\n4,6,b\n")
    files = (str(truth), str(prediction))
    assert json_of(capsys, *files)["slices"]["recall"] == 0.75
    assert json_of(capsys, *files, "--weights", "a=3")["slices"]["recall"] == pytest.approx((3 + 0.5) / 4)
    assert json_of(capsys, *files, "--weights", "a=0, b=1")["slices"]["recall"] == 0.5
    assert json_of(capsys, *files, "--without-null")["slices"]["include_null"] is False


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--labels", "b,a"], ["NULL", "b", "a"]),
        (["--null", "a"], ["a", "b"]),
        (["--columns", "start,end,label"], ["NULL", "a", "b"]),
        (["--columns", "1,2,3"], ["NULL", "a", "b"]),
        (["--delimiter", ","], ["NULL", "a", "b"]),
        (["--span", "0", "4"], ["NULL", "a", "b"]),
        (["--time", "seconds"], ["NULL", "a", "b"]),
    ],
)
def test_reading_options_reach_the_reader(
    capsys: pytest.CaptureFixture[str], good: str, options: list[str], expected: list[str]
) -> None:
    document = json_of(capsys, good, good, *options)
    assert document["labels"] == expected


def test_unknown_is_no_prediction(capsys: pytest.CaptureFixture[str], good: str) -> None:
    sentence = refused(capsys, "assess", good, good, "--unknown", "a")
    assert "predicts 'a', which only a truth can be" in sentence


def test_times_and_slices_are_given_with_units(capsys: pytest.CaptureFixture[str], good: str) -> None:
    document = json_of(capsys, good, good, "--tick", "10ms", "--slice", "30ms")
    assert document["recording"]["tick_seconds"] == 0.01
    assert document["recording"]["slice_ticks"] == 3


def test_one_label_a_row_is_read_from_two_columns(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("truth,mine\na,a\na,b\nb,b\n")
    document = json_of(
        capsys, str(path), str(path), "--rate", "2", "--truth-column", "truth", "--prediction-column", "2"
    )
    assert document["slices"]["totals"]["correct"] == 2
    assert document["recording"]["tick_seconds"] == 0.5


def test_lenient_skips_counts_and_says_why(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("0,5,a\n7,6,b\nx,9,a\n5,9,b\n")
    document = json_of(capsys, str(path), str(path), "--lenient")
    assert document["recording"]["skipped"] == 4
    assert main(["assess", str(path), str(path), "--lenient"]) == 0
    out = capsys.readouterr().out
    assert "skipped 4" in out
    assert "row 2: ends at 6, before it starts" in out


def test_a_picture_is_saved_and_needs_nothing_from_elsewhere(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "report.svg"
    assert main(["assess", "--table1", "--svg", str(path)]) == 0
    assert "Alignment" in capsys.readouterr().out
    text = path.read_text()
    assert text.startswith("<svg")
    assert "17.798565" in text
    assert "url(http" not in text
    main(["assess", "--table1", "--svg", str(path)])
    assert path.read_text() == text


# The node


def test_auto_without_an_engine_says_so_and_works_on_the_host(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(spec: str) -> Engine:
        raise EngineMissing("There is none. Run `make engines`.")

    monkeypatch.setattr("streamgauge.cli.assess.get_engine", none)
    monkeypatch.setattr("streamgauge.cli.parity.get_engine", none)
    assert main(["assess", "--table1", "--node", "auto"]) == 0
    out = capsys.readouterr().out
    assert "note: no node, so the host worked alone: There is none. Run `make engines`." in " ".join(
        out.split()
    )
    assert "Parity" not in out
    assert refused(capsys, "assess", "--table1", "--node", "arm") == "There is none. Run `make engines`."
    assert refused(capsys, "parity", "--table1") == "There is none. Run `make engines`."


def test_the_heap_is_given_in_bytes_or_kilobytes(capsys: pytest.CaptureFixture[str], arm: Engine) -> None:
    for text, expected in (("90k", 92_160), ("90000", 90_000)):
        document = json_of(capsys, "--table1", "--node", "arm", "--heap", text)
        assert document["node"]["heap_bytes"] == expected


def test_a_profile_key_can_be_set(capsys: pytest.CaptureFixture[str], arm: Engine) -> None:
    wide = json_of(capsys, "--table1", "--node", "arm")["node"]["state_bytes"]
    small = json_of(capsys, "--table1", "--node", "arm", "--set", "capacity.pending=16")["node"][
        "state_bytes"
    ]
    assert small < wide
    only = json_of(capsys, "--table1", "--node", "arm", "--set", 'estimators.on=["slices"]')
    assert set(only["node"]["raw"]) == {"version", "counters", "join", "slices"}


def test_parity_exits_with_1_and_shows_what_differs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arm: Engine
) -> None:
    from streamgauge import outcome

    honest = outcome.run_node

    def wrong(*arguments, **options):  # type: ignore[no-untyped-def]
        node = honest(*arguments, **options)
        node.raw["align"]["confusion"][1][1] += 1
        return node

    monkeypatch.setattr(outcome, "run_node", wrong)
    assert main(["parity", "--table1", "--node", "arm"]) == 1
    out = capsys.readouterr().out
    assert "2 differ" in out
    assert "alignment.confusion[1][1]: node 2, host 1" in out
    assert "raw.align.confusion[1][1]: node 2, model 1" in out
    assert main(["parity", "--table1", "--node", "arm", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["different"] == 2


# What cannot be used


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no segments"),
        ("0,5,a\n9,7,a\n", "row 2: ends at 7, before it starts"),
        ("0,5,a\n-3,7,a\n", "row 2:"),
        ("0,5,a\n4,8,a\n2,9,b\n", "row 3:"),
        ("0,5,a\nnan,9,a\n", "row 2:"),
        ("0,5\n5,9\n", "row 2: nothing says when '9' ends"),
        ("0,5,a\n5,99999999999999999999,a\n", "row 2:"),
        ("0,5,a\n5,9\n", "row 2"),
        ("".join(f"{i},{i + 1},l{i}\n" for i in range(300)), "labels"),
    ],
)
def test_bad_files_are_refused_with_file_row_and_remedy(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, good: str, content: str, message: str
) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text(content)
    for files in ((str(bad), good), (good, str(bad))):
        sentence = refused(capsys, "assess", *files)
        assert message in sentence
        assert "bad.csv" in sentence or "labels" in sentence


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["assess"], "there is nothing to assess: give a truth and a prediction, or try --example"),
        (["assess", "{good}"], "the prediction is missing"),
        (["assess", "{good}", "{good}", "--example"], "give either two files, --example or --table1"),
        (["assess", "--example", "--table1"], "give either two files"),
        (["assess", "{good}", "nowhere.csv"], "nowhere.csv: does not exist"),
        (["assess", "{good}", "."], "is a directory"),
        (["assess", "{good}", "{good}", "--labels", "a"], "'b'"),
        (["assess", "{good}", "{good}", "--heap", "64q"], "--heap is '64q'"),
        (["assess", "{good}", "{good}", "--heap", "1k"], "heap.bytes is 1024"),
        (["assess", "{good}", "{good}", "--profile", "sensr"], "Did you mean sensor"),
        (["assess", "{good}", "{good}", "--set", "capacity.run=4"], "Did you mean capacity.runs"),
        (["assess", "{good}", "{good}", "--set", "capacity.runs"], "KEY=VALUE was expected"),
        (["assess", "{good}", "{good}", "--set", "capacity.runs=abc"], "capacity.runs is 'abc'"),
        (["assess", "{good}", "{good}", "--weights", "c=2"], "--weights names 'c'"),
        (["assess", "{good}", "{good}", "--weights", "a:2"], "LABEL=NUMBER was expected"),
        (["assess", "{good}", "{good}", "--weights", "NULL=0,a=0,b=0"], "label weights"),
        (["assess", "{good}", "{good}", "--alpha", "2"], "alpha is 2.0"),
        (["assess", "{good}", "{good}", "--window", "0"], "window of 0 records"),
        (["assess", "{good}", "{good}", "--delta", "1"], "delta 1.0"),
        (["assess", "{good}", "{good}", "--tick", "fast"], "tick is 'fast'"),
        (["assess", "{good}", "{good}", "--slice", "0"], "slice is"),
        (["assess", "{good}", "{good}", "--rate", "no"], "rate is 'no'"),
        (["assess", "{good}", "{good}", "--span", "5", "2"], "span is 5 to 2"),
        (["assess", "{good}", "{good}", "--columns", "1"], "columns"),
        (["assess", "{good}", "{good}", "--node", "mips"], "No engine is named 'mips'"),
        (["assess", "{good}", "{good}", "--node", "/dev/nothing"], "No MicroPython board answers"),
        (["assess", "{good}", "{good}", "--svg", "/nowhere/x.svg"], "cannot be written"),
        (["assess", "{good}", "{good}", "--colour"], "No such option"),
        (["assess", "{good}", "{good}", "{good}"], "unexpected extra argument"),
        (["asses"], "no command is named 'asses'. Did you mean assess?"),
        (["example", "--days", "0"], "days is 0"),
        (["example", "--days", "many"], "'many' is not a valid integer"),
        (["parity"], "there is nothing to assess"),
    ],
)
def test_bad_arguments_are_one_sentence(
    capsys: pytest.CaptureFixture[str], good: str, arguments: list[str], message: str
) -> None:
    assert message in refused(capsys, *(argument.format(good=good) for argument in arguments))


def test_a_node_has_limits_that_the_host_has_not(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    many = tmp_path / "many.csv"
    many.write_text("".join(f"{i},{i + 1},l{i}\n" for i in range(40)))
    assert main(["assess", str(many), str(many)]) == 0
    capsys.readouterr()
    assert "40 labels besides NULL" in refused(capsys, "assess", str(many), str(many), "--node", "arm")
    long = tmp_path / "long.csv"
    long.write_text(f"0,{2**28},a\n")
    assert "lasts 268435456 ticks" in refused(capsys, "assess", str(long), str(long), "--node", "arm")
    assert "prequential.alpha is 1.0" in refused(
        capsys, "assess", "--table1", "--node", "arm", "--alpha", "1"
    )


def test_json_prints_nothing_on_stdout_where_something_is_wrong(
    capsys: pytest.CaptureFixture[str], good: str
) -> None:
    refused(capsys, "assess", good, "nowhere.csv", "--json")


def test_an_unreadable_file_is_one_sentence(capsys: pytest.CaptureFixture[str], good: str) -> None:
    assert "is a directory" in refused(capsys, "assess", good, "/")
    assert "is not a text file" in refused(capsys, "assess", good, sys.executable)


# What nobody foresees


def test_an_unexpected_oserror_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "somewhere")

    monkeypatch.setattr("streamgauge.cli.assess.render", full)
    assert refused(capsys, "assess", "--table1") == "somewhere: No space left on device."


def test_an_error_of_its_own_is_no_traceback_unless_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("streamgauge.cli.assess.render", broken)
    monkeypatch.delenv("STREAMGAUGE_DEBUG", raising=False)
    assert "an error of streamgauge itself, KeyError" in refused(capsys, "assess", "--table1", code=70)
    monkeypatch.setenv("STREAMGAUGE_DEBUG", "1")
    with pytest.raises(KeyError):
        main(["assess", "--table1"])


def test_a_pipe_that_nobody_reads_ends_quietly() -> None:
    program = "import sys; from streamgauge.cli import main; sys.exit(main())"
    command = f"{sys.executable} -c '{program}' assess --example"
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[0].startswith("streamgauge")
    assert done.stdout.splitlines()[1] in ("0", "141")


def test_an_interrupt_is_one_sentence() -> None:
    program = (
        "import sys, time\n"
        "from streamgauge import cli\n"
        "import streamgauge.cli.assess as module\n"
        "def slow(*_, **__):\n    print('ready', flush=True)\n    time.sleep(60)\n"
        "module.render = slow\n"
        "sys.exit(cli.main(['assess', '--table1']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.strip() == "streamgauge: error: interrupted."


def test_a_terminal_without_the_signs_still_gets_the_report() -> None:
    done = run("assess", "--table1", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "17.798565" in done.stdout


def test_help_does_not_import_numpy() -> None:
    """So that it is there at once."""
    program = (
        "import sys\nfrom streamgauge.cli import main\nmain(['--version'])\nprint('numpy' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "False"


# Parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("65536", 65536),
        ("64k", 65536),
        ("64K", 65536),
        ("64 KiB", 65536),
        ("1M", 1 << 20),
        ("7b", 7),
        ("2g", 2 << 30),
    ],
)
def test_sizes_are_read(text: str, expected: int) -> None:
    assert byte_count(text) == expected


@pytest.mark.parametrize("text", ["", "k", "1.5k", "-1", "64kb5", "0x10"])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="a number of bytes was expected"):
        byte_count(text)


def test_labels_without_a_weight_weigh_1() -> None:
    assert label_weights("b=2,NULL=0", ("NULL", "a", "b")) == (0, 1, 2)
    assert label_weights("x=y=0.5", ("NULL", "x=y")) == (1, 0.5)
    assert label_weights(None, ("NULL",)) is None
