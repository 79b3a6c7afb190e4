#pragma once
// The corpus of exploits and of odd but honest programs: tests/attacks/*/*.cpp, and how each of them is
// judged. A file says: the tasks it is tried on, the outcomes that are right for it, and why. matmul@2 is the
// task matmul where a program may have two threads and is built with -fopenmp. KEVO_EXHIBITS=part,of,names
// tries those alone.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>
#include <kevo/evaluation.hpp>

#include "fitness/cpu/cpu_fitness.hpp"
#include "fitness/worker/protocol.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

namespace fs = std::filesystem;

namespace attacks {

// The attacks on the control page carry a copy of its layout, as somebody who has read the source would.
// Without these they would miss it, and be caught for the wrong reason.
static_assert(offsetof(kevo::control_page, ping) == 0);
static_assert(offsetof(kevo::control_page, go) == 64);
static_assert(offsetof(kevo::control_page, arguments) == 128);
static_assert(sizeof(kevo::call_arguments::offsets) == 48 * 8 &&
              sizeof(kevo::call_arguments::axes) == 32 * 8);
static_assert(offsetof(kevo::control_page, pong) == 1088);
static_assert(offsetof(kevo::control_page, done) == 1152);
static_assert(offsetof(kevo::control_page, claim) == 1216);
static_assert(offsetof(kevo::control_page, bell) == 72 && offsetof(kevo::control_page, asleep) == 1160);

// An exploit that is valid may be faster than its twin by no more than this.
inline constexpr double most_gain = 1.05;

struct exhibit {
  fs::path file;
  std::string text;
  std::vector<std::string> tasks;
  std::vector<kevo::outcome> verdicts;
  fs::path
      twin;  // the same computation without the fraud, where "valid" is right only for no more than it earns
  std::string never_says;  // what must not be in its feedback
  // Its twin is the baseline, and the lower end of the interval over that is judged: of what it earns, more
  // is left than the bound, but no evaluation claims it.
  bool by_interval = false;
  bool may_be(kevo::outcome o) const {
    return std::find(verdicts.begin(), verdicts.end(), o) != verdicts.end();
  }
  bool honest() const { return file.parent_path().filename() == "honest"; }
  std::string name() const { return file.parent_path().filename().string() + "/" + file.stem().string(); }
};

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

inline exhibit read_exhibit(const fs::path& file) {
  exhibit result;
  result.file = file;
  std::ifstream stream(file);
  std::ostringstream all;
  all << stream.rdbuf();
  result.text = all.str();
  bool because = false;
  std::istringstream lines(result.text);
  for (std::string line; std::getline(lines, line) && line.rfind("//", 0) == 0;) {
    const auto value = [&](const std::string& key) {
      const std::string start = "// " + key + ": ";
      return line.rfind(start, 0) == 0 ? line.substr(start.size()) : std::string();
    };
    if (const auto v = value("task"); !v.empty()) result.tasks = split(v, ' ');
    if (const auto v = value("never_says"); !v.empty()) result.never_says = v;
    result.by_interval |= value("judged") == "by the interval over the baseline";
    if (const auto v = value("twin"); !v.empty()) result.twin = KEVO_SOURCE_DIR "/tests/attacks/" + v;
    for (const auto& name : split(value("verdict"), '|')) {
      const auto outcome = kevo::parse_outcome(name);
      REQUIRE_MESSAGE(outcome, file.string(), ": no outcome is called '", name, "'");
      result.verdicts.push_back(*outcome);
    }
    because |= !value("because").empty();
  }
  REQUIRE_MESSAGE((because && !result.tasks.empty() && !result.verdicts.empty()), file.string(),
                  ": a line 'task', 'verdict' or 'because' is missing");
  return result;
}

inline std::vector<exhibit> all_exhibits() {
  std::vector<exhibit> exhibits;
  for (const auto& folder : fs::directory_iterator(KEVO_SOURCE_DIR "/tests/attacks")) {
    if (!folder.is_directory()) continue;
    for (const auto& file : fs::directory_iterator(folder)) exhibits.push_back(read_exhibit(file.path()));
  }
  if (const char* wanted = std::getenv("KEVO_EXHIBITS")) {
    std::erase_if(exhibits, [parts = split(wanted, ',')](const exhibit& e) {
      return std::none_of(parts.begin(), parts.end(),
                          [&](const std::string& part) { return e.name().find(part) != std::string::npos; });
    });
  }
  std::sort(exhibits.begin(), exhibits.end(), [](const auto& a, const auto& b) { return a.file < b.file; });
  return exhibits;
}

// The exhibits by what else the machine may do while they are judged.
enum class group {
  caught,  // exploits that are caught whatever happens beside them
  honest,  // programs that are accepted whatever happens beside them
  timed    // exploits whose right outcome depends on times: they have the machine to themselves
};

inline group group_of(const exhibit& e) {
  constexpr std::string_view untimed[] = {"build",  "caching",  "crash",   "escape",
                                          "memory", "numerics", "resource"};
  if (e.honest()) return group::honest;
  const auto folder = e.file.parent_path().filename().string();
  const bool is_untimed = std::find(std::begin(untimed), std::end(untimed), folder) != std::end(untimed) &&
                          e.twin.empty() && !e.may_be(kevo::outcome::valid) &&
                          !e.may_be(kevo::outcome::suspect);
  return is_untimed ? group::caught : group::timed;
}

// Where a time-out is right and no time is judged, longer limits would only make the test wait.
inline bool waits_in_vain(const exhibit& e) {
  return group_of(e) == group::caught && e.may_be(kevo::outcome::timed_out);
}

inline std::shared_ptr<const kevo::program> program_of(const exhibit& e) {
  return std::make_shared<const kevo::program>(kevo::program_of("cpp", e.text));
}

inline kevo::cpu_settings quick_settings(int threads) {
  kevo::cpu_settings settings;
  // Loops at equal places: an exploit and its twin differ by some percent where the compiler puts them
  // elsewhere.
  settings.flags = {"-O2", "-march=native", "-falign-loops=64", "-falign-functions=64"};
  settings.threads = threads;
  if (threads > 1) settings.flags.emplace_back("-fopenmp");
  settings.limits.build_s = 10;
  settings.limits.load_s = 3;
  settings.limits.loads_s = 6;
  settings.limits.first_call_s = 3;
  settings.limits.call_s = 1;
  settings.limits.memory_bytes = 1ULL << 30U;
  settings.timing.short_pairs = 4;
  settings.timing.short_s = 0.1;
  settings.pool_s = 0.5;
  return settings;
}

// By the name of the task, and how long the programs may take and are timed.
struct effort {
  bool brief = false;  // short limits
  bool timed = false;  // the verdict depends on times
  auto operator<=>(const effort&) const = default;
};
inline effort effort_for(const exhibit& e) {
  return {waits_in_vain(e), group_of(e) == group::timed};
}
using functions = std::map<std::pair<std::string, effort>, std::unique_ptr<kevo::cpu_fitness>>;

inline kevo::cpu_fitness& function_for(const functions& all, const exhibit& e, const std::string& task) {
  return *all.at({task, effort_for(e)});
}

inline functions functions_for(const std::vector<exhibit>& exhibits) {
  functions all;
  for (const auto& e : exhibits) {
    for (const auto& name : e.tasks) {
      const effort spent = effort_for(e);
      auto& one = all[{name, spent}];
      if (one) continue;
      const auto at = name.find('@');
      const int threads = at == std::string::npos ? 1 : std::stoi(name.substr(at + 1));
      auto t = kevo::load_task(KEVO_SOURCE_DIR "/tests/attacks/" + name.substr(0, at) + ".yaml");
      auto settings = quick_settings(threads);
      // A third of the time, where it is enough that the program was timed.
      if (!spent.timed) settings.timing.short_s /= 3;
      if (spent.brief) settings.limits.load_s = settings.limits.first_call_s = settings.limits.call_s;
      one = std::make_unique<kevo::cpu_fitness>(std::make_shared<const kevo::task>(std::move(t)),
                                                std::move(settings));
    }
  }
  return all;
}

// Builds all at once, on every processor, before anything is timed; evaluations find the objects in the
// cache of builds. What does not build is judged later, as all else.
inline void build(const functions& all, const std::vector<exhibit>& exhibits) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < exhibits.size(); i = next++) {
      for (const auto& name : exhibits[i].tasks) {
        try {
          function_for(all, exhibits[i], name)
              .evaluate({.program = program_of(exhibits[i]), .wanted = kevo::evaluation_stage::built});
        } catch (const kevo::error& problem) {
          std::printf("  built later: %s\n", problem.what());
        }
      }
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
}

