#include <feedline/hdf5/groups.hpp>

#include "hdf5/library/conventions.hpp"
#include "hdf5/library/file.hpp"
#include "hdf5/library/library_dataset.hpp"
#include "hdf5/rows/group_column.hpp"
#include "hdf5/rows/natural_order.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include <fnmatch.h>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

using column_ptr = std::shared_ptr<const detail::hdf5_group_column>;

/// The samples' paths in the file, in natural order of their names.
struct group_samples {
  std::string parent;  ///< ends with '/'
  std::vector<std::string> names;
};

group_samples find_samples(const detail::hdf5_session& hdf5, const detail::hdf5_file& file,
                           const std::string& samples) {
  group_samples found;
  const std::size_t end = samples.find_last_of('/') + 1;
  found.parent = samples.substr(0, end);
  if (!found.parent.starts_with('/')) found.parent.insert(0, 1, '/');
  const std::string pattern = samples.substr(end);
  if (pattern.empty())
    throw usage_error{"open_hdf5_groups: '" + samples +
                      "' ends without a pattern for the samples' names; add \"*\" for all members "
                      "of the group"};
  const auto members = file.members(hdf5, found.parent);
  for (const std::string& name : members)
    if (::fnmatch(pattern.c_str(), name.c_str(), 0) == 0) found.names.push_back(name);
  std::ranges::sort(found.names, detail::is_naturally_before);
  if (found.names.empty())
    throw file.error(found.parent,
                     "has no members that match '" + pattern + "': it has " +
                         std::to_string(members.size()) +
                         (members.empty() ? "" : ", such as '" + members.front() + '\''));
  return found;
}

std::string path_of(const group_samples& samples, const std::string& name,
                    const hdf5_field& field) {
  return samples.parent + name + (field.dataset.empty() ? "" : '/' + field.dataset);
}

std::string name_of(const hdf5_field& field) {
  std::string name = detail::field_name_of(field);
  if (name.empty())
    throw usage_error{
        "open_hdf5_groups: a field whose dataset is the sample itself needs hdf5_field::name"};
  return name;
}

/// All datasets of some fields: for each field one of each sample.
std::vector<std::vector<detail::hdf5_found_array>> find_datasets(
    const std::string& path, const std::string& samples, const std::vector<hdf5_field>& fields,
    const hdf5_options& options) {
  const detail::hdf5_session hdf5;
  const detail::hdf5_file file{hdf5, path, options.external};
  const group_samples all = find_samples(hdf5, file, samples);
  detail::hdf5_open_context common{.conventions = options.conventions};
  std::vector<std::vector<detail::hdf5_found_array>> found(fields.size());
  for (std::size_t f = 0; f < fields.size(); ++f)
    for (const std::string& name : all.names) {
      const std::string dataset = path_of(all, name, fields[f]);
      found[f].push_back(detail::find_hdf5_array(hdf5, file, common, dataset));
      found[f].back().spec.name = dataset;
      common.opened.clear();  // each is open only while it is examined
    }
  if (file.driver()) file.driver()->admit_no_more();
  return found;
}

std::vector<column_ptr> open_columns(const std::string& file, const std::string& samples,
                                     const std::vector<hdf5_field>& fields,
                                     const hdf5_options& options, bool is_ragged) {
  detail::require_known(options);
  std::set<std::string> names;
  for (const hdf5_field& field : fields)
    if (!names.insert(name_of(field)).second)
      throw usage_error{"open_hdf5_groups: two fields have the name '" + name_of(field) + '\''};
  auto found = find_datasets(file, samples, fields, options);
  std::vector<column_ptr> columns;
  for (std::size_t f = 0; f < fields.size(); ++f)
    columns.push_back(std::make_shared<const detail::hdf5_group_column>(
        name_of(fields[f]), std::move(found[f]),
        detail::hdf5_group_column::options{
            .cache_bytes = detail::cache_bytes_of(options) / fields.size(),
            .resident_bytes = options.max_resident_bytes / fields.size(),
            .is_ragged = is_ragged}));
  return columns;
}

class groups_dataset final : public dataset {
 public:
  explicit groups_dataset(std::vector<column_ptr> columns) : columns_{std::move(columns)} {}

  std::uint64_t size() const override { return columns_.front()->size(); }
  std::vector<field> fields() const override {
    std::vector<field> all;
    for (const column_ptr& column : columns_) all.push_back(column->spec());
    return all;
  }
  std::shared_ptr<const dataset> select(std::span<const std::size_t> places) const override {
    std::vector<column_ptr> chosen;
    for (const std::size_t place : places) chosen.push_back(columns_[place]);
    return std::make_shared<const groups_dataset>(std::move(chosen));
  }
  bool wants_prefetch() const noexcept override {
    return std::ranges::any_of(columns_, [](const auto& each) { return each->wants_prefetch(); });
  }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    for (const sample_index sample : samples)
      for (const column_ptr& column : columns_) column->prefetch(sample.value);
  }

 private:
  void do_read(const read_request& request) const override {
    for (std::size_t f = 0; f < columns_.size(); ++f) {
      const std::size_t bytes = sample_bytes(columns_[f]->spec());
      for (std::size_t i = 0; i < request.samples.size(); ++i)
        columns_[f]->read(request.samples[i].value, request.out[f].data() + i * bytes);
    }
  }

  const std::vector<column_ptr> columns_;
};

class ragged_groups final : public ragged_dataset {
 public:
  explicit ragged_groups(column_ptr column)
      : column_{std::move(column)}, element_bytes_{sample_bytes(column_->spec())} {}

  std::uint64_t size() const override { return column_->size(); }
  field element() const override { return column_->spec(); }
  std::uint64_t length(sample_index sample) const override { return column_->length(sample.value); }
  bool wants_prefetch() const noexcept override { return column_->wants_prefetch(); }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    for (const sample_index sample : samples) column_->prefetch(sample.value);
  }

 private:
  void do_read(std::span<const element_run> runs) const override {
    for (const element_run& run : runs)
      column_->read(run.sample.value, run.first, run.out.size() / element_bytes_, run.out.data());
  }

  const column_ptr column_;
  const std::size_t element_bytes_;
};

}  // namespace

std::vector<std::string> list_hdf5_groups(const std::string& file, const std::string& samples,
                                          const hdf5_options& options) {
  detail::require_known(options);
  const detail::hdf5_session hdf5;
  const detail::hdf5_file opened{hdf5, file, options.external};
  return find_samples(hdf5, opened, samples).names;
}

dataset_ptr open_hdf5_groups(const std::string& file, const std::string& samples,
                             std::vector<hdf5_field> fields, const hdf5_options& options) {
  if (fields.empty()) throw usage_error{"open_hdf5_groups: there is no field"};
  return std::make_shared<const groups_dataset>(
      open_columns(file, samples, fields, options, false));
}

ragged_dataset_ptr open_hdf5_groups_ragged(const std::string& file, const std::string& samples,
                                           const hdf5_field& field, const hdf5_options& options) {
  return std::make_shared<const ragged_groups>(
      open_columns(file, samples, {field}, options, true).front());
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
