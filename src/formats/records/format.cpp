#include <feedline/formats/cifar.hpp>

#include "dataset/choose_fields.hpp"
#include "formats/open/format_entry.hpp"
#include "formats/records/cifar_format.hpp"

namespace feedline::detail {

format_entry cifar10_format() {
  return {
      .name = "cifar10",
      .known_as = "CIFAR-10's binary batches",
      .may_be =
          [](const probed_file& file) { return is_cifar(cifar10, file.head, file.file.size()); },
      .open =
          [](const std::vector<std::string>& files, const open_options& options) {
            return choose_fields(open_cifar10(files), options.fields);
          }};
}

format_entry cifar100_format() {
  return {
      .name = "cifar100",
      .known_as = "CIFAR-100's binary batches",
      .may_be =
          [](const probed_file& file) { return is_cifar(cifar100, file.head, file.file.size()); },
      .open =
          [](const std::vector<std::string>& files, const open_options& options) {
            return choose_fields(open_cifar100(files), options.fields);
          }};
}

}  // namespace feedline::detail
