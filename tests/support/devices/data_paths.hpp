#pragma once

#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "staging/device_row_cache.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/encoded_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace feedline::test {

/// One of the ways on which samples reach a consumer. What a loader promises holds on all of them.
enum class data_path : std::uint8_t {
  in_place,     ///< the host device
  stream,       ///< a device with copies
  transformed,  ///< the same; slots are assembled, for a field is converted on the device
  gather,
  resident,
  cached_half,  ///< half of the rows stay with the device
  cached_few,   ///< a handful of them do
  decoded,      ///< a device with copies that decodes blocks
};

/// For GENERATE(from_range(…)).
inline const std::vector<data_path>& all_data_paths() {
  static const std::vector<data_path> ways{
      data_path::in_place, data_path::stream,      data_path::transformed, data_path::gather,
      data_path::resident, data_path::cached_half, data_path::cached_few,  data_path::decoded};
  return ways;
}
/// Those that a device without decoders can be used on.
inline const std::vector<data_path>& data_paths_without_decoder() {
  static const std::vector<data_path> ways{
      data_path::in_place, data_path::stream,      data_path::transformed, data_path::gather,
      data_path::resident, data_path::cached_half, data_path::cached_few};
  return ways;
}
/// Those on which the dataset is read in every epoch.
inline const std::vector<data_path>& reading_data_paths() {
  static const std::vector<data_path> ways{data_path::in_place,    data_path::stream,
                                           data_path::transformed, data_path::cached_half,
                                           data_path::cached_few,  data_path::decoded};
  return ways;
}
/// Those on which the dataset is read in the first epoch at least.
inline const std::vector<data_path>& first_reading_data_paths() {
  static const std::vector<data_path> ways{
      data_path::in_place,    data_path::stream,     data_path::transformed, data_path::resident,
      data_path::cached_half, data_path::cached_few, data_path::decoded};
  return ways;
}
/// Paths on which a slot is assembled from a copy destination.
inline const std::vector<data_path>& assembled_data_paths() {
  static const std::vector<data_path> ways{data_path::transformed, data_path::gather,
                                           data_path::resident,    data_path::cached_half,
                                           data_path::cached_few,  data_path::decoded};
  return ways;
}
/// Those of them on which nothing comes ahead of a slot, and batches are there as soon as their
/// assembly is issued. Where blocks are decoded `next` waits for the assembly.
inline const std::vector<data_path>& slotwise_data_paths() {
  static const std::vector<data_path> ways{data_path::transformed, data_path::gather,
                                           data_path::resident, data_path::cached_half,
                                           data_path::cached_few};
  return ways;
}
inline std::string to_string(data_path through) {
  static const std::array<const char*, 8> names{"in place",   "stream",   "transformed",
                                                "gather",     "resident", "cached half",
                                                "cached few", "decoded"};
  return names.at(static_cast<std::size_t>(through));
}

/// The options, and what makes a loader of `make_identity_rows` data take the way.
inline loader_options on_data_path(data_path through, const dataset& data, loader_options options) {
  std::vector<std::size_t> row_bytes;
  for (const field& field : data.fields()) row_bytes.push_back(sample_bytes(field));
  const auto bytes_of = [&](std::uint64_t rows) {
    return detail::device_row_cache::bytes(row_bytes, std::max<std::uint64_t>(rows, 1));
  };
  switch (through) {
    case data_path::in_place:
    case data_path::stream:
      options.placement = placement::stream;
      break;
    case data_path::transformed:
      options.placement = placement::stream;
      options.transforms.push_back({.field = "note"});
      break;
    case data_path::gather:
      options.placement = placement::gather;
      break;
    case data_path::resident:
      options.placement = placement::resident;
      break;
    case data_path::cached_half:
      options.placement = placement::cached;
      options.memory.cache = bytes_of(data.size() / 2);
      break;
    case data_path::cached_few:
      options.placement = placement::cached;
      options.memory.cache = bytes_of(std::min<std::uint64_t>(2, data.size()));
      break;
    case data_path::decoded:
      options.placement = placement::stream;
      options.decode_on = decode_on::device;
      break;
  }
  return options;
}

/// The dataset as it must be stored for the way: in blocks where the device decodes them. These are
/// the dataset's chunks for orders of chunks. In any other order they are single samples, so that a
/// read that fails or hangs is that of one sample, as on other ways.
inline dataset_ptr stored_for(data_path through, const dataset_ptr& data, const sampler& order) {
  if (through != data_path::decoded) return data;
  const auto* const shuffled = order.target<shuffle>();
  const bool by_chunks = shuffled != nullptr && shuffled->within && data->chunks().samples != 0;
  return make_encoded(data, by_chunks ? data->chunks().samples : 1);
}
/// Whether a device may decode at all, so in this order, with these options: else readers do.
inline bool may_decode(const sampler& order, const loader_options& options) {
  const auto* const shuffled = order.target<shuffle>();
  return (shuffled == nullptr || shuffled->lanes == 1) &&
         options.errors.action == error_action::fail && options.errors.retries == 0 &&
         options.shard.world <= 1 && options.partial_batch != partial_batch::fill;
}

/// A device, a consumer's stream on it, and a way to it.
struct path_setup {
  explicit path_setup(data_path taken) : through{taken} {}

  data_path through;
  scripted on{};
  device_ptr device = through == data_path::in_place ? make_host_device() : device_ptr{on.device};
  stream_ref stream = through == data_path::in_place ? stream_ref{} : on.stream;

  /// @param data `make_identity_rows`, or gated so.
  [[nodiscard]] loader load(const dataset_ptr& data, const sampler& order,
                            const loader_options& options) const {
    loader made{stored_for(through, data, order), order, device,
                on_data_path(through, *data, options)};
    if (through == data_path::decoded && may_decode(order, options) &&
        made.plan().decode_on != decode_on::device)
      throw std::logic_error{"not on its way: " + made.plan().decode_note};
    return made;
  }
  /// For `recorder`.
  [[nodiscard]] scripted looks() const {
    return through == data_path::in_place ? scripted{nullptr, {}} : on;
  }
};

/// All batches of some epochs, one after the other.
inline std::vector<seen_batch> consume_epochs(loader& loader, const path_setup& by,
                                              std::uint64_t epochs, std::uint64_t first = 0) {
  recorder record{by.looks()};
  for (std::uint64_t epoch = first; epoch < first + epochs; ++epoch) {
    for (batch& batch : loader.epoch(epoch, by.stream)) record(batch);
  }
  return record.seen();
}

}  // namespace feedline::test
