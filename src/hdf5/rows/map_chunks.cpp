#include "hdf5/rows/map_chunks.hpp"

#include <feedline/error.hpp>

#include "detail/log.hpp"
#include "hdf5/format/chunk_index.hpp"
#include "hdf5/format/metadata.hpp"
#include "hdf5/library/chunk_lookup.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// Files smaller than this are read in as a whole before their index is, if they are not in memory.
constexpr std::uint64_t max_prefetched_bytes = std::uint64_t{1} << 30;
/// A map of so many chunks is made even where the file is smaller than the map.
constexpr std::uint64_t always_mapped_chunks = std::uint64_t{1} << 24;
constexpr unsigned random_samples = 16;

/// Empty where there are no chunks.
struct shape {
  std::vector<std::uint64_t> extents = {};
  std::vector<std::uint64_t> chunk_extents = {};
};

shape shape_of(hid_t dataset) {
  const hdf5_properties_id creation{H5Dget_create_plist(dataset)};
  const hdf5_space_id space{H5Dget_space(dataset)};
  const int rank = H5Sget_simple_extent_ndims(space.get());
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  std::array<hsize_t, H5S_MAX_RANK> chunk{};
  if (rank < 1 || H5Pget_chunk(creation.get(), H5S_MAX_RANK, chunk.data()) != rank ||
      H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr) != rank)
    return {};
  return {.extents = {extents.begin(), extents.begin() + rank},
          .chunk_extents = {chunk.begin(), chunk.begin() + rank}};
}

/// What this program writes may not be in the file yet.
bool is_being_written(hid_t dataset) {
  const hdf5_file_id opened{H5Iget_file_id(dataset)};
  unsigned intent = 0;
  return H5Fget_intent(opened.get(), &intent) < 0 || (intent & H5F_ACC_RDWR) != 0;
}

std::string refusal_of(hid_t dataset, const random_file& file, const shape& shape) {
  if (shape.extents.empty()) return "has no chunks to be mapped";
  if (is_being_written(dataset))
    return "this program has the file open for writing, so that its chunks may not be where the "
           "file says; close it there";
  if (std::ranges::count(shape.extents, 0U) > 0) return "has no elements";
  const auto chunks = hdf5_chunk_map::count(shape.extents, shape.chunk_extents);
  if (chunks && *chunks <= std::max(always_mapped_chunks, file.size() / sizeof(hdf5_chunk)))
    return {};
  return "has so many chunks (" + (chunks ? std::to_string(*chunks) : "more than can be counted") +
         ") that a map of them would be larger than the file";
}

class mapping {
 public:
  mapping(const hdf5_session& hdf5, hid_t dataset, const random_file& file, const std::string& name)
      : hdf5_{hdf5}, dataset_{dataset}, file_{file}, name_{name}, map_{make_map()} {}

