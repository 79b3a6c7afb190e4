# task: layer
# verdict: valid
# because: Extensions that would read files of the machine. The compiler finds none; one that is found raises.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

for source in ('#if __has_include("/etc/passwd") || __has_include("/etc/shadow") || __has_include("/proc/self/environ")\nint one() { return 1; }\n#else\n#error absent\n#endif',
               '__asm__(".data\\n.incbin \\"/etc/passwd\\"\\n.text");\nint one() { return 1; }',
               '#include "../../kevo/modules"\nint one() { return 1; }'):
    try:
        load_inline(name="reader", cpp_sources='extern "C" void* PyInit_reader() { return nullptr; }\n' + source, no_implicit_headers=True)
    except RuntimeError as error:
        if "does not compile" in str(error):
            continue
        raise AssertionError(str(error))
    raise AssertionError("a file was read")


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        return torch.relu(self.linear(x))
