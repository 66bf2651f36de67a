/// The calls of cuFile, against a library in its stead.

#include "cuda/storage/cufile.hpp"

#include <feedline/error.hpp>

#include "gpu/storage/cufile_fake.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#if __has_include(<cufile.h>)
#include <cufile.h>
#endif

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace feedline::test;

#if __has_include(<cufile.h>)
// What was declared by hand is laid out as the toolkit's header has it.
static_assert(sizeof(cufile_library::status) == sizeof(CUfileError_t));
static_assert(offsetof(cufile_library::status, code) == offsetof(CUfileError_t, err));
static_assert(sizeof(cufile_library::description) == sizeof(CUfileDescr_t));
static_assert(offsetof(cufile_library::description, file) == offsetof(CUfileDescr_t, handle));
static_assert(offsetof(cufile_library::description, calls) == offsetof(CUfileDescr_t, fs_ops));
static_assert(CU_FILE_HANDLE_TYPE_OPAQUE_FD == 1);
static_assert(std::is_same_v<decltype(&cuFileRead), decltype(cufile_library::read)>);
static_assert(
    std::is_same_v<decltype(&cuFileHandleDeregister), decltype(cufile_library::deregister_file)>);
#endif

namespace {

/// A file, and a script that says nothing.
struct opened {
  opened() {
    cufile().driver_code = cufile().register_code = 0;
    cufile().read_result = 0;
    cufile().copy = nullptr;
    cufile().most_at_once = std::numeric_limits<std::size_t>::max();
  }
  temporary_directory folder;
  std::vector<std::byte> bytes = numbered(20'000);
  descriptor file{folder.write("rows.bin", bytes).c_str()};
};

}  // namespace

TEST_CASE("cufile: bytes of a file come to where they are wanted, also piece by piece",
          "[cuda][host]") {
  const opened with;
  cufile().most_at_once = GENERATE(100'000U, 4096U, 1U);
  const cufile_file file{with.file.number()};
  std::vector<std::byte> out(5002, std::byte{0xEE});
  file.read(777, 5000, out.data() + 1);
  CHECK(out.front() == std::byte{0xEE});
  CHECK(out.back() == std::byte{0xEE});
  CHECK(std::equal(out.begin() + 1, out.end() - 1, with.bytes.begin() + 777));
}

TEST_CASE("cufile: a file is opened anew, registered as long as it is used, the driver once",
          "[cuda][host]") {
  auto with = std::make_unique<opened>();
  const int before = cufile().registered;
  {
    const cufile_file file{with->file.number()};
    CHECK(cufile().registered == before + 1);
    const cufile_file again{with->file.number()};
    CHECK(cufile().registered == before + 2);
    const auto bytes = with->bytes;
    with.reset();  // whoever opened it may close it
    std::byte last{};
    file.read(19'999, 1, &last);
    CHECK(last == bytes.back());
  }
  CHECK(cufile().registered == before);
  CHECK(cufile().driver_opens == 1);
}

TEST_CASE("cufile: what is refused is told by the call and its code", "[cuda][host]") {
  const opened with;
  const int before = cufile().registered;
  cufile().register_code = 5027;
  const auto make = [&] { const cufile_file file{with.file.number()}; };
  CHECK(contains(message_of<device_error>(make), "cuFileHandleRegister failed with 5027"));
  CHECK(cufile().registered == before);
  cufile().register_code = 0;
  CHECK(contains(message_of<device_error>([] { const cufile_file file{-1}; }), "cannot be opened"));

  const cufile_file file{with.file.number()};
  std::vector<std::byte> out(5000);
  const auto beyond = [&] { file.read(19'000, 5000, out.data()); };
  CHECK(contains(message_of<device_error>(beyond), "4000 bytes at 20000 gave 0"));
  cufile().read_result = -5030;
  const auto read = [&] { file.read(0, 5000, out.data()); };
  CHECK(contains(message_of<device_error>(read), "gave -5030"));
}
