#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::test {

/// Encoders of HDF5's filters, made of the libraries that the filters use, or after the
/// description of a format that has no library. An encoder whose library is not installed throws.

using bytes_view = std::span<const std::byte>;
using bytes = std::vector<std::byte>;

#ifdef FEEDLINE_HAS_LZ4
inline constexpr bool has_lz4 = true;
#else
inline constexpr bool has_lz4 = false;
#endif
#ifdef FEEDLINE_HAS_ZSTD
inline constexpr bool has_zstd = true;
#else
inline constexpr bool has_zstd = false;
#endif
#ifdef FEEDLINE_HAS_BLOSC
inline constexpr bool has_blosc = true;
#else
inline constexpr bool has_blosc = false;
#endif
#ifdef FEEDLINE_HAS_LIBAEC
inline constexpr bool has_szip = true;
#else
inline constexpr bool has_szip = false;
#endif
#ifdef FEEDLINE_HAS_BZIP2
inline constexpr bool has_bzip2 = true;
#else
inline constexpr bool has_bzip2 = false;
#endif
#ifdef FEEDLINE_HAS_LZO
inline constexpr bool has_lzo = true;
#else
inline constexpr bool has_lzo = false;
#endif
#ifdef FEEDLINE_HAS_ZFP
inline constexpr bool has_zfp = true;
#else
inline constexpr bool has_zfp = false;
#endif
#ifdef FEEDLINE_HAS_BLOSC2
inline constexpr bool has_blosc2 = true;
#else
inline constexpr bool has_blosc2 = false;
#endif

[[nodiscard]] bytes deflated(bytes_view raw, int level = 6);
[[nodiscard]] bytes shuffled(bytes_view raw, std::size_t element);
[[nodiscard]] bytes with_fletcher32(bytes_view raw);
[[nodiscard]] bytes lzf_packed(bytes_view raw);

/// @param block Bytes.
[[nodiscard]] bytes lz4_packed(bytes_view raw, std::uint32_t block);
[[nodiscard]] bytes zstd_packed(bytes_view raw, int level = 3);
/// @param compressor Blosc's name of it. @param shuffle 0: none, 1: bytes, 2: bits.
[[nodiscard]] bytes blosc_packed(bytes_view raw, std::size_t element, const char* compressor,
                                 int shuffle);
/// @param values The filter's client data: options, pixels a block, bits a pixel, pixels a
/// scanline.
[[nodiscard]] bytes szip_packed(bytes_view raw, std::span<const unsigned> values);

/// @param block_size In 100,000 bytes: 1 to 9.
[[nodiscard]] bytes bzip2_packed(bytes_view raw, int block_size = 9);
[[nodiscard]] bytes lzo_packed(bytes_view raw);

/// A frame of Blosc 2. @param compressor Blosc 2's name of it. @param shuffle 0: none, 1: bytes, 2:
/// bits.
[[nodiscard]] bytes blosc2_packed(bytes_view raw, std::size_t element, const char* compressor,
                                  int shuffle);
/// The same of an array of two dimensions, in blocks of two. @param columns Elements of a row.
[[nodiscard]] bytes blosc2_array(bytes_view raw, std::size_t element, std::size_t columns);

enum class bit_compression : unsigned { none = 0, lz4 = 2, zstd = 3 };

/// @param block Elements, a multiple of 8; 0: the filter's choice.
[[nodiscard]] bytes bitshuffled(bytes_view raw, std::size_t element, std::size_t block,
                                bit_compression compression);

}  // namespace feedline::test
