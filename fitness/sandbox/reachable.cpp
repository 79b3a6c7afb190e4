#include "fitness/sandbox/reachable.hpp"

#include <cstdlib>
#include <sys/stat.h>

#include <climits>

namespace kevo::detail {

bool reachable_by_others(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return false;
  if ((info.st_mode & S_IROTH) == 0 || (S_ISDIR(info.st_mode) && (info.st_mode & S_IXOTH) == 0)) return false;
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) == nullptr) return false;
  std::string folder = resolved;
  for (;;) {
    const auto slash = folder.rfind('/');
    if (slash == std::string::npos || slash == 0) return true;
    folder.resize(slash);
    if (::stat(folder.c_str(), &info) != 0 || (info.st_mode & S_IXOTH) == 0) return false;
  }
}

}  // namespace kevo::detail
