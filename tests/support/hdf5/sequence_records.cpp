#include "support/hdf5/sequence_records.hpp"

#include <span>

namespace feedline::test {
namespace {

/// The types of a record's members, in memory or in a file.
struct member_types {
  detail::hdf5_type_id hits;
  detail::hdf5_type_id name;
  detail::hdf5_type_id boxes;
};

member_types types_of(hid_t hit, hid_t coordinate) {
  constexpr hsize_t four = 4;
  const detail::hdf5_type_id box{H5Tarray_create2(coordinate, 1, &four)};
  return {detail::hdf5_type_id{H5Tvlen_create(hit)}, string_type(H5T_CSET_UTF8),
          detail::hdf5_type_id{H5Tvlen_create(box.get())}};
}

}  // namespace

detail::hdf5_type_id sequence_record_type() {
  const auto types = types_of(H5T_NATIVE_UINT16, H5T_NATIVE_FLOAT);
  const detail::hdf5_type_id point{H5Tcreate(H5T_COMPOUND, sizeof(sequence_record::point))};
  H5Tinsert(point.get(), "weight", 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(point.get(), "boxes", sizeof(double), types.boxes.get());
  detail::hdf5_type_id whole{H5Tcreate(H5T_COMPOUND, sizeof(sequence_record))};
  H5Tinsert(whole.get(), "id", HOFFSET(sequence_record, id), H5T_NATIVE_UINT32);
  H5Tinsert(whole.get(), "hits", HOFFSET(sequence_record, hits), types.hits.get());
  H5Tinsert(whole.get(), "name", HOFFSET(sequence_record, name), types.name.get());
  H5Tinsert(whole.get(), "point", HOFFSET(sequence_record, point), point.get());
  return whole;
}

detail::hdf5_type_id stored_record_type(std::size_t gap) {
  const auto types = types_of(H5T_STD_U16BE, H5T_IEEE_F32BE);
  const detail::hdf5_type_id point{H5Tcreate(H5T_COMPOUND, 8 + gap + sizeof(hvl_t))};
  H5Tinsert(point.get(), "weight", 0, H5T_IEEE_F64BE);
  H5Tinsert(point.get(), "boxes", 8 + gap, types.boxes.get());
  detail::hdf5_type_id whole{H5Tcreate(H5T_COMPOUND, 256)};
  std::size_t at = 0;
  const auto insert = [&](const char* name, hid_t type) {
    H5Tinsert(whole.get(), name, at += gap, type);
    at += H5Tget_size(type);
  };
  insert("id", H5T_STD_U32BE);
  insert("name", types.name.get());
  insert("hits", types.hits.get());
  insert("point", point.get());
  H5Tset_size(whole.get(), at + gap);
  return whole;
}

sequence_records::sequence_records(std::size_t rows) {
  std::vector<std::uint64_t> hit_counts;
  std::vector<std::uint64_t> box_counts;
  for (std::size_t i = 0; i < rows; ++i) {
    hit_counts.push_back(i % 5 == 3 ? 0 : i * 7 % 23);
    box_counts.push_back(i % 4);
    texts.push_back(i % 6 == 2 ? "" : "na\xC3\xAFve " + std::to_string(i * i));
  }
  hits = various_values(hit_counts, 2);
  boxes = various_values(box_counts, 16);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto bytes = std::as_bytes(std::span{texts[i]});
    names.emplace_back(bytes.begin(), bytes.end());
    records.push_back({static_cast<std::uint32_t>(i),
                       {hit_counts[i], hits[i].data()},
                       i % 6 == 2 ? nullptr : texts[i].c_str(),
                       {0.5, {box_counts[i], boxes[i].data()}}});
  }
}

void write_records(hdf5_writer& writer, const std::string& name, const sequence_records& values,
                   hid_t type, hsize_t rows, const hdf5_layout& layout) {
  const auto memory = sequence_record_type();
  const auto dataset = writer.make(name, type, {rows}, layout);
  writer.write_rows(dataset.get(), 0, values.records.size(), memory.get(), values.records.data());
}

}  // namespace feedline::test
