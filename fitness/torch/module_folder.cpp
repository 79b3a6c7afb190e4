#include "fitness/torch/module_folder.hpp"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>

#include <kevo/error.hpp>

namespace kevo::torch {

module_folder::module_folder(bool for_sandbox) : scratch_(for_sandbox), path_(scratch_.folder("modules")) {
  if (::chmod(path_.c_str(), S_IWUSR | S_IXUSR) != 0)
    throw error(error_code::environment, "cannot restrict " + path_ + ": " + std::strerror(errno));
}

module_folder::~module_folder() {
  ::chmod(path_.c_str(), S_IRWXU);  // whoever removes it has to list it
}

}  // namespace kevo::torch
