#include <feedline/error.hpp>

#include "hdf5/library/library_dataset.hpp"
#include "hdf5/library/source_places.hpp"
#include "hdf5/library/storage.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>

namespace feedline::detail {
namespace {

namespace fs = std::filesystem;

/// Limit, because virtual datasets may have virtual sources, and may even be their own.
constexpr unsigned max_nested_sources = 16;

/// @param get Called with room and its size; returns the text's length.
template <class Get>
std::string name_from(Get get) {
  const ssize_t length = get(nullptr, std::size_t{0});
  if (length <= 0) return {};
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  get(text.data(), text.size());
  text.pop_back();
  return text;
}

/// First and last sample of the dataset that is opened.
struct sample_run {
  std::uint64_t first = 0;
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
};

/// The samples to which a mapping gives values.
/// @param space Space of the virtual dataset, with the mapped part selected.
sample_run samples_of(hid_t space) {
  std::array<hsize_t, H5S_MAX_RANK> first{};
  std::array<hsize_t, H5S_MAX_RANK> last{};
  if (H5Sget_select_bounds(space, first.data(), last.data()) < 0) return {};
  return {first[0], last[0]};
}

/// The same for a numbered source.
sample_run samples_of(hid_t space, std::uint64_t number) {
  std::array<hsize_t, H5S_MAX_RANK> start{};
  std::array<hsize_t, H5S_MAX_RANK> stride{};
  std::array<hsize_t, H5S_MAX_RANK> count{};
  std::array<hsize_t, H5S_MAX_RANK> block{};
  if (H5Sget_regular_hyperslab(space, start.data(), stride.data(), count.data(), block.data()) < 0)
    return {};
  if (count[0] != H5S_UNLIMITED) return samples_of(space);
  const std::uint64_t first = start[0] + number * stride[0];
  return {first, first + block[0] - 1};
}

/// The files that a dataset needs, and that its sources need in turn.
class needs {
 public:
  needs(const hdf5_session& hdf5, const hdf5_file& file, const std::string& name)
      : hdf5_{hdf5}, file_{file}, name_{name} {}

  /// @param samples Samples to which it gives values, itself or as a source.
  void examine(hid_t dataset, sample_run samples = {}, unsigned depth = 0) {
    const hdf5_properties_id creation{H5Dget_create_plist(dataset)};
    if (!creation) throw error("how it is stored cannot be read: " + hdf5_.last_message());
    require_filters(creation.get());
    if (H5Pget_external_count(creation.get()) > 0) {
      if (depth != 0)
        throw error("its source in " + path_of_file(hdf5_, dataset).string() +
                    " lies in raw files beside that (external layout), which virtual datasets find "
                    "by chance only; rewrite that file by h5repack");
      files_ = raw_files_of(hdf5_, file_, name_, dataset);
    }
    if (auto own = hdf5_driver::file_of(hdf5_, dataset))
      files_.push_back({std::move(own), samples.first, samples.last});
    if (H5Pget_layout(creation.get()) == H5D_VIRTUAL)
      require_sources(dataset, creation.get(), samples, depth);
  }

  /// Each file once for each run of samples.
  [[nodiscard]] std::vector<hdf5_needed_file> take_files() {
    std::ranges::sort(files_, {}, [](const hdf5_needed_file& each) {
      return std::pair{each.file.get(), each.first};
    });
    std::vector<hdf5_needed_file> runs;
    for (hdf5_needed_file& each : files_)
      if (!runs.empty() && runs.back().file == each.file &&
          (each.first == 0 || each.first - 1 <= runs.back().last))
        runs.back().last = std::max(runs.back().last, each.last);
      else
        runs.push_back(std::move(each));
    return runs;
  }

 private:
  [[nodiscard]] hdf5_error error(const std::string& message) const {
    return file_.error(name_, message);
  }

  void require_filters(hid_t creation) const {
    for (const hdf5_filter& filter : filters_of(creation)) {
      if (H5Zfilter_avail(filter.id) > 0) continue;
      std::string text = "is stored through filter " + std::to_string(filter.id);
      if (!filter.name.empty()) text += " (" + filter.name + ")";
      throw error(text +
                  ", which is not installed. 'pip install hdf5plugin' brings most filters, and "
                  "HDF5_PLUGIN_PATH=$(python3 -c \"import hdf5plugin; "
                  "print(hdf5plugin.PLUGIN_PATH)\") in the environment lets the HDF5 library find "
                  "them; for any other plugin set that variable to its folder");
    }
  }

