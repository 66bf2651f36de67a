#pragma once

#include <feedline/formats/open.hpp>

#include "programs/convert/conversion.hpp"
#include "programs/convert/output/job.hpp"

#include <string>
#include <vector>

namespace convert {

/// The parsed command line.
struct command {
  std::vector<std::string> inputs;
  feedline::open_options how;  ///< they are opened
  convert::job job;
  carrying carry;  ///< from the inputs, besides samples
};

/// Reads the command line. Where it asks for help, or cannot be understood, prints what there is to
/// say and ends the program: 0 or 2.
[[nodiscard]] command parse_command_line(int argc, char** argv);

}  // namespace convert
