#pragma once

#include "support/hdf5/writer.hpp"

#include <filesystem>

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

}  // namespace feedline::test
