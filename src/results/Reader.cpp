#include "results/Reader.hpp"

#include <algorithm>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Log.hpp"
#include "base/process/Trial.hpp"
#include "base/text/Text.hpp"
#include "results/Layout.hpp"
#include "results/Seal.hpp"

namespace stereosweep::results {

namespace {

std::vector<std::string> words(const std::string& text) {
  return text.empty() ? std::vector<std::string>{} : base::split(text, ' ');
}

hdf5::Shape shape_of(const std::vector<AxisSchema>& axes) {
  return base::mapped(axes, [](const auto& axis) -> std::uint64_t { return axis.labels.size(); });
}

constexpr std::uint64_t prompt_bytes = 128;  ///< with its std::string

constexpr const char* remedy = "write it anew with 'stereosweep export'";

/// Appends contexts [first, first + count) of an array.
void read_contexts(const hdf5::DataSet& dataset, std::size_t num_outer, std::uint64_t first, std::uint64_t count,
                   RawColumn& column) {
  const auto shape = dataset.shape();
  const auto inner = hdf5::product(std::span(shape).subspan(num_outer));
  std::visit(
      [&](auto& values) {
        const auto before = values.size();
        values.resize(before + count * inner);
        dataset.read(first * inner, std::span(values).subspan(before));
      },
      column);
}

constexpr std::uint64_t part_bytes = std::uint64_t{8} << 20;  ///< that are read at a time

/// HDF5 hangs or crashes on some damaged files: a child process reads first. Numbers under a seal are as this program
/// wrote them and are not read twice.
Seal require_readable(const std::filesystem::path& path) {
  const auto seal = check_seal(path);
  const bool is_sealed = seal == Seal::intact;
  const auto depth = is_sealed ? ResultFile::Depth::texts : ResultFile::Depth::everything;
  const auto failure =
      base::try_in_child([&](const base::TrialStep& step) { ResultFile::read_through(path, depth, step); });
  if (!failure.empty()) {
    refuse_file(path, failure, remedy);
  }
  if (!is_sealed) {
    base::log_once(
        base::LogLevel::warning,
        base::describe("'" + path.string() + "' has no seal",
                       "it was changed by another program or written by an old version: changed numbers cannot "
                       "be told from its own",
                       remedy));
  }
  return seal;
}

}  // namespace

void refuse_file(const std::filesystem::path& path, const std::string& why, const char* help) {
  const auto name = "'" + path.string() + "'";
  throw base::InputError(why.find(name) != std::string::npos ? why : base::describe("cannot read " + name, why, help));
}

OpenFile::OpenFile(const std::filesystem::path& path, const char* help)
    : path_(path),
      remedy_(help),
      file_bytes_(std::filesystem::file_size(path)),
      file_(naming([&] { return hdf5::File::open(path); })) {}

std::optional<std::string> OpenFile::text(const std::string& attribute) const {
  return naming([&] { return file_.root().text_attribute(attribute); });
}

std::optional<std::int64_t> OpenFile::number(const std::string& attribute) const {
  return naming([&] { return file_.root().number_attribute(attribute); });
}

AxisSchema OpenFile::axis(const std::string& name) const {
  return naming([&] { return read_axis(file_.root(), name, file_bytes_); });
}

ResultFile::ResultFile(const std::filesystem::path& path) : ResultFile(path, require_readable(path)) {}

ResultFile::ResultFile(const std::filesystem::path& path, Seal seal)
    : OpenFile(path, remedy), has_seal_(seal == Seal::intact) {
  naming([&] { read_schema(); });
}

void ResultFile::read_through(const std::filesystem::path& path, Depth depth, const std::function<void()>& step) {
  const ResultFile file(path, Seal::none);
  const auto bytes = file.file_.trailing_bytes();
  base::fail_if(depth == Depth::everything && bytes > 0, std::to_string(bytes) + " bytes follow its end");
  const auto& root = file.file_.root();
  for (const auto& name : root.attribute_names()) {
    try {
      root.text_attribute(name);
    } catch (const base::Error&) {
      // another type, perhaps somebody's own
    }
    step();
  }
  file.document("job_yaml");
  file.document("job_resolved");
  const auto part = file.contexts_within(part_bytes);
  for (std::uint64_t first = 0; first < file.num_contexts_; first += part) {
    step();
    file.naming([&] { file.read_cubes(first, std::min(part, file.num_contexts_ - first), depth); });
  }
}

bool ResultFile::complete() const { return number("complete").value_or(0) == 1; }

bool ResultFile::has_stopped() const { return complete() && number("num_blocks_scored") < number("num_blocks"); }

std::optional<std::string> ResultFile::document(const std::string& name) const {
  return naming([&]() -> std::optional<std::string> {
    if (!file_.root().contains("provenance")) {
      return std::nullopt;
    }
    const auto group = file_.root().open_group("provenance");
    if (!group.contains(name)) {
      return std::nullopt;
    }
    const auto texts = read_texts(open_checked(group, name, file_bytes_));
    return texts.empty() ? std::nullopt : std::optional(texts.front());
  });
}

void ResultFile::read_schema() {
  const auto kind = text("schema").value_or("");
  base::fail_if(!kind.starts_with("stereosweep/") || !text("raw_cubes") || !text("outer_axes"),
                "it is no file of raw numbers of stereosweep");
  const auto version = text("schema_version").value_or("");
  base::fail_if(!version.starts_with("1."), "its schema version is '" + version + "', this program reads 1.x");
  read_outer_axes(*text("outer_axes"));
  for (const auto& name : words(*text("raw_cubes"))) {
    read_cube(name);
  }
  num_contexts_ = hdf5::product(shape_of(schema_.outer_axes));
}

void ResultFile::read_outer_axes(const std::string& names) {
  schema_.outer_axes = base::mapped(words(names), [&](const auto& name) { return axis(name); });
  base::fail_if(schema_.outer_axes.empty(), "it names no outer axes");
  if (!file_.root().contains(prior_name)) {
    return;
  }
  const auto priors = axis(prior_name);
  auto& subjects = schema_.outer_axes.front();
  schema_.num_priors = priors.labels.size();
  subjects.labels.insert(subjects.labels.begin(), priors.labels.begin(), priors.labels.end());
  for (auto& coordinate : subjects.coordinates) {
    const auto same = std::ranges::find(priors.coordinates, coordinate.name, &AxisSchema::Coordinate::name);
    base::fail_if(same == priors.coordinates.end(), "priors and groups have different coordinates");
    coordinate.values.insert(coordinate.values.begin(), same->values.begin(), same->values.end());
  }
}

void ResultFile::read_cube(const std::string& name) {
  const auto& root = file_.root();
  auto group = open_checked(root, name, file_bytes_);
  const auto shape = group.shape();
  const auto num_outer = schema_.outer_axes.size();
  base::fail_if(shape.size() < num_outer, "the cube '" + name + "' has too few axes");
  CubeSchema cube;
  cube.name = name;
  cube.type = group.type();
  cube.units = group.text_attribute("units").value_or("");
  cube.long_name = group.text_attribute("long_name").value_or("");
  cube.description = group.text_attribute("description").value_or("");
  cube.flag_meanings = words(group.text_attribute("flag_meanings").value_or(""));
  auto expected = shape_of(schema_.outer_axes);
  for (auto place = num_outer; place < shape.size(); ++place) {
    cube.inner_axes.push_back(group.scale_name(static_cast<unsigned>(place)));
    if (std::ranges::find(schema_.inner_axes, cube.inner_axes.back(), &AxisSchema::name) == schema_.inner_axes.end()) {
      schema_.inner_axes.push_back(axis(cube.inner_axes.back()));
    }
    expected.push_back(schema_.inner_axis(cube.inner_axes.back()).labels.size());
  }
  const auto fits = [&](const hdf5::DataSet& dataset, std::uint64_t outermost) {
    expected.front() = outermost;
    return dataset.shape() == expected && dataset.type() == cube.type;
  };
  std::optional<hdf5::DataSet> prior;
  if (schema_.num_priors > 0) {
    prior = open_checked(root, prior_prefix + name, file_bytes_);
  }
  const auto subjects = schema_.outer_axes.front().labels.size();
  base::fail_if(!fits(group, subjects - schema_.num_priors) || (prior && !fits(*prior, schema_.num_priors)),
                "the cube '" + name + "' does not fit its axes");
  schema_.cubes.push_back(std::move(cube));
  cubes_.push_back({std::move(prior), std::move(group)});
}

RawBlock ResultFile::read(std::uint64_t first, std::uint64_t count) const {
  return naming([&] { return read_cubes(first, count, Depth::everything); });
}

RawBlock ResultFile::read_cubes(std::uint64_t first, std::uint64_t count, Depth depth) const {
  STEREOSWEEP_ASSERT(first + count <= num_contexts_, "contexts outside of the file");
  const auto num_prior_contexts = schema_.num_priors * contexts_per_subject();
  const auto num_outer = schema_.outer_axes.size();
  const auto from_prior = first < num_prior_contexts ? std::min(count, num_prior_contexts - first) : 0;
  RawBlock block;
  for (std::size_t index = 0; index < cubes_.size(); ++index) {
    auto& column = block.columns.emplace_back(empty_column(schema_.cubes[index].type));
    if (depth == Depth::texts && schema_.cubes[index].type != ElementType::text) {
      continue;
    }
    if (from_prior > 0) {
      read_contexts(*cubes_[index].prior, num_outer, first, from_prior, column);
    }
    if (count > from_prior) {
      read_contexts(cubes_[index].group, num_outer, first + from_prior - num_prior_contexts, count - from_prior,
                    column);
    }
    check_values(schema_.cubes[index], column);
  }
  return block;
}

std::uint64_t ResultFile::contexts_within(std::uint64_t bytes) const {
  std::uint64_t per_context = 1;
  for (const auto& cube : schema_.cubes) {
    const auto size = cube.type == ElementType::text ? prompt_bytes : hdf5::element_size(cube.type);
    per_context += schema_.values_per_context(cube) * size;
  }
  return std::max<std::uint64_t>(1, bytes / per_context);
}

void ResultFile::for_each_context(const std::function<void(std::uint64_t, const RawBlock&, std::uint64_t)>& use) const {
  const auto step = contexts_within(std::uint64_t{64} << 20);
  for (std::uint64_t first = 0; first < num_contexts_; first += step) {
    const auto count = std::min(step, num_contexts_ - first);
    const auto block = read(first, count);
    for (std::uint64_t place = 0; place < count; ++place) {
      use(first + place, block, place);
    }
  }
}

base::Digest digest_of_file(const ResultFile& file) {
  RawDigest digest(file.schema());
  const auto step = file.contexts_within(part_bytes);
  for (std::uint64_t first = 0; first < file.num_contexts(); first += step) {
    digest.add(file.read(first, std::min(step, file.num_contexts() - first)));
  }
  return digest.finish();
}

std::string stated_digest(const ResultFile& file) {
  const auto stated = file.has_seal() ? file.text(raw_digest_name) : std::nullopt;
  return stated ? *stated : base::to_hex(digest_of_file(file));
}

}  // namespace stereosweep::results
