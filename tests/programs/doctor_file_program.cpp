// doctor_file_program packed|damaged FILE: writes an HDF5 file for the test that pastes and
// compiles the code that feedline-doctor recommends.

#include "programs/doctor_files.hpp"

#include <exception>
#include <iostream>
#include <string_view>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    if (std::string_view{argv[1]} == "packed")
      (void)feedline::test::write_compressed(argv[2], 2000);
    else
      (void)feedline::test::write_with_damage(argv[2]);
  } catch (const std::exception& error) {
    std::cerr << "doctor_file_program: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
