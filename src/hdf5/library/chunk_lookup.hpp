#pragma once

#include "hdf5/format/chunk_map.hpp"
#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"
#include "io/random_file.hpp"

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// Asks the HDF5 library where a dataset's chunks are, one at a time, in a time that does not grow
/// with their number as that of its own `H5Dget_chunk_info` does: about a microsecond each.
///
/// It opens the file once more, by a file driver of its own that reads metadata from a
/// `random_file`, and of raw data only notes what was asked for. So reading a chunk tells where the
/// library finds it, whatever its index; no byte of it is read. (HDF5 Virtual File Layer) The
/// library keeps no file that is open so together with one that is open through another driver: it
/// sees the file as it is stored.
///
/// There it opens the object of the same address: so it is the same dataset behind external links,
/// in files that were renamed, and under any user block. All calls, the destructor's included, fall
/// within a session.
class hdf5_chunk_lookup {
 public:
  /// @param dataset Chunked, and of `file`, which outlives this. Need not stay open.
  /// @param name For errors. @throws hdf5_error if the library cannot open it so.
  hdf5_chunk_lookup(const hdf5_session& hdf5, hid_t dataset, const random_file& file,
                    std::string name);
  hdf5_chunk_lookup(const hdf5_chunk_lookup&) = delete;
  hdf5_chunk_lookup& operator=(const hdf5_chunk_lookup&) = delete;
  ~hdf5_chunk_lookup() = default;

  /// @param first_element Of the chunk.
  /// @throws hdf5_error if the library cannot tell.
  [[nodiscard]] hdf5_chunk find(const hdf5_session& hdf5,
                                std::span<const std::uint64_t> first_element);

 private:
  struct open_file;
  /// For bytes of the file, absolute.
  struct request {
    std::uint64_t offset;
    std::uint64_t bytes;
  };

  [[nodiscard]] static H5FD_class_t describe_driver();
  /// Throws what a read threw since the last call, for the library passes on no exceptions.
  void rethrow();

  const random_file& file_;
  std::string name_;
  std::optional<request> asked_ = {};  ///< raw data since the last look
  std::exception_ptr failure_ = {};
  hdf5_handle<H5FDunregister> driver_ = {};  // outlives the file
  hdf5_file_id opened_ = {};
  hdf5_dataset_id dataset_ = {};
  std::vector<hsize_t> offset_ = {};
  bool is_unwritten_ = false;  ///< no chunk of the dataset was ever written
};

}  // namespace feedline::detail
