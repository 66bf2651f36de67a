#include "hdf5/library/session.hpp"

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/file_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Takes what the process prints on its standard error while one lives.
class error_output {
 public:
  explicit error_output(std::filesystem::path path)
      : path_{std::move(path)}, before_{::dup(STDERR_FILENO)} {
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    (void)::dup2(file, STDERR_FILENO);
    (void)::close(file);
  }
  error_output(const error_output&) = delete;
  error_output& operator=(const error_output&) = delete;
  ~error_output() {
    (void)::dup2(before_, STDERR_FILENO);
    (void)::close(before_);
  }

  [[nodiscard]] std::string text() const {
    const auto bytes = bytes_of_file(path_);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::filesystem::path path_;
  int before_;
};

/// A file whose dataset "x" only the library can read, and not all of it.
std::filesystem::path write_damaged(const temporary_directory& folder) {
  hdf5_writer writer{folder.path() / "damaged.h5"};
  const auto values = various_bytes(1000);
  writer.write("x", H5T_STD_U8LE, {100, 10}, H5T_NATIVE_UINT8, values.data(),
               chunked("", {8, 10}, [](hid_t creation) {
                 H5Pset_nbit(creation);
                 H5Pset_fletcher32(creation);
               }));
  auto bytes = bytes_of_file(writer.close());
  const auto row =
      std::search(bytes.begin(), bytes.end(), values.begin() + 430, values.begin() + 440);
  REQUIRE(row != bytes.end());
  *row ^= std::byte{1};
  return folder.write("damaged.h5", bytes);
}

void call_that_fails() {
  (void)H5Fopen("/nowhere.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
}

int printed_by_user = 0;
herr_t print_by_user(hid_t /*stack*/, void* /*data*/) {
  ++printed_by_user;
  return 0;
}
herr_t print_by_user_v1(void* /*data*/) {
  ++printed_by_user;
  return 0;
}

}  // namespace

TEST_CASE("hdf5 session: a reader thread that meets an error prints nothing of the library's",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto opened = open_hdf5(write_damaged(folder), {{"x"}}, {.max_resident_bytes = 0});
  const error_output printed{folder.path() / "stderr"};
  const auto words = message_of<stage_error>([&] {
    loader from{opened, sequential{}, make_host_device(), {.batch_size = 10, .readers = 2}};
    for (const batch& each : from.epoch(0)) (void)each;
  });
  CAPTURE(words);  // the library's own words for it differ from version to version
  CHECK(words.find("damaged.h5: field 'x', sample 40: cannot be read: ") != std::string::npos);
  CHECK(printed.text().find("HDF5-DIAG") == std::string::npos);
}

TEST_CASE("hdf5 session: a user's own printing, of either interface, is restored",
          "[dataset][host]") {
  H5E_auto2_t before = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data);
  printed_by_user = 0;
  SECTION("of today's") {
    H5Eset_auto2(H5E_DEFAULT, print_by_user, nullptr);
  }
  SECTION("of the older") {
    H5Eset_auto1(print_by_user_v1, nullptr);
  }
  {
    const detail::hdf5_session hdf5;
    call_that_fails();
    CHECK(printed_by_user == 0);
    CHECK(hdf5.last_message().find("No such file") != std::string::npos);
  }
  call_that_fails();
  CHECK(printed_by_user == 1);
  H5Eset_auto2(H5E_DEFAULT, before, data);
}

TEST_CASE("hdf5 session: a thread without a session prints errors as its user set it",
          "[dataset][host]") {
  const temporary_directory folder;
  const error_output printed{folder.path() / "stderr"};
  std::thread{[] {
    {
      const detail::hdf5_session hdf5;
      call_that_fails();
    }
    H5Eset_auto2(H5E_DEFAULT, print_by_user, nullptr);
    printed_by_user = 0;
    { const detail::hdf5_session hdf5; }
    call_that_fails();
    H5Eclear2(H5E_DEFAULT);  // else the library cannot be closed
  }}.join();
  CHECK(printed_by_user == 1);
  CHECK(printed.text().empty());
}
