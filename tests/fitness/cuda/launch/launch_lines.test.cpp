// Launch lines: the grammar, what is wrong with each bad line, and the plans that good ones give.

#include <cstring>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/random.hpp>

#include "fitness/cuda/launch/plan_measures.hpp"
#include "fitness/cuda/launch/resolve.hpp"
#include "operators/tune/setting_space.hpp"
#include "src/task/source_file.hpp"

using namespace kevo::cuda;

namespace {

kevo::program cuda(const std::string& text) {
  return kevo::single_file_program("cuda", "k.cu", text);
}

compiled_kernel kernel(const std::string& name, const std::vector<std::string>& types) {
  compiled_kernel k;
  k.name = k.mangled = name;
  k.registers = 32;
  for (const auto& type : types) {
    const std::uint32_t size = type == "CUtensorMap"                ? 128
                               : type.ends_with("*")                ? 8
                               : type == "long" || type == "double" ? 8
                                                                    : 4;
    k.parameters.push_back({0, size, type});
  }
  return k;
}

struct setting {
  launch_signature signature;
  compiled_module module;
  device_facts facts;
};

setting matmul_setting() {
  setting s;
  s.signature.workload = "square";
  s.signature.axes = {{"M", 300}, {"N", 128}, {"K", 64}};
  s.signature.constants = {{"K", 64}};
  s.signature.inputs = {{"A", "float32", 300 * 64}, {"B", "float32", 64 * 128}};
  s.signature.outputs = {{"C", "float32", 300 * 128}};
  s.signature.scalars = {{"eps", "float32", {0, 0, 0, 0x3f}}};  // 0.5
  s.module.architecture = "sm_90a";
  s.module.kernels = {kernel("matmul", {"float const*", "float const*", "float*", "int", "int", "int"}),
                      kernel("f", {"float*", "float"}), kernel("g<4, float>", {"float*", "long"}),
                      kernel("t", {"CUtensorMap", "float*"}), kernel("p", {})};
  s.module.kernels.back().registers = 64;
  return s;
}

std::string failure(const std::string& text, const setting& s) {
  const auto lines = read_launch_lines(cuda(text));
  if (const auto* why = std::get_if<launch_failure>(&lines)) return why->reason;
  const auto result = resolve(std::get<declared_launch>(lines), s.signature, s.module, s.facts);
  if (const auto* why = std::get_if<launch_failure>(&result)) return why->reason;
  return "";
}

plan good(const std::string& text, const setting& s) {
  const auto why = failure(text, s);
  REQUIRE(why == "");
  const auto lines = read_launch_lines(cuda(text));
  return std::get<plan>(resolve(std::get<declared_launch>(lines), s.signature, s.module, s.facts));
}

const kernel_launch& step(const plan& p, std::size_t i) {
  return std::get<kernel_launch>(p.steps.at(i));
}
template <class T>
T number(const launch_argument& argument) {
  const auto& scalar = std::get<scalar_argument>(argument);
  REQUIRE(scalar.size == sizeof(T));
  T value;
  std::memcpy(&value, scalar.bytes.data(), sizeof value);
  return value;
}

}  // namespace

TEST_CASE("the design's example becomes a plan") {
  const auto p = good(
      "#define BM 64   // kevo: {16, 32, 64, 128}\n"
      "#define BN 64   // kevo: {16, 32, 64, 128}\n"
      "// kevo: require BM * BN <= 16384\n"
      "// kevo: workspace partial float32 [M, N]\n"
      "// kevo: launch matmul<<<(ceildiv(N, BN), ceildiv(M, BM)), 256, smem(4 * BM * BN)>>>(A, B, C, M, N, "
      "K)\n",
      matmul_setting());
  CHECK(p.inputs == 2);
  CHECK(p.outputs == 1);
  CHECK(p.workspaces == std::vector<workspace>{{"partial", "float32", 300 * 128 * 4, 256}});
  REQUIRE(p.steps.size() == 1);
  const auto& launch = step(p, 0);
  CHECK(launch.grid == std::array<std::uint32_t, 3>{2, 5, 1});
  CHECK(launch.block == std::array<std::uint32_t, 3>{256, 1, 1});
  CHECK(launch.dynamic_shared_bytes == 16384);
  CHECK(launch.arguments[0] == launch_argument(buffer_argument{0, 0}));
  CHECK(launch.arguments[2] == launch_argument(buffer_argument{2, 0}));
  CHECK(number<std::int32_t>(launch.arguments[3]) == 300);
}

