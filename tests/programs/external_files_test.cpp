#include "programs/doctor_runs.hpp"
#include "support/hdf5/virtual_file.hpp"

#include <filesystem>
#include <string>

using namespace feedline;
using namespace feedline::test;

TEST_CASE("doctor: files that an HDF5 file names are read if that was asked for",
          "[programs][host]") {
  const temporary_directory folder;
  const temporary_directory elsewhere;
  write_numbers(elsewhere.path() / "other.h5", 0, 200);
  hdf5_writer writer{folder.path() / "link.h5"};
  writer.make_external_link(elsewhere.path() / "other.h5", "/x", "x");
  const auto file = writer.close();
  for (const std::string& rule :
       {std::string{}, std::string{"refuse"}, std::string{"same-folder"}}) {
    const auto refused = rule.empty() ? run_doctor({file.string()})
                                      : run_doctor({file.string(), "--external", rule});
    INFO(rule << refused.out << refused.err);
    CHECK(refused.code == 1);
    CHECK(says(refused.out + refused.err, (elsewhere.path() / "other.h5").string()));
  }
  const auto read = run_doctor({file.string(), "--external", "allow", "--batch-size", "50"});
  INFO(read.out << read.err);
  CHECK(read.code == 0);
  CHECK(says(read.out, ".external = feedline::external_files::allow"));
  CHECK(run_doctor({file.string(), "--external", "all"}).code == 2);
}

TEST_CASE("doctor: names out of a file command no terminal", "[programs][host]") {
  const temporary_directory folder;
  const std::string name = "x\x1b[2J";
  hdf5_writer writer{folder.path() / "names.h5"};
  const auto values = various_bytes(100);
  writer.write(name, H5T_STD_U8LE, {100}, H5T_NATIVE_UINT8, values.data());
  const auto run = run_doctor({writer.close().string(), "--batch-size", "50"});
  CHECK(run.code == 0);
  CHECK(says(run.out, "x\\x1b[2J"));
  CHECK_FALSE(says(run.out + run.err, "\x1b"));
}
