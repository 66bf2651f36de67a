#include "programs/doctor/request.hpp"
#include "programs/doctor_runs.hpp"
#include "support/hdf5/sequences.hpp"

#include <chrono>
#include <string>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

TEST_CASE("doctor: a report tells content, path, rates, verdict and options", "[programs][host]") {
  const temporary_directory folder;
  const auto file = write_rows(folder);
  const auto run = run_doctor({file.string(), "--batch-size", "50"});
  CHECK(run.err.empty());
  REQUIRE(run.code == 0);
  INFO(run.out);
  CHECK(run.out.starts_with(file.string() + ": npy\n"));
  CHECK(says(run.out, "1000 of uint8[16]"));
  CHECK(says(run.out, "1000 of 16 bytes, 15.6 KiB in all"));
  CHECK(says(run.out, "by any number of threads"));
  CHECK(says(run.out, "\nstorage\n"));
  CHECK(says(run.out, "\nreading and decoding, one thread, as the page cache is now\n  in order"));
  CHECK(says(run.out, "\ngather into batches of 50, shuffled"));
  CHECK(says(run.out, "  1 reader "));
  CHECK(says(run.out, "not measured  --no-gpu is set"));
  CHECK(says(run.out, "\nthe loop as it is: batches of 50, shuffled"));
  CHECK(says(run.out, "\nthe loop as recommended: batches of 50"));
  CHECK(says(run.out, "  verdict "));
  CHECK(says(run.out, "feedline::open(\"" + file.string() + "\")"));
  CHECK_FALSE(says(run.out, "damage"));
}

TEST_CASE("doctor: JSON is one object that agrees with the data", "[programs][host]") {
  const temporary_directory folder;
  const auto file = write_packed(folder);
  const auto run = run_doctor({file.string(), "--json", "-", "--step", "100us", "--batch-size",
                               "64", "--read-whole", "0", "--max-readers", "3"});
  REQUIRE(run.code == 0);
  CHECK(run.err.empty());
  const auto json = run.json();
  CHECK(json["program"] == "feedline-doctor");
  CHECK(json["format"] == "hdf5");
  CHECK(json["batch_size"] == 64);
  CHECK(json["step_ns"] == 100'000);
  CHECK(json["layout"]["samples"] == 2000);
  CHECK(json["layout"]["sample_bytes"] == 1025);
  CHECK(json["layout"]["chunk_samples"] == 64);
  CHECK(json["layout"]["in_memory"] == false);
  CHECK(json["layout"]["fields"][0]["name"] == "image");
  CHECK(json["layout"]["fields"][0]["shape"] == nlohmann::json::array({1024}));
  CHECK(json["offered"][0]["access"] == "chunks of 64 samples, deflate");
  CHECK(json["offered"][1]["access"] == "contiguous");
  CHECK(json["storage"]["bytes"] == std::filesystem::file_size(file));
  CHECK(json["gather_order"] == "shuffled within 16 chunks");
  CHECK(json["reading"]["samples"] > 0);
  REQUIRE(json["gather"].size() == 3);  // 1, 2 and 3 readers
  CHECK(json["gather"][2]["readers"] == 3);
  CHECK(json["gather"][0]["samples_per_second"] > 0);
  CHECK(json["copies"]["not_measured"] == "--no-gpu is set");
  REQUIRE(!json["loops"].empty());
  const auto& statistics = json["loops"][0]["statistics"];
  CHECK(statistics["verdict"]["limit"].is_string());
  CHECK(statistics["chunked"] == true);
  CHECK(json["damage"].empty());
  CHECK(json["recommended"]["placement"] == "stream");
  CHECK(says(json["recommended"]["code"], "feedline::open_hdf5("));
  CHECK(says(json["recommended"]["code"], ".max_resident_bytes = 0"));
}

TEST_CASE("doctor: fields that are read whole at opening are listed as such", "[programs][host]") {
  const temporary_directory folder;
  const auto json = run_doctor({write_packed(folder).string(), "--json", "-"}).json();
  CHECK(json["layout"]["in_memory"] == true);
  CHECK(json["batch_size"] == 256);
  CHECK(json["recommended"]["window_chunks"].is_null());
  CHECK(says(json["layout"]["way"], "read whole at opening"));
}

TEST_CASE("doctor: a long step limits the loop, and without a step the readers do",
          "[programs][host]") {
  const temporary_directory folder;
  const auto limit_of = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {(folder.path() / "packed.h5").string(), "--json", "-", "--readers",
                               "1", "--read-whole", "0", "--batch-size", "64", "--seconds", "2"});
    const auto json = run_doctor(more).json();
    return json["loops"][0]["statistics"]["verdict"]["limit"].get<std::string>();
  };
  (void)write_packed(folder, 20'000);
  CHECK(limit_of({"--step", "20ms", "--order", "sequential"}) == "consumer-bound");
  const std::string limit = limit_of({"--order", "sequential"});
  CAPTURE(limit);
  CHECK((limit == "decode-bound" || limit == "reader-bound"));
}

