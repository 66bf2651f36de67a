#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace feedline::detail {

/// Bytes that grow to the largest size requested. Their contents are lost when they grow.
class growing_bytes {
 public:
  [[nodiscard]] std::span<std::byte> take(std::size_t bytes) {
    if (bytes > capacity_) {
      bytes_ = nullptr;  // freed first, so that both do not exist at once
      capacity_ = 0;
      bytes_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      capacity_ = bytes;
    }
    return {bytes_.get(), bytes};
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t capacity_ = 0;
};

/// A decoder of another library, owned by the filter that made it.
using foreign_decoder = std::unique_ptr<void, void (*)(void*)>;

/// One thread's memory and decoders. The memory grows to what is needed and is reused.
struct hdf5_decoder {
  growing_bytes between[2];  ///< output of one filter and input of the next one, alternately
  growing_bytes block;       ///< a block, decompressed but not yet in order
  growing_bytes planes;      ///< a block, partly in order
  foreign_decoder libdeflate{nullptr, nullptr};
  foreign_decoder zlib{nullptr, nullptr};
  foreign_decoder zstd{nullptr, nullptr};
};

/// A chunk that does not decode. The message says what is wrong with its bytes.
class hdf5_filter_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How a filter changes the number of bytes.
enum class hdf5_size_effect {
  none,         ///< the same number comes out
  checksum,     ///< four are appended
  compression,  ///< usually fewer come out; more if the data is incompressible
};

/// Undoes one filter.
/// @param values Client data of the filter. @param out Room for the most bytes that may come out.
/// @return Number of bytes that came out.
/// @throws hdf5_filter_error that says what is wrong, without the filter's name.
using hdf5_undo_function = std::size_t(std::span<const unsigned> values,
                                       std::span<const std::byte> stored, std::span<std::byte> out,
                                       hdf5_decoder& with);

/// How a filter with certain client data is undone.
struct hdf5_undo {
  hdf5_size_effect effect = hdf5_size_effect::none;
  hdf5_undo_function* function = nullptr;  ///< null: the bytes are left unchanged
  std::string refusal = {};  ///< why it cannot be undone, to follow the filter's name; or empty
};

/// Checks a filter's client data, and says how it is undone.
using hdf5_undo_maker = hdf5_undo(std::span<const unsigned> values);

/// For filters that cannot always be undone, or do not compress; each is in the file of its name.
/// Those that need another library exist if that was present when feedline was built.
hdf5_undo_maker undo_of_bitshuffle, undo_of_blosc2, undo_of_fletcher32, undo_of_lzo,
    undo_of_scaleoffset, undo_of_shuffle, undo_of_szip, undo_of_zfp;
/// For the other filters: they are undone whatever their client data is.
hdf5_undo_function undo_blosc, undo_bzip2, undo_deflate, undo_lz4, undo_lzf, undo_zstd;

/// Decompresses a gzip file of one member, which HDF5 does not have, but Zarr. @return Like
/// `undo_deflate`. @throws hdf5_filter_error
std::size_t undo_gzip(std::span<const std::byte> stored, std::span<std::byte> out,
                      hdf5_decoder& scratch);

/// Decompresses one LZ4 block, which must fill `out`. Exists if liblz4 was present.
/// @throws hdf5_filter_error if it does not.
void undo_lz4_block(std::span<const std::byte> stored, std::span<std::byte> out);

/// Compares the checksum in the last four bytes with the bytes before it.
/// @param stored At least four bytes. @throws hdf5_filter_error if they differ.
void check_fletcher32(std::span<const std::byte> stored);

/// The error of decoders if more than `limit` bytes would come out.
[[noreturn]] void fail_for_more_than(std::size_t limit);
/// The same, if the stored bytes themselves say so.
[[noreturn]] void fail_for_claim(std::uint64_t claimed, std::size_t limit);
/// The error of decoders if a stream of `stored` bytes ends too early.
[[noreturn]] void fail_for_early_end(std::size_t stored, std::size_t given);

/// The refusal for a filter whose library was absent when feedline was built.
[[nodiscard]] inline std::string without_library(std::string_view library) {
  return "needs " + std::string{library} + ", which was not there when feedline was built";
}

}  // namespace feedline::detail
