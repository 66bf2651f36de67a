#include "formats/open/format_table.hpp"

#include <feedline/dataset/concatenate.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/cifar.hpp>
#include <feedline/formats/idx.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/npz.hpp>
#include <feedline/formats/tokens.hpp>
#include <feedline/image/folder.hpp>

#include "dataset/choose_fields.hpp"
#include "detail/text.hpp"
#include "formats/idx/array.hpp"
#include "formats/npy/array.hpp"
#include "formats/npy/header.hpp"
#include "formats/records/cifar_format.hpp"
#include "formats/tar/scanner.hpp"
#include "formats/tokens/shard.hpp"
#include "io/file_magic.hpp"
#include "io/file_system.hpp"

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

/// The signature comes after a user block of 512, 1024, 2048, … bytes.
bool has_hdf5_behind(const probed_file& file) {
  const std::uint64_t size = file.file.size();
  std::array<std::byte, hdf5_signature.size()> bytes{};
  for (std::uint64_t at = 512; at <= size / 2 && size - at >= bytes.size(); at *= 2) {
    file.file.read(at, bytes);
    if (begins_with(std::span<const std::byte>{bytes}, hdf5_signature)) return true;
  }
  return false;
}

/// CIFAR's records may begin like an IDX file, but their length differs from the one in that
/// header.
bool is_idx_file(const probed_file& file) {
  return file.is_compressed ? may_be_idx(file.content) : is_idx(file.head, file.file.size());
}

template <const cifar_format& Format>
bool may_be_cifar(const probed_file& file) {
  return is_cifar(Format, file.head, file.file.size());
}

std::string words_of(const std::vector<field>& fields) {
  std::vector<std::string> words;
  for (const field& each : fields) words.push_back(to_string(each));
  return list_names(words);
}

/// Opens each by itself, and puts them one after the other.
template <dataset_ptr (*OpenOne)(const std::string&, const open_options&)>
dataset_ptr each(const paths& files, const open_options& options) {
  std::vector<dataset_ptr> parts;
  for (const std::string& path : files) {
    parts.push_back(OpenOne(path, options));
    if (parts.back()->fields() != parts.front()->fields())
      throw dataset_error{{.path = path, .field = {}},
                          "has the fields " + words_of(parts.back()->fields()) + ", but " +
                              files.front() + " has " + words_of(parts.front()->fields()) +
                              "; files that are opened together have the same fields"};
  }
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

/// The default name of the only field of a NumPy array.
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

std::vector<listed_field> list_archive(const std::string& file, const open_options&) {
  return list_npz(file);
}

dataset_ptr open_one_idx(const std::string& path, const open_options& options) {
  dataset_ptr images = open_idx_file(path, only_name(options, file_format::idx, "image"));
  if (!options.fields.empty() || !images->fields().front().shape.empty()) return images;
  return open_idx_file(path, "label");  // labels are small; reading them again is cheap
}

image_folder open_folders(const paths& roots, const open_options& options) {
  return open_image_folder(roots, {.image = options.image, .label_type = options.label_type});
}

dataset_ptr open_images(const paths& roots, const open_options& options) {
  return choose_fields(open_folders(roots, options).dataset, options.fields);
}

std::vector<listed_field> list_images(const std::string& root, const open_options& options) {
  const image_folder opened = open_folders({root}, options);
  std::vector<listed_field> listed = list_opened(*opened.dataset);
  listed.back().classes = opened.classes;  // the classes of "label"
  if (opened.skipped_files != 0)
    listed.push_back({.name = opened.examples.front(),
                      .samples = opened.skipped_files,
                      .left_out = "files such as this one are not named as images (.jpg, .jpeg, "
                                  ".png), or lie in no class's folder"});
  return listed;
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

/// Where tokens are asked for, an array is a stream of them.
dataset_ptr open_arrays_or_tokens(const paths& files, const open_options& options) {
  return options.tokens_per_sample == 0 ? open_arrays(files, options)
                                        : open_token_shards(files, options);
}

constexpr auto table = std::to_array<format_entry>({
    {file_format::hdf5, "HDF5", "HDF5 files", is_hdf5, has_hdf5_behind, each<open_whole_hdf5>,
     list_whole_hdf5},
    {file_format::npy, "NumPy array", "NumPy arrays",
     [](const probed_file& file) { return is_npy(file.head); }, nullptr, open_arrays_or_tokens,
     list_array},
    {file_format::npz, "NumPy archive", "NumPy archives",
     [](const probed_file& file) { return is_npz(file.head); }, nullptr, each<open_archive>,
     list_archive},
    {file_format::tar, "tar shard", "tar shards",
     [](const probed_file& file) { return is_tar(file.content); }, nullptr, open_tar_shards,
     list_tar_shard},
    {file_format::tokens, "token shard", "token shards with llm.c's header or Megatron's index",
     [](const probed_file& file) { return is_token_shard(file.head); }, nullptr, open_token_shards},
    {file_format::cifar10, "CIFAR-10 batch", "CIFAR-10's binary batches", nullptr,
     may_be_cifar<cifar10>, chosen_of<open_cifar10>},
    {file_format::cifar100, "CIFAR-100 batch", "CIFAR-100's binary batches", nullptr,
     may_be_cifar<cifar100>, chosen_of<open_cifar100>},
    {file_format::idx, "IDX", "IDX files (plain or gzip)", is_idx_file,
     [](const probed_file& file) { return may_be_idx(file.content); }, each<open_one_idx>},
    {file_format::image_folder, "folder of images", "folders of images by class", nullptr, nullptr,
     open_images, list_images},
});

}  // namespace

std::span<const format_entry> format_table() noexcept {
  return table;
}

const format_entry* find_format(file_format format) noexcept {
  const auto* const found = std::ranges::find(table, format, &format_entry::format);
  return found == table.end() ? nullptr : found;
}

std::vector<listed_field> list_opened(const dataset& opened) {
  std::vector<listed_field> listed;
  for (const field& spec : opened.fields())
    listed.push_back({.name = spec.name, .samples = opened.size(), .spec = spec});
  return listed;
}

#ifndef FEEDLINE_HAS_HDF5
namespace {

[[noreturn]] void refuse_hdf5(const std::string& path) {
  throw dataset_error{{.path = path, .field = {}},
                      "an HDF5 file, and this feedline was built without the HDF5 library; install "
                      "libhdf5-dev, and build feedline again"};
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
