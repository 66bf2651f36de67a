#include "formats/zarr/encoded_rows.hpp"

#include <feedline/error.hpp>

#include "formats/zarr/blocks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

constexpr std::size_t crc_bytes = 4;
constexpr std::size_t lz4_size_bytes = 4;     // before numcodecs' block
constexpr std::size_t lz4_header_bytes = 16;  // before one block in the form of HDF5's filter

/// Frames of other compressors are decoded by readers.
block_step blosc_step(std::string_view compressor) {
  if (compressor == "lz4" || compressor == "lz4hc") return {block_filter::blosc_lz4};
  if (compressor == "zstd") return {block_filter::blosc_zstd};
  if (compressor == "zlib") return {block_filter::blosc_zlib};
  return {};
}

block_step step_of(const zarr_codec& codec) {
  switch (codec.kind) {
    case zarr_codec_kind::zlib:
      return {block_filter::deflate};
    case zarr_codec_kind::gzip:
      return {block_filter::gzip};
    case zarr_codec_kind::zstd:
      return {block_filter::zstd};
    case zarr_codec_kind::blosc:
      return blosc_step(codec.compressor);
    case zarr_codec_kind::lz4_blocks:
      return {block_filter::lz4};
    case zarr_codec_kind::shuffle:
      return {block_filter::byte_shuffle, codec.element_bytes};
    case zarr_codec_kind::fletcher32:
      return {block_filter::fletcher32};
    default:
      return {};
  }
}

/// Writes a number, the most significant byte first.
void put_big_endian(std::uint64_t number, std::span<std::byte> out) {
  for (std::size_t i = out.size(); i-- > 0; number >>= 8U) out[i] = static_cast<std::byte>(number);
}

/// The codecs in the form that devices decode: checksums at the end are compared as bytes are read,
/// and a block of LZ4 is framed as by HDF5's filter.
std::vector<zarr_codec> for_devices(std::vector<zarr_codec> codecs) {
  while (!codecs.empty() && codecs.back().kind == zarr_codec_kind::crc32c) codecs.pop_back();
  if (!codecs.empty() && codecs.back().kind == zarr_codec_kind::lz4)
    codecs.back().kind = zarr_codec_kind::lz4_blocks;
  return codecs;
}

class zarr_encoded_rows final : public encoded_rows {
 public:
  zarr_encoded_rows(std::shared_ptr<const zarr_chunks> chunks, bool tiles)
      : chunks_{chunks},
        blocks_{std::move(chunks), tiles},
        codecs_{for_devices(chunks_->array().codecs.list())},
        sums_{chunks_->array().codecs.list().size() - codecs_.list().size()},
        is_lz4_{!codecs_.empty() && codecs_.list().back().kind == zarr_codec_kind::lz4_blocks} {
    for (const zarr_codec& codec : codecs_.list()) steps_.push_back(step_of(codec));
    if (steps_.empty()) return;
    all_steps_ = std::numeric_limits<std::uint32_t>::max() >> (32 - steps_.size());
    for (std::uint64_t block = 0; block < chunks_->size(); ++block)
      max_stored_bytes_ = std::max(max_stored_bytes_, stored(block).bytes);
  }

  std::uint64_t rows_per_block() const noexcept override { return blocks_.rows_per_block(); }
  std::span<const block_step> steps() const noexcept override { return steps_; }
  std::size_t max_stored_bytes() const noexcept override { return max_stored_bytes_; }

  encoded_blocks::stored_block stored(std::uint64_t block) const noexcept override {
    if (!is_stored(block)) return {.bytes = blocks_.chunk_value_bytes(), .skipped = all_steps_};
    return {.bytes = static_cast<std::size_t>(chunks_->stored_bytes(block)) - sums_ * crc_bytes -
                     (is_lz4_ ? lz4_size_bytes : 0) + (is_lz4_ ? lz4_header_bytes : 0)};
  }

