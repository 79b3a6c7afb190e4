#pragma once
// Statements of a loop as statements on vectors: the part of widen.hpp that writes expressions.

#include <set>
#include <string>

#include "operators/rewrite/widen.hpp"

namespace kevo::rewriting {

/// Writes statements for all lanes at once. What is the same in all lanes stays a scalar.
struct lane_writer {
  const parsed_source& in;
  const counted_loop& loop;
  const widened_names& names;
  const std::string& element;
  const definitions& known;
  const std::set<long>& varying;
  std::set<long>& expanded;  ///< variables that are vectors; declarations are added
  replacements& by;
  fresh_names& fresh;

  void statement(lines& to, const node& one);

 private:
  enum class shape { scalar, vector, mask };
  struct value {
    std::string text;
    shape form = shape::scalar;
  };

  bool varies(const node& one) const;
  value expression(lines& to, const node& one);
  value binary(lines& to, const node& one);
  value conditional(lines& to, const node& one);
  value load(lines& to, const node& one);
  value call(lines& to, const node& one);
  /// As a vector, whatever it is.
  std::string vector(const value& one) const;
  /// The factor of the loop's index in the subscript is one.
  bool contiguous(const node& subscript) const;
  std::string for_each_lane() const;
  /// The text with the definitions of variables that differ between lanes written out, for the index `index`.
  std::string inlined(const node& one, const std::string& index) const;
  std::string in_lane(const node& one) const;  ///< the text with the index of one lane
  void assignment(lines& to, const node& one);
  void must_be_element(const node& one) const;
};

}  // namespace kevo::rewriting
