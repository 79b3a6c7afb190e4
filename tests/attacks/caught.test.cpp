// labels: slow
// timeout: 600
// one processor
// Every known exploit that is caught whatever else the machine does gets the verdict that its file names.
// Those whose verdict depends on time are judged by tests/attacks/attacks.test.cpp.

#include <doctest/doctest.h>

#include "tests/attacks/corpus.hpp"

TEST_CASE("exploits that must be caught are caught on a busy machine, too") {
  attacks::judge_those(attacks::group::caught);
}
