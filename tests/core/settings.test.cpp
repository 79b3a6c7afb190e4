// links: core
#include <string>

#include <doctest/doctest.h>

#include <kevo/settings.hpp>

namespace {

using kevo::settings;
using kevo::settings_node;

void put(settings_node& map, const std::string& key, settings_node value, int line, int column) {
  value.place.file = "run.yaml";
  value.place.line = line;
  value.place.column = column + static_cast<int>(key.size()) + 2;
  value.place.key = map.place.key.empty() ? key : map.place.key + "." + key;
  map.set(key, std::move(value));
  map.entries.back().line = line;
  map.entries.back().column = column;
}

settings_node sample() {
  settings_node root = settings_node::empty_map();
  root.place = {"run.yaml", 1, 1, ""};
  put(root, "evaluations", settings_node::of(std::int64_t{400}), 1, 1);
  put(root, "seconds", settings_node::of(1.5), 2, 1);
  put(root, "name", settings_node::of("quick"), 3, 1);
  put(root, "flag", settings_node::of(true), 4, 1);
  put(root, "sizes", settings_node::of(std::vector<std::int64_t>{1, 2}), 5, 1);
  settings_node inner = settings_node::empty_map();
  inner.place.key = "archive";
  put(inner, "bins", settings_node::of(std::int64_t{8}), 7, 3);
  put(inner, "scal", settings_node::of("log"), 8, 3);
  put(root, "archive", inner, 6, 1);
  return root;
}

template <class F>
kevo::error failure(const F& f) {
  try {
    f();
  } catch (const kevo::error& e) {
    return e;
  }
  FAIL("nothing was thrown");
  return {kevo::error_code::internal, ""};
}

}  // namespace

TEST_CASE("settings give values, defaults and optional values") {
  settings reader(sample());
  CHECK(reader.integer("evaluations", {.min = 1, .unit = "evaluations"}) == 400);
  CHECK(reader.real("seconds", {.above = 0.0}) == 1.5);
  CHECK(reader.real("evaluations") == 400.0);
  CHECK(reader.text("name", {.one_of = {"quick", "slow"}}) == "quick");
  CHECK(reader.boolean("flag"));
  CHECK(reader.integers("sizes") == std::vector<std::int64_t>{1, 2});
  CHECK(reader.texts("words", {}, std::vector<std::string>{"a"}) == std::vector<std::string>{"a"});
  CHECK(reader.integer("stall", {.def = 150}) == 150);
  CHECK_FALSE(reader.optional<double>("target"));
  CHECK(reader.optional<std::int64_t>("evaluations") == 400);
  CHECK(reader.get<int>("evaluations") == 400);
  CHECK(reader.get_or<std::size_t>("threads", 2) == 2);
  auto archive = reader.child("archive");
  CHECK(archive.get<int>("bins") == 8);
  CHECK(reader.child_or_empty("nothing").get_or<bool>("x", true));
}

TEST_CASE("unknown keys are refused, wherever they are, with the nearest valid one") {
  settings reader(sample());
  reader.integer("evaluations"), reader.real("seconds"), reader.text("name"), reader.boolean("flag");
  reader.integers("sizes");
  auto archive = reader.child("archive");
  archive.integer("bins");
  archive.text("scale", {.def = "linear"});
  const auto e = failure([&] { reader.finish(); });
  CHECK(e.code() == kevo::error_code::input);
  CHECK(e.place().file == "run.yaml");
  CHECK(e.place().line == 8);
  CHECK(e.place().column == 3);
  CHECK(e.place().key == "archive.scal");
  CHECK(e.hint() == "did you mean 'scale'?");
  archive.text("scal");
  CHECK_NOTHROW(reader.finish());
}

TEST_CASE("wrong types, ranges and missing keys are refused where they stand") {
  settings reader(sample());
  auto e = failure([&] { reader.integer("name"); });
  CHECK(e.message() == "expected an integer, found the text 'quick'");
  CHECK(e.place().line == 3);
  CHECK(e.place().key == "name");
  e = failure([&] { reader.integer("seconds"); });
  CHECK(e.message() == "expected an integer, found the number 1.5");
  e = failure([&] { reader.integer("evaluations", {.max = 10, .unit = "evaluations"}); });
  CHECK(e.message() == "must be at most 10 evaluations, not 400");
  e = failure([&] { reader.real("seconds", {.above = 1.5, .unit = "s"}); });
  CHECK(e.message() == "must be more than 1.5 s, not 1.5");
  e = failure([&] { reader.text("name", {.one_of = {"quicker", "slow"}}); });
  CHECK(e.hint() == "did you mean 'quicker'?");
  e = failure([&] { reader.text("evaluations"); });
  CHECK(e.hint() == "put it in quotes");
  e = failure([&] { reader.boolean("name"); });
  CHECK(e.message() == "expected true or false, found the text 'quick'");
  e = failure([&] { reader.integer("evaluation"); });
  CHECK(e.message() == "this key is missing");
  e = failure([&] { settings(sample()).integer("evaluation"); });
  CHECK(e.place().key == "evaluation");
  CHECK(e.hint() == "check whether 'evaluations' is a misspelling of it");
  e = failure([&] { reader.child("name"); });
  CHECK(e.message() == "expected a map, found the text 'quick'");
  e = failure([&] { reader.child("archive").integer("cells"); });
  CHECK(e.place().key == "archive.cells");
  CHECK(e.place().line == 6);
  e = failure([&] { reader.children("archive"); });
  CHECK(e.message() == "expected a list, found a map");
  e = failure([&] { reader.texts("sizes"); });
  CHECK(e.message() == "expected text, found the integer 1");
  e = failure([] { settings reject(settings_node::of(true)); });
  CHECK(e.message() == "expected a map, found the boolean true");
}

TEST_CASE("what was read can be printed with every default and described") {
  settings reader(sample());
  reader.integer("evaluations", {.min = 1, .unit = "evaluations", .doc = "stop after so many"});
  reader.child("archive").text("scale", {.def = "linear", .one_of = {"linear", "log"}});
  reader.child("archive").integer("bins");
  const auto all = reader.resolved();
  REQUIRE(all.find("archive") != nullptr);
  CHECK(all.find("archive")->find("scale")->text == "linear");
  CHECK(all.find("archive")->find("bins")->integer == 8);
  CHECK(all.find("evaluations")->integer == 400);
  const auto described = reader.descriptions();
  REQUIRE(described.size() == 4);
  CHECK(described[0].path == "evaluations");
  CHECK(described[0].range == ">= 1");
  CHECK(described[0].required);
  CHECK(described[2].path == "archive.scale");
  CHECK(described[2].def == "linear");
  CHECK(described[2].range == "one of: linear, log");
  auto probe = settings::probe();
  CHECK(probe.integer("needed", {.min = 3}) == 3);
  CHECK(probe.child("a").text("b").empty());
  CHECK(probe.descriptions().size() == 3);
}
