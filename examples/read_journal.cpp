// Reads the journal of a run that `kevo run` or a session of your own has made: read_journal RUN. Without an
// argument it makes a small run first. A journal can be read while another process writes it.

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include <kevo/journal.hpp>
#include <kevo/kevo.hpp>
#include <kevo/session.hpp>

static std::string small_run() {
  struct double_it {
    std::string name() const { return "double_it"; }
    kevo::variation_result vary(const kevo::variation_request& request, kevo::rng& random) {
      const auto number = std::stoll(std::string(request.parents.front()->program->text())) * 2 % 1009;
      return kevo::proposal{
          kevo::single_file_program("number", "n", std::to_string(number + random.integer(0, 3))), "doubled"};
    }
  };
  struct size {
    kevo::evaluation evaluate(const kevo::evaluation_request& request) {
      const double n = std::stod(std::string(request.program->text()));
      return {.outcome = n > 0 ? kevo::outcome::valid : kevo::outcome::incorrect,
              .score = n,
              .stage = request.wanted};
    }
  };
  kevo::session_plan plan;
  plan.folder = "runs/example_journal";
  std::filesystem::remove_all(plan.folder);
  plan.parts.select = kevo::uniform{};
  plan.parts.operators = {double_it{}};
  plan.parts.archive = kevo::top_k(10);
  plan.parts.stop = kevo::stop::evaluations{40};
  plan.fitness = size{};
  plan.seeds = {kevo::single_file_program("number", "n", "1")};
  return kevo::start_session(plan).directory;
}

int main(int count, char** words) {
  const kevo::journal run = kevo::journal::open_read_only(count > 1 ? words[1] : small_run());

  std::map<std::string, int> made_by;
  for (const kevo::recorded_candidate& one : run.candidates()) ++made_by[one.operator_name];
  for (const auto& [name, number] : made_by) std::printf("%d candidates by %s\n", number, name.c_str());

  std::map<std::string, int> outcomes;
  for (const kevo::recorded_evaluation& one : run.evaluations()) {
    ++outcomes[std::string(kevo::to_string(one.result->outcome))];
  }
  for (const auto& [outcome, number] : outcomes) std::printf("%d evaluations: %s\n", number, outcome.c_str());

  const auto best = run.best();
  if (!best) return 1;
  std::printf("how the best one came to be, newest first:\n");
  const auto line = run.lineage(*best);
  for (const kevo::recorded_candidate& one : line) {
    std::printf("  %u by %s after %.3f s, score %g\n", one.id, one.operator_name.c_str(), one.born_s,
                run.evaluations(one.id).back().result->score);
  }
  return line.back().operator_name == "seed" ? 0 : 1;
}
