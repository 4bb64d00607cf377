#include "results/ScoreTable.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/Lists.hpp"
#include "results/Seal.hpp"
#include "results/Software.hpp"

namespace stereosweep::results {

StatisticsFile::StatisticsFile(const std::string& schema, const StatisticsTarget& target, const ResultFile* source)
    : pending_(target.path),
      file_(hdf5::File::create(pending_.path())),
      layout_(std::make_unique<Layout>(file_.root())),
      finish_(target.finish),
      left_out_(target.left_out) {
  root().write_attribute("Conventions", "CF-1.8");
  root().write_attribute("schema", schema);
  root().write_attribute("schema_version", "1.0");
  for (const auto* copied : {"title", "created", "model", "model_revision", "model_storage", "adapter",
                             "adapter_sha256", "model_sha256", "dtype", "job_sha256"}) {
    if (const auto text = source == nullptr ? std::nullopt : source->text(copied)) {
      root().write_attribute(copied, *text);
    }
  }
  root().write_attribute("software", "stereosweep");
  root().write_attribute("software_version", software_version());
  if (source != nullptr) {
    root().write_attribute("source_digest", stated_digest(*source));
    root().write_attribute("source_complete", std::int64_t{source->complete() ? 1 : 0});
  }
}

std::filesystem::path statistics_beside(const std::filesystem::path& file) {
  return file.parent_path() / (file.stem().string() + ".stats.h5");
}

void StatisticsFile::commit() {
  if (finish_) {
    finish_(*this);
  }
  layout_.reset();
  root().write_attribute("complete", std::int64_t{1});
  file_.finish();
  commit_sealed(pending_);
}

const std::vector<std::string> score_status_names = {"ok",         "partial",        "missing", "undefined",
                                                     "not_scored", "not_applicable", "infinite"};

AxisSchema ScoreTable::no_axis(std::size_t place) {
  return {score_axis_names.at(place), "the probe has no such axis", {"none"}, {}};
}

void ScoreTable::resize() {
  std::size_t size = 1;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    STEREOSWEEP_ASSERT(axes[axis].name == score_axis_names[axis], "axes in their order");
    STEREOSWEEP_ASSERT(!axes[axis].labels.empty(), "an axis is at least one long");
    size *= axes[axis].labels.size();
  }
  values.assign(size, std::numeric_limits<double>::quiet_NaN());
  statuses.assign(size, ScoreStatus::unscored);
}

std::size_t ScoreTable::index(const std::array<std::size_t, 6>& place) const {
  std::size_t result = 0;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    STEREOSWEEP_ASSERT(place[axis] < length(axis), "a place inside the table");
    result = result * length(axis) + place[axis];
  }
  return result;
}

namespace {

std::vector<std::string> add_axes(Layout& layout, const ScoreTableAxes& axes) {
  std::vector<std::string> names;
  for (const auto& axis : axes) {
    if (!layout.has_axis(axis.name)) {
      layout.add_axis(axis);
    }
    STEREOSWEEP_ASSERT(layout.axis(axis.name).labels == axis.labels, "an axis of the same name is the same");
    names.push_back(axis.name);
  }
  return names;
}

}  // namespace

ScoreTableWriter::ScoreTableWriter(Layout& layout, const ScoreTableAxes& axes, const std::string& name,
                                   std::vector<bool> left_out)
    : left_out_(std::move(left_out)),
      scores_(layout.add_cube({.name = name,
                               .long_name = "score of the " + axes.back().name + " for the subject",
                               .description = "unit: measure_units"},
                              add_axes(layout, axes))),
      statuses_(layout.add_cube({.name = name + "_status",
                                 .type = ElementType::uint8,
                                 .long_name = "whether the score exists, and why not",
                                 .flag_meanings = score_status_names},
                                add_axes(layout, axes))),
      shape_(scores_.shape()),
      kept_values_(shape_[0]),
      kept_statuses_(shape_[0]) {
  const auto subject_bytes = hdf5::product(std::span(shape_).subspan(2)) * sizeof(double);
  subjects_together_ = std::clamp<std::uint64_t>(hdf5::chunk_bytes / subject_bytes, 1, shape_[1]);
}

void ScoreTableWriter::write(std::uint64_t first, std::span<const double> values,
                             std::span<const ScoreStatus> statuses) {
  std::vector<std::uint8_t> flags(statuses.size());
  std::ranges::transform(statuses, flags.begin(), [](auto status) { return static_cast<std::uint8_t>(status); });
  for (std::size_t place = 0; !left_out_.empty() && place < flags.size(); ++place) {
    const bool exists = statuses[place] == ScoreStatus::ok || statuses[place] == ScoreStatus::partial;
    if (!exists && left_out_.at((first + place) / (shape_[4] * shape_[5]) % (shape_[2] * shape_[3]))) {
      flags[place] = static_cast<std::uint8_t>(ScoreStatus::not_applicable);
    }
  }
  scores_.write(first, values);
  statuses_.write(first, std::span<const std::uint8_t>(flags));
}

