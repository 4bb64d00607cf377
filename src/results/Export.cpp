#include "results/Export.hpp"

#include <algorithm>
#include <deque>
#include <future>
#include <iterator>
#include <memory>
#include <numeric>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/process/Profile.hpp"
#include "base/text/Text.hpp"
#include "hdf5/Chunks.hpp"
#include "hdf5/File.hpp"
#include "results/Layout.hpp"
#include "results/Reader.hpp"
#include "results/Seal.hpp"
#include "results/Software.hpp"

namespace stereosweep::results {

namespace {

constexpr const char* numerical_contract =
    "A: with the same binary, libraries, device model and threads per rank, every raw number is the same bit for bit "
    "for any number of ranks and any interruption (compare: stereosweep show FILE --digest). "
    "B: with another batch budget or thread count, log-probabilities of a float32 model agree within 1e-4 nat; of a "
    "bfloat16 or float16 model no bound is promised. "
    "C: on other hardware or with other library versions the same tolerance holds, and no bit does.";

/// Of axes or cubes.
template <class Schema>
std::string names_of(const std::vector<Schema>& members) {
  return base::join(base::mapped(members, &Schema::name), " ");
}

constexpr std::uint64_t slab_bytes = std::uint64_t{4} << 20;

std::uint64_t bytes_of(const std::vector<std::string>& texts) {
  return std::accumulate(texts.begin(), texts.end(), texts.size() * sizeof(std::string),
                         [](std::uint64_t sum, const std::string& text) { return sum + text.size(); });
}

template <class T>
std::uint64_t bytes_of(const std::vector<T>& values) {
  return values.size() * sizeof(T);
}

/// Raw blocks in canonical order -> cubes of a file, gathered into slabs so that small blocks cost no call each. Other
/// threads compress and hash slabs while the calling one reads the next blocks and writes what is compressed, in order.
class SlabWriter {
 public:
  /// Creates the cubes in `layout`, which knows all axes.
  SlabWriter(const RawSchema& schema, Layout& layout, unsigned num_threads)
      : digest_(schema), num_threads_(std::max(1U, num_threads)) {
    std::vector<std::string> context_axes;
    num_prior_contexts_ = schema.num_priors;
    for (const auto& axis : schema.outer_axes) {
      num_prior_contexts_ *= context_axes.empty() ? 1 : axis.labels.size();
      context_axes.push_back(axis.name);
    }
    for (const auto& cube : schema.cubes) {
      auto axes = context_axes;
      axes.insert(axes.end(), cube.inner_axes.begin(), cube.inner_axes.end());
      std::optional<Array> prior;
      if (schema.num_priors > 0) {
        auto prior_cube = cube;
        prior_cube.name = prior_prefix + cube.name;
        prior_cube.long_name = cube.long_name + " (priors)";
        auto prior_axes = axes;
        prior_axes[0] = prior_name;
        prior.emplace(layout.add_cube(prior_cube, prior_axes));
      }
      cubes_.push_back({std::move(prior), Array(layout.add_cube(cube, axes)), empty_column(cube.type)});
    }
  }

  /// Contexts that follow those added before; they must not cross from priors to groups.
  void add(const sweep::Block& block, RawBlock&& raw) {
    STEREOSWEEP_ASSERT(raw.columns.size() == cubes_.size(), "a block has other cubes than its schema");
    const auto first = block.first_context;
    STEREOSWEEP_ASSERT(first == num_contexts_, "a block does not follow the one before it");
    STEREOSWEEP_ASSERT(first >= num_prior_contexts_ || first + block.num_contexts <= num_prior_contexts_,
                       "a block crosses from priors to groups");
    if (first == num_prior_contexts_ && first > 0) {
      flush();
      for (auto& cube : cubes_) {
        cube.num_written = 0;
      }
    }
    num_contexts_ += block.num_contexts;
    std::uint64_t held_bytes = 0;
    for (std::size_t index = 0; index < cubes_.size(); ++index) {
      append(cubes_[index].held, std::move(raw.columns[index]));
      held_bytes += std::visit([](const auto& values) { return bytes_of(values); }, cubes_[index].held);
    }
    if (held_bytes >= slab_bytes) {
      flush();
    }
  }

