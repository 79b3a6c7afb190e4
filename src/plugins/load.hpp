#pragma once
// The implementation of load_plugin is in this folder.

#include <kevo/plugins.hpp>
