#include <feedline/error.hpp>
#include <feedline/formats/tokens.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;

namespace {

template <class Token>
std::vector<Token> count_up(std::size_t tokens) {
  std::vector<Token> values(tokens);
  std::iota(values.begin(), values.end(), Token{100});
  return values;
}

template <class Token>
std::vector<Token> first_input(const dataset& opened) {
  const byte_vector bytes = test::read_sample(opened, sample_index{0})[0];
  std::vector<Token> tokens(bytes.size() / sizeof(Token));
  std::memcpy(tokens.data(), bytes.data(), bytes.size());
  return tokens;
}

byte_vector array_of(const std::string& descr, const std::string& shape,
                     const byte_vector& payload) {
  return test::npy_bytes(test::npy_dictionary(descr, shape), payload);
}

std::string refusal(const std::string& shard, const token_options& options) {
  return test::message_of<dataset_error>([&] { (void)open_tokens({shard}, options); });
}

constexpr token_options four{.tokens_per_sample = 4};
constexpr token_options four_narrow{.tokens_per_sample = 4, .type = element_type::u16};

}  // namespace

TEST_CASE("tokens: the elements of a NumPy array are tokens, its header is not",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto narrow = test::memory_of(count_up<std::uint16_t>(20));
  const std::string u16 = folder.write("a.npy", array_of("<u2", "(20,)", narrow));
  for (const token_options& options : {four, four_narrow}) {
    const auto opened = open_tokens({u16}, options);
    CHECK(opened->size() == 4);
    CHECK(first_input<std::uint16_t>(*opened) == std::vector<std::uint16_t>{100, 101, 102, 103});
  }
  const std::string swapped = folder.write(
      "b.npy",
      array_of(">i4", "(20,)",
               test::with_elements_reversed(test::memory_of(count_up<std::int32_t>(20)), 4)));
  const auto wide = open_tokens({swapped}, four);
  CHECK(wide->fields().front() == field{"input", element_type::i32, {4}});
  CHECK(first_input<std::int32_t>(*wide) == std::vector<std::int32_t>{100, 101, 102, 103});
  CHECK(open_tokens({u16, u16}, {.tokens_per_sample = 39})->size() == 1);
  // With none asked for, the header is tokens like any others.
  CHECK(first_input<std::uint16_t>(*open_tokens({u16}, {.tokens_per_sample = 4,
                                                        .type = element_type::u16,
                                                        .header = token_header::none}))[0] ==
        0x4e93);
}

TEST_CASE("tokens: an array that is no one stream of integers is refused by name",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto message = [&](const byte_vector& bytes, const token_options& options = four) {
    const std::string file = folder.write("a.npy", bytes);
    const std::string text = refusal(file, options);
    return text.substr(0, file.size()) == file ? text.substr(file.size()) : text;
  };
  const auto payload = test::counting_bytes(40);
  CHECK(message(array_of("<u2", "(5, 4)", payload)) ==
        ": byte 0: a NumPy array of 2 dimensions, uint16[5, 4], is not a single stream of tokens: "
        "open_npy reads its rows as samples; if they follow one another, save array.reshape(-1)");
  CHECK(message(array_of("<f4", "(10,)", payload)) ==
        ": byte 0: holds float32, and tokens are integers; check that this is the right file");
  CHECK(message(array_of("<u4", "(10,)", payload), four_narrow) ==
        ": byte 0: the header says that the tokens are uint32, but options.type asks for uint16; "
        "leave type out, or set header to none if this is not a header");
  CHECK(message(array_of("<u2", "(30,)", payload)).find("cut short: the header announces") !=
        std::string::npos);
  CHECK(message(array_of("<u2", "(10,)", payload)).find("over-long: the header announces") !=
        std::string::npos);
}

TEST_CASE("tokens: a file of another format is refused by name, and not read as tokens",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto padded = [](std::string_view begin) {
    std::string bytes{begin};
    bytes.resize(600, '\1');
    return bytes;
  };
  std::string tar = padded("a.jpg");
  tar.replace(257, 5, "ustar");
  std::string matlab = padded("MATLAB 7.3 MAT-file");
  matlab.replace(512, 8, "\x89HDF\r\n\x1a\n");
  const auto [bytes, name] = GENERATE_COPY(table<std::string, std::string>({
      {padded({"\x1f\x8b\x08\0", 4}), "a gzip file"},
      {padded("\x28\xb5\x2f\xfd"), "a Zstandard file"},
      {padded("BZh91AY&SY"), "a bzip2 file"},
      {padded({"\xfd\x37zXZ\0", 6}), "an xz file"},
      {padded("PK\3\4"), "a zip archive, as of .npz and PyTorch's files"},
      {padded("\x89HDF\r\n\x1a\n"), "an HDF5 file"},
      {matlab, "an HDF5 file"},
      {tar, "a tar archive"},
      {padded("PAR1"), "a Parquet file"},
      {padded({"ARROW1\0\0", 8}), "an Arrow or Feather file"},
      {padded({"\xff\xff\xff\xff\x40\0\0\0\x10\0\0\0", 12}),
       "a stream of Arrow, as Hugging Face's data sets are"},
      {padded({"\x80\x04\x95\x10\0\0\0\0\0\0\0", 11}),
       "a pickle, as Python and PyTorch write them"},
      {padded({"\x40\0\0\0\0\0\0\0{\"a\"", 12}), "a safetensors file"},
      {padded({"TNTIDX\0\0", 8}), "an index of Megatron's older format (TNTIDX)"},
      {padded("\xff\xd8\xff\xe0"), "a JPEG image"},
      {padded("\x89PNG\r\n\x1a\n"), "a PNG image"},
      {"{\"text\": \"once upon a time\", \"n\": 12}", "JSON text"},
      {"Once upon a time there w\xc3\xa4s a text of some length", "text"},
  }));
  CAPTURE(name);
  const std::string file = folder.write("a.bin", std::as_bytes(std::span{bytes}));
  const std::string message = refusal(file, four_narrow);
  CHECK(message.find(file + ": byte 0: no shard of tokens but " + name + ": ") == 0);
  const std::string unless = "; set options.header to none if these bytes are tokens anyway";
  CHECK(message.substr(message.size() - unless.size()) == unless);
  if (bytes.size() % 2 != 0) return;
  CHECK(
      open_tokens({file},
                  {.tokens_per_sample = 4, .type = element_type::u16, .header = token_header::none})
          ->size() != 0);
}
