#pragma once
// Whether the program is on this processor as much faster than the baseline of the run as the run says.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "check_runtime.hpp"

namespace kevo_bundle {

/// The tensors of a call, at places that change from call to call. As in kevo, somebody else has written them
/// and then worked on other data before the call begins, so that nothing of large ones is in the caches.
class call_buffers {
 public:
  call_buffers(std::vector<const tensor*> inputs, std::vector<const tensor*> outputs, bool cold)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
    std::size_t bytes = 0;
    for (const auto* list : {&inputs_, &outputs_}) {
      for (const auto* one : *list) {
        rooms_.emplace_back(one->bytes.size() + 2 * page);
        bytes += one->bytes.size();
      }
    }
    if (cold || bytes > std::size_t{64} << 10) other_data_.resize(std::size_t{32} << 20);
    places_.resize(rooms_.size());
  }

  void renew(random_numbers& random) {
    for (std::size_t i = 0; i < rooms_.size(); ++i) {
      const auto at = reinterpret_cast<std::size_t>(rooms_[i].data());
      const auto line = std::uniform_int_distribution<std::size_t>(0, page / 64 - 1)(random);
      places_[i] = rooms_[i].data() + (page - at % page) + 64 * line;
    }
    std::thread([this] {
      for (std::size_t i = 0; i < places_.size(); ++i) {
        if (i < inputs_.size())
          std::memcpy(places_[i], inputs_[i]->bytes.data(), inputs_[i]->bytes.size());
        else
          std::memset(places_[i], 0x5a, outputs_[i - inputs_.size()]->bytes.size());
      }
    }).join();
    for (auto& byte : other_data_) byte = static_cast<unsigned char>(byte + 1);
  }

  template <class T>
  T* at(std::size_t i) const {
    return reinterpret_cast<T*>(places_[i]);
  }

 private:
  static constexpr std::size_t page = 4096;
  std::vector<const tensor*> inputs_;
  std::vector<const tensor*> outputs_;
  std::vector<mapped_bytes> rooms_;
  std::vector<unsigned char*> places_;
  mapped_bytes other_data_;
};

/// Calls of both in turn (program, baseline, baseline, program), and prints the ratio of their median times
/// in the words of `speed_in_processes`. They are few, as in a process of kevo: what a program allocates in
/// each call costs less in a process that has done so often, or in which the reference has.
template <class Program, class Baseline>
void tell_ratio(const char* workload, double weight, call_buffers buffers, const Program& program,
                const Baseline& baseline) {
  constexpr double enough_ms = 30;
  constexpr int fewest = 4;
  constexpr int most = 20;
  random_numbers random(std::random_device{}());
  const auto time_of = [&](const auto& call) {
    buffers.renew(random);
    const auto before = std::chrono::steady_clock::now();
    call(buffers);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count();
  };
  std::vector<double> ours;
  std::vector<double> theirs;
  double spent_ms = 0;
  for (int i = -1; i < most && (i < fewest || spent_ms < enough_ms); ++i) {
    double times[2] = {0, 0};  // of the program and of the baseline
    for (const int which : {i & 1, 1 - (i & 1)})
      times[which] = which == 0 ? time_of(program) : time_of(baseline);
    spent_ms += times[0] + times[1];
    if (i < 0) continue;
    ours.push_back(times[0]);
    theirs.push_back(times[1]);
  }
  std::printf("ratio %.9g %.9g %.9g %s\n", median(theirs) / median(ours), weight, median(ours), workload);
}

/// The name of the processor, as the kernel tells it.
inline std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0 && line.rfind("Model", 0) != 0) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

/// What the run says of all workloads together.
struct promise {
  const char* baseline;
  double low, high;
  const char* processor;
};

/// The speedup over the baseline from 15 processes of each workload, with its interval of 99 %. Ends with 1
/// if it lies as a whole outside of the tolerated interval, and with `skipped` on another processor.
inline int speed_in_processes(const std::string& program, const promise& said, int workloads) {
  constexpr int processes = 15;
  constexpr double student = 2.977;  // of 14 degrees of freedom
  if (std::string(said.processor).rfind(processor_name(), 0) != 0)
    return skip_on(processor_name(), said.processor);
  std::vector<double> sums(processes, 0);
  std::vector<double> weights(processes, 0);
  const auto read = [&](int process, const char* line) {
    char workload[1024];
    double ratio = 0, weight = 0, ms = 0;
    if (std::sscanf(line, "ratio %lf %lf %lf %1023[^\n]", &ratio, &weight, &ms, workload) == 4) {
      sums[static_cast<std::size_t>(process)] += weight * std::log(ratio);
      weights[static_cast<std::size_t>(process)] += weight;
      if (process == 0)
        std::printf("%s: %.5g ms a call, %.4g times as fast as %s\n", workload, ms, ratio, said.baseline);
    } else if (process == 0) {
      std::fputs(line, stdout);
    }
  };
  // Each workload in processes of its own, as in kevo: one finds malloc in another state after the other.
  for (int i = 0; i < workloads; ++i) {
    if (!read_processes(program, "--ratios " + std::to_string(i), processes, read)) return 1;
  }
  double mean = 0;
  for (int i = 0; i < processes; ++i) {
    if (!(weights[static_cast<std::size_t>(i)] > 0)) return 1;
    sums[static_cast<std::size_t>(i)] /= weights[static_cast<std::size_t>(i)];
    mean += sums[static_cast<std::size_t>(i)] / processes;
  }
  double squares = 0;
  for (const double one : sums) squares += (one - mean) * (one - mean);
  const double half = student * std::sqrt(squares / (processes - 1) / processes);
  const double low = std::exp(mean - half);
  const double high = std::exp(mean + half);
  const double least = said.low * (1 - tolerated);
  const double greatest = said.high * (1 + tolerated);
  std::printf(
      "%.4g [%.4g, %.4g] times as fast as %s; the run says [%.4g, %.4g], of which %.0f %% are tolerated\n",
      std::exp(mean), low, high, said.baseline, said.low, said.high, 100 * tolerated);
  const bool right = high >= least && low <= greatest;
  std::puts(right ? "passed" : "FAILED: the program is not as fast as the run says");
  return right ? 0 : 1;
}

}  // namespace kevo_bundle
