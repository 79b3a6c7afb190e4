# Extensions in C++ and CUDA (torch.utils.cpp_extension, tvm_ffi.cpp) for the process of kevo_torch_compile.py: sources of a candidate become
# a shared object. Files, commands and options are chosen here; of a candidate's options those are kept that change how code is generated
# and nothing else.
#
# Nearly all of the time would go into PyTorch's headers, which nvcc's front end reads twice and for which it has no precompiled form. So the
# headers that bring everything (torch/extension.h, ATen/ATen.h, ...) are replaced by one that brings tensors, and of the operators those
# whose names the sources have. What does not compile because a name is missing is compiled again with PyTorch's own.
import glob
import os
import re
import select
import signal
import subprocess
import sysconfig
import time

BUILD_SECONDS = 80
MOST_UNITS, MOST_OPTIONS = 16, 64
WIDE_HEADERS = ("torch/extension.h", "torch/types.h", "torch/torch.h", "torch/all.h", "ATen/ATen.h")
# What a compiler says where a name or a header is missing; with all headers it may be there.
MISSING = re.compile(rb"has no member|is undefined|not been declared|not declared|not a member|does not name|incomplete type|no member named|"
                     rb"not a template|no such file|cannot open source|no instance of|no matching function|not a class or namespace|"
                     rb"must be a namespace|expected a|expected ';'|expected initializer|expected constructor|not a type|no suitable")

# The same where it says the name, of an identifier of C++.
NAMED = re.compile("|".join((r"[‘'](\w+)[’'] was not declared in this scope", r"[‘'](\w+)[’'] has not been declared", r"has no member named [‘'](\w+)[’']",
                             r"[‘'](\w+)[’'] does not name a type", r'identifier "(\w+)" is undefined', r'has no member "(\w+)"',
                             r"[‘'](\w+)[’'] is not a member of")))

HOST_OPTIONS = re.compile(
    r"-O[0-3s]?|-Ofast|-g|-w|-fPIC|-fopenmp|-ffast-math|-funroll-loops|-fno-math-errno|-fno-trapping-math|-fassociative-math|"
    r"-freciprocal-math|-ffinite-math-only|-fno-signed-zeros|-ffp-contract=(fast|off|on)|-f(no-)?strict-aliasing|-fomit-frame-pointer|-ftree-vectorize|"
    r"-fvisibility=hidden|-fpermissive|-m(arch|tune)=(native|x86-64(-v[234])?)|-m(avx|avx2|fma|f16c|bmi|bmi2|sse4\.[12]|popcnt|amx-[a-z0-9]+|"
    r"avx512[a-z0-9]+)|-mprefer-vector-width=[0-9]+|-std=(c|gnu)\+\+(17|20|2a|23|2b)|-W[a-z][a-z0-9=+-]*|-D[A-Za-z_][A-Za-z_0-9]*(=[A-Za-z_0-9.]*)?|"
    r"-U[A-Za-z_][A-Za-z_0-9]*|-pthread")
CUDA_OPTIONS = re.compile(
    r"-O[0-3]|-g|-w|-lineinfo|--generate-line-info|-?-use_fast_math|-?-expt-relaxed-constexpr|-?-expt-extended-lambda|-?-extended-lambda|"
    r"-?-maxrregcount[= ][0-9]+|-?-(fmad|ftz|prec-div|prec-sqrt)=(true|false)|-?-extra-device-vectorization|-?-restrict|-?-ptxas-options=(-v|-O[0-3]|"
    r"-v,-O[0-3])|-?-std=c\+\+(17|20)|-D[A-Za-z_][A-Za-z_0-9]*(=[A-Za-z_0-9.]*)?|-U[A-Za-z_][A-Za-z_0-9]*|-?-default-stream[= ]legacy|-m64")
# Chosen here: for which device, where headers and libraries are found, with how many threads.
CHOSEN_HERE = re.compile(r"-?-(arch|gpu-architecture|gpu-code|code|gencode|generate-code|threads|t|resource-usage|split-compile)([= ].*|[0-9]*)|"
                         r"-[IL].+|-isystem.+|-Wl,-rpath.*|-std=(c|gnu)\+\+(11|14|1y)|--std=c\+\+(11|14)|--verbose|-v")
