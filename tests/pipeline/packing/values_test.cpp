/// Positions, documents and masks of packed rows that a device makes from their offsets.

#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/made_fields.hpp>
#include <feedline/dataset/map.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/select.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "loader/plan/resolved_plan.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/packed_rows.hpp"
#include "support/devices/packed_values_check.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

const device_capabilities makes{.name = "gpu", .makes_packed_values = true};
const device_capabilities copies{.name = "plain"};
using names = std::vector<std::string>;
const names all{"token_position", "token_document", "token_mask"};

loader_plan planned(const dataset_ptr& rows, const device_capabilities& device = makes,
                    const loader_options& options = {.batch_size = 8}) {
  return detail::resolve(*rows, sequential{}, device, options).report;
}

}  // namespace

TEST_CASE("packed values: the plan lets the device make them, and does not stage them",
          "[packing][host]") {
  const auto rows = packed_rows(1000, packed_mask::followed, 7000);
  const loader_plan made = planned(rows);
  CHECK(made.made_on_device == all);
  CHECK(made.made_note.empty());
  CHECK(made.assembled);
  const loader_plan read = planned(rows, copies);
  CHECK(read.made_on_device.empty());
  CHECK(read.made_note == "plain does not make fields from offsets");
  CHECK_FALSE(read.assembled);
  CHECK(made.batch_bytes == read.batch_bytes);
  // An element has 25 bytes, and the 9 bytes of the three fields are not staged.
  const auto staged = [](const loader_plan& of) {
    return static_cast<double>(of.slot_bytes) / static_cast<double>(of.piece_samples);
  };
  CHECK(staged(made) < 0.8 * staged(read));
  CHECK(
      contains(to_string(made), "made by the device: token_position, token_document, token_mask"));
  CHECK(contains(to_string(read), "not made by the device: plain does not"));
  CHECK(planned(rows, makes, {.batch_size = 8, .placement = placement::resident}).cache_bytes <
        planned(rows, copies, {.batch_size = 8, .placement = placement::resident}).cache_bytes);
}

TEST_CASE("packed values: readers make those that the device cannot, and the plan says why",
          "[packing][host]") {
  const auto rows = packed_rows(64);
  const auto note = [&](const device_capabilities& device,
                        const loader_options& options = {.batch_size = 8}) {
    const loader_plan plan = planned(rows, device, options);
    CHECK(plan.made_on_device.empty());
    return plan.made_note;
  };
  CHECK(note(make_host_device()->capabilities()) ==
        make_host_device()->capabilities().name + " reads staging memory, where readers write");
  CHECK(note({.name = "plain", .assembles = false, .makes_packed_values = true}) ==
        "plain cannot assemble slots");
  const loader_plan some =
      planned(rows, makes,
              {.batch_size = 8,
               .transforms = {{.field = "token_position", .to = element_type::i64}},
               .keep_on_host = {{.name = "token_mask"}}});
  CHECK(some.made_on_device == names{"token_document"});
  CHECK(some.made_note ==
        "'token_position': it has a transform; 'token_mask': the host keeps it (keep_on_host)");
  const auto plain =
      pack_together({std::make_shared<const numbered_elements>("token", mixed_lengths(100))},
                    {.capacity = {512}});
  CHECK(planned(plain).made_on_device.empty());
  CHECK(planned(plain).made_note.empty());
  CHECK_FALSE(planned(plain).assembled);
}

TEST_CASE("packed values: the plan says what a device cannot make of a dataset made of others",
          "[packing][host]") {
  const auto rows = packed_rows(64);
  const auto size = static_cast<std::size_t>(rows->size());
  const dataset_ptr numbers =
      make_memory_dataset({own("number", std::vector<std::int32_t>(size, 7))});

  const loader_plan renamed =
      planned(select(zip({numbers, rows}), {{"token_mask", "mask"}, {"token_offsets", "ends"}}));
  CHECK(renamed.made_on_device == names{"mask"});
  CHECK(renamed.made_note.empty());

  const loader_plan without_offsets =
      planned(select(rows, {{"token"}, {"token_mask", "mask"}, {"token_document"}}));
  CHECK(without_offsets.made_on_device.empty());
  CHECK(without_offsets.made_note ==
        "'token_document': select leaves out 'token_offsets', which devices make it from; "
        "'token_mask': select leaves out 'token_offsets', which devices make it from");
  CHECK(planned(select(rows, {{"token"}, {"label"}})).made_note.empty());

  const auto copy = [](sample_index, auto in, auto out) {
    for (std::size_t i = 0; i < out.size(); ++i) std::ranges::copy(in[i], out[i].begin());
  };
  const dataset_ptr mapped = map(rows, rows->fields(), copy);
  const loader_plan after_map = planned(subset(zip({numbers, mapped}), sample_index{1}, size - 2));
  CHECK(after_map.made_on_device.empty());
  CHECK(after_map.made_note ==
        "'token_position', 'token_document', 'token_mask': the function of a map is given them by "
        "readers");
  CHECK(planned(mapped, copies).made_note == "plain does not make fields from offsets");

  const loader_plan some = planned(concatenate({rows, mapped, rows}));
  CHECK(some.made_on_device.empty());
  CHECK(some.made_note == after_map.made_note + "; " + after_map.made_note.substr(0, 48) +
                              ": readers make them in some parts of the concatenation");
}

