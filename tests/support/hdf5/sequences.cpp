#include "support/hdf5/sequences.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace feedline::test {

value_vector various_values(const std::vector<std::uint64_t>& lengths, std::size_t element_bytes) {
  value_vector values;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    auto& value = values.emplace_back(lengths[i] * element_bytes);
    for (std::size_t at = 0; at < value.size(); ++at)
      value[at] = static_cast<std::byte>((i * 1'000'003 + at + 1) * 0x9E3779B97F4A7C15 >> 56);
  }
  return values;
}

void write_sequence_rows(hdf5_writer& writer, hid_t dataset, hsize_t first, hid_t memory_base,
                         const value_vector& values) {
  const detail::hdf5_type_id type{H5Tvlen_create(memory_base)};
  std::vector<hvl_t> rows;
  for (const auto& value : values)
    rows.push_back({value.size() / H5Tget_size(memory_base),
                    const_cast<std::byte*>(value.data())});  // the library only reads
  writer.write_rows(dataset, first, rows.size(), type.get(), rows.data());
}

void write_sequences(hdf5_writer& writer, const std::string& name, hid_t file_base,
                     hid_t memory_base, const value_vector& values, const hdf5_layout& layout,
                     hsize_t rows) {
  const detail::hdf5_type_id type{H5Tvlen_create(file_base)};
  const auto dataset =
      writer.make(name, type.get(), {std::max<hsize_t>(rows, values.size())}, layout);
  if (!values.empty()) write_sequence_rows(writer, dataset.get(), 0, memory_base, values);
}

detail::hdf5_type_id string_type(H5T_cset_t characters) {
  detail::hdf5_type_id type{H5Tcopy(H5T_C_S1)};
  require_hdf5(
      H5Tset_size(type.get(), H5T_VARIABLE) >= 0 && H5Tset_cset(type.get(), characters) >= 0,
      "make a type of strings");
  return type;
}

void write_strings(hdf5_writer& writer, const std::string& name, H5T_cset_t characters,
                   const std::vector<const char*>& texts, const hdf5_layout& layout) {
  const auto type = string_type(characters);
  writer.write(name, type.get(), {texts.size()}, type.get(), texts.data(), layout);
}

namespace {

/// Records of one member each, one in the other.
detail::hdf5_type_id in_records(const std::vector<std::string>& names, hid_t value) {
  detail::hdf5_type_id type{H5Tcopy(value)};
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    detail::hdf5_type_id record{H5Tcreate(H5T_COMPOUND, H5Tget_size(type.get()))};
    require_hdf5(H5Tinsert(record.get(), name->c_str(), 0, type.get()) >= 0, "make records");
    type = std::move(record);
  }
  return type;
}

}  // namespace

value_vector values_by_library(const std::filesystem::path& file, const std::string& name,
                               const std::vector<std::string>& member) {
  const detail::hdf5_file_id opened{H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)};
  const detail::hdf5_dataset_id dataset{H5Dopen2(opened.get(), name.c_str(), H5P_DEFAULT)};
  detail::hdf5_type_id type{H5Dget_type(dataset.get())};
  for (const auto& each : member) {
    const int i = H5Tget_member_index(type.get(), each.c_str());
    type = detail::hdf5_type_id{H5Tget_member_type(type.get(), static_cast<unsigned>(i))};
  }
  const detail::hdf5_space_id space{H5Dget_space(dataset.get())};
  const auto rows = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get()));
  const auto read = [&](const detail::hdf5_type_id& memory, void* out) {
    require_hdf5(H5Dread(dataset.get(), memory.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0,
                 "read " + name);
  };
  value_vector values;
  if (H5Tget_class(type.get()) == H5T_STRING) {
    const auto memory = in_records(member, type.get());
    std::vector<char*> texts(rows);
    read(memory, texts.data());
    for (const char* text : texts) {
      const auto* bytes = reinterpret_cast<const std::byte*>(text);
      values.emplace_back(bytes, bytes + (text == nullptr ? 0 : std::strlen(text)));
    }
    H5Dvlen_reclaim(memory.get(), space.get(), H5P_DEFAULT, texts.data());
    return values;
  }
  const detail::hdf5_type_id base{H5Tget_super(type.get())};
  const detail::hdf5_type_id native{H5Tget_native_type(base.get(), H5T_DIR_ASCEND)};
  const detail::hdf5_type_id sequence{H5Tvlen_create(native.get())};
  const auto memory = in_records(member, sequence.get());
  std::vector<hvl_t> sequences(rows);
  read(memory, sequences.data());
  for (const hvl_t& each : sequences) {
    const auto* bytes = static_cast<const std::byte*>(each.p);
    values.emplace_back(bytes, bytes + each.len * H5Tget_size(native.get()));
  }
  H5Dvlen_reclaim(memory.get(), space.get(), H5P_DEFAULT, sequences.data());
  return values;
}

value_vector values_of(const ragged_dataset& dataset) {
  const std::size_t element_bytes = sample_bytes(dataset.element());
  value_vector values(static_cast<std::size_t>(dataset.size()));
  value_vector parts(values.size());
  std::vector<element_run> whole;
  std::vector<element_run> in_parts;
  for (std::size_t i = values.size(); i-- > 0;) {
    const std::uint64_t length = dataset.length({i});
    values[i].resize(static_cast<std::size_t>(length) * element_bytes);
    parts[i].resize(values[i].size());
    whole.push_back({{i}, 0, values[i]});
    const std::size_t first = static_cast<std::size_t>(length / 3) * element_bytes;
    in_parts.push_back({{i}, length / 3, std::span{parts[i]}.subspan(first)});
    in_parts.push_back({{i}, 0, std::span{parts[i]}.first(first)});
  }
  dataset.read(whole);
  dataset.read(in_parts);
  if (values != parts) throw std::runtime_error{"a value read in parts is another"};
  return values;
}

}  // namespace feedline::test
