"""Who lives in the home: a day's schedule, and a Markov chain where the day leaves time."""

from __future__ import annotations

from streamgauge.simulation.dice import DAY, HOUR, MINUTE, Dice

Row = tuple[int, int, str]  # start and end in seconds since the first midnight, activity

# What follows what in free time, and for how long: (shortest, longest) in minutes.
_NEXT = {
    "relax": {"get_drink": 3, "use_toilet": 3, "leave_house": 2, "relax": 2, "work": 1},
    "get_drink": {"relax": 6, "work": 2},
    "use_toilet": {"relax": 5, "leave_house": 2, "work": 1, "get_drink": 1},
    "leave_house": {"relax": 4, "use_toilet": 3, "get_drink": 3, "leave_house": 1},
    "work": {"get_drink": 3, "use_toilet": 2, "relax": 3, "work": 2},
}
_MINUTES = {
    "relax": (15, 110),
    "get_drink": (1, 4),
    "use_toilet": (2, 7),
    "leave_house": (20, 170),
    "work": (20, 100),
    "take_shower": (6, 16),
    "brush_teeth": (2, 4),
    "prepare_breakfast": (5, 16),
    "prepare_meal": (15, 50),
    "eat": (10, 30),
    "wash_dishes": (6, 20),
}
_WEEKEND = (5, 6)
_HOME_OFFICE = 2  # Wednesday


class Resident:
    """Lives through days, one activity after another; what interrupts an activity lies inside its row.

    Parameters
    ----------
    dice : Dice
    """

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._now = 0
        self.rows: list[Row] = []

    def live(self, days: int) -> list[Row]:
        """Return the activities of so many days from a Monday's midnight on, ordered by start."""
        for day in range(days):
            self._sleep(day * DAY + self._waking(day))
            self._morning()
            self._daytime(day)
            self._evening(day)
        self._sleep(days * DAY + 7 * HOUR)
        stop = days * DAY
        return sorted((start, min(end, stop), name) for start, end, name in self.rows if start < stop)

    def _waking(self, day: int) -> int:
        early, late = (
            (7 * HOUR, 9 * HOUR + 40 * MINUTE) if day % 7 in _WEEKEND else (6 * HOUR, 7 * HOUR + 30 * MINUTE)
        )
        return self._dice.bell(early, late)

    def _sleep(self, until: int) -> None:
        until = max(until, self._now + 4 * HOUR)
        if self._dice.chance(0.3):  # lies awake for a while
            awake = self._now + self._dice.flat(90 * MINUTE, until - self._now - 90 * MINUTE)
            self._asleep(awake)
            self._now += self._dice.bell(4 * MINUTE, 30 * MINUTE)
        self._asleep(until)

    def _asleep(self, until: int) -> None:
        start = self._now
        self.rows.append((start, until, "sleep"))
        for share in (0.6, 0.2):
            if until - start > 3 * HOUR and self._dice.chance(share):
                self._inside(start + HOUR, until - HOUR, "use_toilet")
        self._now = until

    def _morning(self) -> None:
        self._pause(5)
        if self._dice.chance(0.92):
            self._do("use_toilet")
        shower_first = self._dice.chance(0.65)
        if shower_first and self._dice.chance(0.8):
            self._do("take_shower")
        if self._dice.chance(0.9):
            self._do("prepare_breakfast")
            self._do("eat")
        if not shower_first and self._dice.chance(0.7):
            self._do("take_shower")
        if self._dice.chance(0.85):
            self._do("brush_teeth")

    def _daytime(self, day: int) -> None:
        midnight, weekday = day * DAY, day % 7
        if weekday in _WEEKEND:
            self._free(midnight + self._dice.bell(12 * HOUR, 14 * HOUR))
            self._meal(0.4)
            self._free(midnight + self._dice.bell(17 * HOUR, 19 * HOUR))
        elif weekday == _HOME_OFFICE:
            self._desk(midnight + self._dice.bell(12 * HOUR, 13 * HOUR))
            self._meal(0.5)
            self._desk(midnight + self._dice.bell(16 * HOUR, 17 * HOUR))
        else:
            self._pause(15)
            back = midnight + self._dice.bell(15 * HOUR + 30 * MINUTE, 18 * HOUR)
            if self._dice.chance(0.2):  # forgot something
                self._do("leave_house", self._now + 5 * MINUTE)
            self.rows.append((self._now, back, "leave_house"))
            self._now = back

    def _evening(self, day: int) -> None:
        midnight = day * DAY
        self._free(midnight + self._dice.bell(17 * HOUR + 30 * MINUTE, 19 * HOUR + 30 * MINUTE))
        self._meal(0.65)
        late = 45 * MINUTE if day % 7 in (4, 5) else 0
        self._free(midnight + self._dice.bell(21 * HOUR + 45 * MINUTE, 23 * HOUR + 30 * MINUTE) + late)
        if self._dice.chance(0.88):
            self._do("brush_teeth")
        if self._dice.chance(0.7):
            self._do("use_toilet")

    def _meal(self, dishes: float) -> None:
        self._do("prepare_meal")
        self._do("eat")
        if self._dice.chance(dishes):
            self._do("wash_dishes")

    def _desk(self, until: int) -> None:
        while self._now < until - 10 * MINUTE:
            self._do("work", until)
            self._do(self._dice.pick({"get_drink": 2, "use_toilet": 1}))

    def _free(self, until: int) -> None:
        """Let the chain run until a time, which the last activity may miss by some minutes."""
        name = self._dice.pick({"relax": 5, "get_drink": 2, "use_toilet": 2, "work": 1})
        while self._now < until - 10 * MINUTE:
            start = self._now
            self._do(name, until)
            if name == "relax" and self._now - start > 40 * MINUTE and self._dice.chance(0.35):
                inside = self._dice.pick({"get_drink": 2, "use_toilet": 3})
                self._inside(start + 10 * MINUTE, self._now - 10 * MINUTE, inside)
            name = self._dice.pick(_NEXT[name])

    def _do(self, name: str, until: int | None = None) -> None:
        """Do something now and move on, usually after a moment in which nothing has a name."""
        shortest, longest = _MINUTES[name]
        length = self._dice.bell(shortest * MINUTE, longest * MINUTE)
        if until is not None:
            length = max(shortest * MINUTE, min(length, until - self._now))
        self.rows.append((self._now, self._now + length, name))
        self._now += length
        if self._dice.chance(0.85):
            self._pause(14)

    def _inside(self, earliest: int, latest: int, name: str) -> None:
        """Interrupt the last activity; where another interruption is already, nothing happens."""
        shortest, longest = _MINUTES[name]
        start = self._dice.flat(earliest, latest)
        end = start + self._dice.bell(shortest * MINUTE, longest * MINUTE)
        last = self.rows[-1]
        if last[0] < earliest or end < last[0] or start > last[1]:
            self.rows.append((start, end, name))

    def _pause(self, longest_minutes: int) -> None:
        self._now += self._dice.skewed(10, longest_minutes * MINUTE)
