#pragma once
// A cache that forgets what was not used for longest, sized in bytes.

#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

namespace kevo::detail {

/// Values by key. Every operation is O(1). The entry used last is never forgotten, whatever its size. Not
/// thread-safe.
template <class Key, class Value>
class lru_cache {
 public:
  explicit lru_cache(std::size_t capacity_bytes) : capacity_(capacity_bytes) {}

  /// Null if unknown.
  std::shared_ptr<const Value> find(const Key& key) {
    const auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    order_.splice(order_.begin(), order_, it->second);
    return it->second->value;
  }

  void put(const Key& key, std::shared_ptr<const Value> value, std::size_t bytes) {
    if (const auto it = index_.find(key); it != index_.end()) {
      used_ -= it->second->bytes;
      order_.erase(it->second);
      index_.erase(it);
    }
    order_.push_front({key, std::move(value), bytes});
    index_.emplace(key, order_.begin());
    used_ += bytes;
    while (used_ > capacity_ && order_.size() > 1) {
      used_ -= order_.back().bytes;
      index_.erase(order_.back().key);
      order_.pop_back();
    }
  }

  std::size_t used_bytes() const { return used_; }
  std::size_t size() const { return order_.size(); }

 private:
  struct entry {
    Key key;
    std::shared_ptr<const Value> value;
    std::size_t bytes;
  };
  std::size_t capacity_;
  std::size_t used_ = 0;
  std::list<entry> order_;
  std::unordered_map<Key, typename std::list<entry>::iterator> index_;
};

}  // namespace kevo::detail
