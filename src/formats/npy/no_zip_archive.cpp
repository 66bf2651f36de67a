/// Zip archives where feedline is built without libzip: there is none that can be opened.

#include "formats/npy/zip_archive.hpp"

namespace feedline::detail {

class zip_archive::state {};

zip_archive::zip_archive(random_file_ptr file) {
  throw dataset_error{{.path = file->path(), .field = {}},
                      "is to be read as a zip archive, but this feedline was built without libzip; "
                      "install libzip-dev and build it again, or unpack the archive and use "
                      "open_npy"};
}

zip_archive::~zip_archive() = default;

// No object of the class is ever made, so none of these is ever called.
const std::vector<zip_member>& zip_archive::members() const noexcept {
  static const std::vector<zip_member> none;
  return none;
}
std::unique_ptr<byte_source> zip_archive::open(std::size_t, const file_field&) const {
  return {};
}
std::optional<std::uint64_t> zip_archive::place(std::size_t, const file_field&) const {
  return {};
}

}  // namespace feedline::detail
