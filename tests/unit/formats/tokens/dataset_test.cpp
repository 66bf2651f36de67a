#include <feedline/error.hpp>
#include <feedline/formats/tokens.hpp>

#include "formats/tokens/shard.hpp"
#include "io/local/file.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <bit>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;

namespace {

/// A stream of tokens in which no stretch repeats.
template <class Token>
std::vector<Token> token_stream(std::size_t count) {
  std::vector<Token> tokens(count);
  for (std::size_t i = 0; i < count; ++i) tokens[i] = static_cast<Token>(1000 + i * 3);
  return tokens;
}

/// The stream cut into files of these numbers of tokens.
template <class Token>
std::vector<std::string> write_shards(const test::temporary_directory& folder,
                                      const std::vector<Token>& tokens,
                                      const std::vector<std::size_t>& counts) {
  std::vector<std::string> files;
  std::size_t first = 0;
  for (const std::size_t count : counts) {
    files.push_back(folder.write("shard" + std::to_string(files.size()),
                                 std::as_bytes(std::span{tokens}.subspan(first, count))));
    first += count;
  }
  return files;
}

/// Sample k as `open_tokens` promises it: input from token k × stride on, target one further.
template <class Token>
test::expected_bytes windows_of(const std::vector<Token>& tokens, std::size_t per_sample,
                                std::size_t stride) {
  return [&tokens, per_sample, stride](sample_index sample, std::size_t place) {
    const auto values =
        std::as_bytes(std::span{tokens}.subspan(sample.value * stride + place, per_sample));
    return byte_vector{values.begin(), values.end()};
  };
}

std::vector<field> fields_of(element_type type, std::uint64_t tokens) {
  return {{"input", type, {tokens}}, {"target", type, {tokens}}};
}

}  // namespace

TEST_CASE("tokens: windows at any stride keep the dataset contract, within shards and across them",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::size_t stride = GENERATE(1U, 3U, 7U, 16U);
  const std::size_t per_sample = GENERATE(1U, 7U, 40U);  // 40: over three shards
  const auto how = GENERATE(detail::file_access::mapped, detail::file_access::by_calls);
  const auto tokens = token_stream<std::uint16_t>(101);
  const token_options options{.tokens_per_sample = per_sample,
                              .stride = stride,
                              .type = element_type::u16,
                              .byte_order = std::endian::native};
  std::vector<detail::token_shard> shards;
  for (const auto& file : write_shards(folder, tokens, {50, 1, 0, 20, 30}))
    shards.push_back(
        detail::open_token_shard(std::make_shared<const detail::local_file>(file, how), options));
  test::check_dataset_contract(
      detail::make_token_dataset(shards, options), (101 - per_sample - 1) / stride + 1,
      fields_of(element_type::u16, per_sample), windows_of(tokens, per_sample, stride));
}

TEST_CASE("tokens: a stride of 0 is that of samples that do not overlap but by a token",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto tokens = token_stream<std::uint32_t>(41);
  const auto opened = open_tokens(
      write_shards(folder, tokens, {20, 21}),
      {.tokens_per_sample = 10, .type = element_type::u32, .byte_order = std::endian::native});
  test::check_dataset_contract(opened, 4, fields_of(element_type::u32, 10),
                               windows_of(tokens, 10, 10));
}

TEST_CASE("tokens: there are as many samples as whole windows", "[dataset][host]") {
  using detail::count_windows;
  CHECK(count_windows(4, 5, 1) == 0);
  CHECK(count_windows(5, 5, 1) == 1);
  CHECK(count_windows(5, 5, 100) == 1);
  CHECK(count_windows(6, 5, 1) == 2);
  CHECK(count_windows(8, 5, 4) == 1);
  CHECK(count_windows(9, 5, 4) == 2);
  CHECK(count_windows(~std::uint64_t{0}, 2, 1) == ~std::uint64_t{0} - 1);
  // Each is the number that counting gives.
  for (std::uint64_t tokens = 0; tokens < 30; ++tokens)
    for (std::uint64_t window = 1; window < 8; ++window)
      for (std::uint64_t stride = 1; stride < 9; ++stride) {
        std::uint64_t counted = 0;
        for (std::uint64_t at = 0; at + window <= tokens; at += stride) ++counted;
        REQUIRE(count_windows(tokens, window, stride) == counted);
      }
}

