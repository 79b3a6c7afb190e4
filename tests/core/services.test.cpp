// links: core
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include <kevo/registry.hpp>
#include <kevo/services.hpp>

namespace {
struct clock_service {  // a type that the core does not know
  int ticks = 0;
};
}  // namespace

TEST_CASE("services are found by their type, and shared by copies") {
  kevo::services offered;
  CHECK(offered.get<clock_service>() == nullptr);
  const auto clock = std::make_shared<clock_service>();
  offered.put(clock);
  offered.put(std::make_shared<std::string>("notes"));
  const kevo::build_context context{.services = offered};
  context.services.get<clock_service>()->ticks = 3;
  CHECK(clock->ticks == 3);
  CHECK(*context.services.get<std::string>() == "notes");
  CHECK(context.services.get<int>() == nullptr);
  offered.put(std::shared_ptr<clock_service>());
  CHECK(offered.get<clock_service>() == nullptr);
  CHECK(context.services.get<clock_service>() == clock);
}

TEST_CASE("a factory is given the services of the program") {
  struct silent {
    std::shared_ptr<clock_service> clock;
    std::string name() const { return "silent"; }
    kevo::variation_result vary(const kevo::variation_request&, kevo::rng&) {
      ++clock->ticks;
      return kevo::no_proposal{"silence"};
    }
  };
  kevo::registry plugins;
  plugins.operators.add("silent", [](kevo::settings&, const kevo::build_context& context) {
    return kevo::any_variation(silent{context.services.get<clock_service>()});
  });
  const auto clock = std::make_shared<clock_service>();
  kevo::build_context context;
  context.services.put(clock);
  kevo::settings nothing{kevo::settings_node{}};
  kevo::any_variation op = plugins.operators.make_named("silent", nothing, context);
  kevo::rng random;
  op.vary({}, random);
  CHECK(clock->ticks == 1);
}