TEST_CASE("conditions, loops, memsets, workspaces, offsets, attributes and scalars") {
  const auto s = matmul_setting();
  const auto p = good(
      "#define T 4  // kevo: {2, 4}\n"
      "#define TYPE float  // kevo: {float, int}\n"
      "// kevo: when M > 1000 ? 1 : 0: launch p<<<1, 1>>>()\n"
      "// kevo: when M <= 1000: workspace w uint8 [N, 3] align 512\n"
      "// kevo: memset w 0xff\n"
      "// kevo: memset C (2 - 2) 4 * M\n"
      "// kevo: for i in 0..3: launch g[T, TYPE]<<<(i + 1), (32, 2)>>>(C + i * N, -(1 << 40) + i)\n"
      "// kevo: launch f<<<2, 64>>>(C + 1, float32(rsqrt(K) / 2)) cluster (2, 1, 1) cooperative pdl "
      "carveout(50)\n"
      "// kevo: launch f<<<1, 64>>>(null, eps)\n"
      "// kevo: launch f<<<1, 64>>>(C, N)\n",
      s);
  CHECK(p.workspaces == std::vector<workspace>{{"w", "uint8", 384, 512}});
  REQUIRE(p.steps.size() == 8);
  CHECK(std::get<memory_set>(p.steps[0]) == memory_set{3, 0, 0xff, 384});
  CHECK(std::get<memory_set>(p.steps[1]) == memory_set{2, 0, 0, 1200});
  CHECK(step(p, 4).kernel == 2);
  CHECK(step(p, 4).grid[0] == 3);
  CHECK(step(p, 4).block == std::array<std::uint32_t, 3>{32, 2, 1});
  CHECK(step(p, 4).arguments[0] == launch_argument(buffer_argument{2, 2 * 128 * 4}));
  CHECK(number<std::int64_t>(step(p, 4).arguments[1]) == -(std::int64_t{1} << 40) + 2);
  const auto& f = step(p, 5);
  CHECK(number<float>(f.arguments[1]) == 0.0625F);
  CHECK(f.cluster == std::array<std::uint32_t, 3>{2, 1, 1});
  CHECK(f.cooperative);
  CHECK(f.programmatic);
  CHECK(f.carveout == 50);
  CHECK(step(p, 6).arguments[0] == launch_argument(null_argument{}));
  CHECK(number<float>(step(p, 6).arguments[1]) == 0.5F);
  CHECK(number<float>(step(p, 7).arguments[1]) == 128.0F);  // the kernel's type is known to be float
}

TEST_CASE("tensor maps are worked out, and the driver's limits are kept") {
  const auto s = matmul_setting();
  const std::string launch = "// kevo: launch t<<<1, 128>>>(a, C)\n";
  const auto p = good(
      "// kevo: tensormap a(A + K, [K, M - 1], [4 * K], [32, 64], [1, 1], 128B, none, 256, nan)\n" + launch,
      s);
  REQUIRE(p.tensor_maps.size() == 1);
  const auto& map = p.tensor_maps[0];
  CHECK(map.byte_offset == 256);
  CHECK(map.dims == std::vector<std::uint64_t>{64, 299});
  CHECK(map.strides == std::vector<std::uint64_t>{256});
  CHECK(map.box == std::vector<std::uint32_t>{32, 64});
  CHECK(map.swizzle == tensor_map_swizzle::bytes_128);
  CHECK(map.l2_promotion == tensor_map_l2_promotion::bytes_256);
  CHECK(map.oob_fill == tensor_map_oob_fill::nan);
  CHECK(step(p, 0).arguments[0] == launch_argument(tensor_map_argument{0}));
  const auto why = [&](const std::string& parts) {
    return failure("// kevo: tensormap a(" + parts + ")\n" + launch, s);
  };
  CHECK(why("A, [K, M], [4 * K], [32, 64]") == "");
  CHECK(why("A, [K, M + 1], [4 * K], [32, 64]").find("covers 77056 bytes, but only 76800") !=
        std::string::npos);
  CHECK(why("A, [K, M], [4 * K], [64, 64], [1, 1], 128B").find("more than the 128 of its swizzle") !=
        std::string::npos);
  CHECK(why("A, [K, M], [4 * K + 4], [32, 64]").find("not a multiple of 16") != std::string::npos);
  CHECK(why("A, [K, M], [4 * K], [32, 300]").find("must be 1 to 256") != std::string::npos);
  CHECK(why("A, [K, M], [4 * K], [32, 64], [1, 1], 96").find("unknown swizzle '96B'") != std::string::npos);
  CHECK(why("A, [K, M], [], [32, 64]").find("strides has 0 entries instead of 1") != std::string::npos);
  CHECK(why("A, [K, M], [4 * K]").find("4 to 9 parts") != std::string::npos);
  CHECK(why("X, [K, M], [4 * K], [32, 64]").find("unknown buffer 'X'") != std::string::npos);
}

