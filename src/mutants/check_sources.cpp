#include "src/mutants/check_sources.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/cpu/bench.hpp"
#include "fitness/cpu/check_built.hpp"
#include "fitness/oracle/signature.hpp"
#include "operators/mutants/source_mutants.hpp"
#include "operators/mutants/text_mutants.hpp"
#include "operators/rewrite/parser.hpp"
#include "src/base/text/format.hpp"

namespace kevo {
namespace {

// A seed with its mutants.
struct mutated_seed {
  const program* seed = nullptr;
  std::string file;  // as the task calls it
  std::vector<mutants::source_mutant> mutants;
};

std::string file_of_seed(const task& t, const program& seed) {
  auto file = source_file_of(t, seed);
  return file.empty() ? seed.files.front().path : file;
}

std::vector<mutated_seed> mutated_by_text(const task& t) {
  std::vector<mutated_seed> all;
  for (const auto& seed : t.seeds) {
    if (mutants::has_text_rules(seed.language))
      all.push_back({&seed, file_of_seed(t, seed), mutants::text_mutants_of(seed.text(), seed.language)});
  }
  return all;
}

std::vector<mutated_seed> mutated_by_syntax(const task& t, const std::stop_token& stop) {
  std::vector<mutated_seed> all;
  std::vector<std::string> texts;
  for (const auto& seed : t.seeds) {
    if (seed.language != "cpp" && seed.language != "c++") continue;
    all.push_back({&seed, file_of_seed(t, seed), {}});
    texts.emplace_back(seed.text());
  }
  if (all.empty()) return all;
  const auto parsed = rewriting::parse(rewriting::parser_program(), texts, stop);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (parsed[i]) all[i].mutants = mutants::mutants_of(*parsed[i], "run", &t);
  }
  return all;
}

// A mutant by its seed and its number there.
struct chosen_mutant {
  const mutated_seed* of = nullptr;
  const mutants::source_mutant* mutant = nullptr;

  program source() const {
    program result = *of->seed;
    result.files.front().text = mutant->text;
    return result;
  }
};

std::vector<chosen_mutant> choose(const std::vector<mutated_seed>& seeds, std::size_t most) {
  std::vector<chosen_mutant> all;
  std::vector<std::string_view> kinds;
  for (const auto& seed : seeds) {
    for (const auto& one : seed.mutants) {
      all.push_back({&seed, &one});
      kinds.push_back(one.kind);
    }
  }
  std::vector<chosen_mutant> chosen;
  for (const std::size_t i : mutants::spread(kinds, most)) chosen.push_back(all[i]);
  return chosen;
}

// Builds are done ahead, beside the calls of the mutants before.
class builds_ahead {
 public:
  builds_ahead(test_bench& bench, const std::vector<chosen_mutant>& all, std::stop_token stop)
      : bench_(bench), all_(all), stop_(std::move(stop)) {}
  build_result next() {
    constexpr std::size_t ahead = 2;
    while (running_.size() <= ahead && begun_ < all_.size()) {
      running_.push_back(std::async(std::launch::async, [this, source = all_[begun_].source()] {
        return bench_.build_candidate(source, stop_);
      }));
      ++begun_;
    }
    auto first = std::move(running_.front());
    running_.pop_front();
    return first.get();
  }

 private:
  test_bench& bench_;
  const std::vector<chosen_mutant>& all_;
  std::stop_token stop_;
  std::size_t begun_ = 0;
  std::deque<std::future<build_result>> running_;
};

// Many mutants never end: what a program may take to set itself up is not waited for.
cpu_settings impatient(cpu_settings settings) {
  settings.limits.first_call_s = 1;
  settings.limits.first_calls_s = 1;
  return settings;
}

mutant_place place_of(const std::string& file, const mutants::source_mutant& m) {
  return {file, m.line, std::string(m.kind), m.change, m.before, m.after};
}

}  // namespace

source_check check_sources(const std::shared_ptr<const task>& t, const cpu_settings& settings,
                           const source_check_limits& limits, const std::stop_token& stop,
                           const wait_listener& waiting, const std::shared_ptr<const program_kind>& kind) {
  source_check result;
  if (limits.mutants == 0) {
    result.not_made = "--mutants 0";
    return result;
  }
  std::vector<mutated_seed> seeds;
  try {
    seeds = kind ? mutated_by_text(*t) : mutated_by_syntax(*t, stop);
  } catch (const error& failure) {
    if (failure.code() != error_code::environment) throw;
    result.not_made = failure.message();
    return result;
  }
  for (const auto& seed : seeds) result.possible += seed.mutants.size();
  if (result.possible == 0) {
    result.not_made =
        fmt::format("the task has no seed in {} in which a place for one was found", kind ? "Python" : "C++");
    return result;
  }
  const auto start = std::chrono::steady_clock::now();
  test_bench bench(t, kind ? settings : impatient(settings), kind);
  bench.leave_untimed();
  bench.prepare(stop, waiting);
  const auto in_use = bench.take_processors(stop, waiting);
  std::vector<std::pair<const mutated_seed*, build_result>> originals;
  originals.reserve(seeds.size());
  for (const auto& seed : seeds) originals.emplace_back(&seed, bench.build_candidate(*seed.seed, stop));
  const auto chosen = choose(seeds, limits.mutants);
  builds_ahead builds(bench, chosen, stop);
  for (const auto& one : chosen) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    if (limits.seconds > 0 && passed.count() > limits.seconds) {
      result.out_of_time = true;
      break;
    }
    const auto built = builds.next();
    ++result.made;
    if (!built.ok) {
      ++result.not_built;
      continue;
    }
    const auto original = std::find_if(originals.begin(), originals.end(),
                                       [&](const auto& pair) { return pair.first == one.of; });
    if (original->second.ok && bench.kind().same(built.object_path, original->second.object_path)) {
      ++result.equivalent;
    } else if (check_built(bench, built.object_path, stop).passed) {
      result.surviving.push_back(place_of(one.of->file, *one.mutant));
    } else {
      ++result.caught;
    }
  }
  return result;
}

std::vector<mutant_place> list_mutants(const task& t) {
  std::vector<mutant_place> all;
  for (const auto& seed : mutated_by_text(t)) {
    for (const auto& one : seed.mutants) all.push_back(place_of(seed.file, one));
  }
  return all;
}

std::string text_of(const std::vector<mutant_place>& all, std::string_view what) {
  std::string text;
  for (const auto& one : all)
    text += fmt::format("{}  {}:{}  {} ({}): {} -> {}\n", what, one.file, one.line, one.kind, one.change,
                        one.before.empty() ? "(nothing)" : one.before,
                        one.after.empty() ? "(nothing)" : one.after);
  return text;
}

std::string text_of(const source_check& checked) {
  if (!checked.not_made.empty()) return "no mutants of the seeds were tried: " + checked.not_made + "\n";
  std::string text = text_of(checked.surviving, "survives");
  text += fmt::format(
      "{} mutants of the seeds: {} caught, {} did not compile, {} with the machine code of the seed, {} "
      "surviving",
      checked.made, checked.caught, checked.not_built, checked.equivalent, checked.surviving.size());
  if (checked.made < checked.possible)
    text += fmt::format("; {} further ones were not tried ({})", checked.possible - checked.made,
                        checked.out_of_time ? "no time was left" : "--mutants tries more");
  return text + "\n";
}

}  // namespace kevo
