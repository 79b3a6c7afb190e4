#pragma once
// JSON text to values, with numbers rounded correctly. Boost.JSON's own parser (before 1.83) may miss a
// double by a unit in the last place, and a replay must read back what was measured bit for bit. Include in
// .cpp files only.

#include <cstddef>
#include <string_view>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>

namespace kevo {

/// Parses one JSON document. Throws kevo::error (input) that names line and column of the first mistake. With
/// `any_bytes`, strings may hold bytes that are not UTF-8: what a compiler printed is not always text.
/// The value takes its memory from `storage`, which must then outlive it.
boost::json::value parse_json_exactly(std::string_view text, bool any_bytes = false,
                                      const boost::json::storage_ptr& storage = {});

/// Memory for one value that is read and dropped at once: it is taken in large pieces and given back whole,
/// which is several times faster than a piece for every key. Not thread-safe.
class brief_json_memory {
 public:
  brief_json_memory() : resource_(first_, sizeof first_) {}
  boost::json::storage_ptr storage() { return &resource_; }

 private:
  unsigned char first_[std::size_t{16} * 1024];
  boost::json::monotonic_resource resource_;
};

}  // namespace kevo
