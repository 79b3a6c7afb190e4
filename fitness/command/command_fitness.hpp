#pragma once
// The implementation of <kevo/fitness/command.hpp> is in this folder.

#include <kevo/fitness/command.hpp>

#include "fitness/process/process.hpp"
