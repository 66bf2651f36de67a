#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace feedline::detail {

/// Bytes that grow to the most ever asked for. What they hold is lost when they grow.
class growing_bytes {
 public:
  [[nodiscard]] std::span<std::byte> take(std::size_t bytes) {
    if (bytes > capacity_) {
      bytes_ = nullptr;  // before more is asked for, so that there are never two
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

/// A decoder of another library, in the hands of the filter that made it.
using foreign_decoder = std::unique_ptr<void, void (*)(void*)>;

/// One thread's memory and decoders, which grow to what is needed and stay.
struct hdf5_decoder {
  growing_bytes between[2];  ///< what one filter yields and the next one takes, by turns
  growing_bytes block;       ///< a block, decompressed and not yet put in order
  growing_bytes planes;      ///< a block, half put in order
  foreign_decoder libdeflate{nullptr, nullptr};
  foreign_decoder zlib{nullptr, nullptr};
  foreign_decoder zstd{nullptr, nullptr};
};

/// A chunk that does not decode: what is wrong with its bytes.
class hdf5_filter_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a filter does to the number of bytes that it is given.
enum class hdf5_size_effect {
  none,         ///< as many come out
  checksum,     ///< four are appended
  compression,  ///< fewer, as a rule; more where nothing can be saved
};

/// Undoes one filter.
/// @param values The filter's client data. @param out Room for the most bytes that may come out.
/// @return How many came out.
/// @throws hdf5_filter_error, saying what is wrong, without the filter's name.
using hdf5_undo_function = std::size_t(std::span<const unsigned> values,
                                       std::span<const std::byte> stored, std::span<std::byte> out,
                                       hdf5_decoder& with);

/// How a filter with certain client data is undone.
struct hdf5_undo {
  hdf5_size_effect effect = hdf5_size_effect::none;
  hdf5_undo_function* function = nullptr;  ///< none: its bytes are left as they are
  std::string refusal = {};  ///< why it cannot be undone, to follow the filter's name; or empty
};

/// Checks a filter's client data, and says how it is undone.
using hdf5_undo_maker = hdf5_undo(std::span<const unsigned> values);

/// Of filters that cannot always be undone, or do not compress; each in the file of its name. Those
/// by another library are there if that was there when feedline was built.
hdf5_undo_maker undo_of_bitshuffle, undo_of_blosc2, undo_of_fletcher32, undo_of_lzo,
    undo_of_scaleoffset, undo_of_shuffle, undo_of_szip, undo_of_zfp;
/// The other filters, likewise: they are undone whatever their values are.
hdf5_undo_function undo_blosc, undo_bzip2, undo_deflate, undo_lz4, undo_lzf, undo_zstd;

/// Decompresses one block of LZ4's, which must fill `out`. There where liblz4 is.
/// @throws hdf5_filter_error if it does not.
void undo_lz4_block(std::span<const std::byte> stored, std::span<std::byte> out);

/// Compares the checksum in the last four bytes with the bytes before it.
/// @param stored At least four bytes. @throws hdf5_filter_error if they differ.
void check_fletcher32(std::span<const std::byte> stored);

/// What decoders say when more would come out than `limit` bytes.
[[noreturn]] void fail_for_more_than(std::size_t limit);
/// The same, where what was stored says so itself.
[[noreturn]] void fail_for_claim(std::uint64_t claimed, std::size_t limit);
/// What they say when a stream of `stored` bytes ends, and more was to come out.
[[noreturn]] void fail_for_early_end(std::size_t stored, std::size_t given);

/// The refusal of a filter whose library was not there when feedline was built.
[[nodiscard]] inline std::string without_library(std::string_view library) {
  return "needs " + std::string{library} + ", which was not there when feedline was built";
}

}  // namespace feedline::detail
