"""What a collector has of the iterations of a job, and whether another has as much."""


class Rows:
    """Made of the answer of /api/v1/jobs/JOB/iterations. By iteration: `duration_us`, the median over the ranks that
    have told of it, and `told`, those ranks."""

    def __init__(self, answer):
        answer = answer or {"iterations": [], "duration_us": [], "cpu_us": [], "ranks": []}
        self.duration_us = dict(zip(answer["iterations"], answer["duration_us"]))
        self.told = {i: {rank for rank, cell in zip(answer["ranks"], cells) if cell is not None}
                     for i, cells in zip(answer["iterations"], answer["cpu_us"])}

    def __len__(self):
        return len(self.duration_us)

    @property
    def newest(self):
        return max(self.duration_us, default=-1)

    def lost_in(self, other, first=0):
        """Those from `first` on that `other` lacks, has of fewer ranks, or has of the same with another duration."""
        return [i for i in self.duration_us if i >= first and not self.is_in(i, other)]

    def is_in(self, i, other):
        if i not in other.duration_us:
            return False
        if other.told[i] and self.told[i] != other.told[i]:  # of what is old nobody knows any more who told
            return self.told[i] < other.told[i]
        return self.duration_us[i] == other.duration_us[i]
