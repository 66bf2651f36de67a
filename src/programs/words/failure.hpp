#pragma once

#include "programs/words/library_words.hpp"

#include <string>

namespace programs {

/// Exit codes of programs besides 0: all was done.
enum exit_code : int {
  failed = 1,        ///< an input cannot be read, or an output not be written
  wrong_usage = 2,   ///< the command line, or it does not suit the data
  not_all_read = 3,  ///< all was done, but there are samples that cannot be read
};

/// How a program ends that cannot continue.
struct failure {
  int code;
  std::string message;  ///< one line or several, with the program's name before
};

/// The exception that is being handled, in the program's words. For an error in a loader's stage it
/// tells the cause, because a program's user does not know stages.
[[nodiscard]] failure current_failure(program speaker);

}  // namespace programs