TAKES_ONE = ("-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "-t", "--threads", "-I", "-isystem", "-L", "-maxrregcount",
             "--maxrregcount", "-Xptxas", "--ptxas-options", "-Xcompiler", "--compiler-options", "-default-stream", "--default-stream")


class Unfit(Exception):
    pass


def words_of(options):
    words = []
    for one in options:
        words += str(one).split()
    if len(words) > MOST_OPTIONS:
        raise Unfit("the extension has too many options")
    joined, rest = [], iter(words)
    for word in rest:
        joined.append(word + " " + next(rest, "") if word in TAKES_ONE else word)
    return joined


def refuse(option):
    raise Unfit(f"the option {option!r} of an extension is not allowed here")


def host_options(options):
    kept = []
    for one in words_of(options):
        if HOST_OPTIONS.fullmatch(one):
            kept.append(one)
        elif not CHOSEN_HERE.fullmatch(one):
            refuse(one)
    return kept


def cuda_options(options):
    kept = []
    for one in words_of(options):
        name, _, value = one.partition(" ")
        if name in ("-Xcompiler", "--compiler-options") or one.startswith(("-Xcompiler=", "--compiler-options=")):
            value = value or one.partition("=")[2]
            for word in host_options(value.strip("'\"").split(",")):
                kept += ["-Xcompiler", word]
        elif name == "-Xptxas":
            if not re.fullmatch(r"-v|-O[0-3]|-v,-O[0-3]|-O[0-3],-v|-dlcm=c[agv]|--warn-on-spills|-warn-spills", value):
                refuse(one)
            kept += ["-Xptxas", value]
        elif CUDA_OPTIONS.fullmatch(one):
            kept += one.split()
        elif not CHOSEN_HERE.fullmatch(one):
            refuse(one)
    return kept


def libraries_of(options):
    kept = []
    for one in words_of(options):
        if re.fullmatch(r"-l[A-Za-z0-9_+-]+", one) or one == "-fopenmp":
            kept.append(one)
        elif not CHOSEN_HERE.fullmatch(one):
            refuse(one)
    return kept


# The names by which the linker finds libraries: a toolkit has libcublas.so, PyTorch's packages have libcublas.so.13 alone, and a driver
# libcuda.so.1.
def names_to_link(options, folders):
    names = []
    for one in options:
        ends = [".so", ".a"] if one.startswith("-l") else []
        versions = sorted(place for folder in folders for place in glob.glob(f"{folder}/lib{one[2:]}.so.*")) if ends else []
        there = any(os.path.exists(f"{folder}/lib{one[2:]}{end}") for folder in folders for end in ends)
        names.append("-l:" + os.path.basename(versions[0]) if versions and not there else one)
    return names


# What the headers of operators bring besides, and takes as long to read as all the rest.
BESIDE_OPERATORS = re.compile(r"^#include <ATen/(Context|DeviceGuard|TensorUtils|TracerMode)\.h>\n", re.MULTILINE)


# The header that stands for those that bring everything, and the operators that it names.
def narrow_header(torch_folder, texts):
    names = {"empty_like"}
    for text in texts:
        names |= set(re.findall(r"\b(?:torch|at|aten)\s*::\s*([a-z_][a-z_0-9]*)", text))
    operators = [name for name in sorted(names) if os.path.exists(f"{torch_folder}/include/ATen/ops/{name}.h")]
    alike = "".join(f"constexpr auto {new} = at::{old};\n" for new, old in
                    (("kU8", "kByte"), ("kUInt8", "kByte"), ("kI8", "kChar"), ("kInt8", "kChar"), ("kI16", "kShort"), ("kInt16", "kShort"),
                     ("kI32", "kInt"), ("kInt32", "kInt"), ("kI64", "kLong"), ("kInt64", "kLong"), ("kF16", "kHalf"), ("kFloat16", "kHalf"),
                     ("kF32", "kFloat"), ("kFloat32", "kFloat"), ("kF64", "kDouble"), ("kFloat64", "kDouble")))
    return ("#pragma once\n#include <ATen/core/Tensor.h>\n#include <ATen/Dispatch.h>\n#include <ATen/Parallel.h>\n#include <c10/core/ScalarType.h>\n"
            "#include <ATen/TensorOperators.h>\n"
            + "".join(f"#include <ATen/ops/{name}.h>\n" for name in operators)
            + "#if defined(KEVO_BINDS)\n#include <torch/csrc/utils/pybind.h>\n#endif\n"
            "namespace torch {\nusing namespace at;\nusing Dtype = at::ScalarType;\n" + alike + "}\n"), operators


