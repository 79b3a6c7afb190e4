#include "fitness/worker/call_chain.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "fitness/process/read_memory.hpp"

namespace kevo {
namespace {

constexpr std::size_t words_looked_at = 24;  // of the frames of the code that waits
constexpr int most_looks = 8;

// Place and stack pointer; nothing if the process does not sleep in a system call.
std::optional<call_chain> sleeping_place(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/syscall");
  std::string text;
  std::getline(file, text);
  // Its number, six arguments, the stack pointer, the place. "running", or -1 and two numbers, is none.
  std::istringstream parts(text);
  long number = -1;
  if (!(parts >> number) || number < 0) return std::nullopt;
  std::array<std::uint64_t, 8> values{};
  for (auto& value : values) {
    if (!(parts >> std::hex >> value)) return std::nullopt;
  }
  return call_chain{.place = values[7], .stack = values[6]};
}

std::optional<std::array<std::uint64_t, words_looked_at>> stack_of(pid_t process, std::uint64_t at) {
  std::array<std::uint64_t, words_looked_at> words{};
  const memory_piece piece = {at, sizeof words};
  if (!read_memory(process, {&piece, 1}, reinterpret_cast<std::byte*>(words.data()))) return std::nullopt;
  return words;
}

using code_ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

code_ranges code_of(pid_t process, const std::string& library) {
  code_ranges found;
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  for (std::string text; std::getline(maps, text);) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    char rights[8] = {};
    if (std::sscanf(text.c_str(), "%lx-%lx %7s", &begin, &end, rights) != 3) continue;
    if (rights[2] == 'x' && text.find(library) != std::string::npos) found.emplace_back(begin, end);
  }
  return found;
}

bool is_in(const code_ranges& code, std::uint64_t address) {
  return std::any_of(code.begin(), code.end(),
                     [&](const auto& one) { return address >= one.first && address < one.second; });
}

}  // namespace

void known_chain::learn(pid_t process) {
  const std::lock_guard lock(mutex_);
  if (known_ || retired_ || process == first_) return;
  auto seen = sleeping_place(process);
  if (!seen) return;
  const auto words = stack_of(process, seen->stack);
  if (!words) return;
  if (!chain_ || chain_->place != seen->place || chain_->stack != seen->stack) {
    seen->code = code_of(process, library_);
    for (std::size_t i = 0; i < words->size(); ++i) {
      if (is_in(seen->code, (*words)[i])) seen->returns.push_back(i);
    }
    chain_ = std::move(seen);
    first_ = process;
    return;
  }
  std::erase_if(chain_->returns, [&](std::size_t i) { return !is_in(chain_->code, (*words)[i]); });
  known_ = true;
}

void known_chain::retire() {
  const std::lock_guard lock(mutex_);
  retired_ = true;
  known_ = false;
}

bool known_chain::is_elsewhere(pid_t process) {
  const std::lock_guard lock(mutex_);
  if (!known_) return false;
  // One that has just said that a call has ended may be on its way.
  for (int look = 0;; ++look) {
    const auto seen = sleeping_place(process);
    if (!seen) return false;
    const auto words = stack_of(process, seen->stack);
    const bool same = words && seen->place == chain_->place && seen->stack == chain_->stack &&
                      std::all_of(chain_->returns.begin(), chain_->returns.end(),
                                  [&](std::size_t i) { return is_in(chain_->code, (*words)[i]); });
    if (same) return false;
    if (look == most_looks) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

}  // namespace kevo
