/// Fuzz target of token shards: any bytes are shards or a dataset_error; there are as many samples
/// as counting gives, and each holds the tokens that it should, in whatever shards they lie.
///
/// The input: options (a byte of flags, T, the stride, how many shards), the lengths of all shards
/// but the last (two bytes each, little-endian), then the shards.

#include <feedline/error.hpp>

#include "formats/tokens/shard.hpp"
#include "support/files/memory_file.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

using namespace feedline;

namespace {

using byte_span = std::span<const std::byte>;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "tokens_fuzz: does not hold: %s\n", what);
  std::abort();
}

unsigned number(byte_span bytes, std::size_t at) {
  return std::to_integer<unsigned>(bytes[at]);
}

struct fuzz_case {
  token_options options;
  bool by_calls = false;
  std::vector<byte_span> shards;
};

constexpr std::size_t option_bytes = 4;

fuzz_case parse(byte_span input) {
  fuzz_case parsed;
  const unsigned flags = number(input, 0);
  token_options& options = parsed.options;
  options.tokens_per_sample = 1 + number(input, 1) % 64;
  options.stride = number(input, 2) % 80;
  if ((flags & 1U) != 0) options.type = (flags & 2U) != 0 ? element_type::u32 : element_type::u16;
  options.header = (flags & 4U) != 0 ? token_header::none : token_header::automatic;
  options.byte_order = (flags & 8U) != 0 ? std::endian::big : std::endian::little;
  parsed.by_calls = (flags & 16U) != 0;

  std::size_t cuts = number(input, 3) % 4;
  const byte_span lengths = input.subspan(option_bytes);
  cuts = std::min(cuts, lengths.size() / 2);
  byte_span rest = lengths.subspan(2 * cuts);
  for (std::size_t i = 0; i < cuts; ++i) {
    const std::size_t wanted = number(lengths, 2 * i) | number(lengths, 2 * i + 1) << 8U;
    const std::size_t length = std::min(wanted, rest.size());
    parsed.shards.push_back(rest.first(length));
    rest = rest.subspan(length);
  }
  parsed.shards.push_back(rest);
  return parsed;
}

std::uint64_t word(byte_span bytes, std::size_t at, std::size_t size, bool big) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value |= std::uint64_t{number(bytes, at + i)} << 8U * (big ? size - 1 - i : i);
  return value;
}

/// Where a shard's tokens begin, and how they are stored.
struct token_place {
  std::size_t begin = 0;
  bool big = false;
};

token_place place_of(byte_span shard, const token_options& options) {
  constexpr std::string_view npy = "\x93NUMPY";
  const std::string_view text{reinterpret_cast<const char*>(shard.data()), shard.size()};
  const token_place plain{.big = options.byte_order == std::endian::big};
  if (options.header == token_header::none || shard.size() < 4) return plain;
  const std::uint64_t magic = word(shard, 0, 4, false);
  if (magic == 20240520 || magic == 20240801) return {.begin = 1024};
  if (!text.starts_with(npy)) return plain;
  // A NumPy array: its dictionary's length stands at byte 8, and a '>' in it is the byte order's.
  const std::size_t length_bytes = number(shard, 6) == 1 ? 2 : 4;
  const auto begin = 8 + length_bytes + word(shard, 8, length_bytes, false);
  return {.begin = begin, .big = text.substr(0, begin).find('>') != std::string_view::npos};
}

/// The sequence of all tokens, by the formats' words alone.
std::vector<std::uint64_t> by_the_book(const fuzz_case& given, element_type type) {
  std::vector<std::uint64_t> tokens;
  for (const byte_span shard : given.shards) {
    const token_place place = place_of(shard, given.options);
    for (std::size_t at = place.begin; at < shard.size(); at += size_bytes(type))
      tokens.push_back(word(shard, at, size_bytes(type), place.big));
  }
  return tokens;
}

/// Reads a sample and compares it with the tokens from `first` on.
void require_window(const dataset& from, sample_index sample, const std::uint64_t* first) {
  const field input = from.fields()[0];
  const std::size_t element = size_bytes(input.type);
  std::vector<std::byte> bytes(2 * sample_bytes(input));
  const std::span all{bytes};
  const std::span<std::byte> out[] = {all.first(sample_bytes(input)),
                                      all.subspan(sample_bytes(input))};
  from.read({&sample, 1}, out);
  for (std::size_t place = 0; place < 2; ++place)
    for (std::size_t i = 0; i < input.shape[0]; ++i)
      require(word(out[place], i * element, element, std::endian::native == std::endian::big) ==
                  first[i + place],
              "a sample holds its tokens");
}

void require_windows(const dataset& from, const fuzz_case& given) {
  const auto tokens = by_the_book(given, from.fields()[0].type);
  const std::uint64_t window = given.options.tokens_per_sample + 1;
  const std::uint64_t stride = given.options.stride == 0 ? window - 1 : given.options.stride;
  std::uint64_t samples = 0;
  for (std::uint64_t at = 0; at + window <= tokens.size(); at += stride) ++samples;
  require(from.size() == samples, "as many samples as whole windows");
  for (std::uint64_t i = 0; i < samples; i += 1 + samples / 64)
    require_window(from, {i}, tokens.data() + i * stride);
  require_window(from, {samples - 1}, tokens.data() + (samples - 1) * stride);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < option_bytes) return 0;
  const fuzz_case given = parse(std::as_bytes(std::span{data, size}));
  using access = detail::file_access;
  dataset_ptr opened;
  try {
    std::vector<detail::token_shard> shards;
    for (const byte_span shard : given.shards)
      shards.push_back(detail::open_token_shard(
          test::memory_file(shard, given.by_calls ? access::by_calls : access::automatic),
          given.options));
    opened = detail::make_token_dataset(std::move(shards), given.options);
  } catch (const dataset_error& error) {
    require(!error.message().empty(), "an error says what is wrong");
    return 0;
  }
  require_windows(*opened, given);
  return 0;
}
