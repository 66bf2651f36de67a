#pragma once

#include "support/files/file_bytes.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace feedline::test {

/// Writes an HDF5 file: "image", u8[1024], compressed by deflate in chunks of 64 samples; and
/// "label", a number.
inline std::filesystem::path write_compressed(const std::filesystem::path& file, hsize_t samples) {
  hdf5_writer writer{file};
  const auto values = various_bytes(samples * 1024);
  writer.write("image", H5T_STD_U8LE, {samples, 1024}, H5T_NATIVE_UINT8, values.data(),
               chunked("", {64, 1024}, [](hid_t creation) { H5Pset_deflate(creation, 1); }));
  writer.write("label", H5T_STD_U8LE, {samples}, H5T_NATIVE_UINT8, values.data());
  return writer.close();
}

/// 1000 samples of u8[10] in chunks of 8 with checksums; the chunk of samples 40 to 47 is damaged.
inline std::filesystem::path write_with_damage(const std::filesystem::path& file) {
  hdf5_writer writer{file};
  const auto values = various_bytes(10'000);
  writer.write("x", H5T_STD_U8LE, {1000, 10}, H5T_NATIVE_UINT8, values.data(),
               chunked("", {8, 10}, [](hid_t creation) { H5Pset_fletcher32(creation); }));
  (void)writer.close();
  auto bytes = bytes_of_file(file);
  const auto row =
      std::search(bytes.begin(), bytes.end(), values.begin() + 430, values.begin() + 440);
  if (row == bytes.end()) throw std::logic_error{"row 43 is not in the file"};
  *row ^= std::byte{1};
  std::ofstream{file, std::ios::binary}.write(reinterpret_cast<const char*>(bytes.data()),
                                              static_cast<std::streamsize>(bytes.size()));
  return file;
}

}  // namespace feedline::test
