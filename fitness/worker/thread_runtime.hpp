#pragma once
// What a worker process has for programs with threads: variables of the environment, and the libraries of the
// runtimes that a compiler's flags ask for.

#include <cstddef>
#include <string>
#include <vector>

namespace kevo {

/// [bytes] Room that a worker's threads have for variables of which each thread has its own, so that they lie
/// in fixed places as in a program: of all libraries together.
inline constexpr std::size_t static_thread_local_bytes = std::size_t{64} << 10U;

/// The whole environment of a worker that may run `threads` threads, the same for every process of every
/// program. OpenMP's runtimes make teams of that many threads, no more. Where the controller shares their
/// processors (`shared`), threads that have nothing to do sleep at once: one that spins takes a processor
/// away from those that work.
std::vector<std::string> worker_environment(int threads, bool shared);

/// File names of the runtime libraries that objects built with these flags may need: those of OpenMP for
/// -fopenmp, of oneTBB for -ltbb. None of them holds a finished kernel.
std::vector<std::string> thread_libraries(const std::vector<std::string>& flags);

}  // namespace kevo
