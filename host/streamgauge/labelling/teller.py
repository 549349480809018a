"""Tells a node labels and waits for its answers; a message is repeated, word for word, until there is one."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace

from ..errors import InputError
from ..wire.line import LineCutter
from ..wire.messages import TIME, Answer, Code, TooLong, flush_line, label_line, parse_answer, query
from ..wire.port import Port, PortLost

ANSWER_WITHIN = 1.0
TRIES = 6


class Refused(Exception):
    """The node refuses a message for a reason that no other message will escape.

    Attributes
    ----------
    answer : Answer
    """

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.meaning)
        self.answer = answer


_HOPELESS = (Code.KEY, Code.EPOCH, Code.VERSION, Code.UNREADABLE)


class Teller:
    """A conversation with one node.

    Parameters
    ----------
    port : an open port.
    key : the node's key, where it has one.
    hear : is given every whole line that is no answer, such as report lines.
    answer_within, tries : seconds to wait for an answer, and how often to send a message.

    Attributes
    ----------
    repeated : int
        Messages that had to be sent again.
    """

    def __init__(
        self,
        port: Port,
        key: bytes | None = None,
        *,
        hear: Callable[[bytes], object] = lambda line: None,
        answer_within: float = ANSWER_WITHIN,
        tries: int = TRIES,
    ) -> None:
        self.repeated = 0
        self._port = port
        self._key = key
        self._hear = hear
        self._within = answer_within
        self._tries = tries
        self._cutter = LineCutter()
        self._last = 0
        self._epoch = 0
        self._known = False

    def ask(self) -> Answer:
        """Return how far the node is; nothing on it changes.

        Raises
        ------
        InputError
            No answer came, or the port is gone.
        """
        nonce = secrets.randbelow(TIME)
        answer, _ = self._exchange(query(nonce), nonce)
        if not self._known:
            self._epoch = answer.epoch
        self._known, self._last = True, answer.last
        return answer

    def label(self, label: str | int, start: int, end: int) -> Answer:
        """Tell that `label` (a name, or an id) holds for ``[start, end)`` ticks of the node.

        Returns
        -------
        answer : Answer
            Accepted, or refused for what this label says.

        Raises
        ------
        Refused
            No label would be taken: of the key, the version, or because the node restarted.
        InputError
            The name is too long, no answer came, or the port is gone.
        """
        try:
            return self._tell(lambda number: label_line(self._epoch, number, label, start, end, self._key))
        except TooLong as error:
            raise InputError(f"label {label!r} does not fit into a message: {error}") from None

    def complete(self, upto: int) -> Answer:
        """Tell that all truth before `upto` is told, so that nothing waits any longer; raises as `label`."""
        return self._tell(lambda number: flush_line(self._epoch, number, upto, self._key))

    def listen(self, seconds: float) -> None:
        """Take what the node says by itself; nothing is sent."""
        try:
            self._await(-1, seconds)
        except PortLost as lost:
            raise self._gone(lost) from None

    def _tell(self, message: Callable[[int], bytes]) -> Answer:
        if not self._known:
            self.ask()
        while True:
            number = self._last % (TIME - 1) + 1
            answer, attempts = self._exchange(message(number), number)
            self._last = max(self._last, answer.last)
            if answer.code == Code.DUPLICATE:
                if attempts > 1:
                    # The first copy arrived, its answer did not.
                    return replace(answer, code=Code.ACCEPTED)
                if number <= answer.last < TIME - 1:
                    continue  # Somebody else told this node labels meanwhile: take the next number.
            if answer.code in _HOPELESS:
                raise Refused(answer)
            return answer

    def _exchange(self, line: bytes, number: int) -> tuple[Answer, int]:
        """Send a line until it is answered; return the answer and how often it was sent."""
        try:
            for attempt in range(1, self._tries + 1):
                self._port.write(line)
                self.repeated += attempt > 1
                answer = self._await(number, self._within)
                if answer is not None and answer.code != Code.CHECKSUM:
                    return answer, attempt
        except PortLost as lost:
            raise self._gone(lost) from None
        raise InputError(
            f"the node does not answer ({self._tries} times asked)",
            file=self._port.name,
            remedy="Check that its program listens for labels (`labels.poll()`, as firmware/main.py does)",
        )

    def _gone(self, lost: PortLost) -> InputError:
        return InputError(
            f"the port went away ({lost})",
            file=self._port.name,
            remedy="Check the cable and run the command again: what the node has taken it takes only once",
        )

    def _await(self, number: int, within: float) -> Answer | None:
        end = time.monotonic() + within
        while time.monotonic() < end:
            for line in self._cutter.feed(self._port.read()):
                answer = parse_answer(line)
                if answer is None:
                    self._hear(line)
                # What the node could not read it answers with number 0.
                elif answer.sequence == number or (
                    answer.sequence == 0 and answer.code in (Code.CHECKSUM, Code.UNREADABLE, Code.VERSION)
                ):
                    return answer
        return None
