# torch.utils.cpp_extension in a process that may neither start programs nor write files: what a program builds is asked of the process of
# kevo_torch_compile.py through a socket, and loaded from where that has put it.
import json
import os
import struct


# Asks through a socket; gives whether it was done, and the answer. Reads and writes alone, which a process keeps the right to.
def asking(descriptor):
    read, write = os.read, os.write

    def receive(count):
        data = bytearray()
        while len(data) < count:
            part = read(descriptor, count - len(data))
            if not part:
                raise RuntimeError("the process that compiles has ended")
            data += part
        return bytes(data)

    def ask(head, text):
        head = json.dumps(head).encode()
        rest = memoryview(struct.pack("=II", len(head), len(text)) + head + text)
        while rest:
            try:
                rest = rest[write(descriptor, rest):]
            except OSError as error:
                raise RuntimeError("extensions are compiled while a program is loaded, not in its calls") from error
        length, done = struct.unpack("=IB", receive(5))
        return done, receive(length)

    return ask


def provide_extensions(torch, ask, files):
    import importlib.machinery
    import importlib.util
    import sys
    import types
    texts = {"/kevo/program/" + one["path"]: one["text"] for one in files}

    def listed(value):
        return [value] if isinstance(value, str) else list(value or [])

    def load_module(name, request, is_python_module):
        if ask is None:
            raise RuntimeError("extensions cannot be compiled here: no compiler is offered to this process")
        done, data = ask({"kind": "extension"}, json.dumps(request).encode())
        if not done:
            raise RuntimeError(data.decode(errors="replace"))
        path = data.decode()
        if not is_python_module:
            torch.ops.load_library(path)
            return None
        loader = importlib.machinery.ExtensionFileLoader(name, path)
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
        loader.exec_module(module)
        return module

    def request_for(name, units, headers, functions, cflags, cuda_cflags, ldflags, folders=()):
        return {"name": name, "units": units, "headers": headers, "folders": list(folders), "functions": functions,
                "cflags": listed(cflags), "cuda_cflags": listed(cuda_cflags), "ldflags": listed(ldflags)}

    def load_inline(name, cpp_sources="", cuda_sources=None, sycl_sources=None, functions=None, extra_cflags=None, extra_cuda_cflags=None,
                    extra_sycl_cflags=None, extra_ldflags=None, extra_include_paths=None, build_directory=None, verbose=False,
                    with_cuda=None, with_sycl=None, is_python_module=True, with_pytorch_error_handling=True, keep_intermediates=True,
                    use_pch=False, no_implicit_headers=False):
        cpp, cuda = listed(cpp_sources), listed(cuda_sources)
        heads = ([], []) if no_implicit_headers else (["#include <torch/extension.h>"],
                                                      ["#include <torch/types.h>", "#include <cuda.h>", "#include <cuda_runtime.h>"])
        units = [["cpp", "\n".join(heads[0] + cpp) + "\n"]]
        if cuda or with_cuda:
            units.append(["cu", "\n".join(heads[1] + cuda) + "\n"])
        functions = listed(functions) if isinstance(functions, str) else functions
        return load_module(name, request_for(name, units, [], functions, extra_cflags, extra_cuda_cflags, extra_ldflags), is_python_module)

    # Files of the program itself: a file besides these does not exist here.
    def load(name, sources, extra_cflags=None, extra_cuda_cflags=None, extra_sycl_cflags=None, extra_ldflags=None,
             extra_include_paths=None, build_directory=None, verbose=False, with_cuda=None, with_sycl=None, is_python_module=True,
             is_standalone=False, keep_intermediates=True):
        def place_of(one):
            return os.path.normpath(os.path.join("/kevo/program", str(one)))

        # A source finds headers beside itself, and in the folders that are named.
        units, folders = [], {place_of(one) for one in listed(extra_include_paths)}
        for one in listed(sources):
            place = place_of(one)
            if place not in texts:
                raise FileNotFoundError(f"{one} is not a file of the program")
            folders.add(os.path.dirname(place))
            units.append(["cu" if place.endswith((".cu", ".cuh")) else "cpp", texts[place]])
        headers = [[path[len("/kevo/program/"):], text] for path, text in texts.items() if path.endswith((".h", ".hpp", ".cuh", ".inc"))]
        inside = sorted(one[len("/kevo/program/"):] for one in folders if one.startswith("/kevo/program/"))
        return load_module(name, request_for(name, units, headers, None, extra_cflags, extra_cuda_cflags, extra_ldflags, inside), is_python_module)

    def other(name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"torch.utils.cpp_extension.{name} does not exist here; load_inline and load do")

    module = types.ModuleType("torch.utils.cpp_extension")
    module.load_inline, module.load, module.CUDA_HOME, module.__getattr__ = load_inline, load, None, other
    module.include_paths = module.library_paths = lambda *_, **__: []
    sys.modules["torch.utils.cpp_extension"] = module
    torch.utils.cpp_extension = module
