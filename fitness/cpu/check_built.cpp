#include "fitness/cpu/check_built.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "fitness/cpu/bench.hpp"
#include "fitness/oracle/signature.hpp"

namespace kevo {
namespace {

// What ends early for a wrong program costs least.
std::vector<std::size_t> smallest_first(const task& t) {
  std::vector<double> bytes;
  for (const auto& w : t.workloads) {
    double sum = 0;
    for (const auto& buffer : candidate_buffers(t, w)) sum += static_cast<double>(buffer.bytes);
    bytes.push_back(sum);
  }
  std::vector<std::size_t> order(bytes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return bytes[a] < bytes[b]; });
  return order;
}

}  // namespace

built_check check_built(test_bench& bench, const std::string& object, const std::stop_token& stop) {
  const auto& t = bench.subject();
  auto candidate = bench.run_candidate(object, stop);
  for (const std::size_t i : smallest_first(t)) {
    candidate.select(i);
    for (const auto& one : bench.contents_to_check(i, object, stop)) {
      const auto call = candidate.isolated(one, bench.call_limit(i));
      if (call.failure) return {false, t.workloads[i].uuid, call.failure->reason};
    }
  }
  return {true, {}, {}};
}

}  // namespace kevo
