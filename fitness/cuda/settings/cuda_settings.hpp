#pragma once
// The implementation of <kevo/fitness/cuda.hpp> is in this folder.

#include <kevo/fitness/cuda.hpp>

#include "fitness/process/process.hpp"
