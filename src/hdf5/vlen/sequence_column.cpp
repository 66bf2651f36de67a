#include "hdf5/vlen/sequence_column.hpp"

#include "detail/arithmetic.hpp"
#include "detail/byte_order.hpp"
#include "hdf5/library/storage.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

namespace feedline::detail {
namespace {

/// Whether values that were never written are not empty.
bool fills(const hdf5_session& /*hdf5*/, hid_t dataset, const hdf5_sequences& type) {
  const hdf5_properties_id creation{H5Dget_create_plist(dataset)};
  H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
  if (H5Pfill_value_defined(creation.get(), &defined) < 0) return true;
  if (defined != H5D_FILL_VALUE_USER_DEFINED) return false;
  union {
    hvl_t sequence;
    char* text;
  } value{.sequence = {}};
  if (H5Pget_fill_value(creation.get(), type.memory.get(), &value) < 0) return true;
  const bool is_empty =
      type.is_string ? value.text == nullptr || *value.text == '\0' : value.sequence.len == 0;
  const hdf5_space_id one{H5Screate(H5S_SCALAR)};
  H5Dvlen_reclaim(type.memory.get(), one.get(), H5P_DEFAULT, &value);
  return !is_empty;
}

/// The reason why rows, or the values that they refer to, may not be what feedline assumes.
std::string fault_of_rows(const hdf5_sequence_column& column, const hdf5_resolved_field& found) {
  try {
    hdf5_metadata metadata{*found.file};
    if (has_cache_image(metadata)) return "its file's metadata is in a cache image";
    if (hdf5_heap_search::row_bytes(metadata.offset_bytes()) != found.row_bytes)
      return "its file's addresses are of another size than the library says";
  } catch (const hdf5_metadata_error& unknown) {
    return std::string{"its file's front cannot be read without it: "} + unknown.what();
  }
  if (found.storage.stored == hdf5_storage_layout::layout::contiguous &&
      H5Dget_storage_size(column.opened->id.get()) !=
          checked_multiply<std::uint64_t>(found.samples, found.storage.stored_bytes).value_or(0))
    return "its rows do not have the size that follows from the file's addresses";
  return {};
}

/// Memory that the library allocates for the values of one read; it is freed with this object.
/// Otherwise a read that fails half way would leak it, because it returns no values to be
/// reclaimed.
class value_memory {
 public:
  explicit value_memory(std::size_t max_bytes) : left_{max_bytes} {}

  /// Makes a transfer with these properties allocate its memory here.
  [[nodiscard]] hdf5_properties_id properties(hdf5_properties_id transfer) {
    if (H5Pset_vlen_mem_manager(transfer.get(), allocate, this, release, this) < 0)
      transfer = hdf5_properties_id{};
    return transfer;
  }
  /// Whether more was requested than is left.
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

/// Bytes of a value in the library's memory.
std::span<const std::byte> bytes_of(const hvl_t& value, std::size_t element_bytes) {
  return {static_cast<const std::byte*>(value.p), value.len * element_bytes};
}
std::span<const std::byte> bytes_of(const char* text, std::size_t /*element_bytes*/) {
  return text == nullptr ? std::span<const std::byte>{}
                         : std::as_bytes(std::span{text, std::strlen(text)});
}

/// Reads values one after the other, and stores them.
class whole_reading {
 public:
  enum class outcome { read, failed, out_of_memory };

  whole_reading(const hdf5_session& hdf5, const hdf5_sequence_column& column, std::size_t max_bytes)
      : hdf5_{hdf5},
        column_{column},
        space_{H5Dget_space(column.opened->id.get())},
        max_bytes_{max_bytes} {
    held_.places.offsets.reserve(static_cast<std::size_t>(column.values.samples));
    held_.places.lengths.reserve(static_cast<std::size_t>(column.values.samples));
  }

  /// Reads values [first, first + count) and, if all could be read, adds them.
  outcome add(std::uint64_t first, std::uint64_t count) {
    return column_.values.is_string ? add_as<char*>(first, count) : add_as<hvl_t>(first, count);
  }
  [[nodiscard]] std::size_t held_bytes() const noexcept { return held_bytes_; }
  [[nodiscard]] hdf5_vlen_library_reader take() { return std::move(held_); }

