#pragma once
// From an exploit and a task to a candidate of that task: the task's signature in front of it, an honest
// program of the task inside it, where it asks for one.

#include <optional>
#include <string>

#include <kevo/program.hpp>
#include <kevo/task.hpp>

#include "fitness/attack/exploit.hpp"

namespace kevo {

/// An exploit for one task: a program, or why there is none.
struct attack_program {
  std::optional<kevo::program> program;
  std::string not_applicable;  ///< a whole sentence without its full stop; empty if there is a program
};

/// Makes the program. `honest` is an honest program of the task that stands on its own; of its files the main
/// one is put where the exploit says `// insert: honest`, the others go along. In C++ and in hosted CUDA its
/// `run` is called through `attack_call`; in declared CUDA its launch lines stand where it stands.
attack_program instantiate(const exploit& attack, const task& t, const program& honest);

}  // namespace kevo
