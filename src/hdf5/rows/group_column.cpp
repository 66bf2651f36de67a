#include "hdf5/rows/group_column.hpp"

#include <feedline/arrays/memory_array.hpp>
#include <feedline/error.hpp>

#include "arrays/box_list.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {
namespace {

std::size_t bytes_of(const array_spec& spec, std::span<const std::uint64_t> extents) {
  std::size_t bytes = size_bytes(spec.type);
  for (const std::uint64_t extent : extents) bytes *= static_cast<std::size_t>(extent);
  return bytes;
}

/// The part of a shape that all samples have in common.
std::vector<std::uint64_t> common_shape(const array_spec& spec, bool is_ragged) {
  return {spec.shape.begin() + (is_ragged ? 1 : 0), spec.shape.end()};
}

void require_alike(const hdf5_found_array& one, const hdf5_found_array& first, bool is_ragged) {
  const auto refuse = [&](const std::string& why) {
    throw hdf5_error{{.path = one.spec.path, .field = one.spec.name}, why};
  };
  if (is_ragged && one.field.is_single)
    refuse("is a single value, which has no length; open_hdf5_groups reads it");
  if (!is_ragged && one.field.samples == 0)
    refuse("holds no values: its first dimension is 0; open_hdf5_groups_ragged reads it");
  const auto text = [](const hdf5_found_array& each) {
    array_spec shown = each.spec;
    shown.name = "a dataset";
    return to_string(shown);
  };
  if (one.spec.type == first.spec.type && one.spec.shape.size() == first.spec.shape.size() &&
      common_shape(one.spec, is_ragged) == common_shape(first.spec, is_ragged))
    return;
  refuse("is " + text(one) + ", but the first sample's '" + first.spec.name + "' is " +
         text(first) +
         (is_ragged ? "; all dimensions but the first one are equal"
                    : "; datasets that differ in their first dimension are read by "
                      "open_hdf5_groups_ragged"));
}

/// A box of some indices of the first dimension, and all of the others.
box_list box_of(const array_spec& spec, std::uint64_t first, std::uint64_t count, std::byte* out) {
  std::vector<std::uint64_t> shape = spec.shape;
  if (!shape.empty()) shape.front() = count;
  const auto strides = dense_strides(shape, size_bytes(spec.type));
  std::vector<box_list::axis> axes;
  for (std::size_t d = 0; d < shape.size(); ++d)
    axes.push_back({d == 0 ? first : 0, shape[d], 1, strides[d]});
  box_list boxes;
  boxes.add(axes, out);
  return boxes;
}

}  // namespace

array_ptr hdf5_recent_arrays::get(std::uint64_t sample, hdf5_found_array& found) {
  const std::lock_guard guard{lock_};
  if (const auto kept = arrays_.find(sample); kept != arrays_.end()) return kept->second;
  array_ptr made = open_hdf5_found(found, max_bytes_ / 4);
  const auto cost = [](const array_ptr& array) {
    return bytes_of(array->spec(), array->spec().chunk) *
           static_cast<std::size_t>(array->spec().chunks_kept);
  };
  order_.push_back(sample);
  try {
    arrays_.emplace(sample, made);
  } catch (...) {  // each that is in the order is there
    order_.pop_back();
    throw;
  }
  bytes_ += cost(made);
  while (bytes_ > max_bytes_ && order_.size() > 1) {
    const auto oldest = arrays_.find(order_.front());
    bytes_ -= cost(oldest->second);
    arrays_.erase(oldest);
    order_.pop_front();
  }
  return made;
}

hdf5_group_column::hdf5_group_column(std::string name, std::vector<hdf5_found_array> found,
                                     const options& how)
    : recent_{std::make_unique<hdf5_recent_arrays>(how.cache_bytes)} {
  for (const hdf5_found_array& each : found) require_alike(each, found.front(), how.is_ragged);
  const array_spec& first = found.front().spec;
  spec_ = {std::move(name), first.type, common_shape(first, how.is_ragged)};
  std::size_t resident = how.resident_bytes;
  std::uint64_t by_library = 0;
  std::string reason;
  for (hdf5_found_array& each : found) {
    stored_sample& sample =
        samples_.emplace_back(stored_sample{each.spec.shape.empty() ? 1 : each.spec.shape.front()});
    if (sample.length == 0) continue;
    if (each.is_chunked()) {
      sample.chunks = std::make_unique<hdf5_found_array>(std::move(each));
      continue;
    }
    const bool is_slow = each.field.column != nullptr;
    if (is_slow) reason = each.field.storage.refusal;
    sample.array = open_hdf5_found(each, 0);
    if (!is_slow) continue;
    const std::size_t bytes = bytes_of(each.spec, each.spec.shape);
    if (bytes <= resident) {
      sample.array = load_array(sample.array);
      resident -= bytes;
    } else {
      ++by_library;
    }
  }
  if (by_library != 0)
    log()->warn(
        "{}: {} of {} samples of field '{}' are read through the HDF5 library, one thread at a "
        "time: {}",
        printable(first.path), by_library, samples_.size(), printable(spec_.name),
        printable(reason));
}

array_ptr hdf5_group_column::array_of(std::uint64_t sample) const {
  const stored_sample& stored = samples_[static_cast<std::size_t>(sample)];
  return stored.chunks ? recent_->get(sample, *stored.chunks) : stored.array;
}

void hdf5_group_column::read(std::uint64_t sample, std::uint64_t first, std::uint64_t count,
                             std::byte* out) const try {
  if (count == 0) return;
  const array_ptr array = array_of(sample);
  array->read(box_of(array->spec(), first, count, out).boxes());
} catch (const dataset_error& failure) {
  dataset_location where = failure.where();
  where.sample = sample;
  throw hdf5_error{std::move(where), failure.message()};
}

bool hdf5_group_column::wants_prefetch() const noexcept {
  // All are in one file: what holds for one that is read from there holds for the others.
  for (const stored_sample& each : samples_) {
    if (each.array && each.array->wants_prefetch()) return true;
    if (each.chunks) return each.chunks->field.file->is_cold();
    if (each.array) return false;
  }
  return false;
}

void hdf5_group_column::prefetch(std::uint64_t sample) const noexcept try {
  if (sample >= size() || length(sample) == 0) return;
  const array_ptr array = array_of(sample);
  array->prefetch(box_of(array->spec(), 0, length(sample), nullptr).boxes());
} catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
}

}  // namespace feedline::detail
