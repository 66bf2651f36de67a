/// Fuzz target of TFRecord and tf.train.Example: any bytes are a dataset or an error.
///
/// The input is a file. If its first byte is 0xff, the rest is one record, to which its frame is
/// added, so that the fuzzer need not find checksums.

#include <feedline/error.hpp>

#include "formats/crc32c.hpp"
#include "formats/tfrecord/records.hpp"
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  byte_span input = std::as_bytes(std::span{data, size});
  std::vector<std::byte> made;
  if (!input.empty() && input.front() == std::byte{0xff}) input = made = framed(input.subspan(1));
  const auto file = test::memory_file(input);
  try {
    const tfrecord_options options;
    const auto opened =
        detail::make_examples_dataset("open", detail::open_examples({file}, options), options);
    std::vector<std::vector<std::byte>> rows;
    for (const field& each : opened->fields()) rows.emplace_back(sample_bytes(each));
    const std::vector<std::span<std::byte>> out{rows.begin(), rows.end()};
    const sample_index last{opened->size() - 1};
    opened->read({&last, 1}, out);
  } catch (const error&) {  // any other ends the fuzzer
  }
  return 0;
}
