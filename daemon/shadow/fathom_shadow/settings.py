"""What FATHOM_SHADOW and its companions ask for (docs/operations/shadow.md)."""
import os

RECORD, REPLAY = "record", "replay"
PARK, END = "park", "end"


class Settings:
    """`mode` and `folder`; of a record also `iterations` and `ranks` (None: all); of a replay what comes `then`.

    ValueError: a value that cannot be meant.
    """

    def __init__(self, environment=os.environ):
        self.mode, _, self.folder = environment.get("FATHOM_SHADOW", "").partition(":")
        if self.mode not in (RECORD, REPLAY) or not self.folder:
            raise ValueError("FATHOM_SHADOW is record:FOLDER or replay:FOLDER")
        self.iterations = int(environment.get("FATHOM_SHADOW_ITERATIONS") or 1)
        if self.iterations < 1:
            raise ValueError("FATHOM_SHADOW_ITERATIONS is 1 or more")
        ranks = environment.get("FATHOM_SHADOW_RANKS")
        self.ranks = {int(rank) for rank in ranks.split(",")} if ranks else None
        self.then = environment.get("FATHOM_SHADOW_THEN") or PARK
        if self.then not in (PARK, END):
            raise ValueError("FATHOM_SHADOW_THEN is park or end")


def replays(environment=os.environ):
    """True in a joiner, whatever else its settings say."""
    return environment.get("FATHOM_SHADOW", "").startswith(REPLAY)
