"""What the user wants traced. Read at start-up where FATHOM_FUNCTIONS is set: imports nothing new."""
import os

MAX_NAMED = 20  # of the user's functions; the table in the ring holds 32 with ours


def named():
    """FATHOM_FUNCTIONS=module:qualname,… as (module, qualname) pairs."""
    pairs = []
    for word in os.environ.get("FATHOM_FUNCTIONS", "").split(","):
        module, colon, qualname = word.strip().partition(":")
        if colon and module and qualname:
            pairs.append((module, qualname))
    return pairs[:MAX_NAMED]
