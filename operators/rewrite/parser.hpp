#pragma once
// Parsing of sources by kevo-parse-cpp, a program of its own.

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "operators/rewrite/syntax.hpp"

namespace kevo::rewriting {

/// The path of kevo-parse-cpp. @throws kevo::error (environment) if this kevo was built without it
std::string parser_program();

enum class dialect : std::uint8_t { cpp, cuda };

/// Parses all sources in one process. A source that could not be parsed (which ends the process for those
/// behind it, too) gives nothing. @throws kevo::error (environment) if the process cannot be started
std::vector<std::optional<parsed_source>> parse(const std::string& program,
                                                const std::vector<std::string>& sources,
                                                std::stop_token stop = {}, dialect of = dialect::cpp);

}  // namespace kevo::rewriting
