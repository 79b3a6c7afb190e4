#include "src/serve/checkpoints.hpp"

#include <optional>
#include <stop_token>
#include <utility>

#include "src/base/sqlite/sqlite.hpp"

namespace kevo::serve {

checkpoints::checkpoints(std::string file, std::uint64_t commits)
    : file_(std::move(file)), commits_(commits) {
  if (!file_.empty()) thread_ = std::jthread([this](std::stop_token stop) { work(stop); });
}

void checkpoints::note_commit() {
  if (file_.empty() || ++noted_ < commits_) return;
  // Without the lock the thread could miss it between looking and waiting.
  const std::scoped_lock lock(guard_);
  many_.notify_one();
}

void checkpoints::work(std::stop_token stop) {
  std::optional<sqlite::connection> own;
  for (;;) {
    {
      std::unique_lock lock(guard_);
      if (!many_.wait(lock, stop, [this] { return noted_ >= commits_; })) return;
      noted_ = 0;
    }
    try {
      if (!own) own.emplace(file_, sqlite::access::write);
      // It waits for nobody, and nobody waits for it.
      own->execute("PRAGMA wal_checkpoint(PASSIVE)");
      ++made_;
    } catch (const sqlite::failure&) {
      own.reset();
    }
  }
}

}  // namespace kevo::serve
