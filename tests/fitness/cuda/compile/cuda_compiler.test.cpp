// The compile stage with a real NVRTC; no GPU is needed. Where there is no NVRTC, one test says so.
// timeout: 300

#include "fitness/cuda/compile/cuda_compiler.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/random.hpp>

#include "fitness/cuda/compile/cubin.hpp"
#include "fitness/cuda/compile/message.hpp"
#include "fitness/cuda/compile/nvcc.hpp"
#include "fitness/cuda/compile/variable_limit.hpp"
#include "fitness/cuda/launch/resolve.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "src/base/process/find_program.hpp"
#include "tests/fitness/cuda/compile/nvrtc_place.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

using namespace kevo::cuda;

namespace {

bool there_is_nvrtc() {
  if (nvrtc_place() != "none") return true;
  kevo_test::skip("there is no NVRTC on this machine (scripts/setup.sh --tests fetches one)");
  return false;
}

cuda_compiler& compiler() {
  static cuda_compiler shared = [] {
    cuda_compiler_settings settings;
    settings.cuda = nvrtc_place();
    settings.sandbox = kevo::sandbox_mode::best;
    return cuda_compiler(settings);
  }();
  return shared;
}

cuda_build_result build(const std::string& text, const std::vector<std::string>& kernels,
                        const std::string& architecture = "sm_90a") {
  cuda_build_request request;
  request.source = kevo::single_file_program("cuda", "k.cu", text);
  request.kernels = kernels;
  request.architecture = architecture;
  return compiler().build(request);
}

const std::string candidate = R"(
#include <cstdint>
#include <cuda.h>
#define BM 64   // kevo: {32, 64}
#define BN 32   // kevo: {16, 32}
// kevo: require BM * BN <= 4096
// kevo: tensormap map(A, [K, M], [4 * K], [BN, BM])
// kevo: launch tile[BM, float]<<<(ceildiv(M, BM), occupancy(tile)), 128, smem(BM * 4)>>>(A, C, M, float32(rsqrt(K)))
// kevo: when M % 64 == 0: launch copy<<<1, 32>>>(map, C)
__constant__ float coefficients[16];
template <int N, class T>
__global__ void __launch_bounds__(128) tile(const T* a, T* b, int64_t n, float scale) {
  extern __shared__ float s[];
  __shared__ float q[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  q[threadIdx.x % 64] = a[i];
  s[threadIdx.x % N] = a[i];
  __syncthreads();
  if (i < n) b[i] = q[(threadIdx.x + 1) % 64] * scale + s[3] + coefficients[i % 16];
}
extern "C" __global__ void copy(const __grid_constant__ CUtensorMap map, float* c) {
  if (threadIdx.x == 0) c[0] = reinterpret_cast<const float*>(&map)[3];
}
)";

}  // namespace

TEST_CASE("a candidate's lines and its cubin give a plan, without a GPU") {
  if (!there_is_nvrtc()) return;
  const auto source = kevo::single_file_program("cuda", "k.cu", candidate);
  const auto lines = std::get<declared_launch>(read_launch_lines(source));
  launch_signature signature;
  signature.axes = {{"M", 256}, {"K", 64}};
  signature.inputs = {{"A", "float32", 256 * 64}};
  signature.outputs = {{"C", "float32", 256}};
  const device_facts facts;
  const auto names = std::get<std::vector<std::string>>(kernel_names(lines, signature, facts));
  CHECK(names == std::vector<std::string>{"tile<64, float>", "copy"});
  const auto result = build(candidate, names);
  CAPTURE(result.diagnostics);
  REQUIRE(result.ok);
  CHECK(result.compiler.starts_with("NVRTC 1"));
  const auto& m = result.module;
  CHECK(m.architecture == "sm_90a");
  CHECK(m.lasting.empty());
  REQUIRE(m.globals.size() == 1);
  CHECK(m.globals[0].symbol == "coefficients");
  REQUIRE(m.kernels.size() == 2);
  const auto& tile = m.kernels[0];
  CHECK(tile.name == "tile<64, float>");
  CHECK(tile.mangled.starts_with("_Z4tileILi64Ef"));
  REQUIRE(tile.parameters.size() == 4);
  CHECK(tile.parameters[0] == kernel_parameter{0, 8, "float const*"});
  CHECK(tile.parameters[2] == kernel_parameter{16, 8, "long long"});
  CHECK(tile.parameters[3] == kernel_parameter{24, 4, "float"});
  CHECK(tile.registers >= 8);
  CHECK(tile.registers <= 255);
  CHECK(tile.static_shared_bytes == 256);
  CHECK(tile.max_threads == 128);
  CHECK(tile.barriers == 1);
  CHECK(tile.code_bytes > 100);
  REQUIRE(m.kernels[1].parameters.size() == 2);
  CHECK(m.kernels[1].parameters[0].size == 128);
  CHECK(m.kernels[1].parameters[1].size == 8);
  CHECK(m.kernels[1].parameters[1].type.empty());  // extern "C" names say nothing of types
  const auto resolved = resolve(lines, signature, m, facts);
  REQUIRE(std::holds_alternative<plan>(resolved));
  const auto& p = std::get<plan>(resolved);
  CHECK(p.steps.size() == 2);
  CHECK(std::get<kernel_launch>(p.steps[0]).grid[1] == 16);  // 2048 threads in blocks of 128
  CHECK(std::get<kernel_launch>(p.steps[0]).arguments.size() == 4);
  const auto measures = measures_of_module(m);
  CHECK(measures.at("registers") >= tile.registers);
  CHECK(measures.at("code_bytes") == double(tile.code_bytes + m.kernels[1].code_bytes));
  CHECK(describe_resources(m).find("tile<64, float>: ") == 0);
  CHECK(build(candidate, names).cached);
}