TEST_CASE("a wrong line says file, line, column, reason and the nearest word") {
  const auto s = matmul_setting();
  struct wrong {
    std::string line, says;
  };
  const std::vector<wrong> cases = {
      {"launch matmul<<<1, 32>>>(A, B, C, M, N)", "k.cu:1:17: matmul: takes 6 arguments, not 5"},
      {"launch matmull<<<1, 32>>>(A, B, C, M, N, K)",
       "k.cu:1:17: the program has no kernel 'matmull' (did you mean 'matmul'?)"},
      {"launch matmul<<<1, 32>>>(A, B, C, M, N, KK)", "k.cu:1:50: argument 6 ('KK'): unknown name 'KK'"},
      {"launch matmul<<<ceildiv(M, BM), 32>>>(A, B, C, M, N, K)", "k.cu:1:37: unknown name 'BM'"},
      {"launch matmul<<<1, 32>>>(A, B, M, M, N, K)", "got an integer, but the kernel parameter is float*"},
      {"launch matmul<<<1, 32>>>(A, B, C, A, N, K)",
       "got a buffer, but the kernel parameter is int (4 bytes)"},
      {"launch matmul<<<1, 32>>>(A, B, C, M << 40, N, K)",
       "does not fit in the kernel parameter, which is int (4 bytes)"},
      {"launch matmul<<<1, 32>>>(A, B, C, float32(M), N, K)",
       "got a float32, but the kernel parameter is int"},
      {"launch matmul<<<1, 32>>>(A, B, C, int64(M), N, K)",
       "got a int64 of 8 bytes, but the kernel parameter is int"},
      {"launch matmul<<<1, 32>>>(A, B, C + M * N + 1, M, N, K)",
       "the offset of 38401 elements is outside the buffer of 38400 elements"},
      {"launch matmul<<<0, 32>>>(A, B, C, M, N, K)", "the grid extent '0' is 0, but must be 1 to 2147483647"},
      {"launch matmul<<<(1, 65536), 32>>>(A, B, C, M, N, K)", "the grid extent '65536' is 65536"},
      {"launch matmul<<<1, (32, 64)>>>(A, B, C, M, N, K)",
       "the block has 2048 threads, but the maximum is 1024"},
      {"launch matmul<<<1, 32, 300000>>>(A, B, C, M, N, K)",
       "the shared memory size is 300000 bytes, but must be 0 to 232448"},
      {"launch matmul<<<1>>>(A, B, C, M, N, K)", "a launch configuration is <<<grid, block>>>"},
      {"launch matmul<<<1, 32>>>(A, B, C, M, N, K", "has no matching closing character"},
      {"launch matmul<<<1, 32>>>(A, B, C, M, N, K) cooperativ",
       "unknown attribute 'cooperativ' (did you mean 'cooperative'?)"},
      {"launch p<<<132 * 32 + 1, 1024>>>() cooperative",
       "the cooperative grid has 4225 blocks, but the device can hold only 132 at once"},
      {"launch p<<<3, 32>>>() cluster 2", "a grid of 3 blocks is not divisible by a cluster of 2"},
      {"launch p<<<17, 32>>>() cluster 17", "the cluster extent '17' is 17, but must be 1 to 16"},
      {"launch p<<<1 << 62 << 4, 32>>>()", "the result does not fit in 64 bits"},
      {"launch p<<<occupancy(q), 32>>>()", "k.cu:1:31: no launch line names a kernel 'q'"},
      {"launch p<<<1, occupancy(p)>>>()", "occupancy(p) depends on itself"},
      {"lunch p<<<1, 32>>>()", "unknown directive 'lunch' (did you mean 'launch'?)"},
      {"when M > 1 launch p<<<1, 32>>>()", "':' is missing after the condition of 'when'"},
      {"when M > 1000: launch p<<<1, 32>>>()", "no launch line applies to workload 'square'"},
      {"for i in 0..5000: launch p<<<1, 32>>>()", "the loop has more than 4096 rounds"},
      {"for i in 0..2: for j in 0..2: launch p<<<1, 32>>>()", "loops cannot be nested"},
      {"for i in 0..2: workspace w float32 [4]", "k.cu:1:10: a workspace cannot be in a loop"},
      {"for M in 0..2: launch p<<<1, 32>>>()", "'M' is an axis of the task and a loop's index"},
      {"memset A 0", "'A' is an input, and inputs must not be changed"},
      {"memset C 256", "the memset value 256 is not in 0 .. 255"},
      {"memset C 0 4 * M * N + 1", "memset sets 153601 bytes of 'C', which has only 153600"},
      {"memset C 0 + 4", "the byte must be a number"},
      {"workspace w float31 [4]", "unknown dtype 'float31' (did you mean 'float32'?)"},
      {"workspace w float32 [1 << 40]", "the limit for all workspaces together is 4294967296"},
      {"workspace w float32 [1 << 40, 1 << 40]", "its size does not fit in 64 bits"},
      {"workspace w float32 [4] align 3", "the alignment is 3, but must be a power of two"},
      {"workspace C float32 [4]", "'C' is an output and a workspace"},
      {"launch g[M, float]<<<1, 32>>>(C, 1)", "a template argument cannot depend on 'M', which varies"},
      {"launch f<<<1, 32>>>(C, float32(1 / 0))", "the result is not a finite number"},
      {"launch f<<<1, 32>>>(C, float32(cbrt(K)))", "unknown function 'cbrt'"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.line);
    const bool launches = c.line.find("launch") != std::string::npos || c.line.starts_with("lunch");
    const auto text = "// kevo: " + c.line + "\n" + (launches ? "" : "// kevo: launch p<<<1, 32>>>()\n");
    const auto why = failure(text, s);
    CAPTURE(why);
    CHECK(why.find(c.says) != std::string::npos);
    CHECK(why.starts_with("k.cu"));
  }
  auto hidden = s;
  hidden.signature.hidden = true;
  CHECK(failure("// kevo: launch matmul<<<0, 32>>>(A, B, C, M, N, K)\n", hidden) ==
        "the launch lines do not work on a hidden workload");
  CHECK(failure("int x;\n", s).find("the program has no launch line") != std::string::npos);
}

