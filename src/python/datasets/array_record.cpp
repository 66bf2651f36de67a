#include <feedline/formats/array_record.hpp>
#include <feedline/image/decode.hpp>

#include "python/bindings.hpp"
#include "python/dataset_object.hpp"
#include "python/datasets/record_decoder.hpp"
#include "python/interpreter/interruptible.hpp"
#include "python/named.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

using array_file = std::filesystem::path;
using array_files = std::variant<array_file, std::vector<array_file>>;

std::vector<std::string> array_paths(const array_files& given) {
  if (const auto* const one = std::get_if<array_file>(&given)) return {one->string()};
  std::vector<std::string> paths;
  for (const array_file& each : std::get<1>(given)) paths.push_back(each.string());
  return paths;
}

}  // namespace

void bind_array_record(nb::module_& module) {
  const array_record_options usual;
  module.def(
      "open_array_record",
      [](const array_files& paths, std::vector<std::string> fields,
         const std::map<std::string, tfrecord_feature>& features,
         const std::optional<column_options>& value, const std::optional<image_options>& image,
         const std::map<std::string, pad_options>& pad, std::size_t looked_at,
         std::size_t max_host_cache_bytes, const std::optional<bound_record_decoder>& record) {
        const array_record_options how{
            .examples = {.fields = std::move(fields),
                         .features = features,
                         .image = image ? make_image_decoder(*image) : nullptr,
                         .pad = pad,
                         .record = record ? record->of : nullptr,
                         .looked_at = looked_at},
            .value = value,
            .max_host_cache_bytes = max_host_cache_bytes};
        dataset_object opened{
            interruptible([=] { return open_array_record(array_paths(paths), how); })};
        if (record) opened.held.push_back(record->held);
        return opened;
      },
      "files"_a, nb::kw_only(), "fields"_a = usual.examples.fields,
      "features"_a = usual.examples.features, "value"_a = nb::none(), "image"_a = nb::none(),
      "pad"_a = usual.examples.pad, "looked_at"_a = usual.examples.looked_at,
      "max_host_cache_bytes"_a = usual.max_host_cache_bytes, "record"_a = nb::none(),
      "ArrayRecord files, as one sequence. Records of tf.train.Example or SequenceExample have the "
      "fields of open_tfrecord; others are bytes, the field \"value\", as `value` says. Without "
      "`image`, JPEG and PNG files stay bytes. `record`: a RecordDecoder, for records that neither "
      "describes. Chunks of several records are decompressed whole, "
      "and kept within `max_host_cache_bytes` (0: a quarter of the memory).");
}

}  // namespace feedline::python
