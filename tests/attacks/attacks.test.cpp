// labels: slow
// serial
// timeout: 900
// Every known exploit whose verdict depends on time gets the verdict that its file names, and every odd but
// honest program is accepted. The other exploits are judged by tests/attacks/caught.test.cpp.

#include <doctest/doctest.h>

#include "tests/attacks/corpus.hpp"

TEST_CASE("exploits are caught or earn nothing, and honest programs are accepted") {
  attacks::judge_those(false);
}
