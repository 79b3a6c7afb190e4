#pragma once
// Made-up runs: every kind of event, in an order a search could emit, a function of the seed alone.

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <kevo/event.hpp>
#include <kevo/program.hpp>
#include <kevo/random.hpp>

#include "src/base/json/evaluation_json.hpp"
#include "src/journal/journal.hpp"

namespace kevo_test {

/// A folder that goes away with the test.
class scratch_folder {
 public:
  scratch_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "kevo-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Any double: ordinary, extreme, not finite, both zeros.
inline double wild_number(kevo::rng& random) {
  switch (random.below(12)) {
    case 0:
      return -0.0;
    case 1:
      return std::numeric_limits<double>::infinity();
    case 2:
      return std::numeric_limits<double>::quiet_NaN();
    case 3:
      return std::numeric_limits<double>::denorm_min();
    case 4:
      return static_cast<double>(random.integer(-1000000, 1000000));
    default:
      return std::ldexp(random.uniform() - 0.5, static_cast<int>(random.integer(-200, 200)));
  }
}

inline std::string wild_text(kevo::rng& random) {
  static const std::vector<std::string> pieces = {
      "plain",    "\"quoted\"",         "a\\b", "\n", "\t", "'; DROP TABLE events; --", "\xc3\xa9",
      "\xff\xfe", std::string(1, '\0'), "{}"};
  std::string text;
  for (std::uint64_t n = random.below(5); n > 0; --n) text += pieces[random.below(pieces.size())];
  return text;
}

inline kevo::evaluation random_evaluation(kevo::rng& random, bool wild) {
  const auto any = [&](double low, double high) {
    return wild && random.chance(0.3) ? wild_number(random) : random.uniform(low, high);
  };
  kevo::evaluation e;
  e.outcome = random.chance(0.7) ? kevo::outcome::valid : static_cast<kevo::outcome>(random.below(8));
  e.speedup = any(0.5, 20);
  e.speedup_interval = {any(0.5, 20), any(0.5, 20)};
  e.score = any(0, 20);
  e.sol_fraction = any(0, 1);
  e.stage = static_cast<kevo::evaluation_stage>(random.below(5));
  e.cached = random.chance(0.2);
  e.baseline = random.chance(0.5) ? "seed" : "";
  e.other_speedups = {{"openblas", any(0, 1)}};
  e.other_speedup_intervals = {{"openblas", {any(0, 1), any(1, 2)}}};
  for (std::uint64_t n = random.below(4); n > 0; --n) {
    kevo::workload_result w;
    w.uuid = "workload" + std::to_string(n);
    w.axes = {{"M", random.integer(1, 4096)}, {"N", std::int64_t{1} << random.below(62)}};
    w.hidden = random.chance(0.3);
    w.outcome = static_cast<kevo::outcome>(random.below(8));
    w.time_ns = any(1, 1e9);
    w.time_interval = {any(1, 1e9), any(1, 1e9)};
    w.baseline_ns = any(1, 1e9);
    w.speedup = any(0, 20);
    w.sol_fraction = any(0, 1);
    w.weight = any(0, 2);
    if (random.chance(0.5)) {
      for (auto* time : {&w.device, &w.host})
        *time = {any(1, 1e9), {any(1, 1e9), any(1, 1e9)}, any(1, 1e9), any(0, 20)};
    }
    for (std::uint64_t k = random.below(20); k > 0; --k) w.samples.push_back({any(1, 1e9), any(1, 1e9)});
    e.workloads.push_back(std::move(w));
  }
  if (random.chance(0.5)) {
    e.device_speedup = any(0.5, 20);
    e.device_speedup_interval = {any(0.5, 20), any(0.5, 20)};
    e.host_speedup = any(0.5, 20);
    e.host_speedup_interval = {any(0.5, 20), any(0.5, 20)};
  }
  e.measures = {{"code_bytes", any(0, 65536)}, {"vector_fraction", any(0, 1)}};
  e.feedback = wild ? wild_text(random) : "ok";
  if (wild) e.reasons = {wild_text(random), wild_text(random)};
  e.cost = {any(0, 10), any(0, 10)};
  e.device = "some CPU";
  e.backend = "cpu";
  e.protocol = "1";
  e.context = {{"sandbox", "bubblewrap"}, {"note", wild ? wild_text(random) : ""}};
  return e;
}

inline std::shared_ptr<const kevo::program> numbered_program(std::uint64_t number) {
  auto p =
      kevo::single_file_program("cpp", "kernel.cpp", "// program " + std::to_string(number) + "\nint x;\n");
  if (number % 3 == 0) p.files.push_back({"more/helper.hpp", "#pragma once\n"});
  return std::make_shared<const kevo::program>(std::move(p));
}

/// A search that emits events without deciding anything.
class event_maker {
 public:
  explicit event_maker(std::uint64_t seed, bool wild) : random_(seed), wild_(wild) {}

