#include <feedline/loader/loader_options.hpp>

#include "programs/doctor/code.hpp"
#include "support/checks/catch.hpp"

#include <string>

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

doctor::findings on_gpu() {
  doctor::findings of;
  of.batch_size = 64;
  of.device = doctor::device_facts{.ordinal = 2, .name = "a GPU"};
  return of;
}

}  // namespace

TEST_CASE("doctor: any path and field becomes a literal of C++", "[programs][host]") {
  CHECK(doctor::quoted("a b") == "\"a b\"");
  CHECK(doctor::quoted("\"\\\n1") == "\"\\\"\\\\\\0121\"");
  CHECK(doctor::quoted("\xc3\xa9") == "\"\xc3\xa9\"");
}

TEST_CASE("doctor: code names the options that are not as they are by default",
          "[programs][host]") {
  CHECK(doctor::open_code("f", {}, false) == "feedline::open(\"f\")");
  CHECK(doctor::open_code("f", {.fields = {"a", "b"}, .tokens_per_sample = 8}, false) ==
        "feedline::open(\"f\", {.fields = {\"a\", \"b\"}, .tokens_per_sample = 8})");
  CHECK(doctor::open_code("f", {.image = {.height = 1, .width = 2, .shorter_side = 3}}, true) ==
        "feedline::open(\"f\", {.image = {.height = 1, .width = 2, .shorter_side = 3}})");
  CHECK(doctor::open_code("f", {.image = {.resized_crop = feedline::crop_ranges{}}}, false) ==
        "feedline::open(\"f\", {.image = {.height = 224, .width = 224, .resized_crop = "
        "feedline::crop_ranges{}}})");
  CHECK(doctor::open_code("f", {.image = {.follow_orientation = true}}, false) ==
        "feedline::open(\"f\", {.image = {.height = 224, .width = 224, .follow_orientation = "
        "true}})");
  const auto bicubic = feedline::interpolation::bicubic;
  CHECK(doctor::open_code("f", {.image = {.interpolation = bicubic}}, false) ==
        "feedline::open(\"f\", {.image = {.height = 224, .width = 224, .interpolation = "
        "feedline::interpolation::bicubic}})");
}

TEST_CASE("doctor: a program for a GPU names it, its stream and the placement",
          "[programs][host]") {
  const doctor::advice given{.readers = 4,
                             .placement = feedline::placement::cached,
                             .device_cache_bytes = 1000,
                             .window = 7,
                             .load_into_memory = false};
  const std::string text = doctor::program_of("feedline::open(\"f\")", on_gpu(), given);
  INFO(text);
  CHECK(text.starts_with("#include <feedline/cuda/device.hpp>\n"));
  CHECK(holds(text, "<cuda_runtime_api.h>\n"));
  CHECK(holds(text, "feedline::make_cuda_device(2)"));
  CHECK(holds(text, "loader.epoch(epoch, feedline::stream_ref{stream})"));
  CHECK(holds(text, ".within = feedline::chunks(7)"));
  CHECK(holds(text, ".readers = 4,\n"));
  CHECK(holds(text, ".placement = feedline::placement::cached,\n"));
  CHECK(holds(text, ".memory = {.cache = std::size_t{1000}}"));
}

TEST_CASE("doctor: samples that are to be loaded are, and readers that are automatic not named",
          "[programs][host]") {
  const doctor::advice given{.readers = feedline::automatic_readers,
                             .placement = feedline::placement::gather,
                             .load_into_memory = true};
  const std::string text = doctor::program_of("feedline::open(\"f\")", on_gpu(), given);
  CHECK(holds(text, "feedline::load_into_memory(\n      feedline::open(\"f\"));"));
  CHECK_FALSE(holds(text, ".readers"));
  CHECK(holds(text, "feedline::shuffle{.seed = 42},"));
  CHECK_FALSE(holds(text, "within"));
}

TEST_CASE("doctor: a program for a file with damage leaves out samples that cannot be read",
          "[programs][host]") {
  const std::string skips = ".errors = {.action = feedline::error_action::skip, .max_share = 1}";
  doctor::advice given{.skip_damaged = true};
  const auto text = [&] { return doctor::program_of("feedline::open(\"f\")", on_gpu(), given); };
  CHECK(holds(text(), ",\n       " + skips + "}};\n"));
  given.load_into_memory = true;  // then nothing is left that a loader could not read
  CHECK(holds(text(), "load_into_memory(\n      feedline::open(\"f\"),\n      {" + skips + "});"));
  CHECK(text().find(skips) == text().rfind(skips));
}

TEST_CASE("doctor: code of several inputs puts their fields side by side, under their names",
          "[programs][host]") {
  CHECK(doctor::renamed_code("a()", "x", "") == "a()");
  CHECK(doctor::renamed_code("a()", "x", "y") == "feedline::select(a(), {{\"x\", \"y\"}})");
  CHECK(doctor::zipped_code({"a()"}) == "a()");
  CHECK(doctor::zipped_code({"a()", "b()"}) == "feedline::zip({a(),\n                   b()})");
}