TEST_CASE("doctor: damaged samples are reported with their index, and the rest is measured",
          "[programs][host]") {
  const temporary_directory folder;
  const auto file = write_damaged(folder);
  const auto run = run_doctor({file.string(), "--batch-size", "10"});
  CHECK(run.code == 3);
  INFO(run.out);
  CHECK(says(run.out, "damage: samples that cannot be read"));
  CHECK(says(run.out, "  sample 40 "));
  CHECK(says(run.out, "chunk 5"));
  CHECK(says(run.out, "fletcher32"));
  CHECK(says(run.out, "\nrecommended\n"));
  const auto json = run_doctor({file.string(), "--json", "-"}).json();
  CHECK(json["damage"][0]["sample"] == 40);
  CHECK(json["reading"]["samples"] > 900);
}

TEST_CASE("doctor: the program for a file with damage leaves it out, and a converter is named",
          "[programs][host]") {
  const temporary_directory folder;
  const std::string file = write_damaged(folder).string();
  const auto run = run_doctor({file, "--json", "-"});
  CHECK(run.code == 3);
  const auto recommended = run.json()["recommended"];
  CHECK(recommended["skip_damaged"] == true);
  CHECK(says(recommended["code"], ".errors = {.action = feedline::error_action::skip"));
  CHECK(says(recommended["hints"].dump(), "feedline-convert --skip-damaged"));
}

TEST_CASE("doctor: inputs with names stand side by side, as feedline-convert takes them",
          "[programs][host]") {
  const temporary_directory folder;
  const std::string rows = write_rows(folder).string();
  const std::string classes =
      folder.write("c.npy", npy_bytes(npy_dictionary("|u1", "(1000,)"), counting_bytes(1000)))
          .string();
  const auto run = run_doctor({"image=" + rows, "label=" + classes, "--json", "-"});
  REQUIRE(run.code == 0);
  const auto json = run.json();
  CHECK(json["path"] == "image=" + rows + " label=" + classes);
  CHECK(json["offered"].size() == 2);
  CHECK(json["layout"]["fields"][0]["name"] == "image");
  CHECK(json["layout"]["fields"][1]["name"] == "label");
  CHECK(json["storage"]["files"] == 2);
  const std::string code = json["recommended"]["code"];
  CHECK(says(code, "feedline::zip({feedline::select(feedline::open(\"" + rows +
                       "\"), {{\"rows\", \"image\"}}),"));
  CHECK(says(code, "{{\"c\", \"label\"}})})"));
  const auto text = run_doctor({"image=" + rows, classes});
  CHECK(says(text.out, rows + ": npy\n\nwhat is in it\n"));
  CHECK(says(text.out, classes + ": npy\n\nwhat is in it\n"));
  const auto twice = run_doctor({rows, rows});
  CHECK(twice.code == 2);
  CHECK(says(twice.err, "there is a field 'rows' already: name this one with NAME=PATH"));
}

