"""What a run said, against what was wrong in it.

right      the strongest conviction names exactly the faulty rank, and none ever named another
wrong      a conviction named an innocent rank, at any time
abstained  nobody was convicted
Of a healthy run: right is silence (no verdict at all), abstained a mere lead, wrong a conviction.
A conviction is a verdict graded established or supported.
"""
CONVICTING = ("established", "supported")
CAUSES = {"slow-compute": "compute_slow", "slow-python": "host_slow", "gc": "gc", "dataloader": "dataloader",
          "stop": "process_stopped", "loop": "noncommunication_hang", "mismatch": "mismatch"}


def ranks_of(verdict):
    return frozenset(verdict.get("entity", {}).get("ranks", []))


def convictions(verdicts):
    return [v for v in verdicts if v.get("grade") in CONVICTING]


def judge(fault, rank, final, ever):
    """("right"|"abstained"|"wrong", cause right?) from the verdicts at the end and all ever seen."""
    if fault == "none":
        if convictions(ever) or convictions(final):
            return "wrong", False
        return ("abstained" if final or ever else "right"), True
    accused = convictions(final) + convictions(ever)
    if any(ranks_of(v) - {rank} for v in accused):
        return "wrong", False
    named = [v for v in convictions(final) if ranks_of(v) == {rank}]
    if not named:
        return "abstained", False
    return "right", named[0].get("cause") == CAUSES[fault]


def names_culprit(verdict, rank):
    return verdict.get("grade") in CONVICTING and ranks_of(verdict) == {rank}
