#pragma once
// Points for candidates, from their measures or from their source.

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/archive/measure_range.hpp>
#include <kevo/detail/nearest_elites.hpp>
#include <kevo/embedding.hpp>

namespace kevo::detail {

/// Either ranges of measures or an embedding of sources. A value type.
class point_space {
 public:
  /// Throws kevo::error (input) for invalid ranges.
  explicit point_space(std::vector<measure_range> ranges) : ranges_(std::move(ranges)) { check(ranges_); }
  /// Throws kevo::error (input) for an embedding without dimensions or function.
  explicit point_space(source_embedding embedding) : embedding_(std::move(embedding)) {
    if (embedding_.dimensions == 0 || !embedding_.embed) {
      throw error(error_code::input, "an embedding needs at least one dimension");
    }
  }

  std::size_t dimensions() const { return wants_source() ? embedding_.dimensions : ranges_.size(); }
  bool wants_source() const { return static_cast<bool>(embedding_.embed); }
  std::vector<std::string> measures() const {
    std::vector<std::string> names;
    for (const measure_range& r : ranges_) names.push_back(r.measure);
    return names;
  }
  /// The point of an entry; empty if it needs a source and the entry has none.
  std::vector<double> point(const archive_entry& entry) const {
    if (!wants_source()) return unit_point(ranges_, entry.measures);
    return entry.source ? embedding_.embed(*entry.source) : std::vector<double>();
  }

 private:
  std::vector<measure_range> ranges_;
  source_embedding embedding_;
};

}  // namespace kevo::detail
