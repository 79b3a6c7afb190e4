// A session of a program of its own: own operator, own fitness function, two threads each, a journal. Starts
// the run in the folder of its first argument, or continues it, and prints the final archive. Its candidates
// are the numbers from 0 to 299, all of which it visits, so that the end does not depend on the order in
// which threads finish.
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include <kevo/archive/top_k.hpp>
#include <kevo/journal.hpp>
#include <kevo/select/uniform.hpp>
#include <kevo/session.hpp>

namespace {

constexpr int count = 300;

kevo::program program_of(int number) {
  return kevo::single_file_program("number", "number.txt", std::to_string(number));
}

/// Proposes a number that the run has not seen.
struct unseen_number {
  std::string name() const { return "unseen_number"; }
  kevo::variation_result vary(const kevo::variation_request& request, kevo::rng& random) {
    const int start = static_cast<int>(random.below(count));
    for (int i = 0; i < count; ++i) {
      kevo::program made = program_of((start + i) % count);
      if (!request.seen(kevo::id_of(made))) return kevo::proposal{std::move(made), "an unseen number"};
    }
    return kevo::no_proposal{"all numbers were seen", true};
  }
};

/// A score without order in the numbers, after four milliseconds.
struct scattered {
  kevo::evaluation evaluate(const kevo::evaluation_request& request) {
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    const int number = std::stoi(std::string(request.program->text()));
    kevo::evaluation result;
    result.outcome = kevo::outcome::valid;
    result.score = 1 + number * 7919 % 10007;
    result.stage = request.wanted;
    return result;
  }
};

}  // namespace

int main(int words, char** word) {
  if (words != 2) return 2;
  const auto plan = [&] {
    kevo::session_plan made;
    made.name = "numbers";
    made.folder = word[1];
    made.parts.select = kevo::uniform{};
    made.parts.operators = {unseen_number{}};
    made.parts.archive = kevo::top_k(10);
    made.fitness = scattered{};
    made.seeds = {program_of(0)};
    made.variations = 2;
    made.evaluations = 2;
    return made;
  };
  const kevo::run_outcome ended = kevo::start_or_resume_session(plan());
  const kevo::journal record = kevo::journal::open_read_only(ended.directory);
  for (std::size_t i = 0; i < ended.archive.size(); ++i) {
    const kevo::elite kept = ended.archive.at(i);
    const auto source = record.source(record.candidate(kept.id)->program);
    std::printf("%s %.17g\n", std::string(source->text()).c_str(), kept.score);
  }
  const kevo::replay_outcome again = kevo::replay_session(plan());
  if (again.divergence) std::fprintf(stderr, "the replay differs: %s\n", again.divergence->c_str());
  return again.divergence ? 1 : 0;
}
