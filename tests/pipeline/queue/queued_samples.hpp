#pragma once

#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/queue/queue_dataset.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace feedline::test {
using namespace std::chrono_literals;

using queue_ptr = std::shared_ptr<queue_dataset>;

/// "id", and 24 bytes that follow from it.
inline queue_ptr make_queue(const queue_options& options = {.max_delay = 24h}) {
  return make_queue_dataset({{"id", element_type::u64, {}}, {"row", element_type::u8, {24}}},
                            options);
}

inline std::array<std::byte, 24> row_of(std::uint64_t id) {
  std::array<std::byte, 24> row{};
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = std::byte(id * 31 + i);
  return row;
}

inline float value_of(std::byte of) {
  return static_cast<float>(std::to_integer<int>(of));
}

inline put_result put(queue_dataset& to, std::uint64_t id, const put_limits& limits = {}) {
  const auto row = row_of(id);
  const std::array<std::span<const std::byte>, 2> values{std::as_bytes(std::span{&id, 1}), row};
  return to.put(values, limits);
}

inline void put_all(queue_dataset& to, std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t id = first; id < end; ++id) REQUIRE(put(to, id) == put_result::accepted);
}

inline loader make_loader(const queue_ptr& of, std::uint64_t batch_size = 4) {
  return loader{of, sequential{}, make_host_device(), {.batch_size = batch_size}};
}

/// The ids of a batch on the host; each row must be its id's.
inline std::vector<std::uint64_t> ids_of(const batch& of) {
  std::vector<std::uint64_t> ids(of.size());
  const auto bytes = of["id"].bytes();
  REQUIRE(bytes.size() == ids.size() * sizeof(std::uint64_t));
  std::memcpy(ids.data(), bytes.data(), bytes.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    REQUIRE(std::ranges::equal(of["row"].bytes().subspan(24 * i, 24), row_of(ids[i])));
  return ids;
}

using id_lists = std::vector<std::vector<std::uint64_t>>;

inline id_lists rest_of(loader& of, std::uint64_t epoch = 0) {
  id_lists all;
  for (const batch& each : of.epoch(epoch)) all.push_back(ids_of(each));
  return all;
}

}  // namespace feedline::test
