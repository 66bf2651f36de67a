#include "io/file_kind.hpp"

#include "detail/byte_order.hpp"
#include "io/file_magic.hpp"
#include "io/text_kind.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace feedline::detail {
namespace {

using head_bytes = std::span<const std::byte>;

bool has_at(head_bytes head, std::size_t offset, std::string_view magic) {
  return head.size() >= offset + magic.size() &&
         std::equal(magic.begin(), magic.end(), head.begin() + static_cast<std::ptrdiff_t>(offset),
                    [](char wanted, std::byte byte) { return std::byte(wanted) == byte; });
}

template <std::size_t Size>
constexpr std::string_view magic_of(const char (&text)[Size]) {  // NOLINT(modernize-avoid-c-arrays)
  return {text, Size - 1};                                       // may hold zeros
}

std::uint64_t number_at(head_bytes head, std::size_t offset, std::size_t size) {
  return head.size() < offset + size ? 0 : little_endian(head.subspan(offset, size));
}

/// RFC 1952: the method deflate, and no reserved flag.
bool is_deflated(head_bytes head) {
  return has_at(head, 0, magic_of("\x1f\x8b\x08")) && head.size() > 3 &&
         std::to_integer<unsigned>(head[3]) < 0x20;
}

bool is_bzip2(head_bytes head) {
  return has_at(head, 0, "BZh") && has_at(head, 4, "1AY&SY");
}

/// Its first block may follow a user block, as in MATLAB's files.
bool is_hdf5(head_bytes head) {
  constexpr std::string_view magic = magic_of("\x89HDF\r\n\x1a\n");
  return has_at(head, 0, magic) || has_at(head, 512, magic);
}

bool is_old_tar(head_bytes head) {
  return has_at(head, 257, "ustar");
}

/// Its second marker begins so, too.
bool is_jpeg_file(head_bytes head) {
  return has_at(head, 0, "\xff\xd8\xff") && head.size() > 3 && head[3] >= std::byte{0xc0};
}

bool is_webp(head_bytes head) {
  return has_at(head, 0, "RIFF") && has_at(head, 8, "WEBP");
}

bool is_lmdb(head_bytes head) {
  return number_at(head, 0, 8) == 0 && has_at(head, 16, magic_of("\xde\xc0\xef\xbe"));
}

/// The length of a JSON object, and its first bytes.
bool is_safetensors(head_bytes head) {
  const std::uint64_t length = number_at(head, 0, 8);
  return length >= 2 && length < (std::uint64_t{1} << 32) && has_at(head, 8, "{\"");
}

/// Protocol 4 or 5, and a frame's length.
bool is_pickle(head_bytes head) {
  return (has_at(head, 0, magic_of("\x80\x04\x95")) || has_at(head, 0, magic_of("\x80\x05\x95"))) &&
         head.size() > 10 && number_at(head, 3, 8) < (std::uint64_t{1} << 40);
}

/// A continuation mark, the length of a message's metadata in multiples of 8, and its root table.
bool is_arrow_stream(head_bytes head) {
  const std::uint64_t length = number_at(head, 4, 4);
  return has_at(head, 0, "\xff\xff\xff\xff") && length != 0 && length % 8 == 0 &&
         length < (std::uint64_t{1} << 24) && number_at(head, 8, 4) < length &&
         number_at(head, 8, 4) >= 4;
}

/// Protocols 2 and 3: an empty container that is memorized, or the name of a class.
bool is_old_pickle(head_bytes head) {
  if (!has_at(head, 0, "\x80\x02") && !has_at(head, 0, "\x80\x03")) return false;
  for (const std::string_view begin : {"}q", "]q", ")q", "(X", "X", "cn", "c_", "cc", "ct", "cp"})
    if (has_at(head, 2, begin)) return true;
  return false;
}

/// ISO base media: MP4, MOV, AVIF, HEIC.
bool is_media(head_bytes head) {
  return has_at(head, 4, "ftyp");
}

bool is_riff_of(head_bytes head, std::string_view kind) {
  return has_at(head, 0, "RIFF") && has_at(head, 8, kind);
}
bool is_wav(head_bytes head) {
  return is_riff_of(head, "WAVE");
}
bool is_avi(head_bytes head) {
  return is_riff_of(head, "AVI ");
}

bool is_dicom(head_bytes head) {
  return has_at(head, 128, "DICM");
}

bool is_nifti(head_bytes head) {
  return has_at(head, 344, magic_of("n+1\0")) || has_at(head, 344, magic_of("ni1\0"));
}

bool is_tiff_file(head_bytes head) {
  return is_tiff(head);
}

/// A zip archive whose first member has a name that ends so.
bool is_zip_of(head_bytes head, std::string_view ending) {
  const std::uint64_t length = number_at(head, 26, 2);
  return has_at(head, 0, magic_of("PK\3\4")) && length >= ending.size() &&
         has_at(head, static_cast<std::size_t>(30 + length - ending.size()), ending);
}
bool is_torch_zip(head_bytes head) {
  return is_zip_of(head, "/data.pkl");
}
bool is_office(head_bytes head) {
  return is_zip_of(head, "[Content_Types].xml");
}

constexpr std::string_view to_arrays =
    "save its values as arrays (.npy, HDF5), or write a dataset class of your own";
constexpr std::string_view to_folder =
    "open the folder that holds a folder of images for each class";
constexpr std::string_view to_numbers = "save its values, or its tokens, as arrays with numpy.save";
constexpr std::string_view to_images = "save its frames or slices as images or arrays (numpy.save)";
constexpr std::string_view to_samples =
    "decode it to arrays (numpy.save, HDF5), or in shards of tar with your own decoder (open_tar)";
constexpr std::string_view never_unpickles =
    "feedline never unpickles; save arrays with numpy.save";

/// A kind, and its first bytes or a function that recognizes them.
struct known_kind {
  file_kind kind;
  std::string_view magic = {};
  bool (*is)(head_bytes head) = nullptr;
};

constexpr auto known = std::to_array<known_kind>({
    {{"a gzip file", "decompress it (gunzip)"}, {}, is_deflated},
    {{"a Zstandard file", "decompress it (unzstd)"}, magic_of("\x28\xb5\x2f\xfd")},
    {{"a bzip2 file", "decompress it (bunzip2)"}, {}, is_bzip2},
    {{"an xz file", "decompress it (unxz)"},
     magic_of("\xfd"
              "7zXZ\0")},
    {{"an LZ4 file", "decompress it (unlz4)"}, magic_of("\x04\x22\x4d\x18")},
    {{"a file of torch.save", never_unpickles}, {}, is_torch_zip},
    {{"a workbook or document of Office", "export its table as CSV, which open_csv reads"},
     {},
     is_office},
    {{"a zip archive, as of .npz and PyTorch's files",
      "open_npz reads arrays of numpy.savez; unpack others"},
     magic_of("PK\3\4")},
    {{"an HDF5 file", "open_hdf5 reads it"}, {}, is_hdf5},
    {{"a NumPy array", "open_npy reads it"}, magic_of("\x93NUMPY")},
    {{"a tar archive", "open_tar reads it"}, {}, is_old_tar},
    {{"a Parquet file", "open_parquet reads it"}, "PAR1"},
    {{"an Arrow or Feather file", to_arrays}, magic_of("ARROW1\0\0")},
    {{"a stream of Arrow, as Hugging Face's data sets are", to_arrays}, {}, is_arrow_stream},
    {{"an Avro file", to_arrays}, "Obj\1"},
    {{"an HDF4 file", "convert it to HDF5 (h4toh5), which feedline reads"},
     magic_of("\x0e\x03\x13\x01")},
    {{"a classic netCDF file", "convert it to netCDF-4 (nccopy -k nc4), which is HDF5"},
     magic_of("CDF\1")},
    {{"a classic netCDF file", "convert it to netCDF-4 (nccopy -k nc4), which is HDF5"},
     magic_of("CDF\2")},
    {{"a MATLAB file of version 5 to 7.2",
      "save it with -v7.3, which is HDF5, or as arrays with scipy.io.loadmat and numpy.save"},
     "MATLAB 5.0 MAT-file"},
    {{"a FITS file", "save its arrays with astropy and numpy.save, or as HDF5"}, "SIMPLE  ="},
    {{"a GRIB file", "convert it to netCDF-4, which is HDF5"}, "GRIB"},
    {{"a DICOM file", to_images}, {}, is_dicom},
    {{"a NIfTI file", "save its volume with nibabel and numpy.save"}, {}, is_nifti},
    {{"an ArrayRecord or Riegeli file", "open_array_record reads ArrayRecord"},
     magic_of("\x83\xaf\x70\xd1\x0d\x88\x4a\x3f")},
    {{"a RecordIO file of MXNet", "write its records as TFRecord or tar shards"},
     magic_of("\x0a\x23\xd7\xce")},
    {{"weights of a model (GGUF), not a data set", "name the data set"}, "GGUF"},
    {{"an SQLite database", to_arrays}, "SQLite format 3"},
    {{"an LMDB database", "open_lmdb reads it"}, {}, is_lmdb},
    {{"a safetensors file",
      "open_array_files reads it as one sample; save tensors whose first "
      "dimension counts samples with numpy.save, or as HDF5"},
     {},
     is_safetensors},
    {{"a pickle, as Python and PyTorch write them", never_unpickles}, {}, is_pickle},
    {{"a file of torch.save", never_unpickles}, magic_of("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9")},
    {{"a pickle, as Python and PyTorch write them", never_unpickles}, {}, is_old_pickle},
    {{"Megatron's index of tokens", "open_tokens reads it with the .bin file beside it"},
     magic_of("MMIDIDX\0\0")},
    {{"an index of Megatron's older format (TNTIDX)",
      "make it again with Megatron's preprocess_data.py, which writes MMIDIDX"},
     magic_of("TNTIDX\0\0")},
    {{"a JPEG image", to_folder}, {}, is_jpeg_file},
    {{"a PNG image", to_folder}, magic_of("\x89PNG\r\n\x1a\n")},
    {{"a GIF image", "convert it to PNG or JPEG"}, "GIF8"},
    {{"a WebP image", "convert it to PNG or JPEG"}, {}, is_webp},
    {{"a TIFF image", to_folder}, {}, is_tiff_file},
    {{"a video, or an image of AVIF or HEIC", to_images}, {}, is_media},
    {{"a Matroska or WebM video", to_images}, magic_of("\x1a\x45\xdf\xa3")},
    {{"an AVI video", to_images}, {}, is_avi},
    {{"a WAV recording", to_samples}, {}, is_wav},
    {{"a FLAC recording", to_samples}, "fLaC"},
    {{"an Ogg recording", to_samples}, "OggS"},
    {{"a 7z archive", "unpack it (7z x)"}, magic_of("7z\xbc\xaf\x27\x1c")},
    {{"a RAR archive", "unpack it (unrar x)"}, magic_of("Rar!\x1a\x07")},
    {{"a PDF", "extract what is to be read"}, "%PDF-"},
    {{"a pointer of git-lfs, not the file itself", "get the file with 'git lfs pull'"},
     "version https://git-lfs.github.com/spec/"},
    {{"a web page, not the file",
      "download it again: the server answered with a page, such as a login or an error"},
     {},
     is_html},
    {{"an index of tar shards (DALI's wds2idx)", "open the tar shards, which need none"}, "v1.2 "},
    {{"annotations of COCO", "open_coco reads them, with the folder of their images"}, {}, is_coco},
    {{"an annotation of VOC", "open_voc reads a folder of them, with their images"}, {}, is_voc},
    {{"JSON lines", "open_json_lines reads it"}, {}, is_json_lines},
    {{"JSON text", to_numbers}, {}, is_json},
    {{"labels of YOLO", "convert them to COCO's JSON, which open_coco reads"}, {}, is_yolo},
    {{"a table as text (CSV)", "open_csv reads it"}, {}, is_table},
    {{"text", to_numbers}, {}, is_text},
});

}  // namespace

const file_kind* find_file_kind(head_bytes head) noexcept {
  const auto* const found = std::ranges::find_if(known, [head](const known_kind& each) {
    return each.is != nullptr ? each.is(head) : has_at(head, 0, each.magic);
  });
  return found == known.end() ? nullptr : &found->kind;
}

}  // namespace feedline::detail
