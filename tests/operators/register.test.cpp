#include <doctest/doctest.h>

#include <kevo/operators/rewrite.hpp>
#include <kevo/registry.hpp>

#include "operators/policy/learnt_policy.hpp"
#include "src/base/settings/yaml.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

namespace kevo {
void register_operators(registry& all);
void register_model_operators(registry& all);
}  // namespace kevo

TEST_CASE("the shipped operators are made from their settings") {
  kevo::registry all;
  kevo::register_operators(all);
  kevo::register_model_operators(all);
  kevo::settings reader(kevo::parse_yaml("{type: tune, tries: 3, crossover: 0.5}"));
  auto op = all.operators.make(reader, {});
  CHECK(op.name() == "tune");
  CHECK_NOTHROW(reader.finish());
  kevo::settings other(kevo::parse_yaml("{type: splice, another_regoin: 1}"));
  CHECK(all.operators.make(other, {}).name() == "splice");
  try {
    other.finish();
    FAIL("accepted");
  } catch (const kevo::error& e) {
    CHECK(e.hint() == "did you mean 'another_region'?");
  }
  kevo::settings wrong(kevo::parse_yaml("{type: tun}"));
  CHECK_THROWS_AS(all.operators.make(wrong, {}), kevo::error);
  for (const auto& name : all.operators.names()) {
    auto probe = kevo::settings::probe();
    CHECK(static_cast<bool>(all.operators.make_named(name, probe, {})));
    CHECK(probe.descriptions().size() >= 2);
  }
}

TEST_CASE("rewrite and macro_micro read the file of a learnt policy") {
  try {
    kevo::require_rewrite_parser();
  } catch (const kevo::error&) {
    return kevo_test::skip("this kevo was built without libclang");
  }
  kevo::registry all;
  kevo::register_operators(all);
  kevo::register_model_operators(all);
  const shell::scratch folder;
  const auto& features = kevo::rewrite_features();
  shell::write_file(folder / "policy.json",
                    kevo::to_json({"rewrite", features, kevo::net_for(features, 0), {{"seed", "1"}}}));
  for (const std::string type : {"rewrite", "macro_micro"}) {
    CAPTURE(type);
    const auto made = [&](const char* file) {
      kevo::settings reader(
          kevo::parse_yaml("{type: " + type + ", policy: " + (folder / file).string() + ", regions: false}"));
      auto op = all.operators.make(reader, {});
      reader.finish();
      return op.name();
    };
    CHECK(made("policy.json") == type);
    CHECK_THROWS_AS(made("none.json"), kevo::error);
  }
}
