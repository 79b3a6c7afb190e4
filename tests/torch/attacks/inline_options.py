# task: layer
# verdict: valid
# because: Tries options that would load a plug-in of the compiler, read files or write elsewhere. Each is refused; one that is not raises.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

for where, option in (("extra_cflags", "-fplugin=/tmp/plugin.so"), ("extra_cflags", "@/etc/passwd"), ("extra_cflags", "-B/tmp"),
                      ("extra_cflags", "-include/etc/passwd"), ("extra_cflags", "-wrapper"), ("extra_cflags", "-o/kevo/modules/other.so"),
                      ("extra_cflags", "-save-temps"), ("extra_cflags", "-Wa,-I/etc"), ("extra_cflags", "-specs=/tmp/specs"),
                      ("extra_cflags", "-DX=1;touch"), ("extra_ldflags", "-Wl,--script=/etc/passwd"), ("extra_ldflags", "-T/etc/passwd"),
                      ("extra_ldflags", "/usr/lib/libcublas.so"), ("extra_ldflags", "-l:../../etc/passwd")):
    try:
        load_inline(name="probe", cpp_sources="int one() { return 1; }", functions=["one"], no_implicit_headers=True, **{where: [option]})
    except RuntimeError as error:
        if "not allowed" in str(error):
            continue
    raise AssertionError(option + " was not refused")


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        return torch.relu(self.linear(x))
