#include "formats/tar/shards.hpp"

#include "detail/sample_range.hpp"
#include "detail/threads.hpp"
#include "io/file_system.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

void require_no_pipe(const std::string& path) {
  if (path == "-" || kind_of_entry(path) == entry_kind::pipe)
    throw dataset_error{
        {.path = path, .field = {}},
        "a pipe, which can be read only once and in its own order, while samples are "
        "read in any order; write it to a file first"};
}

}  // namespace

tar_shards::opened_shard tar_shards::open_shard(const std::string& path,
                                                std::span<const tar_field> fields,
                                                const tar_options& options) {
  require_no_pipe(path);
  const auto file = open_file(path);
  tar_scanner members{
      file->size(), file->name(),
      [&](std::uint64_t offset, std::span<std::byte> out) { file->read(offset, out); },
      options.lenient ? tar_rules::lenient : tar_rules::strict};
  try {
    tar_index index = index_members(members, file->name(), fields, options.skip_incomplete);
    file->require_unchanged();
    return {file, std::move(index)};
  } catch (const dataset_error&) {
    file->require_unchanged();  // says more, if a change is the cause
    throw;
  }
}

tar_shards::tar_shards(const std::vector<std::string>& paths, std::span<const tar_field> fields,
                       const tar_options& options)
    : shards_(paths.size()) {
  parallel_for(paths.size(),
               [&](std::size_t i) { shards_[i] = open_shard(paths[i], fields, options); });
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

std::span<const std::byte> tar_shards::stored(std::size_t shard, tar_place place,
                                              std::vector<std::byte>& memory) const {
  const byte_file& from = file(shard);
  if (const auto map = from.mapped(); !map.empty())
    return map.subspan(static_cast<std::size_t>(place.offset),
                       static_cast<std::size_t>(place.size));
  memory.resize(static_cast<std::size_t>(place.size));
  from.read(place.offset, memory);
  return memory;
}

bool tar_shards::is_cold() const noexcept {
  constexpr std::size_t looked_at = 16;
  const std::size_t step = std::max<std::size_t>(1, shards_.size() / looked_at);
  for (std::size_t i = 0; i < shards_.size(); i += step)
    if (file(i).is_cold()) return true;
  return false;
}

}  // namespace feedline::detail
