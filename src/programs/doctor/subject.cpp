// How a path's content becomes one dataset, and the C++ that does the same.

#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>
#include <feedline/image/decode.hpp>
#include <feedline/ragged/decode.hpp>
#include <feedline/ragged/pad.hpp>
#ifdef FEEDLINE_HAS_HDF5
#include <feedline/hdf5/dataset.hpp>
#include <feedline/hdf5/ragged.hpp>
#endif

#include "programs/doctor/code.hpp"
#include "programs/doctor/content.hpp"
#include "programs/doctor/windows.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <ranges>
#include <string_view>
#include <utility>

namespace doctor {
namespace {

using opener = std::function<feedline::dataset_ptr()>;

/// A part of the fields: how to open it, and the same as code.
struct part {
  opener open;
  std::string code;
};

/// "/train/images" and "train/images" name one dataset.
std::string_view bare(std::string_view name) {
  return name.starts_with('/') ? name.substr(1) : name;
}

const offered_field* find_field(const content& found, std::string_view name) {
  const auto field = std::ranges::find_if(
      found.fields, [&](const offered_field& each) { return bare(each.found.name) == bare(name); });
  return field == found.fields.end() ? nullptr : &*field;
}

part plain_part(const request& asked, const content& found,
                const std::vector<std::string>& fields) {
  feedline::open_options how = asked.how;
  how.fields = fields;
#ifdef FEEDLINE_HAS_HDF5
  if (found.is_hdf5 && asked.whole && found.files.size() == 1) {
    std::vector<std::string> names = fields;
    if (fields.empty())
      for (const offered_field& each : found.fields)
        if (each.is_row() && each.found.refusal.empty()) names.push_back(each.found.name);
    std::vector<feedline::hdf5_field> named;
    for (const std::string& name : names) named.push_back({name});
    const std::string file = found.files.front();
    const feedline::hdf5_options options{.max_resident_bytes = *asked.whole,
                                         .external = asked.how.external};
    return {[=] { return feedline::open_hdf5(file, named, options); },
            hdf5_code(file, names, *asked.whole, asked.how.external)};
  }
#endif
  return {[path = found.path, how] { return feedline::open(path, how); },
          open_code(found.path, how, asked.resizes)};
}

part ragged_part([[maybe_unused]] const request& asked, const content& found,
                 const offered_field& field) {
  const bool is_bytes = feedline::sample_bytes(field.found.spec) == 1;
#ifdef FEEDLINE_HAS_HDF5
  const std::string& name = field.found.name;
  const std::string code = ragged_code(found.files.front(), name, asked.how.external);
  const auto open = [file = found.files.front(), name, external = asked.how.external] {
    return feedline::open_hdf5_ragged(file, {name}, {.external = external});
  };
  if (asked.resizes && is_bytes)
    return {[open, image = asked.how.image] {
              return feedline::decode(open(), feedline::make_image_decoder(image));
            },
            fmt::format("feedline::decode({},\n                       "
                        "feedline::make_image_decoder({}))",
                        code, image_code(asked.how.image))};
  if (asked.pad)
    return {[open, length = *asked.pad] {
              return feedline::pad(open(),
                                   {.length = length, .longer = feedline::pad_longer::truncate});
            },
            fmt::format("feedline::pad({},\n                    "
                        "{{.length = {}, .longer = feedline::pad_longer::truncate}})",
                        code, *asked.pad)};
#endif
  throw feedline::usage_error{
      found.path + ": field '" + field.found.name +
      "': samples of varying length do not fit in a batch: give --pad LENGTH" +
      (is_bytes ? ", or --resize HxW if they are JPEG or PNG images" : "") +
      ", or choose other fields (--fields)"};
}

/// Windows of arrays.
part windows_part(const request& asked, const content& found, subject& opened) {
  const window_arrays chosen = choose_arrays(asked, found, opened.notes);
  opened.is_windows = true;
  const auto open = [arrays = chosen.open, windows = asked.windows, draws = asked.draws] {
    std::vector<feedline::window_field> fields;
    for (const feedline::array_ptr& each : arrays())
      fields.push_back({.name = each->spec().name, .arrays = {each}});
    return feedline::make_windows(windows, fields, {.draws = draws});
  };
  const std::uint64_t samples = open()->size();
  for (const feedline::array_ptr& each : chosen.open())
    if (!each->spec().chunk.empty())
      opened.arrays.push_back(use_of_chunks(each->spec(), asked.windows, samples));
  return {open, chosen.code};
}

/// One part of fields that are rows, and one for each that is of varying length.
std::vector<part> parts_of(const request& asked, const content& found,
                           std::vector<std::string>& notes) {
  std::vector<std::string> rows;
  std::vector<const offered_field*> ragged;
  for (const std::string& name : asked.how.fields) {
    const offered_field* const field = find_field(found, name);
    if (field != nullptr && field->found.is_ragged)
      ragged.push_back(field);
    else
      rows.push_back(name);
  }
  const bool takes_all = asked.how.fields.empty();
  const bool has_rows = std::ranges::any_of(found.fields, &offered_field::is_row);
  for (const offered_field& each : found.fields) {
    if (!takes_all || !each.found.is_ragged) continue;
    const bool can = asked.pad || (asked.resizes && feedline::sample_bytes(each.found.spec) == 1);
    if (can || !has_rows)
      ragged.push_back(&each);
    else
      notes.push_back("left out: " + each.found.name +
                      ", of samples of varying length: --pad LENGTH, or --resize HxW for images, "
                      "takes it in");
  }
  std::vector<part> parts;
  if (!rows.empty() || (takes_all && (has_rows || found.fields.empty())))
    parts.push_back(plain_part(asked, found, rows));
  for (const offered_field* field : ragged) parts.push_back(ragged_part(asked, found, *field));
  return parts;
}

}  // namespace

subject open_subject(const request& asked, const std::vector<content>& found) {
  subject opened;
  std::vector<std::vector<part>> parts;  // parts of each input
  for (const content& each : found)
    parts.push_back(asked.windows.empty() ? parts_of(asked, each, opened.notes)
                                          : std::vector{windows_part(asked, each, opened)});
  const auto open_all = [parts] {
    std::vector<feedline::dataset_ptr> inputs;
    for (const std::vector<part>& of_input : parts) {
      std::vector<feedline::dataset_ptr> columns;
      for (const part& each : of_input) columns.push_back(each.open());
      inputs.push_back(feedline::zip(std::move(columns)));
    }
    return inputs;
  };
  opened.open = [open_all, inputs = asked.inputs] {
    return programs::side_by_side(inputs, open_all());
  };
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<feedline::dataset_ptr> inputs = open_all();
  opened.samples = programs::side_by_side(asked.inputs, inputs);
  opened.opening = std::chrono::steady_clock::now() - begin;
  std::vector<std::string> codes;
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (const part& each : parts[i])
      codes.push_back(
          renamed_code(each.code, inputs[i]->fields().front().name, asked.inputs[i].name));
  opened.code = zipped_code(codes);
  if (opened.samples->size() == 0)
    throw feedline::usage_error{asked.path + ": holds no sample, so there is nothing to examine"};
  return opened;
}

}  // namespace doctor
