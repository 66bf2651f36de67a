#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>

#include "dataset/side_by_side.hpp"

#include <string>
#include <utility>

namespace feedline {

dataset_ptr zip(std::vector<dataset_ptr> parts) {
  if (parts.empty()) throw usage_error{"zip: there is no dataset"};
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (!parts[i]) throw usage_error{"zip: dataset " + std::to_string(i) + " is null"};
  return detail::side_by_side(std::move(parts));
}

}  // namespace feedline
