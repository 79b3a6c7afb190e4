# torch.utils.cpp_extension and tvm_ffi.cpp in a process that may start no programs and write files in its /tmp alone: what a program
# builds is asked of the process of kevo_torch_compile.py through a socket, and loaded from where that has put it.
import json
import os
import struct

HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc", ".inl")


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


# What the process that compiles does not build.
class extension_failure(RuntimeError):
    pass


def listed(value):
    return [value] if isinstance(value, str) else list(value or [])


# What a program wants built, as the process that compiles understands it. `binding` is that of FlashInfer-Bench: torch or tvm-ffi.
class extension_requests:
    def __init__(self, ask, files):
        self.ask, self.count = ask, 0
        self.texts = {"/kevo/program/" + one["path"]: one["text"] for one in files}

    # The path of the shared object.
    def built(self, request):
        if self.ask is None:
            raise RuntimeError("extensions cannot be compiled here: no compiler is offered to this process")
        self.count += 1
        done, data = self.ask({"kind": "extension"}, json.dumps(request).encode())
        if not done:
            raise extension_failure(data.decode(errors="replace"))
        return data.decode()

    def of_texts(self, name, units, functions, cflags, cuda_cflags, ldflags, binding="torch", with_cuda=False):
        return {"name": name, "units": units, "headers": [], "folders": [], "functions": functions, "binding": binding,
                "with_cuda": bool(with_cuda), "cflags": listed(cflags), "cuda_cflags": listed(cuda_cflags), "ldflags": listed(ldflags)}

    # Files of the program itself: a file besides these does not exist here. A source finds headers beside itself, and in the folders that
    # are named.
    def of_files(self, name, sources, include_paths, *options, **more):
        def place_of(one):
            return os.path.normpath(os.path.join("/kevo/program", str(one)))

        units, folders = [], {place_of(one) for one in listed(include_paths)}
        for one in listed(sources):
            place = place_of(one)
            if place not in self.texts:
                raise FileNotFoundError(f"{one} is not a file of the program")
            folders.add(os.path.dirname(place))
            units.append(["cu" if place.endswith((".cu", ".cuh")) else "cpp", self.texts[place]])
        request = self.of_texts(name, units, None, *options, **more)
        request["headers"] = [[path[len("/kevo/program/"):], text] for path, text in self.texts.items() if path.endswith(HEADERS)]
        request["folders"] = sorted(one[len("/kevo/program/"):] for one in folders if one.startswith("/kevo/program/"))
        return request


# @param instead what a program gets in place of an extension that is built and not loaded; None: all are loaded
def provide_extensions(torch, ask, files, instead=None):
    requests = extension_requests(ask, files)
    provide_torch_extensions(torch, requests, instead)
    provide_ffi_extensions(requests, instead)
    return requests


def provide_torch_extensions(torch, requests, instead):
    import importlib.machinery
    import importlib.util
    import sys
    import types

    def load_module(request, is_python_module):
        path = requests.built(request)
        if instead:
            return instead(request["name"])
        if not is_python_module:
            torch.ops.load_library(path)
            return None
        loader = importlib.machinery.ExtensionFileLoader(request["name"], path)
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(request["name"], loader))
        loader.exec_module(module)
        return module

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
        return load_module(requests.of_texts(name, units, functions, extra_cflags, extra_cuda_cflags, extra_ldflags), is_python_module)

    def load(name, sources, extra_cflags=None, extra_cuda_cflags=None, extra_sycl_cflags=None, extra_ldflags=None,
             extra_include_paths=None, build_directory=None, verbose=False, with_cuda=None, with_sycl=None, is_python_module=True,
             is_standalone=False, keep_intermediates=True):
        return load_module(requests.of_files(name, sources, extra_include_paths, extra_cflags, extra_cuda_cflags, extra_ldflags,
                                             with_cuda=with_cuda), is_python_module)

    def other(name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"torch.utils.cpp_extension.{name} does not exist here; load_inline and load do")

    module = types.ModuleType("torch.utils.cpp_extension")
    module.load_inline, module.load, module.CUDA_HOME, module.__getattr__ = load_inline, load, None, other
    module.include_paths = module.library_paths = lambda *_, **__: []
    sys.modules["torch.utils.cpp_extension"] = module
    torch.utils.cpp_extension = module


# tvm_ffi itself is imported when a program asks for it, from where PyTorch is; of it, tvm_ffi.cpp is replaced.
def provide_ffi_extensions(requests, instead):
    import importlib.abc
    import importlib.machinery
    import sys

    def load_inline(name, *, cpp_sources=None, cuda_sources=None, functions=None, extra_cflags=None, extra_cuda_cflags=None,
                    extra_ldflags=None, extra_include_paths=None, build_directory=None, embed_cubin=None, keep_module_alive=True, backend=None):
        head = ["#include <tvm/ffi/container/tensor.h>", "#include <tvm/ffi/dtype.h>", "#include <tvm/ffi/error.h>",
                "#include <tvm/ffi/extra/c_env_api.h>", "#include <tvm/ffi/function.h>"]
        # Functions are exported by the first unit.
        units = [[kind, "\n".join(head + listed(texts)) + "\n"] for kind, texts in (("cpp", cpp_sources), ("cu", cuda_sources)) if texts]
        functions = listed(functions) if isinstance(functions, str) else functions
        return load_module(requests.of_texts(name, units, functions, extra_cflags, extra_cuda_cflags, extra_ldflags, "tvm-ffi"))

    def load(name, *, sources=None, cpp_files=None, cuda_files=None, extra_cflags=None, extra_cuda_cflags=None, extra_ldflags=None,
             extra_include_paths=None, build_directory=None, keep_module_alive=True, backend=None):
        all_files = listed(sources) + listed(cpp_files) + listed(cuda_files)
        return load_module(requests.of_files(name, all_files, extra_include_paths, extra_cflags, extra_cuda_cflags, extra_ldflags, "tvm-ffi"))

    def load_module(request):
        import tvm_ffi
        path = requests.built(request)
        return instead(request["name"]) if instead else tvm_ffi.load_module(path)

    # What tvm_ffi has for cuda.bindings looks for libraries with programs that a process may not start; it works without.
    def without_cuda_bindings(execute):
        def exec_module(module):
            before = sys.modules.get("cuda.bindings")
            sys.modules["cuda.bindings"] = None
            try:
                execute(module)
            finally:
                del sys.modules["cuda.bindings"]
                if before is not None:
                    sys.modules["cuda.bindings"] = before

        return exec_module

    class finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        def find_spec(self, wanted, path=None, target=None):
            if wanted == "tvm_ffi.cpp":
                return importlib.machinery.ModuleSpec(wanted, self)
            if wanted != "tvm_ffi":
                return None
            spec = importlib.machinery.PathFinder.find_spec(wanted, path)
            if spec is None:
                raise ModuleNotFoundError("the binding tvm-ffi needs the Python package apache-tvm-ffi beside PyTorch: scripts/setup.sh "
                                          "--torch fetches it", name=wanted)
            spec.loader.exec_module = without_cuda_bindings(spec.loader.exec_module)
            return spec

        def exec_module(self, module):
            module.load_inline, module.load = load_inline, load

    sys.meta_path.insert(0, finder())
