// Uses the compiled library: loads a task from the installed configs.
#include <cstdio>
#include <memory>
#include <src/task/task_loader.hpp>

#include <kevo/kevo.hpp>

int main(int, char** words) {
  const kevo::task t = kevo::load_task(words[1]);
  std::puts(t.name.c_str());
  return t.name == "matmul" ? 0 : 1;
}
