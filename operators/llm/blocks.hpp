#pragma once
// EVOLVE-BLOCKs: the parts of a source that a model may change, where it has such marks.

#include <string>
#include <string_view>

#include <kevo/operators/conversation.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// Whether a file of a program has EVOLVE-BLOCK-START and EVOLVE-BLOCK-END around what may change.
bool has_evolve_blocks(const program& source);

/// The draft as it is if it keeps to the blocks of `parent`: the same files, the same number of blocks, and
/// the same lines outside of them, except for white space at the ends of lines. Else a complaint that names
/// the first line that differs. A parent without blocks allows everything. O(length of both texts).
draft kept_to_blocks(const program& parent, draft made);

/// The complaint of `kept_to_blocks`; empty if `made` keeps to the blocks of `parent`.
std::string outside_of_blocks(const program& parent, const program& made);

}  // namespace kevo
