#include "src/import/python_failure.hpp"

#include <string_view>

#include <fmt/format.h>

namespace kevo::importing {

std::string explained_failure(const std::string& message) {
  constexpr std::string_view missing = "ModuleNotFoundError: No module named '";
  if (message.starts_with(missing)) {
    const auto name = message.substr(missing.size(), message.find('\'', missing.size()) - missing.size());
    return fmt::format(
        "it imports the Python module '{}', which does not exist beside PyTorch; install a version of the "
        "package "
        "that has it, or name a Python with both (--python) ({})",
        name, message);
  }
  if (message.find("forbidden system call") != std::string::npos)
    return fmt::format(
        "it does something that the sandbox forbids, for example loads files from the network or starts a "
        "process: it {}",
        message);
  return message;
}

}  // namespace kevo::importing