TEST_CASE("kernels are named for the compiler, whatever the workload") {
  const auto s = matmul_setting();
  const auto names = [&](const std::string& text) {
    const auto lines = std::get<declared_launch>(read_launch_lines(cuda(text)));
    const auto result = kernel_names(lines, s.signature, s.facts);
    if (const auto* why = std::get_if<launch_failure>(&result)) return std::vector<std::string>{why->reason};
    return std::get<std::vector<std::string>>(result);
  };
  const std::string tunables =
      "#define BM 64   // kevo: {16, 64}\n#define TYPE __half  // kevo: {float, __half}\n";
  CHECK(names(tunables + "// kevo: launch f[BM / 2, TYPE, ns::tile<BM, 4>, K]<<<1, 1>>>()\n// kevo: launch "
                         "ns::g<<<1, 1>>>()\n") ==
        std::vector<std::string>{"f<32, __half, ns::tile<64, 4>, 64>", "ns::g"});
  CHECK(names("// kevo: for i in 0..3: launch f[i]<<<1, 1>>>()\n// kevo: launch f[1]<<<1, 1>>>()\n") ==
        std::vector<std::string>{"f<0>", "f<1>", "f<2>"});
  CHECK(names("// kevo: when K == 1: launch f<<<1, 1>>>()\n// kevo: when M == 1: launch g[]<<<1, 1>>>()\n") ==
        std::vector<std::string>{"g<>"});
  CHECK(names("// kevo: for i in 0..M: launch f[i]<<<1, 1>>>()\n")[0].find("range varies") !=
        std::string::npos);
}

