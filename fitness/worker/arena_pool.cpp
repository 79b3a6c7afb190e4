#include "fitness/worker/arena_pool.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

namespace kevo {
namespace {

constexpr std::size_t variety = 4;  // so many of a size are made before one is lent again
constexpr std::uint64_t renewal = 16;
constexpr std::size_t most_bytes = std::size_t{256} << 20U;  // that lie idle

}  // namespace

arena_pool::size_class& arena_pool::class_of(std::size_t bytes) {
  for (auto& known : classes_) {
    if (known.bytes == bytes) return known;
  }
  return classes_.emplace_back(size_class{bytes, 0});
}

arena arena_pool::take(std::size_t capacity) {
  const std::size_t bytes = arena::memory_for(capacity);
  auto& known = class_of(bytes);
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < free_.size(); ++i) {
    if (free_[i].memory().size() == bytes) fitting.push_back(i);
  }
  if (fitting.empty() || known.made < variety) {
    ++known.made;
    return arena(capacity);
  }
  const auto at = static_cast<std::ptrdiff_t>(fitting[random_.below(fitting.size())]);
  arena drawn = std::move(free_[static_cast<std::size_t>(at)]);
  free_.erase(free_.begin() + at);
  if (random_.below(renewal) == 0) return arena(capacity);
  std::memset(drawn.at(0), 0, drawn.memory().size());
  return drawn;
}

void arena_pool::give_back(arena&& used) {
  if (used.memory().size() == 0) return;
  std::size_t idle = used.memory().size();
  for (const auto& one : free_) idle += one.memory().size();
  if (idle <= most_bytes) free_.push_back(std::move(used));
}

bool arena_pool::keeps_nothing_else() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  std::string modes;
  if (!std::getline(file, modes)) return true;  // a kernel without huge pages
  return modes.find("[never]") != std::string::npos || modes.find("[deny]") != std::string::npos;
}

}  // namespace kevo
