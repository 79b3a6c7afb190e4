#pragma once
// The implementation of <kevo/llm/chat.hpp> is in this folder.

#include <kevo/llm/chat.hpp>
