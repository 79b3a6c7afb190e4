#pragma once
// The implementation of <kevo/fitness/torch.hpp> is in this folder.

#include <kevo/fitness/torch.hpp>
