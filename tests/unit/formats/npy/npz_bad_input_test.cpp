#include <feedline/error.hpp>
#include <feedline/formats/npz.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/zip_bytes.hpp"

#include <string>

using namespace feedline;
using test::byte_vector;
using test::npy_bytes;
using test::npy_dictionary;
using test::zip_bytes;
using test::zip_entry;

namespace {

const byte_vector six_bytes = npy_bytes(npy_dictionary("|u1", "(3, 2)"), test::counting_bytes(6));

zip_entry entry(bool compressed) {
  return {"x.npy", six_bytes, compressed};
}

std::string refusal(const byte_vector& archive, const npz_options& options = {}) {
  const test::temporary_directory folder;
  return test::message_of<dataset_error>(
      [&] { (void)open_npz(folder.write("a.npz", archive), {}, options); });
}

/// Part of a message after the archive's path.
std::string behind_path(const std::string& message) {
  const auto end = message.find("a.npz: ");
  return end == std::string::npos ? message : message.substr(end + 7);
}

const std::string of_member = " (the byte is the member's)";
const std::string again = "; the archive is damaged, get it again";

}  // namespace

TEST_CASE("npz: a file that is no zip archive is refused", "[dataset][host]") {
  CHECK(behind_path(refusal(six_bytes)) ==
        "cannot be opened as a zip archive: Not a zip archive" + again);
  // libzip takes an empty file for an empty archive.
  CHECK(behind_path(refusal({})) == "holds no arrays: no member's name ends in .npy");
  CHECK(behind_path(refusal(zip_bytes({}))) == "holds no arrays: no member's name ends in .npy");
  CHECK(behind_path(refusal(zip_bytes({{"readme.txt", six_bytes, false}}))) ==
        "holds no arrays: no member's name ends in .npy");
}

TEST_CASE("npz: several members of one name are refused where one of them is wanted",
          "[dataset][host]") {
  const byte_vector other = npy_bytes(npy_dictionary("|u1", "(3,)"), test::counting_bytes(3));
  const auto archive = zip_bytes({entry(false), {"y.npy", other, false}, entry(true)});
  CHECK(behind_path(refusal(archive)) ==
        "holds several members named 'x.npy'; remove all but one (zip -d removes them all), or "
        "write the archive again with numpy.savez");
  const test::temporary_directory folder;
  const auto file = folder.write("a.npz", archive);
  CHECK(open_npz(file, {"y"})->size() == 3);
  CHECK(behind_path(test::message_of<dataset_error>([&] {
          (void)open_npz(file, {"x"});
        })).find("holds several members named 'x.npy'") == 0);
}

TEST_CASE("npz: an archive cut short anywhere is refused", "[dataset][host]") {
  const byte_vector whole = zip_bytes({entry(false), {"y.npy", six_bytes, true}});
  REQUIRE(refusal(whole) == "[nothing was thrown]");
  const test::temporary_directory folder;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto file = folder.write("a.npz", std::span{whole}.first(size));
    const std::string message = test::message_of<dataset_error>([&] { (void)open_npz(file); });
    CAPTURE(size, message);
    REQUIRE(message.find(file.string() + ": ") == 0);
  }
}

TEST_CASE("npz: a member that is no array is refused as its file would be", "[dataset][host]") {
  const bool compressed = GENERATE(false, true);
  CHECK(behind_path(refusal(zip_bytes({{"x.npy", test::counting_bytes(200), compressed}}))) ==
        "field 'x', byte 0: not a NumPy file: it does not begin with \\x93NUMPY; check that this "
        "is the right file" +
            of_member);
  byte_vector cut = six_bytes;
  cut.pop_back();
  CHECK(behind_path(refusal(zip_bytes({{"x.npy", cut, compressed}}))) ==
        "field 'x', byte 133: cut short: the header announces uint8[3, 2], so it should be 134 "
        "bytes, but it ends here; get the file again" +
            of_member);
  const byte_vector objects = npy_bytes(npy_dictionary("|O", "(3,)"), test::counting_bytes(9));
  CHECK(behind_path(refusal(zip_bytes({{"x.npy", objects, compressed}}))) ==
        "field 'x', byte 20: the elements ('|O') are Python objects, which feedline never "
        "unpickles; save an array of numbers" +
            of_member);
}

TEST_CASE("npz: a member whose bytes are not those that were saved is refused", "[dataset][host]") {
  zip_entry wrong = entry(true);
  wrong.checksum = 0x12345678;
  CHECK(behind_path(refusal(zip_bytes({wrong}))) ==
        "field 'x', byte 134: the member cannot be read: CRC error" + again + of_member);
}

TEST_CASE("npz: a member's claim of its size is not believed", "[dataset][host]") {
  // The directory claims more than the stream holds, and the array's header agrees with it.
  zip_entry more{"x.npy", npy_bytes(npy_dictionary("|u1", "(3000000000,)"), six_bytes), true};
  more.claimed_bytes = 3'000'000'128U;
  const std::string message = refusal(zip_bytes({more}), {.max_bytes = std::size_t{4} << 30});
  CAPTURE(message);
  CHECK(message.find("field 'x', byte ") != std::string::npos);
  // It claims less than the array has.
  zip_entry less = entry(true);
  less.claimed_bytes = 130;
  CHECK(behind_path(refusal(zip_bytes({less}))) ==
        "field 'x', byte 130: cut short: the header announces uint8[3, 2], so it should be 134 "
        "bytes, but it ends here; get the file again" +
            of_member);
}

TEST_CASE("npz: more memory than allowed is refused before any is taken", "[dataset][host]") {
  // 16 MiB of zeros in 16 KiB of archive.
  const zip_entry bomb{
      "x.npy", npy_bytes(npy_dictionary("|u1", "(16777216,)"), byte_vector(16777216)), true};
  const byte_vector archive = zip_bytes({bomb});
  REQUIRE(archive.size() < 20'000);
  CHECK(behind_path(refusal(archive, {.max_bytes = 1'000'000})) ==
        "field 'x', byte 0: the members that are compressed or in Fortran order take more than the "
        "1000000 bytes of memory allowed: this one, uint8[16777216], 16777216; set max_bytes, or "
        "save with numpy.savez, whose members are read from the file" +
            of_member);
  CHECK(refusal(archive, {.max_bytes = 16777216}) == "[nothing was thrown]");
  // An array that is read in place takes none.
  CHECK(refusal(zip_bytes({entry(false)}), {.max_bytes = 1}) == "[nothing was thrown]");
}

TEST_CASE("npz: members that cannot be decoded are refused", "[dataset][host]") {
  zip_entry encrypted = entry(false);
  encrypted.flags = 1;
  CHECK(behind_path(refusal(zip_bytes({encrypted}))) ==
        "field 'x', byte 0: the member is encrypted; save the archive without a password" +
            of_member);
  zip_entry unknown = entry(false);
  unknown.method = 77;
  CHECK(behind_path(refusal(zip_bytes({unknown}))) ==
        "field 'x', byte 0: the member is compressed by a method that libzip cannot undo here; "
        "write the archive again with numpy.savez_compressed" +
            of_member);
  zip_entry garbled = entry(false);
  garbled.method = 8;
  const std::string message = behind_path(refusal(zip_bytes({garbled})));
  CAPTURE(message);
  CHECK(message.find("field 'x', byte ") == 0);
}