  /// Writes what is still held. The object must not be used afterwards.
  base::Digest finish() {
    flush();
    while (!slabs_.empty()) {
      write_oldest();
    }
    wait_for_digest();
    return digest_.finish();
  }

 private:
  struct Array {
    explicit Array(hdf5::DataSet created) : dataset(std::move(created)), compressor(dataset) {}
    hdf5::DataSet dataset;
    hdf5::ChunkCompressor compressor;
  };
  /// The arrays of one cube; priors' one only where there are priors.
  struct Cube {
    std::optional<Array> prior;
    Array group;
    RawColumn held;
    std::uint64_t num_written = 0;  ///< values of the array that is being written, before those held
  };
  /// What a slab has of an array.
  struct Part {
    Array* array = nullptr;
    std::uint64_t first = 0;
    hdf5::ConstElements values;
    hdf5::CompressedPart compressed;
  };
  struct Slab {
    std::shared_ptr<const RawBlock> values;
    std::vector<Part> parts;
    std::future<void> work;  ///< goes first: it waits for whoever fills `parts`
  };

  /// Up to the last whole chunk of each array: what would cut one is held, so that no chunk is compressed twice.
  void flush() {
    RawBlock whole;
    for (auto& cube : cubes_) {
      const auto end = cube.num_written + std::visit([](const auto& held) { return held.size(); }, cube.held);
      whole.columns.push_back(take_first(cube.held, array_of(cube).compressor.last_border(end) - cube.num_written));
    }
    auto slab = std::make_unique<Slab>();
    slab->values = std::make_shared<const RawBlock>(std::move(whole));
    for (std::size_t index = 0; index < cubes_.size(); ++index) {
      auto& cube = cubes_[index];
      const auto add = [&](const auto& values) {
        slab->parts.push_back({&array_of(cube), cube.num_written, std::span(values), {}});
        cube.num_written += values.size();
      };
      std::visit(add, slab->values->columns[index]);
    }
    slab->work = beside("compression", [&slab = *slab] {
      for (auto& part : slab.parts) {
        part.compressed = part.array->compressor.compress(part.first, part.values);
      }
    });
    wait_for_digest();
    hashing_ = beside("digests", [this, values = slab->values] { digest_.add(*values); });
    slabs_.push_back(std::move(slab));
    while (slabs_.size() >= num_threads_) {
      write_oldest();
    }
  }

  /// Of the contexts that are held.
  Array& array_of(Cube& cube) const {
    return cube.prior && num_contexts_ <= num_prior_contexts_ ? *cube.prior : cube.group;
  }

  /// In a thread of its own; where there is one thread, or none more can be started, as soon as it is waited for.
  std::future<void> beside(const char* name, auto step) const {
    const bool is_alone = num_threads_ == 1;
    const auto where = is_alone ? std::launch::deferred : std::launch::async | std::launch::deferred;
    const auto work = [is_alone, name, step = std::move(step)] {
      if (!is_alone) {
        base::profile::count_apart();
      }
      base::profile::timed(name, step);
    };
    return std::async(where, work);  // a temporary would have been moved from where no thread can be started
  }

  void write_oldest() {
    auto& slab = *slabs_.front();
    base::profile::timed("waiting for compression", [&] { slab.work.get(); });
    const base::profile::Span span("writing HDF5");
    for (const auto& part : slab.parts) {
      part.array->dataset.write(part.first, part.values, part.compressed);
    }
    slabs_.pop_front();
  }

  void wait_for_digest() {
    if (hashing_.valid()) {
      hashing_.get();
    }
  }

