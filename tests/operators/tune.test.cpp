#include "operators/tune/tune.hpp"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "operators/splice/splice.hpp"
#include "operators/tune/setting_space.hpp"

namespace {

using kevo::content_id;
using kevo::program;

program cpp(const std::string& text) {
  return kevo::single_file_program("cpp", "kernel.cpp", text);
}

std::shared_ptr<const kevo::candidate_snapshot> snapshot(const program& source, kevo::candidate_id id = 0) {
  kevo::candidate_snapshot result;
  result.id = id;
  result.program = std::make_shared<const program>(source);
  return std::make_shared<const kevo::candidate_snapshot>(std::move(result));
}

kevo::variation_request request_of(const program& parent, const std::set<content_id>& seen,
                                   const std::vector<program>& others = {}) {
  kevo::variation_request request;
  request.parents.push_back(snapshot(parent));
  for (std::size_t i = 0; i < others.size(); ++i) {
    request.inspirations.push_back(snapshot(others[i], static_cast<kevo::candidate_id>(i + 1)));
  }
  kevo::variation_services services;
  services.seen = [&seen](const content_id& id) { return seen.count(id) != 0; };
  request.services = std::make_shared<const kevo::variation_services>(std::move(services));
  return request;
}

const std::string blocked =
    "#define BM 32  // kevo: {8, 16, 32, 64}\n"
    "#define BN 32  // kevo: {8, 16, 32, 64}\n"
    "constexpr int U = 1;  // kevo: {1..6}\n"
    "const bool pack = false;  // kevo: {true, false}\n"
    "// kevo: require BM * BN <= 1024\n"
    "// kevo: require BM % (8 * U) == 0\n"
    "int kernel;\n";

// All valid settings by the definition: every combination, every condition.
std::set<std::string> brute_force(const program& source) {
  const auto found = kevo::parse_annotations(source);
  std::set<std::string> texts;
  std::vector<std::size_t> at(found.tunables.size(), 0);
  for (;;) {
    std::map<std::string, std::string> values;
    for (std::size_t i = 0; i < at.size(); ++i)
      values[found.tunables[i].name] = found.tunables[i].domain[at[i]];
    bool good = true;
    for (const auto& required : found.requirements) {
      try {
        good = good && required.condition.evaluate([&](std::string_view name) {
          return kevo::integer_literal(values.at(std::string(name)));
        }) != 0;
      } catch (const kevo::error&) {
        good = false;
      }
    }
    if (good) texts.insert(std::string(kevo::set_tunables(source, values).text()));
    std::size_t i = 0;
    while (i < at.size() && ++at[i] == found.tunables[i].domain.size()) at[i++] = 0;
    if (i == at.size()) return texts;
  }
}

}  // namespace

TEST_CASE("the space of settings is what its conditions leave") {
  kevo::rng random(11);
  const std::vector<std::string> conditions = {"A * B <= 12",
                                               "A % B == 0",
                                               "C > A || B == 3",
                                               "12 / (A - B) != 5",
                                               "A + B + C < 9",
                                               "D == 0 || C == 2",
                                               "1",
                                               "0",
                                               "E < 3"};
  for (int round = 0; round < 24; ++round) {
    std::string text =
        "#define A 2 // kevo: {1..5}\n#define B 3 // kevo: {1, 2, 3, 4}\nconst int C = 0; // kevo: {0, 2, "
        "5}\n"
        "const int D = 0; // kevo: {0, 1}\n#define E 1 // kevo: {1..4}\n#define F x // kevo: {x, y}\n";
    for (const auto& condition : conditions) {
      if (random.chance(0.3) && condition != "0") text += "// kevo: require " + condition + "\n";
    }
    if (round == 0) text += "// kevo: require 0\n";
    const program source = cpp(text);
    const kevo::setting_space space(kevo::parse_annotations(source));
    const auto expected = brute_force(source);
    const auto all = space.enumerate(100000);
    REQUIRE(all.has_value());
    std::set<std::string> texts;
    for (const auto& setting : *all) {
      CHECK(space.valid(setting));
      const auto child = space.apply(source, setting);
      REQUIRE(child == kevo::set_tunables(source, space.values(setting)));
      texts.insert(std::string(child.text()));
    }
    CHECK(texts.size() == all->size());
    CHECK(texts == expected);
    CHECK(space.size() == 5 * 4 * 3 * 2 * 4 * 2);
    if (all->size() > 1) CHECK_FALSE(space.enumerate(all->size() - 1).has_value());
    if (all->size() > 3) CHECK_FALSE(space.enumerate(100000, 3).has_value());
  }
}

