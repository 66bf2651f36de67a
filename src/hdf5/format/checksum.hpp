#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// The checksum of HDF5's newer structures: Bob Jenkins' lookup3 ("hashlittle"), from 0.
/// (HDF5 File Format Specification 3.0, "Computing checksums"; http://burtleburtle.net/bob/c/lookup3.c)
[[nodiscard]] std::uint32_t hdf5_checksum(std::span<const std::byte> bytes) noexcept;

}  // namespace feedline::detail
