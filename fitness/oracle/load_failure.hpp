#pragma once
// Why a built program cannot be loaded, in words of the person who wrote it.

#include <string>
#include <string_view>

namespace kevo {

/// The message of the dynamic loader with what it means: an undefined symbol is named as in the source
/// where it is a plain C++ function (other symbols stay mangled) and a missing library by its name, each with
/// the next step. At most 200 bytes of a name are shown, and the work is linear in the length of the message:
/// its names are chosen by a candidate. Other messages stay as they are.
std::string explain_load_failure(std::string_view message);

}  // namespace kevo
