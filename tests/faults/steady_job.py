"""A small Gloo job of even iterations. From one on, rank 1 takes its time; it ends when a file appears.

torchrun --nproc-per-node 2 steady_job.py FIRST_SLOW STOP_FILE
"""
import os
import sys
import time

import torch
import torch.distributed as dist


def main():
    first_slow, stop = int(sys.argv[1]), sys.argv[2]
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    slow = dist.get_rank() == 1
    iteration, over = 0, torch.zeros(1)
    while not over.item():
        time.sleep(0.25 if slow and iteration >= first_slow else 0.05)
        gradient = torch.ones(1000)
        dist.all_reduce(gradient)
        over = torch.tensor([float(os.path.exists(stop))])
        dist.all_reduce(over)
        iteration += 1
    if dist.get_rank() == 0:
        print(f"iterations {iteration}", flush=True)
    dist.barrier()


main()
