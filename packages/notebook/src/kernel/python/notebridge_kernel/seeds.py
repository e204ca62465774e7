"""Makes anew whatever differs from one Python to the next, in one that begins with the memory of another.

The seed of `hash()` stays: the dictionaries of all modules are ordered by it.
"""

import random
import time

_YEAR = 365.25 * 24 * 3600


def renew():
    random.seed()
    _renew_time_zone()


def _renew_time_zone():
    """As Python does when `time` is first imported. The worker has told C the zone of this machine."""
    new_year = time.time() // _YEAR * _YEAR
    seasons = [time.localtime(new_year), time.localtime(new_year + _YEAR / 2)]
    # The southern half of the world has its summer in January.
    standard, summer = sorted(seasons, key=lambda season: season.tm_gmtoff)
    time.timezone, time.altzone = -standard.tm_gmtoff, -summer.tm_gmtoff
    time.daylight = int(time.timezone != time.altzone)
    time.tzname = (standard.tm_zone, summer.tm_zone)
