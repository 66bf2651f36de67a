#pragma once

#include "hdf5/format/chunk_map.hpp"
#include "hdf5/library/column.hpp"
#include "hdf5/library/direct.hpp"
#include "hdf5/rows/rows.hpp"
#include "hdf5/rows/siblings.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// A field that was found in a file, and the way its rows will take.
struct hdf5_found {
  std::string name;  ///< of the dataset within the file
  field spec;
  std::uint64_t samples = 0;
  std::size_t row_bytes = 0;
  hdf5_direct storage;
  random_file_ptr file = nullptr;                          ///< where feedline reads it itself
  std::shared_ptr<const hdf5_chunk_map> chunks = nullptr;  ///< where it does, and they are chunked
  std::shared_ptr<hdf5_siblings> siblings = nullptr;       ///< of a member of records, likewise
  std::optional<hdf5_column> column = std::nullopt;        ///< where the library reads it

  /// Bytes that are decoded as one and are worth keeping; 0 where rows are read one by one.
  [[nodiscard]] std::size_t block_bytes() const;
};

/// What fields that are opened together have in common: files, and what belongs to one dataset of records.
/// It ends within a session.
struct hdf5_common {
  struct dataset {
    std::shared_ptr<const hdf5_chunk_map> chunks = nullptr;
    std::shared_ptr<hdf5_siblings> members = nullptr;
  };

  hdf5_raw_files files = {};
  std::map<std::pair<random_file_ptr, std::uint64_t>, dataset> datasets =
      {};  ///< by the file and the dataset's object header
  std::map<std::string, hdf5_opened_ptr> opened =
      {};  ///< datasets, by their paths as they were chosen
};

/// Finds the file and the chunks of a dataset that feedline may read itself, or says in its storage's
/// refusal why it may not after all. @throws hdf5_error
void find_file_and_chunks(const hdf5_session& hdf5, hid_t dataset, hdf5_common& common,
                          hdf5_found& found);

/// Finds a field and its chunks. @throws hdf5_error
[[nodiscard]] hdf5_found find_field(const hdf5_session& hdf5, const hdf5_file& file,
                                    hdf5_common& common, const hdf5_field& chosen);

/// @param cache_bytes What its blocks may take, where it has any.
/// Not within a session.
[[nodiscard]] std::unique_ptr<const hdf5_rows> open_rows(hdf5_found found, std::size_t cache_bytes);

}  // namespace feedline::detail
