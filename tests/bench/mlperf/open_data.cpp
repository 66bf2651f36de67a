#include <feedline/formats/array_files.hpp>
#include <feedline/formats/file_list.hpp>
#include <feedline/formats/parquet.hpp>
#include <feedline/formats/tfrecord.hpp>
#include <feedline/image/list.hpp>

#include "bench/mlperf/data.hpp"

#include <cmath>
#include <cstring>

namespace feedline::bench {
namespace {

/// Samples that are read whole into memory of the reader, and of which the training gets a part, as
/// a random crop takes it. DLIO's reader reads the array and returns `resized_image`.
class part_of_each : public dataset {
 public:
  part_of_each(ragged_dataset_ptr whole, std::uint64_t bytes)
      : whole_{std::move(whole)}, bytes_{bytes} {}

  std::uint64_t size() const override { return whole_->size(); }
  std::vector<field> fields() const override { return {{"x", element_type::u8, {bytes_}}}; }
  bool wants_prefetch() const noexcept override { return whole_->wants_prefetch(); }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    whole_->prefetch(samples);
  }

 private:
  void do_read(const read_request& request) const override {
    thread_local std::vector<std::byte> array;
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      const sample_index sample = request.samples[i];
      const std::uint64_t length = whole_->length(sample);
      if (array.size() < length) array.resize(length);
      const element_run run{sample, 0, std::span{array}.first(length)};
      whole_->read({&run, 1});
      std::byte* out = request.out[0].data() + i * bytes_;
      const std::uint64_t copied = std::min(bytes_, length);
      std::memcpy(out, array.data(), copied);
      std::memset(out + copied, 0, bytes_ - copied);
    }
  }

  ragged_dataset_ptr whole_;
  std::uint64_t bytes_;
};

}  // namespace

dataset_ptr open_data(const workload& of, const made_data& data, const std::string& root) {
  std::vector<std::string> paths;
  paths.reserve(data.files.size());
  for (const std::string& name : data.files) paths.push_back(root + "/" + name);
  switch (of.form) {
    case sample_form::npz: {
      const auto side = static_cast<std::uint64_t>(std::sqrt(of.resized_bytes));
      return std::make_shared<part_of_each>(open_array_files_ragged(paths, "x"), side * side);
    }
    case sample_form::tfrecord:
      return open_tfrecord(paths, {.fields = {"image"}});
    case sample_form::bytes:
      return open_file_list(paths);
    case sample_form::jpeg: {
      const auto side = static_cast<std::uint32_t>(std::sqrt(of.record_bytes));
      return open_image_list(paths, {.image = {.height = side, .width = side}}).dataset;
    }
    case sample_form::parquet: {
      std::vector<std::string> fields;
      for (const parquet_column& each : columns_of(of))
        if (each.is_read) fields.push_back(each.name);
      return open_parquet(paths, {.fields = fields});
    }
  }
  return nullptr;
}

}  // namespace feedline::bench
