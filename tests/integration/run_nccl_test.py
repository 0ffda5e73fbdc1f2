#!/usr/bin/env python3
"""Simulated GPU jobs from end to end: a training program on a stand-in for NCCL, traced by
libfathom.so as it would be on GPUs, agent, collector, verdict."""
import json
import unittest
import urllib.request

from harness import BUILD, RunTest, end, environment, start, wait_for

FATHOM = str(BUILD / "fathom")
TRAIN = str(BUILD / "tests/fake_train")
PATIENCE_S = 90


class Nccl(RunTest):
    def report_of(self, *options, until, **more):
        """The first report of a run for which `until` holds. The job is ended then."""
        process = start([FATHOM, "run", "--job", "gpu", "--", TRAIN, "--spawn", "--iterations", "100000",
                         *map(str, options)], env=environment(**more), start_new_session=True)
        self.addCleanup(end, process)
        url = process.stderr.readline().split()[-1].decode()
        self.last = {}

        def look():
            try:
                with urllib.request.urlopen(url + "api/v1/jobs/gpu/report", timeout=10) as reply:
                    self.last = json.load(reply)
            except OSError:
                return None
            return self.last if until(self.last) else None

        try:
            return wait_for(look, PATIENCE_S)
        except AssertionError:
            self.fail("no such report; verdicts: %s, iterations: %s" %
                      ([(v["cause"], v["grade"], v["entity"]) for v in self.last.get("verdicts", [])],
                       self.last.get("iterations")))

    def verdict_of(self, *options, causes, ranks, **more):
        def found(report):
            return any(v["grade"] in ("established", "supported") for v in report["verdicts"])

        report = self.report_of(*options, until=found, **more)
        verdict = report["verdicts"][0]
        self.assertIn(verdict["cause"], causes, verdict)
        self.assertEqual(verdict["entity"]["ranks"], ranks, verdict)
        return report

    def test_a_healthy_job_is_seen_and_acquitted(self):
        report = self.report_of("--tp", 2, "--pp", 2, "--dp", 2, until=lambda r: int(r["iterations"]["count"]) >= 150)
        self.assertEqual(report["job"]["ranks"], 8)
        self.assertEqual(report["verdicts"], [])

    def test_a_throttled_gpu(self):
        self.verdict_of("--tp", 2, "--dp", 2, "--fault", "slow_gpu", "--rank", 2, "--at", 120, "--ms", 60,
                        causes=("compute_slow",), ranks=[2])

    def test_a_slow_host(self):
        self.verdict_of("--dp", 4, "--fault", "slow_host", "--rank", 1, "--at", 120, "--ms", 60,
                        causes=("host_slow",), ranks=[1])

    def test_a_rank_that_stops_coming(self):
        self.verdict_of("--dp", 4, "--fault", "hang", "--rank", 3, "--at", 100,
                        causes=("noncommunication_hang",), ranks=[3])


if __name__ == "__main__":
    unittest.main()
