// doctor_file_program FILE: writes a compressed HDF5 file for the test that pastes and compiles the
// code that feedline-doctor recommends.

#include "programs/doctor_files.hpp"

#include <exception>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    (void)feedline::test::write_compressed(argv[1], 2000);
  } catch (const std::exception& error) {
    std::cerr << "doctor_file_program: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
