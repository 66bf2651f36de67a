#include "hdf5/filter/undo.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>

#include <bzlib.h>

namespace feedline::detail {

namespace {

/// Bytes to pass to libbz2, which counts them in 32 bits, at once. Chunks of HDF5 never have more.
unsigned bzip2_piece(std::size_t bytes) noexcept {
  return static_cast<unsigned>(std::min<std::size_t>(bytes, std::numeric_limits<unsigned>::max()));
}

}  // namespace

/// One stream, like those of the command `bzip2`.
std::size_t undo_bzip2(std::span<const unsigned>, std::span<const std::byte> stored,
                       std::span<std::byte> out, hdf5_decoder&) {
  bz_stream stream{};
  if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK) throw std::bad_alloc{};
  const std::unique_ptr<bz_stream, int (*)(bz_stream*)> ended{&stream, BZ2_bzDecompressEnd};
  // bzlib.h does not modify its input, though its type is not const.
  stream.next_in = const_cast<char*>(reinterpret_cast<const char*>(stored.data()));
  stream.avail_in = bzip2_piece(stored.size());
  stream.next_out = reinterpret_cast<char*>(out.data());
  stream.avail_out = bzip2_piece(out.size());
  const unsigned room = stream.avail_out;
  const int result = BZ2_bzDecompress(&stream);
  const std::size_t given = room - stream.avail_out;

  if (result == BZ_STREAM_END) return given;
  if (result == BZ_MEM_ERROR) throw std::bad_alloc{};
  if (result == BZ_OK && stream.avail_in > 0) fail_for_more_than(out.size());
  if (result == BZ_OK) fail_for_early_end(stored.size(), given);
  throw hdf5_filter_error{"the stream is damaged: libbz2 reports error " + std::to_string(result)};
}

}  // namespace feedline::detail
