#include "results/Export.hpp"

#include <algorithm>
#include <limits>

#include "base/Check.hpp"
#include "base/Error.hpp"
#include "base/Text.hpp"
#include "hdf5/File.hpp"
#include "results/Layout.hpp"
#include "results/Seal.hpp"
#include "results/SlabWriter.hpp"
#include "results/Software.hpp"

namespace stereosweep::results {

namespace {

constexpr const char* numerical_contract =
    "A: with the same binary, libraries, device model and threads per rank, every raw number is the same bit for bit "
    "for any number of ranks and any interruption (compare: stereosweep show FILE --digest). "
    "B: with another batch budget or thread count, log-probabilities of a float32 model agree within 1e-4 nat; of a "
    "bfloat16 or float16 model no bound is promised. "
    "C: on other hardware or with other library versions the same tolerance holds, and no bit does.";

std::string names_of(const std::vector<CubeSchema>& cubes) {
  std::vector<std::string> names;
  for (const auto& cube : cubes) {
    names.push_back(cube.name);
  }
  return base::join(names, " ");
}

std::string names_of(const std::vector<AxisSchema>& axes) {
  std::vector<std::string> names;
  for (const auto& axis : axes) {
    names.push_back(axis.name);
  }
  return base::join(names, " ");
}

void write_attributes(hdf5::Group& root, const RunDescription& run, const RawSchema& schema) {
  root.write_attribute("Conventions", "CF-1.8");
  root.write_attribute("schema", "stereosweep/" + run.probe);
  root.write_attribute("schema_version", "1.0");
  root.write_attribute("title", run.title);
  root.write_attribute("software", "stereosweep");
  root.write_attribute("software_version", software_version());
  root.write_attribute("build", build_description());
  root.write_attribute("hdf5_version", hdf5::library_version());
  for (const auto& [name, value] : run.attributes) {
    std::visit([&, &name = name](const auto& held) { root.write_attribute(name, held); }, value);
  }
  root.write_attribute("numerical_contract", numerical_contract);
  root.write_attribute("raw_cubes", names_of(schema.cubes));
  root.write_attribute("outer_axes", names_of(schema.outer_axes));
}

void write_documents(hdf5::Group& root, const RunDescription& run) {
  auto group = root.create_group("provenance");
  for (const auto& [name, text] : run.documents) {
    group.create_text(name, text);
  }
}

void add_axes(Layout& layout, const RawSchema& schema) {
  if (schema.num_priors > 0) {
    layout.add_axis(prior_axis(schema));
  }
  layout.add_axis(group_axis(schema));
  for (std::size_t index = 1; index < schema.outer_axes.size(); ++index) {
    layout.add_axis(schema.outer_axes[index]);
  }
  for (const auto& axis : schema.inner_axes) {
    layout.add_axis(axis);
  }
}

ExportCounts write_cubes(Layout& layout, const RunDescription& run, const RawSchema& schema) {
  SlabWriter writer(schema, layout);
  ExportCounts counts{run.blocks->num_blocks(), 0};
  for (std::uint64_t index = 0; index < counts.num_blocks; ++index) {
    const auto block = run.blocks->block(index);
    auto raw = run.source(block);
    counts.num_blocks_scored += raw.has_value() ? 1 : 0;
    writer.add(block.first_context, block.num_contexts,
               raw.has_value() ? std::move(*raw) : unscored_block(schema, block.num_contexts));
  }
  writer.flush();
  return counts;
}

ExportCounts write_file(const RunDescription& run, const std::filesystem::path& path) {
  const auto schema = with_not_scored(*run.schema);
  auto file = hdf5::File::create(path);
  write_attributes(file.root(), run, schema);
  ExportCounts counts;
  {
    Layout layout(file.root());
    add_axes(layout, schema);
    counts = write_cubes(layout, run, schema);
  }
  write_documents(file.root(), run);
  file.root().write_attribute("num_blocks", static_cast<std::int64_t>(counts.num_blocks));
  file.root().write_attribute("num_blocks_scored", static_cast<std::int64_t>(counts.num_blocks_scored));
  file.root().write_attribute("complete", std::int64_t{counts.num_blocks == counts.num_blocks_scored ? 1 : 0});
  file.finish();
  return counts;
}

}  // namespace

RawSchema with_not_scored(RawSchema schema) {
  for (auto& cube : schema.cubes) {
    auto& flags = cube.flag_meanings;
    if (!flags.empty() && std::find(flags.begin(), flags.end(), not_scored) == flags.end()) {
      STEREOSWEEP_ASSERT(flags.size() < 256, "a status has more meanings than a byte");
      flags.emplace_back(not_scored);
    }
  }
  return schema;
}

RawBlock unscored_block(const RawSchema& schema, std::uint64_t num_contexts) {
  RawBlock block;
  for (const auto& cube : schema.cubes) {
    const auto count = num_contexts * schema.values_per_context(cube);
    switch (cube.type) {
      case ElementType::float64:
        block.columns.emplace_back(std::vector<double>(count, std::numeric_limits<double>::quiet_NaN()));
        break;
      case ElementType::int32:
        block.columns.emplace_back(std::vector<std::int32_t>(count, -1));
        break;
      case ElementType::uint8: {
        const auto& flags = cube.flag_meanings;
        const auto flag = std::find(flags.begin(), flags.end(), not_scored);
        const auto value = flag == flags.end() ? 0 : flag - flags.begin();
        block.columns.emplace_back(std::vector<std::uint8_t>(count, static_cast<std::uint8_t>(value)));
        break;
      }
      case ElementType::float32:
        block.columns.emplace_back(std::vector<float>(count, std::numeric_limits<float>::quiet_NaN()));
        break;
      case ElementType::text:
        block.columns.emplace_back(std::vector<std::string>(count));
        break;
    }
  }
  return block;
}

ExportCounts export_run(const RunDescription& run, const std::filesystem::path& file) {
  base::PendingFile pending(file, run.readers);
  const auto counts = write_file(run, pending.path());
  append_seal(pending.path());
  if (run.before_rename) {
    run.before_rename(counts);
  }
  pending.commit();
  return counts;
}

}  // namespace stereosweep::results
