#include <feedline/feedline.hpp>
#include <feedline/image/sizes.hpp>

#include "python/bindings.hpp"
#include "python/datasets/arrays.hpp"
#include "python/datasets/sizes.hpp"
#include "python/interpreter/interruptible.hpp"
#include "python/named.hpp"
#include "python/samplers/own_order.hpp"
#include "python/samplers/sampler_object.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {
namespace {

nb::object indices(const sampler_object& self, std::uint64_t samples, std::uint64_t epoch,
                   std::uint64_t first, std::optional<std::uint64_t> count) {
  const std::uint64_t size = self.of.size(samples);
  if (first > size || (count && *count > size - first))
    throw usage_error{"the sampler has positions 0 to " + std::to_string(size - 1)};
  std::vector<sample_index> out(count.value_or(size - first));
  self.of.indices(samples, epoch, position{first}, out);
  nb::object array = make_array(element_type::u64, {out.size()});
  auto* const to = reinterpret_cast<std::uint64_t*>(bytes_of(array).data());
  for (std::size_t i = 0; i < out.size(); ++i) to[i] = out[i].value;
  return array;
}

sampler_object make_shuffle(std::uint64_t seed, std::optional<std::uint64_t> within,
                            std::uint64_t lanes) {
  shuffle order{.seed = seed, .lanes = lanes};
  if (within) order.within = chunks(*within);
  return {order};
}

sampler_object make_weighted(nb::handle weights, std::uint64_t seed, std::uint64_t epoch_size,
                             bool replacement) {
  const auto own = std::make_shared<std::vector<double>>(numbers<double>(weights));
  const weighted_options how{.seed = seed, .epoch_size = epoch_size, .replacement = replacement};
  return {interruptible([=] { return sampler{weighted{std::move(*own), how}}; })};
}

sampler_object make_class_balanced(nb::handle labels, std::uint64_t seed, std::uint64_t epoch_size,
                                   std::uint64_t classes) {
  const auto own = std::make_shared<const std::vector<std::int64_t>>(numbers<std::int64_t>(labels));
  const class_balanced_options how{.seed = seed, .epoch_size = epoch_size, .classes = classes};
  return {interruptible([=] {
    return sampler{class_balanced{std::span<const std::int64_t>{*own}, how}};
  })};
}

sampler_object make_mixture(const std::vector<dataset_ptr>& parts,
                            const std::vector<double>& weights, std::uint64_t seed,
                            std::uint64_t epoch_size) {
  return {mixture{parts, weights, {.seed = seed, .epoch_size = epoch_size}}};
}

sampler_object make_scheduled_mixture(
    const std::vector<dataset_ptr>& parts,
    const std::vector<std::pair<double, std::vector<double>>>& points, std::uint64_t seed,
    std::uint64_t epoch_size, const named<mixture_unit>& unit,
    const named<mixture_change>& change) {
  std::vector<mixture_point> at;
  for (const auto& [moment, weights] : points) at.push_back({moment, weights});
  return {scheduled_mixture{
      parts, at, {.seed = seed, .epoch_size = epoch_size, .unit = unit, .change = change}}};
}

sampler_object make_explicit_order(nb::handle indices, std::uint64_t rows) {
  const auto own =
      std::make_shared<const std::vector<std::uint64_t>>(numbers<std::uint64_t>(indices));
  return {interruptible([=] {
    return sampler{explicit_order{std::span<const std::uint64_t>{*own}, rows}};
  })};
}

/// @param of A ragged dataset, or the lengths of samples.
sampler_object make_bucket_by_length(
    const std::variant<ragged_dataset_ptr, std::vector<std::uint64_t>>& of, std::uint64_t seed,
    std::vector<std::uint64_t> boundaries, std::uint64_t buckets) {
  const bucket_options how{.seed = seed, .boundaries = std::move(boundaries), .buckets = buckets};
  if (const auto* const lengths = std::get_if<std::vector<std::uint64_t>>(&of))
    return {bucket_by_length{*lengths, how}};
  return {interruptible([=, from = std::get<ragged_dataset_ptr>(of)] {
    return sampler{bucket_by_length{*from, how}};
  })};
}

sampler_object make_bucket_by_aspect_ratio(
    const std::vector<std::pair<std::uint32_t, std::uint32_t>>& given, std::uint64_t seed,
    std::vector<double> boundaries, std::uint64_t buckets) {
  std::vector<image_size> sizes;
  for (const auto& [height, width] : given) sizes.push_back({height, width});
  const aspect_ratio_options how{
      .seed = seed, .boundaries = std::move(boundaries), .buckets = buckets};
  return {interruptible([=] { return sampler{bucket_by_aspect_ratio(sizes, how)}; })};
}

/// The dataset's order, in states of datasets that are identified by more than fields and size.
struct stream_order : sequential {
  std::uint64_t identity = 0;
  [[nodiscard]] std::uint64_t digest(std::uint64_t /*samples*/,
                                     std::uint64_t /*epoch*/) const noexcept {
    return identity;
  }
};

sampler_object make_stream_order(std::uint64_t identity) {
  stream_order order;
  order.identity = identity;
  return {sampler{order}};
}

/// @param drawer A `feedline._orders.Drawer`.
sampler_object make_own_order(nb::object drawer) {
  const nb::object held = held_objects::make();
  return {own_order{std::move(drawer), held_objects::of(held)}, {held}};
}

void bind_weights(nb::module_& module) {
  const weighted_options weights;
  module.def("weighted", &make_weighted, "weights"_a, nb::kw_only(), "seed"_a = weights.seed,
             "epoch_size"_a = weights.epoch_size, "replacement"_a = weights.replacement,
             nb::sig("def weighted(weights: typing.Any, *, seed: int = 0, epoch_size: int = 0, "
                     "replacement: bool = True) -> Sampler"),
             "Samples in proportion to their weights, one for each sample.");
  const class_balanced_options classes;
  module.def("class_balanced", &make_class_balanced, "labels"_a, nb::kw_only(),
             "seed"_a = classes.seed, "epoch_size"_a = classes.epoch_size,
             "classes"_a = classes.classes,
             nb::sig("def class_balanced(labels: typing.Any, *, seed: int = 0, "
                     "epoch_size: int = 0, classes: int = 0) -> Sampler"),
             "Each class as often as any other; a label for each sample.");
  const mixture_options mix;
  module.def("mixture", &make_mixture, "parts"_a, "weights"_a, nb::kw_only(), "seed"_a = mix.seed,
             "epoch_size"_a = mix.epoch_size,
             "Several datasets in given proportions, over what `concatenate` makes of them.");
  const scheduled_mixture_options scheduled;
  module.def(
      "scheduled_mixture", &make_scheduled_mixture, "parts"_a, "points"_a, nb::kw_only(),
      "seed"_a = scheduled.seed, "epoch_size"_a = scheduled.epoch_size,
      "unit"_a = named<mixture_unit>{scheduled.unit},
      "change"_a = named<mixture_change>{scheduled.change},
      "A mixture whose weights follow a schedule. `points` are pairs of a moment of training, "
      "in positions of all ranks or in epochs, and a weight for each part from there on; "
      "weights change linearly between two points, or in steps at each.");
}

}  // namespace

