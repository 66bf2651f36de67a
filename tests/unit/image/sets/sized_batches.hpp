#pragma once

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/image/decode.hpp>
#include <feedline/loader/loader.hpp>

#include "support/checks/catch.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/images/image_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Batches whose images differ in size from batch to batch, as loaders deliver them.

namespace feedline::test {

/// A field of a delivered batch.
struct seen_field {
  std::vector<std::uint64_t> shape;
  std::vector<std::byte> bytes;

  friend bool operator==(const seen_field&, const seen_field&) = default;
};

struct seen_batch {
  std::uint64_t epoch;
  std::uint64_t index;
  std::vector<std::uint64_t> samples;
  std::vector<seen_field> fields;

  [[nodiscard]] image_size size(std::size_t height_extent = 1) const {
    const auto& shape = fields.front().shape;
    return {static_cast<std::uint32_t>(shape[height_extent]),
            static_cast<std::uint32_t>(shape[height_extent + 1])};
  }
  friend bool operator==(const seen_batch&, const seen_batch&) = default;
};

inline seen_batch seen(const batch& of, std::uint64_t epoch) {
  seen_batch copy{epoch, of.index(), {}, {}};
  for (const sample_index sample : of.samples()) copy.samples.push_back(sample.value);
  for (std::size_t i = 0; i < of.field_count(); ++i) {
    const tensor_view view = of.field_at(i);
    copy.fields.push_back({view.shape(), {view.bytes().begin(), view.bytes().end()}});
  }
  return copy;
}

/// Kinds of devices: one that reads staging slots in place, one that copies or assembles them.
enum class on { host, scripted };

/// All batches of some epochs. @param from If set, the loader continues from this state.
/// @param last Set: the state after this many batches of the last epoch, where it stops.
inline std::vector<seen_batch> delivered(const dataset_ptr& data, on kind, const sampler& order,
                                         const loader_options& options, std::uint64_t epochs = 2,
                                         const loader_state* from = nullptr) {
  const scripted scripted_on;
  const bool is_host = kind == on::host;
  loader loading{data, order, is_host ? make_host_device() : device_ptr{scripted_on.device},
                 options};
  if (from != nullptr) loading.seek(*from);
  std::vector<seen_batch> batches;
  for (std::uint64_t epoch = from == nullptr ? 0 : from->epoch; epoch < epochs; ++epoch) {
    auto range = is_host ? loading.epoch(epoch) : loading.epoch(epoch, scripted_on.stream);
    for (const batch& each : range) {
      if (!is_host) scripted_on.device->drain(scripted_on.stream);
      batches.push_back(seen(each, epoch));
    }
  }
  return batches;
}

/// Extents of the photographs of `photo_tree`.
inline image_size photo_size(std::uint64_t number) {
  return {static_cast<std::uint32_t>(20 + 7 * (number % 9)),
          static_cast<std::uint32_t>(90 - 8 * (number % 10))};
}

inline pixels photo(std::uint64_t number) {
  const auto [height, width] = photo_size(number);
  return paint(height, width, 3, static_cast<std::uint32_t>(number));
}

/// PNGs of many sizes, in one folder of a class.
class photo_tree {
 public:
  explicit photo_tree(std::uint64_t count = 40) : count_{count} {
    for (std::uint64_t i = 0; i < count; ++i) add(i, png_bytes(photo(i)));
  }

  void add(std::uint64_t number, const byte_vector& file) const {
    std::filesystem::create_directories(folder_.path() / "all");
    folder_.write("all/" + name_of(number), file);
  }
  [[nodiscard]] std::string root() const { return folder_.path().string(); }
  [[nodiscard]] std::string path_of(std::uint64_t number) const {
    return (folder_.path() / "all" / name_of(number)).string();
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  static std::string name_of(std::uint64_t number) {
    return std::to_string(1000 + number) + ".png";
  }
  temporary_directory folder_;
  std::uint64_t count_;
};

}  // namespace feedline::test
