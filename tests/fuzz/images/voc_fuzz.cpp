/// Fuzz target of Pascal VOC's format: any bytes are an image's boxes, or a dataset_error that
/// names the file.

#include <feedline/error.hpp>

#include "image/sets/voc_file.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

using namespace feedline;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "voc_fuzz: does not hold: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = "1.xml";
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    std::string file;
    const annotated_image image = detail::read_voc(path, text, {"cat", "dog"}, file);
    require(image.height >= 1 && image.width >= 1, "a side is 1 or more long");
    require(image.labels.size() == image.boxes.size(), "a box has a label");
    require(image.flags.size() == image.boxes.size(), "a box has a flag");
    for (const std::int32_t label : image.labels)
      require(label == 0 || label == 1, "a label is a class");
  } catch (const dataset_error& error) {
    require(error.path() == path, "an error names the file");
    require(!error.message().empty(), "an error says what is wrong");
  }
  return 0;
}
