#pragma once
// Builds a trusted test program to a shared object with the system's compiler, outside of any sandbox.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "fitness/process/process.hpp"
#include "fitness/sandbox/scratch_folder.hpp"

namespace kevo_test {

/// A shared object of `text`, whose entry is `kevo_call`, in a folder that lives as long as this.
class built_object {
 public:
  explicit built_object(const std::string& text) : folder_(false) {
    std::ofstream(folder_.path() + "/source.cpp") << text;
    const std::string command = "g++ -std=c++20 -O1 -shared -fPIC -Wl,-e,kevo_call -o " + path() + " " +
                                folder_.path() + "/source.cpp";
    if (std::system(command.c_str()) != 0) throw std::runtime_error("the test program does not build");
  }
  std::string path() const { return folder_.path() + "/object.so"; }

 private:
  kevo::scratch_folder folder_;
};

}  // namespace kevo_test
