#include "fitness/oracle/load_failure.hpp"

#include <string>

#include <doctest/doctest.h>

using kevo::explain_load_failure;

TEST_CASE("an undefined symbol is named as the source names it, with what to do") {
  const auto cpp = explain_load_failure("/tmp/x/object.so: undefined symbol: _Z6helperPKfi");
  CHECK(cpp.find("'helper(float const*, int)' is called but never defined (symbol _Z6helperPKfi). ") == 0);
  CHECK(cpp.find("Define it in the source") != std::string::npos);
  const auto c = explain_load_failure("/tmp/x/object.so: undefined symbol: cblas_sgemm, version X");
  CHECK(c.find("'cblas_sgemm' is called but never defined. ") == 0);
  CHECK(c.find("'link'") != std::string::npos);
}

TEST_CASE("a function of OpenMP names the flag that it needs") {
  const auto said = explain_load_failure("/tmp/x/object.so: undefined symbol: omp_set_num_threads");
  CHECK(said.find("'omp_set_num_threads' is a function of OpenMP") == 0);
  CHECK(said.find("-fopenmp") != std::string::npos);
  CHECK(said.find("fitness.threads") != std::string::npos);
}

TEST_CASE("a symbol that stands for far more text than it has characters is shown as it is") {
  // Each argument of the template repeats the one before it twice: twice the text for each of the 18 levels.
  std::string symbol = "_Z1f1AIiiE";
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (std::size_t level = 0; level < 18; ++level) {
    const auto earlier = "S" + digits.substr(level, 1) + "_";
    symbol += "S_I" + earlier + earlier + "E";
  }
  REQUIRE(symbol.size() < 200);
  const auto said = explain_load_failure("/tmp/x/object.so: undefined symbol: " + symbol);
  CHECK(said.find("'" + symbol + "' is called but never defined. ") == 0);
  CHECK(said.size() < 1000);
  const auto named = [](const std::string& mangled) {
    return explain_load_failure("/tmp/x/object.so: undefined symbol: " + mangled);
  };
  CHECK(named("_ZN2my6helperEv").find("'my::helper()' is called") == 0);
  CHECK(named("_Z5tableRKd").find("'table(double const&)' is called") == 0);
  for (const auto* odd : {"_Z", "_ZN", "_Z9", "_Z99999999999999999999f", "_Z1", "_Z1fP", "_Z1fPK", "_ZN1fE"})
    CHECK(named(odd).find(odd) != std::string::npos);
  CHECK(named(std::string(100'000, 'x')).size() < 1000);
}

TEST_CASE("a missing library is named, and other messages stay") {
  const auto missing =
      explain_load_failure("libtbb.so.12: cannot open shared object file: No such file or directory");
  CHECK(missing.find("the library 'libtbb.so.12'") != std::string::npos);
  CHECK(explain_load_failure("/a/b.so: file too short") == "/a/b.so: file too short");
}
