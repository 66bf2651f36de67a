#pragma once

#include "io/local/descriptor.hpp"
#include "programs/convert/output/job.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace convert {

/// Device and inode of the file, folder or link that has a name; empty if the name is free.
using occupant = std::optional<std::pair<dev_t, ino_t>>;
[[nodiscard]] occupant occupant_of(const std::filesystem::path& path);

/// Decides whether a job's output may be written.
/// @return Identity of the file that the output will replace.
/// @throws feedline::usage_error if its folder is missing; if the name is taken and the job does
/// not say `force`; if a device has it, or a folder with another file system mounted in it.
[[nodiscard]] occupant check_output(const job& job);

/// How far an unfinished output is, in a small text file beside it.
struct journal {
  std::string identity;       ///< identifies input, options and output: equal for equal outputs
  std::uint64_t samples = 0;  ///< on the disk, with these checksums
  std::vector<std::uint32_t> checksums = {};  ///< CRC-32 of each field, over its samples' bytes

  /// Replaces the file, and returns once it is on the disk.
  void write(const std::filesystem::path& path) const;
  /// Empty if there is no such file, or it is not a whole journal.
  [[nodiscard]] static std::optional<journal> read(const std::filesystem::path& path);
};

/// The folder beside an output in which it is made: the unfinished output, its journal, and a lock
/// file that marks the folder as feedline-convert's and keeps a second run out.
///
/// A run writes and removes its own names alone; a folder that has others is refused.
class work_folder {
 public:
  /// Makes the folder, or enters what an earlier run left, however that ended.
  /// @throws feedline::usage_error if something of that name is there that no run made.
  /// @throws std::runtime_error if another run is in it; std::system_error if it cannot be made.
  explicit work_folder(std::filesystem::path path);
  /// Leaves an output that has a journal, since a later run can continue it; removes everything
  /// else.
  ~work_folder();

  /// Removes the unfinished output and its journal.
  void clear() const;
  /// Gives the finished output its name, and removes what had it and the journal. A file replaces
  /// a file by one rename; if either is a folder, the name is free for a moment.
  /// @param replaces Result of `check_output`. Anything else is left, and so is the finished
  /// output.
  /// @throws std::runtime_error, std::system_error.
  void put_in_place(const std::filesystem::path& output, const occupant& replaces) const;

  [[nodiscard]] std::filesystem::path unfinished() const { return path_ / "unfinished"; }
  [[nodiscard]] std::filesystem::path journal() const { return path_ / "journal"; }

 private:
  [[nodiscard]] std::filesystem::path lock() const { return path_ / "lock"; }
  [[nodiscard]] feedline::detail::descriptor enter() const;
  void require_only_own() const;

  std::filesystem::path path_;
  feedline::detail::descriptor locked_;
};

}  // namespace convert
