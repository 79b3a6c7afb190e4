#pragma once
// What `kevo show` says of the judgements that were made after a run.

#include <string>

namespace kevo {

/// "judged again: 3 hold, 1 fell (2026-11-22, kevo 0.3.0)" and a line break, of the latest judgement of each
/// candidate; empty where nothing was judged. A file that cannot be read is said in the same line.
std::string rejudged_line(const std::string& run_directory);

}  // namespace kevo
