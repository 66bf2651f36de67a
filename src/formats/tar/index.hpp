#pragma once

#include <feedline/formats/tar.hpp>

#include "formats/tar/scanner.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// Where a member's bytes lie in its shard.
struct tar_place {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// Members of one extension that no field takes.
struct tar_left_out {
  std::string extension;  ///< after the first dot of a name, in lower case; empty: no dot
  std::uint64_t members = 0;
  std::string example;    ///< the first one's name
  std::size_t shard = 0;  ///< the shard of the member
};

/// Whether `open` makes fields of members with this extension: images, labels, arrays.
[[nodiscard]] bool is_usual_tar_extension(std::string_view extension) noexcept;

/// Counts members that belong to no field, by extension. Extensions known to `open` are counted
/// each by itself; if there are more than 32 others, they are counted together, as "…".
class tar_leavings {
 public:
  void add(const tar_left_out& more);
  /// In order of extension.
  [[nodiscard]] const std::map<std::string, tar_left_out>& all() const noexcept { return all_; }

 private:
  std::map<std::string, tar_left_out> all_;
};

/// The samples of one shard: for each, where the members of its fields lie.
struct tar_index {
  std::size_t field_count = 0;
  std::vector<tar_place> all_places = {};  ///< the first sample's, then the second's
  std::string all_keys = {};
  std::vector<std::size_t> key_ends = {};
  std::uint64_t skipped = 0;        ///< samples left out for want of a member
  std::uint64_t payload_bytes = 0;  ///< bytes of all members of samples
  std::string first_names = {};     ///< first names of members, for the error about a shard without
                                    ///< samples
  tar_leavings left_out = {};
  /// Samples without any field, of which a member would be one if its name were split at the last
  /// dot.
  std::uint64_t dotted = 0;
  std::string dotted_example = {};  ///< such a member's name

  [[nodiscard]] std::uint64_t size() const noexcept { return key_ends.size(); }
  [[nodiscard]] std::span<const tar_place> places(std::uint64_t sample) const noexcept {
    return std::span{all_places}.subspan(static_cast<std::size_t>(sample) * field_count,
                                         field_count);
  }
  [[nodiscard]] std::string_view key(std::uint64_t sample) const noexcept {
    const std::size_t begin = sample == 0 ? 0 : key_ends[sample - 1];
    return std::string_view{all_keys}.substr(begin, key_ends[sample] - begin);
  }
};

/// The next member of a walk over a shard; nothing at its end.
using next_tar_member = std::function<std::optional<tar_member>()>;

/// Walks over a shard. @param path Names it in errors.
/// @throws dataset_error: see `open_tar`; a shard without samples is no error.
[[nodiscard]] tar_index index_members(const next_tar_member& next, const std::string& path,
                                      std::span<const tar_field> fields, bool skip_incomplete);

/// Extensions as a message lists them: ".jpg, .png".
[[nodiscard]] std::string dotted_list(const std::vector<std::string>& extensions);

}  // namespace feedline::detail
