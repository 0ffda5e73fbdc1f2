"""Which rank of a job becomes slow, and when: SLOW_RANK, by default 1, from iteration 120 on.

SLOW_SINCE names a file that then gets the wall time.
"""
import os
import time

FROM_ITERATION = 120
rank = os.environ.get("SLOW_RANK", "1")


def is_slow(iteration):
    slow = os.environ["RANK"] == rank and iteration >= FROM_ITERATION
    if slow and iteration == FROM_ITERATION and "SLOW_SINCE" in os.environ:
        with open(os.environ["SLOW_SINCE"], "w") as file:
            file.write(str(time.time()))
    return slow
