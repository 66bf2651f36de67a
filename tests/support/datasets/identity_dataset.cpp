#include "support/datasets/identity_dataset.hpp"

#include <feedline/dataset/memory_dataset.hpp>

#include "support/datasets/identity_word.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace feedline::test {
namespace {

using word = std::array<std::byte, sizeof(std::uint64_t)>;

word row_word(std::uint64_t sample, std::uint64_t place) noexcept {
  return std::bit_cast<word>(identity_word(sample, place));
}

class identity_dataset final : public dataset {
 public:
  identity_dataset(std::uint64_t samples, std::size_t row_bytes)
      : samples_{samples}, row_bytes_{row_bytes} {}

  std::uint64_t size() const override { return samples_; }

  std::vector<field> fields() const override {
    return {{"id", element_type::u64, {}}, {"row", element_type::u8, {row_bytes_}}};
  }

  void do_read(const read_request& request) const override {
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      const std::uint64_t id = request.samples[i].value;
      std::memcpy(request.out[0].data() + i * sizeof id, &id, sizeof id);
      write_identity_row(id, request.out[1].subspan(i * row_bytes_, row_bytes_));
    }
  }

 private:
  std::uint64_t samples_;
  std::size_t row_bytes_;
};

}  // namespace

dataset_ptr make_identity_dataset(std::uint64_t samples, std::size_t row_bytes) {
  auto made = std::make_shared<const identity_dataset>(samples, row_bytes);
  for (const field& field : made->fields()) (void)sample_bytes(field);
  return made;
}

dataset_ptr make_identity_rows(std::uint64_t samples, std::size_t row_bytes) {
  std::vector<std::uint64_t> ids(samples);
  std::vector<std::uint8_t> rows(samples * row_bytes);
  std::vector<std::uint8_t> notes(samples);
  const std::span row_bytes_of_all = std::as_writable_bytes(std::span{rows});
  for (std::uint64_t i = 0; i < samples; ++i) {
    ids[i] = i;
    write_identity_row(i, row_bytes_of_all.subspan(i * row_bytes, row_bytes));
    notes[i] = static_cast<std::uint8_t>(i);
  }
  return make_memory_dataset({own("id", std::move(ids)), own("row", std::move(rows), {row_bytes}),
                              own("note", std::move(notes))});
}

void write_identity_row(std::uint64_t sample, std::span<std::byte> row) noexcept {
  for (std::size_t at = 0; at < row.size(); at += sizeof(word)) {
    const word bytes = row_word(sample, at / sizeof(word));
    std::memcpy(row.data() + at, bytes.data(), std::min(sizeof(word), row.size() - at));
  }
}

bool is_identity(std::uint64_t sample, std::span<const std::byte> id,
                 std::span<const std::byte> row) noexcept {
  if (id.size() != sizeof sample || std::memcmp(id.data(), &sample, sizeof sample) != 0)
    return false;
  for (std::size_t at = 0; at < row.size(); at += sizeof(word)) {
    const word bytes = row_word(sample, at / sizeof(word));
    if (std::memcmp(row.data() + at, bytes.data(), std::min(sizeof(word), row.size() - at)) != 0)
      return false;
  }
  return true;
}

}  // namespace feedline::test