TEST_CASE("the nearest valid setting is the nearest") {
  const kevo::setting_space space(kevo::parse_annotations(
      "#define A 1 // kevo: {1..9}\n#define B 1 // kevo: {1..9}\n// kevo: require A + B >= 8\n"));
  kevo::rng random(3);
  for (int i = 0; i < 50; ++i) {
    const auto found = space.nearest_valid({0, 1}, random);  // A = 1, B = 2: five steps are missing
    REQUIRE(found.has_value());
    CHECK((*found)[0] + (*found)[1] == 6);
  }
  const auto by_chance = space.nearest_valid({0, 0}, random, {}, 5);
  REQUIRE(by_chance.has_value());
  CHECK((*by_chance)[0] + (*by_chance)[1] == 6);
  const kevo::setting_space none(
      kevo::parse_annotations("#define A 1 // kevo: {1..9}\n// kevo: require A > 9\n"));
  CHECK_FALSE(none.nearest_valid({0}, random).has_value());
}

TEST_CASE("tune offers every valid setting once and then says that it is exhausted") {
  const program source = cpp(blocked);
  const auto valid = brute_force(source);
  std::set<content_id> seen = {id_of(source)};
  std::vector<program> pool = {source};
  kevo::tune op;
  kevo::rng random(5);
  std::set<std::string> offered = {std::string(source.text())};
  for (;;) {
    const auto& parent = pool[random.below(pool.size())];
    const auto result = op.vary(request_of(parent, seen, {pool[random.below(pool.size())]}), random);
    if (const auto* none = std::get_if<kevo::no_proposal>(&result)) {
      CHECK(none->exhausted);
      CHECK(none->reason == "exhausted: all " + std::to_string(valid.size()) + " settings are known");
      break;
    }
    const auto& made = std::get<kevo::proposal>(result);
    CHECK_FALSE(made.summary.empty());
    REQUIRE(valid.count(std::string(made.program.text())) == 1);
    REQUIRE(offered.insert(std::string(made.program.text())).second);
    REQUIRE(seen.insert(id_of(made.program)).second);
    pool.push_back(made.program);
  }
  CHECK(offered == valid);
}

TEST_CASE("tune searches build options as it searches other tunables, and splice takes no second one") {
  const program source =
      cpp("#define CAP 0 // kevo: {0, 64, 128}\n"
          "// kevo: build {compiler: nvrtc {nvrtc, nvcc}, registers: CAP, optimize: 3 {2, 3}}\n"
          "// kevo: require CAP == 0 || build.optimize == 3\n"
          "// kevo: begin a\nint kernel;\n// kevo: end a\n");
  const auto valid = brute_force(source);
  CHECK(valid.size() == 8);
  std::set<content_id> seen = {id_of(source)};
  std::set<std::string> offered = {std::string(source.text())};
  kevo::tune op;
  kevo::rng random(7);
  for (std::size_t i = 1; i < valid.size(); ++i) {
    const auto result = op.vary(request_of(source, seen), random);
    REQUIRE(std::holds_alternative<kevo::proposal>(result));
    const auto& made = std::get<kevo::proposal>(result).program;
    offered.insert(std::string(made.text()));
    seen.insert(id_of(made));
  }
  CHECK(offered == valid);
  const program with_another =
      cpp("// kevo: begin a\n// kevo: build {registers: 32}\nint kernel;\n// kevo: end a\n");
  CHECK(std::holds_alternative<kevo::no_proposal>(
      kevo::splice().vary(request_of(source, seen, {with_another}), random)));
}