// Evaluates; a machine that is out of order for a moment (heavy load) is given two more chances.
inline kevo::evaluation evaluate(kevo::cpu_fitness& fitness, const exhibit& e) {
  kevo::evaluation_request request;
  request.program = program_of(e);
  request.wanted = kevo::evaluation_stage::timed_short;
  request.fresh = true;
  for (int chance = 1;; ++chance) {
    try {
      return fitness.evaluate(request);
    } catch (const kevo::error& problem) {
      if (chance == 3) throw;
      std::printf("  once more: %s\n", problem.what());
    }
  }
}

// Why an evaluation is not what the exhibit must get; empty if it is.
inline std::string complaint(const exhibit& e, const kevo::evaluation& got) {
  std::string said = got.feedback;
  for (const auto& reason : got.reasons) said += "; " + reason;
  if (!e.may_be(got.outcome)) {
    return "is " + std::string(kevo::to_string(got.outcome)) + " (" + said + ")";
  }
  if (!e.never_says.empty() && said.find(e.never_says) != std::string::npos) return "tells a secret: " + said;
  return {};
}

// Whether most evaluations of an exploit earn no more than `most_gain` over its twin, judged side by side.
// The bound is on the median gain, by a sign test: at each look so many of the gains must lie on one side of
// the bound that chance puts them there in less than 4 % of all cases. What is undecided after the last look
// counts against the exploit, and an evaluation in which it was caught has earned nothing. The last two looks
// are for machines on which a single evaluation is off by more than the bound. Three gains that are all far
// below the bound are enough: evaluations are seldom off by 3 %, and all in the same direction.
inline constexpr double far_below = 1.02;
struct look {
  std::size_t gains;   // measured until then
  std::size_t enough;  // of them on one side
};
inline constexpr look looks[] = {{5, 5}, {9, 8}, {15, 12}, {21, 16}, {35, 24}, {61, 38}};

