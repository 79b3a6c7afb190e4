#include "src/rejudge/rejudged_line.hpp"

#include <map>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/text/format.hpp"
#include "src/journal/rejudged.hpp"
#include "src/rejudge/verdict.hpp"

namespace kevo {

std::string rejudged_line(const std::string& run_directory) {
  std::map<candidate_id, std::string> latest;
  std::string when;
  try {
    const auto file = rejudged_file::open_read_only(run_directory);
    if (!file) return {};
    for (const auto& row : file->rows()) {
      latest[row.candidate] = row.verdict;
      when = row.judged_at.substr(0, 10) + ", kevo " + row.kevo_version;
    }
  } catch (const error& wrong) {
    return "judged again: " + format::one_line(wrong.what(), true) + '\n';
  }
  std::string counts;
  for (const auto word : {rejudge_word::holds, rejudge_word::slower, rejudge_word::faster, rejudge_word::fell,
                          rejudge_word::undecided}) {
    std::size_t count = 0;
    for (const auto& [id, verdict] : latest) count += verdict == to_string(word) ? 1 : 0;
    if (count > 0) counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, to_string(word));
  }
  if (counts.empty()) return {};
  return fmt::format("judged again: {} ({})\n", counts, format::one_line(when, true));
}

}  // namespace kevo