TEST_CASE("tune is a function of the request and the random numbers alone") {
  const program source = cpp(blocked);
  std::set<content_id> seen = {id_of(source)};
  kevo::tune used, fresh;
  kevo::rng random(6);
  for (int i = 0; i < 60; ++i) {
    kevo::tune other = fresh;
    kevo::rng same = random;
    const auto a = used.vary(request_of(source, seen), random);
    const auto b = other.vary(request_of(source, seen), same);
    REQUIRE(a.index() == b.index());
    if (const auto* made = std::get_if<kevo::proposal>(&a)) {
      CHECK(id_of(made->program) == id_of(std::get<kevo::proposal>(b).program));
      seen.insert(id_of(made->program));
    }
    CHECK(random == same);
  }
}

TEST_CASE("tune steps near, crosses with inspirations, and repairs what breaks a condition") {
  std::string text;
  for (char c = 'A'; c <= 'L'; ++c) text += std::string("#define ") + c + " 5 // kevo: {1..10}\n";
  const program source = cpp(text + "// kevo: require A + B + C + D > 15\n");
  const program mate =
      kevo::set_tunables(source, {{"E", "10"}, {"F", "10"}, {"G", "10"}, {"H", "10"}, {"I", "1"}});
  const std::set<content_id> seen = {id_of(source), id_of(mate)};
  kevo::rng random(8);
  const auto distance = [](const program& a, const program& b) {
    const kevo::setting_space x(kevo::parse_annotations(a));
    const kevo::setting_space y(kevo::parse_annotations(b));
    int count = 0;
    for (std::size_t i = 0; i < x.current().size(); ++i) count += x.current()[i] != y.current()[i] ? 1 : 0;
    return count;
  };
  int single = 0, crossed = 0;
  for (int i = 0; i < 200; ++i) {
    kevo::tune op;
    op.crossover = 0;
    const auto result = op.vary(request_of(source, seen), random);
    single += distance(std::get<kevo::proposal>(result).program, source) == 1 ? 1 : 0;
    op.crossover = 1;
    const auto cross = op.vary(request_of(source, seen, {mate}), random);
    const auto found = kevo::parse_annotations(std::get<kevo::proposal>(cross).program);
    int taken = 0;
    for (const char* name : {"E", "F", "G", "H"}) taken += found.find_tunable(name)->value == "10" ? 1 : 0;
    crossed += taken >= 1 ? 1 : 0;
    REQUIRE(kevo::setting_space(found).valid(kevo::setting_space(found).current()));
  }
  CHECK(single > 80);
  CHECK(crossed > 150);
  // A parent that breaks its own condition still has valid children.
  const program broken = kevo::set_tunables(source, {{"A", "1"}, {"B", "1"}, {"C", "1"}});
  const auto repaired = kevo::tune().vary(request_of(broken, seen), random);
  const kevo::setting_space space(kevo::parse_annotations(std::get<kevo::proposal>(repaired).program));
  CHECK(space.valid(space.current()));
}

TEST_CASE("tune says why it has nothing to offer, and works in any language with comments") {
  kevo::rng random(9);
  const std::set<content_id> seen;
  const auto reason = [&](const program& source) {
    kevo::tune op;
    const auto result = op.vary(request_of(source, seen), random);
    REQUIRE(std::holds_alternative<kevo::no_proposal>(result));
    return std::get<kevo::no_proposal>(result).reason;
  };
  CHECK(reason(cpp("int x;")) == "the parent has no tunables");
  CHECK(reason(cpp("// kevo: requires")).find("annotations are wrong") != std::string::npos);
  CHECK(reason(cpp("#define A 1 // kevo: {1, 2}\n// kevo: require A > 2")).find("no setting fulfils") !=
        std::string::npos);
  CHECK(reason(cpp("#define A 1 // kevo: {1}")).find("all 1 settings are known") != std::string::npos);
  const auto python =
      kevo::single_file_program("triton", "kernel.py", "BLOCK: tl.constexpr = 64  # kevo: {32, 64}\n");
  kevo::tune op;
  const auto result = op.vary(request_of(python, seen), random);
  CHECK(std::get<kevo::proposal>(result).program.text() == "BLOCK: tl.constexpr = 32  # kevo: {32, 64}\n");
  CHECK(std::get<kevo::proposal>(result).summary == "BLOCK 64 -> 32");
}

