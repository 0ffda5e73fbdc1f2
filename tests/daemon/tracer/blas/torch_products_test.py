"""A real PyTorch process under libfathom.so: the floating-point operations of its steps are those of its layers.

    torch_products_test.py LIBFATHOM SITE   (run by FATHOM_PYTHON)

Exit code 77, with the reason, where PyTorch is missing.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "preload"))
from fake_agent import FakeAgent  # noqa: E402
from ring_file import RingFile  # noqa: E402

LIBRARY, SITE = sys.argv[1:3]
STEPS, ROWS, WIDTH, HIDDEN = 12, 256, 64, 512
JOB = f"""
import torch
torch.set_num_threads(1)
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear({WIDTH}, {HIDDEN}), torch.nn.GELU(), torch.nn.Linear({HIDDEN}, {WIDTH}))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn({ROWS}, {WIDTH})
for _ in range({STEPS}):
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(f"{{loss.item():.9f}}")
"""
# Forward both layers; backward the weights of both, and the input of the second.
A_STEP = 5 * 2 * ROWS * WIDTH * HIDDEN


class TorchProductsTest(unittest.TestCase):
    def test_each_step_takes_what_its_layers_need(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        env = {k: v for k, v in os.environ.items() if not k.startswith("FATHOM_")} | {"OMP_NUM_THREADS": "1"}
        alone = subprocess.run([sys.executable, "-c", JOB], env=env, capture_output=True, text=True, timeout=120)
        with FakeAgent(folder) as agent:
            env |= {"LD_PRELOAD": LIBRARY, "PYTHONPATH": SITE, "FATHOM_SHM_DIR": str(folder)}
            run = subprocess.run([sys.executable, "-c", JOB], env=env, capture_output=True, text=True, timeout=120)
            ring, = [RingFile(path) for path in agent.rings()]
        self.assertEqual((run.returncode, run.stdout), (0, alone.stdout), run.stderr)
        steps, told = [], 0
        for record in ring.records:
            if record.kind == "products":
                told += record.bytes
            elif record.kind == "enter":
                steps.append(told)
                told = 0
        # What came before the tracer was turned on, by the first step, was not seen.
        self.assertEqual(steps[1:], [A_STEP] * (STEPS - 1))


if __name__ == "__main__":
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode != 0:
        print("skipped: no torch in", sys.executable)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=1)
