#pragma once
// The implementation of <kevo/operators/numbers.hpp> is in this folder.

#include <kevo/operators/numbers.hpp>
