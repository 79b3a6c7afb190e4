#pragma once
// JSON text to values, with numbers rounded correctly. Boost.JSON's own parser (before 1.83) may miss a
// double by a unit in the last place, and a replay must read back what was measured bit for bit. Include in
// .cpp files only.

#include <string_view>

#include <boost/json/value.hpp>

namespace kevo {

/// Parses one JSON document. Throws kevo::error (input) that names line and column of the first mistake. With
/// `any_bytes`, strings may hold bytes that are not UTF-8: what a compiler printed is not always text.
boost::json::value parse_json_exactly(std::string_view text, bool any_bytes = false);

}  // namespace kevo
