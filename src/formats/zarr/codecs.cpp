#include "formats/zarr/codecs.hpp"

#include "detail/byte_order.hpp"
#include "formats/crc32c.hpp"
#include "hdf5/filter/filters.hpp"
#include "hdf5/filter/planes.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace feedline::detail {
namespace {

constexpr std::size_t checksum_bytes = 4;

bool is_checksum(zarr_codec_kind kind) noexcept {
  return kind == zarr_codec_kind::crc32c || kind == zarr_codec_kind::fletcher32;
}

/// Whether its output has a size that follows from the input's.
bool is_typed(zarr_codec_kind kind) noexcept {
  return kind == zarr_codec_kind::delta || kind == zarr_codec_kind::fixed_scale_offset;
}

std::string bytes_of(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

/// Size of a codec's input when the chunk was written.
struct given_size {
  std::size_t bytes;
  bool exact;  ///< false: this is an upper bound
};

/// Size of its output, which is the next codec's input.
given_size after(const zarr_codec& codec, given_size given, std::size_t chunk_bytes) {
  if (is_checksum(codec.kind)) return {given.bytes + checksum_bytes, given.exact};
  if (codec.kind == zarr_codec_kind::shuffle) return given;
  if (is_typed(codec.kind))
    return {given.bytes / size_bytes(codec.to) * size_bytes(codec.stored), given.exact};
  // Incompressible data grows: threefold at worst, in Zstandard frames of eight bytes each.
  return {std::max(given.bytes, 4 * chunk_bytes + 4096), false};
}

void require_size(std::size_t is, given_size wanted) {
  if (wanted.exact ? is != wanted.bytes : is > wanted.bytes)
    throw hdf5_filter_error{"yields " + bytes_of(is) + " where " +
                            (wanted.exact ? "" : "no more than ") + bytes_of(wanted.bytes) +
                            " can be right"};
}

std::span<const std::byte> without_checksum(const zarr_codec& codec,
                                            std::span<const std::byte> data) {
  if (data.size() < checksum_bytes)
    throw hdf5_filter_error{bytes_of(data.size()) + " are too few to hold a checksum"};
  if (codec.kind == zarr_codec_kind::crc32c) return without_crc32c(data);
  check_fletcher32(data);
  return data.first(data.size() - checksum_bytes);
}

std::size_t undo_sized_lz4(std::span<const std::byte> stored, std::span<std::byte> out) {
  const std::size_t claimed = claimed_lz4_bytes(stored);
  if (claimed > out.size()) fail_for_claim(claimed, out.size());
  decode_lz4_block(stored.subspan(4), out.first(claimed));
  return claimed;
}

std::size_t undo_byte_shuffle(std::size_t size, std::span<const std::byte> stored,
                              std::span<std::byte> out) {
  if (stored.size() > out.size()) fail_for_more_than(out.size());
  const std::size_t count = stored.size() / size;
  if (size > 1)
    join_byte_planes(stored.data(), count, size, out.data());
  else
    std::memcpy(out.data(), stored.data(), stored.size());
  const auto rest = stored.subspan(count * size);
  if (size > 1 && !rest.empty()) std::memcpy(out.data() + count * size, rest.data(), rest.size());
  return stored.size();
}

/// The libraries of codecs that need one; empty: none, or it was there.
std::string missing_library(zarr_codec_kind kind) {
#ifndef FEEDLINE_HAS_ZSTD
  if (kind == zarr_codec_kind::zstd) return "libzstd";
#endif
#ifndef FEEDLINE_HAS_LZ4
  if (kind == zarr_codec_kind::lz4 || kind == zarr_codec_kind::lz4_blocks) return "liblz4";
#endif
#ifndef FEEDLINE_HAS_BLOSC
  if (kind == zarr_codec_kind::blosc) return "libblosc";
#endif
#ifndef FEEDLINE_HAS_BZIP2
  if (kind == zarr_codec_kind::bz2) return "libbz2";
#endif
  (void)kind;
  return {};
}

std::size_t undo(const zarr_codec& codec, std::span<const std::byte> stored,
                 std::span<std::byte> out, hdf5_decoder& with) {
  switch (codec.kind) {
    case zarr_codec_kind::zlib:
      return undo_deflate({}, stored, out, with);
    case zarr_codec_kind::gzip:
      return undo_gzip(stored, out, with);
#ifdef FEEDLINE_HAS_ZSTD
    case zarr_codec_kind::zstd:
      return undo_zstd({}, stored, out, with);
#endif
    case zarr_codec_kind::lz4:
      return undo_sized_lz4(stored, out);
#ifdef FEEDLINE_HAS_LZ4
    case zarr_codec_kind::lz4_blocks:
      return undo_lz4({}, stored, out, with);
#endif
#ifdef FEEDLINE_HAS_BLOSC
    case zarr_codec_kind::blosc:
      return undo_blosc({}, stored, out, with);
#endif
#ifdef FEEDLINE_HAS_BZIP2
    case zarr_codec_kind::bz2:
      return undo_bzip2({}, stored, out, with);
#endif
    case zarr_codec_kind::shuffle:
      return undo_byte_shuffle(codec.element_bytes, stored, out);
    case zarr_codec_kind::delta:
      return undo_delta(codec.to, codec.stored, stored, out);
    case zarr_codec_kind::fixed_scale_offset:
      return undo_fixed_scale_offset(codec.to, codec.stored, codec.scale, codec.offset, stored,
                                     out);
    default:
      break;
  }
  throw hdf5_filter_error{without_library(missing_library(codec.kind))};
}

}  // namespace

std::span<const std::byte> without_crc32c(std::span<const std::byte> stored) {
  if (stored.size() < checksum_bytes)
    throw hdf5_filter_error{bytes_of(stored.size()) + " are too few to hold a checksum"};
  const auto content = stored.first(stored.size() - checksum_bytes);
  if (crc32c(content) != little_endian(stored.last(checksum_bytes)))
    throw hdf5_filter_error{"the checksum does not match: the bytes are damaged"};
  return content;
}

std::size_t claimed_lz4_bytes(std::span<const std::byte> stored) {
  if (stored.size() < 4)
    throw hdf5_filter_error{bytes_of(stored.size()) + " are too few to hold a size"};
  return static_cast<std::size_t>(little_endian(stored.first(4)));
}

void decode_lz4_block(std::span<const std::byte> block, std::span<std::byte> out) {
#ifdef FEEDLINE_HAS_LZ4
  undo_lz4_block(block, out);
#else
  (void)block;
  (void)out;
  throw hdf5_filter_error{without_library("liblz4")};
#endif
}

std::string zarr_codecs::describe() const {
  std::string text;
  for (const zarr_codec& codec : codecs_) text += (text.empty() ? "" : ", ") + codec.name;
  return text;
}

std::string zarr_codecs::refusal() const {
  for (const zarr_codec& codec : codecs_)
    if (const std::string library = missing_library(codec.kind); !library.empty())
      return "the codec '" + codec.name + "' " + without_library(library);
  return {};
}

std::size_t zarr_codecs::max_stored_bytes(std::size_t bytes) const noexcept {
  given_size size{bytes, true};
  for (const zarr_codec& codec : codecs_) size = after(codec, size, bytes);
  return size.bytes;
}

void zarr_codecs::decode(std::span<const std::byte> stored, hdf5_decoder& with,
                         std::span<std::byte> out) const {
  // Follows the writer's order: the size of each codec's input, and the codec that moves bytes last
  // when all are undone.
  std::array<given_size, max_codecs> sizes{};
  std::size_t last_to_move = codecs_.size();
  given_size size{out.size(), true};
  for (std::size_t i = 0; i < codecs_.size(); ++i) {
    sizes[i] = size;
    size = after(codecs_[i], size, out.size());
    if (last_to_move == codecs_.size() && !is_checksum(codecs_[i].kind)) last_to_move = i;
  }
  std::span<const std::byte> data = stored;
  std::size_t turn = 0;
  for (std::size_t i = codecs_.size(); i-- > 0;) try {
      if (is_checksum(codecs_[i].kind)) {
        data = without_checksum(codecs_[i], data);
      } else {
        const bool is_last = i == last_to_move && sizes[i].bytes == out.size();
        const auto to = is_last ? out : with.between[turn].take(sizes[i].bytes);
        turn = 1 - turn;
        data = to.first(undo(codecs_[i], data, to, with));
      }
      require_size(data.size(), sizes[i]);
    } catch (const hdf5_filter_error& error) {
      throw hdf5_filter_error{codecs_[i].name + ": " + error.what()};
    }
  if (data.size() != out.size())
    throw hdf5_filter_error{"a chunk of " + bytes_of(out.size()) + " is stored, uncompressed, in " +
                            bytes_of(data.size())};
  if (data.data() != out.data() && !out.empty()) std::memcpy(out.data(), data.data(), out.size());
}

}  // namespace feedline::detail