TEST_CASE("what a build says when the source is at fault") {
  if (!there_is_nvrtc()) return;
  const auto syntax = build("extern \"C\" __global__ void f(float* a) { a[0] = b; }\n", {"f"});
  CHECK_FALSE(syntax.ok);
  REQUIRE(syntax.reasons.size() == 1);
  CHECK(syntax.reasons[0].find("k.cu(1): error: identifier \"b\" is undefined") != std::string::npos);
  const auto missing = build("extern \"C\" __global__ void f(float* a) {}\n", {"g"});
  CHECK_FALSE(missing.ok);
  CHECK(missing.diagnostics.find("\"g\"") != std::string::npos);
  const auto device = build("extern \"C\" __device__ void f(float* a) { *a = 1; }\n", {"f"});
  CHECK_FALSE(device.ok);
  // No file of the machine can be included, whatever its place.
  const std::string secret = std::string(KEVO_BINARY_DIR) + "/secret.h";
  std::ofstream(secret) << "#define SECRET 1\n";
  for (const auto& path : {secret, std::string("/etc/passwd")}) {
    const auto reads = build("#include \"" + path + "\"\n__global__ void f() {}\n", {"f"});
    CHECK_FALSE(reads.ok);
    if (kevo::contains(kevo::sandbox_mode::best))
      CHECK(reads.reasons.at(0).find("cannot open source file") != std::string::npos);
  }
  std::filesystem::remove(secret);
  // Nor can it be asked for whether they are there: these exploits compile where one is.
  for (const char* name : {"include_passwd", "include_task"}) {
    if (!kevo::contains(kevo::sandbox_mode::best)) break;
    auto text = shell::read_file(KEVO_SOURCE_DIR "/tests/gpu/attacks/" + std::string(name) + ".cu");
    const auto asks = build(text, {"rows"});
    CHECK_FALSE(asks.ok);
    CHECK_MESSAGE(asks.reasons.at(0).find("it is not seen") != std::string::npos, asks.diagnostics);
    text.replace(text.find("#error"), 6, "//");
    CHECK(build(text, {"rows"}).ok);
  }
  CHECK_THROWS_AS(build("__global__ void f() {}\n", {"f"}, "sm_1"), kevo::error);
}

TEST_CASE("the device's heap and managed variables are told from variables that can be restored") {
  if (!there_is_nvrtc()) return;
  const auto lasting = [](const std::string& text) {
    const auto result = build(text, {"f"});
    CAPTURE(result.diagnostics);
    REQUIRE(result.ok);
    return result.module.lasting;
  };
  const std::string f = "extern \"C\" __global__ void f(float* a) ";
  CHECK(lasting("__device__ int* p;\n" + f + "{ if (!p) p = (int*)malloc(4); a[0] = *p; }\n") ==
        std::vector<std::string>{"malloc()"});
  CHECK(lasting("__device__ __managed__ int m;\n" + f + "{ a[0] = ++m; }\n") ==
        std::vector<std::string>{"the managed variable m"});
  CHECK(lasting("__device__ int calls;\n" + f + "{ a[0] = ++calls; }\n").empty());
  CHECK(
      lasting("#include <cassert>\n__device__ const float table[3] = {1, 2, 3};\n" + f +
              "{ assert(a[2] > 0); a[0] = table[int(a[1])] + sinf(a[1]) + (float)pow((double)a[2], 3.1); }\n")
          .empty());
}

