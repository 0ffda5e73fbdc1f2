#!/usr/bin/env python3
"""Simulated GPU jobs from end to end: a training program on stand-ins for NCCL and CUDA, traced by
libfathom.so as it would be on GPUs, agent, collector, verdict."""
import json
import pathlib
import sys
import tempfile
import unittest
import urllib.request

from harness import BUILD, RunTest, end, environment, run, start, wait_for

FATHOM = str(BUILD / "fathom")
TRAIN = str(BUILD / "tests/fake_train")
TRAINER = str(BUILD / "tests/fake_nccl/libfake_trainer.so")
LOOP = str(pathlib.Path(__file__).resolve().parent / "jobs/gpu_loop.py")
WITH_CUDA = (BUILD / "tests/fake_cuda/libcuda.so.1").exists()
PATIENCE_S = 90
# As much of PyTorch as the start-up hook looks at, for jobs that run without it.
STAND_IN = {
    **{f"torch/{package}__init__.py": "" for package in ("", "distributed/", "utils/", "utils/data/")},
    "torch/distributed/distributed_c10d.py": "def _new_process_group_helper(): pass\n",
    "torch/utils/data/dataloader.py": "class _BaseDataLoaderIter:\n    def __next__(self): return self.read()\n",
}


class Nccl(RunTest):
    def report_of(self, *options, until, **more):
        """The first report of a run for which `until` holds."""
        return self.report_of_command([TRAIN, "--spawn", "--iterations", "100000", *map(str, options)], until, **more)

    def report_of_command(self, command, until, **more):
        process = start([FATHOM, "run", "--job", "gpu", "--", *command], env=environment(**more), start_new_session=True)
        self.addCleanup(end, process)
        self.url = process.stderr.readline().split()[-1].decode()
        return self.wait_for_report(until)

    def wait_for_report(self, until):
        self.last = {}

        def look():
            try:
                with urllib.request.urlopen(self.url + "api/v1/jobs/gpu/report", timeout=10) as reply:
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

    def fathom(self, *arguments):
        """The output of another verb, asked of the same collector."""
        address = self.url.split("//")[1].rstrip("/")
        return run([FATHOM, *map(str, arguments), "--collector-http", address])

    def verdict_of(self, *options, causes, ranks, **more):
        report = self.report_of(*options, until=convicts, **more)
        self.check(report, causes, ranks)
        return report

    def check(self, report, causes, ranks):
        verdict = report["verdicts"][0]
        self.assertIn(verdict["cause"], causes, verdict)
        self.assertEqual(verdict["entity"]["ranks"], ranks, verdict)

    def test_a_healthy_job_is_seen_and_acquitted(self):
        report = self.report_of("--tp", 2, "--pp", 2, "--dp", 2, until=lambda r: int(r["iterations"]["count"]) >= 150)
        self.assertEqual(report["job"]["ranks"], 8)
        self.assertEqual(report["verdicts"], [])

    def test_a_throttled_gpu_and_the_kernel_that_got_slow(self):
        self.verdict_of("--tp", 2, "--dp", 2, "--fault", "slow_gpu", "--rank", 2, "--at", 120, "--ms", 60,
                        causes=("compute_slow",), ranks=[2])
        if not WITH_CUDA:
            return
        profile = self.fathom("profile", "--seconds", 1, "-o", "json")
        self.assertEqual(profile.returncode, 0, profile.stderr)
        ranks = {r["rank"]: r for r in json.loads(profile.stdout)["ranks"]}
        self.assertEqual({r["state"] for r in ranks.values()}, {"closed"}, ranks)
        totals = {rank: total(r, "gemm_backward") for rank, r in ranks.items()}
        counts = {rank: count(r, "gemm_backward") for rank, r in ranks.items()}
        self.assertEqual(len(set(counts.values())), 1, "all ranks opened and closed at the same iteration")
        self.assertGreater(totals[2], 3 * max(totals[0], totals[1], totals[3]), totals)
        self.wait_for_report(lambda r: any("Kernel gemm_backward" in e["statement"] for e in evidence(r)))
        states = {s["name"]: s["state"] for s in self.last["coverage"]["signals"]}
        self.assertEqual([states[name] for name in ("gpu_times", "gpu_launches", "gpu_kernels")], ["on"] * 3)
        doctor = self.fathom("doctor", "--job", "gpu")
        self.assertEqual(doctor.returncode, 0, doctor.stderr)
        self.assertIn(b"gpu_window", doctor.stdout)

    def test_a_throttled_gpu_among_sixteen(self):
        self.verdict_of("--tp", 2, "--pp", 2, "--dp", 4, "--fault", "slow_gpu", "--rank", 9, "--at", 60, "--ms", 120,
                        causes=("compute_slow",), ranks=[9])

    def test_a_host_that_launches_too_slowly(self):
        if not WITH_CUDA:
            self.skipTest("no CUDA headers")
        report = self.verdict_of("--dp", 4, "--small", 20, causes=("host_slow",), ranks=[1],
                                 FAKE_CUDA_SLOW_LAUNCH="1:700:10000")
        self.assertTrue(any("longer launching" in e["statement"] for e in evidence(report)), evidence(report))

    def test_a_slow_link(self):
        self.verdict_of("--pp", 2, "--dp", 2, causes=("communication_slow", "link_slow"), ranks=[0, 2],
                        FAKE_NCCL_SLOW_LINK="0:2:200:1500")

    def test_a_slow_python_function(self):
        jobs = str(pathlib.Path(LOOP).parent)
        report = self.report_of_command([sys.executable, LOOP, TRAINER, "4"], convicts, PYTHONPATH=jobs,
                                        FATHOM_FUNCTIONS="augment:resize,augment:normalise")
        self.check(report, ("host_slow",), [1])
        self.assertTrue(any("augment:resize" in e["statement"] or "augment:normalise" in e["statement"]
                            for e in evidence(report)), evidence(report))

    def test_garbage_collection_and_a_slow_loader_have_their_own_names(self):
        jobs, folder = pathlib.Path(LOOP).parent, tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in STAND_IN.items():
            module = pathlib.Path(folder.name) / name
            module.parent.mkdir(parents=True, exist_ok=True)
            module.write_text(text)
        for work, cause in (("collects", "gc"), ("loads", "dataloader")):
            with self.subTest(work):
                report = self.report_of_command([sys.executable, LOOP, TRAINER, "4", work], convicts,
                                                PYTHONPATH=f"{jobs}:{folder.name}")
                self.check(report, (cause,), [1])

    def test_a_slow_host(self):
        self.verdict_of("--dp", 4, "--fault", "slow_host", "--rank", 1, "--at", 120, "--ms", 60,
                        causes=("host_slow",), ranks=[1])

    def test_a_rank_that_stops_coming(self):
        self.verdict_of("--dp", 4, "--fault", "hang", "--rank", 3, "--at", 100,
                        causes=("noncommunication_hang",), ranks=[3])


    def test_a_link_on_which_steps_of_a_ring_are_lost(self):
        report = self.report_of("--dp", 4, until=names_a_link, FAKE_NCCL_NET="1", FAKE_NCCL_STUCK_LINK="1:2:600")
        verdict = report["verdicts"][0]
        self.assertEqual((verdict["cause"], verdict["entity"]["ranks"], verdict["victims"]),
                         ("communication_hang", [1, 2], [0, 3]), verdict)
        self.assertEqual(verdict["entity"]["link"], {"src": "rank 1", "dst": "rank 2"})
        said = " ".join(e["statement"] for e in evidence(report))
        self.assertRegex(said, "Of what rank 1 sends to rank 2 on channel 0 the network has taken [3-6] of 6 steps and "
                               "2 have arrived")


def names_a_link(report):
    return any(v["entity"]["type"] == "link" and v["grade"] == "supported" for v in report["verdicts"])


def convicts(report):
    return any(v["grade"] in ("established", "supported") for v in report["verdicts"])


def evidence(report):
    return report["verdicts"][0]["evidence"]


def total(rank, kernel):
    return sum(s["total_s"] for s in rank["sums"] if s["name"] == kernel)


def count(rank, kernel):
    return sum(s["count"] for s in rank["sums"] if s["name"] == kernel)


if __name__ == "__main__":
    unittest.main()
