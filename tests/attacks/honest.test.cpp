// labels: slow
// timeout: 600
// one processor
// Every odd but honest program is accepted, whatever else the machine does.

#include <doctest/doctest.h>

#include "tests/attacks/corpus.hpp"

TEST_CASE("honest programs are accepted on a busy machine, too") {
  attacks::judge_those(attacks::group::honest);
}
