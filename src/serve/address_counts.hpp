#pragma once
// How many connections each address has.

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace kevo::serve {

/// Thread-safe; must outlive what `admit` returns.
class address_counts {
 public:
  /// One connection of an address, which counts while this lives.
  class place {
   public:
    place() = default;
    place(place&& other) noexcept
        : of_(std::exchange(other.of_, nullptr)), address_(std::move(other.address_)) {}
    place& operator=(place&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(address_, other.address_);
      return *this;
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() {
      if (of_ != nullptr) of_->leave(address_);
    }
    /// Whether there was room.
    explicit operator bool() const { return of_ != nullptr; }

   private:
    friend class address_counts;
    place(address_counts* of, std::string address) : of_(of), address_(std::move(address)) {}
    address_counts* of_ = nullptr;
    std::string address_;
  };

  explicit address_counts(std::size_t most) : most_(most) {}
  /// A place that is none if the address has as many connections as it may.
  place admit(const std::string& address) {
    const std::scoped_lock lock(guard_);
    std::size_t& count = counts_[address];
    if (count >= most_) return {};
    ++count;
    return {this, address};
  }
  std::size_t of(const std::string& address) const {
    const std::scoped_lock lock(guard_);
    const auto found = counts_.find(address);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  void leave(const std::string& address) {
    const std::scoped_lock lock(guard_);
    const auto found = counts_.find(address);
    if (--found->second == 0) counts_.erase(found);
  }

  const std::size_t most_;
  mutable std::mutex guard_;
  std::map<std::string, std::size_t> counts_;  ///< those that have any
};

}  // namespace kevo::serve
