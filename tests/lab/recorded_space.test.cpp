// Recorded tuning spaces: a cache of Kernel Tuner and T4 results made by hand, read, replayed, and refused
// when they are malformed.

#include <array>
#include <cmath>
#include <limits>
#include <set>

#include <doctest/doctest.h>

#include <kevo/annotation.hpp>
#include <kevo/lab/recorded_fitness.hpp>
#include <kevo/lab/recorded_moves.hpp>

#include "src/lab/recorded_file.hpp"
#include "tests/support/shell.hpp"

using namespace kevo;

namespace {

const std::string convolution = KEVO_SOURCE_DIR "/configs/spaces/made_up_convolution.json";

std::shared_ptr<const recorded_space> loaded() {
  return std::make_shared<const recorded_space>(load_recorded_space({.results = convolution}));
}
program source(const recorded_space& space, std::size_t i) {
  return space.to_source(space.at(i).setting);
}

std::string t4_entry(const std::string& bx, const std::string& layout, const std::string& invalidity,
                     const std::string& time) {
  return R"({"timestamp": "", "configuration": {"bx": )" + bx + R"(, "layout": )" + layout +
         R"(}, "times": {"compilation": 500, "benchmark": 250, "runtimes": [)" + time +
         R"(]}, "invalidity": ")" + invalidity +
         R"(", "correctness": 1, "measurements": [{"name": "time", "value": )" + time +
         R"(, "unit": "ms"}, {"name": "GFLOP/s", "value": 40, "unit": ""}], "objectives": ["time"]})";
}
std::string t4(const std::string& entries) {
  return "{\"results\": [" + entries + "], \"schema_version\": \"1.0.0\"}";
}

struct files {
  shell::scratch folder;
  std::string write(const std::string& name, const std::string& text) const {
    shell::write_file(folder / name, text);
    return (folder / name).string();
  }
};

/// What is said of a malformed file.
error refused_space(const recorded_source& from) {
  try {
    load_recorded_space(from);
  } catch (const error& wrong) {
    return wrong;
  }
  FAIL("the file was accepted");
  throw std::logic_error("unreachable");
}

}  // namespace

TEST_CASE("a cache of Kernel Tuner: parameters, times, failures, costs") {
  const auto space = loaded();
  REQUIRE(space->parameters().size() == 4);
  CHECK(space->parameters()[0].name == "block_size_x");
  CHECK(space->parameters()[0].values == std::vector<std::string>{"16", "32", "64", "128"});
  const auto found = space->find({1, 2, 2, 0});  // "32,4,4,0"
  REQUIRE(found);
  const recorded_result& r = space->at(*found);
  CHECK(r.outcome == outcome::valid);
  CHECK(r.objective > 0);
  CHECK(r.samples.size() == 4);
  CHECK(r.build_s == doctest::Approx(0.42));
  CHECK(!space->find({0, 0, 0, 0}));  // 16 * 1 was ruled out by a restriction
  std::size_t valid = 0;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < space->size(); ++i) {
    if (space->at(i).outcome != outcome::valid) continue;
    ++valid;
    best = std::min(best, space->at(i).objective);
  }
  CHECK(valid == space->ranked().size());
  CHECK(valid < space->size());
  CHECK(space->at(space->ranked().front()).objective == best);
  CHECK(space->speed(*found) == doctest::Approx(1 / r.objective));
}

TEST_CASE("configurations survive as sources, which operators on tunables can read") {
  const auto space = loaded();
  for (std::size_t i = 0; i < space->size(); ++i) {
    const program p = source(*space, i);
    CHECK(space->setting_in(p.text()) == space->at(i).setting);
  }
  const annotations read = parse_annotations(source(*space, 0));
  REQUIRE(read.tunables.size() == 4);
  CHECK(read.tunables[2].domain == std::vector<std::string>{"1", "2", "4"});
  CHECK(!space->setting_in("block_size_x = 16  # kevo: {16}\n"));
  CHECK(!space->setting_in(""));
}

