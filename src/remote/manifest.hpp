#pragma once

#include "io/file_system.hpp"
#include "remote/answer/judge_answer.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Objects whose sizes and versions are known without a request, by address. Constant.
class manifest {
 public:
  using entries = std::map<std::string, object_pin, std::less<>>;

  explicit manifest(entries objects) : objects_{std::move(objects)} {}

  /// Null if it is not listed.
  [[nodiscard]] const object_pin* find(std::string_view address) const;
  /// Whether there are objects below an address, as if it were a folder.
  [[nodiscard]] bool has_below(std::string_view folder) const;
  /// The entries of a folder; nothing if there is none below it.
  [[nodiscard]] std::vector<folder_entry> list(std::string_view folder) const;

  [[nodiscard]] const entries& all() const noexcept { return objects_; }

 private:
  entries objects_;
};

/// Reads the lines of a manifest. @param name Names it in errors.
/// @throws dataset_error naming the line: no JSON, a member that is missing, unknown or wrong, a
/// path that is no address or comes twice.
[[nodiscard]] manifest::entries read_manifest(std::string_view text, const std::string& name);
/// A line of a manifest, with its end.
[[nodiscard]] std::string manifest_line(const std::string& address, const object_pin& pin);

/// The manifest of this process; null: none is mounted. Any thread.
[[nodiscard]] std::shared_ptr<const manifest> mounted_manifest() noexcept;
/// The kind of entry that the manifest has under an address: an object or a folder; `nothing` if it
/// has none.
[[nodiscard]] entry_kind kind_in_manifest(const std::string& address);
/// Adds to it, for this process and later children of fork. Any thread: none is lost.
void add_to_manifest(const manifest::entries& more);
/// There is none any more. For tests.
void forget_manifest();

}  // namespace feedline::detail
