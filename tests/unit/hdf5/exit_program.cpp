#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/hdf5/ragged.hpp>

#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

using namespace feedline;

namespace {

/// In a process of its own, which leaves without the library's exit functions: they may crash
/// there.
/// @return Whether the library could.
bool write_cache_image(const std::filesystem::path& path) {
  const pid_t writer = ::fork();
  if (writer == 0) {
    try {
      test::hdf5_writer file{path, {.latest_format = true, .cache_image = true}};
      const auto values = test::various_bytes(20);
      file.write("x", H5T_STD_U8LE, {20}, H5T_NATIVE_UINT8, values.data());
      file.close();
    } catch (const std::exception&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  return ::waitpid(writer, &status, 0) == writer && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

/// Succeeds if a file whose metadata is in a cache image is refused, and the HDF5 library's exit
/// functions then end well.
int main() {
  const test::temporary_directory folder;
  const auto path = folder.path() / "image.h5";
  if (!write_cache_image(path)) {
    std::cout << "[feedline skip] this HDF5 library cannot write a cache image\n";
    return EXIT_SUCCESS;
  }
  const std::string expected =
      path.string() +
      ": its metadata was left in a cache image, after which the HDF5 library may crash when the "
      "program ends; rewrite it by 'h5repack image.h5 NEW.h5', and open that";
  const std::string messages[] = {
      test::message_of<hdf5_error>([&] { (void)list_hdf5_fields(path); }),
      test::message_of<hdf5_error>([&] { (void)open_hdf5(path, {{"x"}}); }),
      test::message_of<hdf5_error>([&] { (void)open_hdf5_ragged(path, {"x"}); })};
  bool is_refused = true;
  for (const std::string& message : messages) {
    std::cout << message << '\n';
    is_refused = is_refused && message == expected;
  }
  // The library is used once more, so that it has something to end.
  test::hdf5_writer{folder.path() / "other.h5"}.close();
  return is_refused && list_hdf5_fields(folder.path() / "other.h5").empty() ? EXIT_SUCCESS
                                                                            : EXIT_FAILURE;
}
