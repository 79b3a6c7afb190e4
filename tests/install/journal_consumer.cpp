// Reads the journal of session_consumer and prints the lineage of the best candidate. Fails if a candidate's
// first evaluation is missing or was told twice. With a second argument, `unfinished`, it fails if the run is
// whole.
#include <cstdio>
#include <string>
#include <vector>

#include <kevo/journal.hpp>

int main(int words, char** word) {
  if (words < 2) return 2;
  const kevo::journal run = kevo::journal::open_read_only(word[1]);
  std::vector<int> first_looks(run.candidates().size());
  for (const kevo::recorded_evaluation& one : run.evaluations()) {
    if (one.wanted != kevo::evaluation_stage::confirmed) ++first_looks[one.candidate];
  }
  int missing = 0;
  int repeated = 0;
  for (const int looks : first_looks) {
    missing += looks == 0 ? 1 : 0;
    repeated += looks > 1 ? 1 : 0;
  }
  const auto best = run.best();
  if (!best) return 1;
  for (const kevo::recorded_candidate& one : run.lineage(*best)) {
    std::printf("candidate %u by %s: %s\n", one.id, one.operator_name.c_str(),
                std::string(run.source(one.program)->text()).c_str());
  }
  std::printf("%zu candidates, %zu sessions, %d without an evaluation, %d evaluated twice\n",
              first_looks.size(), run.sessions().size(), missing, repeated);
  const bool whole = first_looks.size() == 300 && missing == 0;
  const bool should_be_whole = words < 3;
  return repeated == 0 && whole == should_be_whole ? 0 : 1;
}
