#include "fitness/machine/processor_facts.hpp"

#include <doctest/doctest.h>

#include "fitness/machine/ceilings.hpp"
#include "tests/support/shell.hpp"

TEST_CASE("the caches and the clock of a processor are read from the system, as far as it tells") {
  const shell::scratch root;
  CHECK(kevo::processor_facts(root.string()).empty());
  shell::write_file(root / "proc/cpuinfo", "processor : 0\ncpu MHz\t\t: 2600.123\n");
  CHECK(kevo::processor_facts(root.string()) == "2.60 GHz");
  const auto cache = [&](int index, const char* level, const char* type, const char* size) {
    const auto folder = root / "sys/devices/system/cpu/cpu0/cache" / ("index" + std::to_string(index));
    shell::write_file(folder / "level", std::string(level) + "\n");
    shell::write_file(folder / "type", std::string(type) + "\n");
    shell::write_file(folder / "size", std::string(size) + "\n");
  };
  cache(0, "1", "Data", "48K");
  cache(1, "1", "Instruction", "32K");
  cache(2, "2", "Unified", "2048K");
  cache(3, "3", "Unified", "36608K");
  CHECK(kevo::processor_facts(root.string()) == "L1d 48 KiB, L2 2 MiB, L3 35.8 MiB, 2.60 GHz");
  shell::write_file(root / "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3800000\n");
  CHECK(kevo::processor_facts(root.string()) == "L1d 48 KiB, L2 2 MiB, L3 35.8 MiB, 3.80 GHz");
}

TEST_CASE("ceilings as text") {
  const kevo::ceilings known{152.4e9, {{24U << 10U, 180e9}, {64U << 20U, 11.25e9}}};
  CHECK(known.text() == "152 GFLOP/s in float32; copies: 180 GB/s in 24 KiB, 11.2 GB/s in 64 MiB");
}
