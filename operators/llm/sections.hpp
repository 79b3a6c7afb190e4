#pragma once
// The implementation of <kevo/operators/conversation.hpp> is in this folder.

#include <kevo/operators/conversation.hpp>

#include "operators/llm/prompt.hpp"
