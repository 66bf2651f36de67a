/// Zip archives where feedline is built without libzip: there is none that can be opened.

#include "formats/npy/zip_archive.hpp"

namespace feedline::detail {

std::unique_ptr<zip_archive> open_zip_archive(random_file_ptr file) {
  throw dataset_error{{.path = file->path(), .field = {}},
                      "is to be read as a zip archive, but this feedline was built without libzip; "
                      "install libzip-dev and build it again, or unpack the archive and use "
                      "open_npy"};
}

}  // namespace feedline::detail
