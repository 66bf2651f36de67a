#include "programs/doctor/code.hpp"

#include "programs/inputs/command_line.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace doctor {
namespace {

/// Joins those that are not empty.
std::string joined(const std::vector<std::string>& parts, const char* between = ", ") {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : between) + part;
  return text;
}

/// A further argument, in braces; nothing if there are no members.
std::string argument(const std::vector<std::string>& members) {
  const std::string text = joined(members);
  return text.empty() ? text : ", {" + text + '}';
}

/// An empty member if the default does, or a stricter one.
std::string external_code(feedline::external_files external) {
  return external == feedline::external_files::allow ? ".external = feedline::external_files::allow"
                                                     : "";
}

/// For a loader and for `load_into_memory`: samples that cannot be read are left out, however many.
constexpr auto skip_code = ".errors = {.action = feedline::error_action::skip, .max_share = 1}";

std::string options_code(const findings& measured, const advice& given) {
  std::vector<std::string> members{fmt::format(".batch_size = {}", measured.batch_size)};
  members.emplace_back(".epochs = epochs");
  if (given.readers >= 0) members.push_back(fmt::format(".readers = {}", given.readers));
  if (measured.device)
    members.push_back(
        fmt::format(".placement = feedline::placement::{}", feedline::to_string(given.placement)));
  if (given.skip_damaged && !given.load_into_memory) members.emplace_back(skip_code);
  if (given.device_cache_bytes != 0)
    members.push_back(
        fmt::format(".memory = {{.cache = std::size_t{{{}}}}}", given.device_cache_bytes));
  return joined(members, ",\n       ");
}

std::string includes_of(const std::string& opening, bool on_gpu) {
  constexpr std::pair<const char*, const char*> needed[] = {
      {"feedline::open(", "feedline/formats/open.hpp"},
      {"open_hdf5(", "feedline/hdf5/dataset.hpp"},
      {"open_hdf5_ragged(", "feedline/hdf5/ragged.hpp"},
      {"open_hdf5_arrays(", "feedline/hdf5/arrays.hpp"},
      {"open_zarr_arrays(", "feedline/formats/zarr.hpp"},
      {"make_image_decoder(", "feedline/image/decode.hpp"}};
  std::vector<std::string> headers{"feedline/feedline.hpp"};
  for (const auto& [name, header] : needed)
    if (opening.find(name) != std::string::npos) headers.emplace_back(header);
  if (on_gpu) headers.insert(headers.begin(), "feedline/cuda/device.hpp");
  headers.emplace_back();  // a line between groups
  if (on_gpu) headers.insert(headers.end(), {"cuda_runtime_api.h", ""});
  headers.insert(headers.end(), {"cstddef", "cstdint", "iostream"});
  if (opening.find("std::vector") != std::string::npos) headers.emplace_back("vector");
  std::string text;
  for (const std::string& header : headers)
    text += header.empty() ? "\n" : "#include <" + header + ">\n";
  return text;
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string literal = "\"";
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (each == '"' || each == '\\')
      literal += std::string{'\\'} + each;
    else if (byte < 0x20 || byte == 0x7f)
      literal += fmt::format("\\{:03o}", byte);
    else
      literal += each;
  }
  return literal + '"';
}

std::string image_code(const feedline::image_options& image) {
  std::string text = fmt::format("{{.height = {}, .width = {}", image.height, image.width);
  if (image.shorter_side != 0) text += fmt::format(", .shorter_side = {}", image.shorter_side);
  if (image.resized_crop) text += ", .resized_crop = feedline::crop_ranges{}";
  if (image.interpolation != feedline::interpolation::bilinear)
    text += ", .interpolation = feedline::interpolation::" + programs::name_of(image.interpolation);
  if (image.follow_orientation) text += ", .follow_orientation = true";
  return text + '}';
}

std::string open_code(const std::string& path, const feedline::open_options& how,
                      bool names_image_size) {
  std::vector<std::string> names;
  for (const std::string& name : how.fields) names.push_back(quoted(name));
  std::vector<std::string> members;
  if (!names.empty()) members.push_back(".fields = {" + joined(names) + '}');
  const feedline::image_options& image = how.image;
  if (names_image_size || image.shorter_side != 0 || image.resized_crop ||
      image.follow_orientation || image.interpolation != feedline::interpolation::bilinear)
    members.push_back(".image = " + image_code(how.image));
  if (how.tokens_per_sample != 0)
    members.push_back(fmt::format(".tokens_per_sample = {}", how.tokens_per_sample));
  members.push_back(external_code(how.external));
  return "feedline::open(" + quoted(path) + argument(members) + ')';
}

std::string hdf5_code(const std::string& file, const std::vector<std::string>& fields,
                      std::size_t whole, feedline::external_files external) {
  std::vector<std::string> named;
  for (const std::string& field : fields) named.push_back('{' + quoted(field) + '}');
  return fmt::format(
      "feedline::open_hdf5(\n      {},\n      {{{}}},\n      {{{}}})", quoted(file), joined(named),
      joined({fmt::format(".max_resident_bytes = {}", whole), external_code(external)}));
}

std::string ragged_code(const std::string& file, const std::string& field,
                        feedline::external_files external) {
  return fmt::format("feedline::open_hdf5_ragged({}, {{{}}}{})", quoted(file), quoted(field),
                     argument({external_code(external)}));
}

std::string renamed_code(const std::string& opening, const std::string& from,
                         const std::string& to) {
  if (to.empty() || to == from) return opening;
  return fmt::format("feedline::select({}, {{{{{}, {}}}}})", opening, quoted(from), quoted(to));
}

std::string zipped_code(const std::vector<std::string>& openings) {
  if (openings.size() == 1) return openings.front();
  return "feedline::zip({" + joined(openings, ",\n                   ") + "})";
}

std::string program_of(const std::string& opening, const findings& measured, const advice& given) {
  const bool on_gpu = measured.device.has_value();
  const std::string device = on_gpu ? fmt::format(R"(feedline::make_cuda_device({});
  cudaStream_t stream = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return 1)",
                                                  measured.device->ordinal)
                                    : "feedline::make_host_device()";
  const std::string skip =
      given.skip_damaged ? std::string{",\n      {"} + skip_code + '}' : std::string{};
  return includes_of(opening, on_gpu) +
         fmt::format(
             R"(
int main() {{
  constexpr std::uint64_t epochs = 2;
  const auto train = {};
  const auto device = {};
  feedline::loader loader{{
      train,
      feedline::shuffle{{.seed = 42{}}},
      device,
      {{{}}}}};
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {{
    std::uint64_t samples = 0;
    for (feedline::batch& batch : loader.epoch(epoch{}))
      samples += batch.size();  // your step goes here
    std::cout << "epoch " << epoch << ": " << samples << " samples\n";
  }}
  std::cout << report(loader.statistics());
}}
)",
             given.load_into_memory ? "feedline::load_into_memory(\n      " + opening + skip + ')'
                                    : opening,
             device,
             given.window ? fmt::format(", .within = feedline::chunks({})", *given.window) : "",
             options_code(measured, given), on_gpu ? ", feedline::stream_ref{stream}" : "");
}

}  // namespace doctor
