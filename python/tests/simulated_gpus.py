"""GPUs that are not there: the test double of the CUDA driver (tests/support/fake_cuda), and a task that runs on it."""

import pathlib
import random
import shutil

from ray_project import KEVO, Project
from support import root

DOUBLE = KEVO.parent / "tests/fake_cuda"

# The double knows this kernel; the source says itself how long it takes.
TUNED = """#define FAKE_NS 30000  // kevo: {6000..40000 step 250}
#define SPARE 0  // kevo: {0..5000 step 1}
// kevo: launch scale<<<ceildiv(N, 256), 256>>>(x, y, N)
extern "C" __global__ void scale(const float* x, float* y, long long n) {}
"""


def devices(folder, names, which):
    """A folder with a device for each name. Returns the environment in which kevo uses the one whose name the shell makes of `which`. The
    double itself knows nothing of CUDA_VISIBLE_DEVICES: who is not given exactly one device has none."""
    if not (DOUBLE / "libcuda.so.1").exists():
        raise RuntimeError("the test double of the driver is not there; build all tests first")
    made = pathlib.Path(folder)
    for name in names:
        own = made / str(name)
        own.mkdir(parents=True)
        shutil.copy(DOUBLE / "libcuda.so.1", own)
        with open(own / "libcuda.so.1", "ab") as library:  # its identifier
            library.write("".join(random.choice("abcdefghijklmnop") for _ in range(16)).encode())
        shutil.copy(DOUBLE / "libnvidia-ml.so.1", own)
        (own / "settings").write_text("launch_ms 4\n")
        own.chmod(0o755)
    device = made / "kevo-device"
    device.write_text(
        f'#!/bin/sh\nown="{made}/{which}"\nexec /usr/bin/env LD_PRELOAD="$own/libcuda.so.1" LD_LIBRARY_PATH="$own" '
        f'{KEVO.parent}/kevo-device "$@"\n'
    )
    device.chmod(0o755)
    first = str(made / str(next(iter(names))))
    return {"KEVO_DEVICE": str(device), "KEVO_NVRTC": str(DOUBLE / "libnvrtc.so"), "LD_LIBRARY_PATH": first}


def project(folder):
    """A task in CUDA with a tunable seed."""
    limits = {"limits": "{workspace: 1048576}", "timing": "{pairs: 4, full: 2, target_interval: 0.3, sustained: 0}"}
    made = Project(folder, {"backend": "cuda", "sandbox": "best", **limits}, "best.cu")
    source = root / "tests/fitness/cuda/fake"
    text = (source / "scale.yaml").read_text().replace("seeds: [scale.cu]", "seeds: [tuned.cu]")
    files = {f"{one}__cu": (source / f"{one}.cu").read_text() for one in ("scale", "scale_reference")}
    made.write(task__yaml=text, tuned__cu=TUNED, **files)
    return made