TEST_CASE("a module's variables are listed with their places, the compiler's tables among them") {
  if (!there_is_nvrtc()) return;
  const auto globals = [](const std::string& text) {
    const auto result = build(text, {"f"});
    CAPTURE(result.diagnostics);
    REQUIRE(result.ok);
    return result.module.globals;
  };
  const std::string f = "extern \"C\" __global__ void f(float* a, int n) ";
  // y is aligned to 16 bytes: the gap around x belongs to the section, and to no symbol.
  const auto two = globals("__device__ char x = 1;\n__device__ __align__(16) int y = 2;\n" + f +
                           "{ a[0] = ++x + ++y; }\n");
  REQUIRE(two.size() == 2);
  for (const auto& global : two) {
    CHECK(global.section == ".nv.global.init");
    CHECK(global.bytes == (global.symbol == "x" ? 1 : 4));
    CHECK(global.section_bytes >= 5);
    CHECK(global.offset + global.bytes <= global.section_bytes);
  }
  CHECK(two[0].offset < two[1].offset);
  const auto zeros = globals("static __device__ int calls[3];\n" + f + "{ a[0] = ++calls[n]; }\n");
  CHECK(zeros == std::vector<module_global>{{"calls", 12, ".nv.global", 0, 12}});
  const auto constants = globals("__constant__ float c[4];\n" + f + "{ a[0] = c[n]; }\n");
  CHECK(constants == std::vector<module_global>{{"c", 16, ".nv.constant3", 0, 16}});
  const auto sine = globals(f + "{ a[0] = sinf(a[1]); }\n");
  REQUIRE(sine.size() == 1);
  CHECK(sine[0].section == ".nv.global.init");
  CHECK(sine[0].symbol.find("i2opi") != std::string::npos);
  CHECK(globals(f + "{ static __device__ float kept[4]; a[0] = kept[n]; kept[n] = a[1]; }\n").size() == 1);
  const auto hidden = globals(f +
                              "{ asm(\"{ .global .u32 hidden; .reg .u32 r; ld.global.u32 r, [hidden]; "
                              "st.global.u32 [%0], r; }\" :: \"l\"(a)); }\n");
  REQUIRE(hidden.size() == 1);
  CHECK(hidden[0].bytes == 4);
  CHECK(globals("__device__ int unused;\n" + f + "{ a[0] = 1; }\n").empty());
  // Constants that headers bring and no kernel uses cost nothing before each call.
  if (compiler().tools().include_folders.empty())
    return kevo_test::skip("there are no headers of CUDA on this machine");
  CHECK(globals("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <mma.h>\n" + f +
                "{ a[0] = __half2float(__float2half(a[1])); }\n")
            .empty());
}

