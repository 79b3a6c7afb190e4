#pragma once
// The implementation of <kevo/fitness/cpu.hpp> is in this folder.

#include "fitness/cpu/cpu_settings.hpp"
