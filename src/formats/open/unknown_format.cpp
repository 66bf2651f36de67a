#include "formats/open/format_table.hpp"
#include "formats/open/open_whole.hpp"
#include "io/file_magic.hpp"
#include "io/gzip_source.hpp"
#include "io/random_file.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

namespace feedline::detail {
namespace {

std::string described(std::span<const std::byte> head) {
  if (head.empty()) return "it is empty";
  if (is_jpeg(head) || is_png(head))
    return "it is a single image; open the folder that holds a folder of images for each class";
  if (is_gzip(head)) return "it is compressed, and not IDX; decompress it";
  if (begins_with<4>(head, {'P', 'K', 3, 4}))
    return "it is a zip archive, but not one of NumPy arrays; unpack it";
  std::string text = "it begins with";
  for (const std::byte byte : head.first(std::min<std::size_t>(head.size(), 8))) {
    std::array<char, 4> hex{};
    std::snprintf(hex.data(), hex.size(), " %02x", std::to_integer<unsigned>(byte));
    text += hex.data();
  }
  return text;
}

}  // namespace

dataset_error unknown_format(const std::filesystem::path& path) {
  const random_file file{path};
  std::vector<std::byte> head(static_cast<std::size_t>(std::min<std::uint64_t>(8, file.size())));
  file.read(0, head);
  std::string known;
  for (const format_entry& entry : format_table())
    known += (known.empty() ? "" : ", ") + std::string{entry.known_as};
  return {
      {.path = path.string(), .field = {}},
      "of no format that is known by its content: " + described(head) + ". Known are " + known +
          "; records of a fixed size and tokens without a header are opened by open_records and "
          "open_tokens"};
}

}  // namespace feedline::detail
