#include "formats/tar/shards.hpp"

#include "detail/parallel_for.hpp"

#include <system_error>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <string>

namespace feedline::detail {
namespace {

/// What walking over one shard brought.
struct indexed_shard {
  random_file_ptr file;
  std::optional<tar_index> index;
  std::exception_ptr fault;
};

random_file_ptr open_shard(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  if (path == "-" || kind == std::filesystem::file_type::fifo ||
      kind == std::filesystem::file_type::socket)
    throw dataset_error{
        {.path = path.string(), .field = {}},
        "a pipe, which can be read only once and in its own order, while samples are "
        "read in any order; write it to a file first"};
  return std::make_shared<const random_file>(path);
}

indexed_shard index_shard(const std::filesystem::path& path, std::span<const tar_field> fields,
                          const tar_options& options) {
  indexed_shard result;
  try {
    result.file = open_shard(path);
    const random_file& file = *result.file;
    const auto map = file.mapped();
    tar_scanner members{file.size(), file.path(),
                        [&](std::uint64_t offset, std::span<std::byte> out) {
                          if (map.empty()) return file.read(offset, out);
                          std::memcpy(out.data(), map.data() + offset, out.size());
                        },
                        options.lenient ? tar_rules::lenient : tar_rules::strict};
    try {
      result.index.emplace(members, file.path(), fields, options.skip_incomplete);
    } catch (const dataset_error&) {
      file.require_unchanged();  // which says more, if it is why
      throw;
    }
    file.require_unchanged();
  } catch (...) {
    result.fault = std::current_exception();
  }
  return result;
}

std::string list_extensions(std::span<const tar_field> fields) {
  std::string text;
  for (const tar_field& field : fields)
    for (const std::string& extension : field.extensions)
      text += (text.empty() ? "." : ", .") + extension;
  return text;
}

}  // namespace

tar_shards::tar_shards(const std::vector<std::string>& paths,
                       std::span<const tar_field> fields, const tar_options& options) {
  std::vector<indexed_shard> shards(paths.size());
  parallel_for(paths.size(),
               [&](std::size_t i) { shards[i] = index_shard(paths[i], fields, options); });
  std::uint64_t samples = 0;
  for (indexed_shard& shard : shards) {
    if (shard.fault) std::rethrow_exception(shard.fault);
    samples += shard.index->size();
    skipped_ += shard.index->skipped();
    payload_bytes_ += shard.index->payload_bytes();
    ends_.push_back(samples);
    shards_.push_back({std::move(shard.file), std::move(*shard.index)});
  }
  if (samples != 0) return;
  const std::string& names = shards_.front().index.first_names();
  throw dataset_error{
      {.path = file(0).path(), .field = {}},
      "holds no sample with a member " + list_extensions(fields) +
          (names.empty() ? std::string{"; it is empty"} : "; its first members are " + names)};
}

tar_sample tar_shards::find(sample_index sample) const noexcept {
  const auto found = std::upper_bound(ends_.begin(), ends_.end(), sample.value);
  const auto shard = static_cast<std::size_t>(found - ends_.begin());
  const std::uint64_t within = sample.value - (shard == 0 ? 0 : ends_[shard - 1]);
  const tar_index& index = shards_[shard].index;
  return {shard, index.places(within), index.key(within)};
}

std::span<const std::byte> tar_shards::stored(std::size_t shard, tar_place place,
                                              std::vector<std::byte>& memory) const {
  const random_file& from = file(shard);
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
