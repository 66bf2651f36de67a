#pragma once

#include "io/gzip_source.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/test_data.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace feedline::test {

/// The bytes of a file that tests/fixtures/make_array_record.py writes.
[[nodiscard]] inline std::vector<std::byte> bytes_of_array_record(const std::string& name) {
  const auto packed = bytes_of_file(fixture("array_record/" + name + ".gz"));
  detail::memory_source source{packed};
  detail::gzip_source content{source, {}, {name, {}}};
  std::vector<std::byte> bytes(std::size_t{4} << 20);
  bytes.resize(content.read(bytes));
  return bytes;
}

/// The same as a file in a folder. @return Its path.
[[nodiscard]] inline std::string array_record_file(const temporary_directory& in,
                                                   const std::string& name) {
  return in.write(name, bytes_of_array_record(name));
}

}  // namespace feedline::test