TEST_CASE("replay says what was recorded, fails what failed and books what it took") {
  const auto space = loaded();
  const std::size_t start = space->ranked()[space->ranked().size() / 2];
  recorded_fitness exact(space, start, false, 1);
  for (std::size_t i = 0; i < space->size(); ++i) {
    const evaluation e = exact.evaluate({.program = std::make_shared<const program>(source(*space, i))});
    CHECK(e.outcome == space->at(i).outcome);
    CHECK(e.cost.wall_s == doctest::Approx(space->at(i).build_s + space->at(i).run_s));
    if (e.valid()) {
      CHECK(e.speedup == doctest::Approx(space->at(start).objective / space->at(i).objective));
      CHECK(e.measures.at("tile_size_x") ==
            std::stod(space->parameters()[2].values[space->at(i).setting[2]]));
    }
  }
  const auto elsewhere = std::make_shared<const program>(space->to_source({0, 0, 0, 0}));
  const evaluation e = exact.evaluate({.program = elsewhere});
  CHECK(e.outcome == outcome::build_failed);
  CHECK(e.cost.wall_s == 0);

  // Sampled: one of the recorded measurements each time, the same sequence for the same seed.
  recorded_fitness one(space, start, true, 5), same(space, start, true, 5);
  const auto p = std::make_shared<const program>(source(*space, start));
  std::set<double> seen;
  for (int i = 0; i < 40; ++i) {
    const double speedup = one.evaluate({.program = p}).speedup;
    CHECK(speedup == same.evaluate({.program = p}).speedup);
    seen.insert(speedup);
  }
  std::set<double> possible;
  for (const double x : space->at(start).samples) possible.insert(space->at(start).objective / x);
  CHECK(seen.size() == possible.size());
  CHECK(one.evaluate({.program = p, .wanted = evaluation_stage::confirmed}).speedup == 1);
}

TEST_CASE("moves stay among what was recorded and unseen, and drawing ends when all is seen") {
  const auto space = loaded();
  std::set<std::string> seen;
  const auto services = std::make_shared<variation_services>();
  services->seen = [&](const content_id& id) { return seen.count(to_string(id)) > 0; };
  variation_request request;
  request.services = services;
  const auto snapshot = [&](std::size_t i) {
    return std::make_shared<const candidate_snapshot>(
        candidate_snapshot{static_cast<candidate_id>(i),
                           std::make_shared<const program>(source(*space, i)),
                           nullptr,
                           "seed",
                           {}});
  };
  request.parents = {snapshot(0)};
  request.inspirations = {snapshot(space->size() - 1)};
  rng random(3);
  recorded_step step{space};
  recorded_cross cross{space};
  for (int i = 0; i < 50; ++i) {
    const std::array<variation_result, 2> both = {step.vary(request, random), cross.vary(request, random)};
    for (const auto& made : both) {
      if (const auto* p = std::get_if<proposal>(&made))
        CHECK(space->find(*space->setting_in(p->program.text())));
    }
  }
  recorded_draw draw{space};
  for (std::size_t i = 0; i < space->size(); ++i) {
    const auto made = draw.vary(request, random);
    REQUIRE(std::holds_alternative<proposal>(made));
    CHECK(seen.insert(to_string(id_of(std::get<proposal>(made).program))).second);
  }
  const auto last = draw.vary(request, random);
  REQUIRE(std::holds_alternative<no_proposal>(last));
  CHECK(std::get<no_proposal>(last).exhausted);
}

TEST_CASE("T4 results, with and without a T1 description of the parameters") {
  const files made;
  const std::string results = made.write("t4.json", t4(t4_entry("64", "\"row\"", "correct", "2.0") + "," +
                                                       t4_entry("8", "\"row\"", "correct", "4.0") + "," +
                                                       t4_entry("8", "\"column\"", "timeout", "0") + "," +
                                                       t4_entry("64", "\"column\"", "correctness", "0")));
  const recorded_space space = load_recorded_space({.results = results});
  CHECK(space.parameters()[0].values == std::vector<std::string>{"8", "64"});
  CHECK(space.parameters()[1].values == std::vector<std::string>{"\"row\"", "\"column\""});
  CHECK(space.at(2).outcome == outcome::timed_out);
  CHECK(space.at(3).outcome == outcome::incorrect);
  CHECK(space.at(0).build_s == doctest::Approx(0.5));
  CHECK(space.at(0).run_s == doctest::Approx(0.25));
  CHECK(space.ranked() == std::vector<std::size_t>{0, 1});
  CHECK(space.setting_in(space.to_source({1, 0}).text()) == recorded_setting{1, 0});

  const std::string parameters = made.write("t1.json", R"t1({"ConfigurationSpace": {"TuningParameters": [
    {"Name": "layout", "Type": "string", "Values": "['column', 'row']", "Default": "row"},
    {"Name": "bx", "Type": "int", "Values": "list(range(8, 65, 8))", "Default": 8}]}})t1");
  const recorded_space described = load_recorded_space({.results = results, .parameters = parameters});
  CHECK(described.parameters()[0].name == "layout");
  CHECK(described.parameters()[1].values.size() == 8);
  CHECK(described.at(0).setting == recorded_setting{1, 7});

  const recorded_space rates =
      load_recorded_space({.results = results, .objective = "GFLOP/s", .larger_is_better = true});
  CHECK(rates.speed(0) == 40);
  CHECK(load_recorded_space({.results = results, .objective = "GFLOP/s"}).speed(0) == 40);
}

