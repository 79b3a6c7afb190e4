#pragma once
// Fitness functions whose evaluations take time, and what else tests of the driver share.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <kevo/error.hpp>
#include <kevo/evaluate.hpp>
#include <kevo/event.hpp>

#include "src/run/replay.hpp"
#include "tests/support/toy_search.hpp"

namespace driven {

using namespace kevo;
using namespace std::chrono_literals;

inline std::function<double()> wall_clock() {
  const auto began = std::chrono::steady_clock::now();
  return [began] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
}

struct slow_hill {
  std::shared_ptr<std::atomic<int>> running = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<std::atomic<int>> most = std::make_shared<std::atomic<int>>(0);
  evaluation evaluate(const evaluation_request& request) {
    const int now = ++*running;
    int seen = most->load();
    while (now > seen && !most->compare_exchange_weak(seen, now)) {
    }
    for (int i = 0; i < 4 && !request.stop.stop_requested(); ++i) std::this_thread::sleep_for(1ms);
    --*running;
    if (request.stop.stop_requested()) throw error(error_code::interrupted, "cancelled");
    return toy::hill{}.evaluate(request);
  }
};

/// One evaluation at a time is measured, the others wait for it.
struct queue_at_device {
  std::shared_ptr<std::mutex> device = std::make_shared<std::mutex>();
  std::shared_ptr<std::atomic<int>> measured = std::make_shared<std::atomic<int>>(0);
  evaluation evaluate(const evaluation_request& request) {
    const std::scoped_lock held(*device);
    const measuring_span measuring(request);
    std::this_thread::sleep_for(20ms);
    ++*measured;
    return toy::hill{}.evaluate(request);
  }
};

inline event_source source_of(const std::vector<event>& events) {
  return [&events](const std::function<void(const event&)>& each) {
    for (const event& e : events) each(e);
  };
}

}  // namespace driven
