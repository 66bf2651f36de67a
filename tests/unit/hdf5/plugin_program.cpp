#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <vector>

using namespace feedline;

namespace {

bool succeeds = true;

void check(bool is_so, const std::string& what) {
  if (is_so) return;
  std::cerr << "this should be so: " << what << '\n';
  succeeds = false;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::byte> all_rows(const dataset& from) {
  std::vector<sample_index> samples;
  for (std::uint64_t i = 0; i < from.size(); ++i) samples.push_back(sample_index{i});
  std::vector<std::byte> rows(samples.size() * sample_bytes(from.fields()[0]));
  const std::vector<std::span<std::byte>> out{rows};
  from.read(samples, out);
  return rows;
}

}  // namespace

/// hdf5_plugin_program FOLDER: succeeds if what is stored through a filter of the folder's plugin,
/// which feedline does not undo, is read through the plugin, and a warning says why; and if the
/// error names the filter where plugins may not be loaded. A process of its own, for the library
/// reads once where it may look for them.
int main(int argc, char* argv[]) {
  const test::temporary_directory folder;
  const auto path = folder.path() / "inverted.h5";
  const auto values = test::various_bytes(1000);
  if (argc != 2) return EXIT_FAILURE;
  ::unsetenv("HDF5_PLUGIN_PRELOAD");
  ::setenv("HDF5_PLUGIN_PATH", argv[1], 1);
  test::hdf5_writer writer{path};
  writer.write("x", H5T_STD_U8LE, {100, 10}, H5T_NATIVE_UINT8, values.data(),
               test::chunked("", {8, 10}, [](hid_t creation) {
                 test::require_hdf5(
                     H5Pset_filter(creation, 32760, H5Z_FLAG_MANDATORY, 0, nullptr) >= 0,
                     "find the plugin");
               }));
  writer.close();

  const std::string why = "filter 32760 (inverting) is not one that feedline decodes";
  for (const std::size_t held : {std::size_t{0}, std::size_t{1} << 20}) {
    const test::log_capture log;
    const auto dataset = open_hdf5(path, {{"x"}}, {.max_resident_bytes = held});
    check(all_rows(*dataset) == values, "the plugin inverts what was inverted");
    check(contains(log.text(), why) == (held == 0),
          "a warning says why the library reads, unless it has read all: " + log.text());
  }
  const auto listed = list_hdf5_fields(path);
  check(listed.size() == 1 && listed[0].access == "through the HDF5 library: " + why,
        "the listing says why the library reads");

  test::require_hdf5(H5Zunregister(32760) >= 0 && H5PLset_loading_state(0) >= 0,
                     "forget the plugin");
  const auto message = test::message_of<hdf5_error>([&] { (void)open_hdf5(path, {{"x"}}); });
  check(contains(message,
                 "field 'x': is stored through filter 32760 (inverting), which is not "
                 "installed. 'pip install hdf5plugin' brings most filters, and HDF5_PLUGIN_PATH="),
        "the error names the filter: " + message);
  return succeeds ? EXIT_SUCCESS : EXIT_FAILURE;
}
