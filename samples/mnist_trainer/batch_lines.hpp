#pragma once

#include <feedline/loader/loader_state.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace mnist {

/// A text file with a line for each batch, "EPOCH BATCH VALUE", to compare runs by.
class batch_lines {
 public:
  batch_lines() = default;  ///< writes nothing
  /// @param path Empty: nothing is written.
  /// @param begin Where the run goes on: lines of earlier batches stay, and no others.
  /// @throws std::runtime_error if it cannot be written.
  batch_lines(const std::filesystem::path& path, const feedline::loader_state& begin);

  [[nodiscard]] bool wanted() const { return file_.is_open(); }
  void add(std::uint64_t epoch, std::uint64_t batch, const std::string& value);
  /// To be called before a checkpoint is written, so that its batches' lines are there.
  /// @throws std::runtime_error if they could not be written.
  void flush();

 private:
  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace mnist
