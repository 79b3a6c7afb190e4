#pragma once
// A small task made by hand, y = 2 x + 1, with a slow baseline, and programs for it.

#include <memory>
#include <string>

#include <kevo/error.hpp>

#include "fitness/cpu/cpu_fitness.hpp"
#include "fitness/sandbox/sandbox.hpp"

namespace line_task {

inline const char* const reference = R"(
#include <cstdint>
extern "C" void reference(const double* x, double* y, std::int64_t N) {
  for (std::int64_t i = 0; i < N; ++i) y[i] = 2 * x[i] + 1;
})";
inline const std::string head =
    "#include <cstdint>\n#include <unistd.h>\n#include <cstdlib>\n"
    "extern \"C\" void run(const float* x, float* y, std::int64_t N) {\n";
inline const std::string right = "for (std::int64_t i = 0; i < N; ++i) y[i] = 2 * x[i] + 1;\n";
// Each element is computed again and again, in registers: a value that is kept in memory for that takes 1.5
// times as long in some calls as in others on some processors (AMD family 26), which widens every interval.
inline std::string again_and_again(int times) {
#if defined(__aarch64__)
  const std::string kept = "asm volatile(\"\" : \"+w\"(";
#else
  const std::string kept = "asm volatile(\"\" : \"+x\"(";
#endif
  return "for (std::int64_t i = 0; i < N; ++i) {\n  float v = x[i], s = 0;\n  for (int k = 0; k < " +
         std::to_string(times) + "; ++k) {\n    " + kept + "v));\n    s = 2 * v + 1;\n    " + kept +
         "s));\n  }\n  y[i] = s;\n}\n";
}
inline const std::string slow = again_and_again(24);
inline const std::string half_as_slow = again_and_again(12);

/// Comes near 2 x + 1 in that many rounds over all elements, from 24 on to the last bit; each takes as long
/// as any other.
inline std::string rounds(int times) {
  return "for (std::int64_t i = 0; i < N; ++i) y[i] = x[i];\n"
         "for (int k = 0; k < " +
         std::to_string(times) +
         "; ++k)\n  for (std::int64_t i = 0; i < N; ++i) y[i] = 0.5f * y[i] + (x[i] + 0.5f);\n";
}

inline std::shared_ptr<const kevo::program> candidate(const std::string& body) {
  return std::make_shared<kevo::program>(kevo::single_file_program("cpp", "kernel.cpp", head + body + "}\n"));
}

inline std::shared_ptr<kevo::task> example(std::int64_t n = 60000, const std::string& baseline = slow) {
  auto t = std::make_shared<kevo::task>();
  t->name = "line";
  t->axes = {{"N", {}, ""}};
  kevo::tensor x;
  x.name = "x";
  x.shape = {"N"};
  x.dtype = "float32";
  auto y = x;
  y.name = "y";
  t->inputs = {x};
  t->outputs = {y};
  kevo::workload main;
  main.uuid = "main";
  main.axes = {{"N", n}};
  auto other = main;
  other.uuid = "secret";
  other.axes = {{"N", 777}};
  other.hidden = true;
  t->workloads = {main, other};
  t->reference = kevo::reference_source{"cpp", kevo::single_file_program("cpp", "reference.cpp", reference)};
  kevo::baseline seed;
  seed.name = "seed";
  seed.source = *candidate(baseline);
  t->baselines = {seed};
  return t;
}

struct fixture {
  explicit fixture(std::int64_t n = 60000, std::string cache = {}, const std::string& baseline = slow)
      : fitness(example(n, baseline), settings(std::move(cache))) {}
  static kevo::cpu_settings settings(std::string cache) {
    kevo::cpu_settings s;
    s.cache_dir = std::move(cache);
    s.flags = {"-O2"};
    s.pool_s = 0.5;
    s.timing.pairs = 18;
    return s;
  }
  kevo::evaluation run(const std::string& body,
                       kevo::evaluation_stage wanted = kevo::evaluation_stage::checked) {
    kevo::evaluation_request request;
    request.program = candidate(body);
    request.wanted = wanted;
    return fitness.evaluate(request);
  }
  kevo::cpu_fitness fitness;
};

}  // namespace line_task