TEST_CASE(
    "doctor: if there are very many fields, it prints the first ones, how many more, and how to "
    "see them",
    "[programs][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "many.h5"};
  const std::vector<float> values(4 * 300);
  for (int i = 0; i < 120; ++i)
    writer.write("f" + std::to_string(i), H5T_IEEE_F32LE, {4, 300}, H5T_NATIVE_FLOAT,
                 values.data());
  const std::string file = writer.close().string();
  const std::string every = (folder.path() / "all.json").string();
  const auto run = run_doctor({file, "--json", every});
  REQUIRE(run.code == 0);
  INFO(run.out);
  CHECK(std::ranges::count(run.out, '\n') < 400);
  const auto more = std::string(16, ' ') + "and 70 more: --json FILE lists all\n";
  std::size_t told = 0;
  for (auto at = run.out.find(more); at != std::string::npos; at = run.out.find(more, at + 1))
    ++told;
  CHECK(told == 3);  // content, way of reading, hints
  const auto bytes = bytes_of_file(every);
  const auto json =
      nlohmann::json::parse(std::string{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  CHECK(json["offered"].size() == 120);
  CHECK(json["layout"]["fields"].size() == 120);
}

TEST_CASE("doctor: samples of varying length are padded, or the report says that they need it",
          "[programs][host]") {
  const temporary_directory folder;
  hdf5_writer writer{folder.path() / "ragged.h5"};
  const auto labels = various_bytes(100);
  write_sequences(writer, "tokens", H5T_STD_I32LE, H5T_NATIVE_INT32,
                  various_values(std::vector<std::uint64_t>(100, 7), 4));
  writer.write("label", H5T_STD_U8LE, {100}, H5T_NATIVE_UINT8, labels.data());
  const std::string file = writer.close().string();

  const auto without = run_doctor({file});
  CHECK(without.code == 0);
  CHECK(says(without.out, "left out: /tokens, of samples of varying length: --pad LENGTH"));
  const auto refused = run_doctor({file, "--fields", "tokens"});
  CHECK(refused.code == 2);
  CHECK(says(refused.err,
             "field '/tokens': samples of varying length do not fit in a batch: give --pad LENGTH, "
             "or choose other fields"));
  const auto padded = run_doctor({file, "--pad", "5", "--json", "-"}).json();
  CHECK(padded["layout"]["sample_bytes"] == 5 * 4 + 4 + 1);
  CHECK(says(padded["recommended"]["code"], "feedline::zip({feedline::open("));
  CHECK(says(padded["recommended"]["code"], "{.length = 5, .longer ="));
}

TEST_CASE("doctor: pictures, code and JSON are written where they are wanted", "[programs][host]") {
  const temporary_directory folder;
  const std::string file = write_rows(folder).string();
  const auto text_of = [&](const char* name) {
    const auto bytes = bytes_of_file(folder.path() / name);
    return std::string{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  };
  const auto at = [&](const char* name) { return (folder.path() / name).string(); };
  CHECK(run_doctor({file, "--picture", at("loop.html"), "--code", at("main.cpp"), "--json",
                    at("all.json")})
            .code == 0);
  CHECK(says(text_of("loop.html"), "fl-reader-0"));
  CHECK(text_of("main.cpp").starts_with("#include <feedline/feedline.hpp>"));
  CHECK(nlohmann::json::parse(text_of("all.json"))["recommended"]["code"] == text_of("main.cpp"));
  CHECK(run_doctor({file, "--picture", at("loop.json")}).code == 0);
  CHECK(nlohmann::json::parse(text_of("loop.json")).contains("traceEvents"));
}

TEST_CASE("doctor: progress is shown in a line of the terminal, which is erased",
          "[programs][host]") {
  const temporary_directory folder;
  const std::string file = write_rows(folder).string();
  const auto drawn = run_doctor({file}, true);
  CHECK(says(drawn.err, "\r\x1b[Kmeasuring: opening"));
  CHECK(drawn.err.ends_with("\r\x1b[K"));
}

TEST_CASE("doctor: times are read with their unit", "[programs][host]") {
  CHECK(doctor::read_time("5ms") == 5ms);
  CHECK(doctor::read_time("5") == 5ms);
  CHECK(doctor::read_time("200us") == 200us);
  CHECK(doctor::read_time("0.5s") == 500ms);
  CHECK(doctor::read_time("50ns") == 50ns);
  for (const char* const wrong : {"", "ms", "-1ms", "0", "5 ms", "5min", "nan", "1e9s"})
    CHECK_FALSE(doctor::read_time(wrong));
}
