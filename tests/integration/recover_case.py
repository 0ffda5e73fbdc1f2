"""A stand-in for the collector for tests of `fathom recover`: one verdict on one node, and one job as it runs elsewhere."""
import json
import time

from fakes.local_server import Handler, LocalServer


class Collector(LocalServer):
    """A verdict on the node `sick`, open until it is closed, and a job of `size` ranks, which are on the nodes that `where` names."""

    def __init__(self, job, size, nodes, where):
        self.job, self.size, self.nodes, self.where = job, size, nodes, where
        self.sick, self.open, self.iteration = None, True, 0
        self.told = []  # how its recoveries stood, in the order in which they were told
        outer = self

        class Answers(Handler):
            def do_GET(self):
                self.reply(200, json.dumps(outer.answer(self.path)).encode())

            def do_POST(self):
                outer.told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.reply(200, json.dumps({"kept": outer.told[-1]["id"]}).encode())

        super().__init__(Answers)

    def answer(self, path):
        on = [n for n in self.where() if n]
        if "/verdicts" in path:
            verdict = {"id": "v1", "grade": "established", "cause": "compute_slow", "class": "noncommunication_slow",
                       "entity": {"type": "rank", "ranks": [0], "node": self.sick}, "sentence": "it is slow",
                       "cost": {"slowdown": 2}, "since": {"time_unix_ns": time.time_ns()}}
            return {"verdicts": [verdict] if self.open else []}
        if "/nodes" in path:
            return {"nodes": [{"name": n, "connected": True, "ranks": on.count(n)} for n in self.nodes], "probes": []}
        if "/actions" in path:
            return {"actions": []}
        self.iteration += len(on) == self.size
        ranks = [{"rank": i, "node": n, "pid": i + 1, "state": "running"} for i, n in enumerate(on)]
        one = {"name": self.job, "world_size": self.size, "ranks": self.size, "iteration": self.iteration, "iteration_s": 0.1,
               "baseline_s": 0.1, "slowdown": 2, "rank_info": ranks}
        return one if self.job in path else {"jobs": [one]}
