// A session in a program of your own: with threads, with a journal, and resumed later. If you kill this
// program at any moment and start it again, it continues where it was, and nothing is evaluated twice. This
// example stops by itself and then continues with a larger budget.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include <kevo/kevo.hpp>
#include <kevo/session.hpp>

// Your operator and your fitness function.
struct walk {
  std::string name() const { return "walk"; }
  kevo::variation_result vary(const kevo::variation_request& request, kevo::rng& random) {
    const double x = std::stod(std::string(request.parents.front()->program->text()));
    return kevo::proposal{kevo::single_file_program("number", "x", std::to_string(x + random.normal())),
                          "walked"};
  }
};
struct hill {
  kevo::evaluation evaluate(const kevo::evaluation_request& request) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const double x = std::stod(std::string(request.program->text()));
    return {.outcome = kevo::outcome::valid, .score = 100 / (1 + std::abs(x - 20)), .stage = request.wanted};
  }
};

// The parts of the run. Only the stop rule differs from one session to the next.
static kevo::session_plan plan(const std::string& folder, kevo::any_stop_rule stop) {
  kevo::session_plan made;
  made.folder = folder;
  made.parts.select = kevo::power_law{};
  made.parts.operators = {walk{}};
  made.parts.archive = kevo::top_k(10);
  made.parts.stop = std::move(stop);
  made.fitness = hill{};
  made.seeds = {kevo::single_file_program("number", "x", "0.0")};
  made.variations = 2;
  made.evaluations = 2;
  return made;
}

int main(int count, char** words) {
  const std::string folder = count > 1 ? words[1] : "runs/example_resume";
  if (count == 1) std::filesystem::remove_all(folder);

  const auto first = kevo::start_or_resume_session(plan(folder, kevo::stop::evaluations{50}));
  std::printf("stopped by %s: score %.1f\n", first.stopped_by.c_str(), first.best.score);
  const auto second = kevo::start_or_resume_session(plan(folder, kevo::stop::evaluations{300}));
  std::printf("stopped by %s: score %.1f, source in %s\n", second.stopped_by.c_str(), second.best.score,
              second.best_file.c_str());
  return second.ledger.evaluations >= 300 && second.best.score >= first.best.score ? 0 : 1;
}
