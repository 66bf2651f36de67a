#pragma once

#include "programs/doctor/program.hpp"
#include "programs/doctor_files.hpp"
#include "support/checks/catch.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace feedline::test {

/// What a run of feedline-doctor has said.
struct doctor_run {
  int code = 0;
  std::string out;
  std::string err;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// Runs feedline-doctor in this process: unless they are given, for a short time, without a GPU.
inline doctor_run run_doctor(std::vector<std::string> arguments, bool terminal = false) {
  arguments.insert(arguments.begin(), "feedline-doctor");
  if (std::ranges::count(arguments, "--gpu") == 0) arguments.emplace_back("--no-gpu");
  if (std::ranges::count(arguments, "--seconds") == 0)
    arguments.insert(arguments.end(), {"--seconds", "0.4"});
  std::vector<const char*> words;
  for (const std::string& each : arguments) words.push_back(each.c_str());
  std::ostringstream out;
  std::ostringstream err;
  const int code = doctor::run(static_cast<int>(words.size()), words.data(), out, err, terminal);
  return {code, out.str(), err.str()};
}

inline bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// 1000 samples of u8[16].
inline std::filesystem::path write_rows(const temporary_directory& folder) {
  return folder.write("rows.npy",
                      npy_bytes(npy_dictionary("|u1", "(1000, 16)"), counting_bytes(16'000)));
}

/// As `write_compressed`, "packed.h5" in a folder.
inline std::filesystem::path write_packed(const temporary_directory& folder,
                                          hsize_t samples = 2000) {
  return write_compressed(folder.path() / "packed.h5", samples);
}

/// 1000 samples of u8[10] in chunks of 8 with checksums; the chunk of samples 40 to 47 is damaged.
inline std::filesystem::path write_damaged(const temporary_directory& folder) {
  hdf5_writer writer{folder.path() / "damaged.h5"};
  const auto values = various_bytes(10'000);
  writer.write("x", H5T_STD_U8LE, {1000, 10}, H5T_NATIVE_UINT8, values.data(),
               chunked("", {8, 10}, [](hid_t creation) { H5Pset_fletcher32(creation); }));
  const auto file = writer.close();
  auto bytes = bytes_of_file(file);
  const auto row =
      std::search(bytes.begin(), bytes.end(), values.begin() + 430, values.begin() + 440);
  REQUIRE(row != bytes.end());
  *row ^= std::byte{1};
  return folder.write("damaged.h5", bytes);
}

}  // namespace feedline::test
