#include "formats/tar/shards.hpp"

#include "detail/sample_range.hpp"
#include "detail/text.hpp"
#include "detail/threads.hpp"

#include <system_error>

#include <algorithm>
#include <optional>

namespace feedline::detail {
namespace {

/// A member that a field wants is not larger: it may have to be read into memory whole.
constexpr std::uint64_t max_member_bytes = std::uint64_t{1} << 30;

/// ".jpg, .png"
std::string dotted(const std::vector<std::string>& extensions) {
  std::string text;
  for (const std::string& each : extensions) text += (text.empty() ? "." : ", .") + each;
  return text;
}

/// The sample that members are being gathered for.
class grouping {
 public:
  grouping(tar_index& index, const std::string& path, std::span<const tar_field> fields,
           bool skip_incomplete)
      : index_{index},
        path_{path},
        fields_{fields},
        skip_incomplete_{skip_incomplete},
        places_(fields.size()) {}

  void add(const tar_member& member) {
    const tar_sample_name name = split_tar_name(member.name);
    if (name.key.empty()) return;
    if (name.key != key_) {
      finish();
      key_ = name.key;
      header_ = member.header;
    }
    const std::string extension = in_lower_case(name.extension);
    extensions_ += (extensions_.empty() ? "." : ", .") + extension;
    for (std::size_t i = 0; i < fields_.size(); ++i)
      if (std::ranges::count(fields_[i].extensions, extension) != 0) take(i, member);
  }

  /// Takes the sample into the index, if it is one.
  void finish() {
    const auto wanting = std::count(places_.begin(), places_.end(), std::nullopt);
    if (wanting == 0) {
      for (const auto& place : places_) {
        index_.all_places.push_back(*place);
        index_.payload_bytes += place->size;
      }
      index_.all_keys += key_;
      index_.key_ends.push_back(index_.all_keys.size());
    } else if (wanting != std::ssize(places_)) {
      if (!skip_incomplete_) throw missing();
      ++index_.skipped;
    }
    std::fill(places_.begin(), places_.end(), std::nullopt);
    extensions_.clear();
    key_.clear();
  }

 private:
  void take(std::size_t field, const tar_member& member) {
    const auto refusal = [&](const std::string& why) {
      return dataset_error{
          {.path = path_, .field = fields_[field].name, .sample = {}, .offset = member.header},
          "member " + quoted_tar_name(member.name) + " " + why};
    };
    if (!member.instead.empty())
      throw refusal("is " + member.instead +
                    ", and links and devices are not followed; make the archive with "
                    "tar's --dereference and --hard-dereference");
    if (places_[field])
      throw refusal("is the second one for this field of the sample " + quoted_tar_name(key_) +
                    "; name one extension only, or mend the archive");
    if (member.size > max_member_bytes)
      throw refusal("has " + std::to_string(member.size) + " bytes, and more than " +
                    std::to_string(max_member_bytes) + " are not decoded");
    places_[field] = {member.offset, member.size};
  }

  dataset_error missing() const {
    std::string wanting;
    for (std::size_t i = 0; i < fields_.size(); ++i)
      if (!places_[i])
        wanting += std::string{wanting.empty() ? "" : " and for "} + "field '" + fields_[i].name +
                   "' (" + dotted(fields_[i].extensions) + ")";
    return {
        {.path = path_, .field = {}, .sample = {}, .offset = header_},
        "the sample " + quoted_tar_name(key_) + " has no member for " + wanting + ", only " +
            extensions_ +
            "; members of a sample follow one another; tar_options::skip_incomplete leaves such "
            "samples out"};
  }

  tar_index& index_;
  const std::string& path_;
  std::span<const tar_field> fields_;
  bool skip_incomplete_;
  std::string key_;
  std::uint64_t header_ = 0;  ///< offset of its first member's
  std::string extensions_;
  std::vector<std::optional<tar_place>> places_;
};

void require_no_pipe(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  if (path == "-" || kind == std::filesystem::file_type::fifo ||
      kind == std::filesystem::file_type::socket)
    throw dataset_error{
        {.path = path.string(), .field = {}},
        "a pipe, which can be read only once and in its own order, while samples are "
        "read in any order; write it to a file first"};
}

}  // namespace

tar_index index_members(tar_scanner& members, const std::string& path,
                        std::span<const tar_field> fields, bool skip_incomplete) {
  constexpr std::size_t told = 100;  // bytes of names are enough to tell what a shard is
  tar_index index{.field_count = fields.size()};
  grouping group{index, path, fields, skip_incomplete};
  while (const auto member = members.next()) {
    if (index.first_names.size() < told)
      index.first_names += (index.first_names.empty() ? "" : ", ") + quoted_tar_name(member->name);
    group.add(*member);
  }
  group.finish();
  return index;
}

tar_shards::opened_shard tar_shards::open_shard(const std::filesystem::path& path,
                                                std::span<const tar_field> fields,
                                                const tar_options& options) {
  require_no_pipe(path);
  const auto file = std::make_shared<const random_file>(path);
  tar_scanner members{
      file->size(), file->path(),
      [&](std::uint64_t offset, std::span<std::byte> out) { file->read(offset, out); },
      options.lenient ? tar_rules::lenient : tar_rules::strict};
  try {
    tar_index index = index_members(members, file->path(), fields, options.skip_incomplete);
    file->require_unchanged();
    return {file, std::move(index)};
  } catch (const dataset_error&) {
    file->require_unchanged();  // which says more, if it is why
    throw;
  }
}

tar_shards::tar_shards(const std::vector<std::string>& paths, std::span<const tar_field> fields,
                       const tar_options& options)
    : shards_(paths.size()) {
  parallel_for(paths.size(),
               [&](std::size_t i) { shards_[i] = open_shard(paths[i], fields, options); });
  std::uint64_t samples = 0;
  for (const opened_shard& shard : shards_) {
    ends_.push_back(samples += shard.index.size());
    skipped_ += shard.index.skipped;
    payload_bytes_ += shard.index.payload_bytes;
  }
  if (samples != 0) return;
  const std::string& names = shards_.front().index.first_names;
  std::vector<std::string> extensions;
  for (const tar_field& field : fields)
    extensions.insert(extensions.end(), field.extensions.begin(), field.extensions.end());
  throw dataset_error{
      {.path = file(0).path(), .field = {}},
      "holds no sample with a member " + dotted(extensions) +
          (names.empty() ? std::string{"; it is empty"} : "; its first members are " + names)};
}

tar_sample tar_shards::find(sample_index sample) const noexcept {
  const std::size_t shard = part_at(ends_, sample.value);
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
