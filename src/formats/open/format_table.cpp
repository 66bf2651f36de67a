#include "formats/open/format_table.hpp"

#include <feedline/dataset/concatenate.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/cifar.hpp>
#include <feedline/formats/idx.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/npz.hpp>
#include <feedline/formats/tar.hpp>
#include <feedline/formats/tokens.hpp>
#include <feedline/image/folder.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/label_type.hpp"
#include "detail/text.hpp"
#include "formats/idx/array.hpp"
#include "formats/npy/array.hpp"
#include "formats/npy/header.hpp"
#include "formats/records/cifar_format.hpp"
#include "formats/tar/scanner.hpp"
#include "formats/tokens/shard.hpp"
#include "io/file_magic.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

using paths = std::vector<std::string>;

constexpr std::array<unsigned char, 8> hdf5_signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

bool is_hdf5(const probed_file& file) {
  return begins_with(file.head, hdf5_signature);
}

/// Behind a user block of 512, 1024, 2048, … bytes.
bool has_hdf5_behind(const probed_file& file) {
  const std::uint64_t size = file.file.size();
  std::array<std::byte, hdf5_signature.size()> bytes{};
  for (std::uint64_t at = 512; at <= size / 2 && size - at >= bytes.size(); at *= 2) {
    file.file.read(at, bytes);
    if (begins_with(std::span<const std::byte>{bytes}, hdf5_signature)) return true;
  }
  return false;
}

/// CIFAR's records may begin as an IDX file does, but are not as long as it says.
bool is_idx_file(const probed_file& file) {
  return file.is_compressed ? may_be_idx(file.content) : is_idx(file.head, file.file.size());
}

template <const cifar_format& Format>
bool may_be_cifar(const probed_file& file) {
  return is_cifar(Format, file.head, file.file.size());
}

/// Opens each by itself, and puts them one behind the other.
template <dataset_ptr (*OpenOne)(const std::string&, const open_options&)>
dataset_ptr each(const paths& files, const open_options& options) {
  std::vector<dataset_ptr> parts;
  for (const std::string& path : files) parts.push_back(OpenOne(path, options));
  return parts.size() == 1 ? parts.front() : concatenate(std::move(parts));
}

template <dataset_ptr (*Open)(const paths&)>
dataset_ptr chosen_of(const paths& files, const open_options& options) {
  return choose_fields(Open(files), options.fields);
}

/// The name of a format's only field.
std::string only_name(const open_options& options, file_format format, const std::string& without) {
  if (options.fields.empty()) return without;
  if (options.fields.size() == 1) return options.fields.front();
  throw usage_error{"open: a file of the format " + std::string{to_string(format)} +
                    " becomes one field, but open_options::fields names " +
                    std::to_string(options.fields.size())};
}

dataset_ptr open_array(const std::string& path, const open_options& options) {
  return open_npy(path, options.fields.front());
}

/// What the only field of a NumPy array is called, where nobody says otherwise.
std::string stem_of(const std::string& file) {
  return std::filesystem::path{file}.stem().string();
}

std::vector<listed_field> list_array(const std::string& file, const open_options&) {
  return {list_npy(file, stem_of(file))};
}

/// All with the name of the first.
dataset_ptr open_arrays(const paths& files, const open_options& options) {
  open_options named = options;
  named.fields = {only_name(options, file_format::npy, stem_of(files.front()))};
  return each<open_array>(files, named);
}

dataset_ptr open_archive(const std::string& path, const open_options& options) {
  return open_npz(path, options.fields);
}

dataset_ptr open_one_idx(const std::string& path, const open_options& options) {
  dataset_ptr images = open_idx_file(path, only_name(options, file_format::idx, "image"));
  if (!options.fields.empty() || !images->fields().front().shape.empty()) return images;
  return open_idx_file(path, "label");  // labels are soon read again
}

dataset_ptr open_images(const std::string& path, const open_options& options) {
  return choose_fields(
      open_image_folder(path, {.image = options.image, .label_type = options.label_type}).dataset,
      options.fields);
}

