#pragma once
// A search small enough to think through: programs are integers, fitness is a hill with its top at 10000.

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kevo/search.hpp>

namespace toy {

inline kevo::program program_of(int number) {
  return kevo::single_file_program("toy", "number.txt", std::to_string(number));
}
inline int number_in(const kevo::program& p) {
  return std::stoi(std::string(p.text()));
}

inline kevo::evaluation valued(double score, kevo::evaluation_stage stage) {
  kevo::evaluation e;
  e.outcome = score > 0 ? kevo::outcome::valid : kevo::outcome::incorrect;
  e.score = e.speedup = score > 0 ? score : 0;
  e.speedup_interval = {e.speedup * 0.999, e.speedup * 1.001};
  e.stage = stage;
  e.measures["size"] = score;
  e.cost.wall_s = 0.01;
  return e;
}

/// Rises to 100 at 10000, falls behind it; negative numbers are invalid.
struct hill {
  kevo::evaluation evaluate(const kevo::evaluation_request& request) {
    const int x = number_in(*request.program);
    return valued(x < 0 ? 0 : 100 - std::abs(10000 - x) / 100.0, request.wanted);
  }
};

/// Even numbers look twice as good as they are and crash when they are confirmed.
struct flattering_hill {
  kevo::evaluation evaluate(const kevo::evaluation_request& request) {
    kevo::evaluation e = hill{}.evaluate(request);
    if (number_in(*request.program) % 2 != 0 || !e.valid()) return e;
    if (request.wanted != kevo::evaluation_stage::confirmed) return valued(2 * e.score, request.wanted);
    e = valued(0, request.wanted);
    e.outcome = kevo::outcome::crashed;
    return e;
  }
};

/// Adds a small random number.
struct step {
  int reach = 300;
  std::string name() const { return "step"; }
  kevo::variation_result vary(const kevo::variation_request& request, kevo::rng& random) {
    const int x = number_in(*request.parents.front()->program);
    return kevo::proposal{program_of(x + static_cast<int>(random.integer(-reach, reach))), "step"};
  }
};
struct speechless {
  std::string name() const { return "speechless"; }
  kevo::variation_result vary(const kevo::variation_request&, kevo::rng&) {
    return kevo::no_proposal{"nothing to say"};
  }
};

struct best_or_random {
  kevo::selection select(const kevo::population_view& view, kevo::rng& random) {
    const auto rank = random.chance(0.5) ? 0 : random.below(view.ranked());
    return {.parents = {view.nth_best(rank)}};
  }
};
struct keep_all {
  std::vector<kevo::elite> kept;
  kevo::archive_result add(const kevo::archive_entry& entry) {
    kept.push_back({entry.id, entry.score, 0});
    return {kevo::archive_status::new_cell, entry.score};
  }
  kevo::archive_result update(const kevo::archive_entry& entry) {
    for (auto& one : kept) {
      if (one.id == entry.id) {
        const double gain = entry.score - one.score;
        one.score = entry.score;
        return {kevo::archive_status::improved, gain};
      }
    }
    return add(entry);
  }
  bool remove(kevo::candidate_id id) {
    return std::erase_if(kept, [id](const kevo::elite& one) { return one.id == id; }) > 0;
  }
  std::optional<kevo::elite> sample(kevo::rng& random) const {
    if (kept.empty()) return std::nullopt;
    return kept[random.below(kept.size())];
  }
  std::size_t size() const { return kept.size(); }
  kevo::elite at(std::size_t i) const { return kept[i]; }
  std::vector<std::string> measures() const { return {"size"}; }
};
struct first_available {
  std::size_t pick(std::span<const bool> available, kevo::rng&) {
    for (std::size_t i = 0; i < available.size(); ++i) {
      if (available[i]) return i;
    }
    return 0;
  }
  void observe(const kevo::operator_turn&) {}
  std::vector<kevo::operator_credit> credits() const { return {}; }
};
struct stop_after {
  std::uint64_t evaluations = 100;
  std::optional<std::string> stop(const kevo::progress& now) {
    if (now.ledger.evaluations < evaluations) return std::nullopt;
    return std::to_string(evaluations) + " evaluations";
  }
};
struct recorder {
  std::vector<kevo::event>* events = nullptr;
  void consume(const kevo::event& e) {
    if (events) events->push_back(e);
  }
};

inline kevo::search_parts parts(stop_after rule, recorder listen) {
  kevo::search_parts p;
  p.task = std::make_shared<const kevo::task>();
  p.select = best_or_random{};
  p.operators = {step{}};
  p.portfolio = first_available{};
  p.archive = keep_all{};
  p.stop = rule;
  p.sinks = {listen};
  return p;
}

}  // namespace toy
