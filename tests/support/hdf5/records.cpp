#include "support/hdf5/records.hpp"

#include <feedline/hdf5/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <array>

namespace feedline::test {
namespace {

using detail::hdf5_type_id;

hdf5_type_id complex_of(hid_t number) {
  const std::size_t bytes = H5Tget_size(number);
  hdf5_type_id type{H5Tcreate(H5T_COMPOUND, 2 * bytes)};
  H5Tinsert(type.get(), "r", 0, number);
  H5Tinsert(type.get(), "i", bytes, number);
  return type;
}

hdf5_type_id array_of(hid_t number) {
  constexpr std::array<hsize_t, 2> extents{2, 3};
  return hdf5_type_id{H5Tarray_create2(number, 2, extents.data())};
}

hdf5_type_id text_of(std::size_t bytes) {
  hdf5_type_id type{H5Tcopy(H5T_C_S1)};
  H5Tset_size(type.get(), bytes);
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  return type;
}

struct placed {
  const char* name;
  std::size_t packed;  ///< offsets
  std::size_t padded;
  hid_t type;
};

}  // namespace

hdf5_type_id record_type(record_style style) {
  const bool is_packed = style == record_style::packed;
  const std::size_t gap = is_packed ? 0 : 4;
  hdf5_type_id position{H5Tcreate(H5T_COMPOUND, 20 + gap)};
  H5Tinsert(position.get(), "z", 12 + gap, H5T_IEEE_F64BE);
  H5Tinsert(position.get(), "x", 0, H5T_IEEE_F64LE);
  H5Tinsert(position.get(), "y", 8, H5T_IEEE_F32BE);
  const auto track = array_of(H5T_STD_I16BE);
  const auto wave = complex_of(H5T_IEEE_F32BE);
  const auto name = text_of(5);
  hdf5_type_id record{H5Tcreate(H5T_COMPOUND, is_packed ? 60U : 96U)};
  for (const placed& each :
       {placed{"energy", 20, 40, H5T_IEEE_F32LE}, placed{"id", 0, 8, H5T_STD_I64BE},
        placed{"flag", 24, 3, H5T_STD_U8LE}, placed{"position", 25, 48, position.get()},
        placed{"track", 8, 20, track.get()}, placed{"wave", 45, 72, wave.get()},
        placed{"name", 53, 80, name.get()}, placed{"rate/s", 58, 33, H5T_STD_U16BE}})
    require_hdf5(
        H5Tinsert(record.get(), each.name, is_packed ? each.packed : each.padded, each.type) >= 0,
        std::string{"add member "} + each.name);
  return record;
}

std::string hdf5_member_case::path() const {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : "/") + name;
  return text;
}

hdf5_type_id hdf5_member_case::in_records() const {
  hdf5_type_id values{H5Tcopy(memory.get())};
  for (std::size_t i = names.size(); i-- > 0;) {
    hdf5_type_id record{H5Tcreate(H5T_COMPOUND, H5Tget_size(values.get()))};
    require_hdf5(H5Tinsert(record.get(), names[i].c_str(), 0, values.get()) >= 0, "make a record");
    values = std::move(record);
  }
  return values;
}

const std::vector<hdf5_member_case>& record_members() {
  static const std::vector<hdf5_member_case> members = [] {
    std::vector<hdf5_member_case> all;
    all.push_back({{"energy"}, element_type::f32, {}, H5T_NATIVE_FLOAT});
    all.push_back({{"id"}, element_type::i64, {}, H5T_NATIVE_INT64});
    all.push_back({{"flag"}, element_type::u8, {}, H5T_NATIVE_UINT8});
    all.push_back({{"position", "z"}, element_type::f64, {}, H5T_NATIVE_DOUBLE});
    all.push_back({{"position", "x"}, element_type::f64, {}, H5T_NATIVE_DOUBLE});
    all.push_back({{"position", "y"}, element_type::f32, {}, H5T_NATIVE_FLOAT});
    all.push_back({{"track"}, element_type::i16, {2, 3}, array_of(H5T_NATIVE_INT16).get()});
    all.push_back({{"wave"}, element_type::f32, {2}, complex_of(H5T_NATIVE_FLOAT).get()});
    all.push_back({{"name"}, element_type::u8, {5}, text_of(5).get()});
    all.push_back({{"rate/s"}, element_type::u16, {}, H5T_NATIVE_UINT16});
    return all;
  }();
  return members;
}

std::vector<std::byte> rows_by_library(const std::filesystem::path& file,
                                       const std::string& dataset, const hdf5_member_case& member) {
  const detail::hdf5_file_id opened{H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)};
  const detail::hdf5_dataset_id found{H5Dopen2(opened.get(), dataset.c_str(), H5P_DEFAULT)};
  const detail::hdf5_space_id space{H5Dget_space(found.get())};
  const auto type = member.in_records();
  std::vector<std::byte> rows(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())) *
                              H5Tget_size(type.get()));
  require_hdf5(H5Dread(found.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) >= 0,
               "read member " + member.path() + " of " + dataset);
  return rows;
}

std::vector<std::byte> samples_of(const dataset& data, std::size_t field) {
  std::vector<sample_index> run;
  for (std::uint64_t i = data.size(); i-- > 0;) run.push_back({i});
  for (std::uint64_t i = 0; i < data.size(); ++i) run.push_back({i});
  const auto read = read_samples(data, run)[field];
  const std::size_t row = read.size() / run.size();
  std::vector<std::byte> rows(row * data.size());
  std::vector<std::byte> again(rows.size());
  for (std::size_t i = 0; i < run.size(); ++i)
    std::copy_n(
        read.begin() + static_cast<std::ptrdiff_t>(i * row), row,
        (i < data.size() ? rows : again).begin() + static_cast<std::ptrdiff_t>(run[i].value * row));
  CHECK(rows == again);
  return rows;
}

void check_members(const std::filesystem::path& file, const std::string& dataset,
                   const std::vector<hdf5_member_case>& members) {
  for (const auto& member : members) {
    INFO(dataset << ' ' << member.path());
    const auto wanted = rows_by_library(file, dataset, member);
    for (const auto& options :
         {hdf5_options{.max_resident_bytes = 0},
          hdf5_options{.max_host_cache_bytes = 1, .max_resident_bytes = 0}, hdf5_options{}}) {
      const auto opened = open_hdf5(file, {{dataset + '/' + member.path()}}, options);
      const auto found = opened->fields().front();
      CHECK(found.name == (member.names.back() == "rate/s" ? "s" : member.names.back()));
      CHECK(found.type == member.type);
      CHECK(samples_of(*opened, 0) == wanted);
    }
  }
}

}  // namespace feedline::test
