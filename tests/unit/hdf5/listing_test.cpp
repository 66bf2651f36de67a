#include <feedline/error.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/hdf5/ragged.hpp>

#include "support/checks/catch.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/sequences.hpp"
#include "support/hdf5/writer.hpp"

#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

TEST_CASE("hdf5: a listing shows every dataset that can be a field, in order of path",
          "[dataset][host]") {
  const temporary_directory folder;
  const std::vector<float> values(60, 1.0F);
  {
    hdf5_writer other{folder.path() / "other.h5"};
    other.write("y", H5T_IEEE_F32BE, {10, 6}, H5T_NATIVE_FLOAT, values.data());
  }
  hdf5_writer writer{folder.path() / "list.h5"};
  writer.make_group("train");
  writer.make_group("train/deep");
  writer.make_group("empty");
  writer.write("train/images", H5T_IEEE_F32LE, {5, 3, 4}, H5T_NATIVE_FLOAT, values.data());
  writer.write("train/deep/labels", H5T_STD_I64BE, {5}, H5T_NATIVE_FLOAT, values.data());
  writer.write("a", H5T_STD_U8LE, {60}, H5T_NATIVE_FLOAT, values.data());
  writer.make_soft_link("/train/images", "soft");
  writer.make_external_link("other.h5", "/y", "outside");
  writer.make_external_link("nofile.h5", "/y", "lost");  // may have been a field
  (void)writer.make("scalar", H5T_STD_U8LE, {});
  (void)writer.make("no samples", H5T_STD_U8LE, {0, 3});
  // Objects that cannot be fields.
  writer.make_soft_link("/nowhere", "dangling");
  (void)writer.make("empty rows", H5T_STD_U8LE, {3, 0});
  {
    const detail::hdf5_type_id text{H5Tcopy(H5T_C_S1)};
    H5Tset_size(text.get(), 8);
    (void)writer.make("text", text.get(), {3});
  }
  const auto file = writer.close();

  const auto listings = list_hdf5_fields(file);
  std::vector<std::string> lines;
  for (const auto& listing : listings)
    lines.push_back(listing.refusal.empty()
                        ? listing.dataset + " " + std::to_string(listing.samples) + " " +
                              to_string(listing.spec)
                        : listing.dataset + " " + listing.refusal.substr(0, 16));
  CHECK(lines == std::vector<std::string>{
                     "/a 60 a: uint8[]",
                     "/lost cannot be opened",
                     "/no samples 0 no samples: uint8[3]",
                     "/outside 10 outside: float32[6]",
                     "/scalar 1 scalar: uint8[]",
                     "/soft 5 soft: float32[3, 4]",
                     "/text 3 text: uint8[8]",
                     "/train/deep/labels 5 labels: int64[]",
                     "/train/images 5 images: float32[3, 4]",
                 });
  for (const auto& listing : listings)  // and each can
    if (listing.refusal.empty())
      CHECK(open_hdf5(file, {{listing.dataset}})->fields() == std::vector{listing.spec});
}

TEST_CASE("hdf5: a file without datasets lists none, and a file that is no HDF5 file is refused",
          "[dataset][host]") {
  const temporary_directory folder;
  CHECK(list_hdf5_fields(hdf5_writer{folder.path() / "none.h5"}.close()).empty());
  CHECK_THROWS_AS(list_hdf5_fields(folder.write("text.h5", various_bytes(100))), hdf5_error);
  CHECK_THROWS_AS(list_hdf5_fields(folder.path() / "nothing.h5"), hdf5_error);
}

TEST_CASE("hdf5: a listing shows values of variable length as open_hdf5_ragged reads them",
          "[dataset][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "list.h5"};
  write_sequences(writer, "boxes", H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, various_values({1, 0, 2}, 4));
  write_strings(writer, "names", H5T_CSET_UTF8, {"a", "bc"});
  const detail::hdf5_type_id words{string_type(H5T_CSET_UTF8)};
  const detail::hdf5_type_id record{H5Tcreate(H5T_COMPOUND, 24)};
  H5Tinsert(record.get(), "id", 0, H5T_STD_U16LE);
  H5Tinsert(record.get(), "word", 8, words.get());
  (void)writer.make("obs", record.get(), {5});
  (void)writer.make("grid of names", words.get(), {2, 2});  // no sequence a sample
  (void)writer.make("one name", words.get(), {});
  const auto file = writer.close();

  std::vector<std::string> lines;
  for (const auto& listing : list_hdf5_fields(file)) {
    CHECK(listing.refusal.empty());
    lines.push_back(listing.dataset + " " + std::to_string(listing.samples) + " " +
                    to_string(listing.spec) + " " + listing.access +
                    (listing.is_ragged ? ", ragged" : ""));
    if (!listing.is_ragged) continue;
    const auto opened = open_hdf5_ragged(file, {listing.dataset});
    CHECK(opened->size() == listing.samples);
    CHECK(opened->element() == listing.spec);
  }
  CHECK(lines == std::vector<std::string>{
                     "/boxes 3 boxes: float32[] contiguous, ragged",
                     "/names 2 names: uint8[] contiguous, ragged",
                     "/obs/id 5 id: uint16[] never written",
                     "/obs/word 5 word: uint8[] never written, ragged",
                     "/one name 1 one name: uint8[] never written, ragged",
                 });
}
