#pragma once

#include <feedline/backend/assembly.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace feedline::test {

/// Where one sample of a slot comes from.
struct sample_source {
  bool arrives = false;   ///< its rows arrive in the copy destination; else they are cached
  std::uint64_t row = 0;  ///< the cached row's number, or what `arriving_rows` is asked for
  std::uint32_t cache_as = assembly::not_cached;  ///< the cached row that an arriving one becomes
  std::uint32_t random_bits = 0;
};

/// Format of a copy destination; the members are those of `assembly` with the same name.
struct destination_format {
  std::vector<std::size_t> row_bytes;  ///< one a field
  std::uint64_t batch_size = 1;
  std::uint64_t run_samples = 1;
  std::uint64_t runs_per_batch = 1;
  bool varies = false;
  bool keeps = false;
};

/// Content of a copy destination on the device.
struct destination_image {
  std::vector<std::byte> bytes;
  std::size_t sources_at = 0;
  std::size_t random_bits_at = 0;
  std::size_t directory_at = 0;

  /// Writes where things lie, and `format`, into an assembly.
  void describe(assembly& work, const destination_format& format) const;
};

/// The bytes of a row of a field that arrives; as long as the field's `row_bytes`.
using arriving_rows =
    std::function<std::span<const std::byte>(std::size_t field, std::uint64_t row)>;

/// Lays out a copy destination for the samples of a slot, in order. In each run a row arrives once,
/// however many of the run's samples ask for it, and the gaps between the parts are filled with
/// bytes that are invalid as any part.
[[nodiscard]] destination_image build_copy_destination(const destination_format& format,
                                                       std::span<const sample_source> samples,
                                                       const arriving_rows& rows);

}  // namespace feedline::test
