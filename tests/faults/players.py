"""Rounds beside one another, each in a process of its own: threads of one would wait for one another."""
import concurrent.futures
import resource
import time


def processor_s():
    """Of this process and of all that it has waited for."""
    both = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in both)


def play_all(play, seeds, at_once, seconds):
    """Yields what play(seed) returns, as it comes; after so many seconds no further seed is begun."""
    left, until, begun = iter(seeds), time.monotonic() + seconds, set()
    with concurrent.futures.ProcessPoolExecutor(at_once) as players:
        while True:
            while len(begun) < at_once and time.monotonic() < until and (seed := next(left, None)) is not None:
                begun.add(players.submit(play, seed))
            if not begun:
                return
            over, begun = concurrent.futures.wait(begun, return_when=concurrent.futures.FIRST_COMPLETED)
            for each in over:
                yield each.result()
