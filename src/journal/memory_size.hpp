#pragma once
// How much memory the values take that the journal keeps in its caches. Internal to src/journal.

#include <cstddef>

#include <kevo/evaluation.hpp>
#include <kevo/model_call.hpp>
#include <kevo/program.hpp>

namespace kevo::detail {

/// The approximate number of bytes of a value in memory, with what it owns.
std::size_t memory_size_of(const program& source);
std::size_t memory_size_of(const evaluation& result);
std::size_t memory_size_of(const model_call& call);

}  // namespace kevo::detail
