// Fields that the host keeps (`loader_options::keep_on_host`): what is copied to the device, what
// the host reads, and until when.

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/interop/dlpack.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "interop/dlpack_abi.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/bad_samples.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::size_t row_bytes = 40;

/// "id" stays on the host, "note" is on both sides, "row" is on the device alone.
loader_options with_host_fields(loader_options options = {}) {
  options.keep_on_host = {{.name = "id"}, {.name = "note", .on_device_too = true}};
  return options;
}

/// Compares a batch with its samples: the host's rows at once, the device's when they are there.
void check(const batch& held, const scripted& by) {
  const auto samples = held.samples();
  const tensor_view id = held["id"];
  CHECK(id.is_on_host());
  CHECK(held.on_host("id").bytes().data() == id.bytes().data());
  REQUIRE(id.values<std::uint64_t>().size() == samples.size());
  const tensor_view note = held.on_host("note");
  CHECK(note.is_on_host());
  CHECK(!held["note"].is_on_host());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    REQUIRE(id.values<std::uint64_t>()[i] == samples[i].value);
    REQUIRE(note.values<std::uint8_t>()[i] == static_cast<std::uint8_t>(samples[i].value));
  }
  if (by.device) by.device->drain(by.stream);
  const auto row = held["row"].bytes();
  const auto on_device = held["note"].bytes();
  REQUIRE(row.size() == samples.size() * row_bytes);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    REQUIRE(is_identity(samples[i].value, id.bytes().subspan(i * 8, 8),
                        row.subspan(i * row_bytes, row_bytes)));
    REQUIRE(on_device[i] == static_cast<std::byte>(samples[i].value));
  }
}

/// The message about options, for a device with copies.
std::string refusal(const loader_options& options) {
  return message_of<usage_error>([&] {
    const scripted by;
    loader{make_identity_rows(64, row_bytes), sequential{}, by.device, options};
  });
}

}  // namespace

TEST_CASE("host fields: they are read on the host, and the others on the device, in any setting",
          "[loader][host]") {
  const int readers = GENERATE(0, 3);
  const auto data = GENERATE(make_identity_rows(331, row_bytes),
                             gated(make_identity_rows(331, row_bytes), [](auto) {}));
  const std::uint64_t batches = GENERATE(0U, 1U, 3U);
  const std::size_t piece = GENERATE(0U, 200U);
  if (batches == 3 && piece != 0) return;
  const bool copies = GENERATE(true, false);
  const scripted by;
  loader_options options = with_host_fields({.batch_size = 16, .epochs = 2, .readers = readers});
  options.expert.batches_per_slot = batches;
  options.expert.piece_bytes = piece;
  const scripted nothing{nullptr, {}};
  loader loader{data, shuffle{.seed = 2}, copies ? device_ptr{by.device} : make_host_device(),
                options};
  std::uint64_t samples = 0;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch)
    for (const batch& batch : loader.epoch(epoch, copies ? by.stream : stream_ref{})) {
      check(batch, copies ? by : nothing);
      samples += batch.size();
    }
  CHECK(samples == 2 * 331);
  CHECK((loader.plan().host_bytes != 0) == copies);
}

TEST_CASE("host fields: the bytes of those that stay are not copied to the device",
          "[loader][host]") {
  const auto copied = [](std::vector<host_field> kept) {
    const scripted by;
    loader_options options{.batch_size = 32, .readers = 0, .keep_on_host = std::move(kept)};
    options.expert.batches_per_slot = 1;
    loader loader{make_identity_rows(96, row_bytes), sequential{}, by.device, options};
    for (const batch& batch : loader.epoch(0, by.stream)) CHECK(batch.size() == 32);
    by.device->drain(by.stream);
    CHECK(loader.statistics().transfer.bytes == by.device->copied_bytes());
    return by.device->copied_bytes();
  };
  // Each field of a batch begins at a multiple of 256 bytes: ids take 256, rows 1280, notes 32.
  CHECK(copied({}) == 3 * (256 + 1280 + 32));
  CHECK(copied({{"id"}}) == 3 * (1280 + 32));
  CHECK(copied({{"note"}}) == 3 * (256 + 1280));
  CHECK(copied({{"id"}, {"note"}}) == 3 * 1280);
  CHECK(copied({{"row"}}) == 3 * (256 + 32));
  CHECK(copied({{"id", true}, {"note", true}}) == 3 * (256 + 1280 + 32));
}

TEST_CASE("host fields: the host reads them while the copy to the device is still held back",
          "[loader][host]") {
  const scripted by;
  by.device->hold_copies();
  loader_options options = with_host_fields({.batch_size = 8, .readers = 1});
  options.expert.batches_per_slot = 1;
  loader loader{make_identity_rows(64, row_bytes), sequential{}, by.device, options};
  auto range = loader.epoch(0, by.stream);
  const auto first = range.next();
  REQUIRE(first);
  for (std::uint64_t i = 0; i < 8; ++i) CHECK(first->on_host("id").values<std::uint64_t>()[i] == i);
  by.device->allow_all_copies();
}

TEST_CASE("host fields: a view stays as it is while its batch is held, and others are filled",
          "[loader][host]") {
  const scripted by;
  loader_options options = with_host_fields({.batch_size = 4, .readers = 2});
  options.expert.on_held = on_held::allocate;
  options.expert.max_held_bytes = 1 << 20;
  options.expert.device_slots = 2;
  options.expert.batches_per_slot = 1;
  loader loader{make_identity_rows(160, row_bytes), shuffle{.seed = 9}, by.device, options};
  std::vector<batch> held;
  for (batch& batch : loader.epoch(0, by.stream)) held.push_back(std::move(batch));
  REQUIRE(held.size() == 40);
  for (const batch& each : held) check(each, by);
}

