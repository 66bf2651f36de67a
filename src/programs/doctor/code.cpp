#include "programs/doctor/code.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace doctor {
namespace {

std::string joined(const std::vector<std::string>& parts, const char* between = ", ") {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

/// Of a loader and of `load_into_memory`: samples that cannot be read are left out, however many.
constexpr auto skip_code = ".errors = {.action = feedline::error_action::skip, .max_share = 1}";

std::string list_code(const std::vector<std::string>& texts) {
  std::vector<std::string> literals;
  for (const std::string& text : texts) literals.push_back(quoted(text));
  return '{' + joined(literals) + '}';
}

std::string order_code(const advice& given) {
  if (!given.window) return "feedline::shuffle{.seed = 42}";
  return fmt::format("feedline::shuffle{{.seed = 42, .within = feedline::chunks({})}}",
                     *given.window);
}

std::string options_code(const findings& measured, const advice& given) {
  std::vector<std::string> members{fmt::format(".batch_size = {}", measured.batch_size)};
  members.emplace_back(".epochs = epochs");
  if (given.readers >= 0) members.push_back(fmt::format(".readers = {}", given.readers));
  if (measured.device)
    members.push_back(
        fmt::format(".placement = feedline::placement::{}", feedline::to_string(given.placement)));
  if (given.decode_on == feedline::decode_on::device)
    members.emplace_back(".decode_on = feedline::decode_on::device");
  if (given.skip_damaged && !given.load_into_memory) members.emplace_back(skip_code);
  if (given.device_cache_bytes != 0)
    members.push_back(
        fmt::format(".memory = {{.cache = std::size_t{{{}}}}}", given.device_cache_bytes));
  std::string text;
  for (const std::string& member : members) text += "\n       " + member + ",";
  text.pop_back();
  return '{' + text.substr(text.find_first_not_of("\n ")) + '}';
}

bool uses(const std::string& code, const char* name) {
  return code.find(name) != std::string::npos;
}

std::string include(const std::string& header) {
  return "#include <" + header + ">\n";
}

std::string includes_of(const std::string& opening, const findings& measured) {
  std::string text;
  if (measured.device) text += include("feedline/cuda/device.hpp");
  text += include("feedline/feedline.hpp");
  if (uses(opening, "feedline::open(")) text += include("feedline/formats/open.hpp");
  if (uses(opening, "open_hdf5(")) text += include("feedline/hdf5/dataset.hpp");
  if (uses(opening, "open_hdf5_ragged(")) text += include("feedline/hdf5/ragged.hpp");
  if (uses(opening, "make_image_decoder(")) text += include("feedline/image/decode.hpp");
  text += '\n';
  if (measured.device) text += include("cuda_runtime_api.h") + '\n';
  return text + include("cstddef") + include("cstdint") + include("iostream");
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

namespace {

/// Of `open_options` and `hdf5_options`; empty: what is the default there, or stricter.
std::string external_code(feedline::external_files external) {
  return external == feedline::external_files::allow ? ".external = feedline::external_files::allow"
                                                     : "";
}

std::string ragged_opening(const std::string& file, const std::string& field,
                           feedline::external_files external) {
  const std::string allowed = external_code(external);
  return fmt::format("feedline::open_hdf5_ragged({}, {{{}}}{})", quoted(file), quoted(field),
                     allowed.empty() ? "" : ", {" + allowed + '}');
}

}  // namespace

std::string image_code(const feedline::image_options& image) {
  std::string text = fmt::format("{{.height = {}, .width = {}", image.height, image.width);
  if (image.shorter_side != 0) text += fmt::format(", .shorter_side = {}", image.shorter_side);
  return text + '}';
}

std::string open_code(const std::string& path, const feedline::open_options& how,
                      bool names_image_size) {
  std::vector<std::string> members;
  if (!how.fields.empty()) members.push_back(".fields = " + list_code(how.fields));
  if (names_image_size || how.image.shorter_side != 0)
    members.push_back(".image = " + image_code(how.image));
  if (how.tokens_per_sample != 0)
    members.push_back(fmt::format(".tokens_per_sample = {}", how.tokens_per_sample));
  if (auto allowed = external_code(how.external); !allowed.empty()) members.push_back(allowed);
  return "feedline::open(" + quoted(path) + (members.empty() ? "" : ", {" + joined(members) + '}') +
         ')';
}

std::string hdf5_code(const std::string& file, const std::vector<std::string>& fields,
                      std::size_t whole, feedline::external_files external) {
  std::vector<std::string> named;
  for (const std::string& field : fields) named.push_back('{' + quoted(field) + '}');
  const std::string allowed = external_code(external);
  return fmt::format(
      "feedline::open_hdf5(\n      {},\n      {{{}}},\n      {{.max_resident_bytes = {}{}}})",
      quoted(file), joined(named), whole, allowed.empty() ? "" : ", " + allowed);
}

std::string ragged_code(const std::string& file, const std::string& field, const std::string& image,
                        feedline::external_files external) {
  return fmt::format(
      "feedline::decode({},\n"
      "                       feedline::make_image_decoder({}))",
      ragged_opening(file, field, external), image);
}

std::string ragged_code(const std::string& file, const std::string& field, std::uint64_t length,
                        feedline::external_files external) {
  return fmt::format(
      "feedline::pad({},\n"
      "                    {{.length = {}, .longer = feedline::pad_longer::truncate}})",
      ragged_opening(file, field, external), length);
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
  std::string text = includes_of(opening, measured);
  text += "\nint main() {\n  constexpr std::uint64_t epochs = 2;\n";
  if (given.load_into_memory)
    text += "  const auto train = feedline::load_into_memory(\n      " + opening +
            (given.skip_damaged ? std::string{",\n      {"} + skip_code + "}" : "") + ");\n";
  else
    text += "  const auto train = " + opening + ";\n";
  text += on_gpu ? fmt::format("  const auto device = feedline::make_cuda_device({});\n",
                               measured.device->ordinal) +
                       "  cudaStream_t stream = nullptr;\n"
                       "  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != "
                       "cudaSuccess) return 1;\n"
                 : "  const auto device = feedline::make_host_device();\n";
  text += "  feedline::loader loader{\n      train,\n      " + order_code(given) +
          ",\n      device,\n      " + options_code(measured, given) + "};\n";
  text += fmt::format(
      "  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {{\n"
      "    std::uint64_t samples = 0;\n"
      "    for (feedline::batch& batch : loader.epoch(epoch{}))\n"
      "      samples += batch.size();  // your step goes here\n"
      "    std::cout << \"epoch \" << epoch << \": \" << samples << \" samples\\n\";\n  }}\n",
      on_gpu ? ", feedline::stream_ref{stream}" : "");
  text += "  std::cout << report(loader.statistics());\n}\n";
  return text;
}

}  // namespace doctor