TEST_CASE("tuning a CUDA source tunes its launches") {
  const auto s = matmul_setting();
  const auto source = cuda(
      "#define BM 64   // kevo: {32, 64, 128}\n"
      "#define THREADS 256   // kevo: {128, 256}\n"
      "// kevo: require BM * THREADS <= 16384\n"
      "// kevo: launch p<<<ceildiv(M, BM), THREADS, smem(BM * 8)>>>()\n");
  const kevo::setting_space space(kevo::parse_annotations(source));
  const auto all = space.enumerate(100);
  REQUIRE(all);
  CHECK(all->size() == 5);  // 128 x 256 is required away
  for (const auto& one : *all) {
    const auto values = space.values(one);
    const auto p = good(space.apply(source, one).files.front().text, s);
    const auto tile = static_cast<std::uint32_t>(std::stoi(values.at("BM")));
    CHECK(step(p, 0).grid[0] == (300 + tile - 1) / tile);
    CHECK(step(p, 0).block[0] == static_cast<std::uint32_t>(std::stoi(values.at("THREADS"))));
    CHECK(step(p, 0).dynamic_shared_bytes == tile * 8);
  }
}

TEST_CASE("occupancy answers for the line that launches the kernel") {
  auto s = matmul_setting();
  // 64 registers: 65536 / (64 * 32) = 32 warps; 256 threads are 8 warps, so 4 blocks.
  CHECK(step(good("// kevo: launch p<<<occupancy(p) * device.sms, 256>>>()\n", s), 0).grid[0] == 4 * 132);
  // 100 KB of shared memory each: 2 blocks in 228 KB.
  CHECK(step(good("// kevo: launch p<<<occupancy(p), 64, 102400>>>()\n", s), 0).grid[0] == 2);
  s.facts.occupancy = [](const compiled_kernel&, std::uint32_t, std::uint32_t) { return std::int64_t{7}; };
  CHECK(step(good("// kevo: launch p<<<occupancy(p), 64>>>()\n", s), 0).grid[0] == 7);
  // 40 registers are 1280 a warp, 12 warps in each of four partitions; 192 threads are 6 warps.
  auto ampere = *known_device("sm_80");
  auto k = kernel("k", {});
  k.registers = 40;
  CHECK(estimated_occupancy(ampere, k, 192, 0) == 8);
  k.registers = 255;
  CHECK(estimated_occupancy(ampere, k, 1024, 0) == 0);
  CHECK(estimated_occupancy(ampere, k, 256, 0) == 1);
  CHECK_FALSE(known_device("sm_11"));
}

TEST_CASE("a plan's measures speak of its largest launch") {
  const auto s = matmul_setting();
  const auto p = good(
      "// kevo: workspace w float32 [N]\n"
      "// kevo: launch p<<<(M, 2), 256, 1024>>>()\n"
      "// kevo: launch p<<<1, 1024, 4096>>>()\n",
      s);
  const auto measures = measures_of_plan(p, s.module, s.facts);
  CHECK(measures.at("occupancy") == 0.5);  // 64 registers: 4 blocks of 256 of 2048 threads
  CHECK(measures.at("shared_bytes") == 4096);
  CHECK(measures.at("launches") == 2);
  CHECK(measures.at("workspace_bytes") == 512);
  CHECK(describe_launches(p, s.module, s.facts) ==
        "p: grid 300x2, block 256, 1024 bytes of shared memory, 4 blocks a multiprocessor (50 % of its "
        "threads)\n");
}

