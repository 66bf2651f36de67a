#pragma once

#include <feedline/arrays/windows.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/loader/loader_options.hpp>

#include "programs/inputs/side_by_side.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

namespace doctor {

/// In which order the loop that is examined takes samples.
enum class loop_order : std::uint8_t {
  shuffle,     ///< all samples mixed
  windows,     ///< `shuffle{.within = chunks()}`
  sequential,  ///< samples in stored order
};

/// The parsed command line.
struct request {
  std::vector<programs::input> inputs;           ///< at least one
  std::string path;                              ///< all of them, as they were given
  feedline::open_options how;                    ///< it is opened
  std::vector<feedline::window> windows;         ///< samples are these; empty: rows
  std::uint64_t draws = 1;                       ///< `window_options::draws`
  bool resizes = false;                          ///< --resize was given
  std::optional<std::uint64_t> pad;              ///< elements of each sample of varying length
  std::optional<std::size_t> whole;              ///< HDF5: `hdf5_options::max_resident_bytes`
  std::uint64_t batch_size = 0;                  ///< 0: 256, or as many as there are
  std::optional<std::chrono::nanoseconds> step;  ///< computing time of the loop for a batch
  int readers = feedline::automatic_readers;     ///< readers of the loop as it is
  loop_order order = loop_order::shuffle;        ///< order of that loop
  std::chrono::duration<double> seconds{6};      ///< approximate time for measuring
  int max_readers = 0;                           ///< 0: as many as there are cores
  std::optional<int> gpu = 0;                    ///< empty: none is used
  bool needs_gpu = false;                        ///< --gpu was given
  std::optional<std::size_t> device_bytes;  ///< for rows that stay on the GPU; empty: half of what
                                            ///< is free
  std::string json;                         ///< a file, or "-"; empty: none
  std::string picture;                      ///< same, without "-"
  std::string code;                         ///< same, without "-"
};

/// Reads the command line. Where it asks for help, or cannot be understood, prints what there is to
/// say; then it is the exit code.
[[nodiscard]] std::variant<request, int> read_command_line(int argc, const char* const* argv,
                                                           std::ostream& out, std::ostream& err);

/// "5ms", "200us", "0.1s", "50ns"; a number alone is milliseconds. Empty: it is no time above 0.
[[nodiscard]] std::optional<std::chrono::nanoseconds> read_time(const std::string& text);

}  // namespace doctor
