/// Fuzz target of safetensors: any bytes are tensors, all of which can be read, or an error.

#include <feedline/error.hpp>

#include "formats/array_files/container.hpp"
#include "support/files/memory_file.hpp"

#include <cstdint>
#include <span>
#include <vector>

using namespace feedline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 8) return 0;
  try {
    const auto file =
        detail::open_safetensors(test::memory_file(std::as_bytes(std::span{data, size})));
    for (std::size_t i = 0; i < file->arrays().size(); ++i) {
      const detail::array_in_file& each = file->arrays()[i];
      if (!each.refusal.empty()) continue;
      std::vector<std::byte> out(static_cast<std::size_t>(each.count()) * size_bytes(each.type));
      file->read(i, out);
    }
  } catch (const error&) {  // any other ends the fuzzer
  }
  return 0;
}