void bind_samplers(nb::module_& module) {
  nb::class_<sampler_object>(module, "Sampler", nb::dynamic_attr(),
                             nb::type_slots(collected<sampler_object>),
                             "Assigns a sample to each position of each epoch.")
      .def(
          "size",
          [](const sampler_object& self, std::uint64_t samples) { return self.of.size(samples); },
          "samples"_a, "Number of positions in an epoch over this many samples.")
      .def("indices", &indices, "samples"_a, "epoch"_a, "first"_a = 0, "count"_a = nb::none(),
           nb::sig("def indices(self, samples: int, epoch: int, first: int = 0, "
                   "count: int | None = None) -> numpy.typing.NDArray[typing.Any]"),
           "The samples at positions `first`, `first` + 1, …; None: to the epoch's end.")
      .def(
          "bind",
          [](const sampler_object& self, const dataset_ptr& of, std::uint64_t batch_size) {
            sampler bound = interruptible([=, by = self.of] { return by.bind(*of, batch_size); });
            return sampler_object{std::move(bound), self.held};
          },
          "dataset"_a, "batch_size"_a, "The sampler that a loader uses for a dataset.")
      .def(
          "_digest",
          [](const sampler_object& self, std::uint64_t samples, std::uint64_t epoch) {
            return self.of.digest(samples, epoch);
          },
          "samples"_a, "epoch"_a);

  module.def(
      "sequential", [] { return sampler_object{sequential{}}; }, "The dataset's order.");
  const shuffle order;
  module.def("shuffle", &make_shuffle, nb::kw_only(), "seed"_a = order.seed,
             "within"_a = nb::none(), "lanes"_a = order.lanes,
             "Every sample once, in an order drawn for each epoch. `within`: in windows of this "
             "many chunks of the dataset; 0: as many as it keeps in memory.");
  bind_weights(module);
  module.def(
      "explicit_order", &make_explicit_order, "indices"_a, nb::kw_only(), "rows"_a = 1,
      nb::sig("def explicit_order(indices: typing.Any, *, rows: int = 1) -> Sampler"),
      "A given order; `rows`: number of epochs whose orders follow one another in `indices`.");
  module.def("_own_order", &make_own_order, "drawer"_a);
  module.def("_stream_order", &make_stream_order, "identity"_a);
  const bucket_options bucket;
  module.def("bucket_by_length", &make_bucket_by_length, "dataset"_a, nb::kw_only(),
             "seed"_a = bucket.seed, "boundaries"_a = bucket.boundaries,
             "buckets"_a = bucket.buckets,
             "Batches of samples of similar length, from a ragged dataset or a number for each "
             "sample.");
  const aspect_ratio_options shape;
  module.def(
      "bucket_by_aspect_ratio", &make_bucket_by_aspect_ratio, "sizes"_a, nb::kw_only(),
      "seed"_a = shape.seed, "boundaries"_a = shape.boundaries, "buckets"_a = shape.buckets,
      "Batches of images of similar shape. `sizes` are (height, width) of each, such as from "
      "stored_image_sizes; `boundaries` are ratios of width over height.");
  module.def(
      "take",
      [](const sampler_object& of, const count_or_share& size, const named<take_from>& begin) {
        return sampler_object{take{of.of, as_size(size), begin}, of.held};
      },
      "sampler"_a, "size"_a, "begin"_a = named<take_from>{take_from::last_end},
      "Epochs of fewer positions: an int counts them, a float is a share of the sampler's epoch.");
}

}  // namespace feedline::python
