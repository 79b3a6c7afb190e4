// Plans and modules as messages: what goes in comes out, and damage is refused.

#include "fitness/cuda/wire/plan.hpp"

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/random.hpp>

#include "fitness/cuda/wire/module.hpp"

using namespace kevo::cuda;

namespace {

plan random_plan(kevo::rng& random) {
  const auto number = [&](std::uint64_t below) { return static_cast<std::uint32_t>(random.below(below)); };
  plan p;
  p.inputs = number(4);
  p.outputs = 1 + number(2);
  for (auto i = number(3); i > 0; --i) {
    p.workspaces.push_back({"w" + std::to_string(i), "float32", random.below(1U << 30U), 256});
  }
  for (auto i = number(3); i > 0; --i) {
    tensor_map map;
    map.buffer = number(4);
    map.dtype = tensor_map_dtype::bfloat16;
    map.dims = {number(1000), number(1000)};
    map.strides = {number(100000)};
    map.box = {64, number(256)};
    map.element_strides = {1, 1};
    map.swizzle = tensor_map_swizzle::bytes_128;
    p.tensor_maps.push_back(map);
  }
  for (auto i = number(6); i > 0; --i) {
    if (number(3) == 0) {
      p.steps.push_back(memory_set{number(4), number(100), 0xff, random.below(1U << 30U)});
      continue;
    }
    kernel_launch launch;
    launch.kernel = number(3);
    launch.grid = {1 + number(65535), 1 + number(10), 1};
    launch.block = {256, 1, 1};
    launch.cluster = {number(2), number(2), number(2)};
    launch.cooperative = number(2) == 1;
    if (number(2) == 1) launch.carveout = number(101);
    launch.arguments = {buffer_argument{number(4), number(64)}, scalar_argument{{1, 2, 3, 4}, 4},
                        tensor_map_argument{0}, null_argument{}};
    p.steps.push_back(launch);
  }
  return p;
}

}  // namespace

TEST_CASE("a plan survives the way to another process, and every cut of it is refused") {
  kevo::rng random(3);
  for (int i = 0; i < 200; ++i) {
    const auto p = random_plan(random);
    const auto bytes = encode(p);
    CHECK(decode_plan(bytes) == p);
    const auto cut = static_cast<std::size_t>(random.below(bytes.size()));
    CHECK_THROWS_AS(decode_plan(std::string_view(bytes).substr(0, cut)), kevo::error);
    CHECK_THROWS_AS(decode_plan(bytes + "x"), kevo::error);
  }
}

TEST_CASE("no damaged plan asks for more memory than the message could hold") {
  kevo::rng random(4);
  const auto bytes = encode(random_plan(random));
  for (int i = 0; i < 2000; ++i) {
    auto damaged = bytes;
    for (int k = 0; k < 4; ++k) {
      damaged[static_cast<std::size_t>(random.below(damaged.size()))] = static_cast<char>(random.below(256));
    }
    try {
      decode_plan(damaged);
    } catch (const kevo::error& e) {
      CHECK(e.code() == kevo::error_code::internal);
    }
  }
}

TEST_CASE("a module survives the way to another process") {
  compiled_module m;
  m.architecture = "sm_90a";
  m.images = {std::string("\x7f"
                          "ELF\0\1\2",
                          7),
              "another"};
  m.kernels.push_back({"f<1, float>",
                       "_Z1fILi1EfEvPT0_",
                       {{0, 8, "float*"}, {8, 4, "int"}},
                       40,
                       0,
                       0,
                       16,
                       1024,
                       12,
                       256,
                       1,
                       640});
  m.kernels.push_back({"g", "g", {}, 8, 0, 0, 0, 0, 0, 0, 0, 128});
  m.lasting = {"malloc()"};
  m.globals = {{"counter", 4, ".nv.global", 8, 12}};
  m.log = "ptxas info : ...";
  CHECK(decode_module(encode(m)) == m);
  CHECK_THROWS_AS(decode_module(encode(m).substr(5)), kevo::error);
}
