"""Which GPU a communicator is on: what the ring tells of it, on stand-ins for NCCL and CUDA."""
import tempfile
import unittest

from calls_test import host, traced
from nccl_test import BUILD, WITH_CUDA, train

LIBCUDA = BUILD / "tests/fake_cuda/libcuda.so.1"


def bus_id(gpu):
    """Of the stand-in's GPUs."""
    return "0000:%02X:00.0" % (0x1A + 12 * gpu)


def devices(ring):
    return [(group.device, group.bus_id) for group in ring.groups]


def several(mode, *cuda, **environment):
    """How a process that drives two devices ended, and its ring."""
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="fathom-devices-") as folder:
        done, rings = traced([BUILD / "tests/devices_victim", mode, *cuda], FAKE_NCCL_DIR=folder, **environment)
        return done, rings[0]


@unittest.skipUnless(WITH_CUDA, "no CUDA headers")
class OneDevice(unittest.TestCase):
    def devices_of(self, *options, **environment):
        rings, done = train("--tp", 2, "--dp", 1, *options, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for ring in rings.values():
            self.assertEqual(ring.drops, dict.fromkeys(ring.drops, 0))
            self.assertEqual(len(set(devices(ring))), 1, "one device, of all its communicators")
        return [devices(rings[rank])[0] for rank in sorted(rings)]

    def test_number_and_bus_id(self):
        self.assertEqual(self.devices_of(), [(0, bus_id(0)), (1, bus_id(1))])

    def test_children_that_are_made_later(self):
        for options in ((), ("--grouped",)):
            self.assertEqual(self.devices_of(*options, FAKE_NCCL_NONBLOCKING="1"), [(0, bus_id(0)), (1, bus_id(1))])

    def test_the_number_is_the_processes_own_and_the_bus_id_the_machines(self):
        self.assertEqual(self.devices_of(CUDA_VISIBLE_DEVICES="9,4"), [(0, bus_id(9)), (1, bus_id(4))])
        self.assertEqual(self.devices_of(FAKE_NCCL_DEVICES="1,0"), [(1, bus_id(1)), (0, bus_id(0))])

    def test_a_device_that_the_driver_does_not_know(self):
        self.assertEqual(self.devices_of(CUDA_VISIBLE_DEVICES="9"), [(0, bus_id(9)), (1, "")])

    def test_a_program_whose_ops_are_graphs(self):
        self.assertEqual(self.devices_of("--graph", 2), [(0, bus_id(0)), (1, bus_id(1))])


class SeveralDevices(unittest.TestCase):
    WAYS = {"all": (2, 0), "group": (1, 3), "pending": (1, 3)}

    def check(self, wanted, *cuda):
        for mode, numbers in self.WAYS.items():
            more = {"FAKE_NCCL_NONBLOCKING": "1"} if mode == "pending" else {}
            with self.subTest(mode):
                done, ring = several(mode, *cuda, **more)
                self.assertEqual(done, (0, "", ""), "and none is asked before it is ready")
                self.assertEqual(devices(ring), [(number, wanted(number)) for number in numbers])
                self.assertEqual(ring.drops, dict.fromkeys(ring.drops, 0))

    @unittest.skipUnless(WITH_CUDA, "no CUDA headers")
    def test_each_communicator_tells_its_own(self):
        self.check(bus_id, LIBCUDA)

    def test_without_a_driver_in_the_process_only_the_number_is_known(self):
        self.check(lambda number: "")


class Unknown(unittest.TestCase):
    def test_a_library_that_does_not_tell(self):
        (code, _, said), rings = traced(host("communicators"))
        self.assertEqual((code, said), (0, ""))
        self.assertEqual(set(devices(rings[0])), {(None, "")})
        self.assertEqual(rings[0].drops, dict.fromkeys(rings[0].drops, 0))


if __name__ == "__main__":
    unittest.main()