TEST_CASE("splice takes regions from another candidate and nothing else") {
  const std::string shape =
      "// kevo: begin a\n%a\n// kevo: end a\nmiddle\n// kevo: begin b\n%b\n// kevo: end b\n";
  const auto with = [&](const std::string& a, const std::string& b) {
    std::string text = shape;
    text.replace(text.find("%a"), 2, a);
    text.replace(text.find("%b"), 2, b);
    return cpp(text);
  };
  const program parent = with("1", "2"), other = with("3", "4");
  std::set<content_id> seen = {id_of(parent), id_of(other)};
  const kevo::splice op;
  kevo::rng random(4);
  std::set<content_id> made;
  for (int i = 0; i < 40; ++i) {
    const auto result = op.vary(request_of(parent, seen, {other}), random);
    const auto& got = std::get<kevo::proposal>(result);
    made.insert(id_of(got.program));
    CHECK(got.summary.find(" from #1") != std::string::npos);
  }
  CHECK(made == std::set<content_id>{id_of(with("3", "2")), id_of(with("1", "4"))});
  seen.insert(made.begin(), made.end());
  const auto none = op.vary(request_of(parent, seen, {other}), random);
  CHECK(std::get<kevo::no_proposal>(none).reason.find("found no unseen combination") == 0);
  const auto reason = [&](const program& source, const std::vector<program>& others) {
    const auto result = op.vary(request_of(source, seen, others), random);
    REQUIRE(std::holds_alternative<kevo::no_proposal>(result));
    return std::get<kevo::no_proposal>(result).reason;
  };
  CHECK(reason(cpp("x"), {other}) == "the parent has no regions");
  CHECK(reason(parent, {}).find("no other selected candidate") == 0);
  CHECK(reason(parent, {parent, cpp("// kevo: begin a\n// no end")}).find("no other selected candidate") ==
        0);
}

TEST_CASE("splice mends conditions that the mixture breaks and refuses what does not fit") {
  const auto source = [](int a, int b) {
    return cpp("// kevo: begin x\n#define A " + std::to_string(a) +
               " // kevo: {1..9}\n// kevo: end x\n#define B " + std::to_string(b) +
               " // kevo: {1..9}\n// kevo: require A + B <= 10\n");
  };
  const std::set<content_id> seen;
  kevo::rng random(2);
  const auto result = kevo::splice().vary(request_of(source(1, 9), seen, {source(9, 1)}), random);
  const kevo::setting_space space(kevo::parse_annotations(std::get<kevo::proposal>(result).program));
  CHECK(space.valid(space.current()));
  const auto clash = cpp("// kevo: begin x\n#define B 1 // kevo: {1..9}\n// kevo: end x\n");
  CHECK(std::holds_alternative<kevo::no_proposal>(
      kevo::splice().vary(request_of(source(1, 9), seen, {clash}), random)));
}

TEST_CASE("the first candidates of a run are drawn from all valid settings, the others are near the parent") {
  // Enumerated, and too large for that; the condition forbids the upper half.
  for (const std::size_t enumerated : {std::size_t{50000}, std::size_t{4}}) {
    CAPTURE(enumerated);
    const program parent =
        cpp("#define A 0  // kevo: {0..31}\n"
            "// kevo: require A < 16\n"
            "int kernel;\n");
    const std::set<content_id> seen;
    const auto share_near = [&](std::size_t known) {
      kevo::tune op;
      op.enumerate = enumerated;
      kevo::rng random(7);
      constexpr int proposals = 400;
      int near = 0;
      for (int i = 0; i < proposals; ++i) {
        auto request = request_of(parent, seen);
        request.known = known;
        const auto made = std::get<kevo::proposal>(op.vary(request, random));
        const auto value = std::stoi(kevo::parse_annotations(made.program).tunables.at(0).value);
        CHECK(value > 0);
        CHECK(value < 16);
        near += value == 1 ? 1 : 0;
      }
      return static_cast<double>(near) / proposals;
    };
    CHECK(share_near(1) < 0.2);  // 1 of 15, where all are enumerated
    CHECK(share_near(9) < 0.2);
    CHECK(share_near(10) > 0.5);  // the neighbour has 0.7 and its share of the rest
    CHECK(share_near(0) > 0.5);   // it is not told how many there are
  }
}