TEST_CASE("variables of more than 64 KiB in all are refused, wherever they stand") {
  if (!there_is_nvrtc()) return;
  const std::string f = "extern \"C\" __global__ void f(float* a, int n) ";
  const auto refusal = [](const std::string& text) {
    const auto result = build(text, {"f"});
    CAPTURE(result.diagnostics);
    REQUIRE(result.ok);
    const auto found = refuse_large_variables(result.module);
    return found ? found->feedback : "";
  };
  const auto says = [&](const std::string& text, const std::string& words) {
    const auto told = refusal(text);
    CHECK_MESSAGE(told.find(words) != std::string::npos, text, told);
  };
  CHECK(refusal("__device__ float part[16384];\n" + f + "{ a[0] = part[n]++; }\n").empty());
  says("__device__ float part[16385];\n" + f + "{ a[0] = part[n]++; }\n",
       "take 65540 bytes in all, gaps between them included (part: 65540 bytes), and at most 65536 are");
  says("static __device__ char x[40000], y[40000];\n" + f + "{ a[0] = ++x[n] + ++y[n]; }\n",
       "(x: 40000 bytes, y: 40000 bytes)");
  says("namespace { __device__ char x[70000]; }\n" + f + "{ a[0] = ++x[n]; }\n", "::x: 70000 bytes)");
  says("template <class T> __device__ T v[20000];\n" + f + "{ a[0] = ++v<int>[n]; }\n", ": 80000 bytes)");
  says("extern __device__ int x[20000];\n__device__ int x[20000];\n" + f + "{ a[0] = ++x[n]; }\n",
       "(x: 80000 bytes)");
  says(f + "{ static __device__ float kept[20000]; a[0] = kept[n]; kept[n] = a[1]; }\n", ": 80000 bytes)");
  says("__device__ int x[20000] = {1};\n" + f + "{ a[0] = ++x[n]; }\n", "(x: 80000 bytes)");
  says("__device__ int x[10000] = {1};\n__device__ int y[10000];\n" + f + "{ a[0] = ++x[n] + ++y[n]; }\n",
       "take 80000 bytes");
  says("__device__ const int x[20000] = {1};\n" + f + "{ a[0] = x[n]; }\n", "(x: 80000 bytes)");
  says("__device__ __managed__ int x[20000];\n" + f + "{ a[0] = ++x[n]; }\n", "(x: 80000 bytes)");
  says("__device__ __align__(65536) char x;\n__device__ __align__(65536) char y;\n" + f +
           "{ a[0] = ++x + ++y; }\n",
       "take 65537 bytes in all");
  says(f + "{ asm(\"{ .global .b8 hidden[70000]; .reg .u32 r; ld.global.u32 r, [hidden]; "
           "st.global.u32 [%0], r; }\" :: \"l\"(a)); }\n",
       ": 70000 bytes)");
  // Who uses one can reach the others.
  says("__device__ int used;\n__device__ int other[20000];\n" + f + "{ a[0] = ++used; }\n", "other: 80000");
  says("__device__ char a1[30000], a2[1], a3[30000], a4[2], a5[3], a6[30000];\n" + f +
           "{ a[0] = ++a1[n] + ++a2[0] + ++a3[n] + ++a4[n] + ++a5[n] + ++a6[n]; }\n",
       ", a5: 3 bytes, and 2 more)");
  // These are not given their initial values before a call, or are limited otherwise.
  CHECK(refusal("__device__ int unused[20000];\n" + f + "{ a[0] = 1; }\n").empty());
  CHECK(
      refusal("__constant__ float c[16384];\n__device__ int x[16384];\n" + f + "{ a[0] = c[n] + ++x[n]; }\n")
          .empty());
  CHECK(refusal(f + "{ float v[20000]; for (int i = 0; i < n; ++i) v[i] = a[i]; a[0] = v[n]; }\n").empty());
  // The tables of cuRAND's header count where a kernel uses one.
  const std::string random = "#include <curand_kernel.h>\n" + f;
  if (!build(random + "{}\n", {"f"}).ok)
    return kevo_test::skip("there are no headers of cuRAND on this machine");
  const std::string draw = " s; curand_init(n, threadIdx.x, 0, &s); a[0] = curand_normal(&s); }\n";
  CHECK(refusal(random + "{ curandStatePhilox4_32_10_t" + draw).empty());
  says(random + "{ curandStateXORWOW_t" + draw, "(precalc_xorwow_matrix: 102400 bytes, ");
}

TEST_CASE("the variables of all images count together, and those of hidden workloads are not told of") {
  compiled_module m;
  m.kernels.resize(2);
  m.kernels[1].image = 1;
  const auto variables = [](std::uint32_t image, std::uint64_t bytes) {
    return module_global{"v" + std::to_string(image), bytes, ".nv.global", 0, bytes, image};
  };
  m.globals = {variables(0, 40000), variables(1, 20000)};
  CHECK_FALSE(refuse_large_variables(m).has_value());
  m.globals[1] = variables(1, 40000);
  auto refused = refuse_large_variables(m);
  REQUIRE(refused);
  CHECK(refused->feedback.find("take 80000 bytes") != std::string::npos);
  m.kernels[1].hidden = true;
  refused = refuse_large_variables(m);
  REQUIRE(refused);
  CHECK(refused->reason == "a hidden workload failed");
  CHECK(refused->feedback == "a hidden workload failed");
  m.globals[0] = variables(0, 70000);
  refused = refuse_large_variables(m);
  REQUIRE(refused);
  CHECK(refused->feedback.find("take 70000 bytes in all, gaps between them included (v0: 70000 bytes)") !=
        std::string::npos);
  m.globals = {variables(0, ~std::uint64_t{0}), variables(1, ~std::uint64_t{0})};
  CHECK(refuse_large_variables(m).has_value());
}

