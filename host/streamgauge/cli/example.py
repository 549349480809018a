"""`streamgauge example`: a made-up recording of any length."""

from __future__ import annotations

import click

from streamgauge import example


@click.command("example", short_help="Write a made-up recording of a home.")
@click.option("--seed", type=int, default=example.SEED, show_default=True, help="One seed, one recording.")
@click.option("--days", type=int, default=example.DAYS, show_default=True, help="1 to 3660.")
@click.option("--out", metavar="DIR", default=".", show_default=True, help="Folder for the two files.")
def command(seed: int, days: int, out: str) -> None:
    """Write truth.csv and prediction.csv of a made-up home.

    Somebody lives there by a schedule, an annotator writes it down and is away now and then, and a recogniser
    gets it partly right: late, in pieces, merged, missed and invented.
    """
    truth, prediction = example.write_example(out, seed, days)
    print(f"{truth}\n{prediction}")
    print(f"Assess them with: streamgauge assess {truth} {prediction} --slice 60s")
