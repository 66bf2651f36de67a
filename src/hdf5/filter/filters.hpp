#pragma once

#include "hdf5/filter/undo.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// One step of a dataset's filter pipeline, from its creation properties.
struct hdf5_filter {
  int id = 0;
  std::string name = {};
  std::vector<unsigned> values = {};  ///< "client data"
};

/// A filter pipeline that feedline itself undoes, without the HDF5 lock. Immutable; any number of
/// threads may use it, each with its own decoder. Does not use the HDF5 library.
class hdf5_filters {
 public:
  /// @param pipeline Filters in the order in which a writer applied them; may be empty.
  explicit hdf5_filters(std::vector<hdf5_filter> pipeline);

  /// The reason why feedline cannot undo this pipeline, with the filter's name ("filter 307 (bzip2)
  /// is not one that feedline decodes"); empty if it can.
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }
  [[nodiscard]] const std::vector<hdf5_filter>& pipeline() const noexcept { return pipeline_; }
  [[nodiscard]] bool empty() const noexcept { return pipeline_.empty(); }
  /// Whether a chunk's filter mask says that no filter was applied.
  [[nodiscard]] bool skips_all(std::uint32_t mask) const noexcept;
  /// Whether a filter of it is a checksum (fletcher32).
  [[nodiscard]] bool has_checksum() const noexcept;
  /// "shuffle, deflate".
  [[nodiscard]] std::string describe() const;

  /// Undoes the filters, from the last to the first, except those that `mask` says were left out.
  /// @param verify Whether checksums are compared, which is slow.
  /// @param out Memory of exactly the chunk's size; all of it is written.
  /// @throws hdf5_filter_error, with the filter's name, if the bytes do not decode to exactly this
  ///   size.
  void decode(std::span<const std::byte> stored, std::uint32_t mask, bool verify,
              hdf5_decoder& with, std::span<std::byte> out) const;

 private:
  std::vector<hdf5_filter> pipeline_;
  std::vector<hdf5_undo> undos_;  // one for each filter of the pipeline
  std::string refusal_;
};

}  // namespace feedline::detail
