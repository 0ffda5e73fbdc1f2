#!/usr/bin/python3
"""The image of deploy/image: made, unpacked and run by runc, as the manifests of deploy/k8s run it.

Skips (77) without root, umoci and runc, or where Debian's part is not in the cache yet.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAKE = ROOT / "deploy/image/make"
K8S = ROOT / "deploy/k8s"
PROGRAMS = ("fathom", "fathomd", "fathom-collector", "fathom-cordon", "fathom-probe")


def why_not_here():
    if os.getuid() != 0:
        return "it needs root"
    missing = [tool for tool in ("umoci", "runc", "dpkg-shlibdeps") if not shutil.which(tool)]
    if missing:
        return f"no {', '.join(missing)} (Debian: umoci runc dpkg-dev)"
    run = subprocess.run([MAKE, "--check"], capture_output=True, text=True)
    return None if run.returncode == 0 else run.stderr.strip()


class ImageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-image-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        made = subprocess.run([MAKE, cls.folder / "layout", "1.2.3"], capture_output=True, text=True, timeout=300)
        assert made.returncode == 0, made.stderr
        subprocess.run(["umoci", "unpack", "--image", f"{cls.folder}/layout:1.2.3", cls.folder / "bundle"], check=True,
                       capture_output=True, timeout=300)
        cls.config = json.loads((cls.folder / "bundle/config.json").read_text())

    def run_inside(self, *argv, name="one", user=0, mounts=(), wait=True, read_only=False):
        """As a kubelet would: a process of the image, without its own network, all capabilities gone but for root's."""
        config = json.loads(json.dumps(self.config))
        config["process"].update(args=list(argv), terminal=False, user={"uid": user, "gid": user})
        config["root"]["readonly"] = read_only
        config["linux"].pop("resources", None)
        config["mounts"] += [{"destination": to, "type": "bind", "source": str(at), "options": ["rbind", "rw"]} for to, at in mounts]
        (self.folder / "bundle/config.json").write_text(json.dumps(config))
        process = subprocess.Popen(["runc", "--root", self.folder / "runc", "run", "--bundle", self.folder / "bundle",
                                    f"fathom-{os.getpid()}-{name}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        if not wait:
            return process
        output, errors = process.communicate(timeout=120)
        return process.returncode, output, errors

    def test_its_configuration_is_an_image_of_this_architecture(self):
        index = json.loads((self.folder / "layout/index.json").read_text())
        self.assertEqual(index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"], "1.2.3")
        self.assertEqual(self.config["process"]["args"], ["/usr/bin/fathom"])

    def test_each_program_runs_and_finds_all_its_libraries(self):
        for program in PROGRAMS:
            asked = ["--list"] if program == "fathom-probe" else ["--version"]
            code, output, errors = self.run_inside(f"/usr/bin/{program}", *asked)
            self.assertEqual((code, errors), (0, ""), program)
            code, output, _ = self.run_inside("/bin/sh", "-c", f"ldd /usr/bin/{program}")
            self.assertNotIn("not found", output)

    def test_every_command_of_the_manifests_is_there(self):
        commands = set()
        for file in K8S.glob("*/*.yaml"):
            for thing in yaml.safe_load_all(file.read_text()):
                pod = (thing or {}).get("spec", {}).get("template", {}).get("spec", {}) if thing else {}
                for container in pod.get("containers", []) + pod.get("initContainers", []):
                    commands.add(container["command"][0])
                    for probe in ("livenessProbe", "readinessProbe"):
                        commands.add(container.get(probe, {}).get("exec", {}).get("command", [container["command"][0]])[0])
        self.assertGreater(len(commands), 4)
        tools = ["curl", "jq", "openssl", "base64", "sha256sum", "find", "cp", "mktemp", "date", "cut", "tr"]
        script = "for c in " + " ".join(sorted(commands) + tools) + "; do command -v $c > /dev/null || echo no $c; done"
        self.assertEqual(self.run_inside("/bin/bash", "-c", script), (0, "", ""))

    def test_the_tracer_lies_where_the_agent_takes_it_from(self):
        containers = next(yaml.safe_load_all((K8S / "agent/daemonset.yaml").read_text()))["spec"]["template"]["spec"]["initContainers"]
        copy = next(c for c in containers if "cp -r /usr/share/fathom/site" in "".join(c.get("args", [])))
        target = self.folder / "opt"
        target.mkdir()
        code, _, errors = self.run_inside(*copy["command"], *copy["args"], mounts=[("/opt/fathom", target)])
        self.assertEqual((code, errors), (0, ""))
        self.assertTrue((target / "libfathom.so").exists())

    def test_a_collector_serves_as_nobody_with_a_root_that_is_read_only(self):
        data = self.folder / "data"
        data.mkdir()
        os.chown(data, 65534, 65534)
        process = self.run_inside("/usr/bin/fathom-collector", "--store", "/data/history.db", "--grpc", "127.0.0.1:0", "--http",
                                  "127.0.0.1:7070", name="collector", user=65534, mounts=[("/data", data)], wait=False,
                                  read_only=True)
        try:
            self.assertIn("http=", process.stdout.readline() or process.stderr.read())
            ask = ["runc", "--root", self.folder / "runc", "exec", f"fathom-{os.getpid()}-collector"]
            deadline = time.monotonic() + 60
            while (run := subprocess.run([*ask, "/usr/bin/curl", "-sSf", "http://127.0.0.1:7070/readyz"], capture_output=True,
                                         text=True)).returncode != 0 and time.monotonic() < deadline:
                time.sleep(0.2)
            self.assertEqual(run.returncode, 0, run.stderr)
            run = subprocess.run([*ask, "/usr/bin/fathom", "get", "jobs"], capture_output=True, text=True, timeout=60)
            self.assertIn("no jobs", run.stdout + run.stderr)
        finally:
            subprocess.run(["runc", "--root", self.folder / "runc", "kill", f"fathom-{os.getpid()}-collector", "TERM"])
            process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)

    def test_the_same_commit_gives_the_same_image(self):
        again = self.folder / "again"
        made = subprocess.run([MAKE, again, "1.2.3"], capture_output=True, text=True, timeout=300)
        self.assertEqual(made.returncode, 0, made.stderr)
        names = [sorted(p.name for p in (at / "blobs/sha256").iterdir()) for at in (self.folder / "layout", again)]
        self.assertEqual(*names)

    def test_what_is_missing_is_said(self):
        run = subprocess.run([MAKE, self.folder / "layout"], capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 1)
        self.assertIn("is there already", run.stderr)
        run = subprocess.run([MAKE, "--check"], capture_output=True, text=True, env={**os.environ, "FATHOM_BINARY_DIR": "/nowhere"})
        self.assertIn("nothing is built", run.stderr)


if __name__ == "__main__":
    if why := why_not_here():
        print(f"skipped: {why}")
        sys.exit(77)
    unittest.main()
