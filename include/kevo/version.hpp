#pragma once
// The one place where the version is written; CMake reads it from here.

#define KEVO_VERSION_MAJOR 0
#define KEVO_VERSION_MINOR 1
#define KEVO_VERSION_PATCH 0
