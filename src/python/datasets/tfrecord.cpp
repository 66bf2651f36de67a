#include <feedline/formats/tfrecord.hpp>
#include <feedline/image/decode.hpp>

#include "python/bindings.hpp"
#include "python/dataset_object.hpp"
#include "python/datasets/record_decoder.hpp"
#include "python/interpreter/interruptible.hpp"
#include "python/named.hpp"

#include <cstdint>
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

using record_file = std::filesystem::path;
using record_files = std::variant<record_file, std::vector<record_file>>;
using feature_shape = std::vector<std::uint64_t>;

std::vector<std::string> record_paths(const record_files& given) {
  if (const auto* const one = std::get_if<record_file>(&given)) return {one->string()};
  std::vector<std::string> paths;
  for (const record_file& each : std::get<1>(given)) paths.push_back(each.string());
  return paths;
}

}  // namespace

void bind_tfrecord(nb::module_& module) {
  nb::class_<tfrecord_feature>(module, "TfrecordFeature",
                               "How a feature becomes a field: by a decoder, with a shape, or "
                               "ragged.")
      .def(
          "__init__",
          [](tfrecord_feature* self, const std::optional<decoder_ptr>& decoder,
             const std::optional<feature_shape>& of, bool is_ragged) {
            new (self) tfrecord_feature{
                .decoder = decoder.value_or(nullptr), .shape = of, .is_ragged = is_ragged};
          },
          nb::kw_only(), "decoder"_a = nb::none(), "shape"_a = nb::none(), "is_ragged"_a = false)
      .def_ro("is_ragged", &tfrecord_feature::is_ragged);
  const tfrecord_options usual;
  module.def(
      "open_tfrecord",
      [](const record_files& paths, std::vector<std::string> fields,
         const std::map<std::string, tfrecord_feature>& features,
         const std::optional<image_options>& image, const std::map<std::string, pad_options>& pad,
         const std::optional<record_file>& index_folder, std::size_t looked_at,
         const std::optional<bound_record_decoder>& record) {
        const tfrecord_options how{.fields = std::move(fields),
                                   .features = features,
                                   .image = image ? make_image_decoder(*image) : nullptr,
                                   .pad = pad,
                                   .record = record ? record->of : nullptr,
                                   .index_folder = index_folder ? index_folder->string() : "",
                                   .looked_at = looked_at};
        dataset_object opened{
            interruptible([=] { return open_tfrecord(record_paths(paths), how); })};
        if (record) opened.held.push_back(record->held);
        return opened;
      },
      "files"_a, nb::kw_only(), "fields"_a = usual.fields, "features"_a = usual.features,
      "image"_a = nb::none(), "pad"_a = usual.pad, "index_folder"_a = nb::none(),
      "looked_at"_a = usual.looked_at, "record"_a = nb::none(),
      "TFRecord files of tf.train.Example or SequenceExample, as one sequence; each feature is a "
      "field. Without `image`, JPEG and PNG files stay bytes. `index_folder` keeps what a scan of "
      "each file found. `record`: a RecordDecoder, for records of another kind.");
}

}  // namespace feedline::python
