#pragma once
// The implementation of <kevo/operators/llm.hpp> is in this folder.

#include <kevo/operators/llm.hpp>

#include "operators/llm/conversation.hpp"