TEST_CASE("random grids agree with arithmetic done here, and no text makes the parser do worse than refuse") {
  kevo::rng random(11);
  auto s = matmul_setting();
  for (int i = 0; i < 200; ++i) {
    const auto m = static_cast<std::int64_t>(1 + random.below(100000));
    const auto tile = static_cast<std::int64_t>(1 + random.below(300));
    s.signature.axes["M"] = m;
    const auto p = good("// kevo: launch p<<<(ceildiv(M, " + std::to_string(tile) +
                            "), M / 2000 + 1), align_up(M % 500 + 1, 32)>>>()\n",
                        s);
    CHECK(step(p, 0).grid == std::array<std::uint32_t, 3>{static_cast<std::uint32_t>((m + tile - 1) / tile),
                                                          static_cast<std::uint32_t>(m / 2000 + 1), 1});
    CHECK(step(p, 0).block[0] == static_cast<std::uint32_t>((m % 500 + 32) / 32 * 32));
  }
  const std::string line =
      "// kevo: when M > 1: for i in 0..2: launch g[4, float]<<<(1, 2), 32, smem(4)>>>(C + i, int64(i)) "
      "cluster 2\n"
      "// kevo: tensormap a(A, [K, M], [4 * K], [32, 64], [1, 1], 128B, none, 256, nan)\n";
  for (int i = 0; i < 3000; ++i) {
    auto damaged = line;
    for (std::uint64_t k = 1 + random.below(3); k > 0; --k) {
      const auto at = 9 + static_cast<std::size_t>(random.below(damaged.size() - 10));
      const char c = "()[]<>,:.+*0aM \"\n"[random.below(17)];
      if (random.below(2) == 0)
        damaged[at] = c;
      else
        damaged.erase(at, 1);
    }
    CHECK_NOTHROW(failure(damaged, s));
  }
}

namespace {

std::string variants(const std::string& text, const setting& s) {
  const auto lines = read_launch_lines(kevo::program_of("triton", text));
  if (const auto* why = std::get_if<launch_failure>(&lines)) return why->reason;
  const auto names = triton_variants(std::get<declared_launch>(lines), s.signature, s.facts);
  if (const auto* why = std::get_if<launch_failure>(&names)) return why->reason;
  std::string all;
  for (const auto& name : std::get<std::vector<std::string>>(names)) all += name + "\n";
  return all;
}

}  // namespace

TEST_CASE("launch lines of Triton kernels name the variants that Triton compiles") {
  auto s = matmul_setting();  // M 300, N 128, K 64
  CHECK(
      variants("B_ = 32  # kevo: {32, 64}\n"
               "# kevo: launch f[(M, 2)](A, B + 4, B + 3, C, M, N, 1, int64(K), eps, float32(1), null, T=B_, "
               "WHOLE=K % B_ == 0, ACTIVATION=\"relu\", DTYPE=tl.float32) warps (2 * 2) stages 3 ctas 2 "
               "registers 64 config 1\n",
               s) ==
      "f('*fp32:16', '*fp32:16', '*fp32', '*fp32:16', 'i32', 'i32:16', '=1', 'i64:16', 'fp32', 'fp32', "
      "'=None', "
      "T=32, WHOLE=1, ACTIVATION=\"relu\", DTYPE=tl.float32, num_warps=4, num_stages=3, num_ctas=2, "
      "maxnreg=64, "
      "config=1)\n");
  // Lines that do not hold name nothing, rounds of a loop name what differs among them.
  CHECK(variants("# kevo: when M > 1000: launch f[1](A)\n# kevo: for i in 0..3: launch g[i + 1](C, i * 8)\n",
                 s) == "g('*fp32:16', 'i32:16')\ng('*fp32:16', 'i32')\n");
  CHECK(variants("# kevo: launch f[1](5000000001)\n", s) == "f('i64')\n");
  const auto says = [&](const std::string& line, const std::string& words) {
    const auto why = variants("# kevo: " + line + "\n", s);
    CHECK_MESSAGE(why.find(words) != std::string::npos, line, ": ", why);
  };
  says("launch f[](A)", "a grid must have one to three extents");
  says("launch f[1, 2, 3, 4](A)", "a grid must have one to three extents");
  says("launch f[1](A, T=, U=2)", "the value is missing");
  says("launch f[1](T=1, A)", "a positional argument after NAME=value");
  says("launch f[1](A) warps", "expected a number after 'warps'");
  says("launch f[1](A) wraps 4", "unknown setting 'wraps'");
  says("launch f[1](A) warps 4 warps 8", "'warps' twice");
  says("launch f[1](A) warps 0", "num_warps is 0");
  says("launch f[1](D)", "unknown name 'D'");
  says("launch f[1](float16(1))", "pass float32(...)");
  says("launch f[g.T](A)", "unknown name 'g.T'");
  says("launch f<<<1, 1>>>(A)", "the program is in Triton");
  says("tensormap a(A, [64, 300], [256], [32, 32])", "Triton programs have no tensor maps");
  says("when occupancy(f) > 1: launch f[1](A)", "depends on the compiled kernel");
  CHECK(failure("// kevo: launch f[1](A)\n", s).find("the program is in CUDA") != std::string::npos);
}

