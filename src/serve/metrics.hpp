#pragma once
// What a service counts, in the text format of Prometheus.

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace kevo::serve {

/// Counters since the start of the server. Thread-safe.
struct metrics {
  std::atomic<std::uint64_t> accepted{0};                ///< submissions that became a job
  std::atomic<std::uint64_t> known{0};                   ///< submissions of a content that was there
  std::array<std::atomic<std::uint64_t>, 5> ended{};     ///< jobs by remote::progress
  std::array<std::atomic<std::uint64_t>, 8> outcomes{};  ///< evaluations by kevo::outcome
  std::array<std::atomic<std::uint64_t>, 6> answers{};   ///< HTTP answers by the first digit of their status
  std::atomic<std::uint64_t> evaluation_us{0};           ///< [us] in fitness functions
  std::atomic<std::uint64_t> request_us{0};              ///< [us] from a request to its answer, without waits
  std::atomic<std::uint64_t> connections{0};             ///< accepted
  std::atomic<std::uint64_t> connections_refused{0};     ///< above the limit
  std::atomic<std::uint64_t> slow_clients{0};            ///< closed because a time limit was over
  std::atomic<std::int64_t> open_connections{0};
};

/// The text that `GET /metrics` answers.
std::string prometheus_text(const metrics& counts, std::size_t queued, std::size_t running, double uptime_s);

}  // namespace kevo::serve
