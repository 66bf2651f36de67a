#pragma once

#include "hdf5/filter/undo.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// One step of a dataset's filter pipeline, as its creation properties give it.
struct hdf5_filter {
  int id = 0;
  std::string name = {};
  std::vector<unsigned> values = {};  ///< "client data"
};

/// A filter pipeline undone by feedline itself, with no HDF5 lock. Constant; any number of threads,
/// each with a decoder of its own. Knows nothing of the HDF5 library.
class hdf5_filters {
 public:
  /// @param pipeline In the order in which a writer applied them; may be empty.
  explicit hdf5_filters(std::vector<hdf5_filter> pipeline);

  /// Why this pipeline cannot be undone here, naming the filter ("filter 307 (bzip2) is not one
  /// that feedline decodes"); empty if it can.
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }
  [[nodiscard]] const std::vector<hdf5_filter>& pipeline() const noexcept { return pipeline_; }
  [[nodiscard]] bool empty() const noexcept { return pipeline_.empty(); }
  /// Whether a chunk's filter mask says that none of them was applied.
  [[nodiscard]] bool skips_all(std::uint32_t mask) const noexcept;
  /// Whether it has a checksum (fletcher32).
  [[nodiscard]] bool has_checksum() const noexcept;
  /// "shuffle, deflate".
  [[nodiscard]] std::string describe() const;

  /// Undoes the filters, the last first, but those that `mask` says were left out.
  /// @param verify Whether checksums are compared, which is slow.
  /// @param out    As many bytes as the chunk has; all are written.
  /// @throws hdf5_filter_error if the bytes do not decode to exactly these, naming the filter.
  void decode(std::span<const std::byte> stored, std::uint32_t mask, bool verify,
              hdf5_decoder& with, std::span<std::byte> out) const;

 private:
  std::vector<hdf5_filter> pipeline_;
  std::vector<hdf5_undo> undos_;  // of the pipeline's filters
  std::string refusal_;
};

}  // namespace feedline::detail
