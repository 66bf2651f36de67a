#pragma once

#include "hdf5/format/metadata.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// What messages of an object header are about: those a chunk index is found by, or hidden by.
enum class hdf5_message_type : std::uint8_t {
  dataspace = 0x01,
  layout = 0x08,
  filter_pipeline = 0x0B,
  continuation = 0x10,
  cache_image = 0x18,
};

/// One message of an object header, with its own copy of its bytes.
struct hdf5_message {
  hdf5_message_type type;
  bool is_shared;  ///< the bytes tell where the message is, not what it says
  std::uint64_t offset;
  std::vector<std::byte> bytes;

  [[nodiscard]] hdf5_cursor cursor() const noexcept { return {bytes, offset}; }
};

/// The messages of these types, but continuations, of an object header of version 1 or 2, its
/// continuation blocks included. (HDF5 File Format Specification 3.0, IV.A)
/// @throws hdf5_metadata_error
[[nodiscard]] std::vector<hdf5_message> read_hdf5_messages(hdf5_metadata& metadata,
                                                           std::uint64_t header);

/// Whether the writer left what it had in its cache in one block, and the places where it belongs as they
/// were. (H5Pset_mdc_image_config) @throws hdf5_metadata_error
[[nodiscard]] bool has_cache_image(hdf5_metadata& metadata);

/// @throws hdf5_metadata_error also if it did.
void require_no_cache_image(hdf5_metadata& metadata);

}  // namespace feedline::detail