TEST_CASE("packed values: a dataset is not asked for those that select leaves out",
          "[packing][host]") {
  class counted final : public dataset, public has_made_fields {
   public:
    std::uint64_t size() const override { return 10; }
    std::vector<field> fields() const override {
      return {{"row", element_type::i32, {8}},
              {"offsets", element_type::i32, {3}},
              {"mask", element_type::u8, {8}}};
    }
    std::vector<made_field> made_fields() const override { return {{2, 1, packed_values::mask}}; }

   private:
    void do_read(const read_request& request) const override {
      CHECK(request.out[0].size() == 4 * 8 * request.samples.size());
      CHECK(request.out[1].size() == 4 * 3 * request.samples.size());
      CHECK(request.out[2].empty());
    }
  };
  const dataset_ptr some = select(std::make_shared<const counted>(), {{"row"}});
  std::vector<std::byte> row(4 * 8 * 2);
  const std::span<std::byte> out{row};
  some->read(std::vector{sample_index{1}, sample_index{5}}, {&out, 1});
}

TEST_CASE("packed values: a dataset whose fields differ from what it describes is refused",
          "[packing][host]") {
  class wrong final : public dataset, public has_made_fields {
   public:
    explicit wrong(made_field made) : made_{made} {}
    std::uint64_t size() const override { return 100; }
    std::vector<field> fields() const override {
      return {{"row", element_type::i32, {8}},
              {"offsets", element_type::i32, {3}},
              {"mask", element_type::u8, {8}}};
    }
    std::vector<made_field> made_fields() const override { return {made_}; }

   private:
    void do_read(const read_request&) const override {}
    made_field made_;
  };
  const auto refusal = [](const made_field& made) {
    return message_of<usage_error>([&] { (void)planned(std::make_shared<const wrong>(made)); });
  };
  const std::string who = "the dataset's made_fields(): ";
  CHECK(refusal({2, 7, packed_values::mask}) ==
        who + "field 2 from field 7, but there are 3 fields");
  CHECK(refusal({0, 2, packed_values::positions}) ==
        who + "'mask' has offsets, so it must be i32 with one extent of at least 2");
  CHECK(contains(refusal({2, 1, packed_values::positions}), "'mask' must have one extent, of i32"));
  CHECK(contains(refusal({0, 1, packed_values::followed}), "'row' must have one extent"));
  CHECK(planned(std::make_shared<const wrong>(made_field{2, 1, packed_values::mask}))
            .made_on_device == names{"mask"});
}

TEST_CASE("packed values: a device makes what readers make", "[packing][host]") {
  const scripted on;
  check_packed_values({on.device, on.stream, [&](const tensor_view& of) {
                         std::vector<std::byte> seen;
                         on.device->launch(
                             on.stream,
                             [&, bytes = of.bytes()] { seen.assign(bytes.begin(), bytes.end()); },
                             of.bytes());
                         on.device->drain(on.stream);
                         return seen;
                       }});
}

TEST_CASE("packed values: their bytes are not copied to the device", "[packing][host]") {
  const auto rows = packed_rows(1000, packed_mask::followed, 7000);
  const auto copied = [&](bool made) {
    const scripted on;
    if (!made) on.device->make_no_packed_values();
    loader from{rows, sequential{}, on.device, {.batch_size = 8, .readers = 1}};
    for (const batch& each : from.epoch(0, on.stream)) CHECK(each.size() <= 8);
    on.device->drain(on.stream);
    return static_cast<double>(on.device->copied_bytes());
  };
  const double elements = 1000 * static_cast<double>(rows->size());
  const double offsets = 8 * static_cast<double>((rows->max_samples() + 2) * rows->size());
  CHECK(copied(false) > 25 * elements);
  CHECK(copied(true) < 17 * elements + 1.1 * offsets);
}
