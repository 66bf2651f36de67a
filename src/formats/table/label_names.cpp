#include "formats/table/label_names.hpp"

#include <feedline/error.hpp>

#include "dataset/label_type.hpp"
#include "detail/printable.hpp"
#include "detail/threads.hpp"
#include "io/file_system.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

constexpr std::size_t max_learnt_classes = std::size_t{1} << 20;

using name_set = std::set<std::string, std::less<>>;

/// The texts of some columns in all records.
class label_learner {
 public:
  label_learner(const table_plan& plan, std::vector<bool> wanted)
      : plan_{plan}, wanted_{std::move(wanted)}, found_(plan.fields.size()) {}

  void learn(const line_values& records, const table_parser& by) {
    constexpr std::uint64_t piece_samples = 4096;
    const std::uint64_t pieces = (records.size() + piece_samples - 1) / piece_samples;
    parallel_for(static_cast<std::size_t>(pieces), [&](std::size_t piece) {
      const std::uint64_t first = piece * piece_samples;
      look(records, by, first, std::min(records.size(), first + piece_samples));
    });
  }

  [[nodiscard]] std::vector<std::string> names_of(std::size_t field) const {
    return {found_[field].begin(), found_[field].end()};
  }

 private:
  [[nodiscard]] std::string_view checked_name(std::string_view name, std::size_t column,
                                              const table_parser& by) const {
    if (is_utf8(name)) return name;
    throw dataset_error{{.path = {}, .field = plan_.columns[column]},
                        by.place_of(column) + ' ' + std::string{not_utf8}};
  }

  void look(const line_values& records, const table_parser& by, std::uint64_t first,
            std::uint64_t end) {
    std::vector<name_set> own(found_.size());
    std::vector<std::byte> memory;
    for (std::uint64_t sample = first; sample < end; ++sample) {
      const auto stored =
          records.read(sample, [&](std::size_t bytes) { return room_in(memory, bytes); });
      try {
        by.parse(stored, wanted_, [&](std::size_t column, const table_value& value) {
          if (column >= wanted_.size() || !wanted_[column]) return;
          name_set& names = own[plan_.targets[column]->field];
          for (const std::string_view each : value.texts)
            if (!names.contains(each)) names.emplace(checked_name(each, column, by));
        });
      } catch (const dataset_error& fault) {
        records.refuse(fault, sample);
      }
    }
    const std::lock_guard lock{mutex_};
    for (std::size_t i = 0; i < own.size(); ++i) {
      found_[i].merge(own[i]);
      if (found_[i].size() > max_learnt_classes)
        throw dataset_error{
            {.path = records.first_file(), .field = plan_.fields[i].as.spec.name},
            "has more than " + std::to_string(max_learnt_classes) +
                " different texts, so these are no classes; give text_labels::names if they are"};
    }
  }

  const table_plan& plan_;
  std::vector<bool> wanted_;
  std::mutex mutex_;
  std::vector<name_set> found_;
};

}  // namespace

std::vector<std::string> read_class_names(const std::string& path) {
  const byte_file_ptr file = open_file(path);
  std::string text(static_cast<std::size_t>(file->size()), '\0');
  file->read(0, std::as_writable_bytes(std::span{text}));
  std::string_view rest = text;
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  std::vector<std::string> names;
  std::size_t blank = 0;  // the first line without a name, from 1
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view name = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (name.ends_with('\r')) name.remove_suffix(1);
    if (name.empty() && blank == 0) blank = line;
    if (name.empty()) continue;  // they may end the file
    if (blank != 0)
      throw dataset_error{
          {.path = path, .field = {}},
          "line " + std::to_string(blank) +
              " is blank, and names follow it, whose lines number the classes; delete it, or write "
              "the name that is missing"};
    names.emplace_back(name);
  }
  if (names.empty())
    throw dataset_error{{.path = path, .field = {}},
                        "has no name of a class; write one on each line"};
  return names;
}

label_index::label_index(const std::string& column, const class_names& names, element_type type)
    : names_{names} {
  const std::string begin = "columns['" + printable(column) + "'].labels: ";
  const std::vector<std::string>& all = names_.get();
  if (!all.empty() && all.size() - 1 > largest_label(type))
    throw usage_error{begin + std::to_string(all.size()) + " classes are more than " +
                      std::string{to_string(type)} + " counts; choose a larger type"};
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!places_.emplace(all[i], i).second)
      throw usage_error{begin + "'" + printable(all[i]) + "' is named twice"};
}

std::optional<std::uint64_t> label_index::find(std::string_view text) const {
  const auto found = places_.find(text);
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

std::string label_index::not_found(std::string_view text) const {
  return "label '" + printable(text.substr(0, 60)) + "' is not one of " + to_string(names_);
}

void name_classes(table_plan& plan, const line_values& records, const table_parser& by) {
  std::vector<bool> wanted(plan.columns.size());
  bool learns = false;
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    if (!plan.targets[i]) continue;
    table_field& of = plan.fields[plan.targets[i]->field];
    if (!of.how.labels) continue;
    if (!of.how.labels->names.empty())
      of.as.spec.classes = class_names{of.how.labels->names};
    else
      wanted[i] = learns = true;
  }
  if (!learns) return;
  label_learner learner{plan, wanted};
  learner.learn(records, by);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    const std::size_t at = plan.targets[i]->field;
    table_field& of = plan.fields[at];
    std::vector<std::string> names = learner.names_of(at);
    if (of.how.fill && std::holds_alternative<std::string>(*of.how.fill) &&
        std::ranges::count(names, std::get<std::string>(*of.how.fill)) == 0)
      names.insert(std::ranges::upper_bound(names, std::get<std::string>(*of.how.fill)),
                   std::get<std::string>(*of.how.fill));
    of.as.spec.classes = class_names{std::move(names)};
  }
}

}  // namespace feedline::detail
