#pragma once
// The implementation of <kevo/fitness/cpu.hpp> is in this folder.

#include <kevo/fitness/cpu.hpp>

#include "fitness/build/compiler.hpp"
#include "fitness/process/process.hpp"
