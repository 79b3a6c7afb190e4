#include "src/import/limited_check.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace kevo::importing {

task_report limited_check::operator()(const task& t) const {
  std::stop_source over;
  const std::jthread timer([&over, seconds = seconds_](const std::stop_token& finished) {
    std::mutex mutex;
    std::condition_variable_any woken;
    std::unique_lock lock(mutex);
    woken.wait_for(lock, finished, std::chrono::duration<double>(seconds), [] { return false; });
    if (!finished.stop_requested()) over.request_stop();
  });
  return torch::check_torch_task(std::make_shared<const task>(t), settings_, server_, over.get_token());
}

}  // namespace kevo::importing