void ScoreTableWriter::add(const Part& part) {
  const auto of_sentence = shape_[4] * shape_[5];
  const auto of_subject = shape_[2] * shape_[3] * of_sentence;
  const auto first = part.subject * of_subject + part.first_sentence * of_sentence;
  const auto length = static_cast<std::ptrdiff_t>(part.num_sentences * of_sentence);
  STEREOSWEEP_ASSERT(
      part.values.size() == shape_[0] * part.num_sentences * of_sentence && part.statuses.size() == part.values.size(),
      "a part over all measures and items");
  if (first != first_kept_ + kept_values_.front().size()) {
    flush();
    first_kept_ = first;
  }
  for (std::uint64_t measure = 0; measure < shape_[0]; ++measure) {
    const auto begin = static_cast<std::ptrdiff_t>(measure) * length;
    const auto take = [&](auto& kept, const auto& all) {
      kept.insert(kept.end(), all.begin() + begin, all.begin() + begin + length);
    };
    take(kept_values_[measure], part.values);
    take(kept_statuses_[measure], part.statuses);
  }
  const auto end = first_kept_ + kept_values_.front().size();
  if (subjects_together_ == 1 || end % (subjects_together_ * of_subject) == 0) {
    flush();
  }
}

void ScoreTableWriter::flush() {
  const auto of_measure = hdf5::product(std::span(shape_).subspan(1));
  const auto length = kept_values_.front().size();
  if (length == of_measure) {  // measures that are whole follow each other, and a chunk may hold several
    write(0, base::joined(kept_values_), base::joined(kept_statuses_));
  }
  for (std::uint64_t measure = 0; length > 0 && length < of_measure && measure < shape_[0]; ++measure) {
    write(measure * of_measure + first_kept_, kept_values_[measure], kept_statuses_[measure]);
  }
  kept_values_.assign(shape_[0], {});
  kept_statuses_.assign(shape_[0], {});
  first_kept_ += length;
}

void write_score_table(Layout& layout, const ScoreTable& table, std::vector<bool> left_out) {
  ScoreTableWriter(layout, table.axes, "score", std::move(left_out)).write(0, table.values, table.statuses);
}

namespace {

/// HDF5 may crash on a file that was damaged; one with its seal is what we wrote.
const std::filesystem::path& sealed(const std::filesystem::path& path) {
  base::refuse_if(check_seal(path) != Seal::intact, "cannot read '" + path.string() + "'",
                  "it was changed or is not finished: it has no seal");
  return path;
}

}  // namespace

FinishedStatistics::FinishedStatistics(const std::filesystem::path& path, Of of)
    : OpenFile(sealed(path), "compute it anew with 'stereosweep stats'") {
  const auto schema = text("schema").value_or("");
  base::refuse_if(!schema.starts_with("stereosweep-statistics/") && (of == Of::run || schema != "stereosweep-runs"),
                  "cannot read '" + path.string() + "'", "it is no statistics file");
}

ScoreFile::ScoreFile(const std::filesystem::path& path) : FinishedStatistics(path, Of::run) {
  naming([&] {
    hdf5::Shape shape;
    for (std::size_t place = 0; place < axes_.size(); ++place) {
      axes_[place] = axis(score_axis_names[place]);
      shape.push_back(axes_[place].labels.size());
    }
    for (const auto& [name, type] :
         {std::pair("score", ElementType::float64), std::pair("score_status", ElementType::uint8)}) {
      const auto table = open_checked(file_.root(), name, file_bytes_);
      base::fail_if(table.shape() != shape || table.type() != type, "its score table does not fit its axes");
    }
  });
}

std::vector<double> ScoreFile::read(std::size_t measure) const {
  return naming([&] { return read_part<double>(file_.root(), "score", measure); });
}

std::vector<std::uint8_t> ScoreFile::read_statuses(std::size_t measure) const {
  return naming([&] { return read_part<std::uint8_t>(file_.root(), "score_status", measure); });
}

std::optional<PeoplesMeans> ScoreFile::peoples_means() const {
  return naming([&]() -> std::optional<PeoplesMeans> {
    if (!file_.root().contains("people_mean")) {
      return std::nullopt;
    }
    const auto dataset = open_checked(file_.root(), "people_mean", file_bytes_);
    if (dataset.shape().size() != 3 || dataset.type() != ElementType::float64) {
      return std::nullopt;
    }
    const auto labels = [&](unsigned axis) {
      return read_texts(open_checked(file_.root(), dataset.scale_name(axis), file_bytes_));
    };
    // of the groups of annotators the first: all
    PeoplesMeans means{labels(1), labels(2), read_part<double>(file_.root(), "people_mean", 0)};
    base::fail_if(means.subjects.size() != dataset.shape()[1] || means.items.size() != dataset.shape()[2],
                  "'people_mean' does not fit its axes");
    return means;
  });
}

}  // namespace stereosweep::results
