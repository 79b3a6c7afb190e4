#include "src/base/settings/yaml.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/random.hpp>

#include "src/base/settings/json.hpp"
#include "src/base/settings/overrides.hpp"

namespace {

using kevo::settings_node;

struct bad_text {
  std::string text;
  int line;
  int column;
  std::string key;
  std::string says;
};

template <class Parse>
void check_refused(const std::vector<bad_text>& table, const Parse& parse) {
  for (const auto& entry : table) {
    CAPTURE(entry.text);
    try {
      parse(entry.text);
      FAIL_CHECK("accepted");
    } catch (const kevo::error& e) {
      CHECK(e.code() == kevo::error_code::input);
      CHECK(e.place().file == "f");
      CHECK_MESSAGE(e.place().line == entry.line, e.what());
      CHECK_MESSAGE(e.place().column == entry.column, e.what());
      CHECK(e.place().key == entry.key);
      CHECK_MESSAGE((e.message() + " " + e.hint()).find(entry.says) != std::string::npos, e.what());
    }
  }
}

bool equal(const settings_node& a, const settings_node& b) {
  if (a.type != b.type || a.boolean != b.boolean || a.integer != b.integer) return false;
  if (a.type == settings_node::kind::real && a.real != b.real) return false;
  if (a.type == settings_node::kind::text && a.text != b.text) return false;
  if (a.items.size() != b.items.size() || a.entries.size() != b.entries.size()) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!equal(a.items[i], b.items[i])) return false;
  }
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    if (a.entries[i].key != b.entries[i].key || !equal(a.entries[i].value, b.entries[i].value)) return false;
  }
  return true;
}

settings_node random_node(kevo::rng& random, int depth) {
  static const std::vector<std::string> texts = {
      "",      "a",           "true",  "1",      "1e3",   "null", "~",           "a: b", "- x", "#c",
      "x # y", "line\nbreak", " lead", "trail ", "\"q\"", "'s'",  "[a]",         "{b}",  "\t",  "*a",
      "&a",    "!t",          "%d",    "@x",     "0x1F",  ".inf", "back\\slash", "---",  "é",   "a,b"};
  switch (random.below(depth > 0 ? 8 : 6)) {
    case 0:
      return {};
    case 1:
      return settings_node::of(random.chance(0.5));
    case 2:
      return settings_node::of(static_cast<std::int64_t>(random()) >> random.below(64));
    case 3:
      return settings_node::of(random.normal() * std::exp(random.normal() * 40));
    case 4:
    case 5:
      return settings_node::of(texts[random.below(texts.size())]);
    case 6: {
      settings_node list;
      list.type = settings_node::kind::list;
      for (std::uint64_t i = random.below(4); i > 0; --i)
        list.items.push_back(random_node(random, depth - 1));
      return list;
    }
    default: {
      settings_node map = settings_node::empty_map();
      for (std::uint64_t i = random.below(4); i > 0; --i) {
        const auto key =
            random.chance(0.3) ? texts[random.below(texts.size())] : "k" + std::to_string(random.below(50));
        map.set(key, random_node(random, depth - 1));
      }
      return map;
    }
  }
}

}  // namespace

