#pragma once

#include "hdf5/format/chunk_map.hpp"
#include "hdf5/library/library_dataset.hpp"
#include "hdf5/library/storage.hpp"
#include "hdf5/rows/member_rows.hpp"
#include "hdf5/rows/plain_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace feedline::detail {

/// A field that was found in a file, and how its rows will be read.
struct hdf5_resolved_field {
  std::string name;  ///< name of the dataset within the file
  field spec;
  std::uint64_t samples = 0;
  std::size_t row_bytes = 0;
  bool is_single = false;  ///< a single value, which is one sample
  hdf5_storage_layout storage;
  byte_file_ptr file = nullptr;                            ///< if feedline reads it itself
  hdf5_row_chunks row_chunks = nullptr;                    ///< if rows are read out of chunks
  std::shared_ptr<const hdf5_chunk_map> chunks = nullptr;  ///< if there are chunks
  std::shared_ptr<hdf5_shared_chunk_decoder> shared_decoder =
      nullptr;                           ///< the same for a member of records
  hdf5_library_column column = nullptr;  ///< if the library reads it

  [[nodiscard]] row_extent extent() const {
    return {.rows = samples, .row_bytes = row_bytes, .file = file};
  }
  /// Bytes that are decoded together and are worth caching; 0 if rows are read one by one.
  [[nodiscard]] std::size_t block_bytes() const;
};

/// Data that fields opened together share: files, and data of a dataset of records. Its destruction
/// must be within a session.
struct hdf5_open_context {
  struct dataset {
    std::shared_ptr<const hdf5_chunk_map> chunks = nullptr;
    hdf5_row_chunks row_chunks = nullptr;
    std::shared_ptr<hdf5_shared_chunk_decoder> members = nullptr;
  };

  value_conventions conventions = value_conventions::refuse;
  std::map<std::pair<byte_file_ptr, decltype(hdf5_object::key)>, dataset> datasets =
      {};  ///< key: the file and the dataset's address in it
  std::map<std::string, hdf5_opened_ptr> opened =
      {};  ///< datasets, by the paths by which they were chosen
};

/// `hdf5_options::max_host_cache_bytes`; if that is 0, a quarter of the machine's memory.
[[nodiscard]] std::size_t cache_bytes_of(const hdf5_options& options) noexcept;

/// Finds the file and the chunks of a dataset that feedline may read itself, or sets its storage's
/// refusal to the reason why it may not after all. @throws hdf5_error
void find_file_and_chunks(const hdf5_session& hdf5, hid_t dataset, hdf5_open_context& common,
                          hdf5_resolved_field& found);

/// Finds a field and its chunks. @throws hdf5_error
[[nodiscard]] hdf5_resolved_field find_field(const hdf5_session& hdf5, const hdf5_file& file,
                                             hdf5_open_context& common, const hdf5_field& chosen);

/// @param found Its column is moved to the rows.
/// @param cache_bytes Memory for its blocks, if it has any. Do not call it within a session.
[[nodiscard]] std::unique_ptr<const field_rows> open_rows(hdf5_resolved_field& found,
                                                          std::size_t cache_bytes);

}  // namespace feedline::detail