TEST_CASE("a Triton kernel is launched as its compiler has decided, with its scratch memory") {
  auto s = matmul_setting();
  auto k = kernel("f('*fp32:16', '=1', 'i32', T=32)", {"float*", "int", "float*", "float*"});
  k.decided = decided_launch{{0, 2}, 128, 1024, 2, false, 100, 64, {{"T", 32}}};
  s.module.kernels = {k};
  const std::string text =
      "# kevo: launch f[ceildiv(M, f.T), 3](C, 1, M, T=32)\n# kevo: workspace w float32 [N]\n";
  const auto lines = read_launch_lines(kevo::program_of("triton", text));
  REQUIRE(std::holds_alternative<declared_launch>(lines));
  const auto resolved = resolve(std::get<declared_launch>(lines), s.signature, s.module, s.facts);
  REQUIRE(std::holds_alternative<plan>(resolved));
  const auto& p = std::get<plan>(resolved);
  const auto& launch = step(p, 0);
  CHECK(launch.grid == std::array<std::uint32_t, 3>{20, 3, 1});  // of 10 x 3 clusters
  CHECK(launch.cluster == std::array<std::uint32_t, 3>{2, 1, 1});
  CHECK(launch.block == std::array<std::uint32_t, 3>{128, 1, 1});
  CHECK(launch.dynamic_shared_bytes == 1024);
  REQUIRE(launch.arguments.size() == 4);
  CHECK(number<std::int32_t>(launch.arguments[1]) == 300);
  REQUIRE(p.workspaces.size() == 2);
  CHECK(p.workspaces[1].bytes == 60 * 100);
  CHECK(launch.arguments[2] == launch_argument(buffer_argument{4, 0}));
  CHECK(launch.arguments[3] == launch_argument(null_argument{}));
  // What the compiler's process says may be anything.
  const auto refused = [&](const auto& change) {
    auto other = s;
    change(*other.module.kernels[0].decided);
    const auto result = resolve(std::get<declared_launch>(lines), other.signature, other.module, other.facts);
    return std::holds_alternative<launch_failure>(result);
  };
  CHECK_FALSE(refused([](decided_launch&) {}));
  CHECK(refused([](decided_launch& d) { d.threads = 0; }));
  CHECK(refused([](decided_launch& d) { d.threads = 2048; }));
  CHECK(refused([](decided_launch& d) { d.dynamic_shared_bytes = 1U << 20U; }));
  CHECK(refused([](decided_launch& d) { d.cluster_blocks = 64; }));
  CHECK(refused([](decided_launch& d) { d.arguments = {0, 9}; }));
  CHECK(refused([](decided_launch& d) { d.arguments = {}; }));
  CHECK(refused([](decided_launch& d) { d.arguments = {0, 1, 2, 0, 0}; }));
  CHECK(refused([](decided_launch& d) { d.scratch_bytes = std::uint64_t{1} << 40U; }));
  CHECK(refused([](decided_launch& d) { d.scratch_align = 3; }));
  CHECK(refused([](decided_launch& d) { d.constants.clear(); }));
}