  hdf5_chunk_map run(const hdf5_index_parser& parse, std::string* why_asked) {
    if (const auto why = parse_with(parse); !why.empty()) {
      if (why_asked != nullptr) *why_asked = why;
      log()->debug("{}: the HDF5 library is asked for each chunk of '{}': {}", file_.path(), name_,
                   why);
      ask_for_all();
    }
    mark_unfiltered_edges();
    require_within_file();
    file_.require_unchanged();
    return std::move(map_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw hdf5_error{{.path = file_.path(), .field = name_}, message};
  }

  hdf5_chunk_map make_map() {
    auto shape = shape_of(dataset_);
    if (const auto refusal = refusal_of(dataset_, file_, shape); !refusal.empty()) fail(refusal);
    const hdf5_properties_id creation{H5Dget_create_plist(dataset_)};
    if (H5Pget_nfilters(creation.get()) > 0) unfiltered_edges_ = leaves_edges(creation.get());
    return {std::move(shape.extents), std::move(shape.chunk_extents)};
  }

  static bool leaves_edges(hid_t creation) {
    unsigned options = 0;
    return H5Pget_chunk_opts(creation, &options) >= 0 &&
           (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
  }

  hdf5_chunk ask(std::uint64_t number) {
    if (!lookup_) lookup_.emplace(hdf5_, dataset_, file_, name_);
    std::vector<std::uint64_t> first(map_.grid().size());
    map_.first_element(number, first);
    return lookup_->find(hdf5_, first);
  }

  /// @return Why the map cannot be trusted; empty if it can.
  std::string parse_with(const hdf5_index_parser& parse) {
    if (file_.size() < max_prefetched_bytes && file_.is_cold()) file_.will_need(0, file_.size());
    try {
      parse(file_, hdf5_header_address(hdf5_, dataset_, file_, name_), map_);
    } catch (const hdf5_metadata_error& unknown) {
      return std::string{"its index cannot be read without it: "} + unknown.what();
    }
    for (const std::uint64_t number : samples())
      if (differs(number))
        return "its index reads differently here, of chunk " + std::to_string(number);
    return {};
  }

  bool differs(std::uint64_t number) {
    try {
      return map_[number] != ask(number);
    } catch (const hdf5_error&) {
      // Where the library fails over a chunk that cannot be, both agree.
      if (!is_in_file(map_[number])) return false;
      throw;
    }
  }

  [[nodiscard]] bool is_in_file(const hdf5_chunk& chunk) const noexcept {
    return !chunk.is_written() ||
           (chunk.address <= file_.size() && chunk.bytes <= file_.size() - chunk.address);
  }

  /// The first and the last chunk, the first and last that are in the file, the first that cannot
  /// be, and some at random, the same in each run.
  [[nodiscard]] std::vector<std::uint64_t> samples() const {
    std::vector<std::uint64_t> chosen{0, map_.size() - 1};
    std::optional<std::uint64_t> first_written;
    std::optional<std::uint64_t> last_written;
    std::optional<std::uint64_t> beyond;
    for (std::uint64_t number = 0; number < map_.size(); ++number) {
      if (!map_[number].is_written()) continue;
      if (!first_written) first_written = number;
      last_written = number;
      if (!beyond && !is_in_file(map_[number])) beyond = number;
    }
    for (const auto& number : {first_written, last_written, beyond})
      if (number) chosen.push_back(*number);
    std::mt19937_64 random{42};
    for (unsigned i = 0; i < random_samples; ++i) chosen.push_back(random() % map_.size());
    std::ranges::sort(chosen);
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    return chosen;
  }

  void ask_for_all() {
    for (std::uint64_t number = 0; number < map_.size(); ++number) map_[number] = ask(number);
  }

  /// The file says of such chunks that no filter was left out.
  void mark_unfiltered_edges() {
    if (!unfiltered_edges_) return;
    for (std::uint64_t number = 0; number < map_.size(); ++number)
      if (map_[number].is_written() && map_.is_partial(number))
        map_[number].filter_mask = ~std::uint32_t{0};
  }

  void require_within_file() const {
    for (std::uint64_t number = 0; number < map_.size(); ++number) {
      const auto& chunk = map_[number];
      if (!is_in_file(chunk))
        throw hdf5_error{
            {.path = file_.path(), .field = name_, .sample = {}, .offset = chunk.address},
            "chunk " + std::to_string(number) + ", of " + std::to_string(chunk.bytes) +
                " bytes, lies beyond the file's end at byte " + std::to_string(file_.size()) +
                "; the file is cut short or damaged: copy it anew"};
    }
  }

  const hdf5_session& hdf5_;
  hid_t dataset_;
  const random_file& file_;
  const std::string& name_;
  bool unfiltered_edges_ = false;  ///< partial chunks were never filtered
  hdf5_chunk_map map_;
  std::optional<hdf5_chunk_lookup> lookup_ = std::nullopt;
};

}  // namespace

void parse_hdf5_index(const random_file& file, std::uint64_t header, hdf5_chunk_map& map) {
  hdf5_metadata metadata{file};
  const auto layout = read_hdf5_chunk_layout(metadata, header);
  read_hdf5_chunk_index(metadata, layout, map);
}

std::string hdf5_map_refusal(const hdf5_session& /*hdf5*/, hid_t dataset, const random_file& file) {
  return refusal_of(dataset, file, shape_of(dataset));
}

hdf5_chunk_map map_hdf5_chunks(const hdf5_session& hdf5, hid_t dataset, const random_file& file,
                               const std::string& name) {
  return map_hdf5_chunks(hdf5, dataset, file, name, parse_hdf5_index);
}

hdf5_chunk_map map_hdf5_chunks(const hdf5_session& hdf5, hid_t dataset, const random_file& file,
                               const std::string& name, const hdf5_index_parser& parse,
                               std::string* why_asked) {
  return mapping{hdf5, dataset, file, name}.run(parse, why_asked);
}

}  // namespace feedline::detail
