#pragma once
// The implementation of <kevo/operators/agent.hpp> is in this folder.

#include <kevo/operators/agent.hpp>

#include "operators/llm/conversation.hpp"