  /// Checks the sources of a virtual dataset. Its values come from datasets in other files, and are
  /// fill values if the library finds no such dataset.
  void require_sources(hid_t dataset, hid_t creation, sample_run samples, unsigned depth) {
    if (!file_.driver())
      throw error(
          "is virtual, and this program has the file open for writing, so that its sources "
          "cannot be watched for changes; close it there");
    if (depth == max_nested_sources)
      throw error("is virtual, and its sources are virtual in turn, more than " +
                  std::to_string(max_nested_sources) + " deep, or in a ring");
    std::size_t count = 0;
    if (H5Pget_virtual_count(creation, &count) < 0)
      throw error("its list of sources cannot be read: " + hdf5_.last_message());
    for (std::size_t i = 0; i < count; ++i) {
      const auto source = name_from([&](char* to, std::size_t room) {
        return H5Pget_virtual_filename(creation, i, to, room);
      });
      const auto part = name_from([&](char* to, std::size_t room) {
        return H5Pget_virtual_dsetname(creation, i, to, room);
      });
      const hdf5_space_id space{H5Pget_virtual_vspace(creation, i)};
      const auto require = [&](std::uint64_t number, sample_run own) {
        return find_source(dataset, numbered_name(source, number), numbered_name(part, number),
                           depth == 0 ? own : samples, depth);
      };
      if (is_numbered(source) || is_numbered(part)) {  // the list ends at the first missing one
        std::uint64_t number = 0;
        while (require(number, samples_of(space.get(), number))) ++number;
      } else if (!require(0, samples_of(space.get()))) {
        throw error("is virtual, and its source, dataset '" + part + "' of " + source +
                    ", is not there; the library would give fill values instead");
      }
    }
  }

  /// @return Whether the source exists.
  [[nodiscard]] bool find_source(hid_t dataset, const std::string& source, const std::string& part,
                                 sample_run samples, unsigned depth) {
    const auto [found, is_new] =
        sources_.try_emplace({path_of_file(hdf5_, dataset).string(), source, part});
    source_files& known = found->second;
    if (is_new) {
      known.begin = files_.size();
      known.is_there = examine_source(dataset, source, part, samples, depth);
      known.end = files_.size();
      known.is_open = false;
      return known.is_there;
    }
    if (known.is_open) throw error("is virtual, and is one of its own sources");
    for (std::size_t i = known.begin; i < known.end; ++i)
      files_.push_back({byte_file_ptr{files_[i].file}, samples.first, samples.last});
    return known.is_there;
  }

  [[nodiscard]] bool examine_source(hid_t dataset, const std::string& source,
                                    const std::string& part, sample_run samples, unsigned depth) {
    const hdf5_file_id opened =
        source == "." ? hdf5_file_id{H5Iget_file_id(dataset)} : open_source(dataset, source);
    if (!opened) return false;
    const hdf5_dataset_id found{H5Dopen2(opened.get(), part.c_str(), H5P_DEFAULT)};
    if (found) {
      examine(found.get(), samples, depth + 1);
      return true;
    }
    const std::string why = hdf5_.last_message();
    if (H5Lexists(opened.get(), part.c_str(), H5P_DEFAULT) <= 0) return false;
    throw error("is virtual, and its source, dataset '" + part + "' of " + source +
                ", cannot be opened: " + why);
  }

  /// Looks where the library does. @return Empty if there is no such file.
  [[nodiscard]] hdf5_file_id open_source(hid_t dataset, const std::string& source) const {
    const auto access = file_.driver()->access(hdf5_);
    for (const fs::path& path : places_of_source(path_of_file(hdf5_, dataset), source)) {
      file_.driver()->begin();
      hdf5_file_id opened{H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get())};
      const std::string which = "is virtual, and its source " + path.string() + ' ';
      if (const auto& failure = file_.driver()->failure()) throw error(which + failure->message());
      std::error_code unknown;
      if (!opened && fs::exists(path, unknown))
        throw error(which +
                    "cannot be opened; it may be cut short or damaged: " + hdf5_.last_message());
      if (opened && open_if_being_written(hdf5_, path))
        throw error(which + "is open for writing in this program; close it there");
      if (opened) return opened;
    }
    return {};
  }

  const hdf5_session& hdf5_;
  const hdf5_file& file_;
  const std::string& name_;
  std::vector<hdf5_needed_file> files_ = {};
  struct source_files {
    std::size_t begin = 0;  ///< index in `files_` of the first file that it needs
    std::size_t end = 0;
    bool is_there = false;
    bool is_open = true;  ///< it is being examined
  };
  std::map<std::tuple<std::string, std::string, std::string>, source_files> sources_ = {};
};

}  // namespace

std::vector<hdf5_needed_file> require_library_can_read(const hdf5_session& hdf5,
                                                       const hdf5_file& file,
                                                       const std::string& name, hid_t dataset) {
  needs all{hdf5, file, name};
  all.examine(dataset);
  return all.take_files();
}

fs::path path_of_file(const hdf5_session& /*hdf5*/, hid_t dataset) {
  return name_from([&](char* to, std::size_t room) { return H5Fget_name(dataset, to, room); });
}

}  // namespace feedline::detail
