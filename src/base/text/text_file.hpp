#pragma once
// Files that users write, read whole.

#include <cstddef>
#include <string>

#include <kevo/error.hpp>

namespace kevo {

/// The whole text of a regular file. Throws kevo::error (input) at `named` (the place that names the file, if
/// any) where it does not exist, cannot be read, is a folder, is larger than `limit` bytes or holds a NUL
/// byte.
std::string read_text_file(const std::string& path, std::size_t limit = std::size_t{16} << 20U,
                           error_place named = {});

/// The same for a file of any bytes.
std::string read_binary_file(const std::string& path, std::size_t limit, error_place named = {});

/// Throws kevo::error (input) at `named` if `path` is a URL ("https://..."): kevo reads files only.
void refuse_url(const std::string& path, error_place named);

/// `relative` as seen from the folder of the file `from`; absolute paths stay. Throws kevo::error (input) for
/// a URL.
std::string path_beside(const std::string& from, const std::string& relative);

}  // namespace kevo