  struct made {
    kevo::event what;
    std::shared_ptr<const kevo::program> program;  ///< to be put into the store first; may be null
  };

  made next() {
    made m;
    m.what.sequence = ++sequence_;
    m.what.time_s = time_ += random_.uniform() * 0.01;
    if (sequence_ == 1) {
      m.program = numbered_program(programs_++);
      m.what.payload = kevo::seeded{candidates_++, kevo::id_of(*m.program)};
      return m;
    }
    switch (random_.below(wild_ ? 14 : 8)) {
      case 0:
      case 1: {
        kevo::variation_asked asked{++tickets_, selection(),
                                    static_cast<kevo::operator_index>(random_.below(3))};
        varying_.push_back(asked.job);
        m.what.payload = std::move(asked);
        break;
      }
      case 2:
      case 3:
        if (!varying_.empty()) {
          m.what.payload = told(m.program);
          break;
        }
        [[fallthrough]];
      case 4:
        m.what.payload = kevo::evaluation_asked{++tickets_, candidate(), stage(), random_.chance(0.2)};
        break;
      case 8:
        m.program = numbered_program(programs_++);
        m.what.payload = kevo::draft_evaluated{ticket(), kevo::id_of(*m.program), result()};
        break;
      case 9:
        m.what.payload =
            kevo::champion_crowned{candidate(),
                                   number(),
                                   {number(), number()},
                                   {static_cast<kevo::verdict_reason>(random_.below(4)), number()}};
        break;
      case 12:
        m.what.payload = kevo::baseline_met{candidate(), wild_text(random_)};
        break;
      case 13:
        m.what.payload =
            kevo::proposals_filtered{{candidate(), candidate()},
                                     {{candidate(), wild_text(random_)}, {candidate(), wild_text(random_)}}};
        break;
      case 10:
        m.what.payload = kevo::search_stopped{wild_text(random_), random_.chance(0.5)};
        break;
      case 11:
        m.what.payload = kevo::search_resumed{wild_text(random_)};
        break;
      default:
        m.what.payload =
            kevo::evaluation_told{ticket(),
                                  candidate(),
                                  stage(),
                                  result(),
                                  {static_cast<kevo::archive_status>(random_.below(3)), number()}};
        break;
    }
    return m;
  }

 private:
  double number() { return wild_ ? wild_number(random_) : random_.uniform(1, 10); }
  kevo::ticket ticket() { return random_.below(tickets_ + 1); }
  kevo::candidate_id candidate() { return static_cast<kevo::candidate_id>(random_.below(candidates_)); }
  kevo::evaluation_stage stage() { return static_cast<kevo::evaluation_stage>(random_.below(5)); }
  std::shared_ptr<const kevo::evaluation> result() {
    return std::make_shared<const kevo::evaluation>(random_evaluation(random_, wild_));
  }
  kevo::selection selection() {
    kevo::selection s;
    for (std::uint64_t n = 1 + random_.below(2); n > 0; --n) s.parents.push_back(candidate());
    for (std::uint64_t n = random_.below(3); n > 0; --n) s.inspirations.push_back(candidate());
    s.scope = static_cast<kevo::memory_scope>(random_.below(kevo::memory_scope_names.size()));
    s.reevaluate = random_.chance(0.1);
    return s;
  }
  kevo::variation_told told(std::shared_ptr<const kevo::program>& fresh) {
    const std::size_t which = random_.below(varying_.size());
    kevo::variation_told t{
        .job = varying_[which],
        .program = {},
        .candidate = kevo::no_candidate,
        .duplicate = false,
        .summary = wild_ ? wild_text(random_) : "changed a tile",
        .exhausted = false,
        .cost = {number(), number(), number(), random_.integer(0, 1 << 20), random_.integer(0, 99)},
        .transcript = wild_ ? wild_text(random_) : ""};
    varying_.erase(varying_.begin() + static_cast<std::ptrdiff_t>(which));
    switch (random_.below(4)) {
      case 0:
        t.exhausted = random_.chance(0.5);
        break;
      case 1:
        t.program = kevo::id_of(*numbered_program(0));
        t.candidate = 0;
        t.duplicate = true;
        break;
      default:
        fresh = numbered_program(programs_++);
        t.program = kevo::id_of(*fresh);
        t.candidate = candidates_++;
        break;
    }
    return t;
  }

