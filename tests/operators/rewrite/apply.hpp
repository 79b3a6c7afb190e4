#pragma once
// Applies actions of `rewrite` to sources, for their tests.

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/annotation.hpp>
#include <kevo/random.hpp>
#include <kevo/task.hpp>

#include "operators/rewrite/action.hpp"
#include "operators/rewrite/parser.hpp"
#include "tests/operators/rewrite/nests.hpp"

namespace rewrite_test {

inline const action& action_named(std::string_view name) {
  for (const action& one : actions()) {
    if (one.name == name) return one;
  }
  throw std::runtime_error("no such action");
}

// What an action knows besides the source.
struct setting {
  const kevo::task* task = nullptr;
  int threads = 1;
  bool cuda = false;
};
inline const setting on_device{nullptr, 1, true};

inline parsed_source parsed_whole(const std::string& parser, const std::string& text, const setting& with) {
  auto in = parse(parser, {text}, {}, with.cuda ? dialect::cuda : dialect::cpp).front();
  REQUIRE_MESSAGE(in, text);
  CHECK_MESSAGE(in->errors == 0, in->first_error << "\n" << text);
  return *std::move(in);
}

// What came of an action at the sites that it offers.
struct tries {
  std::vector<std::string> offered;  // the place of each site
  std::vector<std::string> made;     // the texts, in the order of the sites
  std::vector<std::string> refused;  // the reasons
};

inline tries at_all_sites(const kernel& of, std::string_view name) {
  tries result;
  kevo::rng random(3);
  for (const site& where : action_named(name).sites(of)) {
    result.offered.push_back(place_of(of, where));
    try {
      result.made.push_back(action_named(name).apply(of, where, random));
    } catch (const refusal& r) {
      result.refused.push_back(r.reason);
    }
  }
  return result;
}

// The same, where each text has to be one that the parser and the reader of annotations take.
inline tries tried(const std::string& parser, const std::string& text, std::string_view name,
                   const setting& with = {}) {
  const parsed_source in = parsed_whole(parser, text, with);
  tries result = at_all_sites({in, loops_of(in), with.task, with.threads, with.cuda}, name);
  for (const auto& child : result.made) {
    (void)parsed_whole(parser, child, with);
    CHECK_NOTHROW(kevo::parse_annotations(child, "child"));
  }
  return result;
}

// The source after an action at the n-th site that does not refuse; empty if there is none.
inline std::string after(const std::string& parser, const std::string& text, std::string_view name,
                         std::size_t nth = 0, const setting& with = {}) {
  const parsed_source in = parsed_whole(parser, text, with);
  const tries all = at_all_sites({in, loops_of(in), with.task, with.threads, with.cuda}, name);
  return nth < all.made.size() ? all.made[nth] : std::string();
}

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace rewrite_test
