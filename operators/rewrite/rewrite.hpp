#pragma once
// The implementation of <kevo/operators/rewrite.hpp> is in this folder.

#include <kevo/operators/rewrite.hpp>
