// external_link_program FOLDER: writes FOLDER/near/link.h5, whose dataset "x" lies in the file
// FOLDER/other.h5, and FOLDER/other.h5.

#include "support/hdf5/virtual_file.hpp"

#include <filesystem>

int main(int, char** argv) {
  const std::filesystem::path folder = std::filesystem::canonical(argv[1]);
  std::filesystem::create_directories(folder / "near");
  feedline::test::write_numbers(folder / "other.h5", 0, 200);
  feedline::test::hdf5_writer writer{folder / "near" / "link.h5"};
  writer.make_external_link(folder / "other.h5", "/x", "x");
  (void)writer.close();
}
