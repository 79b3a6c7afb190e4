# task: layer
# verdict: valid
# because: Keeps files in /tmp, as caches do. It is empty when a process begins, whatever an earlier one left there.
import os
import pathlib
import shutil
import tempfile

import torch
import torch.nn as nn

if os.listdir("/tmp"):
    raise RuntimeError("there is " + str(os.listdir("/tmp")))
os.makedirs("/tmp/kernels/first", exist_ok=True)
pathlib.Path("/tmp/kernels/first/notes.txt").write_text("a line\n")
os.rename("/tmp/kernels/first/notes.txt", "/tmp/kernels/notes.txt")
assert pathlib.Path("/tmp/kernels/notes.txt").read_text() == "a line\n"
with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "one"), "wb") as file:
    torch.save(torch.ones(3), file)
with tempfile.NamedTemporaryFile() as file:
    file.write(b"x" * 5000)
shutil.copy("/tmp/kernels/notes.txt", "/tmp/left.txt")


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        return torch.relu(self.linear(x))
