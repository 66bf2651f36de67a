#include <feedline/error.hpp>
#include <feedline/formats/tar.hpp>

#include "dataset/label_type.hpp"
#include "detail/text.hpp"
#include "formats/open/format_table.hpp"
#include "formats/tar/scanner.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// The field that a member with this extension would be; no name if it is of no kind that is known.
tar_field field_of(const std::string& extension, const open_options& options) {
  const std::vector<std::string> images{"jpg", "jpeg", "png"};
  if (std::ranges::count(images, extension) != 0)
    return {"image", images, make_image_decoder(options.image)};
  if (extension == "cls") return {"label", {extension}, decode_decimal(options.label_type)};
  if (extension == "npy") return {extension, {extension}, decode_npy()};
  if (extension.ends_with(".npy"))
    return {extension.substr(0, extension.size() - 4), {extension}, decode_npy()};
  return {};
}

/// Of the first sample that has any field; `seen` tells what members there were till then.
std::vector<tar_field> fields_of(const random_file& file, const open_options& options,
                                 std::string& seen) {
  tar_scanner members{
      file.size(), file.path(),
      [&](std::uint64_t offset, std::span<std::byte> out) { file.read(offset, out); }};
  std::vector<tar_field> fields;
  std::string key;
  while (const auto member = members.next()) {
    const tar_sample_name name = split_tar_name(member->name);
    if (name.key != key && !fields.empty()) break;
    key = name.key;
    tar_field field = field_of(in_lower_case(name.extension), options);
    constexpr std::size_t told = 200;
    if (seen.size() < told) seen += (seen.empty() ? "" : ", ") + quoted_tar_name(member->name);
    if (!field.name.empty() && std::ranges::count(fields, field.name, &tar_field::name) == 0)
      fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace

dataset_ptr open_whole_tar(const std::vector<std::string>& shards, const open_options& options) {
  static_cast<void>(largest_label(options.label_type));
  const random_file first{shards.front()};
  std::string seen;
  std::vector<tar_field> found = fields_of(first, options, seen);
  if (found.empty())
    throw dataset_error{
        {.path = first.path(), .field = {}},
        "a tar archive with no sample of images (.jpg, .jpeg, .png), labels (.cls) or "
        "arrays (.npy): its members are " +
            (seen.empty() ? std::string{"none"} : seen) + "; say with open_tar how to decode them"};
  if (options.fields.empty()) return open_tar(shards, found);
  std::vector<tar_field> chosen;
  for (const std::string& name : options.fields) {
    const auto field = std::ranges::find(found, name, &tar_field::name);
    if (field == found.end()) {
      std::string names;
      for (const tar_field& each : found) names += (names.empty() ? "'" : ", '") + each.name + "'";
      throw usage_error{"open: there is no field '" + name + "' in " + first.path() +
                        ", whose first sample has " + names};
    }
    chosen.push_back(*field);
  }
  return open_tar(shards, chosen);
}

}  // namespace feedline::detail
