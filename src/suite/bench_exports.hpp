#pragma once
// The results of a suite in the formats of published suites. docs/bench.md describes them.

#include <cstdint>
#include <string>
#include <vector>

#include "src/suite/bench_report.hpp"

namespace kevo {

enum class bench_format : std::uint8_t { kernelbench, flashinfer };

/// "kernelbench" and "flashinfer". @throws kevo::error (usage) for another name
std::vector<bench_format> bench_formats_of(const std::vector<std::string>& names);

/// Writes the results into a folder of that name in the folder of the results; the files, and for flashinfer
/// the folder. `left_out` gets a sentence for each task or solution that the format cannot hold.
/// @throws kevo::error (environment) if a file cannot be written
std::vector<std::string> export_bench(const bench_report& report, bench_format format,
                                      std::vector<std::string>& left_out);

}  // namespace kevo
