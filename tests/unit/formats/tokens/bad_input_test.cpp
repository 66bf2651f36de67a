#include <feedline/error.hpp>
#include <feedline/formats/tokens.hpp>

#include "formats/tokens/shard.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::bytes_of;

namespace {

/// llm.c's header, cut or filled to `bytes`.
byte_vector shard_bytes(std::uint32_t magic, std::uint32_t version, std::uint32_t tokens,
                        std::size_t bytes) {
  std::vector<std::uint8_t> file;
  for (const std::uint32_t word : {magic, version, tokens})
    for (int shift = 0; shift < 32; shift += 8)
      file.push_back(static_cast<std::uint8_t>(word >> shift));
  file.resize(bytes);
  return test::memory_of(file);
}

template <class Error = dataset_error>
std::string refusal(const std::vector<std::string>& shards, const token_options& options) {
  return test::message_of<Error>([&] { (void)open_tokens(shards, options); });
}

constexpr token_options two_at_once{.tokens_per_sample = 2};
constexpr token_options two_narrow{.tokens_per_sample = 2, .type = element_type::u16};

}  // namespace

TEST_CASE("tokens: a header that the file belies is refused", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto write = [&](const byte_vector& bytes) {
    return folder.write("s.bin", bytes).string();
  };
  const std::string advice = "; get the file or tokenize the text again";
  const std::string at = (folder.path() / "s.bin").string() + ": byte ";
  CHECK(refusal({write(shard_bytes(20240520, 1, 8, 1024 + 14))}, two_at_once) ==
        at +
            "8: the header announces 8 tokens of uint16, so the file should be 1040 bytes, but it "
            "is 1038" +
            advice);
  CHECK(refusal({write(shard_bytes(20240520, 1, 8, 1024 + 18))}, two_at_once) ==
        at +
            "8: the header announces 8 tokens of uint16, so the file should be 1040 bytes, but it "
            "is 1042" +
            advice);
  CHECK(refusal({write(shard_bytes(20240801, 7, 0xffffffff, 1024 + 16))}, two_at_once) ==
        at +
            "8: the header announces 4294967295 tokens of uint32, so the file should be "
            "17179870204 bytes, but it is 1040" +
            advice);
  CHECK(refusal({write(shard_bytes(20240520, 1, 8, 1023))}, two_at_once) ==
        at + "1023: cut short: llm.c's header is 1024 bytes long" + advice);
  const std::string again =
      "; tokenize the text again, or set options.header to none if this is not a header";
  CHECK(refusal({write(shard_bytes(20240520, 2, 8, 1040))}, two_at_once) ==
        at + "4: version 2 of llm.c's shards of uint16 tokens is not known (1 is)" + again);
  CHECK(refusal({write(shard_bytes(20240801, 1, 8, 1056))}, two_at_once) ==
        at + "4: version 1 of llm.c's shards of uint32 tokens is not known (7 is)" + again);
  CHECK(refusal({write(shard_bytes(20240801, 7, 8, 1056))}, two_narrow) ==
        at + "0: the header says that the tokens are uint32, but options.type asks for uint16; "
             "leave type out, or set header to none if this is not a header");
  CHECK(refusal({write(shard_bytes(20240522, 1, 8, 1040))}, two_narrow) ==
        at + "0: this is one of llm.c's evaluation files, which hold questions and answers instead "
             "of running text; name the token shards");
}

TEST_CASE(
    "tokens: without a header the type must be given, and the file have a whole number of tokens",
    "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = folder.write("s.bin", test::counting_bytes(9));
  CHECK(refusal({file}, two_at_once) ==
        file +
            ": byte 0: there is no llm.c header that gives the tokens' type; set "
            "options.type to u16 or u32, as the file was written");
  CHECK(refusal({file}, two_narrow) ==
        file +
            ": byte 8: the file's 9 bytes are not a whole number of uint16 tokens; check "
            "options.type, or get the file again");
  CHECK(refusal({file}, {.tokens_per_sample = 1, .type = element_type::u32}) ==
        file +
            ": byte 8: the file's 9 bytes are not a whole number of uint32 tokens; check "
            "options.type, or get the file again");
}

TEST_CASE("tokens: shards of different types are refused, naming both", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string narrow = folder.write("n.bin", shard_bytes(20240520, 1, 8, 1040));
  const std::string wide = folder.write("w.bin", shard_bytes(20240801, 7, 8, 1056));
  CHECK(refusal({narrow, wide}, two_at_once) ==
        wide + ": holds uint32 tokens, but " + narrow +
            " holds uint16; open the shards of one tokenizer together");
}

TEST_CASE("tokens: fewer tokens than a sample takes are refused", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string six = folder.write("6.bin", test::counting_bytes(12));
  const std::string none = folder.write("0.bin", {});
  const auto with = [](std::uint64_t tokens) {
    return token_options{.tokens_per_sample = tokens, .type = element_type::u16};
  };
  const std::string advice = " and one more; ask for fewer tokens_per_sample, or name more shards";
  CHECK(refusal({six}, with(5)) == "[nothing was thrown]");
  CHECK(refusal({six, none}, with(6)) ==
        six + ": the shards hold 6 tokens in all, but a sample takes 6" + advice);
  CHECK(refusal({six}, with(~std::uint64_t{0})) ==
        six + ": the shards hold 6 tokens in all, but a sample takes 18446744073709551615" +
            advice);
  CHECK(refusal({none}, with(1)) ==
        none + ": the shards hold 0 tokens in all, but a sample takes 1" + advice);
}

TEST_CASE("tokens: options that cannot be are refused before a shard is opened",
          "[dataset][host]") {
  CHECK(refusal<usage_error>({}, two_at_once) == "open_tokens: there is no shard to open");
  CHECK(refusal<usage_error>({"/does/not/exist"}, {}) ==
        "open_tokens: tokens_per_sample is 0; say how many tokens a sample has");
  CHECK(refusal<usage_error>({"/does/not/exist"},
                             {.tokens_per_sample = 2, .type = element_type::i32}) ==
        "open_tokens: type is int32, but tokens are uint16 or uint32");
  CHECK(refusal<usage_error>({"/does/not/exist"},
                             {.tokens_per_sample = 2, .header = static_cast<token_header>(2)}) ==
        "token_options::header is 2, which is not a value of its type: say one of automatic, none");
  CHECK(refusal<usage_error>({"/does/not/exist"},
                             {.tokens_per_sample = 2, .byte_order = static_cast<std::endian>(7)}) ==
        "token_options::byte_order is 7, which is not a value of its type: say one of "
        "std::endian::little, std::endian::big");
}

TEST_CASE("tokens: a shard is known by llm.c's magic number and version", "[dataset][host]") {
  using detail::is_token_shard;
  CHECK(is_token_shard(shard_bytes(20240520, 1, 0, 12)));
  CHECK(is_token_shard(shard_bytes(20240801, 7, 0, 8)));
  CHECK_FALSE(is_token_shard(shard_bytes(20240520, 7, 0, 12)));
  CHECK_FALSE(is_token_shard(shard_bytes(20240522, 1, 0, 12)));
  CHECK_FALSE(is_token_shard(shard_bytes(20240520, 1, 0, 7)));
  CHECK_FALSE(is_token_shard({}));
}
