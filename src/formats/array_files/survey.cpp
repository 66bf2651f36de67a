#include "formats/array_files/survey.hpp"

#include <feedline/error.hpp>

#include "detail/printable.hpp"
#include "formats/array_files/container.hpp"
#include "io/file_system.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace feedline::detail {
namespace {

/// An array as the files have it.
struct seen_array {
  array_in_file first;
  std::string in;  ///< the file that has it
  std::size_t files = 0;
  bool rows_differ = false;
  bool others_differ = false;
  std::string trouble = {};
};

std::string shown_array(const array_in_file& of) {
  return to_string(field{{}, of.type, of.shape}).substr(2);  // without the name and ": "
}

class array_census {
 public:
  void add(const std::string& path) {
    const auto file = open_array_container(open_file(path));
    for (const array_in_file& each : file->arrays()) add(each, path);
    ++files_;
    last_ = path;
  }

  [[nodiscard]] array_survey result() const {
    array_survey survey;
    for (const std::string& name : order_) {
      const seen_array& seen = all_.at(name);
      array_field made{.array = name, .rank = seen.first.shape.size()};
      if (const std::string why = choose(seen, made); !why.empty())
        survey.left_out.push_back({name, why});
      else
        survey.fields.push_back(std::move(made));
    }
    return survey;
  }

 private:
  void add(const array_in_file& one, const std::string& path) {
    const auto [at, is_new] = all_.try_emplace(one.name);
    seen_array& seen = at->second;
    ++seen.files;
    if (is_new) {
      order_.push_back(one.name);
      seen.first = one;
      seen.in = path;
      seen.trouble = one.refusal;
      seen.others_differ = std::ranges::any_of(one.shape, [](auto extent) { return extent == 0; });
      return;
    }
    if (!seen.trouble.empty()) return;
    if (!one.refusal.empty()) {
      seen.trouble = one.refusal;
    } else if (one.type != seen.first.type || one.shape.size() != seen.first.shape.size()) {
      seen.trouble = "is " + shown_array(seen.first) + " in " + printable(seen.in) + ", and " +
                     shown_array(one) + " in " + printable(path);
    } else if (!one.shape.empty()) {
      seen.rows_differ |= one.shape.front() != seen.first.shape.front();
      seen.others_differ |=
          !std::equal(one.shape.begin() + 1, one.shape.end(), seen.first.shape.begin() + 1);
    }
  }

  [[nodiscard]] std::string choose(const seen_array& seen, array_field& made) const {
    if (!seen.trouble.empty()) return seen.trouble;
    if (seen.files != files_)
      return "is in " + std::to_string(seen.files) + " of the " + std::to_string(files_) +
             " files that were looked at";
    field& spec = made.as.spec;
    spec.name = made.array;
    spec.type = seen.first.type;
    made.as.is_ragged = seen.rows_differ || seen.others_differ;
    made.layout = seen.others_differ ? array_layout::by_value
                  : seen.rows_differ ? array_layout::by_row
                                     : array_layout::fixed;
    const std::string shape_name = made.array + "_shape";
    if (made.layout == array_layout::by_value && all_.contains(shape_name))
      return "is of shapes that differ, so that it needs a field '" + shape_name +
             "', which is the name of another array; save that one under another name";
    if (made.layout == array_layout::fixed) spec.shape = seen.first.shape;
    if (made.layout == array_layout::by_row)
      spec.shape = {seen.first.shape.begin() + 1, seen.first.shape.end()};
    return {};
  }

  std::map<std::string, seen_array> all_;
  std::vector<std::string> order_;
  std::size_t files_ = 0;
  std::string last_;
};

class array_file_decoder final : public record_decoder {
 public:
  explicit array_file_decoder(std::vector<array_field> fields) : fields_{std::move(fields)} {
    std::size_t place = 0;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      at_.emplace(fields_[i].array, target{i, place});
      place += fields_[i].layout == array_layout::by_value ? 2 : 1;
    }
  }

  std::vector<described_field> describe(std::span<const std::byte>) const override {
    std::vector<described_field> described;
    for (const array_field& each : fields_) {
      described.push_back(each.as);
      if (each.layout == array_layout::by_value)
        described.push_back({{each.array + "_shape", element_type::i64, {each.rank}}});
    }
    return described;
  }

  void decode(std::span<const std::byte> stored, record_output& out,
              const sample_context&) const override {
    const byte_file_ptr file = open_file(path_of_sample(stored));
    const auto container = open_array_container(file);
    for (std::size_t i = 0; i < container->arrays().size(); ++i) {
      const auto found = at_.find(container->arrays()[i].name);
      if (found == at_.end()) continue;
      decode(*container, i, fields_[found->second.field], found->second.place, out);
    }
    file->require_unchanged();
  }

 private:
  struct target {
    std::size_t field;
    std::size_t place;  ///< in the result of `describe`
  };

  static void decode(array_container& from, std::size_t array, const array_field& as,
                     std::size_t place, record_output& out) {
    const array_in_file& stored = from.arrays()[array];
    const bool has_shape = as.layout == array_layout::by_value && out.wants(place + 1);
    if (!out.wants(place) && !has_shape) return;
    require_suited(stored, as);
    if (has_shape) {
      const std::vector<std::int64_t> shape{stored.shape.begin(), stored.shape.end()};
      out.put(place + 1, std::as_bytes(std::span{shape}));
    }
    if (!out.wants(place)) return;
    if (as.layout == array_layout::fixed) return from.read(array, out.fixed(place));
    const std::uint64_t count =
        as.layout == array_layout::by_row ? stored.shape.front() : stored.count();
    if (const auto to = out.ragged(place, count); !to.empty()) from.read(array, to);
  }

  static void require_suited(const array_in_file& stored, const array_field& as) {
    const std::vector<std::uint64_t>& shape = stored.shape;
    bool is_suited =
        stored.refusal.empty() && stored.type == as.as.spec.type && shape.size() == as.rank;
    if (is_suited && as.layout == array_layout::fixed) is_suited = shape == as.as.spec.shape;
    if (is_suited && as.layout == array_layout::by_row)
      is_suited = std::equal(shape.begin() + 1, shape.end(), as.as.spec.shape.begin(),
                             as.as.spec.shape.end());
    if (!is_suited)
      throw dataset_error{{.path = {}, .field = as.array},
                          (stored.refusal.empty() ? "is " + shown_array(stored) : stored.refusal) +
                              ", but the files that were looked at have " +
                              (as.as.is_ragged ? "any number of " : "") + to_string(as.as.spec) +
                              "; raise array_file_options::looked_at, so that such files are seen"};
  }

  std::vector<array_field> fields_;
  std::map<std::string, target> at_;
};

}  // namespace

array_survey survey_arrays(const sample_files& files, std::size_t looked_at) {
  const std::uint64_t count =
      std::min<std::uint64_t>(std::max<std::size_t>(1, looked_at), files.size());
  array_census census;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t sample = files.size() / count * i + files.size() % count * i / count;
    try {
      census.add(files.path(sample));
    } catch (const dataset_error& fault) {
      files.refuse(fault, sample);
    }
  }
  array_survey survey = census.result();
  if (!survey.fields.empty()) return survey;
  throw dataset_error{{.path = files.path(0), .field = {}},
                      "has no array that can be a field" + reasons_of(survey.left_out)};
}

record_decoder_ptr make_array_file_decoder(std::vector<array_field> fields) {
  return std::make_shared<const array_file_decoder>(std::move(fields));
}

}  // namespace feedline::detail
