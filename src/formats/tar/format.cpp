#include <feedline/error.hpp>
#include <feedline/formats/tar.hpp>

#include "dataset/label_type.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/text.hpp"
#include "formats/open/format_entry.hpp"
#include "formats/tar/shards.hpp"
#include "io/file_system.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

using paths = std::vector<std::string>;

constexpr std::string_view kinds = "images (.jpg, .jpeg, .png), labels (.cls) and arrays (.npy)";

/// The field that a member with this extension would be; no name if it is of no kind that is known.
tar_field tar_field_of(const std::string& extension, const open_options& options) {
  if (!is_usual_tar_extension(extension)) return {};
  const std::vector<std::string> images{"jpg", "jpeg", "png"};
  if (std::ranges::count(images, extension) != 0)
    return {"image", images, make_image_decoder(options.image)};
  if (extension == "cls") return {"label", {extension}, decode_decimal(options.label_type)};
  if (extension == "npy") return {extension, {extension}, decode_npy()};
  return {extension.substr(0, extension.size() - 4), {extension}, decode_npy()};
}

/// The parts of a shard that `open` uses.
struct tar_content {
  std::vector<tar_field> fields;  ///< in the order in which they come
  std::string first_names;        ///< the first names of members
  std::string dotted;             ///< a member that would be a field if its name were split at the
                                  ///< last dot
};

/// Two kinds of members that would both be one field.
dataset_error clash(const byte_file& file, const tar_field& one, const tar_field& other) {
  return {{.path = file.name(), .field = one.name},
          "members " + dotted_list(one.extensions) + " and members " +
              dotted_list(other.extensions) +
              " would both be the field of this name; choose among them with open_tar"};
}

/// Looks at all members, for fields may come late: the first sample need not show them.
tar_content look_at(const walked_shard& shard, const open_options& options) {
  const byte_file& file = *shard.file;
  tar_content found;
  std::set<std::string> known;  // extensions
  for (const tar_member& member : shard.members) {
    constexpr std::size_t told = 200;
    if (found.first_names.size() < told)
      found.first_names += (found.first_names.empty() ? "" : ", ") + quoted_tar_name(member.name);
    const std::string extension = in_lower_case(split_tar_name(member.name).extension);
    if (extension.empty() || known.contains(extension)) continue;
    tar_field field = tar_field_of(extension, options);
    if (field.name.empty()) {
      const std::string last = extension.substr(extension.rfind('.') + 1);
      if (found.dotted.empty() && is_usual_tar_extension(last)) found.dotted = member.name;
      continue;
    }
    known.insert(field.extensions.begin(), field.extensions.end());
    const auto namesake = std::ranges::find(found.fields, field.name, &tar_field::name);
    if (namesake != found.fields.end()) throw clash(file, *namesake, field);
    constexpr std::size_t max_fields = 256;
    if (found.fields.size() == max_fields)
      throw dataset_error{{.path = file.name(), .field = {}},
                          "has members of more than " + std::to_string(max_fields) + " fields: " +
                              first_dot_words(member.name) + ", or choose fields with open_tar"};
    found.fields.push_back(std::move(field));
  }
  return found;
}

std::vector<tar_field> find_fields(const walked_shard& shard, const open_options& options) {
  tar_content found = look_at(shard, options);
  if (!found.fields.empty()) return std::move(found.fields);
  throw dataset_error{
      {.path = shard.file->name(), .field = {}},
      "a tar archive with no sample of images (.jpg, .jpeg, .png), labels (.cls) or arrays "
      "(.npy): its members are " +
          (found.first_names.empty() ? std::string{"none"} : found.first_names) +
          (found.dotted.empty() ? "" : "; " + first_dot_words(found.dotted)) +
          "; say with open_tar how to decode them"};
}

