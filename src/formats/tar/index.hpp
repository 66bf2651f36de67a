#pragma once

#include <feedline/formats/tar.hpp>

#include "formats/tar/scanner.hpp"

#include <cstddef>
#include <cstdint>
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

/// The samples of one shard: for each, where the members of its fields lie. Constant once made.
class tar_index {
 public:
  /// Walks over a shard. @param path Names it in errors.
  /// @throws dataset_error: see `open_tar`; a shard without samples is none.
  tar_index(tar_scanner& members, const std::string& path, std::span<const tar_field> fields,
            bool skip_incomplete);

  [[nodiscard]] std::uint64_t size() const noexcept { return key_ends_.size(); }
  /// Samples left out for want of a member.
  [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_; }
  /// Where each field's member lies.
  [[nodiscard]] std::span<const tar_place> places(std::uint64_t sample) const noexcept {
    return std::span{places_}.subspan(static_cast<std::size_t>(sample) * field_count_,
                                      field_count_);
  }
  [[nodiscard]] std::string_view key(std::uint64_t sample) const noexcept {
    const std::size_t begin = sample == 0 ? 0 : key_ends_[sample - 1];
    return std::string_view{keys_}.substr(begin, key_ends_[sample] - begin);
  }
  /// Of all members of samples.
  [[nodiscard]] std::uint64_t payload_bytes() const noexcept { return payload_bytes_; }
  /// Names of the first members, for the error that tells of a shard without samples.
  [[nodiscard]] const std::string& first_names() const noexcept { return first_names_; }

 private:
  class grouping;

  std::size_t field_count_;
  std::vector<tar_place> places_;
  std::string keys_;                   ///< all, one behind the other
  std::vector<std::size_t> key_ends_;  ///< in `keys_`
  std::uint64_t skipped_ = 0;
  std::uint64_t payload_bytes_ = 0;
  std::string first_names_;
};

}  // namespace feedline::detail