# PyTorch's text about tensors with those methods alone whose names the sources, or that text itself, have: the declarations of the other six
# hundred are a sixth of what a unit reads. Gives texts by path; nothing where the headers do not have the form that is known.
def fewer_methods(torch_folder, texts):
    def read(path):
        with open(f"{torch_folder}/include/{path}", encoding="utf-8") as file:
            return file.read()

    try:
        body, methods = read("ATen/core/TensorBody.h"), read("ATen/MethodOperators.h")
        beside = [read("ATen/core/Tensor.h"), read("ATen/TensorOperators.h")]
    except OSError:
        return {}
    definition = re.compile(r"^// aten::(\w+)[^\n]*\ninline [^\n]*?\bTensor::(\w+)\([^\n]*\{\n(?:    [^\n]*\n)+\}\n", re.MULTILINE)
    declaration = re.compile(r"^  [^\n(=]*?[ &](\w+)\([^\n]*\) const;\n", re.MULTILINE)
    generated = {found[2] for found in definition.finditer(body)}
    written = declaration.sub(lambda found: "" if found[1] in generated else found[0], definition.sub("", body))
    needed = set(re.findall(r"\w+", "\n".join([written, *beside, *texts])))
    operators = set()

    def if_needed(found):
        if found[2] not in needed:
            return ""
        operators.update((found[1], found[1].removesuffix("_")))  # what works in place is declared beside what does not
        return found[0]

    body = declaration.sub(lambda found: "" if found[1] in generated - needed else found[0], definition.sub(if_needed, body))
    methods = re.sub(r"^#include <ATen/ops/(\w+)_ops\.h>\n", lambda found: found[0] if found[1] in operators else "", methods, flags=re.MULTILINE)
    return {"ATen/core/TensorBody.h": body, "ATen/MethodOperators.h": methods} if operators else {}


# For sources that have no complex numbers: PyTorch's header of their functions brings a fifth of all text that nvcc reads, for CUDA's.
NO_COMPLEX = {"c10/util/complex_math.h": "#pragma once\n", "thrust/complex.h": """#pragma once
namespace thrust {
template <typename T>
struct complex {
  __host__ __device__ complex(const T& real = T(), const T& imag = T());
  __host__ __device__ T real() const;
  __host__ __device__ T imag() const;
};
template <typename T> __host__ __device__ T abs(const complex<T>&);
template <typename T> __host__ __device__ T arg(const complex<T>&);
template <typename T> __host__ __device__ complex<T> polar(const T&, const T& = T());
}
"""}


# What a unit without bindings need not read.
def fewer_headers(torch_folder, texts):
    headers = fewer_methods(torch_folder, texts)
    if not any(re.search(r"complex|thrust|cub\b|cub/", text, re.IGNORECASE) for text in texts):
        headers.update(NO_COMPLEX)
    return headers


# What makes functions of C++ known to Python.
def binding_of(functions, binding):
    if functions is None:
        return ""
    if isinstance(functions, list):
        functions = {name: name for name in functions}
    lines = []
    for name, words in functions.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9:]*", name):
            raise Unfit(f"{name!r} is not a valid name of a function")
        if binding == "tvm-ffi":
            lines.append(f"TVM_FFI_DLL_EXPORT_TYPED_FUNC({name}, {name});")
            continue
        quoted = '"' + re.sub(r"[^ -!#-\[\]-~]", " ", str(words))[:200] + '"'
        lines.append(f'  m.def("{name}", &{name}, {quoted});')
    if binding == "tvm-ffi":
        return "\n" + "\n".join(lines) + "\n"
    return "\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n" + "\n".join(lines) + "\n}\n"


