#pragma once

#include <filesystem>

namespace convert {

/// The folder beside an output in which it is made: the unfinished output, its journal, and a lock that
/// says whose the folder is and that one run at a time is in it.
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
  [[nodiscard]] int enter() const;
  [[nodiscard]] int try_to_enter() const;
  [[nodiscard]] bool is_foreign() const;
  void claim(int descriptor) const;
  void require_only_own() const;

  std::filesystem::path path_;
  int descriptor_;
  bool removed_ = false;
};

}  // namespace convert
