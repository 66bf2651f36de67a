#pragma once

#include "hdf5/format/chunk_map.hpp"
#include "hdf5/library/library_dataset.hpp"
#include "hdf5/library/storage.hpp"
#include "hdf5/rows/cached_rows.hpp"
#include "hdf5/rows/plain_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace feedline::detail {

/// A field that was found in a file, and the way its rows will take.
struct hdf5_resolved_field {
  std::string name;  ///< of the dataset within the file
  field spec;
  std::uint64_t samples = 0;
  std::size_t row_bytes = 0;
  hdf5_storage_layout storage;
  random_file_ptr file = nullptr;                          ///< where feedline reads it itself
  hdf5_row_chunks row_chunks = nullptr;                    ///< where they are read out of chunks
  std::shared_ptr<const hdf5_chunk_map> chunks = nullptr;  ///< where chunks are read whole
  std::shared_ptr<hdf5_shared_chunk_decoder> shared_decoder =
      nullptr;                                                ///< of a member of records, likewise
  std::optional<hdf5_library_dataset> column = std::nullopt;  ///< where the library reads it

  [[nodiscard]] row_extent extent() const {
    return {.rows = samples, .row_bytes = row_bytes, .file = file};
  }
  /// Bytes that are decoded as one and are worth keeping; 0 where rows are read one by one.
  [[nodiscard]] std::size_t block_bytes() const;
};

/// What fields that are opened together have in common: files, and what belongs to one dataset of
/// records. It ends within a session.
struct hdf5_open_context {
  struct dataset {
    std::shared_ptr<const hdf5_chunk_map> chunks = nullptr;
    hdf5_row_chunks row_chunks = nullptr;
    std::shared_ptr<hdf5_shared_chunk_decoder> members = nullptr;
  };

  value_conventions conventions = value_conventions::refuse;
  hdf5_raw_files files = {};
  std::map<std::pair<random_file_ptr, decltype(hdf5_object::key)>, dataset> datasets =
      {};  ///< by the file and the dataset's place in it
  std::map<std::string, hdf5_opened_ptr> opened =
      {};  ///< datasets, by their paths as they were chosen
};

/// `hdf5_options::max_host_cache_bytes`, with a quarter of the machine's memory where it is 0.
[[nodiscard]] std::size_t cache_bytes_of(const hdf5_options& options) noexcept;

/// Finds the file and the chunks of a dataset that feedline may read itself, or says in its
/// storage's refusal why it may not after all. @throws hdf5_error
void find_file_and_chunks(const hdf5_session& hdf5, hid_t dataset, hdf5_open_context& common,
                          hdf5_resolved_field& found);

/// Finds a field and its chunks. @throws hdf5_error
[[nodiscard]] hdf5_resolved_field find_field(const hdf5_session& hdf5, const hdf5_file& file,
                                             hdf5_open_context& common, const hdf5_field& chosen);

/// @param found       Its column becomes the rows'.
/// @param cache_bytes What its blocks may take, where it has any.
/// Not within a session.
[[nodiscard]] std::unique_ptr<const field_rows> open_rows(hdf5_resolved_field& found,
                                                          std::size_t cache_bytes);

}  // namespace feedline::detail
