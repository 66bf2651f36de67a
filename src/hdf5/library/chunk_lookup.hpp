#pragma once

#include "hdf5/format/chunk_map.hpp"
#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"
#include "io/byte_file.hpp"

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

/// Asks the HDF5 library for the position of one chunk at a time: about a microsecond each. Unlike
/// the library's own `H5Dget_chunk_info`, the time does not grow with the number of chunks.
///
/// It opens the file once more, with its own file driver, which reads metadata from a
/// `byte_file`, and only records requests for raw data. So reading a chunk shows where the
/// library finds it, whatever its index; no byte of it is read. (HDF5 Virtual File Layer) The
/// library shares no state between this open file and one that is open through another driver: it
/// sees the stored file.
///
/// In that file it opens the object of the same address: so it is the same dataset even through
/// external links, in renamed files, and after any user block. All calls, including the destructor,
/// must be within a session.
class hdf5_chunk_lookup {
 public:
  /// @param dataset A chunked dataset of `file`, which must outlive this. The dataset may be
  ///                closed.
  /// @param name Name of the dataset, for errors. @throws hdf5_error if the library cannot open it
  ///             this way.
  hdf5_chunk_lookup(const hdf5_session& hdf5, hid_t dataset, const byte_file& file,
                    std::string name);
  hdf5_chunk_lookup(const hdf5_chunk_lookup&) = delete;
  hdf5_chunk_lookup& operator=(const hdf5_chunk_lookup&) = delete;
  ~hdf5_chunk_lookup() = default;

  /// @param first_element First element of the chunk.
  /// @throws hdf5_error if the library cannot find it.
  [[nodiscard]] hdf5_chunk find(const hdf5_session& hdf5,
                                std::span<const std::uint64_t> first_element);

 private:
  struct open_file;
  /// A request for bytes of the file, by absolute offset.
  struct request {
    std::uint64_t offset;
    std::uint64_t bytes;
  };

  [[nodiscard]] static H5FD_class_t describe_driver();
  /// Rethrows the exception of a read since the last call, because the library passes on no
  /// exceptions.
  void rethrow();

  const byte_file& file_;
  std::string name_;
  std::optional<request> asked_ = {};  ///< raw data requested since the last `find`
  std::exception_ptr failure_ = {};
  hdf5_handle<H5FDunregister> driver_ = {};  // outlives the file
  hdf5_file_id opened_ = {};
  hdf5_dataset_id dataset_ = {};
  std::vector<hsize_t> offset_ = {};
  bool is_unwritten_ = false;  ///< no chunk of the dataset was ever written
};

}  // namespace feedline::detail
