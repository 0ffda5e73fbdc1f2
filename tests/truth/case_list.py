"""The cases of function-level truth: what is planted where, and which cause and function are right.

Each is (name, group, options of case_jobs/train.py, causes that are right, functions that are right). No cause:
the job is healthy, and silence is right. No function: the cause alone is right, and a function would be wrong.
Functions are those that people would look at first; where a library below has Python code of its own, so named.
"""
HOST, COMPUTE, LOADER, GC = "host_slow", "compute_slow", "dataloader", "gc"
WAITS = (HOST,)
OWN = (HOST, COMPUTE)  # a thread that computes in Python or C is either, by how busy its core is


def planted(name, at="step", causes=OWN, also=(), group="software", **options):
    where = "" if at in ("step", "model") else f" in {at}"
    kind = " of a worker" if options.get("workers") else " every third iteration" if options.get("every") else ""
    return (name + where + kind, group, {"case": name, "at": at, **options},
            causes, (name, *also))


CASES = (
    # It sleeps.
    planted("send_metrics", causes=WAITS, rank=0),
    planted("send_metrics", "forward", causes=WAITS, rank=1),
    planted("send_metrics", "backward", causes=WAITS, rank=2),
    planted("send_metrics", "optimizer", causes=WAITS, rank=0),
    planted("log_through_logger", causes=WAITS, rank=1, also=("flush_buffer", "MetricsLogger.flush_buffer")),
    planted("run_callbacks", causes=WAITS, rank=2, also=("on_step_end",)),
    planted("walk_tree", causes=WAITS, rank=0),
    planted("draw_samples", causes=WAITS, rank=1, also=("sample_slowly",)),
    planted("guarded_step", causes=WAITS, rank=2, also=("slow_guard",)),
    planted("print_slowly", causes=WAITS, rank=0),
    # It computes in Python, or in what Python calls.
    planted("format_report", rank=1, also=("until", "<lambda>", "format_report.<locals>.<lambda>")),
    planted("match_patterns", rank=2),
    planted("sort_records", rank=0, also=("<lambda>", "sort_records.<locals>.<lambda>")),
    planted("tokenize_text", rank=1),
    planted("copy_state", rank=2),
    planted("hash_weights", rank=0),
    planted("compress_log", rank=1),
    planted("whiten_features", rank=2),
    planted("log_spectrum", rank=0),
    planted("pickle_checkpoint", rank=1),
    planted("evaluate_again", "model", rank=2),
    # Files, processes, sockets.
    planted("save_checkpoint", rank=0),
    planted("write_journal", rank=1),
    planted("list_shards", rank=2, also=("<listcomp>", "list_shards.<locals>.<listcomp>")),
    planted("commit_rows", rank=0),
    planted("call_tool", causes=WAITS, rank=1),
    planted("fetch_remote", causes=WAITS, rank=2),
    # Locks and other threads.
    planted("update_shared_stats", causes=WAITS, rank=0),
    planted("await_result", causes=WAITS, rank=1),
    planted("await_future", causes=WAITS, rank=2),
    planted("await_event", causes=WAITS, rank=0),
    # Garbage.
    planted("collect_garbage", rank=1, causes=(GC,)),
    planted("build_cycles", rank=2, causes=(GC, *OWN)),
    # Native code of the user's.
    planted("spin_in_c", rank=0),
    planted("spin_in_c_with_gil", rank=1),
    planted("doze_in_c", causes=WAITS, rank=2),
    # The data loader, in its process and in a worker.
    planted("read_sample", "dataset", (LOADER,), rank=0),
    planted("decode_sample", "dataset", (LOADER, *OWN), ("<genexpr>", "decode_sample.<locals>.<genexpr>"), rank=1),
    planted("pad_batch", "collate", (LOADER,), rank=2),
    planted("read_sample", "dataset", (LOADER,), rank=1, workers=1),
    planted("decode_sample", "dataset", (LOADER,), ("<genexpr>", "decode_sample.<locals>.<genexpr>"), rank=2,
            workers=1),
    # Comes and goes.
    planted("send_metrics", causes=WAITS, rank=1, every=3, seconds=0.12),
    # More work: no function is to blame.
    ("a batch ten times as large", "software", {"case": "batch", "at": "batch", "rank": 1}, (COMPUTE,), ()),
    # Nothing is wrong.
    ("healthy", "none", {"case": "none"}, (), ()),
    ("healthy with workers of a loader", "none", {"case": "none", "workers": 1}, (), ()),
    ("all ranks wait alike", "none", {"case": "send_metrics", "rank": -1, "from-iteration": 0}, (), ()),
    ("all ranks compute alike", "none", {"case": "format_report", "rank": -1, "from-iteration": 0, "seconds": 0.03},
     (), ()),
)
