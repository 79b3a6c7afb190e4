// labels: slow
// serial
// timeout: 900
// Every known exploit whose verdict depends on time gets the verdict that its file names. The other exploits
// are judged by tests/attacks/caught.test.cpp, honest programs by tests/attacks/honest.test.cpp.

#include <doctest/doctest.h>

#include "tests/attacks/corpus.hpp"

TEST_CASE("exploits are caught or earn nothing") {
  attacks::judge_those(attacks::group::timed);
}
