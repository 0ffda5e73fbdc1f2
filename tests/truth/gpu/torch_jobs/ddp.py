"""A small transformer trained with DistributedDataParallel on one GPU that all ranks share.

torchrun --nproc-per-node 2 ddp.py --fault slow-python --rank 1 --from-iteration 20
"""
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel

from faults import Fault, arguments, start
from training import train

WIDTH, LAYERS = 512, 6


class Model(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault = fault
        self.embed = nn.Embedding(512, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, LAYERS)
        self.head = nn.Linear(WIDTH, 512)

    def forward(self, tokens):
        x = self.embed(tokens)
        self.fault.extra_compute()
        return self.head(self.encoder(x))


def main():
    args = arguments(__doc__.splitlines()[0]).parse_args()
    start()
    fault = Fault(args)
    model = DistributedDataParallel(Model(fault).cuda(), bucket_cap_mb=10)
    train(args, fault, model, mixed=True)


if __name__ == "__main__":
    main()
