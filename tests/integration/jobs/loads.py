"""A DataLoader that becomes slow on one rank."""
import time

from slow_rank import is_slow
from torch.utils.data.dataloader import _BaseDataLoaderIter


class Batches(_BaseDataLoaderIter):
    iteration = 0

    def read(self):
        if is_slow(self.iteration):
            time.sleep(0.06)


batches = Batches()


def before(iteration):
    batches.iteration = iteration
    next(batches)
