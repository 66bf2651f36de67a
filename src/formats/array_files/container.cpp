#include "formats/array_files/container.hpp"

#include <feedline/error.hpp>

#include "detail/byte_order.hpp"
#include "detail/text.hpp"
#include "formats/npy/array.hpp"
#include "formats/npy/header.hpp"
#include "formats/npy/zip_archive.hpp"
#include "io/file_magic.hpp"
#include "io/range_source.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

namespace feedline::detail {
namespace {

/// An array of NumPy's in a file, or in a member of an archive.
struct numpy_part {
  npy_header header = {};
  std::optional<std::uint64_t> begin =
      {};  ///< offset of the elements in the file; empty: compressed
  std::size_t member = 0;
};

class numpy_container final : public array_container {
 public:
  explicit numpy_container(byte_file_ptr file) : file_{std::move(file)} {
    std::array<std::byte, 6> head{};
    if (file_->size() >= head.size()) file_->read(0, head);
    if (is_npy(head)) {
      add_array("array", 0, file_->size());
      return;
    }
    archive_ = open_zip_archive(file_);
    std::set<std::string> names;
    for (std::size_t i = 0; i < archive_->members().size(); ++i) {
      const zip_member& member = archive_->members()[i];
      if (!member.name.ends_with(npy_suffix)) continue;
      std::string name = member.name.substr(0, member.name.size() - npy_suffix.size());
      if (!names.insert(name).second)
        throw dataset_error{{.path = file_->name(), .field = name},
                            "two members have this name; write the archive again"};
      add_member(std::move(name), i, member);
    }
  }

  const std::vector<array_in_file>& arrays() const noexcept override { return arrays_; }

  void read(std::size_t array, std::span<std::byte> out) override {
    const numpy_part& part = parts_[array];
    if (part.header.is_fortran) return read_fortran(array, out);
    read_bytes(array, 0, out);
    if (part.header.is_swapped) reverse_elements(out, size_bytes(part.header.type));
  }

 private:
  [[nodiscard]] file_field name_of(const std::string& array) const {
    return {file_->name(), array};
  }

  void add_array(const std::string& name, std::uint64_t begin, std::uint64_t bytes) {
    range_source from{file_, begin, bytes};
    add(name, from, bytes, begin, 0);
  }

  void add_member(std::string name, std::size_t number, const zip_member& member) {
    const file_field where = name_of(name);
    if (member.is_encrypted) throw where.error(0, "the member is encrypted; save it without");
    if (const auto place = archive_->place(number, where)) {
      range_source from{file_, *place, member.bytes};
      return add(name, from, member.bytes, *place, number);
    }
    const auto from = archive_->open(number, where);
    add(name, *from, member.bytes, std::nullopt, number);
  }

  void add(const std::string& name, byte_source& from, std::uint64_t bytes,
           std::optional<std::uint64_t> begin, std::size_t member) {
    array_in_file made{.name = name};
    numpy_part part{.header = {}, .begin = begin, .member = member};
    try {
      part.header = read_npy_header(from, name_of(name), true);
      part.header.require_room(bytes, name_of(name));
      made.type = part.header.type;
      made.shape = part.header.extents;
      if (part.begin) *part.begin += part.header.header_bytes;
    } catch (const npy_not_a_field& refusal) {
      made.refusal = refusal.message();
    }
    arrays_.push_back(std::move(made));
    parts_.push_back(std::move(part));
  }

  /// Bytes of the elements as they are stored.
  void read_bytes(std::size_t array, std::uint64_t offset, std::span<std::byte> out) const {
    const numpy_part& part = parts_[array];
    if (part.begin) return file_->read(*part.begin + offset, out);
    const file_field where = name_of(arrays_[array].name);
    const auto from = archive_->open(part.member, where);
    (void)read_npy_header(*from, where, true);
    std::vector<std::byte> skipped(static_cast<std::size_t>(offset));
    if (from->read(skipped) < skipped.size() || from->read(out) < out.size())
      throw where.error(offset, "the member is cut short; get the file again");
  }

  void read_fortran(std::size_t array, std::span<std::byte> out) const {
    const npy_header& header = parts_[array].header;
    if (header.payload_bytes == 0) return;
    std::vector<std::byte> all;
    if (!parts_[array].begin) {  // compressed: one pass
      all.resize(header.payload_bytes);
      read_bytes(array, 0, all);
    }
    const row_storage rows =
        rows_of_fortran_array(header, [&](std::uint64_t offset, std::span<std::byte> to) {
          if (all.empty()) return read_bytes(array, offset, to);
          std::memcpy(to.data(), all.data() + offset, to.size());
        });
    std::memcpy(out.data(), rows.bytes().data(), out.size());
  }

  byte_file_ptr file_;
  std::unique_ptr<zip_archive> archive_;
  std::vector<array_in_file> arrays_;
  std::vector<numpy_part> parts_;
};

std::vector<std::byte> head_of_file(const byte_file& file) {
  constexpr std::uint64_t head_bytes = 1024;  // with the name of an archive's first member
  std::vector<std::byte> head(
      static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), head_bytes)));
  file.read(0, head);
  return head;
}

}  // namespace

std::unique_ptr<array_container> open_numpy_container(const byte_file_ptr& file) {
  return std::make_unique<numpy_container>(file);
}

bool is_safetensors_head(std::span<const std::byte> head) noexcept {
  constexpr std::uint64_t max_header_bytes = 100'000'000;  // the limit of the format's own library
  if (head.size() < 9) return false;
  const std::uint64_t length = little_endian(head.first(8));
  return length >= 2 && length <= max_header_bytes && head[8] == std::byte{'{'};
}

bool is_array_file_name(std::string_view name) {
  const std::string lower = in_lower_case(name);
  return lower.ends_with(".npz") || lower.ends_with(npy_suffix) || lower.ends_with(".safetensors");
}

bool is_array_file(const byte_file& file) {
  const std::vector<std::byte> head = head_of_file(file);
  return is_npy(head) || is_npz(head) || is_safetensors_head(head);
}

std::unique_ptr<array_container> open_array_container(const byte_file_ptr& file) {
  const std::vector<std::byte> head = head_of_file(*file);
  if (is_npy(head) || is_zip(head)) return open_numpy_container(file);
  if (is_safetensors_head(head)) return open_safetensors(file);
  throw dataset_error{
      {.path = file->name(), .field = {}},
      "is no file of arrays (.npy, .npz, .safetensors): it does not begin like one"};
}

}  // namespace feedline::detail
