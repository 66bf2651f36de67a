#pragma once

#include <feedline/device/assembly.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace feedline::test {

/// Where one sample of a slot comes from.
struct sample_source {
  bool arrives = false;   ///< its rows travel in the inlet; else they are kept
  std::uint64_t row = 0;  ///< the kept row's number, or what `arriving_rows` is asked for
  std::uint32_t keep_as = assembly::not_kept;  ///< the kept row that an arriving one becomes
  std::uint32_t variation = 0;
};

/// What an inlet is laid out for; as the members of `assembly` of the same name.
struct inlet_format {
  std::vector<std::size_t> row_bytes;  ///< one a field
  std::uint64_t batch_size = 1;
  std::uint64_t run_samples = 1;
  std::uint64_t runs_per_batch = 1;
  bool varies = false;
  bool keeps = false;
};

/// What a device finds in its inlet.
struct inlet_image {
  std::vector<std::byte> bytes;
  std::size_t sources_at = 0;
  std::size_t variations_at = 0;
  std::size_t directory_at = 0;

  /// Writes where things lie, and `format`, into an assembly.
  void describe(assembly& work, const inlet_format& format) const;
};

/// The bytes of a row of a field that arrives; as long as the field's `row_bytes`.
using arriving_rows =
    std::function<std::span<const std::byte>(std::size_t field, std::uint64_t row)>;

/// Lays out an inlet for the samples of a slot, in order. In each run a row arrives once, however
/// many of the run's samples ask for it, and what lies between the parts is filled with bytes that
/// no reader of them could take for anything.
[[nodiscard]] inlet_image build_inlet(const inlet_format& format,
                                      std::span<const sample_source> samples,
                                      const arriving_rows& rows);

}  // namespace feedline::test
