// The launcher of a bundle, compiled against a driver that prints what it is asked, does what kevo's own plan
// of the same launch lines does; and expressions in C++ have the values that kevo computes.

#include <cstring>
#include <filesystem>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/random.hpp>

#include "fitness/cuda/launch/resolve.hpp"
#include "src/export/bundle/bundle_parts.hpp"
#include "src/export/bundle/cuda_launcher.hpp"
#include "src/export/bundle/expression_text.hpp"
#include "tests/support/shell.hpp"

using namespace kevo::cuda;

namespace {

constexpr std::uint64_t workspace_at = 0x70000000;

const char* const everything = R"(
#define BM 64   // kevo: {16, 32, 64, 128}
#define PARTS 3   // kevo: {1, 2, 3}
#define SWIZZLE 128   // kevo: {0, 128}
// kevo: when M > 200: workspace partial float32 [PARTS, M, N + 1] align 1024
// kevo: workspace counts int32 [ceildiv(M, BM) + PARTS]
// kevo: when K % 4 == 0 && M >= 128: tensormap a(A + K, [K, M - 1], [4 * K], [32, BM], [1, 1], SWIZZLE, none, 256B, zero)
// kevo: memset counts 255 4
// kevo: memset C 0
// kevo: for i in 0..PARTS: launch g[BM / 16, float]<<<(min(M, 2 * device.sms), i + 1), 128>>>(counts + i, M * (i - 1))
// kevo: when M > 200: launch f<<<occupancy(f) * device.sms, (32, 4), smem(BM * 1040)>>>(partial + M, 1 - K) cooperative carveout(50)
// kevo: when M <= 200: launch f<<<M < N ? 7 : log2_ceil(M), 512>>>(C, float32(rsqrt(K) / 3 + eps)) cluster (1, 1, 1)
// kevo: when K % 4 == 0 && M >= 128: launch t<<<align_up(M, BM) / BM, 64>>>(a, C + (M - 1) * N)
// kevo: when (M - 300) / 7 == -15 || M == 300: launch s<<<-((5 - M) / 3), max(32, 16, M % 64), 0>>>(eps, null, int64(-M), M)
)";

compiled_kernel kernel(const std::string& name, const std::string& mangled,
                       const std::vector<std::pair<std::uint32_t, std::string>>& parameters) {
  compiled_kernel k;
  k.name = name;
  k.mangled = mangled;
  k.registers = 32;
  for (const auto& [size, type] : parameters) k.parameters.push_back({0, size, type});
  return k;
}

compiled_module module_of_test() {
  compiled_module m;
  m.architecture = "sm_90a";
  m.images = {
      std::string("\x7f"
                  "ELF\0code",
                  9)};
  m.kernels = {kernel("g<4, float>", "_g4", {{8, "int*"}, {8, "long"}}),
               kernel("f", "f", {{8, "float*"}, {4, "float"}}),
               kernel("t", "t", {{128, "CUtensorMap"}, {8, "float*"}}),
               kernel("s", "s", {{4, ""}, {8, ""}, {8, "long"}, {4, "unsigned int"}})};
  m.globals = {{"table", 64, ".nv.constant3", 0, 64, 0}, {"counter", 4, ".nv.global", 0, 4, 0}};
  return m;
}

kevo::task task_of_test() {
  kevo::task t;
  t.name = "everything";
  t.axes = {{"M", {}, "rows"}, {"N", {}, "columns"}, {"K", 64, "depth"}};
  t.inputs = {{.name = "A", .shape = {"M", "K"}, .dtype = "float32"},
              {.name = "eps", .scalar = true, .dtype = "float32"}};
  t.outputs = {{.name = "C", .shape = {"M", "N"}, .dtype = "float32"}};
  return t;
}

std::string hex(const void* data, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i)
    text += fmt::format("{:02x}", static_cast<const unsigned char*>(data)[i]);
  return text;
}

