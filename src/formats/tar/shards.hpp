#pragma once

#include <feedline/formats/tar.hpp>
#include <feedline/index.hpp>

#include "formats/tar/index.hpp"
#include "io/byte_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// A sample of a shard.
struct tar_sample {
  std::size_t shard = 0;
  std::span<const tar_place> places;  ///< location of each field's member
  std::string_view key;
};

/// A shard that was walked through by the rules of `tar_rules::strict`. On a remote server a second
/// walk costs as much as the first.
struct walked_shard {
  std::string path;
  byte_file_ptr file;
  std::vector<tar_member> members;
};
/// Members that an earlier run kept spare the walk.
[[nodiscard]] walked_shard walk_shard(const std::string& path);

/// Shards and their samples, one after the other. Constant once made; any number of threads.
class tar_shards {
 public:
  /// Indexes all shards, some at a time.
  /// @param first The first shard, if it was walked through already; null: it was not.
  /// @throws dataset_error: see `open_tar`; if several shards fail, the error of the first.
  tar_shards(const std::vector<std::string>& paths, std::span<const tar_field> fields,
             const tar_options& options, const walked_shard* first = nullptr);

  [[nodiscard]] std::uint64_t samples() const noexcept { return ends_.back(); }
  [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_; }
  [[nodiscard]] std::uint64_t payload_bytes() const noexcept { return payload_bytes_; }
  [[nodiscard]] const tar_leavings& left_out() const noexcept { return left_out_; }
  /// Same as `tar_index::dotted`.
  [[nodiscard]] std::uint64_t dotted() const noexcept { return dotted_; }
  [[nodiscard]] const std::string& dotted_example() const noexcept { return dotted_example_; }
  [[nodiscard]] const byte_file& file(std::size_t number) const noexcept {
    return *shards_[number].file;
  }

  /// @param sample Less than `samples()`.
  [[nodiscard]] tar_sample find(sample_index sample) const noexcept;

  /// Whether much of the shards is not in memory, as far as a look at some of them tells.
  [[nodiscard]] bool is_cold() const noexcept;

 private:
  struct opened_shard {
    byte_file_ptr file;
    tar_index index;
  };

  [[nodiscard]] static opened_shard open_shard(const std::string& path,
                                               std::span<const tar_field> fields,
                                               const tar_options& options);
  [[nodiscard]] static opened_shard index_shard(const byte_file_ptr& file,
                                                const next_tar_member& next,
                                                std::span<const tar_field> fields,
                                                const tar_options& options);

  std::vector<opened_shard> shards_;
  std::vector<std::uint64_t> ends_;  ///< samples of all shards up to each
  std::uint64_t skipped_ = 0;
  std::uint64_t payload_bytes_ = 0;
  tar_leavings left_out_;
  std::uint64_t dotted_ = 0;
  std::string dotted_example_;
};

/// `open_tar`, and which members no field takes. @param left_out May be null.
/// @param first The first shard, if it was walked through already; null: it was not.
[[nodiscard]] dataset_ptr open_tar_fields(const std::vector<std::string>& shards,
                                          const std::vector<tar_field>& fields,
                                          const tar_options& options, tar_leavings* left_out,
                                          const walked_shard* first = nullptr);

}  // namespace feedline::detail
