#include <feedline/error.hpp>
#include <feedline/formats/cifar.hpp>
#include <feedline/formats/expand_paths.hpp>
#include <feedline/formats/records.hpp>

#include "formats/records/cifar_format.hpp"
#include "io/file_system.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// A file of more records, which the published ones are not, has this many looked at, evenly
/// spread.
constexpr std::uint64_t max_labels_looked_at = 50'000;

std::string name_of(const detail::cifar_format& format) {
  return format.label_bytes == 1 ? "CIFAR-10" : "CIFAR-100";
}

void require_whole_records(const detail::byte_file& file, const detail::cifar_format& format) {
  const std::uint64_t size = file.size();
  const std::uint64_t rest = size % format.record_bytes();
  if (size != 0 && rest == 0) return;
  throw dataset_error{{.path = file.name(), .field = {}, .sample = {}, .offset = size - rest},
                      "the file's " + std::to_string(size) + " bytes are not a whole number of " +
                          name_of(format) + "'s records of " +
                          std::to_string(format.record_bytes()) +
                          " bytes; check that it is of the set's binary version, unpacked, or get "
                          "it again"};
}

/// Labels tell a file of another format, which may be as long.
void require_labels(const detail::byte_file& file, const std::vector<record_field>& fields,
                    const detail::cifar_format& format) {
  const std::uint64_t records = file.size() / format.record_bytes();
  const std::uint64_t looked_at = std::min(records, max_labels_looked_at);
  std::array<std::byte, 2> room{};
  const auto labels = std::span{room}.first(format.label_bytes);
  for (std::uint64_t i = 0; i < looked_at; ++i) {
    const std::uint64_t sample = i * (records / looked_at);
    const std::uint64_t offset = sample * format.record_bytes();
    file.read(offset, labels);
    for (std::size_t byte = 0; byte < labels.size(); ++byte) {
      const auto label = std::to_integer<unsigned>(labels[byte]);
      const unsigned largest = format.largest_label(byte);
      if (label <= largest) continue;
      throw dataset_error{{.path = file.name(),
                           .field = fields[byte].name,
                           .sample = sample,
                           .offset = offset + byte},
                          std::to_string(label) + " is not a label of " + name_of(format) +
                              " (0 to " + std::to_string(largest) +
                              "); check that the file is of this set, or get it again"};
    }
  }
}

dataset_ptr open_cifar(const std::string& who, const std::vector<std::string>& files,
                       const std::vector<record_field>& fields,
                       const detail::cifar_format& format) {
  if (files.empty()) throw usage_error{who + ": there is no file to open"};
  const auto paths = expand_paths(files);
  for (const std::string& path : paths) {
    const detail::byte_file_ptr file = detail::open_file(path);
    require_whole_records(*file, format);
    require_labels(*file, fields, format);
  }
  return open_records(paths, fields);
}

}  // namespace

dataset_ptr open_cifar10(const std::vector<std::string>& files) {
  return open_cifar("open_cifar10", files,
                    {{"label", element_type::u8}, {"image", element_type::u8, {3, 32, 32}}},
                    detail::cifar10);
}

dataset_ptr open_cifar100(const std::vector<std::string>& files) {
  return open_cifar("open_cifar100", files,
                    {{"coarse_label", element_type::u8},
                     {"fine_label", element_type::u8},
                     {"image", element_type::u8, {3, 32, 32}}},
                    detail::cifar100);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
