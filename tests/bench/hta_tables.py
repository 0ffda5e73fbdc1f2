"""All tables of HolisticTraceAnalysis on one folder; run by tests/bench/tables in a Python that has
it. Prints one JSON object: the numbers that both tools have, a rank each."""
import json
import logging
import sys
import time
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)


def main(folder):
    from hta.trace_analysis import TraceAnalysis  # the import is part of no figure
    begin = time.monotonic()
    analysis = TraceAnalysis(trace_dir=folder, include_last_profiler_step=True)
    ranks = sorted(analysis.t.traces)
    temporal = analysis.get_temporal_breakdown(visualize=False)
    overlap = analysis.get_comm_comp_overlap(visualize=False)
    analysis.get_gpu_kernel_breakdown(visualize=False)
    idle = {}
    for rank in ranks:
        rows = analysis.get_idle_time_breakdown(ranks=[rank], visualize=False)[0]
        idle[rank] = rows.groupby("idle_category")["idle_time"].sum().to_dict()
    analysis.get_cuda_kernel_launch_stats(ranks=ranks, visualize=False)
    analysis.get_queue_length_summary(ranks=ranks)
    analysis.get_memory_bw_summary(ranks=ranks)
    seconds = time.monotonic() - begin
    out = {"seconds": seconds, "ranks": {}}
    for rank in ranks:
        row = temporal[temporal["rank"] == rank].iloc[0]
        out["ranks"][rank] = {
            "compute_us": float(row["compute_time(us)"]),
            "non_compute_us": float(row["non_compute_time(us)"]),
            "idle_us": float(row["idle_time(us)"]),
            "overlap": float(overlap[overlap["rank"] == rank]["comp_comm_overlap_pctg"].iloc[0]) / 100,
            "idle": {key: float(value) for key, value in idle[rank].items()}}
    json.dump(out, sys.stdout)


main(sys.argv[1])
