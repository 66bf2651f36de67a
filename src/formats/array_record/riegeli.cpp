#include "formats/array_record/riegeli.hpp"

#include <feedline/error.hpp>

#include "detail/byte_order.hpp"
#include "detail/checksums/highway_hash.hpp"
#include "formats/columns/packed_shards.hpp"
#include "formats/tfrecord/wire.hpp"
#include "io/file_magic.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {
namespace {

using byte_span = std::span<const std::byte>;

constexpr std::uint64_t block_header_bytes = 24;
constexpr std::uint64_t block_content_bytes = riegeli_block_bytes - block_header_bytes;
constexpr std::size_t chunk_header_bytes = 40;

// "Riegeli/records\n", twice.
constexpr highway_key riegeli_key{0x2f696c6567656952, 0x0a7364726f636572, 0x2f696c6567656952,
                                  0x0a7364726f636572};

bool has_hash(byte_span bytes, byte_span hash) noexcept {
  return highway_hash(riegeli_key, bytes) == little_endian(hash);
}

std::uint64_t word_at(byte_span bytes, std::size_t word) noexcept {
  return little_endian(bytes.subspan(8 * word, 8));
}

dataset_error damaged(const std::string& what) {
  return {{}, "the chunk is damaged: " + what + "; get the file again"};
}

/// The end of a chunk in its file, with the headers of blocks and the padding.
std::uint64_t end_of_chunk(std::uint64_t begin, std::uint64_t bytes, std::uint64_t records) {
  const std::uint64_t headers =
      (bytes + (begin + block_content_bytes - 1) % riegeli_block_bytes) / block_content_bytes;
  const std::uint64_t padded = begin + records;
  const std::uint64_t left =
      (riegeli_block_bytes - padded % riegeli_block_bytes) % riegeli_block_bytes;  // in the block
  const std::uint64_t more = left < block_content_bytes ? 0 : left - block_content_bytes + 1;
  return std::max(begin + bytes + headers * block_header_bytes, padded + more);
}

/// Moves the content of a chunk together, over the headers of blocks, which are checked.
class block_remover {
 public:
  block_remover(std::span<std::byte> stored, std::uint64_t begin) : bytes_{stored}, begin_{begin} {}

  /// The next bytes of the chunk. @param bytes At most the size of the stored ones.
  std::span<std::byte> take(std::size_t bytes) {
    const std::size_t first = out_;
    for (const std::size_t end = out_ + bytes; out_ != end;) {
      if ((begin_ + in_) % riegeli_block_bytes == 0) take_header();
      const std::uint64_t in_block = riegeli_block_bytes - (begin_ + in_) % riegeli_block_bytes;
      const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(in_block, end - out_));
      require(some);
      if (in_ != out_) std::copy_n(bytes_.begin() + diff(in_), some, bytes_.begin() + diff(out_));
      in_ += some;
      out_ += some;
    }
    return bytes_.subspan(first, bytes);
  }

  /// @throws dataset_error if a block's header says that the chunk ends elsewhere.
  void require_end(std::uint64_t end) const {
    if (told_end_ && *told_end_ != end) throw disagrees();
  }

 private:
  static std::ptrdiff_t diff(std::size_t at) { return static_cast<std::ptrdiff_t>(at); }
  static dataset_error disagrees() {
    return damaged("the header of a block within it is of another chunk");
  }

  void require(std::size_t bytes) const {
    if (bytes > bytes_.size() - in_) throw damaged("it is cut short");
  }

  void take_header() {
    require(block_header_bytes);
    const byte_span header = bytes_.subspan(in_, block_header_bytes);
    if (!has_hash(header.subspan(8), header.first(8)))
      throw damaged("the hash of the header of a block within it is wrong");
    const std::uint64_t block = begin_ + in_;
    const std::uint64_t end = block + word_at(header, 2);
    if (word_at(header, 1) != in_ || (told_end_ && *told_end_ != end)) throw disagrees();
    told_end_ = end;
    in_ += block_header_bytes;
  }

  std::span<std::byte> bytes_;
  std::uint64_t begin_;
  std::size_t in_ = 0;
  std::size_t out_ = 0;
  std::optional<std::uint64_t> told_end_;
};

