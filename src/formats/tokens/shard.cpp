#include "formats/tokens/shard.hpp"

#include "detail/byte_order.hpp"
#include "formats/npy/header.hpp"
#include "formats/tokens/megatron.hpp"
#include "io/file_kind.hpp"
#include "io/range_source.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::string_view advice = "; get the file or tokenize the text again";

/// llm.c's header has this many little-endian words of 32 bits, the first of them magic number,
/// version and number of tokens. Source: karpathy/llm.c, dev/data/data_common.py.
constexpr std::size_t header_words = 256;
constexpr std::size_t header_bytes = header_words * sizeof(std::uint32_t);

struct shard_kind {
  std::uint32_t magic;
  std::uint32_t version;
  element_type type;
};
constexpr std::array shard_kinds{
    shard_kind{20240520, 1, element_type::u16},  // GPT-2's tokenizer
    shard_kind{20240801, 7, element_type::u32},  // Llama 3's
};
constexpr std::uint32_t evaluation_magic = 20240522;

std::uint32_t word(std::span<const std::byte> head, std::size_t place) {
  constexpr std::size_t bytes = sizeof(std::uint32_t);
  return static_cast<std::uint32_t>(little_endian(head.subspan(place * bytes, bytes)));
}

const shard_kind* kind_of(std::span<const std::byte> head) {
  if (head.size() < sizeof(std::uint32_t)) return nullptr;
  const auto* const found = std::ranges::find(shard_kinds, word(head, 0), &shard_kind::magic);
  return found == shard_kinds.end() ? nullptr : found;
}

/// A shard whose header `head` begins with.
token_shard with_header(byte_file_ptr file, const shard_kind& kind, std::span<const std::byte> head,
                        const token_options& options) {
  constexpr std::uint64_t version_offset = 4;
  constexpr std::uint64_t count_offset = 8;
  if (head.size() < header_bytes)
    throw shard_error(*file, head.size(),
                      "cut short: llm.c's header is " + std::to_string(header_bytes) +
                          " bytes long" + std::string{advice});
  if (const std::uint32_t version = word(head, 1); version != kind.version)
    throw shard_error(
        *file, version_offset,
        "version " + std::to_string(version) + " of llm.c's shards of " +
            std::string{to_string(kind.type)} + " tokens is not known (" +
            std::to_string(kind.version) +
            " is); tokenize the text again, or set options.header to none if this is not a header");
  require_token_type(*file, 0, kind.type, options);
  token_shard shard{std::move(file), header_bytes, word(head, 2), kind.type,
                    std::endian::native != std::endian::little};
  const std::uint64_t expected = header_bytes + shard.tokens * size_bytes(kind.type);
  if (shard.file->size() != expected)
    throw shard_error(*shard.file, count_offset,
                      "the header announces " + std::to_string(shard.tokens) + " tokens of " +
                          std::string{to_string(kind.type)} + ", so the file should be " +
                          std::to_string(expected) + " bytes, but it is " +
                          std::to_string(shard.file->size()) + std::string{advice});
  return shard;
}

/// The content of a file of another format is not tokens.
void refuse_other_kind(const byte_file& file, std::span<const std::byte> head) {
  constexpr std::string_view unless =
      "; set options.header to none if these bytes are tokens anyway";
  if (const file_kind* const kind = find_file_kind(head))
    throw shard_error(file, 0,
                      "no shard of tokens but " + std::string{kind->name} + ": " +
                          std::string{kind->advice} + std::string{unless});
  if (head.size() >= sizeof(std::uint32_t) && word(head, 0) == evaluation_magic)
    throw shard_error(file, 0,
                      "this is one of llm.c's evaluation files, which hold questions and answers "
                      "instead of running text; name the token shards");
}

token_shard without_header(byte_file_ptr file, std::span<const std::byte> head,
                           const token_options& options) {
  if (options.header == token_header::automatic) refuse_other_kind(*file, head);
  if (!options.type)
    throw shard_error(
        *file, 0,
        "there is no llm.c header that gives the tokens' type; set options.type to u16 "
        "or u32, as the file was written");
  token_shard shard{std::move(file), 0, 0, *options.type,
                    options.byte_order != std::endian::native};
  const std::uint64_t size = shard.file->size();
  shard.tokens = size / size_bytes(shard.type);
  if (const std::uint64_t rest = size % size_bytes(shard.type); rest != 0)
    throw shard_error(*shard.file, size - rest,
                      "the file's " + std::to_string(size) + " bytes are not a whole number of " +
                          std::string{to_string(shard.type)} +
                          " tokens; check options.type, or get the file again");
  return shard;
}

/// The tokens of a NumPy array of one dimension.
token_shard of_array(const byte_file_ptr& file, const token_options& options) {
  const file_field name{file->name(), {}};
  range_source source{file, 0, file->size()};
  const npy_header header = read_npy_header(source, name);
  if (header.extents.size() != 1)
    throw shard_error(
        *file, 0,
        "a NumPy array of " + std::to_string(header.extents.size()) + " dimensions, " +
            header.describe() +
            ", is not a single stream of tokens: open_npy reads its rows as samples; if "
            "they follow one another, save array.reshape(-1)");
  require_token_type(*file, 0, header.type, options);
  header.require_room(file->size(), name);
  if (file->size() > header.end())
    throw header.over_long("is " + std::to_string(file->size()) + " bytes" + std::string{advice},
                           name);
  return {file, header.header_bytes, header.extents.front(), header.type, header.is_swapped};
}

}  // namespace

dataset_error shard_error(const byte_file& file, std::uint64_t offset, const std::string& message) {
  return {{.path = file.name(), .field = {}, .sample = {}, .offset = offset}, message};
}

void require_token_type(const byte_file& file, std::uint64_t offset, element_type type,
                        const token_options& options) {
  using enum element_type;
  if (type == boolean || type == f16 || type == f32 || type == f64)
    throw shard_error(file, offset,
                      "holds " + std::string{to_string(type)} +
                          ", and tokens are integers; check that this is the right file");
  if (options.type && *options.type != type)
    throw shard_error(file, offset,
                      "the header says that the tokens are " + std::string{to_string(type)} +
                          ", but options.type asks for " + std::string{to_string(*options.type)} +
                          "; leave type out, or set header to none if this is not a header");
}

bool is_token_shard(std::span<const std::byte> head) noexcept {
  const shard_kind* kind = kind_of(head);
  return is_megatron_index(head) || (kind != nullptr && head.size() >= 2 * sizeof(std::uint32_t) &&
                                     word(head, 1) == kind->version);
}

token_shard open_token_shard(byte_file_ptr file, const token_options& options) {
  std::array<std::byte, header_bytes> bytes{};
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(file->size(), bytes.size()));
  const std::span head{bytes.data(), size};
  file->read(0, head);
  if (options.header == token_header::none) return without_header(std::move(file), head, options);
  if (is_npy(head)) return of_array(file, options);
  if (is_megatron_index(head)) return open_megatron_shard(file, options);
  if (const shard_kind* const kind = kind_of(head))
    return with_header(std::move(file), *kind, head, options);
  if (const byte_file_ptr index = find_megatron_index(file->name()))
    return open_megatron_shard(index, options);
  return without_header(std::move(file), head, options);
}

}  // namespace feedline::detail
