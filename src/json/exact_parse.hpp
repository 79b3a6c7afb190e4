#pragma once
// JSON text to values, with numbers rounded correctly. Boost.JSON's own parser (before 1.83) may miss a
// double by a unit in the last place, and a replay must read back what was measured bit for bit. Include in
// .cpp files only.

#include <string_view>

#include <boost/json/value.hpp>

namespace kevo {

/// Parses one JSON document. Throws kevo::error (input) that names line and column of the first mistake.
boost::json::value parse_json_exactly(std::string_view text);

}  // namespace kevo