// The plan in the words of recording_driver/cuda.h.
std::string text_of(const plan& p, const compiled_module& m) {
  std::vector<std::uint64_t> at = {0x10000000, 0x20000000};  // A, C
  std::uint64_t place = 0;
  for (const auto& space : p.workspaces) {
    place = (place + space.align - 1) / space.align * space.align;
    at.push_back(workspace_at + place);
    place += space.bytes;
  }
  std::string text = fmt::format("workspace {}\n", place);
  for (const auto& map : p.tensor_maps) {
    text += fmt::format("map {} {:x}", static_cast<int>(map.dtype), at[map.buffer] + map.byte_offset);
    for (std::size_t i = 0; i < map.dims.size(); ++i) {
      text += fmt::format(" {},{},{},{}", map.dims[i], i < map.strides.size() ? map.strides[i] : 0,
                          map.box[i], map.element_strides[i]);
    }
    text += fmt::format(" {} {} {} {}\n", static_cast<int>(map.interleave), static_cast<int>(map.swizzle),
                        static_cast<int>(map.l2_promotion), static_cast<int>(map.oob_fill));
  }
  text += "restore 5000 6000 7\n";
  for (const auto& one : p.steps) {
    if (const auto* set = std::get_if<memory_set>(&one)) {
      text += fmt::format("memset {:x} {} {}\n", at[set->buffer] + set->byte_offset, set->value, set->bytes);
      continue;
    }
    const auto& launch = std::get<kernel_launch>(one);
    if (launch.carveout) text += fmt::format("carveout {}\n", *launch.carveout);
    text += fmt::format("launch {} ({} {} {}) ({} {} {}) {}", m.kernels[launch.kernel].mangled,
                        launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1],
                        launch.block[2], launch.dynamic_shared_bytes);
    if (launch.cluster[0] > 0)
      text += fmt::format(" cluster {} {} {}", launch.cluster[0], launch.cluster[1], launch.cluster[2]);
    if (launch.cooperative) text += " cooperative";
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const auto& argument = launch.arguments[i];
      std::uint64_t address = 0;
      if (const auto* buffer = std::get_if<buffer_argument>(&argument))
        address = at[buffer->buffer] + buffer->byte_offset;
      if (const auto* scalar = std::get_if<scalar_argument>(&argument)) {
        text += ' ' + hex(scalar->bytes.data(), scalar->size);
      } else if (std::holds_alternative<tensor_map_argument>(argument)) {
        text += ' ' + hex(std::string(128, '\x77').data(), 128);
      } else {
        text += ' ' + hex(&address, 8);
      }
    }
    text += '\n';
  }
  return text;
}

shell::result compiled_and_run(const shell::scratch& folder, const std::string& main) {
  shell::write_file(folder / "main.cpp", main);
  const auto program = (folder / "program").string();
  const auto built =
      shell::run({"/usr/bin/env", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-O0",
                  "-I" KEVO_SOURCE_DIR "/tests/export/bundle/recording_driver", "main.cpp", "-o", program},
                 folder.string());
  INFO(built.err);
  REQUIRE(built.code == 0);
  return shell::run({program}, folder.string());
}

}  // namespace

TEST_CASE("a launcher does what kevo's plan does, on all sizes") {
  const auto t = task_of_test();
  const auto m = module_of_test();
  const auto lines =
      std::get<declared_launch>(read_launch_lines(kevo::single_file_program("cuda", "k.cu", everything)));
  device_facts facts;
  facts.occupancy = [](const compiled_kernel&, std::uint32_t threads, std::uint32_t shared) {
    return std::int64_t{2048 / threads - shared / 65536};
  };
  launch_signature signature;
  signature.constants = {{"K", 64}};
  signature.scalars = {{"eps", "float32", {0, 0, 0, 0x3f}}};  // 0.5
  signature.inputs = {{"A", "float32", 0}};
  signature.outputs = {{"C", "float32", 0}};

  std::string calls;
  std::string expected;
  for (const auto& [rows, columns] : {std::pair{300, 128}, {197, 500}, {128, 1}, {1, 3}, {513, 1000}}) {
    signature.axes = {{"M", rows}, {"N", columns}, {"K", 64}};
    signature.inputs[0].elements = static_cast<std::uint64_t>(rows) * 64;
    signature.outputs[0].elements = static_cast<std::uint64_t>(rows * columns);
    const auto resolved = resolve(lines, signature, m, facts);
    if (const auto* failure = std::get_if<launch_failure>(&resolved)) FAIL(failure->reason);
    expected += text_of(std::get<plan>(resolved), m);
    calls += fmt::format("  call({}, {});\n", rows, columns);
  }
  const shell::scratch folder;
  const auto text = kevo::bundle::cuda_launcher({"everything", "a test", &t, &signature, &lines, &m, &facts});
  shell::write_file(folder / "everything.hpp", text.header);
  shell::write_file(folder / "everything.cpp", text.source);
  shell::write_file(folder / "everything_image.inc", text.image);
  shell::write_file(folder / "launch_runtime.hpp",
                    std::string(kevo::bundle::shipped_file("launch_runtime.hpp")));
  const auto ran = compiled_and_run(folder, R"(#include "everything.cpp"
const std::map<std::string, std::vector<std::size_t>> parameter_sizes = {
    {"_g4", {8, 8}}, {"f", {8, 4}}, {"t", {128, 8}}, {"s", {4, 8, 8, 4}}};
void call(std::int64_t m, std::int64_t n) {
  everything::arguments a;
  a.A = reinterpret_cast<const float*>(0x10000000);
  a.C = reinterpret_cast<float*>(0x20000000);
  a.eps = 0.5f;
  a.M = m;
  a.N = n;
  std::printf("workspace %zu\n", everything::workspace_bytes(a));
  a.workspace = reinterpret_cast<void*>(0x70000000);
  everything::launch(a, nullptr);
}
int main() {
)" + calls + "}\n");
  CHECK(ran.code == 0);
  CHECK(ran.out == expected);
  CHECK(text.image.starts_with("127,69,76,70,0,99,111,100,101,"));
}