shard_codec codec_of(std::byte kind) {
  const std::string write_again = "; write the records again with ArrayRecordWriter(path, 'zstd')";
  switch (std::to_integer<char>(kind)) {
    case 0:
      return shard_codec::none;
    case 'z':
      return find_shard_codec("zstd");
    case 'b':
      throw dataset_error{
          {}, "the records are compressed by Brotli, which feedline does not undo" + write_again};
    case 's':
      throw dataset_error{
          {}, "the records are compressed by Snappy, which feedline does not undo" + write_again};
    default:
      throw damaged("its records are compressed in a way that is not known (" +
                    std::to_string(std::to_integer<unsigned>(kind)) + ')');
  }
}

/// Compressed bytes begin with their size once they are decompressed.
std::uint64_t take_raw_size(shard_codec codec, byte_span& packed) {
  if (codec == shard_codec::none) return packed.size();
  wire_reader reader{packed};
  const std::uint64_t bytes = reader.varint();
  packed = packed.last(reader.left());
  constexpr std::uint64_t max_ratio = std::uint64_t{1} << 15;  // 4 bytes of Zstandard: 128 KiB
  if (bytes / max_ratio > packed.size())
    throw damaged(std::to_string(packed.size()) + " compressed bytes cannot become " +
                  std::to_string(bytes));
  return bytes;
}

}  // namespace

bool is_riegeli_head(byte_span head) noexcept {
  return begins_with<16>(head,
                         {0x83, 0xaf, 0x70, 0xd1, 0x0d, 0x88, 0x4a, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0});
}

riegeli_chunk take_riegeli_chunk(std::span<std::byte> stored, std::uint64_t begin) {
  block_remover content{stored, begin};
  if (stored.size() < chunk_header_bytes) throw damaged("it is cut short");
  const byte_span header = content.take(chunk_header_bytes);
  if (!has_hash(header.subspan(8), header.first(8)))
    throw damaged("the hash of its header is wrong");
  const std::uint64_t bytes = word_at(header, 1);
  const std::uint64_t hash = word_at(header, 2);
  const std::uint64_t type_and_records = word_at(header, 3);
  riegeli_chunk chunk{static_cast<std::uint8_t>(type_and_records & 0xff),
                      type_and_records >> 8,
                      word_at(header, 4),
                      {}};
  if (bytes > stored.size()) throw damaged("it is cut short");
  chunk.data = content.take(static_cast<std::size_t>(bytes));
  content.require_end(end_of_chunk(begin, chunk_header_bytes + bytes, chunk.records));
  if (highway_hash(riegeli_key, chunk.data) != hash) throw damaged("the hash of its data is wrong");
  return chunk;
}

packed_records find_records(const riegeli_chunk& of) {
  if (of.type == 't')
    throw dataset_error{{},
                        "the records are transposed, which feedline does not undo; write them "
                        "again with ArrayRecordWriter(path, 'transpose:false')"};
  if (of.type != 'r' || of.data.empty()) throw damaged("it is no chunk of records");
  const shard_codec codec = codec_of(of.data.front());
  wire_reader reader{of.data.subspan(1)};
  const std::uint64_t size_bytes = reader.varint();
  if (size_bytes > reader.left()) throw damaged("the sizes of its records are cut short");
  const byte_span rest = of.data.last(reader.left());
  packed_records found{.codec = codec,
                       .records = of.records,
                       .raw_bytes = of.raw_bytes,
                       .raw_size_bytes = 0,
                       .sizes = rest.first(static_cast<std::size_t>(size_bytes)),
                       .values = rest.subspan(static_cast<std::size_t>(size_bytes))};
  found.raw_size_bytes = take_raw_size(codec, found.sizes);
  if (take_raw_size(codec, found.values) != of.raw_bytes)
    throw damaged("its records have another size than its header says");
  if (found.raw_size_bytes < of.records) throw damaged("it has fewer sizes than records");
  return found;
}

void unpack_record_ends(const packed_records& of, std::span<std::uint64_t> ends) {
  std::vector<std::byte> raw(static_cast<std::size_t>(of.raw_size_bytes));
  unpack_shard(of.codec, of.sizes, raw);
  wire_reader sizes{raw};
  std::uint64_t end = 0;
  for (std::uint64_t& each : ends) {
    const std::uint64_t size = sizes.varint();
    if (size > of.raw_bytes - end) throw damaged("the sizes of its records are too large");
    each = end += size;
  }
  if (!sizes.at_end() || end != of.raw_bytes)
    throw damaged("the sizes of its records are not those of its values");
}

void unpack_records(const packed_records& of, std::span<std::byte> out) {
  if (out.empty()) return;  // an empty record has a frame of Zstandard, too
  unpack_shard(of.codec, of.values, out);
}

}  // namespace feedline::detail
