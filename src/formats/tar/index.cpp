#include "formats/tar/index.hpp"

#include <feedline/error.hpp>

#include "detail/text.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace feedline::detail {
namespace {

/// A member that a field wants is not larger: it may have to be read into memory whole.
constexpr std::uint64_t max_member_bytes = std::uint64_t{1} << 30;

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
    if (name.key.empty()) {
      if (has_no_dot(member.name)) leave_out({}, member.name);
      return;
    }
    if (name.key != key_) {
      finish();
      key_ = name.key;
      header_ = member.header;
    }
    const std::string extension = in_lower_case(name.extension);
    extensions_ += (extensions_.empty() ? "." : ", .") + extension;
    bool is_taken = false;
    for (std::size_t i = 0; i < fields_.size(); ++i)
      if (is_extension_of(fields_[i], extension)) {
        take(i, member);
        is_taken = true;
      }
    if (is_taken) return;
    leave_out(extension, member.name);
    const std::string last = extension.substr(extension.rfind('.') + 1);
    if (dotted_.empty() && last != extension &&
        std::ranges::any_of(fields_, [&](const auto& one) { return is_extension_of(one, last); }))
      dotted_ = member.name;
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
    } else if (!dotted_.empty()) {
      ++index_.dotted;
      if (index_.dotted_example.empty()) index_.dotted_example = dotted_;
    }
    dotted_.clear();
    std::fill(places_.begin(), places_.end(), std::nullopt);
    extensions_.clear();
    key_.clear();
  }

 private:
  static bool is_extension_of(const tar_field& field, const std::string& extension) {
    return std::ranges::count(field.extensions, extension) != 0;
  }

  void leave_out(const std::string& extension, const std::string& member) {
    index_.left_out.add({.extension = extension, .members = 1, .example = member});
  }

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
                    "; name one extension only, or repair the archive");
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
                   "' (" + dotted_list(fields_[i].extensions) + ")";
    return {{.path = path_, .field = {}, .sample = {}, .offset = header_},
            "the sample " + quoted_tar_name(key_) + " has no member for " + wanting + ", only " +
                extensions_ +
                "; members of a sample follow one another, as tar --sort=name writes them; choose "
                "fields that every sample has, or leave such samples out with "
                "tar_options::skip_incomplete"};
  }

  tar_index& index_;
  const std::string& path_;
  std::span<const tar_field> fields_;
  bool skip_incomplete_;
  std::string key_;
  std::uint64_t header_ = 0;  ///< offset of its first member's
  std::string extensions_;
  std::string dotted_;  ///< a member of it that would be a field's if its name were split at the
                        ///< last dot
  std::vector<std::optional<tar_place>> places_;
};

}  // namespace

std::string dotted_list(const std::vector<std::string>& extensions) {
  std::string text;
  for (const std::string& each : extensions) text += (text.empty() ? "." : ", .") + each;
  return text;
}

bool is_usual_tar_extension(std::string_view extension) noexcept {
  constexpr auto usual = std::to_array<std::string_view>({"jpg", "jpeg", "png", "cls", "npy"});
  constexpr std::string_view named_array = ".npy";  // after a name: "vec.npy"
  return std::ranges::count(usual, extension) != 0 ||
         (extension.ends_with(named_array) && extension.size() > named_array.size());
}

void tar_leavings::add(const tar_left_out& more) {
  constexpr std::size_t max_kinds = 32;
  constexpr const char* others = "…";
  const bool is_one_of_many = all_.size() >= max_kinds && !all_.contains(more.extension) &&
                              !is_usual_tar_extension(more.extension);
  const std::string extension = is_one_of_many ? others : more.extension;
  if (const auto [found, is_new] = all_.emplace(extension, more); is_new)
    found->second.extension = extension;
  else
    found->second.members += more.members;
}

tar_index index_members(const next_tar_member& next, const std::string& path,
                        std::span<const tar_field> fields, bool skip_incomplete) {
  constexpr std::size_t told = 100;  // this many bytes of names are enough to tell what a shard is
  tar_index index{.field_count = fields.size()};
  grouping group{index, path, fields, skip_incomplete};
  while (const auto member = next()) {
    if (index.first_names.size() < told)
      index.first_names += (index.first_names.empty() ? "" : ", ") + quoted_tar_name(member->name);
    group.add(*member);
  }
  group.finish();
  return index;
}

}  // namespace feedline::detail
