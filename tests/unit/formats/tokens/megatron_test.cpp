#include <feedline/error.hpp>
#include <feedline/formats/tokens.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;

namespace {

/// An index as Megatron's preprocess_data.py writes it; numbers may lie.
struct index_bytes {
  std::vector<std::uint32_t> lengths;
  std::uint8_t code = 8;
  std::uint64_t version = 1;
  std::uint64_t token_bytes = 2;
  std::uint64_t documents = 2;
  std::vector<std::uint64_t> offsets = {};  ///< empty: sequences follow one another

  [[nodiscard]] byte_vector bytes() const {
    byte_vector file;
    const auto put = [&file](std::uint64_t number, int size) {
      for (int i = 0; i < size; ++i) file.push_back(std::byte(number >> (8 * i) & 0xff));
    };
    for (const char letter : {'M', 'M', 'I', 'D', 'I', 'D', 'X', '\0', '\0'})
      file.push_back(std::byte(letter));
    put(version, 8);
    put(code, 1);
    put(lengths.size(), 8);
    put(documents, 8);
    for (const std::uint32_t length : lengths) put(length, 4);
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      put(offsets.empty() ? offset : offsets[i], 8);
      offset += lengths[i] * token_bytes;
    }
    for (std::uint64_t i = 0; i < documents; ++i) put(i, 8);
    return file;
  }
};

template <class Token>
byte_vector token_bytes(std::size_t count) {
  std::vector<Token> tokens(count);
  for (std::size_t i = 0; i < count; ++i) tokens[i] = static_cast<Token>(1000 + i);
  byte_vector bytes = test::memory_of(tokens);
  return std::endian::native == std::endian::little
             ? bytes
             : test::with_elements_reversed(std::move(bytes), sizeof(Token));
}

template <class Token>
Token first_token(const dataset& opened) {
  Token token{};
  const auto input = test::read_sample(opened, sample_index{0})[0];
  std::memcpy(&token, input.data(), sizeof token);
  return token;
}

std::string refusal(const std::string& shard, const token_options& options) {
  return test::message_of<dataset_error>([&] { (void)open_tokens({shard}, options); });
}

constexpr token_options three{.tokens_per_sample = 3};
const std::string advice =
    "; get both files again, or make them again with Megatron's preprocess_data.py";

}  // namespace

TEST_CASE("tokens: Megatron's index tells the type of the tokens beside it, by either file's name",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string idx = folder.write("a.idx", index_bytes{.lengths = {4, 0, 6}}.bytes());
  const std::string bin = folder.write("a.bin", token_bytes<std::uint16_t>(10));
  for (const std::string& name : {idx, bin}) {
    const auto opened = open_tokens({name}, three);
    CHECK(opened->fields().front() == field{"input", element_type::u16, {3}});
    CHECK(opened->size() == 3);
    CHECK(first_token<std::uint16_t>(*opened) == 1000);
  }
  const std::string wide =
      folder.write("b.idx", index_bytes{.lengths = {5, 5}, .code = 4, .token_bytes = 4}.bytes());
  (void)folder.write("b.bin", token_bytes<std::int32_t>(10));
  const auto opened = open_tokens({wide}, three);
  CHECK(opened->fields().front() == field{"input", element_type::i32, {3}});
  CHECK(first_token<std::int32_t>(*opened) == 1000);
  // A byte for each sequence follows in an index of several modalities.
  auto modes = index_bytes{.lengths = {4, 6}}.bytes();
  modes.resize(modes.size() + 2);
  (void)folder.write("c.bin", token_bytes<std::uint16_t>(10));
  CHECK(open_tokens({folder.write("c.idx", modes)}, three)->size() == 3);
}

TEST_CASE("tokens: both files of a pair of Megatron's are one shard, not two", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string idx = folder.write("a.idx", index_bytes{.lengths = {10}}.bytes());
  const std::string bin = folder.write("a.bin", token_bytes<std::uint16_t>(10));
  CHECK(test::message_of<usage_error>([&] {
          (void)open_tokens({(folder.path() / "a.*").string()}, three);
        }) == "open_tokens: " + idx + " is the index of " + bin +
                  ", which is named too, so its tokens would come twice; name one of both");
}

TEST_CASE("tokens: an index that its tokens belie is refused, and so is one that is damaged",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string bin = folder.write("a.bin", token_bytes<std::uint16_t>(10));
  const std::string idx = (folder.path() / "a.idx").string();
  const auto message = [&](const byte_vector& bytes, const token_options& options = three) {
    (void)folder.write("a.idx", bytes);
    return refusal(bin, options);
  };
  CHECK(message(index_bytes{.lengths = {4, 7}}.bytes()) ==
        bin + ": byte 20: " + idx +
            " announces 11 tokens of uint16, so the file should be 22 bytes, but it is 20" +
            advice);
  CHECK(message(index_bytes{.lengths = {4, 5}}.bytes()) ==
        bin + ": byte 18: " + idx +
            " announces 9 tokens of uint16, so the file should be 18 bytes, but it is 20" + advice);
  CHECK(message(index_bytes{.lengths = {4, 6}, .offsets = {0, 10}}.bytes()) ==
        idx +
            ": byte 50: sequence 1 begins at byte 10, but those before it end at byte 8: sequences "
            "that do not follow one another are not a single stream of tokens" +
            advice);
  CHECK(message(index_bytes{.lengths = {0x80000000U}}.bytes()) ==
        idx + ": byte 34: sequence 0 has a negative length; the index is damaged" + advice);
  CHECK(message(index_bytes{.lengths = {10}, .version = 2}.bytes()) ==
        idx + ": byte 9: version 2 of Megatron's index is not known (1 is)" + advice);
  CHECK(message(index_bytes{.lengths = {10}, .code = 9}.bytes()) ==
        idx + ": byte 17: the tokens' type has the code 9, which is not known (1 to 8 are)" +
            advice);
  CHECK(message(index_bytes{.lengths = {10}, .code = 7}.bytes()) ==
        idx +
            ": byte 17: holds float32, and tokens are integers; check that this is the right file");
  CHECK(message(index_bytes{.lengths = {10}}.bytes(),
                {.tokens_per_sample = 3, .type = element_type::u32}) ==
        idx +
            ": byte 17: the header says that the tokens are uint16, but options.type asks for "
            "uint32; leave type out, or set header to none if this is not a header");
  auto cut = index_bytes{.lengths = {10}}.bytes();
  cut.pop_back();
  CHECK(message(cut) == idx +
                            ": byte 18: the index announces 1 sequences and 2 documents, but it is "
                            "61 bytes long" +
                            advice);
  cut.resize(33);
  CHECK(message(cut) ==
        idx + ": byte 33: cut short: Megatron's index begins with 34 bytes" + advice);
  const auto alone = folder.write("alone.idx", index_bytes{.lengths = {10}}.bytes());
  CHECK(refusal(alone, three).find("alone.bin: cannot be opened") != std::string::npos);
}

TEST_CASE(
    "tokens: an index that claims more sequences than it holds bytes takes no memory for them",
    "[dataset][host]") {
  const test::temporary_directory folder;
  auto bytes = index_bytes{.lengths = {10}}.bytes();
  for (std::size_t i = 18; i < 34; ++i) bytes[i] = std::byte{0xff};
  CHECK(refusal(folder.write("a.idx", bytes), three)
            .find("the index announces 18446744073709551615") != std::string::npos);
}
