#include "programs/doctor/content.hpp"

#include <feedline/error.hpp>
#include <feedline/io/map_files.hpp>

#include "programs/inputs/entry.hpp"
#include "programs/words/library_words.hpp"
#include "programs/words/units.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace doctor {
namespace {

using programs::percent_text;

/// For formats that tell their fields without being opened whole, or that leave some out.
bool lists_fields(const std::string& format) {
  return format == "hdf5" || format == "zarr" || format == "npy" || format == "npz" ||
         format == "tar" || format == "tfrecord" || format == "mds" || format == "litdata" ||
         format == "lmdb" || format == "image_folder";
}

std::vector<offered_field> offered_by(const std::string& file, const std::string& format,
                                      const feedline::open_options& how) {
  std::vector<offered_field> fields;
  if (lists_fields(format))
    for (feedline::listed_field& each : feedline::list_fields(file, how))
      fields.push_back({std::move(each)});
  return fields;
}

std::string why_mapped(bool local, std::optional<double> cached) {
  if (!feedline::may_map_files()) return "by calls (pread): mapping files is not allowed";
  if (!local)
    return "by calls (pread): the file system is not a local one, so its pages are not mapped";
  const bool warm = cached && *cached >= 0.98;
  return fmt::format(
      "{} at first, for {} in the page cache; local files are mapped from 98 % on, and read by "
      "calls (pread) below",
      warm ? "mapped" : "by calls",
      cached ? percent_text(*cached) + " of it was" : "the share in it is not known");
}

std::string way_of(const layout_facts& layout, bool is_hdf5, bool local,
                   std::optional<double> cached) {
  if (layout.in_memory)
    return is_hdf5 ? "from memory: fields of up to 64 MiB together are read whole at opening "
                     "(--read-whole)"
                   : "from memory: all samples lie there, read or mapped at opening";
  if (layout.serialized)
    return "through the HDF5 library, one thread at a time: it has one lock, and the storage of a "
           "field (above) needs it";
  std::string way = is_hdf5 ? "by feedline itself, past the HDF5 library and its lock, by any "
                              "number of threads; the file is read "
                            : "by any number of threads; files are read ";
  return way + why_mapped(local, cached);
}

}  // namespace

std::string packing_text(const feedline::value_packing& packing) {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& value) {
    text += (text.empty() ? "(" : ", ") + name + ' ' + value;
  };
  if (packing.scale_factor) add("scale_factor", fmt::format("{}", packing.scale_factor->value));
  if (packing.add_offset) add("add_offset", fmt::format("{}", packing.add_offset->value));
  if (packing.is_unsigned) add("_Unsigned", *packing.is_unsigned ? "true" : "false");
  std::vector<double> missing = packing.missing;
  if (packing.has_default_missing) missing.pop_back();
  for (const double each : missing) add("missing", fmt::format("{}", each));
  return text.empty() ? text : text + ')';
}

content look_at(const std::string& path, const feedline::open_options& how) {
  content found{.path = path, .files = programs::files_of(path)};
  const std::string& first = found.files.front();
  if (!programs::is_there(first))
    throw feedline::usage_error{first +
                                ": no such file or folder; give the path of one that is there, or "
                                "a quoted pattern such as 'shard-{0000..0146}.tar'"};
  const std::string format = feedline::detect_format(first);
  found.is_hdf5 = format == "hdf5";
  found.format = format.empty() ? "unknown" : format;
  found.fields = offered_by(first, format, how);
  for (offered_field& each : found.fields)
    each.found.refusal = programs::in_words_of(programs::program::doctor, each.found.refusal);
  return found;
}

layout_facts layout_of(const subject& opened, const std::vector<content>& found, bool local,
                       std::optional<double> cached) {
  const feedline::dataset& samples = *opened.samples;
  layout_facts layout{.fields = samples.fields(),
                      .samples = samples.size(),
                      .chunking = samples.chunks(),
                      .in_memory = !samples.rows().empty(),
                      .serialized = samples.concurrency() == feedline::read_concurrency::serialized,
                      .varies_by_epoch = samples.varies_by_epoch(),
                      .opening = opened.opening,
                      .way = {}};
  for (const feedline::field& field : layout.fields)
    layout.sample_bytes += feedline::sample_bytes(field);
  layout.way = way_of(layout, std::ranges::all_of(found, &content::is_hdf5), local, cached);
  layout.arrays = opened.arrays;
  if (opened.is_windows)
    layout.way =
        "windows, by any number of threads: readers decode each chunk once for all windows of a "
        "request, and keep it while memory allows; devices decode no chunks of windows";
  else if (!layout.in_memory && std::ranges::count(found, "zarr", &content::format) != 0)
    layout.way =
        "by any number of threads; each chunk is read whole, and kept once it is decoded while "
        "memory allows";
  return layout;
}

}  // namespace doctor
