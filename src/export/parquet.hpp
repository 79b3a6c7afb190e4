#pragma once
// Parquet, written by Python's pyarrow: neither Debian 12 nor Ubuntu 24.04 packages the C++ library of Apache
// Arrow.

#include <string>
#include <string_view>

namespace kevo {

/// Writes the rows of a file of JSON Lines, as the formats for trainers are, as Parquet. A file that is there
/// is replaced once the new one is whole.
/// @param python path of a Python that has pyarrow, or of a folder of packages; empty: it is searched for
/// @throws kevo::error (environment): no pyarrow, or it could not write
void write_parquet(const std::string& lines, const std::string& parquet, const std::string& python);

/// The text of parquet.py, which becomes part of the library when it is built.
std::string_view parquet_script();

}  // namespace kevo
