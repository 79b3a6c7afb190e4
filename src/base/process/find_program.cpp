#include "src/base/process/find_program.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <unistd.h>

namespace kevo {
namespace {

namespace fs = std::filesystem;

bool usable(const std::string& path) {
  std::error_code code;
  const auto real = fs::canonical(path, code);
  return !code && ::access(path.c_str(), X_OK) == 0 && real.filename() != "ccache" &&
         !fs::is_directory(real, code);
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    std::string path = fs::absolute(name).lexically_normal().string();
    if (!usable(path)) path.clear();
    return path;
  }
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable == nullptr ? "/usr/local/bin:/usr/bin:/bin" : variable);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty() || folder.front() != '/') continue;
    folder.append("/").append(name);
    if (usable(folder)) return folder;
  }
  return {};
}

}  // namespace kevo