dataset_ptr open_token_shards(const paths& shards, const open_options& options) {
  if (!options.fields.empty())
    throw usage_error{
        "open: fields of a token shard have names of their own; leave open_options::fields empty"};
  if (options.tokens_per_sample == 0)
    throw usage_error{"open: " + shards.front() +
                      " holds tokens, and open_options::tokens_per_sample is not given"};
  return open_tokens(shards, {.tokens_per_sample = options.tokens_per_sample});
}

/// The field that a member with this extension would be; no name if it is of no kind that is known.
tar_field tar_field_of(const std::string& extension, const open_options& options) {
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
std::vector<tar_field> tar_fields_of(const random_file& file, const open_options& options,
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
    tar_field field = tar_field_of(in_lower_case(name.extension), options);
    constexpr std::size_t told = 200;
    if (seen.size() < told) seen += (seen.empty() ? "" : ", ") + quoted_tar_name(member->name);
    if (!field.name.empty() && std::ranges::count(fields, field.name, &tar_field::name) == 0)
      fields.push_back(std::move(field));
  }
  return fields;
}

/// With the fields that the first sample of the first shard has.
dataset_ptr open_tar_shards(const paths& shards, const open_options& options) {
  static_cast<void>(largest_label(options.label_type));
  const random_file first{shards.front()};
  std::string seen;
  std::vector<tar_field> found = tar_fields_of(first, options, seen);
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

constexpr auto table = std::to_array<format_entry>({
    {file_format::hdf5, "HDF5", "HDF5 files", is_hdf5, has_hdf5_behind, each<open_whole_hdf5>,
     list_whole_hdf5},
    {file_format::npy, "NumPy array", "NumPy arrays",
     [](const probed_file& file) { return is_npy(file.head); }, nullptr, open_arrays, list_array},
    {file_format::npz, "NumPy archive", "NumPy archives",
     [](const probed_file& file) { return is_npz(file.head); }, nullptr, each<open_archive>,
     [](const std::string& file, const open_options&) { return list_npz(file); }},
    {file_format::tar, "tar shard", "tar shards",
     [](const probed_file& file) { return is_tar(file.content); }, nullptr, open_tar_shards},
    {file_format::tokens, "token shard", "token shards with llm.c's header",
     [](const probed_file& file) { return is_token_shard(file.head); }, nullptr, open_token_shards},
    {file_format::cifar10, "CIFAR-10 batch", "CIFAR-10's binary batches", nullptr,
     may_be_cifar<cifar10>, chosen_of<open_cifar10>},
    {file_format::cifar100, "CIFAR-100 batch", "CIFAR-100's binary batches", nullptr,
     may_be_cifar<cifar100>, chosen_of<open_cifar100>},
    {file_format::idx, "IDX", "IDX files (plain or gzip)", is_idx_file,
     [](const probed_file& file) { return may_be_idx(file.content); }, each<open_one_idx>},
    {file_format::image_folder, "folder of images", "folders of images by class", nullptr, nullptr,
     each<open_images>},
});

}  // namespace

std::span<const format_entry> format_table() noexcept {
  return table;
}

const format_entry* find_format(file_format format) noexcept {
  const auto* const found = std::ranges::find(table, format, &format_entry::format);
  return found == table.end() ? nullptr : found;
}

#ifndef FEEDLINE_HAS_HDF5
namespace {

[[noreturn]] void refuse_hdf5(const std::string& path) {
  throw dataset_error{{.path = path, .field = {}},
                      "an HDF5 file, and this feedline was built without the HDF5 library; install "
                      "libhdf5-dev, and build feedline anew"};
}

}  // namespace

dataset_ptr open_whole_hdf5(const std::string& path, const open_options&) {
  refuse_hdf5(path);
}

std::vector<listed_field> list_whole_hdf5(const std::string& path, const open_options&) {
  refuse_hdf5(path);
}
#endif

}  // namespace feedline::detail
