#include "formats/tar/index.hpp"

#include "detail/text.hpp"

#include <algorithm>
#include <optional>

namespace feedline::detail {
namespace {

/// A member that a field wants is not larger: it may have to be read into memory whole.
constexpr std::uint64_t max_member_bytes = std::uint64_t{1} << 30;

bool is_wanted(const tar_field& field, const std::string& extension) {
  return std::find(field.extensions.begin(), field.extensions.end(), extension) !=
         field.extensions.end();
}

std::string described(const tar_field& field) {
  std::string text = "field '" + field.name + "' (";
  for (std::size_t i = 0; i < field.extensions.size(); ++i)
    text += (i == 0 ? "." : ", .") + field.extensions[i];
  return text + ")";
}

}  // namespace

/// The sample that members are being gathered for.
class tar_index::grouping {
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
      if (is_wanted(fields_[i], extension)) take(i, member);
  }

  /// Takes the sample into the index, if it is one.
  void finish() {
    const auto found = std::count_if(places_.begin(), places_.end(),
                                     [](const auto& place) { return place.has_value(); });
    if (static_cast<std::size_t>(found) == places_.size()) {
      for (const auto& place : places_) {
        index_.places_.push_back(*place);
        index_.payload_bytes_ += place->size;
      }
      index_.keys_ += key_;
      index_.key_ends_.push_back(index_.keys_.size());
    } else if (found != 0) {
      if (!skip_incomplete_) throw missing();
      ++index_.skipped_;
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
      if (!places_[i]) wanting += (wanting.empty() ? "" : " and for ") + described(fields_[i]);
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

tar_index::tar_index(tar_scanner& members, const std::string& path,
                     std::span<const tar_field> fields, bool skip_incomplete)
    : field_count_{fields.size()} {
  constexpr std::size_t told = 100;  // bytes of names are enough to tell what a shard is
  grouping group{*this, path, fields, skip_incomplete};
  while (const auto member = members.next()) {
    if (first_names_.size() < told)
      first_names_ += (first_names_.empty() ? "" : ", ") + quoted_tar_name(member->name);
    group.add(*member);
  }
  group.finish();
}

}  // namespace feedline::detail
