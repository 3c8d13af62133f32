"""A process that dies at a request, played in this process: from that moment on it can send nothing more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from reconciler.cloud.answers import Answer
from reconciler.cloud.wire import Wire


class Killed(BaseException):
    """Past every handler, as SIGKILL is."""


@contextmanager
def dies_at(number: int, *, answered: bool) -> Iterator[None]:
    """Die with the request of this number, counted from 0: before it leaves, or before its answer is seen."""
    left = number
    lock = threading.Lock()
    send, hook = Wire.send, threading.excepthook

    def mortal(wire: Wire, *arguments: Any, **options: Any) -> Answer:
        nonlocal left
        with lock:
            left, mine = left - 1, left
        if mine < 0 or (mine == 0 and not answered):
            raise Killed
        answer = send(wire, *arguments, **options)
        if mine == 0:
            raise Killed
        return answer

    def quiet(told: threading.ExceptHookArgs) -> None:
        if told.exc_type is not Killed:
            hook(told)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Wire, "send", mortal)
        patch.setattr(threading, "excepthook", quiet)
        yield