// Empty: it earns no more. `first` is an evaluation of the exploit. Throws if the twin is not valid.
inline std::string gain_complaint(kevo::cpu_fitness& fitness, const exhibit& e,
                                  const kevo::evaluation& first) {
  const auto twin = read_exhibit(e.twin);
  std::vector<double> gains;
  std::size_t above = 0;
  for (const auto& [wanted, enough] : looks) {
    while (gains.size() < wanted) {
      const auto fraud = gains.empty() ? first : evaluate(fitness, e);
      if (auto wrong = complaint(e, fraud); !wrong.empty()) return wrong;
      double gain = 0;
      if (fraud.valid()) {
        const auto honest = evaluate(fitness, twin);
        if (!honest.valid())
          throw kevo::error(kevo::error_code::internal, twin.name() + " is not valid: " + honest.feedback);
        gain = fraud.speedup / honest.speedup;
      }
      gains.push_back(gain);
      above += gain > most_gain ? 1 : 0;
      if (gains.size() == 3 && *std::max_element(gains.begin(), gains.end()) < far_below) {
        std::printf("  %s: at most %.3f of its twin in three comparisons\n", e.name().c_str(),
                    *std::max_element(gains.begin(), gains.end()));
        return {};
      }
    }
    if (above >= enough || gains.size() - above >= enough) break;
  }
  const std::string median = std::to_string(kevo::median(gains));
  std::printf("  %s: %s of its twin, the median of %zu, %zu of them above %.2f\n", e.name().c_str(),
              median.c_str(), gains.size(), above, most_gain);
  const auto last = std::find_if(std::begin(looks), std::end(looks),
                                 [&](const look& l) { return l.gains == gains.size(); });
  if (gains.size() - above >= last->enough) return {};
  return std::string(above >= last->enough ? "is" : "may be") + " timed " + median +
         " times as fast as its twin";
}

