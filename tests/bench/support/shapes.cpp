#include "bench/support/shapes.hpp"

#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

namespace feedline::bench {

const std::vector<shape>& all_shapes() {
  static const std::vector<shape> all{
      {"mnist64", {28, 28}, 64, 60'000},       {"mnist1024", {28, 28}, 1024, 60'000},
      {"cifar256", {3, 32, 32}, 256, 50'000},  {"imagenet256", {224, 224, 3}, 256, 4'096},
      {"small-dram", {28, 28}, 64, 4'000'000},
  };
  return all;
}

std::vector<shape> shapes_named(const std::string& name) {
  if (name.empty()) return all_shapes();
  std::string known;
  for (const shape& each : all_shapes()) {
    if (each.name == name) return {each};
    known += " " + each.name;
  }
  throw usage_error{"no shape '" + name + "': there are" + known};
}

std::vector<shape> main_shapes(const std::string& name) {
  std::vector<shape> shapes = shapes_named(name);
  if (name.empty())
    std::erase_if(shapes, [](const shape& each) { return each.name == "small-dram"; });
  return shapes;
}

std::vector<shape> row_shapes(const std::string& name) {
  std::vector<shape> shapes = shapes_named(name);
  const auto same_rows = [](const shape& a, const shape& b) {
    return a.row == b.row && a.samples == b.samples;
  };
  shapes.erase(std::unique(shapes.begin(), shapes.end(), same_rows), shapes.end());
  return shapes;
}

dataset_ptr make_data(const shape& shape) {
  std::vector<std::uint8_t> images((sample_bytes(shape) - 1) * shape.samples);
  std::mt19937_64 random{1};
  for (std::size_t i = 0; i + 8 <= images.size(); i += 8) {
    const std::uint64_t bits = random();
    std::memcpy(images.data() + i, &bits, sizeof bits);
  }
  std::vector<std::uint8_t> labels(shape.samples);
  for (auto& label : labels) label = static_cast<std::uint8_t>(random() % 10);
  return make_memory_dataset(
      {own("image", std::move(images), shape.row), own("label", std::move(labels))});
}

std::uint64_t sample_bytes(const shape& shape) {
  std::uint64_t bytes = 1;
  for (const auto extent : shape.row) bytes *= extent;
  return bytes + 1;
}

}  // namespace feedline::bench