TEST_CASE("CUB's primitives of a block and a warp can be used") {
  if (!there_is_nvrtc()) return;
  if (!build("#include <cub/version.cuh>\n__global__ void f() {}\n", {"f"}).ok) {
    kevo_test::skip("there are no headers of CUB on this machine");
    return;
  }
  const std::string kernel =
      "extern \"C\" __global__ void f(float* a) {\n"
      "  using block = cub::BlockReduce<float, 128>;\n"
      "  using warp = cub::WarpReduce<float>;\n"
      "  __shared__ typename block::TempStorage whole;\n"
      "  __shared__ typename warp::TempStorage parts[4];\n"
      "  const float total = block(whole).Sum(warp(parts[threadIdx.x / 32]).Sum(a[threadIdx.x]));\n"
      "  if (threadIdx.x == 0) a[0] = total;\n}\n";
  for (const char* headers : {"#include <cub/block/block_reduce.cuh>\n#include <cub/warp/warp_reduce.cuh>\n",
                              "#include <cub/cub.cuh>\n"}) {
    const auto made = build(headers + kernel, {"f"});
    CHECK_MESSAGE(made.ok, made.diagnostics);
    CHECK(made.module.globals.empty());
  }
}

TEST_CASE("older architectures compile, too, and spills are told") {
  if (!there_is_nvrtc()) return;
  const std::string text =
      "extern \"C\" __global__ void __launch_bounds__(1024, 2) f(float* a, int n) {\n"
      "  float v[64];\n"
      "  for (int i = 0; i < 64; ++i) v[i] = a[i * n];\n"
      "  for (int i = 0; i < 64; ++i) a[v[i] > 0 ? i : 0] = v[63 - i] * v[(i * 7) % 64];\n}\n";
  const auto result = build(text, {"f"}, "sm_80");
  REQUIRE(result.ok);
  CHECK(result.module.kernels.at(0).registers <= 32);
  CHECK(result.module.kernels.at(0).spill_stores > 0);
  CHECK(measures_of_module(result.module).at("spill_bytes") > 0);
  CHECK(describe_resources(result.module).find("spills") != std::string::npos);
}

TEST_CASE("nvcc does the same, where there is one") {
  if (kevo::find_program("nvcc").empty()) {
    kevo_test::skip("there is no nvcc on this machine");
    return;
  }
  cuda_compiler_settings settings;
  settings.compiler = "nvcc";
  settings.sandbox = kevo::sandbox_mode::best;
  cuda_compiler nvcc(settings);
  cuda_build_request request;
  request.source = kevo::single_file_program("cuda", "k.cu", candidate);
  request.kernels = {"tile<64, float>", "copy"};
  const auto result = nvcc.build(request);
  CAPTURE(result.diagnostics);
  REQUIRE(result.reasons.empty());
  REQUIRE(result.ok);
  CHECK(result.module.kernels.at(0).mangled.starts_with("_Z4tileILi64Ef"));
  CHECK(result.module.kernels.at(0).static_shared_bytes == 256);
  CHECK(result.module.kernels.at(0).parameters.size() == 4);
  CHECK(result.module.lasting.empty());
  CHECK(result.module.globals.size() == 1);
  request.source = kevo::single_file_program("cuda", "k.cu", "__global__ void f(int* a) { a[0] = b; }\n");
  request.kernels = {"f"};
  const auto wrong = nvcc.build(request);
  CHECK_FALSE(wrong.ok);
  CHECK(wrong.reasons.at(0).find("error: identifier \"b\" is undefined") != std::string::npos);
}