  std::vector<Cube> cubes_;
  std::uint64_t num_prior_contexts_ = 0;
  std::uint64_t num_contexts_ = 0;  ///< that were added
  RawDigest digest_;
  unsigned num_threads_ = 1;
  std::deque<std::unique_ptr<Slab>> slabs_;  ///< in work, the oldest first
  std::future<void> hashing_;                ///< of the last slab
};

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
    root.write_attribute(name, value);
  }
  root.write_attribute("numerical_contract", numerical_contract);
  root.write_attribute("raw_cubes", names_of(schema.cubes));
  root.write_attribute("outer_axes", names_of(schema.outer_axes));
}

ExportCounts write_cubes(Layout& layout, const RunDescription& run, const RawSchema& schema) {
  SlabWriter writer(schema, layout, run.num_threads);
  const auto& plan = *run.blocks;
  ExportCounts counts{.num_blocks = plan.num_blocks()};
  std::optional<RawBlock> gathered;  // of a dealt plan: all contexts of a stretch
  for (std::uint64_t index = 0; index < counts.num_blocks; ++index) {
    const auto block = plan.block(index);
    auto raw = base::profile::timed("reading the journal", [&] { return run.source(block); });
    counts.num_blocks_scored += raw.has_value() ? 1 : 0;
    if (!plan.is_dealt()) {
      writer.add(block, raw.has_value() ? std::move(*raw) : unscored_block(schema, block.num_contexts));
      continue;
    }
    const auto first = index / plan.blocks_per_stretch() * plan.contexts_per_stretch();
    const auto length = std::min(plan.contexts_per_stretch(), plan.product().num_contexts() - first);
    if (index % plan.blocks_per_stretch() == 0) {
      gathered = unscored_block(schema, length);
    }
    if (raw) {
      std::vector<std::uint64_t> places(block.num_contexts);
      for (std::uint64_t place = 0; place < places.size(); ++place) {
        places[place] = plan.context(block, place) - first;
      }
      gathered->put(*raw, places, length);
    }
    if ((index + 1) % plan.blocks_per_stretch() == 0) {
      writer.add({.first_context = first, .num_contexts = length}, std::move(*gathered));
    }
  }
  counts.digest = writer.finish();
  return counts;
}

ExportCounts write_file(const RunDescription& run, const std::filesystem::path& path) {
  const auto schema = with_not_scored(*run.schema);
  auto file = hdf5::File::create(path);
  write_attributes(file.root(), run, schema);
  ExportCounts counts;
  {
    Layout layout(file.root());
    for (const auto& axis : file_axes(schema)) {
      layout.add_axis(axis);
    }
    counts = write_cubes(layout, run, schema);
  }
  for (auto group = file.root().create_group("provenance"); const auto& [name, text] : run.documents) {
    group.create_text(name, text);
  }
  file.root().write_attribute("num_blocks", static_cast<std::int64_t>(counts.num_blocks));
  file.root().write_attribute("num_blocks_scored", static_cast<std::int64_t>(counts.num_blocks_scored));
  file.root().write_attribute(raw_digest_name, base::to_hex(counts.digest));
  const auto wanted = run.num_blocks_wanted.value_or(counts.num_blocks);
  file.root().write_attribute("complete", std::int64_t{counts.num_blocks_scored >= wanted ? 1 : 0});
  file.finish();
  return counts;
}

}  // namespace

RawSchema with_not_scored(RawSchema schema) {
  for (auto& cube : schema.cubes) {
    auto& flags = cube.flag_meanings;
    if (!flags.empty() && !base::contains(flags, not_scored)) {
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
    const auto fill = fill_of(cube);
    auto& column = block.columns.emplace_back(empty_column(cube.type));
    std::visit(
        [&]<class T>(std::vector<T>& values) {
          if constexpr (std::is_arithmetic_v<T>) {
            values.assign(count, static_cast<T>(*fill));
          } else {
            values.resize(count);
          }
        },
        column);
  }
  return block;
}

ExportCounts export_run(const RunDescription& run, const std::filesystem::path& file) {
  base::PendingFile pending(file, run.readers);
  const auto counts = write_file(run, pending.path());
  append_seal(pending);
  if (run.before_rename) {
    run.before_rename(counts);
  }
  pending.commit();
  return counts;
}

}  // namespace stereosweep::results
