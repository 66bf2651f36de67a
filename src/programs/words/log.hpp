#pragma once

#include "programs/words/library_words.hpp"

#include <spdlog/common.h>

namespace programs {

/// Has the library's log go to standard error in the program's words: "feedline-convert: warning:
/// …". Call it before anything logs.
/// @param from Lowest severity that is reported.
void log_in_words_of(program speaker, spdlog::level::level_enum from);

}  // namespace programs