TEST_CASE("the name of an objective says whether larger is better, or must not be guessed") {
  for (const char* name :
       {"GFLOP/s", "GB/s", "throughput", "Bandwidth", "GFLOPS/W", "tokens_per_s", "speedup"})
    CHECK(kevo::larger_is_better(name) == true);
  for (const char* name : {"time", "kernel_time", "energy", "J/GFLOP", "latency", "power", "s/op"})
    CHECK(kevo::larger_is_better(name) == false);
  for (const char* name : {"", "objective", "fitness", "score"})
    CHECK_FALSE(kevo::larger_is_better(name).has_value());
  const files made;
  std::string text = t4(t4_entry("64", "1", "correct", "2.0"));
  for (std::size_t at = 0; (at = text.find("\"GFLOP/s\"", at)) != std::string::npos;)
    text.replace(at, 9, "\"score\"");
  const error wrong = refused_space({.results = made.write("t4.json", text), .objective = "score"});
  CHECK(std::string(wrong.what()).find("does not tell whether larger") != std::string::npos);
}

TEST_CASE("a cache that a tuning run left open is read as far as it goes") {
  const files made;
  const std::string whole = shell::read_file(convolution);
  const std::size_t third = whole.find("},\n", whole.find("\"cache\"") + 600);
  const std::string with_comma = whole.substr(0, third + 2), without = whole.substr(0, third + 1);
  const auto read = [&](const std::string& text) {
    return load_recorded_space({.results = made.write("open.json", text)}).size();
  };
  CHECK(read(with_comma) >= 2);
  CHECK(read(with_comma) == read(without));
  CHECK(read(whole) > read(without));
}

TEST_CASE("malformed files are refused with their place") {
  const files made;
  const std::string whole = shell::read_file(convolution);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  const auto check = [&](const std::string& text, int line, const std::string& key, const std::string& says) {
    const error wrong = refused_space({.results = made.write("bad.json", text)});
    CAPTURE(std::string(wrong.what()));
    CHECK(wrong.code() == error_code::input);
    CHECK(wrong.place().file == (made.folder / "bad.json").string());
    if (line > 0) CHECK(wrong.place().line == line);
    CHECK(wrong.place().key.find(key) != std::string::npos);
    CHECK(std::string(wrong.what()).find(says) != std::string::npos);
  };
  check("{\"cache\": [", 1, "", "");
  check("{}", 1, "", "not a recorded tuning space");
  check(changed("\"tune_params_keys\"", "\"keys\""), 1, "/", "tune_params_keys");
  check(changed("\"block_size_x\": 32", "\"block_size_x\": 33"), 0, "block_size_x",
        "not in its list of values");
  check(changed("\"time\": \"CompilationFailedConfig\"", "\"time\": \"broken\""), 0, "/cache/",
        "kind of failure");
  check(changed("\"compile_time\": 405", "\"compile_time\": -405"), 0, "compile_time", "expected a duration");
  check(changed("\"times\": [", "\"times\": [0, "), 0, "/times/0", "positive");
  check(t4(t4_entry("64", "1", "odd", "2.0")), 1, "/results/0/invalidity", "unknown value of invalidity");
  check("{\"metadata\": {\"timeunit\": \"days\"}, " + t4(t4_entry("64", "1", "correct", "2.0")).substr(1), 1,
        "/metadata/timeunit", "unit of time");
  check(t4(""), 1, "/results", "no results");
  check(t4(t4_entry("64", "1", "timeout", "2.0")), 0, "", "no recorded configuration is valid");
  check(t4(t4_entry("64", "1", "correct", "2.0") + "," + t4_entry("64", "1", "correct", "2.0")), 0, "",
        "duplicate");
  CHECK(refused_space({.results = (made.folder / "gone.json").string()}).code() == error_code::input);
  const std::string t1 = made.write(
      "t1.json",
      R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "bx", "Values": "[x for x in y]"}]}})");
  const error wrong = refused_space({.results = convolution, .parameters = t1});
  CHECK(wrong.place().key == "/ConfigurationSpace/TuningParameters/0/Values");
}
