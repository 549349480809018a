"""Drift alarms: Page-Hinkley, DDM and ADWIN over whole arrays of losses, each in bounded memory."""

from .adwin import ADWIN
from .alarms import DOWN, UP, Alarm, Detector
from .ddm import DDM
from .page_hinkley import PageHinkley
from .signals import SOURCES, Signal

__all__ = ["ADWIN", "DDM", "DOWN", "SOURCES", "UP", "Alarm", "Detector", "PageHinkley", "Signal"]
