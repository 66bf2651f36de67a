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

/// Output of a run of feedline-doctor.
struct doctor_run {
  int code = 0;
  std::string out;
  std::string err;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// Runs feedline-doctor in this process: unless they are given, for a short time, without a GPU.
/// @param find Finds the GPU that is asked for by --gpu.
inline doctor_run run_doctor(std::vector<std::string> arguments, bool terminal = false,
                             const doctor::gpu_finder& find = doctor::find_gpu) {
  arguments.insert(arguments.begin(), "feedline-doctor");
  if (std::ranges::count(arguments, "--gpu") == 0) arguments.emplace_back("--no-gpu");
  if (std::ranges::count(arguments, "--seconds") == 0)
    arguments.insert(arguments.end(), {"--seconds", "0.4"});
  std::vector<const char*> words;
  for (const std::string& each : arguments) words.push_back(each.c_str());
  std::ostringstream out;
  std::ostringstream err;
  const int code =
      doctor::run(static_cast<int>(words.size()), words.data(), out, err, terminal, find);
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

/// Same as `write_compressed`, for "packed.h5" in a folder.
inline std::filesystem::path write_packed(const temporary_directory& folder,
                                          hsize_t samples = 2000) {
  return write_compressed(folder.path() / "packed.h5", samples);
}

/// Same as `write_with_damage`, for "damaged.h5" in a folder.
inline std::filesystem::path write_damaged(const temporary_directory& folder) {
  return write_with_damage(folder.path() / "damaged.h5");
}

}  // namespace feedline::test
