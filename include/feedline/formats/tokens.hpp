#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Header before the tokens of a shard.
enum class token_header : std::uint8_t {
  /// Llm.c's, NumPy's or Megatron's if present; other known formats are refused.
  automatic,
  none,  ///< no header, whatever the first bytes are
};

/// Options for `open_tokens`.
struct token_options {
  std::uint64_t tokens_per_sample = 0;  ///< T: inputs of a sample, and its targets; required
  /// Distance between the first tokens of consecutive samples; 0: T.
  std::uint64_t stride = 0;
  std::optional<element_type> type = {};  ///< u16 or u32; empty: as in the shards' headers
  token_header header = token_header::automatic;
  std::endian byte_order = std::endian::little;  ///< byte order of shards without a header
};

/// Opens shards of tokens as one sequence of M tokens, in the given order. Sample k is the
/// window of T + 1 tokens that begins at token k × stride. Fields: "input" ([T], the window's first
/// T tokens) and "target" ([T], its last T tokens: shifted by one), in the type of the shards.
///
///     auto train = feedline::open_tokens(shards, {.tokens_per_sample = 1024});
///
/// There are (M − T − 1) / stride + 1 samples, rounded down: all whole windows, including
/// those that extend from one shard into the next. With stride = T every token is a target exactly
/// once, except the first token and those after the last window.
///
/// A shard is one of
/// - a file of 16- or 32-bit tokens, as written by `ndarray.tofile`; `options.type` gives the type;
/// - the same with the header of llm.c's shards (256 32-bit words: magic number, version, number of
///   tokens);
/// - a NumPy file (`.npy`) with one dimension and any integer type;
/// - a pair of files of a Megatron indexed dataset, `x.idx` and `x.bin`, given by either name: all
///   of its sequences as one stream, in the integer type given by the index. Boundaries of
///   sequences and documents are ignored.
///
/// A file with the first bytes of another known format (compressed files, archives, HDF5, Parquet,
/// Arrow, images, text, …) is refused, naming the format, unless `options.header` is `none`.
/// Samples are read directly from the shards, mapped or not (`map_files`), without a lock and
/// without extra memory. There may be any number of shards, whatever the limit on open files.
/// @param shards Paths or patterns: see `expand_paths`.
/// @throws dataset_error naming the shard: unreadable, of another format, not a whole number of
/// tokens, a header or index that contradicts the file's size, sequences that do not follow one
/// another, floating-point numbers, shards of different types, fewer than T + 1 tokens in all.
/// @throws usage_error if there is no shard, T is 0, the type is not u16 or u32, or a pair is given
/// by both of its names.
[[nodiscard]] dataset_ptr open_tokens(const std::vector<std::string>& shards,
                                      const token_options& options);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