TEST_CASE("expressions in C++ have kevo's values") {
  const std::vector<std::string> pieces = {"a",
                                           "b",
                                           "3",
                                           "0x10",
                                           "-a",
                                           "!b",
                                           "min(a, b, 4)",
                                           "max(b, 2)",
                                           "ceildiv(a, 7)",
                                           "align_up(b * b, 8)",
                                           "log2_ceil(b * b + 1)",
                                           "pow2_ceil(a * a + 1)",
                                           "sizeof(float32)",
                                           "(a < b)"};
  const std::vector<std::string> operators = {
      " + ",  " - ",  " * ",  " / ",  " % ",  " < ",      " <= ",    " > ",
      " >= ", " == ", " != ", " && ", " || ", " << 2 + ", " >> 1 - "};
  kevo::rng random(7);
  std::string main =
      "#include \"launch_runtime.hpp\"\n#pragma GCC diagnostic ignored \"-Wparentheses\"\n#pragma GCC "
      "diagnostic "
      "ignored \"-Wlogical-not-parentheses\"\nconst std::map<std::string, std::vector<std::size_t>> "
      "parameter_sizes;\n"
      "using namespace kevo_bundle;\n"
      "template <class F> void tell(F f) { try { std::printf(\"%lld\\n\", (long long)whole(f()).value()); } "
      "catch "
      "(const std::exception&) { std::printf(\"error\\n\"); } }\nint main() {\n";
  std::string expected;
  for (int i = 0; i < 120; ++i) {
    const auto pick = [&](const auto& from) { return from[random.below(from.size())]; };
    std::string text = pick(pieces) + pick(operators) + pick(pieces) + pick(operators) + "(" + pick(pieces) +
                       pick(operators) + pick(pieces) + ")";
    if (i % 3 == 0) text = "(" + text + ") > 2 ? " + pick(pieces) + " : " + pick(pieces);
    const auto a = static_cast<std::int64_t>(random.below(41)) - 20;
    const auto b = static_cast<std::int64_t>(random.below(9)) - 4;
    const auto e = kevo::expression::parse(text);
    try {
      expected += fmt::format("{}\n", e.evaluate([&](std::string_view name) {
        return std::optional<std::int64_t>(name == "a" ? a : b);
      }));
    } catch (const kevo::error&) {
      expected += "error\n";
    }
    main +=
        fmt::format("  {{ [[maybe_unused]] const whole v_a = {}, v_b = {}; tell([&] {{ return {}; }}); }}\n",
                    a, b, kevo::bundle::integer_text(e));
  }
  const shell::scratch folder;
  shell::write_file(folder / "launch_runtime.hpp",
                    std::string(kevo::bundle::shipped_file("launch_runtime.hpp")));
  const auto ran = compiled_and_run(folder, main + "}\n");
  CHECK(ran.out == expected);
}

TEST_CASE("what a launcher cannot do yet is refused with the place of the line") {
  const auto t = task_of_test();
  const auto m = module_of_test();
  launch_signature signature;
  signature.axes = {{"M", 4}, {"N", 4}, {"K", 64}};
  signature.constants = {{"K", 64}};
  signature.outputs = {{"C", "float32", 16}};
  const device_facts facts;
  const auto lines = std::get<declared_launch>(read_launch_lines(
      kevo::single_file_program("cuda", "k.cu", "// kevo: launch f<<<1, 32>>>(C, 0) pdl\n")));
  CHECK_THROWS_WITH_AS(kevo::bundle::cuda_launcher({"x", "", &t, &signature, &lines, &m, &facts}),
                       doctest::Contains("k.cu:1"), kevo::error);
}
