#pragma once
// Messages of tools about a file, in the words of the user, to whom the file has another name.

#include <string>
#include <string_view>

namespace kevo {

/// `text` with every "FROM:<digit>" (a file with a line) and "FROM: " of a message as those of TO. Longer
/// names that end in FROM stay. An empty `to` changes nothing.
std::string with_renamed_file(std::string_view text, std::string_view from, std::string_view to);

}  // namespace kevo
