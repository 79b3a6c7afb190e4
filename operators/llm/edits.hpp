#pragma once
// Edits in a model's words: SEARCH/REPLACE blocks and unified diffs, applied with some tolerance, refused
// with a complaint that a model can act upon.

#include <string>
#include <string_view>
#include <vector>

namespace kevo {

/// Replace the lines `search` by `replace`. An empty search is only understood for an empty source.
struct text_edit {
  std::vector<std::string> search;
  std::vector<std::string> replace;
};

/// All edits in a reply, in order: blocks `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`, or the hunks of a
/// unified diff (line numbers are ignored: models miscount). `complaint` is set if there are none or one is
/// broken.
std::vector<text_edit> parse_edits(std::string_view reply, std::string& complaint);

/// Whether a reply holds a line that only edits have, so that it was not meant as a whole program.
bool holds_edit_marks(std::string_view reply);

/// The edit that replaces one text by another.
text_edit edit_of(std::string_view search, std::string_view replace);

/// The source with all edits applied; on failure the source unchanged and `complaint` set: which edit, why,
/// and the nearest lines. A search may differ from the source in trailing white space, then in indentation.
/// If its lines are no whole lines of the source, it may begin and end within lines. It must fit in exactly
/// one place. O(edits * lines of source * lines of search).
std::string apply_edits(std::string_view source, const std::vector<text_edit>& edits, std::string& complaint);

}  // namespace kevo
