#pragma once

#include <feedline/formats/tar.hpp>
#include <feedline/index.hpp>

#include "formats/tar/scanner.hpp"
#include "io/random_file.hpp"

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

/// The samples of one shard: for each, where the members of its fields lie.
struct tar_index {
  std::size_t field_count = 0;
  std::vector<tar_place> all_places = {};  ///< the first sample's, then the second's
  std::string all_keys = {};
  std::vector<std::size_t> key_ends = {};
  std::uint64_t skipped = 0;        ///< samples left out for want of a member
  std::uint64_t payload_bytes = 0;  ///< of all members of samples
  std::string first_names = {};     ///< of members, for the error about a shard without samples

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

/// Walks over a shard. @param path Names it in errors.
/// @throws dataset_error: see `open_tar`; a shard without samples is none.
[[nodiscard]] tar_index index_members(tar_scanner& members, const std::string& path,
                                      std::span<const tar_field> fields, bool skip_incomplete);

/// A sample of a shard.
struct tar_sample {
  std::size_t shard = 0;
  std::span<const tar_place> places;  ///< of each field's member
  std::string_view key;
};

/// Shards and their samples, one after the other. Constant once made; any number of threads.
class tar_shards {
 public:
  /// Indexes all shards, some at a time.
  /// @throws dataset_error: see `open_tar`; of several shards at fault, the first's.
  tar_shards(const std::vector<std::string>& paths, std::span<const tar_field> fields,
             const tar_options& options);

  [[nodiscard]] std::uint64_t samples() const noexcept { return ends_.back(); }
  [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_; }
  [[nodiscard]] std::uint64_t payload_bytes() const noexcept { return payload_bytes_; }
  [[nodiscard]] const random_file& file(std::size_t number) const noexcept {
    return *shards_[number].file;
  }

  /// @param sample Less than `samples()`.
  [[nodiscard]] tar_sample find(sample_index sample) const noexcept;

  /// A member's bytes: where they are mapped, or read into `memory`. Whoever uses them asks the
  /// file afterwards whether it is unchanged.
  [[nodiscard]] std::span<const std::byte> stored(std::size_t shard, tar_place place,
                                                  std::vector<std::byte>& memory) const;

  /// Whether much of the shards is not in memory, as far as a look at some of them tells.
  [[nodiscard]] bool is_cold() const noexcept;

 private:
  struct opened_shard {
    random_file_ptr file;
    tar_index index;
  };

  [[nodiscard]] static opened_shard open_shard(const std::filesystem::path& path,
                                               std::span<const tar_field> fields,
                                               const tar_options& options);

  std::vector<opened_shard> shards_;
  std::vector<std::uint64_t> ends_;  ///< samples of all shards up to each
  std::uint64_t skipped_ = 0;
  std::uint64_t payload_bytes_ = 0;
};

}  // namespace feedline::detail
