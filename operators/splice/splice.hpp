#pragma once
// The implementation of <kevo/operators/splice.hpp> is in this folder.

#include <kevo/operators/splice.hpp>
