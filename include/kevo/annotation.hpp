#pragma once
// Reads and edits annotations: comments in candidate sources that say what the search may change. The syntax
// is the same in every language whose comments start with // or #; docs/sources.md describes it:
//
//   #define BM 64   // kevo: {16, 32, 64, 128}        a tunable: one literal, and the values it may take
//   constexpr int UNROLL = 4;  // kevo: {1..8 step 1}
//   BLOCK = 64  # kevo: {32, 64}
//   // kevo: require BM * BN <= 16384                 a condition over tunables
//   // kevo: begin inner_loop  ...  // kevo: end inner_loop
//   // kevo: build {registers: 168 {128, 168}}        options of this program's compilation
//   // kevo: launch | when | for | memset | workspace | tensormap ...   how a CUDA kernel is launched
//
// Launch lines are kept as text; docs/launch.md describes them. OpenEvolve's EVOLVE-BLOCK-START and
// EVOLVE-BLOCK-END are read as regions named evolve_block_1, evolve_block_2, ...; a line with one of them may
// also begin with !, ;, %, --, (*, /* or <!--.

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/detail/annotation_parser.hpp>
#include <kevo/detail/annotation_types.hpp>
#include <kevo/detail/nearest.hpp>
#include <kevo/error.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// Reads all annotations of a text. Throws kevo::error (input) with `file`, line and column for an unknown
/// directive, a malformed domain, a value outside its domain, a condition that uses anything except integer
/// tunables, and regions that are nested, defined twice or not ended. O(length of the text).
annotations parse_annotations(std::string_view text, std::string_view file = {});

/// Reads all files of a program together. A condition may use tunables of other files, and names must be
/// unique across all files.
annotations parse_annotations(const program& source);

/// Replaces the literals of the named tunables; all other bytes stay unchanged. `values` maps the names of
/// tunables to literals. Throws kevo::error (input) if a name is not that of a tunable, if a value is not in
/// its domain, or if the annotations of the source are malformed. O(length of the text).
std::string set_tunables(std::string_view text, const std::map<std::string, std::string>& values);
/// The same for all files of a program.
program set_tunables(const program& source, const std::map<std::string, std::string>& values);

/// The text between the `begin` and the `end` line of a region, as a view into `source`, which must outlive
/// it. `region` must come from `parse_annotations(source)`.
inline std::string_view region_text(const program& source, const source_region& region) {
  return std::string_view(source.files.at(region.file).text).substr(region.offset, region.length);
}

/// Replaces the text between the `begin` and the `end` line of region `name`; all other bytes stay unchanged.
/// If `content` is not empty and does not end with a newline, one is added. Throws kevo::error (input) if
/// there is no such region, or if `content` contains a line that begins or ends a region.
program replace_region(const program& source, std::string_view name, std::string_view content);
/// The same for the text of a program with one file.
std::string replace_region(std::string_view text, std::string_view name, std::string_view content);

inline annotations parse_annotations(const program& source) {
  detail::annotation_parser parser;
  for (std::size_t i = 0; i < source.files.size(); ++i)
    parser.read(source.files[i].text, i, source.files[i].path);
  return parser.finish();
}

inline annotations parse_annotations(std::string_view text, std::string_view file) {
  detail::annotation_parser parser;
  parser.read(text, 0, file);
  return parser.finish();
}

inline program set_tunables(const program& source, const std::map<std::string, std::string>& values) {
  const annotations found = parse_annotations(source);
  std::vector<std::string> names;
  for (const auto& t : found.tunables) names.push_back(t.name);
  for (const auto& [name, value] : values) {
    const tunable* t = found.find_tunable(name);
    if (t == nullptr) {
      throw error(error_code::input, "the source has no tunable '" + detail::shown(name) + "'", {},
                  detail::hint_for(name, names, "tunables"));
    }
    if (std::find(t->domain.begin(), t->domain.end(), value) == t->domain.end()) {
      throw error(error_code::input,
                  "the value " + detail::shown(value) + " is not in the domain of '" + name + "'",
                  {source.files[t->file].path, t->line, t->column, {}});
    }
  }
  program result = source;
  // From the last to the first: a replacement does not move the text before it, so offsets stay valid.
  for (std::size_t i = found.tunables.size(); i > 0; --i) {
    const tunable& t = found.tunables[i - 1];
    const auto value = values.find(t.name);
    if (value != values.end()) result.files[t.file].text.replace(t.offset, t.value.size(), value->second);
  }
  return result;
}

inline std::string set_tunables(std::string_view text, const std::map<std::string, std::string>& values) {
  return set_tunables(single_file_program("", "", std::string(text)), values).files.front().text;
}

inline program replace_region(const program& source, std::string_view name, std::string_view content) {
  const annotations found = parse_annotations(source);
  const source_region* region = found.find_region(name);
  if (region == nullptr) {
    std::vector<std::string> names;
    for (const auto& r : found.regions) names.push_back(r.name);
    throw error(error_code::input, "the source has no region '" + detail::shown(name) + "'", {},
                detail::hint_for(name, names, "regions"));
  }
  program result = source;
  std::string inserted(content);
  if (!inserted.empty() && inserted.back() != '\n') inserted += '\n';
  result.files[region->file].text.replace(region->offset, region->length, inserted);
  const annotations after = parse_annotations(result);
  const source_region* replaced = after.find_region(name);
  if (after.regions.size() != found.regions.size() || replaced == nullptr ||
      replaced->length != inserted.size()) {
    throw error(error_code::input, "the new text of region '" + std::string(name) +
                                       "' contains a 'begin' or 'end' line of a region");
  }
  return result;
}

inline std::string replace_region(std::string_view text, std::string_view name, std::string_view content) {
  return replace_region(single_file_program("", "", std::string(text)), name, content).files.front().text;
}

}  // namespace kevo
