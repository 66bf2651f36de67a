#include "formats/tar/shards.hpp"

#include "detail/sample_range.hpp"
#include "detail/threads.hpp"
#include "formats/tar/kept_members.hpp"
#include "io/file_system.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace feedline::detail {
namespace {

void require_no_pipe(const std::string& path) {
  if (path == "-" || kind_of_entry(path) == entry_kind::pipe)
    throw dataset_error{
        {.path = path, .field = {}},
        "a pipe, which can be read only once and in its own order, while samples are "
        "read in any order; write it to a file first"};
}

tar_scanner scan(const byte_file& file, tar_rules rules) {
  return {file.size(), file.name(),
          [&file](std::uint64_t offset, std::span<std::byte> out) { file.read(offset, out); },
          rules};
}

/// All members. With a folder, those of a walk that an earlier run kept there.
std::vector<tar_member> members_of(const byte_file& file, tar_rules rules,
                                   const std::string& folder) {
  if (!folder.empty())
    if (auto kept = find_kept_members(file, rules, folder)) return *std::move(kept);
  std::vector<tar_member> found;
  tar_scanner members = scan(file, rules);
  while (auto member = members.next()) found.push_back(std::move(*member));
  file.require_unchanged();
  if (!folder.empty()) keep_members(file, rules, folder, found);
  return found;
}

next_tar_member each_of(const std::vector<tar_member>& members) {
  return [next = members.begin(), end = members.end()]() mutable -> std::optional<tar_member> {
    if (next == end) return std::nullopt;
    return *next++;
  };
}

}  // namespace

walked_shard walk_shard(const std::string& path) {
  require_no_pipe(path);
  walked_shard walked{path, open_file(path), {}};
  walked.members = members_of(*walked.file, tar_rules::strict, walked.file->index_folder());
  return walked;
}

tar_shards::opened_shard tar_shards::open_shard(const std::string& path,
                                                std::span<const tar_field> fields,
                                                const tar_options& options) {
  require_no_pipe(path);
  const auto file = open_file(path);
  const tar_rules rules = options.lenient ? tar_rules::lenient : tar_rules::strict;
  const std::string folder =
      options.index_folder.empty() ? file->index_folder() : options.index_folder;
  if (!folder.empty()) {
    const auto members = members_of(*file, rules, folder);
    return index_shard(file, each_of(members), fields, options);
  }
  tar_scanner members = scan(*file, rules);
  return index_shard(
      file, [&] { return members.next(); }, fields, options);
}

tar_shards::opened_shard tar_shards::index_shard(const byte_file_ptr& file,
                                                 const next_tar_member& next,
                                                 std::span<const tar_field> fields,
                                                 const tar_options& options) {
  try {
    tar_index index = index_members(next, file->name(), fields, options.skip_incomplete);
    file->require_unchanged();
    return {file, std::move(index)};
  } catch (const dataset_error&) {
    file->require_unchanged();  // says more, if a change is the cause
    throw;
  }
}

tar_shards::tar_shards(const std::vector<std::string>& paths, std::span<const tar_field> fields,
                       const tar_options& options, const walked_shard* first)
    : shards_(paths.size()) {
  parallel_for(paths.size(), [&](std::size_t i) {
    if (i != 0 || first == nullptr || first->path != paths[i]) {
      shards_[i] = open_shard(paths[i], fields, options);
      return;
    }
    shards_[i] = index_shard(first->file, each_of(first->members), fields, options);
  });
  std::uint64_t samples = 0;
  for (std::size_t number = 0; number < shards_.size(); ++number) {
    const tar_index& index = shards_[number].index;
    ends_.push_back(samples += index.size());
    skipped_ += index.skipped;
    payload_bytes_ += index.payload_bytes;
    dotted_ += index.dotted;
    if (dotted_example_.empty()) dotted_example_ = index.dotted_example;
    for (const auto& [extension, each] : index.left_out.all()) {
      tar_left_out left_out = each;
      left_out.shard = number;
      left_out_.add(left_out);
    }
  }
  if (samples != 0) return;
  const std::string& names = shards_.front().index.first_names;
  std::vector<std::string> extensions;
  for (const tar_field& field : fields)
    extensions.insert(extensions.end(), field.extensions.begin(), field.extensions.end());
  throw dataset_error{
      {.path = file(0).name(), .field = {}},
      "holds no sample with a member " + dotted_list(extensions) +
          (names.empty() ? std::string{"; it is empty"} : "; its first members are " + names) +
          (dotted_example_.empty() ? "" : "; " + first_dot_words(dotted_example_))};
}

tar_sample tar_shards::find(sample_index sample) const noexcept {
  const std::size_t shard = part_at(ends_, sample.value);
  const std::uint64_t within = sample.value - (shard == 0 ? 0 : ends_[shard - 1]);
  const tar_index& index = shards_[shard].index;
  return {shard, index.places(within), index.key(within)};
}

bool tar_shards::is_cold() const noexcept {
  constexpr std::size_t looked_at = 16;
  const std::size_t step = std::max<std::size_t>(1, shards_.size() / looked_at);
  for (std::size_t i = 0; i < shards_.size(); i += step)
    if (file(i).is_cold()) return true;
  return false;
}

}  // namespace feedline::detail
