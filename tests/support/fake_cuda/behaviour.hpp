#pragma once
// What a module's source says of how its kernels behave (README.md lists the words).

#include <cctype>
#include <cstdlib>
#include <string>

namespace fake_cuda {

struct behaviour {
  double ns = 1000;  ///< of a launch
  bool hang = false;
  bool hang_once = false;
  bool illegal_address = false;
  bool launch_failure = false;
  bool refused = false;
  bool exit = false;
  bool exit_once = false;
  bool lose_device = false;
  bool no_op = false;
  bool stale = false;
  bool wrong_value = false;
  bool change_input = false;
  bool write_guard = false;
  bool early = false;
  bool forge_events = false;
  bool forge_events_at_times = false;
  bool random_bits = false;
  bool slow_first = false;
  bool when_hidden = false;
};

inline behaviour behaviour_of(const std::string& source) {
  behaviour found;
  constexpr const char* duration = "#define FAKE_NS ";
  if (const auto at = source.find(duration); at != std::string::npos)
    found.ns = std::strtod(source.c_str() + at + 16, nullptr);
  const auto says = [&](const std::string& word) {
    const std::string line = "// fake: " + word;
    const auto at = source.find(line);
    if (at == std::string::npos) return false;
    const auto end = at + line.size();
    return end == source.size() || std::isspace(static_cast<unsigned char>(source[end])) != 0;
  };
  found.hang = says("hang");
  found.hang_once = says("hang_once");
  found.illegal_address = says("illegal_address");
  found.launch_failure = says("launch_failure");
  found.refused = says("refused");
  found.exit = says("exit");
  found.exit_once = says("exit_once");
  found.lose_device = says("lose_device");
  found.no_op = says("no_op");
  found.stale = says("stale");
  found.wrong_value = says("wrong_value");
  found.change_input = says("change_input");
  found.write_guard = says("write_guard");
  found.early = says("early");
  found.forge_events = says("forge_events");
  found.forge_events_at_times = says("forge_events_at_times");
  found.random_bits = says("random_bits");
  found.slow_first = says("slow_first");
  found.when_hidden = says("when_hidden");
  return found;
}

}  // namespace fake_cuda
