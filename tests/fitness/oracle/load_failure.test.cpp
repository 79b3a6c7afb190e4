#include "fitness/oracle/load_failure.hpp"

#include <string>

#include <doctest/doctest.h>

using kevo::explain_load_failure;

TEST_CASE("an undefined symbol is named as the source names it, with what to do") {
  const auto cpp = explain_load_failure("/tmp/x/object.so: undefined symbol: _Z6helperPKfi");
  CHECK(cpp.find("'helper(float const*, int)' is used and not defined (symbol _Z6helperPKfi)") == 0);
  CHECK(cpp.find("define it in the source") != std::string::npos);
  const auto c = explain_load_failure("/tmp/x/object.so: undefined symbol: cblas_sgemm, version X");
  CHECK(c.find("'cblas_sgemm' is used and not defined:") == 0);
  CHECK(c.find("'link'") != std::string::npos);
}

TEST_CASE("a missing library is named, and other messages stay") {
  const auto missing =
      explain_load_failure("libtbb.so.12: cannot open shared object file: No such file or directory");
  CHECK(missing.find("the library 'libtbb.so.12'") != std::string::npos);
  CHECK(explain_load_failure("/a/b.so: file too short") == "/a/b.so: file too short");
}
