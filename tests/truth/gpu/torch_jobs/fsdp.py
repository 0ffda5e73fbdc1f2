"""A small transformer whose layers are sharded with fully_shard (FSDP 2) on one GPU that all ranks share.

torchrun --nproc-per-node 2 fsdp.py --fault slow-compute --rank 0 --from-iteration 20
"""
from torch.distributed.fsdp import fully_shard

from ddp import Model
from faults import Fault, arguments, start
from training import train


def main():
    args = arguments(__doc__.splitlines()[0]).parse_args()
    start()
    fault = Fault(args)
    model = Model(fault).cuda()
    for layer in model.encoder.layers:
        fully_shard(layer)
    fully_shard(model)
    train(args, fault, model, mixed=False)


if __name__ == "__main__":
    main()
