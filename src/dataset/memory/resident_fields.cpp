#include "dataset/memory/resident_fields.hpp"

#include <feedline/dataset/load_into_memory.hpp>
#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <memory>

namespace feedline::detail {
namespace {

void read_whole(rows_field& field, int threads) try {
  const auto loaded = load_into_memory(make_rows_dataset("open", {field}), {.threads = threads});
  const row_extent all{.rows = field.rows->size(),
                       .row_bytes = field.rows->row_bytes(),
                       .file = field.rows->extent().file};
  field.rows = std::make_shared<const memory_rows>(all, loaded->rows().front(), loaded);
  field.encoded = nullptr;
} catch (const error&) {  // NOLINT(bugprone-empty-catch): as said
}

}  // namespace

void make_resident(std::vector<rows_field>& fields, std::size_t limit_bytes,
                   const std::string& path) {
  // Here only this thread: several might evict each other's chunks from a small cache. A read from
  // another machine takes a round trip, which is worse.
  constexpr int remote_threads = 32;
  const int threads = path.find("://") == std::string::npos ? 1 : remote_threads;
  std::vector<rows_field*> by_size;
  for (rows_field& each : fields) by_size.push_back(&each);
  std::ranges::stable_sort(by_size, {}, [](const auto* each) { return each->rows->row_bytes(); });
  for (rows_field* const each : by_size) {
    const auto bytes = checked_multiply<std::size_t>(each->rows->size(), each->rows->row_bytes());
    if (!bytes || *bytes > limit_bytes) return;
    limit_bytes -= *bytes;
    read_whole(*each, threads);
  }
}

}  // namespace feedline::detail