  void read(std::uint64_t block, std::span<std::byte> out) const override {
    if (!is_stored(block)) return blocks_.read(block, out);
    if (sums_ == 0 && !is_lz4_) return blocks_.read_stored(block, out);
    thread_local std::vector<std::byte> bytes;  // kept, to avoid allocation
    blocks_.read_stored(block, bytes);
    std::span<const std::byte> stored{bytes};
    try {
      for (std::size_t i = 0; i < sums_; ++i) stored = without_crc32c(stored);
      if (is_lz4_) return frame(stored, out);
    } catch (const hdf5_filter_error& failure) {
      throw dataset_error{{.path = chunks_->store().path_of(chunks_->key_of(block)),
                           .field = chunks_->array().path,
                           .sample = block * rows_per_block()},
                          chunks_->describe(block) + ": does not decode: " + failure.what() +
                              "; copy it again, or write the array again"};
    }
    std::memcpy(out.data(), stored.data(), out.size());
  }

  void decode(std::span<const std::byte> stored, std::uint32_t skipped,
              std::span<std::byte> out) const override {
    try {
      const zarr_codecs none{{}};
      (skipped == 0 ? codecs_ : none).decode(stored, scratch_.take()->decoder, out);
    } catch (const hdf5_filter_error& failure) {
      throw dataset_error{{.path = chunks_->store().name(), .field = chunks_->array().path},
                          "a chunk of " + std::to_string(stored.size()) +
                              " bytes does not decode: " + failure.what()};
    }
  }

 private:
  struct scratch {
    hdf5_decoder decoder;
  };

  /// A chunk that is too small for its codecs is damaged: reading it as rows tells.
  [[nodiscard]] bool is_stored(std::uint64_t block) const noexcept {
    return chunks_->is_written(block) &&
           chunks_->stored_bytes(block) > sums_ * crc_bytes + (is_lz4_ ? lz4_size_bytes : 0);
  }

  /// Writes numcodecs' size and block as one block of HDF5's filter: its total size, a block's size
  /// and a block's stored size, then the block.
  void frame(std::span<const std::byte> stored, std::span<std::byte> out) const {
    const std::size_t bytes = claimed_lz4_bytes(stored);
    const auto block = stored.subspan(lz4_size_bytes);
    put_big_endian(bytes, out.first(8));
    put_big_endian(bytes, out.subspan(8, 4));
    put_big_endian(block.size(), out.subspan(12, 4));
    const auto to = out.subspan(lz4_header_bytes);
    if (block.size() == bytes)  // such a block counts as uncompressed
      decode_lz4_block(block, to);
    else
      std::memcpy(to.data(), block.data(), block.size());
  }

  const std::shared_ptr<const zarr_chunks> chunks_;
  const zarr_blocks blocks_;
  const zarr_codecs codecs_;
  const std::size_t sums_;  ///< checksums at the end
  const bool is_lz4_;
  std::uint32_t all_steps_ = 0;
  std::vector<block_step> steps_ = {};
  std::size_t max_stored_bytes_ = 0;
  mutable scratch_pool<scratch> scratch_{[] { return std::make_unique<scratch>(); }};
};

}  // namespace

std::string why_not_encoded(const zarr_array& array, bool are_listed, bool tiles) {
  if (!are_listed) return "the store has no lists of its objects";
  if (!tiles && !std::equal(array.shape.begin() + 1, array.shape.end(), array.chunk.begin() + 1))
    return "chunks split rows";
  if (!std::ranges::is_sorted(array.order)) return "chunks are transposed";
  if (array.swapped_bytes != 1) return "the byte order is not the machine's";
  if (for_devices(array.codecs.list()).empty()) return "chunks have no codec that a device undoes";
  return {};
}

std::string decoding_of(const zarr_array& array, bool are_listed) {
  if (array.codecs.empty()) return {};
  std::string why = why_not_encoded(array, are_listed);
  for (const zarr_codec& codec : for_devices(array.codecs.list()))
    if (why.empty() && step_of(codec).filter == block_filter::other)
      why = "no device undoes the codec " + codec.name +
            (codec.compressor.empty() ? "" : " with " + codec.compressor);
  return why.empty() ? "readers or devices" : "readers alone: " + why;
}

std::shared_ptr<const encoded_rows> make_zarr_encoded_rows(
    std::shared_ptr<const zarr_chunks> chunks, bool tiles) {
  if (!why_not_encoded(chunks->array(), chunks->are_known(), tiles).empty()) return nullptr;
  return std::make_shared<const zarr_encoded_rows>(std::move(chunks), tiles);
}

}  // namespace feedline::detail
