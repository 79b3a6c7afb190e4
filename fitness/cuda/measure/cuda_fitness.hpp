#pragma once
// The implementation of <kevo/fitness/cuda.hpp> is in this folder.

#include "fitness/cuda/settings/cuda_settings.hpp"
