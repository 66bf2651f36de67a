#include "detail/byte_order.hpp"
#include "hdf5/library/library_dataset.hpp"
#include "hdf5/library/storage.hpp"
#include "hdf5/vlen/sequence_column.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// What the library takes for the values of one read, freed with it: a read that fails half way
/// would leave others' memory to nobody, for it gives no value back to be reclaimed.
class value_memory {
 public:
  explicit value_memory(std::size_t max_bytes) : left_{max_bytes} {}

  /// Makes properties of a transfer take its memory here.
  [[nodiscard]] hdf5_properties_id properties(hdf5_properties_id transfer) {
    if (H5Pset_vlen_mem_manager(transfer.get(), allocate, this, release, this) < 0)
      transfer = hdf5_properties_id{};
    return transfer;
  }
  /// Whether more was asked for than there is.
  [[nodiscard]] bool is_out() const noexcept { return is_out_; }

 private:
  static void* allocate(std::size_t bytes, void* self) noexcept {
    auto& memory = *static_cast<value_memory*>(self);
    try {
      if (bytes <= memory.left_) {
        memory.pieces_.push_back(std::make_unique<std::byte[]>(bytes));
        memory.left_ -= bytes;
        return memory.pieces_.back().get();
      }
    } catch (...) {  // NOLINT(bugprone-empty-catch): as if it were beyond what it may take
    }
    memory.is_out_ = true;
    return nullptr;
  }
  static void release(void* /*piece*/, void* /*self*/) noexcept {}

  std::size_t left_;
  bool is_out_ = false;
  std::vector<std::unique_ptr<std::byte[]>> pieces_ = {};
};

/// A value as the library has it in memory.
std::span<const std::byte> bytes_of(const hvl_t& value, std::size_t element_bytes) {
  return {static_cast<const std::byte*>(value.p), value.len * element_bytes};
}
std::span<const std::byte> bytes_of(const char* text, std::size_t /*element_bytes*/) {
  return text == nullptr ? std::span<const std::byte>{}
                         : std::as_bytes(std::span{text, std::strlen(text)});
}

class whole_reading {
 public:
  struct dataset {
    hid_t id;
    hid_t space;
    hid_t memory_type;
    std::uint64_t samples;
    std::size_t element_bytes;
    std::size_t left_swapped_bytes;
  };
  enum class outcome { read, failed, out_of_memory };

  whole_reading(const hdf5_session& hdf5, const dataset& of, std::size_t max_bytes)
      : hdf5_{hdf5}, of_{of}, max_bytes_{max_bytes} {
    held_.places.offsets.reserve(static_cast<std::size_t>(of.samples));
    held_.places.lengths.reserve(static_cast<std::size_t>(of.samples));
  }

  /// Reads values [first, first + count) and, if all could be read, adds them.
  template <class Value>
  outcome add(std::uint64_t first, std::uint64_t count) {
    value_memory memory{max_bytes_ - held_bytes_};
    const auto transfer = memory.properties(with_small_buffer(hdf5_, of_.id, of_.memory_type));
    const hsize_t start = first;
    const hsize_t many = count;
    const hdf5_space_id target{H5Screate_simple(1, &many, nullptr)};
    std::vector<Value> values(static_cast<std::size_t>(count));
    if (!transfer || !target ||
        H5Sselect_hyperslab(of_.space, H5S_SELECT_SET, &start, nullptr, &many, nullptr) < 0 ||
        H5Dread(of_.id, of_.memory_type, target.get(), of_.space, transfer.get(), values.data()) <
            0)
      return memory.is_out() ? outcome::out_of_memory : outcome::failed;
    keep(values);
    return outcome::read;
  }

  [[nodiscard]] std::size_t held_bytes() const noexcept { return held_bytes_; }
  [[nodiscard]] hdf5_vlen_library_reader take() { return std::move(held_); }

 private:
  template <class Value>
  void keep(const std::vector<Value>& values) {
    std::size_t bytes = 0;
    for (const Value& value : values) bytes += bytes_of(value, of_.element_bytes).size();
    auto& block = held_.blocks.emplace_back();
    block.reserve(bytes);
    for (const Value& value : values) {
      const auto elements = bytes_of(value, of_.element_bytes);
      held_.places.offsets.push_back(block.size());
      held_.places.lengths.push_back(
          static_cast<std::uint32_t>(elements.size() / of_.element_bytes));
      block.insert(block.end(), elements.begin(), elements.end());
    }
    reverse_elements(block, of_.left_swapped_bytes);
    held_bytes_ += bytes;
  }

  const hdf5_session& hdf5_;
  dataset of_;
  std::size_t max_bytes_;
  std::size_t held_bytes_ = 0;
  hdf5_vlen_library_reader held_ = {};
};

}  // namespace

hdf5_vlen_library_reader hdf5_sequence_column::read_whole(const hdf5_session& hdf5,
                                                          const hdf5_file& file,
                                                          std::size_t max_bytes,
                                                          const std::string& why) const {
  require_library_can_read(hdf5, file, name_, id());
  const hdf5_space_id space{H5Dget_space(id())};
  const std::size_t places = static_cast<std::size_t>(samples_) * hdf5_heap_search::place_bytes;
  whole_reading reading{hdf5,
                        {.id = id(),
                         .space = space.get(),
                         .memory_type = type_.memory.get(),
                         .samples = samples_,
                         .element_bytes = element_bytes_,
                         .left_swapped_bytes = type_.element.left_swapped_bytes},
                        max_bytes - std::min(places, max_bytes)};
  const auto add = [&](std::uint64_t first, std::uint64_t count) {
    return type_.is_string ? reading.add<char*>(first, count) : reading.add<hvl_t>(first, count);
  };
  using outcome = whole_reading::outcome;
  for (std::uint64_t first = 0; first < samples_;) {
    const std::uint64_t count = std::min(hdf5_vlen_library_reader::block_values, samples_ - first);
    const outcome all = add(first, count);
    if (all == outcome::out_of_memory)
      throw file.error(
          name_, "its values take more than the " + std::to_string(max_bytes) +
                     " bytes that hdf5_options::max_host_cache_bytes allows: " +
                     std::to_string(first) + " of " + std::to_string(samples_) + " samples have " +
                     std::to_string(reading.held_bytes()) +
                     ". They would be kept in memory, read through the HDF5 library, because " +
                     why + ". Allow more, or write them anew: h5repack");
    if (all == outcome::failed) {
      std::uint64_t failing = first;  // to tell which
      while (failing + 1 < first + count && add(failing, 1) != outcome::failed) ++failing;
      throw hdf5_error{{.path = file.path(), .field = name_, .sample = failing},
                       "cannot be read: " + hdf5.last_message()};
    }
    first += count;
  }
  return reading.take();
}

}  // namespace feedline::detail
