#include "support/hdf5/virtual_file.hpp"

#include <numeric>
#include <span>

namespace feedline::test {

std::vector<std::uint32_t> numbers(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), static_cast<std::uint32_t>(first));
  return values;
}

std::vector<std::uint32_t> read_numbers(const dataset& data, std::uint64_t first,
                                        std::uint64_t count) {
  std::vector<sample_index> run(count);
  for (std::uint64_t i = 0; i < count; ++i) run[i].value = first + i;
  std::vector<std::uint32_t> values(count);
  data.read(run, std::vector{std::as_writable_bytes(std::span{values})});
  return values;
}

void write_numbers(const std::filesystem::path& path, std::uint64_t first, std::uint64_t count) {
  hdf5_writer writer{path};
  writer.write("x", H5T_STD_U32LE, {count}, H5T_NATIVE_UINT32, numbers(first, count).data());
}

std::vector<std::string> virtual_file::numbered(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back("s" + std::to_string(10'000 + i).substr(1) + ".h5");
  return names;
}

virtual_file::virtual_file(const std::filesystem::path& folder,
                           const std::vector<std::string>& names)
    : path{folder / "v.h5"}, samples{names.size() * rows_per_source} {
  for (const std::string& name : names) {
    sources.push_back(folder / name);
    write_numbers(sources.back(), (sources.size() - 1) * rows_per_source, rows_per_source);
  }
  hdf5_writer writer{path, {.latest_format = true}};
  for (const std::string name : {"x", "again"})
    (void)writer.make(name, H5T_STD_U32LE, {samples},
                      {"virtual", [&](hid_t creation) {
                         H5Pset_fill_value(creation, H5T_NATIVE_UINT32, &made_up);
                         const hsize_t rows = rows_per_source;
                         const detail::hdf5_space_id from{H5Screate_simple(1, &rows, nullptr)};
                         for (std::size_t i = 0; i < names.size(); ++i) {
                           const hsize_t start = i * rows;
                           const hsize_t all = samples;
                           const detail::hdf5_space_id to{H5Screate_simple(1, &all, nullptr)};
                           H5Sselect_hyperslab(to.get(), H5S_SELECT_SET, &start, nullptr, &rows,
                                               nullptr);
                           H5Pset_virtual(creation, to.get(), names[i].c_str(), "x", from.get());
                         }
                       }});
  (void)writer.close();
}

}  // namespace feedline::test