// Empty: no interval of some evaluations begins above the bound.
inline std::string interval_complaint(kevo::cpu_fitness& fitness, const exhibit& e, kevo::evaluation got) {
  constexpr int evaluations = 5;
  double highest = 0;
  for (int i = 0; i < evaluations; ++i) {
    if (i > 0) got = evaluate(fitness, e);
    if (auto wrong = complaint(e, got); !wrong.empty()) return wrong;
    if (got.valid()) highest = std::max(highest, got.speedup_interval.low);
    std::printf("  %s: %.3f [%.3f, %.3f] of its twin\n", e.name().c_str(), got.speedup,
                got.speedup_interval.low, got.speedup_interval.high);
  }
  return highest > most_gain ? "is timed at least " + std::to_string(highest) + " times as fast as its twin"
                             : std::string();
}

inline std::size_t files_of_exhibits() {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(KEVO_SOURCE_DIR "/tests/attacks")) {
    count += entry.is_regular_file() && entry.path().parent_path().filename() != "attacks" ? 1 : 0;
  }
  return count;
}

// Judges the exhibits of one group, and prints both rates.
inline void judge_those(group which) {
  auto exhibits = all_exhibits();
  if (std::getenv("KEVO_EXHIBITS") == nullptr) {
    // Nobody took files away: raise these numbers with the files.
    const auto honest =
        std::count_if(exhibits.begin(), exhibits.end(), [](const exhibit& e) { return e.honest(); });
    CHECK(exhibits.size() == files_of_exhibits());
    CHECK(exhibits.size() - static_cast<std::size_t>(honest) >= 184);
    CHECK(honest >= 65);
  }
  std::erase_if(exhibits, [&](const exhibit& e) { return group_of(e) != which; });
  const shell::scratch folder;
  // Never to /dev/null: a linker that runs as root may replace it.
  if (std::system(
          ("echo 'int main() {}' | g++ -fopenmp -x c++ - -o " + (folder / "linked").string()).c_str()) != 0) {
    kevo_test::skip("g++ has no OpenMP: no program is tried with threads");
    for (auto& e : exhibits) {
      std::erase_if(e.tasks, [](const std::string& name) { return name.find('@') != std::string::npos; });
    }
  }
  const auto fitness = functions_for(exhibits);
  build(fitness, exhibits);
  std::size_t attacks = 0;
  std::size_t caught = 0;
  std::size_t honest = 0;
  std::size_t accepted = 0;
  for (const auto& e : exhibits) {
    bool right = true;
    for (const auto& name : e.tasks) {
      auto& function = function_for(fitness, e, name);
      const auto start = std::chrono::steady_clock::now();
      const auto got = evaluate(function, e);
      auto wrong = complaint(e, got);
      if (wrong.empty() && got.valid() && !e.twin.empty())
        wrong = e.by_interval ? interval_complaint(function, e, got) : gain_complaint(function, e, got);
      CHECK_MESSAGE(wrong.empty(), e.name(), " on ", name, " ", wrong);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      if (took.count() > 2)
        std::printf("  %s on %s took %.1f s\n", e.name().c_str(), name.c_str(), took.count());
      right = right && wrong.empty();
    }
    ++(e.honest() ? honest : attacks);
    if (right) ++(e.honest() ? accepted : caught);
  }
  std::printf("attacks caught: %zu/%zu, honest accepted: %zu/%zu\n", caught, attacks, accepted, honest);
}

}  // namespace attacks
