#include <feedline/error.hpp>

#include "bench/mlperf/data.hpp"

#ifdef FEEDLINE_HAS_PARQUET
#include <cstring>
#include <random>

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <parquet/arrow/writer.h>
#include <parquet/exception.h>
#include <parquet/properties.h>
#endif

namespace feedline::bench {

#ifdef FEEDLINE_HAS_PARQUET

namespace {

std::shared_ptr<arrow::DataType> type_of(const std::string& name) {
  if (name == "f16") return arrow::float16();
  if (name == "f32") return arrow::float32();
  if (name == "f64") return arrow::float64();
  return arrow::int8();
}

/// Numbers from 0 to 1, or whole ones, of a column for some rows.
std::shared_ptr<arrow::Array> noise_column(const parquet_column& of, std::uint64_t rows,
                                           std::mt19937& random) {
  const auto type = type_of(of.type);
  const auto count = static_cast<std::int64_t>(rows * of.values);
  const auto width = static_cast<std::size_t>(type->byte_width());
  std::shared_ptr<arrow::Buffer> buffer =
      arrow::AllocateBuffer(count * static_cast<std::int64_t>(width)).ValueOrDie();
  std::uint8_t* out = buffer->mutable_data();
  for (std::int64_t i = 0; i < count; ++i, out += width) {
    const auto bits = static_cast<std::uint32_t>(random());
    const float single = static_cast<float>(bits >> 8U) / 16'777'216.0F;
    const double twice = single;
    const auto half = static_cast<std::uint16_t>(bits & 0x3bffU);  // finite, below 1
    if (of.type == "f16") std::memcpy(out, &half, width);
    if (of.type == "f32") std::memcpy(out, &single, width);
    if (of.type == "f64") std::memcpy(out, &twice, width);
    if (of.type == "i8") std::memcpy(out, &bits, width);
  }
  const auto values = arrow::MakeArray(arrow::ArrayData::Make(type, count, {nullptr, buffer}));
  if (of.values == 1) return values;
  return arrow::FixedSizeListArray::FromArrays(values, static_cast<std::int32_t>(of.values))
      .ValueOrDie();
}

}  // namespace

std::vector<std::byte> parquet_file(const workload& of, std::uint64_t rows, std::uint64_t first) {
  std::mt19937 random{static_cast<std::uint32_t>(first + 10)};
  std::vector<std::shared_ptr<arrow::Field>> fields;
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  for (const parquet_column& each : columns_of(of)) {
    arrays.push_back(noise_column(each, rows, random));
    fields.push_back(arrow::field(each.name, arrays.back()->type()));
  }
  const auto table = arrow::Table::Make(arrow::schema(fields), arrays);
  const auto out = arrow::io::BufferOutputStream::Create().ValueOrDie();
  PARQUET_THROW_NOT_OK(parquet::arrow::WriteTable(
      *table, arrow::default_memory_pool(), out,
      static_cast<std::int64_t>(of.row_group == 0 ? rows : of.row_group)));
  const auto buffer = out->Finish().ValueOrDie();
  const auto bytes =
      std::as_bytes(std::span{buffer->data(), static_cast<std::size_t>(buffer->size())});
  return {bytes.begin(), bytes.end()};
}

#else

std::vector<std::byte> parquet_file(const workload&, std::uint64_t, std::uint64_t) {
  throw usage_error{"built without Arrow, which Parquet needs (FEEDLINE_PARQUET)"};
}

#endif

}  // namespace feedline::bench
