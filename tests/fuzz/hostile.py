"""What an attacker writes in the place of a number or a name, and what a use of the library may do about it."""

import json
import os
import time
from contextlib import contextmanager

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

attack = settings(
    deadline=None,
    max_examples=12 if settings.default.derandomize else 2_000,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
