#include "formats/tokens/megatron.hpp"

#include "detail/byte_order.hpp"
#include "io/file_system.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace feedline::detail {
namespace {

/// Source: NVIDIA/Megatron-LM, megatron/core/datasets/indexed_dataset.py. All numbers are little
/// endian: magic, u64 version, u8 type, u64 sequences, u64 documents; then of each sequence an i32
/// length in tokens, of each an i64 offset in bytes, and of each document an i64 number; then, of
/// several modalities, a byte for each sequence.
constexpr std::string_view index_magic{"MMIDIDX\0\0", 9};
constexpr std::uint64_t index_version_offset = 9;
constexpr std::uint64_t index_type_offset = 17;
constexpr std::uint64_t index_sequences_offset = 18;
constexpr std::uint64_t index_documents_offset = 26;
constexpr std::uint64_t index_header_bytes = 34;
constexpr std::uint64_t sequence_length_bytes = 4;
constexpr std::uint64_t sequence_offset_bytes = 8;

constexpr std::string_view pair_advice =
    "; get both files again, or make them again with Megatron's preprocess_data.py";

std::optional<element_type> token_type_of_code(unsigned code) {
  using enum element_type;
  constexpr std::array<std::optional<element_type>, 9> types{std::nullopt, u8,  i8,  i16, i32,
                                                             i64,          f64, f32, u16};
  return code < types.size() ? types[code] : std::nullopt;
}

/// Numbers of an index, read in pieces.
class number_column {
 public:
  number_column(const byte_file& file, std::uint64_t begin, std::uint64_t count,
                std::uint64_t number_bytes)
      : file_{file}, at_{begin}, end_{begin + count * number_bytes}, number_bytes_{number_bytes} {}

  std::uint64_t next() {
    if (used_ == piece_.size()) fill();
    const auto bytes = std::span<const std::byte>{piece_}.subspan(used_, number_bytes_);
    used_ += number_bytes_;
    return little_endian(bytes);
  }

 private:
  void fill() {
    constexpr std::uint64_t largest_piece = std::uint64_t{1} << 20;  // a multiple of the numbers'
                                                                     // sizes
    piece_.resize(static_cast<std::size_t>(std::min(largest_piece, end_ - at_)));
    file_.read(at_, piece_);
    at_ += piece_.size();
    used_ = 0;
  }

  const byte_file& file_;
  std::uint64_t at_;
  std::uint64_t end_;
  std::uint64_t number_bytes_;
  std::vector<std::byte> piece_;
  std::size_t used_ = 0;
};

/// Checks that sequences lie one after the other. @return How many tokens they have.
std::uint64_t count_tokens(const byte_file& index, std::uint64_t sequences,
                           std::uint64_t token_bytes) {
  const std::uint64_t offsets_begin = index_header_bytes + sequences * sequence_length_bytes;
  number_column lengths{index, index_header_bytes, sequences, sequence_length_bytes};
  number_column offsets{index, offsets_begin, sequences, sequence_offset_bytes};
  std::uint64_t tokens = 0;
  for (std::uint64_t i = 0; i < sequences; ++i) {
    const std::uint64_t length = lengths.next();
    if (length >> 31U != 0)
      throw shard_error(index, index_header_bytes + i * sequence_length_bytes,
                        "sequence " + std::to_string(i) +
                            " has a negative length; the index is "
                            "damaged" +
                            std::string{pair_advice});
    if (const std::uint64_t offset = offsets.next(); offset != tokens * token_bytes)
      throw shard_error(index, offsets_begin + i * sequence_offset_bytes,
                        "sequence " + std::to_string(i) + " begins at byte " +
                            std::to_string(offset) + ", but those before it end at byte " +
                            std::to_string(tokens * token_bytes) +
                            ": sequences that do not follow one another are not a single stream of "
                            "tokens" +
                            std::string{pair_advice});
    tokens += length;  // fewer than 2^61 sequences fit in a file, of fewer than 2^31 tokens each
  }
  return tokens;
}

/// @return How many sequences there are.
std::uint64_t count_sequences(const byte_file& index, std::span<const std::byte> head) {
  const auto number = [head](std::uint64_t offset) {
    return little_endian(head.subspan(static_cast<std::size_t>(offset), 8));
  };
  if (const std::uint64_t version = number(index_version_offset); version != 1)
    throw shard_error(index, index_version_offset,
                      "version " + std::to_string(version) +
                          " of Megatron's index is not known (1 is)" + std::string{pair_advice});
  const std::uint64_t sequences = number(index_sequences_offset);
  const std::uint64_t documents = number(index_documents_offset);
  const std::uint64_t size = index.size();
  // Neither may claim more than the file could hold, so the sum below fits.
  const bool fits =
      sequences <= size / (sequence_length_bytes + sequence_offset_bytes) && documents <= size / 8;
  const std::uint64_t expected =
      fits ? index_header_bytes + sequences * (sequence_length_bytes + sequence_offset_bytes) +
                 documents * 8
           : 0;
  if (!fits || (size != expected && size != expected + sequences))
    throw shard_error(index, index_sequences_offset,
                      "the index announces " + std::to_string(sequences) + " sequences and " +
                          std::to_string(documents) + " documents, but it is " +
                          std::to_string(size) + " bytes long" + std::string{pair_advice});
  return sequences;
}

}  // namespace