TEST_CASE("no build has a clock") {
  for (const char* name : {"nvrtc", "nvcc"}) {
    if (name == std::string("nvcc") ? kevo::find_program("nvcc").empty() : nvrtc_place() == "none") continue;
    cuda_compiler_settings settings;
    settings.compiler = name;
    if (settings.compiler == "nvrtc") settings.cuda = nvrtc_place();
    settings.sandbox = kevo::sandbox_mode::best;
    cuda_build_request request;
    // The time of a file is known to nvcc alone.
    request.source = kevo::single_file_program(
        "cuda", "k.cu",
        "__host__ __device__ constexpr bool equal(const char* a, const char* b) {\n  while (*a != 0 && *a == "
        "*b) ++a, ++b;\n"
        "  return *a == *b;\n}\nstatic_assert(equal(__TIME__, \"00:00:00\"), \"time\");\n"
        "static_assert(equal(__DATE__, \"Jan  1 1970\"), \"date\");\n#ifdef __TIMESTAMP__\n"
        "static_assert(equal(__TIMESTAMP__, \"Thu Jan  1 00:00:00 1970\"), \"file\");\n#endif\n"
        "__global__ void f(int* a) { a[0] = 1; }\n");
    request.kernels = {"f"};
    const auto result = cuda_compiler(settings).build(request);
    CHECK_MESSAGE(result.ok, name, ": ", result.diagnostics);
  }
}

TEST_CASE("a script that starts nvcc is taken for the nvcc it starts") {
  if (kevo::find_program("nvcc").empty()) {
    kevo_test::skip("there is no nvcc on this machine");
    return;
  }
  const auto real = kevo::cuda::find_nvcc("nvcc");
  const shell::scratch folder;
  const auto script = folder / "nvcc";
  shell::write_file(script, "#!/bin/sh\nexec " + real + " \"$@\"\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  CHECK(kevo::cuda::find_nvcc(script.string()) == real);
  CHECK_THROWS_AS(kevo::cuda::find_nvcc("nvcc-that-is-not-there"), kevo::error);
}

TEST_CASE("no damaged cubin makes its reader do worse than refuse") {
  if (!there_is_nvrtc()) return;
  const auto result = build("extern \"C\" __global__ void f(float* a, int n) { a[n] = n; }\n", {"f"});
  REQUIRE(result.ok);
  const auto& image = result.module.images.at(0);
  CHECK(read_cubin(image).kernels.size() == 1);
  kevo::rng random(5);
  for (int i = 0; i < 3000; ++i) {
    auto damaged = image;
    for (int k = 0; k < 3; ++k)
      damaged[static_cast<std::size_t>(random.below(damaged.size()))] = static_cast<char>(random.below(256));
    if (i % 10 == 0) damaged.resize(static_cast<std::size_t>(random.below(damaged.size())));
    try {
      read_cubin(damaged);
    } catch (const kevo::error& e) {
      CHECK(e.code() == kevo::error_code::input);
    }
  }
}

TEST_CASE("names of types, words of PTX, and messages") {
  CHECK(parameter_types("_Z1fILi4EfEvPKT0_PS0_x") ==
        std::vector<std::string>{"float const*", "float*", "long long"});
  CHECK(parameter_types("_Z1gv").empty());
  CHECK(parameter_types("g").empty());
  const std::vector<std::string> symbols = {"_Z1fILi4EfEvPKT0_PS0_x", "_Z1fILi8EfEvPKT0_PS0_x", "_Z1hIjEvv",
                                            "g"};
  CHECK(symbol_of("f<8,float>", symbols) == symbols[1]);
  CHECK(symbol_of("h<unsigned>", symbols) == symbols[2]);  // spelled otherwise, but the only one
  CHECK(symbol_of("g", symbols) == "g");
  CHECK(symbol_of("f<16, float>", symbols).empty());
  const auto unused = unused_words("// x x\n.global .u32 x;\n.global .u32 y;\nf { ld [y]; z } // x");
  CHECK(unused == std::vector<std::string>{"f", "x"});
  compile_job job{{"-a"}, {"f<1>"}, {{"k.cu", "text"}, {"h", ""}}};
  CHECK(decode_compile_job(encode(job)) == job);
  compile_answer answer;
  answer.status = compile_status::compiled;
  answer.symbols = {"_Z1fv"};
  answer.major = 13;
  CHECK(decode_compile_answer(encode(answer)) == answer);
  CHECK_THROWS_AS(decode_compile_answer(encode(answer) + " "), kevo::error);
  CHECK_THROWS_WITH_AS(find_toolchain("/nonexistent"),
                       doctest::Contains("NVRTC was not found in /nonexistent"), kevo::error);
}
