#pragma once
// The dtypes by the numbers that device code knows them by, which messages about tensors carry.

#include <string_view>

#include "fitness/oracle/element_type.hpp"

namespace kevo::cuda {

/// The number that device code knows a dtype by; -1 if it knows none.
int type_code(std::string_view dtype);

/// The dtype of a number. @throws kevo::error (internal) if there is none
const element_type& element_of(int code);

}  // namespace kevo::cuda
