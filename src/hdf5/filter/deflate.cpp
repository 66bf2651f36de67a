#include "hdf5/filter/undo.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#ifdef FEEDLINE_HAS_LIBDEFLATE
#include <libdeflate.h>
#endif

namespace feedline::detail {

namespace {

/// Frame around a deflate stream, in zlib's way: added to the bits of the window.
constexpr int zlib_frame = MAX_WBITS;
constexpr int gzip_frame = MAX_WBITS + 16;

z_stream& zlib_stream(hdf5_decoder& scratch, int frame) {
  if (scratch.zlib == nullptr) {
    auto stream = std::make_unique<z_stream>();
    if (inflateInit(stream.get()) != Z_OK) throw std::bad_alloc{};
    scratch.zlib = {stream.release(), [](void* made) {
                      auto* const ended = static_cast<z_stream*>(made);
                      inflateEnd(ended);
                      delete ended;
                    }};
  }
  auto& stream = *static_cast<z_stream*>(scratch.zlib.get());
  inflateReset2(&stream, frame);
  return stream;
}

/// Bytes to pass to zlib, which counts them in 32 bits, at once. Chunks of HDF5 never have more.
uInt deflate_piece(std::size_t bytes) noexcept {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

std::size_t undo_by_zlib(std::span<const std::byte> stored, std::span<std::byte> out,
                         hdf5_decoder& scratch, int frame = zlib_frame) {
  z_stream& stream = zlib_stream(scratch, frame);
  std::byte nowhere{};  // zlib wants an address even if it may write nothing
  // zlib.h does not modify its input, though its type is not const.
  const std::byte* const from = stored.empty() ? &nowhere : stored.data();
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(from));
  stream.avail_in = deflate_piece(stored.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.empty() ? &nowhere : out.data());
  stream.avail_out = deflate_piece(out.size());
  const int result = inflate(&stream, Z_FINISH);
  if (result == Z_STREAM_END) return stream.total_out;
  if (result == Z_MEM_ERROR) throw std::bad_alloc{};
  if (result == Z_NEED_DICT)
    throw hdf5_filter_error{"the stream wants a dictionary, which HDF5 files do not have"};
  if (result == Z_BUF_ERROR && stream.avail_in > 0) fail_for_more_than(out.size());
  if (result == Z_BUF_ERROR) fail_for_early_end(stored.size(), stream.total_out);
  throw hdf5_filter_error{std::string{"the stream is damaged: "} +
                          (stream.msg != nullptr ? stream.msg : zError(result))};
}

#ifdef FEEDLINE_HAS_LIBDEFLATE

libdeflate_decompressor* libdeflate(hdf5_decoder& scratch) {
  if (scratch.libdeflate == nullptr) {
    scratch.libdeflate = {
        libdeflate_alloc_decompressor(), [](void* made) {
          libdeflate_free_decompressor(static_cast<libdeflate_decompressor*>(made));
        }};
    if (scratch.libdeflate == nullptr) throw std::bad_alloc{};
  }
  return static_cast<libdeflate_decompressor*>(scratch.libdeflate.get());
}

#endif

}  // namespace

std::size_t undo_deflate(std::span<const unsigned>, std::span<const std::byte> stored,
                         std::span<std::byte> out, hdf5_decoder& scratch) {
#ifdef FEEDLINE_HAS_LIBDEFLATE
  // libdeflate is three times as fast as zlib. If it refuses a stream, zlib may accept it, or else
  // gives the reason.
  std::size_t given = 0;
  const auto result = libdeflate_zlib_decompress(libdeflate(scratch), stored.data(), stored.size(),
                                                 out.data(), out.size(), &given);
  if (result == LIBDEFLATE_SUCCESS) return given;
#endif
  return undo_by_zlib(stored, out, scratch);
}

std::size_t undo_gzip(std::span<const std::byte> stored, std::span<std::byte> out,
                      hdf5_decoder& scratch) {
#ifdef FEEDLINE_HAS_LIBDEFLATE
  std::size_t given = 0;
  const auto result = libdeflate_gzip_decompress(libdeflate(scratch), stored.data(), stored.size(),
                                                 out.data(), out.size(), &given);
  if (result == LIBDEFLATE_SUCCESS) return given;
#endif
  return undo_by_zlib(stored, out, scratch, gzip_frame);
}

}  // namespace feedline::detail
