"""A training job up to the moment at which nothing moves any more: what each host enqueued, what each GPU
began and finished.

Times are in microseconds. A host runs its program, enqueues work on streams and waits where the program waits for
the GPU. A stream runs its work in order, each piece behind what it depends on; a transfer begins on each
rank by itself and ends on all together. What never ends has the end INF. All times follow from what is
before them, so the order in which they are worked out does not matter.
"""
import collections

INF = float("inf")


class Piece:
    """Work on one stream of one rank."""

    def __init__(self, rank, stream, behind, enqueued, length, transfer=None):
        self.rank, self.stream, self.behind, self.enqueued = rank, stream, behind, enqueued
        self.length, self.transfer = length, transfer
        self.start = self.end = None


class Transfer:
    """One op of one group, or one message: the same on all its ranks."""

    def __init__(self, group, kind, ranks, length, key):
        self.group, self.kind, self.ranks, self.length, self.key = group, kind, ranks, length, key
        self.pieces = {}


class Rank:
    def __init__(self, number, program):
        self.number, self.program, self.at = number, program, 0
        self.time = 0.0
        self.last = {}       # stream: its newest piece
        self.main_after = []  # transfers that the main stream waits for before its next piece
        self.entries = []    # what a flight recorder would list: pieces that are transfers
        self.stopped = None  # the time at which the host went no further


class Job:
    """`fault`: see faults.py. Programs are lists of tuples:
    ("kernel", length), ("host", length), ("sync",), ("transfer", group, kind, ranks, length, key, waits)."""

    def __init__(self, programs, fault):
        self.ranks = [Rank(number, program) for number, program in enumerate(programs)]
        self.fault, self.transfers = fault, {}
        self.open = collections.deque()

    def run(self):
        moved = True
        while moved:
            moved = any([self.advance(rank) for rank in self.ranks])
            moved = self.settle() or moved

    def advance(self, rank):
        moved = False
        while rank.at < len(rank.program) and rank.stopped is None:
            step = rank.program[rank.at]
            stop = self.fault.host_stops(rank.number)
            if step[0] == "sync":
                pieces = [rank.last[s] for s in rank.last if s == "main"] + rank.main_after
                if any(piece.end is None for piece in pieces):
                    return moved
                until = max([rank.time] + [piece.end for piece in pieces])
                if until == INF:
                    return moved
                rank.time = until
            if rank.time > stop:
                rank.stopped = stop
                return True
            self.take(rank, step)
            rank.at += 1
            moved = True
        return moved

    def take(self, rank, step):
        if step[0] == "host":
            rank.time += step[1] * self.fault.host_factor(rank.number)
        elif step[0] == "kernel":
            rank.time += 4
            self.enqueue(rank, "main", step[1], rank.main_after)
            rank.main_after = []
        elif step[0] == "transfer":
            rank.time += 12
            _, group, kind, ranks, length, key, waits = step
            transfer = self.transfers.setdefault(key, Transfer(group, kind, ranks, length, key))
            behind = [rank.last["main"]] if "main" in rank.last else []
            piece = self.enqueue(rank, "%s%s" % (group.name, key[1]), length, behind + rank.main_after, transfer)
            transfer.pieces[rank.number] = piece
            rank.entries.append(piece)
            if waits:
                rank.main_after = rank.main_after + [piece]

    def enqueue(self, rank, stream, length, behind, transfer=None):
        before = [rank.last[stream]] if stream in rank.last else []
        piece = Piece(rank.number, stream, before + list(behind), rank.time, length, transfer)
        rank.last[stream] = piece
        self.open.append(piece)
        return piece

    def settle(self):
        """Works out what can be; whether anything was."""
        moved = False
        for _ in range(len(self.open)):
            piece = self.open.popleft()
            if piece.start is None and all(p.end is not None for p in piece.behind):
                piece.start = max([piece.enqueued] + [p.end for p in piece.behind])
                moved = True
            if piece.start is not None and piece.end is None:
                piece.end = self.end_of(piece)
                moved = moved or piece.end is not None
            if piece.end is None:
                self.open.append(piece)
        return moved

    def end_of(self, piece):
        if piece.transfer is None:
            end = piece.start + piece.length
            return INF if piece.start == INF or self.fault.gpu_stops(piece.rank, end, True) else end
        transfer = piece.transfer
        if len(transfer.pieces) < len(transfer.ranks) or any(p.start is None for p in transfer.pieces.values()):
            return None
        start = max(p.start for p in transfer.pieces.values())
        end = start + transfer.length
        dead = start == INF or self.fault.network_stops(transfer, end) or any(
            self.fault.gpu_stops(rank, end, False) for rank in transfer.ranks)
        return INF if dead else end
