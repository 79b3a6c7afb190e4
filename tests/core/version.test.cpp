// links: core
#include <doctest/doctest.h>

#include <kevo/version.hpp>

TEST_CASE("the version is one that a package manager can order") {
  CHECK(KEVO_VERSION_MAJOR >= 0);
  CHECK(KEVO_PLUGIN_ABI >= 1);
}
