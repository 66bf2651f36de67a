#pragma once

#include "hdf5/format/chunk_map.hpp"
#include "hdf5/library/handle.hpp"
#include "hdf5/library/lookup_driver.hpp"
#include "hdf5/library/session.hpp"
#include "io/random_file.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// Asks the HDF5 library where a dataset's chunks are, one at a time, in a time that does not grow with
/// their number as that of its own `H5Dget_chunk_info` does: about a microsecond each.
///
/// It opens the file once more, through `hdf5_lookup_driver`, and there the object of the same address: so it
/// is the same dataset behind external links, in files that were renamed, and under any user block.
/// All calls, the destructor's included, fall within a session.
class hdf5_chunk_lookup {
 public:
  /// @param dataset Chunked, and of `file`. Need not stay open. @param name For errors.
  /// @throws hdf5_error if the library cannot open it so.
  hdf5_chunk_lookup(const hdf5_session& hdf5, hid_t dataset, const random_file& file,
                    std::string name);

  /// @param first_element Of the chunk.
  /// @throws hdf5_error if the library cannot tell.
  [[nodiscard]] hdf5_chunk find(const hdf5_session& hdf5,
                                std::span<const std::uint64_t> first_element);

 private:
  hdf5_lookup_driver driver_;  // outlives the file
  std::string path_;
  std::string name_;
  hdf5_file_id file_ = {};
  hdf5_dataset_id dataset_ = {};
  std::vector<hsize_t> offset_ = {};
  bool is_unwritten_ = false;  ///< no chunk of the dataset was ever written
};

/// Where a dataset's object header is: from the end of the user block.
/// @throws hdf5_error naming the dataset, if the library does not tell.
[[nodiscard]] std::uint64_t hdf5_header_address(const hdf5_session& hdf5, hid_t dataset,
                                                const random_file& file, const std::string& name);

}  // namespace feedline::detail
