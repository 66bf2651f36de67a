#pragma once

#include "io/descriptor.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace convert {

/// "0x0123abcd".
[[nodiscard]] std::string to_hex(std::uint32_t value);

/// What a small text file beside an unfinished output says of it.
struct journal {
  std::string identity;  ///< what is converted into what: lines of text, equal for equal outputs
  std::uint64_t samples = 0;                  ///< that are on the disk, with these checksums
  std::vector<std::uint32_t> checksums = {};  ///< CRC-32 of each field, over its samples' bytes

  friend bool operator==(const journal&, const journal&) = default;

  /// Puts it on the disk in place of what was there.
  void write(const std::filesystem::path& path) const;
  /// Nothing if there is no such file, or it is not a whole journal.
  [[nodiscard]] static std::optional<journal> read(const std::filesystem::path& path);
};

/// The folder beside an output in which it is made: the unfinished output, its journal, and a lock
/// that says whose the folder is and that one run at a time is in it.
///
/// Only names that a run makes are ever written or removed; a folder that has others is refused.
class work_folder {
 public:
  /// Makes the folder, or enters what an earlier run left, however that ended.
  /// @throws feedline::usage_error if something of that name is there that no run made.
  /// @throws std::runtime_error if another run is in it; std::system_error if it cannot be made.
  explicit work_folder(std::filesystem::path path);
  work_folder(const work_folder&) = delete;
  work_folder& operator=(const work_folder&) = delete;
  /// Leaves what can be gone on with, which is what has a journal, and removes the rest.
  ~work_folder();

  /// Removes the unfinished output and its journal.
  void clear() const;
  /// Removes the folder, at the end of the run.
  void remove();

  [[nodiscard]] std::filesystem::path unfinished() const { return path_ / "unfinished"; }
  [[nodiscard]] std::filesystem::path journal() const { return path_ / "journal"; }
  /// What the output takes the place of, until it is removed.
  [[nodiscard]] std::filesystem::path replaced() const { return path_ / "replaced"; }

 private:
  [[nodiscard]] std::filesystem::path lock() const { return path_ / "lock"; }
  [[nodiscard]] feedline::detail::descriptor enter() const;
  [[nodiscard]] bool is_foreign() const;
  void claim() const;
  void require_only_own() const;

  std::filesystem::path path_;
  feedline::detail::descriptor locked_;
  bool removed_ = false;
};

}  // namespace convert
