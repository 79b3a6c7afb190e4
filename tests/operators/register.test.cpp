#include <doctest/doctest.h>

#include <kevo/registry.hpp>

#include "src/base/settings/yaml.hpp"

namespace kevo {
void register_operators(registry& all);
}

TEST_CASE("the shipped operators are made from their settings") {
  kevo::registry all;
  kevo::register_operators(all);
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
