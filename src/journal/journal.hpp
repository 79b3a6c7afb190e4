#pragma once
// The implementation of <kevo/journal.hpp> is in this folder.

#include <kevo/journal.hpp>