# The names that a compiler misses; None where it misses something else, too, for which other headers may help.
def missing_names(said):
    names = set()
    for line in said.decode(errors="replace").splitlines():
        if "error" not in line or not MISSING.search(line.encode()):
            continue
        found = NAMED.search(line)
        if found is None:
            return None
        names.add(next(name for name in found.groups() if name))
    return names


# Runs commands beside each other, each in a process group of its own that goes when it is late or when nobody waits for it any more.
def run_all(commands, until, wanted):
    begun = []
    limits = "ulimit -c 0 -f 131072 -v 16777216 2>/dev/null; exec \"$@\""  # 128 MiB a file (blocks of 1024), 16 GiB of addresses
    for command, log in commands:
        with open(log, "wb") as file:
            begun.append(subprocess.Popen(["/bin/bash", "-c", limits, "sh", *command], stdin=subprocess.DEVNULL, stdout=file,
                                          stderr=subprocess.STDOUT, start_new_session=True, cwd=os.path.dirname(log)))
    try:
        while any(one.poll() is None for one in begun):
            if time.monotonic() > until:
                raise Unfit(f"the extension was not built within {BUILD_SECONDS} s")
            if not wanted():
                raise EOFError
            time.sleep(0.01)
    finally:
        for one in begun:
            try:
                os.killpg(one.pid, signal.SIGKILL)
            except OSError:
                pass
            one.wait()
    results = []
    for one, (_, log) in zip(begun, commands):
        with open(log, "rb") as file:
            results.append((one.returncode, file.read(1 << 20)))
    return results