TEST_CASE("YAML scalars resolve as in the core schema and know their place") {
  const auto root = kevo::parse_yaml(
      "a: 1\nb: {c: [1.5, true, yes, ~], d: '2'}\ne: 0x10\nf: -1e3\ng: \"x\\ny\"\nh: &anchor {i: 3}\nj: "
      "*anchor\nk: .inf\n"
      "l: 99999999999999999999\n",
      "f");
  CHECK(root.find("a")->integer == 1);
  const auto& list = *root.find("b")->find("c");
  CHECK(list.items[0].real == 1.5);
  CHECK(list.items[1].boolean);
  CHECK(list.items[2].text == "yes");
  CHECK(list.items[2].type == settings_node::kind::text);
  CHECK(list.items[3].type == settings_node::kind::null);
  CHECK(list.items[1].place.key == "b.c[1]");
  CHECK(list.items[1].place.line == 2);
  CHECK(list.items[1].place.column == 14);
  CHECK(root.find("b")->find("d")->type == settings_node::kind::text);
  CHECK(root.find("e")->integer == 16);
  CHECK(root.find("f")->real == -1000);
  CHECK(root.find("g")->text == "x\ny");
  CHECK(root.find("j")->find("i")->integer == 3);
  CHECK(root.find("j")->find("i")->place.key == "j.i");
  CHECK(root.find("l")->type == settings_node::kind::real);
  CHECK(kevo::parse_yaml("", "f").type == settings_node::kind::null);
  CHECK(kevo::parse_yaml("# nothing\n", "f").type == settings_node::kind::null);
}

TEST_CASE("bad YAML is refused where it is bad") {
  std::string deep, bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 0; i < 70; ++i) deep = "[" + deep + "]";
  for (char c = 'b'; c < 'i'; ++c) {
    bomb += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) bomb += std::string(i > 0 ? ", " : "") + "*" + static_cast<char>(c - 1);
    bomb += "]\n";
  }
  check_refused(
      {
          {"a: 1\nb: 2\na: 3\n", 3, 1, "a", "duplicate key"},
          {"a: {b: 1, c: 2, b: 3}\n", 1, 17, "a.b", "line 1"},
          {"x: [{b: 1}, {b: 1, b: 3}]\n", 1, 20, "x[1].b", "duplicate key"},
          {"a: 1\n---\nb: 2\n", 2, 1, "", "second document"},
          {"a:\n\t- b\n", 2, 2, "", "not valid YAML"},
          {"a: [1, 2\n", 2, 1, "", "not valid YAML"},
          {"[a]: 1\n", 1, 1, "", "key"},
          {"? {a: b}\n: c\n", 1, 3, "", "key"},
          {"~: 1\n", 1, 1, "", "key"},
          {"a: *b\n", 1, 4, "", "not valid YAML"},
          {"a: &a [*a]\n", 1, 8, "", "contains the alias itself"},
          {"a: !thing 3\n", 1, 4, "", "unknown tag"},
          {deep, 1, 65, "", "64 levels deep"},
          {bomb, 6, 36, "", "million"},
      },
      [](const std::string& text) { kevo::parse_yaml(text, "f"); });
  std::string very_deep(100000, '[');
  CHECK_THROWS_AS(kevo::parse_yaml(very_deep), kevo::error);
  CHECK_THROWS_AS(kevo::parse_yaml(std::string(100000, '{')), kevo::error);
  std::string dashes;
  for (int i = 0; i < 5000; ++i) dashes += "- ";
  CHECK_THROWS_AS(kevo::parse_yaml(dashes), kevo::error);
  CHECK_THROWS_AS(kevo::load_yaml("/nowhere/x.yaml"), kevo::error);
  CHECK_THROWS_AS(kevo::load_yaml("/"), kevo::error);
}

TEST_CASE("what is dumped reads back as it was") {
  kevo::rng random(77);
  for (int i = 0; i < 3000; ++i) {
    const auto node = random_node(random, 4);
    const auto text = kevo::dump_yaml(node);
    const auto back = kevo::parse_yaml(text, "dump");
    if (!equal(node, back)) FAIL("did not survive:\n" << text);
  }
  const auto node = kevo::parse_yaml("{a: {b: [1, 2.0, x], c: [{d: 1, e: [1]}, {}]}, f: 'true'}");
  CHECK(kevo::dump_yaml(node) ==
        "a:\n  b: [1, 2.0, x]\n  c:\n    - d: 1\n      e: [1]\n    - {}\nf: \"true\"\n");
}

