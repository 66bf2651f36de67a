/// Fuzz target of COCO's format: any bytes are its content, or a dataset_error that names the file.

#include <feedline/error.hpp>

#include "image/sets/coco_content.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace feedline;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "coco_fuzz: does not hold: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = "all.json";
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    const detail::coco_content content = detail::read_coco(path, text);
    for (const detail::coco_content::image& each : content.images)
      require(each.height >= 1 && each.height <= 65535 && each.width >= 1 && each.width <= 65535,
              "a side is 1 to 65535 long");
    for (const detail::coco_content::annotation& each : content.annotations)
      require(each.keypoints.size() % 3 == 0, "a point has three numbers");
  } catch (const dataset_error& error) {
    require(error.path() == path, "an error names the file");
    require(!error.message().empty(), "an error says what is wrong");
  }
  return 0;
}