std::vector<tar_field> choose(const std::vector<tar_field>& found, const std::string& shard,
                              const std::vector<std::string>& wanted) {
  std::vector<tar_field> chosen;
  for (const std::string& name : wanted) {
    const auto field = std::ranges::find(found, name, &tar_field::name);
    if (field == found.end()) {
      std::string names;
      for (const tar_field& each : found) names += (names.empty() ? "'" : ", '") + each.name + "'";
      throw usage_error{"open: there is no field '" + name + "' in " + shard +
                        ", whose samples have " + names};
    }
    chosen.push_back(*field);
  }
  return chosen;
}

/// ".txt", "without a dot in their names".
std::string kind_of(const tar_left_out& each) {
  if (each.extension.empty()) return "without a dot in their names";
  if (each.extension == "…") return "of other extensions";
  std::string quoted = quoted_tar_name('.' + each.extension);
  return quoted.substr(1, quoted.size() - 2);
}

/// Opens all fields that the first shard has.
dataset_ptr open_all(const paths& shards, const open_options& options, tar_leavings& left_out) {
  const walked_shard first = walk_shard(shards.front());
  dataset_ptr opened = open_tar_fields(shards, find_fields(first, options), {}, &left_out, &first);
  for (const auto& [extension, each] : left_out.all())
    if (is_usual_tar_extension(extension))
      throw dataset_error{
          {.path = shards[each.shard], .field = tar_field_of(extension, options).name},
          "members " + kind_of(each) + ", such as " + quoted_tar_name(each.example) +
              ", would be a field, but " + shards.front() +
              " has none of them; open shards of one kind together, or name "
              "fields that all have in open_options::fields"};
  return opened;
}

bool is_images_alone(const dataset& opened) {
  return opened.fields().size() == 1 && opened.fields().front().name == "image";
}

constexpr std::string_view no_labels =
    "no member is a label (.cls): names of folders and of shards are not read as classes; unpack "
    "the archive into a folder for each class and open that, or write labels beside the images";

/// Opens them with the fields that the first shard has. Logs what it leaves out.
dataset_ptr open_tar_shards(const paths& shards, const open_options& options) {
  static_cast<void>(largest_label(options.label_type));
  if (!options.fields.empty()) {
    const walked_shard first = walk_shard(shards.front());
    const auto fields = choose(find_fields(first, options), shards.front(), options.fields);
    return open_tar_fields(shards, fields, {}, nullptr, &first);
  }
  tar_leavings left_out;
  dataset_ptr opened = open_all(shards, options, left_out);
  std::vector<std::string> kinds_left_out;
  for (const auto& [extension, each] : left_out.all())
    kinds_left_out.push_back(std::to_string(each.members) + ' ' + kind_of(each) + " (such as " +
                             quoted_tar_name(each.example) + ')');
  if (!kinds_left_out.empty())
    log()->warn(
        "open: {}: members are left out: {}; open reads {}, and open_tar others with your own "
        "decoder",
        printable(shards.front()), list_names(kinds_left_out), kinds);
  if (is_images_alone(*opened)) log()->warn("open: {}: {}", printable(shards.front()), no_labels);
  return opened;
}

/// Lists the same fields, and what is left out.
std::vector<listed_field> list_tar_shard(const std::string& shard, const open_options& options) {
  tar_leavings left_out;
  const dataset_ptr opened = open_all({shard}, options, left_out);
  std::vector<listed_field> listed = list_opened(*opened);
  for (const auto& [extension, each] : left_out.all())
    listed.push_back({.name = kind_of(each),
                      .samples = each.members,
                      .left_out = "members such as " + quoted_tar_name(each.example) +
                                  ": open reads " + std::string{kinds} +
                                  ", and open_tar others with your own decoder"});
  if (is_images_alone(*opened))
    listed.push_back({.name = "label", .left_out = std::string{no_labels}});
  return listed;
}

}  // namespace

format_entry tar_format() {
  return {.name = "tar",
          .known_as = "tar shards",
          .is = [](const probed_file& file) { return is_tar(file.content); },
          .open = open_tar_shards,
          .list = list_tar_shard};
}

}  // namespace feedline::detail