TEST_CASE("host fields: a replacement sample has its own rows on the host", "[loader][host]") {
  const scripted by;
  loader_options options = with_host_fields({.batch_size = 16, .readers = 2});
  options.errors.action = error_action::substitute;
  options.errors.substitute = 7;
  loader loader{make_bad_rows(100, {3, 50}, row_bytes), shuffle{.seed = 4}, by.device, options};
  std::uint64_t sevens = 0;
  for (const batch& batch : loader.epoch(0, by.stream)) {
    check(batch, by);
    for (const auto id : batch["id"].values<std::uint64_t>()) sevens += id == 7;
  }
  CHECK(sevens == 3);
}

TEST_CASE("host fields: they are read on the host while the device transforms others",
          "[loader][host]") {
  const int readers = GENERATE(0, 3);
  const std::size_t piece = GENERATE(0U, 200U);
  const std::uint64_t batches = GENERATE(0U, 3U);
  if (batches == 3 && piece != 0) return;
  const scripted by;
  loader_options options{.batch_size = 16, .epochs = 2, .readers = readers};
  options.keep_on_host = {{.name = "id"}, {.name = "row", .on_device_too = true}};
  options.transforms.push_back({.field = "note", .to = element_type::f32, .scale = 0.5});
  options.expert.batches_per_slot = batches;
  options.expert.piece_bytes = piece;
  options.errors.action = error_action::substitute;
  options.errors.substitute = 7;
  loader loader{make_bad_rows(331, {3, 50}, row_bytes), shuffle{.seed = 2}, by.device, options};
  CHECK(loader.plan().assembled);
  CHECK(loader.plan().host_bytes != 0);
  std::uint64_t samples = 0;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch)
    for (const batch& batch : loader.epoch(epoch, by.stream)) {
      const auto expected = batch.samples();
      const tensor_view id = batch["id"];
      CHECK(id.is_on_host());
      const auto row = batch.on_host("row").bytes();
      by.device->drain(by.stream);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        REQUIRE(id.values<std::uint64_t>()[i] == expected[i].value);
        REQUIRE(is_identity(expected[i].value, id.bytes().subspan(i * 8, 8),
                            row.subspan(i * row_bytes, row_bytes)));
        const auto note = static_cast<std::uint8_t>(expected[i].value);
        REQUIRE(batch["note"].values<float>()[i] == 0.5F * static_cast<float>(note));
      }
      CHECK(std::ranges::equal(batch["row"].bytes(), row));
      samples += expected.size();
    }
  CHECK(samples == 2 * 331);
}

TEST_CASE("host fields: a state continues with other fields on the host", "[loader][host]") {
  const scripted by;
  loader first{make_identity_rows(64, row_bytes), shuffle{.seed = 1}, by.device,
               with_host_fields({.batch_size = 8, .readers = 0})};
  auto range = first.epoch(0, by.stream);
  (void)range.next();
  const auto expected = range.next().value().samples();
  loader second{make_identity_rows(64, row_bytes),
                shuffle{.seed = 1},
                by.device,
                {.batch_size = 8, .readers = 0}};
  loader_state state = first.state();
  state.batch = 1;
  second.seek(state);
  CHECK(second.epoch(0, by.stream).next().value().samples() == expected);
}

TEST_CASE("host fields: DLPack names the host for those that stay", "[loader][host]") {
  const scripted by;
  loader loader{make_identity_rows(64, row_bytes), sequential{}, by.device,
                with_host_fields({.batch_size = 8, .readers = 0})};
  auto range = loader.epoch(0, by.stream);
  const auto held = std::make_shared<const batch>(std::move(range.next().value()));
  const auto where = [&](const char* name) {
    const auto tensor = to_dlpack(held, name);
    return reinterpret_cast<detail::dlpack::versioned_tensor*>(tensor.get())->tensor.device;
  };
  CHECK(where("id").type == detail::dlpack::cpu);
  CHECK(where("note").type == detail::dlpack::cuda);
}

TEST_CASE("host fields: fields that cannot stay are refused, with the reason", "[loader][host]") {
  const std::string name = "loader_options::keep_on_host";
  const auto with = [](std::vector<host_field> kept) {
    return loader_options{.batch_size = 8, .readers = 0, .keep_on_host = std::move(kept)};
  };
  CHECK(refusal(with({{"label"}})) ==
        name + " names 'label', but the dataset's fields are id, row, note");
  CHECK(refusal(with({{"id"}, {"id"}})) == name + " names 'id' twice: name it once");
  CHECK(refusal(with({{"id"}, {"row"}, {"note"}}))
            .find(name + " names every field, so nothing would be on the device") == 0);
  for (const placement where : {placement::gather, placement::resident, placement::cached}) {
    loader_options options = with({{"id"}});
    options.placement = where;
    options.memory.cache = 1 << 20;
    CHECK(refusal(options).find("where rows are not read again for each batch, but " + name) !=
          std::string::npos);
  }
  loader_options options = with({{"note"}});
  options.transforms.push_back({.field = "note"});
  CHECK(refusal(options).find(name + ": field 'note' has a transform") == 0);
  options = with({{"id"}});
  options.decode_on = decode_on::device;
  const scripted by;
  loader loader{make_identity_rows(64, row_bytes), sequential{}, by.device, options};
  CHECK(loader.plan().decode_on == decode_on::cpu);
  auto range = loader.epoch(0, by.stream);
  const auto held = range.next();
  CHECK(message_of<usage_error>([&] { (void)held->on_host("row"); }) ==
        "field 'row' is not kept on the host: name it in loader_options::keep_on_host, which names "
        "id");
}