bool is_megatron_index(std::span<const std::byte> head) noexcept {
  return head.size() >= index_magic.size() &&
         std::equal(index_magic.begin(), index_magic.end(), head.begin(),
                    [](char wanted, std::byte byte) { return std::byte(wanted) == byte; });
}

byte_file_ptr find_megatron_index(const std::string& tokens) {
  std::filesystem::path tokens_path{tokens};
  if (tokens_path.extension() != ".bin") return nullptr;
  const std::string path = tokens_path.replace_extension(".idx").string();
  if (kind_of_entry(path) != entry_kind::file) return nullptr;
  auto file = open_file(path);
  std::array<std::byte, index_magic.size()> head{};
  if (file->size() < head.size()) return nullptr;
  file->read(0, head);
  return is_megatron_index(head) ? file : nullptr;
}

token_shard open_megatron_shard(const byte_file_ptr& index, const token_options& options) {
  std::array<std::byte, index_header_bytes> head{};
  if (index->size() < head.size())
    throw shard_error(*index, index->size(),
                      "cut short: Megatron's index begins with " +
                          std::to_string(index_header_bytes) + " bytes" + std::string{pair_advice});
  index->read(0, head);
  const auto code = std::to_integer<unsigned>(head[index_type_offset]);
  const auto type = token_type_of_code(code);
  if (!type)
    throw shard_error(*index, index_type_offset,
                      "the tokens' type has the code " + std::to_string(code) +
                          ", which is not known (1 to 8 are)" + std::string{pair_advice});
  require_token_type(*index, index_type_offset, *type, options);
  const std::uint64_t sequences = count_sequences(*index, head);
  const std::uint64_t tokens = count_tokens(*index, sequences, size_bytes(*type));
  index->require_unchanged();

  std::filesystem::path path{index->name()};
  auto file = open_file(path.replace_extension(".bin").string());
  if (const std::uint64_t expected = tokens * size_bytes(*type); file->size() != expected)
    throw shard_error(*file, std::min(file->size(), expected),
                      index->name() + " announces " + std::to_string(tokens) + " tokens of " +
                          std::string{to_string(*type)} + ", so the file should be " +
                          std::to_string(expected) + " bytes, but it is " +
                          std::to_string(file->size()) + std::string{pair_advice});
  return {std::move(file), 0, tokens, *type, std::endian::native != std::endian::little};
}

}  // namespace feedline::detail
