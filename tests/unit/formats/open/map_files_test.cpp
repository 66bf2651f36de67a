/// `map_files` is the process's: it holds in each library, also where these are shared.

#include <feedline/formats/open.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/io/map_files.hpp>

#include "support/checks/catch.hpp"
#include "support/files/idx_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

using namespace feedline;

namespace {

/// Says whether files may be mapped, for as long as a test takes.
class mapping {
 public:
  explicit mapping(bool allowed) { map_files(allowed); }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  ~mapping() { map_files(before_); }

 private:
  bool before_ = may_map_files();
};

bool is_mapped(const std::filesystem::path& file) {
  std::ostringstream all;
  all << std::ifstream{"/proc/self/maps"}.rdbuf();
  return all.str().find(file.string() + "\n") != std::string::npos;
}

std::filesystem::path write_hdf5(const std::filesystem::path& path, const test::hdf5_layout& how) {
  test::hdf5_writer file{path};
  const auto bytes = test::counting_bytes(64);
  file.write("x", H5T_STD_U8LE, {16, 4}, H5T_NATIVE_UINT8, bytes.data(), how);
  return file.close();
}

struct opened_by {
  std::string reader;
  std::filesystem::path file;
  std::function<dataset_ptr(const std::string&)> open;
};

std::vector<opened_by> all_readers(const std::filesystem::path& folder,
                                   const test::temporary_directory& in) {
  const auto any = [](const std::string& path) { return open(path); };
  const auto hdf5 = [](const std::string& path) { return open_hdf5(path, {{"x"}}); };
  const auto array =
      test::npy_bytes(test::npy_dictionary("<u2", "(3, 2)"), test::counting_bytes(12));
  const auto deflated = test::chunked("", {4, 4}, [](hid_t made) { H5Pset_deflate(made, 1); });
  return {
      {"open of NumPy", in.write("x.npy", array), any},
      {"open of tar", in.write("x.tar", test::tar_bytes{}.add("1.x.npy", array).ended()), any},
      {"open of HDF5", write_hdf5(folder / "open.h5", {"contiguous"}), any},
      {"open_hdf5 of plain rows", write_hdf5(folder / "plain.h5", {"contiguous"}), hdf5},
      {"open_hdf5 of chunks", write_hdf5(folder / "chunks.h5", deflated), hdf5},
  };
}

}  // namespace

TEST_CASE("map_files: it applies to each format, whichever library reads it", "[dataset][host]") {
  const test::temporary_directory folder;
  for (const opened_by& each : all_readers(folder.path(), folder)) {
    INFO(each.reader);
    const auto is_mapped_where = [&](bool allowed) {
      const mapping said{allowed};
      const auto data = each.open(each.file.string());
      return is_mapped(each.file);
    };
    CHECK_FALSE(is_mapped_where(false));
    CHECK(is_mapped_where(true));  // a file that is in memory, so that nothing else keeps it away
  }
}
