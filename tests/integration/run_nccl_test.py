#!/usr/bin/env python3
"""Simulated GPU jobs from end to end: a training program on stand-ins for NCCL and CUDA, traced by
libfathom.so as it would be on GPUs, agent, collector, verdict."""
import json
import pathlib
import re
import sys
import tempfile
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "daemon/tracer/preload"))
from ring_file import RingFile  # noqa: E402
from harness import BUILD, RunTest, end, environment, run, start, wait_for

FATHOM = str(BUILD / "fathom")
TRAIN = str(BUILD / "tests/fake_train")
TRAINER = str(BUILD / "tests/fake_nccl/libfake_trainer.so")
LOOP = str(pathlib.Path(__file__).resolve().parent / "jobs/gpu_loop.py")
WITH_CUDA = (BUILD / "tests/fake_cuda/libcuda.so.1").exists()
NVML = BUILD / "tests/fake_nvml/libnvidia-ml.so.1"
PATIENCE_S = 240
# As much of PyTorch as the start-up hook looks at, for jobs that run without it.
STAND_IN = {
    **{f"torch/{package}__init__.py": "" for package in ("", "distributed/", "optim/", "utils/", "utils/data/")},
    "torch/optim/optimizer.py": """
before, after = [], []
register_optimizer_step_pre_hook, register_optimizer_step_post_hook = before.append, after.append
class Optimizer:
    param_groups = []
    def step(self):
        for hook in before: hook(self, (), {})
        for hook in after: hook(self, (), {})
""",
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
            self.fail("no such report; verdicts: %s, signals: %s, iterations: %s" % (
                [(v["cause"], v["grade"], v["entity"], [e["statement"] for e in v["evidence"]])
                 for v in self.last.get("verdicts", [])],
                signals(self.last) if "coverage" in self.last else {}, self.last.get("iterations")))

    def fathom(self, *arguments):
        """The output of another verb, asked of the same collector."""
        address = self.url.split("//")[1].rstrip("/")
        return run([FATHOM, *map(str, arguments), "--collector-http", address])

    def verdict_of(self, *options, causes, ranks, **more):
        report = self.report_of(*options, until=convicts, **more)
        self.check(report, causes, ranks)
        return report

    def verdict_of_sixteen(self, *options, causes, ranks, **more):
        """Sixteen devices that two cores play may be slow in earnest before the fault, where others take the cores:
        the one with the fault has to be named, before all others."""
        def named(report):
            return convicts(report) and report["verdicts"][0]["entity"]["ranks"] == ranks

        self.check(self.report_of(*options, until=named, **more), causes, ranks)

    def check(self, report, causes, ranks):
        verdict = report["verdicts"][0]
        self.assertIn(verdict["cause"], causes, verdict)
        self.assertEqual(verdict["entity"]["ranks"], ranks, verdict)

    def test_a_healthy_job_is_seen_and_acquitted(self):
        report = self.report_of("--tp", 2, "--pp", 2, "--dp", 2, until=lambda r: int(r["iterations"]["count"]) >= 150)
        self.assertEqual(report["job"]["ranks"], 8)
        self.assertEqual(report["verdicts"], [])

    def test_a_throttled_gpu_and_the_kernel_that_got_slow(self):
        report = self.verdict_of("--tp", 2, "--dp", 2, "--fault", "slow_gpu", "--rank", 2, "--at", 120, "--ms", 200,
                                 causes=("compute_slow",), ranks=[2], CUDA_VISIBLE_DEVICES="1,5,3,2")
        self.names_the_gpu(report["verdicts"][0], "0000:3E:00.0" if WITH_CUDA else "2")
        if not WITH_CUDA:
            return
        wait_for(self.a_window_names_the_kernel, PATIENCE_S)
        doctor = self.fathom("doctor", "--job", "gpu")
        self.assertEqual(doctor.returncode, 0, doctor.stderr)
        self.assertIn(b"gpu_window", doctor.stdout)
        self.assertRegex(doctor.stdout.decode(), r"(?m)^ *2 +\S+ +0000:3E:00\.0 ")

    def a_window_names_the_kernel(self):
        """A window that holds a launch less of one rank than of another tells nothing of kernels: False, try again."""
        profile = self.fathom("profile", "--seconds", 1, "-o", "json")
        self.assertEqual(profile.returncode, 0, profile.stderr)
        ranks = {r["rank"]: r for r in json.loads(profile.stdout)["ranks"]}
        self.assertEqual({r["state"] for r in ranks.values()}, {"closed"}, ranks)
        totals = {rank: total(r, "gemm_backward") for rank, r in ranks.items()}
        counts = {rank: count(r, "gemm_backward") for rank, r in ranks.items()}
        # A kernel that is in flight when its window closes is lost: of one iteration at most.
        apart = max(counts.values()) - min(counts.values())
        self.assertLessEqual(apart, 2, "all ranks opened and closed at the same iteration: %s" % counts)
        self.assertGreater(totals[2], 3 * max(totals[0], totals[1], totals[3]), totals)

        def told():
            report = self.get("report")
            return any("Kernel gemm_backward" in e["statement"] for e in evidence(report)) and \
                all(signals(report)[name] == "on" for name in ("gpu_times", "gpu_launches", "gpu_kernels"))

        try:
            return wait_for(told, 20)
        except AssertionError:
            return False

    def names_the_gpu(self, verdict, gpu):
        """In the report, in words, and in what to do: the third of those that the process may see."""
        self.assertEqual(verdict["entity"]["gpu"], gpu)
        self.assertIn(f"(GPU {gpu})", verdict["sentence"])
        self.assertEqual("nvidia-smi -q -i 0000:3E:00.0" in verdict["action"]["command"], WITH_CUDA)
        health = {r["rank"]: r["gpu"] for r in self.get("health")["ranks"]}
        self.assertEqual(health[2], {"number": 2, "bus_id": "0000:3E:00.0" if WITH_CUDA else "", "uuid": ""})
        self.assertEqual(health[0]["bus_id"], "0000:26:00.0" if WITH_CUDA else "")
        explained = self.fathom("explain", verdict["id"])
        self.assertIn(f", GPU {gpu}", explained.stdout.decode())

    @unittest.skipUnless(NVML.exists() and WITH_CUDA, "no header of NVML or CUDA")
    def test_a_gpu_that_throttles_says_so_itself(self):
        """The rank's GPU computes longer from iteration 1500 on, and the driver's library tells of a lower clock.

        By then its clock is known for the ten seconds that say what is usual."""
        gpus = pathlib.Path(tempfile.mkdtemp()) / "gpus.txt"
        healthy = "gpus 4\n* sm_clock 1980\n* max_sm_clock 1980\n* reasons 0\n* temperature 60\n" + "".join(
            f"{i} bus {0x1a + 12 * i:02X}\n" for i in range(4))
        gpus.write_text(healthy)
        process = start([FATHOM, "run", "--job", "gpu", "--", TRAIN, "--spawn", "--iterations", "100000", "--dp", "4", "--fault",
                         "slow_gpu", "--rank", "2", "--at", "1500", "--ms", "200"], start_new_session=True,
                        env=environment(FAKE_NVML=str(gpus), FATHOM_NVML_LIBRARY=str(NVML)))
        self.addCleanup(end, process)
        self.url = process.stderr.readline().split()[-1].decode()
        self.wait_for_report(lambda report: int(report.get("iterations", {}).get("count", 0)) >= 1500)
        throttled = gpus.with_suffix(".new")
        throttled.write_text(healthy + "2 sm_clock 1200\n2 reasons 32\n2 temperature 89\n")
        throttled.rename(gpus)
        report = self.wait_for_report(lambda report: any(v.get("detail", {}).get("counter") for v in report.get("verdicts", [])))
        verdict = report["verdicts"][0]
        self.assertEqual((verdict["cause"], verdict["entity"]["type"], verdict["entity"]["ranks"]), ("compute_slow", "gpu", [2]))
        self.assertEqual(verdict["detail"]["counter"], "sm_clock of GPU 0000:32:00.0")
        self.assertRegex(verdict["sentence"], r"computing, thermal throttling since \d\d:\d\d:\d\d UTC \(SM clock 1,980 → 1,200 MHz\), in each")
        nodes = self.get("hardware")["nodes"]
        clocks = {rank: series["points"][-1][1] for device in nodes[0]["devices"] for rank in device["ranks"]
                  for series in device["series"] if series["metric"] == "sm_clock"}
        self.assertEqual(clocks, {0: 1980, 1: 1980, 2: 1200, 3: 1980})

    def test_a_throttled_gpu_whose_buckets_are_reduced_beside_its_computing(self):
        """It is ahead of nobody, so that its peers' ops begin earlier, fifty times an iteration: that is charged once."""
        report = self.verdict_of("--tp", 1, "--dp", 4, "--overlap", 50, "--fault", "slow_gpu", "--rank", 2, "--ms", 40,
                                 causes=("compute_slow",), ranks=[2])
        cost = report["verdicts"][0]["cost"]
        # Of an iteration of 140 ms that was one of 100; charged bucket by bucket it is 80 and more.
        self.assertLess(cost["slowdown"], 1.8, cost)

    def test_a_throttled_gpu_among_sixteen(self):
        self.verdict_of_sixteen("--tp", 2, "--pp", 2, "--dp", 4, "--fault", "slow_gpu", "--rank", 9, "--at", 60, "--ms", 500,
                                causes=("compute_slow",), ranks=[9])

    def test_a_slow_link_among_sixteen(self):
        self.verdict_of_sixteen("--tp", 2, "--pp", 4, "--dp", 2, causes=("communication_slow", "link_slow"), ranks=[3, 11],
                                FAKE_NCCL_SLOW_LINK="3:11:6000:300")

    def test_a_rank_of_sixteen_that_stops_coming(self):
        self.verdict_of_sixteen("--tp", 2, "--pp", 2, "--dp", 4, "--fault", "hang", "--rank", 9, "--at", 60,
                                causes=("noncommunication_hang",), ranks=[9])

    def test_a_slow_python_function_among_sixteen(self):
        report = self.report_of_command([sys.executable, LOOP, TRAINER, "16"], convicts,
                                        PYTHONPATH=str(pathlib.Path(LOOP).parent), FATHOM_FUNCTIONS="augment:resize")
        self.check(report, ("host_slow",), [1])
        self.assertTrue(any("augment:resize" in e["statement"] for e in evidence(report)), evidence(report))

    def test_a_host_that_launches_too_slowly(self):
        if not WITH_CUDA:
            self.skipTest("no CUDA headers")
        report = self.verdict_of("--dp", 4, "--small", 20, causes=("host_slow",), ranks=[1],
                                 FAKE_CUDA_SLOW_LAUNCH="1:700:10000")
        self.assertTrue(any("longer launching" in e["statement"] for e in evidence(report)), evidence(report))

    def test_a_slow_link(self):
        self.verdict_of("--pp", 2, "--dp", 2, causes=("communication_slow", "link_slow"), ranks=[0, 2],
                        FAKE_NCCL_SLOW_LINK="0:2:1000:1500")

    def test_a_slow_python_function(self):
        jobs = str(pathlib.Path(LOOP).parent)
        report = self.report_of_command([sys.executable, LOOP, TRAINER, "4"], convicts, PYTHONPATH=jobs,
                                        FATHOM_FUNCTIONS="augment:resize,augment:normalise")
        self.check(report, ("host_slow",), [1])
        self.assertTrue(any("augment:resize" in e["statement"] or "augment:normalise" in e["statement"]
                            for e in evidence(report)), evidence(report))

    def test_garbage_collection_and_a_slow_loader_have_their_own_names(self):
        jobs, stand_in = pathlib.Path(LOOP).parent, self.stand_in()
        for work, cause in (("collects", "gc"), ("loads", "dataloader")):
            with self.subTest(work):
                report = self.report_of_command([sys.executable, LOOP, TRAINER, "4", work], convicts,
                                                PYTHONPATH=f"{jobs}:{stand_in}")
                self.check(report, (cause,), [1])

    def stand_in(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in STAND_IN.items():
            module = pathlib.Path(folder.name) / name
            module.parent.mkdir(parents=True, exist_ok=True)
            module.write_text(text)
        return folder.name

    @unittest.skipUnless(WITH_CUDA, "no headers of CUDA: no stand-in for it")
    def test_a_process_on_its_own_is_told_that_it_waits_for_its_gpu(self):
        command = [sys.executable, str(pathlib.Path(LOOP).parent / "gpu_alone.py"), TRAINER, "150"]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "report.json"
            done = run([FATHOM, "run", "--report", str(file), "--", *command], timeout=120,
                       env=environment(PYTHONPATH=self.stand_in()))
            self.assertEqual(done.returncode, 0, done.stderr)
            report = json.loads(file.read_text())
        self.assertEqual(int(report["iterations"]["count"]), 150)
        step = report["step"]
        self.assertEqual((step["clock"], step["bound"]), ("host", ["gpu"]), step)

    def test_sources_are_switched_while_the_job_runs(self):
        self.report_of("--tp", 2, "--dp", 2, until=lambda r: int(r["iterations"]["count"]) >= 60)
        sources = ["nccl_plugin"] + ["cuda"] * WITH_CUDA
        self.assertIn("gpu_end", self.kinds_now())
        self.assertEqual(len(self.switch("off", ",".join(sources))), 1, "all ranks switched behind the same op")
        kinds = wait_for(lambda: (k := self.kinds_now()) and not k & {"gpu_start", "gpu_end", "device_calls"} and k, 20)
        self.assertIn("enter", kinds)
        health = self.get("health")
        self.assertEqual([r["switched_off"] for r in health["ranks"]], [sources] * 4)
        self.assertEqual({r["sources"]["nccl_plugin"] for r in health["ranks"]}, {"switched_off"})
        hidden = {s["name"]: s["state"] + s["hides"] for s in self.get("report")["coverage"]["signals"]}
        self.assertRegex(hidden["gpu_times"], r"^off.*switched off by `fathom trace` on 4 ranks")
        self.assertIn(b"switched_off", self.fathom("doctor", "--job", "gpu").stdout)
        self.assertEqual(len(self.switch("on", ",".join(sources))), 1)
        wait_for(lambda: {"gpu_start", "gpu_end"} <= self.kinds_now(), 20)
        self.assertEqual(self.fathom("trace", "show").stdout.decode().splitlines()[-1], "nothing is switched off")
        self.assertEqual(self.get("report")["verdicts"], [], "what is told changed, the job did not")

    def test_who_cannot_be_switched_or_read_is_told(self):
        self.report_of("--dp", 2, until=lambda r: int(r["iterations"]["count"]) >= 60)
        for arguments, word in ((("off", "nccl"), "by its calls ops are numbered"), (("off", "warp"), "no source 'warp'"),
                                (("off", "nccl_plugin", "--ranks", 1), "all ranks"), (("off", "cuda", "--ranks", 7), "none of")):
            refused = self.fathom("trace", *arguments)
            self.assertEqual(refused.returncode, 1)
            self.assertIn(word, refused.stderr.decode())
        # While an iteration is not known of rank 1, which a busy machine makes last, nothing is switched.
        off = wait_for(lambda: (done := self.fathom("trace", "off", "cuda", "--ranks", "1,7", "-o", "json")).stdout and done, 20)
        some = json.loads(off.stdout)
        self.assertEqual([(r["rank"], r["state"], r["reason"]) for r in some["ranks"]],
                         [(1, "done", ""), (7, "refused", "unknown_rank")])
        stacks = json.loads(self.fathom("trace", "stacks", "--ranks", "0,7", "-o", "json").stdout)
        self.assertEqual([(r["rank"], r["state"]) for r in stacks["ranks"]], [(0, "read"), (7, "refused")], stacks)
        self.assertTrue(stacks["ranks"][0]["frames"])

    def switch(self, *order):
        """The ops behind which the ranks switched."""
        done = self.fathom("trace", *order, "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        ranks = json.loads(done.stdout)["ranks"]
        self.assertEqual({r["state"] for r in ranks}, {"done"}, ranks)
        return {r["at_sequence"] for r in ranks}

    def kinds_now(self):
        """What kinds the newest records in the ring of a rank are of."""
        rings = sorted(pathlib.Path(ring_folder()).glob("*.ring"))
        return {record.kind for record in RingFile(rings[0]).records[-200:]}

    def get(self, what):
        with urllib.request.urlopen(f"{self.url}api/v1/jobs/gpu/{what}", timeout=10) as reply:
            return json.load(reply)

    def test_a_slow_host(self):
        self.verdict_of("--dp", 4, "--fault", "slow_host", "--rank", 1, "--at", 120, "--ms", 200,
                        causes=("host_slow",), ranks=[1])

    def test_a_rank_that_stops_coming(self):
        self.verdict_of("--dp", 4, "--fault", "hang", "--rank", 3, "--at", 100,
                        causes=("noncommunication_hang",), ranks=[3])

    def test_a_gpu_that_does_not_begin_what_all_others_have_begun(self):
        report = self.verdict_of("--dp", 4, "--fault", "stuck_gpu", "--rank", 2, "--at", 100,
                                 causes=("noncommunication_hang",), ranks=[2])
        self.assertEqual(report["verdicts"][0]["victims"], [0, 1, 3])

    def test_a_link_on_which_steps_of_a_ring_are_lost(self):
        report = self.report_of("--dp", 4, until=names_a_link, FAKE_NCCL_NET="1", FAKE_NCCL_STUCK_LINK="1:2:600")
        verdict = report["verdicts"][0]
        self.assertEqual((verdict["cause"], verdict["entity"]["ranks"], verdict["victims"]),
                         ("communication_hang", [1, 2], [0, 3]), verdict)
        self.assertEqual(verdict["entity"]["link"], {"src": "rank 1", "dst": "rank 2"})
        said = " ".join(e["statement"] for e in evidence(report))
        self.assertRegex(said, "Of what rank 1 sends to rank 2 on channel 0 the network has taken [3-6] of 6 steps and "
                               "2 have arrived")


def ring_folder():
    """Where the ranks of the job that runs have their rings."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (process / "exe").resolve() == pathlib.Path(TRAIN).resolve():
                found = re.search(rb"FATHOM_SHM_DIR=([^\0]+)", (process / "environ").read_bytes())
                return found[1].decode()
        except (OSError, TypeError):
            continue
    raise AssertionError("no rank runs")


def names_a_link(report):
    return any(v["entity"]["type"] == "link" and v["grade"] == "supported" for v in report["verdicts"])


def convicts(report):
    return any(v["grade"] in ("established", "supported") for v in report["verdicts"])


def signals(report):
    return {s["name"]: s["state"] for s in report["coverage"]["signals"]}


def evidence(report):
    return report["verdicts"][0]["evidence"]


def total(rank, kernel):
    return sum(s["total_s"] for s in rank["sums"] if s["name"] == kernel)


def count(rank, kernel):
    return sum(s["count"] for s in rank["sums"] if s["name"] == kernel)


if __name__ == "__main__":
    unittest.main()
