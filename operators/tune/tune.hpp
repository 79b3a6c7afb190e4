#pragma once
// The implementation of <kevo/operators/tune.hpp> is in this folder.

#include <kevo/operators/tune.hpp>

#include "operators/tune/setting_space.hpp"
