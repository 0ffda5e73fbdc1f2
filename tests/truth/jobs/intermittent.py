"""Runs a script of torch_jobs whose fault comes in every K-th iteration only, and says when it first comes.

    intermittent.py K FOLDER/ddp.py --fault slow-python --rank 2 --from-iteration 0 …
"""
import pathlib
import runpy
import sys


def main():
    every, script = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    sys.path.insert(0, str(script.parent))
    import faults

    always, told = faults.Fault.now, []

    def now(self, kind):
        due = always(self, kind) and self.iteration % every == 0
        if due and not told:
            told.append(True)
            print("the fault begins", flush=True)
        return due

    faults.Fault.now = now
    sys.argv = sys.argv[2:]
    runpy.run_path(str(script), run_name="__main__")


main()