TEST_CASE("tokens: llm.c's headers tell type and offset of the tokens", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto header = [](std::uint32_t magic, std::uint32_t version, std::uint32_t tokens) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint32_t word : {magic, version, tokens})
      for (int shift = 0; shift < 32; shift += 8)
        bytes.push_back(static_cast<std::uint8_t>(word >> shift));
    bytes.resize(1024);
    return test::memory_of(bytes);
  };
  const auto little = [](byte_vector bytes, std::size_t element_bytes) {
    return std::endian::native == std::endian::little
               ? bytes
               : test::with_elements_reversed(std::move(bytes), element_bytes);
  };
  const auto narrow = token_stream<std::uint16_t>(25);
  const auto wide = token_stream<std::uint32_t>(25);
  const auto gpt2 = folder.write(
      "gpt2.bin", test::joined(header(20240520, 1, 25), little(test::memory_of(narrow), 2)));
  const auto llama = folder.write(
      "llama.bin", test::joined(header(20240801, 7, 25), little(test::memory_of(wide), 4)));
  test::check_dataset_contract(open_tokens({gpt2}, {.tokens_per_sample = 6, .stride = 5}), 4,
                               fields_of(element_type::u16, 6), windows_of(narrow, 6, 5));
  test::check_dataset_contract(open_tokens({llama}, {.tokens_per_sample = 6, .stride = 5}), 4,
                               fields_of(element_type::u32, 6), windows_of(wide, 6, 5));
  // Several with headers are one sequence: the headers are no tokens of it.
  CHECK(open_tokens({gpt2, gpt2}, {.tokens_per_sample = 49})->size() == 1);
  // With none asked for, the header is 512 tokens like any others.
  CHECK(open_tokens(
            {gpt2},
            {.tokens_per_sample = 536, .type = element_type::u16, .header = token_header::none})
            ->size() == 1);
}

TEST_CASE("tokens: shards of either byte order become the machine's", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto order = GENERATE(std::endian::little, std::endian::big);
  const auto tokens = token_stream<std::uint32_t>(60);
  byte_vector stored = test::memory_of(tokens);
  if (order != std::endian::native) stored = test::with_elements_reversed(std::move(stored), 4);
  const auto opened = open_tokens(
      {folder.write("a.bin", std::span{stored}.first(100)),
       folder.write("b.bin", std::span{stored}.subspan(100))},
      {.tokens_per_sample = 8, .stride = 3, .type = element_type::u32, .byte_order = order});
  test::check_dataset_contract(opened, 18, fields_of(element_type::u32, 8),
                               windows_of(tokens, 8, 3));
}

TEST_CASE("tokens: a shard that is cut while it is in use is an error that names shard and sample",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto how = GENERATE(detail::file_access::mapped, detail::file_access::by_calls);
  const auto tokens = token_stream<std::uint16_t>(200);
  const token_options options{.tokens_per_sample = 4, .type = element_type::u16};
  const auto files = write_shards(folder, tokens, {100, 100});
  std::vector<detail::token_shard> shards;
  for (const auto& file : files)
    shards.push_back(
        detail::open_token_shard(std::make_shared<const detail::local_file>(file, how), options));
  const auto opened = detail::make_token_dataset(shards, options);
  std::filesystem::resize_file(files[1], 100);
  CHECK(test::read_sample(*opened, sample_index{3}).size() == 2);  // the other shard is whole
  const std::string message =
      test::message_of<dataset_error>([&] { (void)test::read_sample(*opened, sample_index{45}); });
  CHECK(message.find(files[1] + ": ") == 0);
  if (how == detail::file_access::by_calls)
    CHECK(message.find("sample 45, byte 160: ") != std::string::npos);
}
