#include "operators/llm/blocks.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <kevo/annotation.hpp>
#include <kevo/error.hpp>

namespace kevo {
namespace {

constexpr const char* block_rule =
    "Only the lines between EVOLVE-BLOCK-START and EVOLVE-BLOCK-END may change; these marks and all other "
    "lines must stay as they are.";

/// The blocks of all files, in order; nothing if the marks are broken.
std::optional<std::vector<source_region>> blocks_of(const program& source) {
  try {
    auto regions = parse_annotations(source).regions;
    std::erase_if(regions, [](const source_region& r) { return !r.name.starts_with("evolve_block_"); });
    return regions;
  } catch (const error&) {
    return std::nullopt;
  }
}

/// The lines of a file outside of the blocks, without white space at their ends, and without empty lines at
/// the end.
std::vector<std::string_view> lines_outside(const program& source, std::size_t file,
                                            const std::vector<source_region>& blocks) {
  const std::string_view text = source.files[file].text;
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const bool inside = std::any_of(blocks.begin(), blocks.end(), [&](const source_region& r) {
      return r.file == file && at >= r.offset && at < r.offset + r.length;
    });
    std::string_view line = text.substr(at, end - at);
    const auto last = line.find_last_not_of(" \t\r");
    line = line.substr(0, last == std::string_view::npos ? 0 : last + 1);
    if (!inside) lines.push_back(line);
    at = end + 1;
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// What to say of the first line that differs; empty if none does.
std::string difference_outside(const std::vector<std::string_view>& before,
                               const std::vector<std::string_view>& after) {
  const auto differs = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  if (differs.first == before.end() && differs.second == after.end()) return {};
  const auto shown = [](bool there, std::string_view line) {
    return there ? fmt::format("`{}`", line.substr(0, 200)) : std::string("no more lines");
  };
  return fmt::format(
      "Your program changes a line outside of the parent's blocks: the parent has {}, yours has {}. {}",
      shown(differs.first != before.end(), differs.first != before.end() ? *differs.first : ""),
      shown(differs.second != after.end(), differs.second != after.end() ? *differs.second : ""), block_rule);
}

bool same_paths(const program& one, const program& other) {
  return std::equal(one.files.begin(), one.files.end(), other.files.begin(), other.files.end(),
                    [](const source_file& a, const source_file& b) { return a.path == b.path; });
}

}  // namespace

bool has_evolve_blocks(const program& source) {
  const auto blocks = blocks_of(source);
  return blocks && !blocks->empty();
}

draft kept_to_blocks(const program& parent, draft made) {
  if (!made.made) return made;
  const auto allowed = blocks_of(parent);
  if (!allowed || allowed->empty()) return made;
  if (!same_paths(parent, *made.made))
    return {{}, fmt::format("Your program adds, removes or renames a file. {}", block_rule)};
  const auto found = blocks_of(*made.made);
  if (!found)
    return {{},
            fmt::format(
                "The marks EVOLVE-BLOCK-START and EVOLVE-BLOCK-END of your program do not fit together. {}",
                block_rule)};
  if (found->size() != allowed->size())
    return {{},
            fmt::format(
                "Your program has {} pairs of EVOLVE-BLOCK-START and EVOLVE-BLOCK-END, the parent has {}. {}",
                found->size(), allowed->size(), block_rule)};
  for (std::size_t file = 0; file < parent.files.size(); ++file) {
    auto why =
        difference_outside(lines_outside(parent, file, *allowed), lines_outside(*made.made, file, *found));
    if (!why.empty()) return {{}, std::move(why)};
  }
  return made;
}

std::string outside_of_blocks(const program& parent, const program& made) {
  return kept_to_blocks(parent, {made, {}}).complaint;
}

}  // namespace kevo