class extension_builder:
    def __init__(self, packages, libraries, nvcc, architecture):
        import importlib.util
        found = importlib.util.find_spec("torch") if not packages else None
        self.torch = os.path.dirname(found.origin) if found else packages + "/torch"
        self.ffi = os.path.dirname(self.torch) + "/tvm_ffi"
        self.driver = [one for one in libraries.split(":") if one]
        self.nvcc, self.architecture = nvcc, architecture
        self.names = None  # what PyTorch's own headers bring, once that was needed
        self.python = sysconfig.get_paths(scheme="posix_prefix")["include"]
        self.toolkit = os.path.dirname(os.path.dirname(nvcc)) if nvcc != "none" else ""
        self.nvidia = sorted(glob.glob(os.path.dirname(self.torch) + "/nvidia/*/include"))

    def includes(self, binding, cuda):
        folders = [self.torch + "/include", self.torch + "/include/torch/csrc/api/include", self.python]
        if binding == "tvm-ffi":
            folders = [self.ffi + "/include"]
        if cuda:
            folders += ([self.toolkit + "/include"] if self.toolkit else []) + self.nvidia
        return [word for folder in folders for word in ("-isystem", folder)]

    def command(self, unit, folder, narrow, name, asked, cuda, binds):
        common = ["-DAT_PER_OPERATOR_HEADERS"] if narrow else []
        common += [f"-I{folder}/{one}" for one in (("narrow",) if binds else ("fewer", "narrow")) if narrow]
        common += [f"-DTORCH_EXTENSION_NAME={name}", "-DTORCH_API_INCLUDE_EXTENSION_H", f"-I{folder}/own"]
        common += [*(f"-I{folder}/own/{one}" for one in asked["folders"]), *self.includes(asked["binding"], cuda)]
        if binds:
            common.append("-DKEVO_BINDS")
        made = ["-c", unit, "-o", unit + ".o"]
        if unit.endswith(".cu"):
            # As PyTorch and tvm_ffi compile extensions, but for the one device that there is.
            without = ("HALF_OPERATORS", "HALF_CONVERSIONS", "BFLOAT16_CONVERSIONS", "HALF2_OPERATORS") if asked["binding"] == "torch" else ()
            return [self.nvcc, "-std=c++17", "-O3", *(f"-D__CUDA_NO_{one}__" for one in without), "--expt-relaxed-constexpr", "-Xcompiler",
                    "-fPIC", "-diag-suppress", "20012,20014", f"-gencode=arch=compute_{self.architecture},code=sm_{self.architecture}",
                    *cuda_options(asked["cuda_cflags"]), *common, *made]
        with open(unit, encoding="utf-8") as file:
            level = "-O2" if not cuda or "{" in file.read().partition("PYBIND11_MODULE")[0] else "-O0"
        return ["g++", "-std=c++17", level, "-fPIC", "-w", *host_options(asked["cflags"]), *common, *made]

    def link(self, folder, units, asked, cuda):
        of_torch = asked["binding"] == "torch"
        libraries = ["-lc10", "-ltorch_cpu", "-ltorch", "-ltorch_python"] if of_torch else ["-ltvm_ffi"]
        places = [self.torch + "/lib"] if of_torch else [self.ffi + "/lib"]
        if cuda:
            libraries += (["-lc10_cuda", "-ltorch_cuda"] if of_torch else []) + ["-lcudart"]
            places += [self.toolkit + one for one in ("/lib64", "/lib") if self.toolkit and os.path.isdir(self.toolkit + one)]
            places += [os.path.dirname(one) + "/lib" for one in self.nvidia] + self.driver
        return ["g++", "-shared", "-s", *(unit + ".o" for unit in units), *("-L" + one for one in places),
                *names_to_link(libraries + libraries_of(asked["ldflags"]), places), "-o", folder + "/made.so"]

    # The bytes of a shared object. Raises Unfit with what compilers say, and EOFError where nobody wants it any more.
    def build(self, folder, asked, wanted):
        name = asked["name"]
        if not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]{0,99}", name):
            raise Unfit(f"{name!r} is not a valid name of a module")
        if len(asked["folders"]) > MOST_UNITS:
            raise Unfit("the extension has too many folders of headers")
        for check, options in ((host_options, "cflags"), (cuda_options, "cuda_cflags"), (libraries_of, "ldflags")):
            check(asked[options])
        if asked["binding"] not in ("torch", "tvm-ffi"):
            raise Unfit("an extension has the binding torch or tvm-ffi")
        narrow = asked["binding"] == "torch"
        if not narrow and not os.path.isdir(self.ffi):
            raise Unfit("the binding tvm-ffi needs the Python package apache-tvm-ffi beside PyTorch: scripts/setup.sh --torch fetches it")
        units, texts = self.write(folder, asked)
        cuda = self.nvcc != "none" and (asked["with_cuda"] or any(unit.endswith(".cu") for unit in units))
        until = time.monotonic() + BUILD_SECONDS
        binding = {unit: "PYBIND11_MODULE" in text for unit, text in zip(units, texts)}

        def compile_units(which, narrow):
            commands = [(self.command(unit, folder, narrow, name, asked, cuda, binding[unit]), unit + (".log" if narrow else ".wide.log"))
                        for unit in which]
            return {unit: result for unit, result in zip(which, run_all(commands, until, wanted))}

        done = compile_units(units, narrow)
        again = [unit for unit, (code, said) in done.items() if narrow and code != 0 and MISSING.search(said)]
        if again and all(unit in again or done[unit][0] == 0 for unit in units):
            missing = [missing_names(done[unit][1]) for unit in again]
            if None in missing or self.knows_any(set().union(*missing), folder, until, wanted):
                done.update(compile_units(again, False))
        failed = [said for code, said in done.values() if code != 0]
        if failed:
            raise Unfit(self.readable(b"\n".join(failed), folder))
        [(code, said)] = run_all([(self.link(folder, units, asked, cuda), folder + "/link.log")], until, wanted)
        if code != 0:
            raise Unfit(self.readable(said, folder))
        with open(folder + "/made.so", "rb") as file:
            return file.read()

    # Whether one of these names occurs in what PyTorch's own headers bring. That is found out once, in two seconds; compiling with them takes
    # several times as long, for every extension.
    def knows_any(self, names, folder, until, wanted):
        if self.names is None:
            with open(folder + "/all.cpp", "w", encoding="utf-8") as file:
                file.write(f"#include <{WIDE_HEADERS[0]}>\n")
            command = ["g++", "-E", "-dD", "-std=c++17", "-DTORCH_API_INCLUDE_EXTENSION_H", "-DTORCH_EXTENSION_NAME=all",
                       *self.includes("torch", self.nvcc != "none"), folder + "/all.cpp", "-o", folder + "/all.i"]
            [(code, _)] = run_all([(command, folder + "/all.log")], until, wanted)
            if code != 0:
                return True
            with open(folder + "/all.i", encoding="utf-8", errors="replace") as file:
                self.names = frozenset(re.findall(r"[A-Za-z_]\w*", file.read()))
            os.remove(folder + "/all.i")
        return not names.isdisjoint(self.names)

    def write(self, folder, asked):
        given = asked["units"]
        if not given or len(given) + len(asked["headers"]) > MOST_UNITS:
            raise Unfit("an extension must have 1 to 16 sources")
        units, texts = [], []
        for number, (kind, text) in enumerate(given):
            if kind not in ("cpp", "cu"):
                raise Unfit("the sources of an extension must be .cpp or .cu files")
            if kind == "cu" and self.nvcc == "none":
                raise Unfit("CUDA sources need nvcc and fitness.device: cuda; one of them is missing")
            units.append(f"{folder}/unit_{number}.{kind}")
            texts.append(text)
        binding = binding_of(asked["functions"], asked["binding"])
        if binding:
            texts[0] += binding
        for place, text in zip(units, texts):
            with open(place, "w", encoding="utf-8") as file:
                file.write(text)
        os.mkdir(folder + "/own")
        for path in [*asked["folders"], *(path for path, _ in asked["headers"])]:
            if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*", path):
                raise Unfit("a header has a path that is not allowed here")
        for path, text in asked["headers"]:
            os.makedirs(os.path.dirname(f"{folder}/own/{path}"), exist_ok=True)
            with open(f"{folder}/own/{path}", "w", encoding="utf-8") as file:
                file.write(text)
        if asked["binding"] == "torch":
            self.write_narrow(folder, texts, asked)
        return units, texts

    # Headers that stand for PyTorch's own.
    def write_narrow(self, folder, texts, asked):
        narrow, operators = narrow_header(self.torch, texts + [text for _, text in asked["headers"]])
        for header in WIDE_HEADERS:
            os.makedirs(os.path.dirname(f"{folder}/narrow/{header}"), exist_ok=True)
            with open(f"{folder}/narrow/{header}", "w", encoding="utf-8") as file:
                file.write(narrow if header == WIDE_HEADERS[0] else f"#include <{WIDE_HEADERS[0]}>\n")
        os.makedirs(folder + "/narrow/ATen/ops", exist_ok=True)
        for name in operators:
            with open(f"{self.torch}/include/ATen/ops/{name}.h", encoding="utf-8") as file:
                text = file.read()
            with open(f"{folder}/narrow/ATen/ops/{name}.h", "w", encoding="utf-8") as file:
                file.write(BESIDE_OPERATORS.sub("", text))
        for path, text in fewer_headers(self.torch, texts + [text for _, text in asked["headers"]]).items():
            os.makedirs(os.path.dirname(f"{folder}/fewer/{path}"), exist_ok=True)
            with open(f"{folder}/fewer/{path}", "w", encoding="utf-8") as file:
                file.write(text)

    # What compilers said, without the names of folders; errors come first.
    def readable(self, said, folder):
        text = said.decode(errors="replace").replace(folder + "/", "").replace(self.torch + "/include/", "").replace(self.ffi + "/include/", "")
        lines = text.splitlines()
        first = next((i for i, line in enumerate(lines) if "error" in line), 0)
        return "the extension does not compile: " + "\n".join(lines[first:first + 40])[:3500]


# Whether the other end of a socket is still there.
def is_there(connection):
    watch = select.poll()
    watch.register(connection, select.POLLRDHUP | select.POLLHUP | select.POLLERR)
    return not watch.poll(0)
