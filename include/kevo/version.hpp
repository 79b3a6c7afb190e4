#pragma once
// The version of kevo. It is defined only here; CMake reads it from this file.

#define KEVO_VERSION_MAJOR 0
#define KEVO_VERSION_MINOR 1
#define KEVO_VERSION_PATCH 0