TEST_CASE("JSON values know their pointers") {
  const auto root = kevo::parse_json(
      "{\"a\": [1, -2.5e1, \"x\\u00e9\\ud83d\\ude00\\n\"],\n \"b/c\": {\"d\": null, \"e\": true}}", "f");
  CHECK(root.find("a")->items[0].integer == 1);
  CHECK(root.find("a")->items[1].real == -25);
  CHECK(root.find("a")->items[2].text == "x\xC3\xA9\xF0\x9F\x98\x80\n");
  CHECK(root.find("a")->items[2].place.key == "/a/2");
  CHECK(root.find("b/c")->find("e")->place.key == "/b~1c/e");
  CHECK(root.find("b/c")->find("e")->place.line == 2);
  CHECK(root.find("b/c")->find("e")->place.column == 26);
  CHECK(kevo::parse_json(" 9223372036854775808 ").type == settings_node::kind::real);
}

TEST_CASE("bad JSON is refused where it is bad") {
  const std::string deep(70, '[');
  std::string pointer;
  for (int i = 0; i < 64; ++i) pointer += "/0";
  check_refused(
      {
          {"", 1, 1, "/", "missing"},
          {"{", 1, 2, "/", "expected a key"},
          {"{\"a\": 1,\n}", 2, 1, "/", "expected a key"},
          {"{\"a\" 1}", 1, 6, "/", "expected ':'"},
          {"{\"a\": [1 2]}", 1, 10, "/a", "expected ','"},
          {"{\"a\": 1, \"a\": 2}", 1, 10, "/", "duplicate key"},
          {"[01]", 1, 2, "/0", "leading zero"},
          {"[1.]", 1, 2, "/0", "decimal point"},
          {"[1e]", 1, 2, "/0", "exponent"},
          {"[nan]", 1, 2, "/0", "expected a value"},
          {"[\"a]", 1, 5, "/0", "closing quote"},
          {"[\"\\x\"]", 1, 4, "/0", "escape"},
          {"[\"\\ud800\"]", 1, 9, "/0", "surrogate"},
          {"[\"\\u12\"]", 1, 5, "/0", "four hex"},
          {"[1] 2", 1, 5, "/", "after the end"},
          {deep, 1, 65, pointer, "64 levels deep"},
      },
      [](const std::string& text) { kevo::parse_json(text, "f"); });
}

TEST_CASE("--set replaces and adds keys") {
  auto root = kevo::parse_yaml("stop: {any: [{seconds: 120}]}\nrun: {seed: 1}\n", "f");
  kevo::apply_override(root, "run.seed=7");
  kevo::apply_override(root, "stop.any[0].seconds=3.5");
  kevo::apply_override(root, "archive.type=top_k");
  kevo::apply_override(root, "fitness={flags: [-O3, \"-D X=1\"]}");
  CHECK(root.find("run")->find("seed")->integer == 7);
  CHECK(root.find("stop")->find("any")->items[0].find("seconds")->real == 3.5);
  CHECK(root.find("archive")->find("type")->text == "top_k");
  CHECK(root.find("archive")->find("type")->place.key == "archive.type");
  CHECK(root.find("archive")->find("type")->place.file == "--set archive.type=top_k");
  CHECK(root.find("fitness")->find("flags")->items[1].text == "-D X=1");
  for (const std::string wrong :
       {"", "=", "a", "run.=1", ".run=1", "run..seed=1", "run[0]=1", "stop.any[1]=1", "stop.any[x]=1",
        "stop.any[0=1", "stop.any[0]x=1", "run.seed.x=1", "a=[", "stop.any[0].=1"}) {
    CAPTURE(wrong);
    try {
      auto copy = root;
      kevo::apply_override(copy, wrong);
      FAIL_CHECK("accepted");
    } catch (const kevo::error& e) {
      CHECK(e.code() == kevo::error_code::usage);
      CHECK(e.place().file.substr(0, 5) == "--set");
    }
  }
}
