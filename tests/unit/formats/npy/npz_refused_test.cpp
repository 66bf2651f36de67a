#include <feedline/error.hpp>
#include <feedline/formats/npz.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/zip_bytes.hpp"

#include <string>

using namespace feedline;

TEST_CASE("npz: a feedline built without libzip refuses archives and says so", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = folder.write(
      "a.npz",
      test::zip_bytes(
          {{"x.npy", test::npy_bytes(test::npy_dictionary("|u1", "(3,)"), test::counting_bytes(3)),
            false}}));
  CHECK(test::message_of<dataset_error>([&] { (void)open_npz(file); }) ==
        file +
            ": is to be read as a zip archive, but this feedline was built without libzip; "
            "install libzip-dev and build it again, or unpack the archive and use open_npy");
}
