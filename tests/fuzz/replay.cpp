/// Runs a fuzz target over files, with any compiler: every file of the folders it is given.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char* argv[]) {
  int files = 0;
  for (int i = 1; i < argc; ++i)
    for (const auto& entry : std::filesystem::directory_iterator{argv[i]}) {
      std::printf("%s\n", entry.path().filename().c_str());
      std::fflush(stdout);  // the last name printed is the one that ended the program
      std::ifstream file{entry.path(), std::ios::binary};
      const std::vector<char> bytes{std::istreambuf_iterator<char>{file}, {}};
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++files;
    }
  if (files == 0) std::fprintf(stderr, "no file to replay\n");
  return files == 0 ? 1 : 0;
}