  kevo::rng random_;
  bool wild_;
  std::uint64_t sequence_ = 0;
  double time_ = 0;
  std::uint64_t programs_ = 0;
  kevo::candidate_id candidates_ = 0;
  kevo::ticket tickets_ = 0;
  std::vector<kevo::ticket> varying_;
};

// Equality field by field; doubles by their bits, all NaN alike.
inline bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}
inline bool same(const kevo::evaluation& a, const kevo::evaluation& b) {
  kevo::evaluation_json_options exact;
  exact.exact = true;
  return kevo::to_json(a, exact) == kevo::to_json(b, exact);
}
inline bool same(const kevo::spending& a, const kevo::spending& b) {
  return same(a.wall_s, b.wall_s) && same(a.device_s, b.device_s) && same(a.money, b.money) &&
         a.tokens_in == b.tokens_in && a.tokens_out == b.tokens_out;
}
inline bool same(const kevo::seeded& a, const kevo::seeded& b) {
  return a.candidate == b.candidate && a.program == b.program;
}
inline bool same(const kevo::variation_asked& a, const kevo::variation_asked& b) {
  return a.job == b.job && a.selection == b.selection && a.op == b.op;
}
inline bool same(const kevo::variation_told& a, const kevo::variation_told& b) {
  return a.job == b.job && a.program == b.program && a.candidate == b.candidate &&
         a.duplicate == b.duplicate && a.summary == b.summary && a.exhausted == b.exhausted &&
         same(a.cost, b.cost) && a.transcript == b.transcript;
}
inline bool same(const kevo::evaluation_asked& a, const kevo::evaluation_asked& b) {
  return a.job == b.job && a.candidate == b.candidate && a.wanted == b.wanted && a.fresh == b.fresh;
}
inline bool same(const kevo::evaluation_told& a, const kevo::evaluation_told& b) {
  return a.job == b.job && a.candidate == b.candidate && a.wanted == b.wanted && same(*a.result, *b.result) &&
         a.archived.status == b.archived.status && same(a.archived.value, b.archived.value);
}
inline bool same(const kevo::draft_evaluated& a, const kevo::draft_evaluated& b) {
  return a.job == b.job && a.program == b.program && same(*a.result, *b.result);
}
inline bool same(const kevo::champion_crowned& a, const kevo::champion_crowned& b) {
  return a.candidate == b.candidate && same(a.speedup, b.speedup) &&
         same(a.speedup_interval.low, b.speedup_interval.low) &&
         same(a.speedup_interval.high, b.speedup_interval.high) && a.verdict.reason == b.verdict.reason &&
         same(a.verdict.widest, b.verdict.widest);
}
inline bool same(const kevo::baseline_met& a, const kevo::baseline_met& b) {
  return a.candidate == b.candidate && a.baseline == b.baseline;
}
inline bool same(const kevo::proposals_filtered& a, const kevo::proposals_filtered& b) {
  return a.passed == b.passed && a.dropped == b.dropped;
}
inline bool same(const kevo::search_stopped& a, const kevo::search_stopped& b) {
  return a.reason == b.reason && a.external == b.external;
}
inline bool same(const kevo::search_resumed& a, const kevo::search_resumed& b) {
  return a.reason == b.reason;
}
inline bool same(const kevo::event& a, const kevo::event& b) {
  if (a.sequence != b.sequence || !same(a.time_s, b.time_s) || a.payload.index() != b.payload.index())
    return false;
  return std::visit(
      [&b](const auto& left) { return same(left, std::get<std::remove_cvref_t<decltype(left)>>(b.payload)); },
      a.payload);
}

inline kevo::journal_header example_header() {
  kevo::journal_header h;
  h.run_name = "example";
  h.kevo_version = "0.1.0";
  h.config_yaml = "run: {name: example}\n";
  h.config_path = "configs/example.yaml";
  h.task_path = "configs/tasks/matmul/task.yaml";
  h.task_json_or_text = "name: matmul\nbytes: \"" + std::string("4*M*N") + "\"\n";
  h.task_id = "0123456789abcdef0123456789abcdef";
  h.seed = 0xffffffffffffffffULL;
  h.operators = {"tune", "splice", "own"};
  h.more = {{"fitness", "cpu"}, {"empty", ""}};
  return h;
}

inline void feed(kevo::journal& record, const event_maker::made& m) {
  if (m.program) record.store().put_program(kevo::id_of(*m.program), m.program);
  record.consume(m.what);
}

}  // namespace kevo_test
