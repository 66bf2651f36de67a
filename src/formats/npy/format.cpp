#include <feedline/error.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/npz.hpp>

#include "formats/npy/array.hpp"
#include "formats/open/format_table.hpp"
#include "io/file_magic.hpp"

#include <filesystem>

namespace feedline::detail {
namespace {

/// The default name of the only field of an array.
std::string stem_of(const std::string& file) {
  return std::filesystem::path{file}.stem().string();
}

/// All with the name of the first. If tokens are asked for, an array is a stream of them.
dataset_ptr open_arrays(const std::vector<std::string>& files, const open_options& options) {
  if (options.tokens_per_sample != 0) return find_format("tokens")->open(files, options);
  const std::string name = only_name(options, "npy", stem_of(files.front()));
  return open_each(files, [&](const std::string& path) { return open_npy(path, name); });
}

dataset_ptr open_archives(const std::vector<std::string>& files, const open_options& options) {
  const std::string name = stem_of(files.front());
  return open_each(files,
                   [&](const auto& path) { return open_whole_npz(path, options.fields, name); });
}

}  // namespace

format_entry npy_format() {
  return {.name = "npy",
          .known_as = "NumPy arrays",
          .is = [](const probed_file& file) { return is_npy(file.head); },
          .open = open_arrays,
          .list = [](const std::string& file,
                     const open_options&) { return std::vector{list_npy(file, stem_of(file))}; },
          .takes_tokens = true};
}

format_entry npz_format() {
  return {.name = "npz",
          .known_as = "NumPy archives",
          .is = [](const probed_file& file) { return is_npz(file.head); },
          .open = open_archives,
          .list = [](const std::string& file,
                     const open_options&) { return list_npz(file, stem_of(file)); }};
}

}  // namespace feedline::detail