 private:
  template <class Value>
  outcome add_as(std::uint64_t first, std::uint64_t count) {
    value_memory memory{max_bytes_ - held_bytes_};
    const hid_t id = column_.opened->id.get();
    const hid_t type = column_.values.memory.get();
    const auto transfer = memory.properties(with_small_buffer(hdf5_, id, type));
    const hsize_t start = first;
    const hsize_t many = count;
    const hdf5_space_id target{H5Screate_simple(1, &many, nullptr)};
    std::vector<Value> values(static_cast<std::size_t>(count));
    if (!transfer || !target ||
        (H5Sget_simple_extent_type(space_.get()) != H5S_SCALAR &&  // else all is one value
         H5Sselect_hyperslab(space_.get(), H5S_SELECT_SET, &start, nullptr, &many, nullptr) < 0) ||
        H5Dread(id, type, target.get(), space_.get(), transfer.get(), values.data()) < 0)
      return memory.is_out() ? outcome::out_of_memory : outcome::failed;

    const std::size_t element_bytes = column_.element_bytes;
    std::size_t bytes = 0;
    for (const Value& value : values) bytes += bytes_of(value, element_bytes).size();
    auto& block = held_.blocks.emplace_back();
    block.reserve(bytes);
    for (const Value& value : values) {
      const auto elements = bytes_of(value, element_bytes);
      held_.places.offsets.push_back(block.size());
      held_.places.lengths.push_back(static_cast<std::uint32_t>(elements.size() / element_bytes));
      block.insert(block.end(), elements.begin(), elements.end());
    }
    reverse_elements(block, column_.values.element.left_swapped_bytes);
    held_bytes_ += bytes;
    return outcome::read;
  }

  const hdf5_session& hdf5_;
  const hdf5_sequence_column& column_;
  hdf5_space_id space_;
  std::size_t max_bytes_;
  std::size_t held_bytes_ = 0;
  hdf5_vlen_library_reader held_ = {};
};

}  // namespace

hdf5_sequence_column open_sequences(const hdf5_session& hdf5, const hdf5_file& file,
                                    const hdf5_field& chosen) {
  std::string member;
  auto opened = make_opened(hdf5, file, file.open_dataset(hdf5, chosen.dataset, &member));
  auto values = find_sequences(hdf5, file, chosen.dataset, *opened, member);
  hdf5_sequence_column column{chosen.dataset, std::move(opened), std::move(values)};
  const hdf5_element& element = column.values.element;
  column.element = {field_name_of(chosen), element.type, element.shape};
  column.element_bytes = sample_bytes_of(file, column.name, column.element);
  return column;
}

hdf5_resolved_field find_rows(const hdf5_session& hdf5, const hdf5_file& file,
                              const hdf5_sequence_column& column) {
  const hid_t id = column.opened->id.get();
  const hdf5_sequences& values = column.values;
  const std::size_t row_bytes = H5Tget_size(values.row.memory.get());
  hdf5_resolved_field found{.name = column.name,
                            .spec = {column.element.name, element_type::u8, {row_bytes}},
                            .samples = values.samples,
                            .row_bytes = row_bytes,
                            .storage = examine_storage(hdf5, file, column.name, id, values.row)};
  if (found.storage.refusal.empty() && fills(hdf5, id, values))
    found.storage.refusal = "it has a fill value of its own";
  hdf5_open_context common;
  find_file_and_chunks(hdf5, id, common, found);
  if (found.storage.refusal.empty() && found.file)
    found.storage.refusal = fault_of_rows(column, found);
  return found;
}

hdf5_vlen_library_reader read_whole(const hdf5_session& hdf5, const hdf5_file& file,
                                    const hdf5_sequence_column& column, std::size_t max_bytes,
                                    const std::string& why) {
  const auto files = require_library_can_read(hdf5, file, column.name, column.opened->id.get());
  if (file.driver()) file.driver()->begin();
  const std::uint64_t samples = column.values.samples;
  const std::size_t places = static_cast<std::size_t>(samples) * hdf5_heap_search::place_bytes;
  whole_reading reading{hdf5, column, max_bytes - std::min(places, max_bytes)};
  using outcome = whole_reading::outcome;
  for (std::uint64_t first = 0; first < samples;) {
    const std::uint64_t count = std::min(hdf5_vlen_library_reader::block_values, samples - first);
    const outcome all = reading.add(first, count);
    if (all == outcome::out_of_memory)
      throw file.error(
          column.name,
          "its values take more than the " + std::to_string(max_bytes) +
              " bytes that hdf5_options::max_host_cache_bytes allows: " + std::to_string(first) +
              " of " + std::to_string(samples) + " samples have " +
              std::to_string(reading.held_bytes()) +
              ". They would be kept in memory, read through the HDF5 library, because " + why +
              ". Allow more, or write them again: h5repack");
    if (all == outcome::failed) {
      std::uint64_t failing = first;  // to find the sample that fails
      while (failing + 1 < first + count && reading.add(failing, 1) != outcome::failed) ++failing;
      throw hdf5_error{{.path = file.path(), .field = column.name, .sample = failing},
                       "cannot be read: " + hdf5.last_message()};
    }
    first += count;
  }
  const auto fault = fault_of_files(hdf5, file.path(), file.driver().get(), files, 0, samples - 1);
  if (!fault.empty()) throw file.error(column.name, fault);
  return reading.take();
}

}  // namespace feedline::detail
