/// Fuzz target of TFRecord and tf.train.Example: any bytes are a dataset or an error.
///
/// The input is a file. If its first byte is 0xff, the rest is one record, to which its frame is
/// added, so that the fuzzer need not find checksums. If it is 0xfe, the rest is DALI's index of a
/// file of two records.

#include <feedline/error.hpp>

#include "formats/crc32c.hpp"
#include "formats/tfrecord/index.hpp"
#include "formats/tfrecord/records.hpp"
#include "fuzz/read_sample.hpp"
#include "support/files/memory_file.hpp"

#include <cstdint>
#include <span>
#include <vector>

using namespace feedline;

namespace {

using byte_span = std::span<const std::byte>;

void append(std::vector<std::byte>& to, std::uint64_t number, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) to.push_back(std::byte(number >> 8 * i & 0xff));
}

std::vector<std::byte> framed(byte_span record) {
  std::vector<std::byte> file;
  append(file, record.size(), 8);
  append(file, detail::masked_crc32c(file), 4);
  file.insert(file.end(), record.begin(), record.end());
  append(file, detail::masked_crc32c(record), 4);
  return file;
}

void read_index(byte_span text) {
  std::vector<std::byte> both = framed({});
  const std::vector<std::byte> second = framed(std::vector<std::byte>(84));
  both.insert(both.end(), second.begin(), second.end());
  const auto ends = detail::read_dali_index(
      {reinterpret_cast<const char*>(text.data()), text.size()}, *test::memory_file(both));
  if (!ends.empty() && ends != std::vector<std::uint64_t>{16, 116}) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  byte_span input = std::as_bytes(std::span{data, size});
  std::vector<std::byte> made;
  if (!input.empty() && input.front() == std::byte{0xff}) input = made = framed(input.subspan(1));
  if (!input.empty() && input.front() == std::byte{0xfe}) {
    read_index(input.subspan(1));
    return 0;
  }
  const auto file = test::memory_file(input);
  try {
    const tfrecord_options options;
    const auto opened =
        detail::make_examples_dataset("open", detail::open_examples({file}, options), options);
    test::read_sample(*opened, opened->size() - 1);
  } catch (const error&) {  // any other ends the fuzzer
  }
  return 0;
}
