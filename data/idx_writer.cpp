#include "idx_writer.hpp"

#include <fstream>
#include <stdexcept>

namespace digits {
namespace {

void write_bytes(std::ofstream& to, std::span<const std::uint8_t> bytes) {
  to.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

void write_idx(const std::filesystem::path& file, const std::vector<std::uint32_t>& shape,
               std::span<const std::uint8_t> bytes) {
  constexpr std::uint8_t unsigned_bytes = 0x08;
  std::vector<std::uint8_t> header{0, 0, unsigned_bytes, static_cast<std::uint8_t>(shape.size())};
  for (const std::uint32_t extent : shape)
    for (int shift = 24; shift >= 0; shift -= 8)
      header.push_back(static_cast<std::uint8_t>(extent >> shift));

  const std::filesystem::path part = file.string() + ".part";
  {
    std::ofstream to{part, std::ios::binary};
    write_bytes(to, header);
    write_bytes(to, bytes);
    to.close();
    if (!to) throw std::runtime_error{part.string() + ": cannot be written"};
  }
  std::filesystem::rename(part, file);
}

}  // namespace digits
